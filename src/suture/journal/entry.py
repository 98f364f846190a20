"""One line of the append-only record: what was asked, what was answered, and why.

Pure. A line holds everything that an explanation needs, so that it can be told later and
elsewhere, without the graph. Secret data never gets in: it is taken out where the line is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

import msgspec

from suture.budget.claims import Claim, Receipt, Spent
from suture.errors import InputError
from suture.impact.effects import Confidence, Effect
from suture.impact.telling import told, words_of
from suture.model.clock import Now
from suture.model.digest import digest_of
from suture.model.names import SECRETS, ObjectKey, Operation
from suture.model.request import Collection, CollectionItem, One, Request
from suture.policy.rules import Case, EnforcementAction, Findings, Point
from suture.verdict import Answer, Reason, Verdict

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32 in ASCII order: ids sort as text; i, l, o and u are left out."""

_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)

TIME_CHARS = 8
"""LIMIT: 40 bits of centiseconds last until the year 2318."""

CHANCE_CHARS = 5
"""LIMIT: 25 bits: two replicas of 100 decisions a second each meet once in four days by chance; a
reader that finds two is shown both."""

BODY_BYTES = 1_572_864
"""LIMIT: the largest previous body kept: etcd's own limit for one object, 1.5 MiB."""

REDACTED = "redacted"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


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


def entry_of(
    decision: str,
    case: Case,
    verdict: Verdict,
    now: Now,
    *,
    lane: str,
    findings: Findings = Findings(),  # noqa: B008 a frozen value
    claims: Iterable[Claim] = (),
    receipt: Receipt = Receipt(granted=True),  # noqa: B008 a frozen value
    usage: Iterable[Spent] = (),
    evidence: tuple[ObjectKey, ...] = (),
    latency_us: int = 0,
    keep_body: bool = False,
    message: str = "",
    grants: tuple[str, ...] = (),
) -> Entry:
    """Write one decision down.

    `usage` is the holder's, read before the claims were reserved. `keep_body`: the object before
    is kept, without secret data. `message`: what the caller was told; by default the verdict's.
    """
    actor = case.actor
    return Entry(
        decision=decision,
        utc_s=now.utc_s,
        lane=lane,
        point=case.point,
        identity=actor.user.username,
        operator=actor.operator,
        stage=actor.stage.value,
        pod=actor.pod,
        asked=asked_of(case.request),
        answer=verdict.answer,
        would=verdict.would,
        reasons=verdict.reasons,
        message=message or verdict.message,
        findings=tuple(
            FindingLine(one.code, one.constraint, one.template, one.enforcement, one.message)
            for one in findings.violations
        ),
        effects=tuple(map(effect_line, case.impact.effects)),
        doubt=case.impact.doubt,
        claims=claim_lines(claims, receipt, usage),
        forced=receipt.forced,
        evidence=evidence,
        latency_us=latency_us,
        digest=digest_of(case.request),
        grants=grants,
        body=kept_body(case.request) if keep_body else b"",
    )


def asked_of(request: Request) -> Asked:
    """Return what identifies a request."""
    match request.extent:
        case One():
            collection, selector = False, None
        case CollectionItem():
            collection, selector = True, None
        case Collection(found):
            collection, selector = True, None if found is None else str(found)
        case _:
            assert_never(request.extent)
    return Asked(
        review=request.uid,
        operation=request.operation,
        key=request.key,
        subresource=request.subresource,
        uid=request.object_uid,
        dry_run=request.dry_run,
        collection=collection,
        selector=selector,
    )


def claim_lines(
    claims: Iterable[Claim], receipt: Receipt, usage: Iterable[Spent] = ()
) -> tuple[ClaimLine, ...]:
    """Return each claim with the window that decides: the worst shortfall, else the least room."""
    known = {one.account: one for one in usage}
    lines = []
    for claim in claims:
        short = max(
            (one for one in receipt.shortfalls if one.claim.account == claim.account),
            key=lambda one: one.used + one.claim.amount - one.allowance,
            default=None,
        )
        at = short or known.get(claim.account)
        lines.append(
            ClaimLine(
                budget=claim.budget,
                holder=claim.holder,
                key=claim.key,
                amount=claim.amount,
                granted=short is None,
                window_s=at.window.seconds if at else 0,
                used=at.used if at else 0,
                allowance=at.allowance if at else 0,
            )
        )
    return tuple(lines)


def effect_line(effect: Effect) -> EffectLine:
    """Return an effect in short."""
    line = told(effect)
    return EffectLine(
        effect=line.effect,
        subject=line.subject,
        before=line.before,
        after=line.after,
        count=line.count,
        counted=line.counted,
        victims=tuple(map(words_of, line.victims)),
        reversible=line.reversible,
        confidence=line.confidence,
    )


def kept_body(request: Request) -> bytes:
    """Return the object before as it may be kept: without secret data, and not past the limit."""
    body = request.old_body
    if request.subresource or len(body) > BODY_BYTES:
        return b""
    return redacted(body) if request.gvr.resource == SECRETS else body


def redacted(body: bytes) -> bytes:
    """Return a Secret's JSON with the names of its keys and none of their values.

    What cannot be read is not kept: an empty body, never one that may hold a value.
    """
    try:
        secret: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return b""
    for field in ("data", "stringData"):
        values = secret.get(field)
        if isinstance(values, dict):
            secret[field] = dict.fromkeys(values, REDACTED)
        elif field in secret:
            del secret[field]
    metadata = secret.get("metadata")
    if isinstance(metadata, dict):
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict):
            # WHY: kubectl apply writes the whole Secret into this annotation.
            annotations.pop(LAST_APPLIED, None)
    return msgspec.json.encode(secret)
