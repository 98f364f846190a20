"""The words of policies as values: template, constraint, match, finding, and the case rules read.

Pure data. `compile` makes a PolicySet of documents, `evaluate` weighs a Case with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from suture.impact.effects import Impact
from suture.model.actor import Actor
from suture.model.clock import Window
from suture.model.request import Request

POLICY_ERROR = "policy_error"
"""The code of a finding that says that a rule erred; no rule may have it for its own."""


class EnforcementAction(StrEnum):
    """How far a finding may go."""

    DENY = "deny"
    WARN = "warn"
    DRYRUN = "dryrun"


class Point(StrEnum):
    """Where a decision is made; an enforcementAction may differ per point."""

    ADMISSION = "admission"
    AUTHORIZATION = "authorization"
    AUDIT = "audit"
    CHECK = "check"


Enforcement = Mapping[Point, EnforcementAction]
"""How far a rule goes at each point."""
EVERYWHERE: Enforcement = dict.fromkeys(Point, EnforcementAction.DENY)

_REACH = {action: reach for reach, action in enumerate(reversed(EnforcementAction))}


def weaker(enforcement: Enforcement, most: EnforcementAction) -> Enforcement:
    """Return an enforcement that goes as far as `most`, and nowhere farther than it did."""
    return {
        point: min(action, most, key=_REACH.__getitem__) for point, action in enforcement.items()
    }


class BudgetRef(msgspec.Struct, frozen=True, gc=False):
    """A budget that a constraint declares: who is counted together is `constraint` and `name`."""

    constraint: str
    name: str
    windows: tuple[Window, ...]
    retry_after_s: int | None = None
    """Set: what is asked of it heals by itself, so that a refusal is passing."""


class ClaimAsked(msgspec.Struct, frozen=True, gc=False):
    """An amount that a rule asks of a budget for this case.

    `key` tells populations apart inside one budget (`services`, `deployments.apps`).
    """

    budget: BudgetRef
    key: str
    amount: int
    population: int
    enforcement: EnforcementAction
    message: str


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What one rule says of one case. `code` is stable: `serving_floor`, `policy_error`."""

    code: str
    constraint: str
    template: str
    enforcement: EnforcementAction
    message: str
    retry_after_s: int | None = None
    """Set: the refusal is passing, answered 429 where the client understands it."""


class Findings(msgspec.Struct, frozen=True, gc=False):
    """All that the rules say of one case, in the order of the policy set."""

    violations: tuple[Finding, ...] = ()
    claims: tuple[ClaimAsked, ...] = ()


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What is already spent of one budget key in its tightest window, for messages."""

    budget: str
    key: str
    used: int
    allowance: int


class ClusterFacts(msgspec.Struct, frozen=True, gc=False):
    """What rules may know of the cluster as a whole."""

    name: str = ""
    authorizer: bool = False
    """Whether this cluster asks Suture at authorization, so that collections are seen whole."""


class Case(msgspec.Struct, frozen=True, gc=False):
    """The document rules read: request, actor, effects, usage of budgets, cluster facts."""

    request: Request
    actor: Actor
    impact: Impact
    point: Point = Point.ADMISSION
    usage: tuple[Usage, ...] = ()
    cluster: ClusterFacts = ClusterFacts()
    selector_known: bool = False
    """For one object of a collection: its selector was seen and judged at authorization."""
    namespace_labels: Mapping[str, str] = {}
    parent_labels: Mapping[str, str] | None = None
    """Of the object behind a subresource, whose own document has none. None: not known, not asked
    for, or no subresource."""
    confirmed: bool = False
    """Whether a person confirmed the deletion of the request's object on the object itself."""


def labels_seen(case: Case) -> tuple[Mapping[str, str], ...]:
    """Return the labels of the request's object, before the change and after it, as far as seen."""
    if case.parent_labels is not None:
        return (case.parent_labels,)
    request = case.request
    return tuple(thing.labels for thing in (request.old, request.new) if thing is not None)
