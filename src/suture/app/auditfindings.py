"""What a replay of an audit log found, as values: refusals, in groups and one by one.

Beside `auditreplay`, which finds; whoever shows it needs only this.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

import msgspec

from suture.model.names import ObjectKey
from suture.verdict import Reason, Verdict
from suture.wire.audit import Level

REFUSALS_KEPT = 100_000
"""LIMIT: refusals told one by one, 60 MB; all are counted and grouped."""


class Untold(StrEnum):
    """Why a write could not be judged in full, from the log alone."""

    NO_BODY = "no body"
    """Metadata level: what an update or a patch changed is not told."""
    NO_ITEMS = "no items"
    """A collection's objects are not told; the selector is applied to the model."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """One write that would have been refused. `rewound`: it rests on an object put back."""

    time_s: float
    audit_id: str
    operator: str
    verb: str
    key: ObjectKey
    reason: Reason
    message: str
    stake: int
    victims: tuple[str, ...]
    rewound: bool
    persisted: bool


class Group(msgspec.Struct, kw_only=True):
    """Refusals of one operator by one rule, with the worst of them."""

    operator: str
    constraint: str
    code: str
    count: int = 0
    rewound: int = 0
    stake: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    worst: Refused | None = None
    kinds: Counter[str] = msgspec.field(default_factory=Counter)


class Rewound(msgspec.Struct):
    """How the beginning was made: objects put back with and without a body, and taken away."""

    whole: int = 0
    by_name: int = 0
    removed: int = 0


class Findings(msgspec.Struct, kw_only=True):
    """What a replay found."""

    writes: int = 0
    judged: int = 0
    spared: int = 0
    consequences: int = 0
    not_persisted: int = 0
    dry_runs: int = 0
    refused: int = 0
    warned: int = 0
    verdicts_on_rewound: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    untold: Counter[str] = msgspec.field(default_factory=Counter)
    levels: Counter[Level] = msgspec.field(default_factory=Counter)
    rewound: Rewound = msgspec.field(default_factory=Rewound)
    refusals: list[Refused] = []
    groups: dict[tuple[str, str, str], Group] = {}
    by_operator: Counter[str] = msgspec.field(default_factory=Counter)

    def ranked(self) -> list[Group]:
        """Return the groups, the one with most at stake first."""
        return sorted(self.groups.values(), key=lambda one: (-one.stake, -one.count, one.operator))

    def note(self, refused: Refused, verdict: Verdict) -> None:
        """Count a refusal, and keep it with its like."""
        reason = verdict.reasons[0]
        self.refused += 1
        self.by_operator[refused.operator] += 1
        if len(self.refusals) < REFUSALS_KEPT:
            self.refusals.append(refused)
        spot = (refused.operator, reason.constraint, reason.code)
        group = self.groups.get(spot)
        if group is None:
            group = self.groups[spot] = Group(
                operator=refused.operator,
                constraint=reason.constraint,
                code=reason.code,
                first_s=refused.time_s,
            )
        group.count += 1
        group.rewound += refused.rewound
        group.stake += refused.stake
        group.last_s = refused.time_s
        group.kinds[str(refused.key.resource)] += 1
        if group.worst is None or refused.stake > group.worst.stake:
            group.worst = refused


def levels_told(levels: Counter[Level]) -> list[str]:
    """Say what the levels of a log cannot tell, those that occur."""
    words = {
        Level.METADATA: (
            "Metadata: deletes, evictions and collections are judged; what a create, an update or "
            "a patch changed is not told"
        ),
        Level.REQUEST: (
            "Request: patches are applied to what is known of the object; defaults, other webhooks "
            "and what controllers wrote into status are not told"
        ),
        Level.REQUEST_RESPONSE: "RequestResponse: every write is told whole",
    }
    return [words[level] for level in Level if levels.get(level)]
