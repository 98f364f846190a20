"""One line of the append-only record: what was asked, what was answered, and why.

Pure. A line holds everything that an explanation needs, so that it can be told later and
elsewhere, without the graph. How it is made stands in `writing`.
"""

from __future__ import annotations

import msgspec

from suture.errors import InputError
from suture.impact.effects import Confidence
from suture.model.clock import Now
from suture.model.names import ObjectKey, Operation
from suture.policy.rules import EnforcementAction, Point
from suture.verdict import Answer, Reason

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32 in ASCII order: ids sort as text; i, l, o and u are left out."""

_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)

TIME_CHARS = 8
"""LIMIT: 40 bits of centiseconds last until the year 2318."""

CHANCE_CHARS = 5
"""LIMIT: 25 bits: two replicas of 100 decisions a second each meet once in four days by chance; a
reader that finds two is shown both."""


class DecisionIdError(InputError):
    """A text is no decision id."""

    code = "decision_id_malformed"

    def __init__(self, text: str) -> None:
        super().__init__(
            f"`{text}` is no decision id: {TIME_CHARS + CHANCE_CHARS} letters and digits, "
            "as a refusal's message shows them"
        )


class Asked(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The request, as far as it is told again."""

    review: str
    operation: Operation
    key: ObjectKey
    subresource: str = ""
    uid: str = ""
    dry_run: bool = False
    collection: bool = False
    """One object of a `deletecollection`, or the whole of one."""
    selector: str | None = None
    """The collection's selector where it was seen; None: there was none, or it was not."""


class EffectLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One effect in short: which, of what, how many before and after, and some of the victims."""

    effect: str
    subject: str
    before: int
    after: int
    count: int
    counted: int = 0
    victims: tuple[str, ...] = ()
    reversible: bool = True
    confidence: Confidence = Confidence.EXACT


class FindingLine(msgspec.Struct, frozen=True, gc=False):
    """What one rule said."""

    code: str
    constraint: str
    template: str
    enforcement: EnforcementAction
    message: str


class ClaimLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What was asked of one account, and its window with the least room.

    `used` is what was spent and reserved without this request; `window_s` 0: it was not looked up.
    """

    budget: str
    holder: str
    key: str
    amount: int
    granted: bool
    window_s: int = 0
    used: int = 0
    allowance: int = 0


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One decision. `body` is the object before, as JSON; empty where nothing is to be kept."""

    decision: str
    utc_s: float
    lane: str
    point: Point
    identity: str
    operator: str
    stage: str
    pod: str = ""
    asked: Asked
    answer: Answer
    would: Answer
    reasons: tuple[Reason, ...] = ()
    message: str = ""
    findings: tuple[FindingLine, ...] = ()
    effects: tuple[EffectLine, ...] = ()
    doubt: tuple[str, ...] = ()
    claims: tuple[ClaimLine, ...] = ()
    forced: bool = False
    evidence: tuple[ObjectKey, ...] = ()
    """What was read live before a refusal."""
    latency_us: int = 0
    cause: str = ""
    """Of a controller's delete: the decision that it carries out; empty where nothing ties it."""
    cause_operator: str = ""
    digest: str = ""
    """What was asked, the same for every attempt: what a grant for this decision is bound to."""
    grants: tuple[str, ...] = ()
    """The grants by which a refusal was lifted."""
    body: bytes = b""


def decision_id(now: Now, chance: int) -> str:
    """Return a short id that sorts by time. `chance` is any number: its low 25 bits are used.

    The rim counts `chance` up from a random start: ids of one process then never meet within
    33 million decisions of one centisecond.
    """
    at = int(now.utc_s * 100)
    return "".join((
        _PAIRS[at >> 30 & 1023], _PAIRS[at >> 20 & 1023],
        _PAIRS[at >> 10 & 1023], _PAIRS[at & 1023],
        ALPHABET[chance >> 20 & 31], _PAIRS[chance >> 10 & 1023], _PAIRS[chance & 1023],
    ))  # fmt: skip


def read_decision_id(text: str) -> str:
    """Return the id that a person typed: case and the letters left out are forgiven.

    Errors: DecisionIdError for anything that cannot be one.
    """
    tidy = text.strip().lower().translate(str.maketrans("ilo", "110"))
    if len(tidy) != TIME_CHARS + CHANCE_CHARS or any(char not in ALPHABET for char in tidy):
        raise DecisionIdError(text)
    return tidy
