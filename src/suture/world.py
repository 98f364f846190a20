"""What a judgement reads, and what comes of it: the values of `judge`.

Apart from it, which is machine code: classes with options cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from suture.budget.claims import Claim, Receipt
from suture.budget.ledger import Ledger
from suture.impact.ground.change import Change
from suture.model.actor import Operators
from suture.model.attribution import Attribution
from suture.model.consent import Consents
from suture.model.freezes import Freezes
from suture.model.grants import Grant, Grants
from suture.model.graph import Graph, GraphView
from suture.model.history import History
from suture.model.matchsets import Evaluate
from suture.model.names import ObjectKey
from suture.model.overlay import Overlay
from suture.model.patience import Patience
from suture.policy.compile import PolicySet
from suture.policy.matchconditions import MatchConditions
from suture.policy.rules import Case, ClusterFacts, Findings
from suture.verdict import Verdict


@dataclass
class World:
    """All that a judgement reads, and the few things that it changes.

    What changes is overlay, history, ledger, consents and patience, each through `admit` alone.
    What people allowed (`grants`) and when (`freezes`) is put in force by `enforce`.
    """

    policies: PolicySet
    graph: Graph = field(default_factory=Graph)
    overlay: Overlay = field(init=False)
    attribution: Attribution = field(init=False)
    history: History = field(default_factory=History)
    ledger: Ledger = field(default_factory=Ledger)
    operators: Operators = field(default_factory=Operators)
    grants: Grants = field(default_factory=Grants)
    freezes: Freezes = field(default_factory=Freezes)
    consents: Consents = field(default_factory=Consents)
    patience: Patience = field(default_factory=Patience)
    cluster: ClusterFacts = field(default_factory=ClusterFacts)
    conditions: Evaluate = field(default_factory=MatchConditions)

    def __post_init__(self) -> None:
        self.overlay = Overlay(self.graph)
        self.attribution = Attribution(self.graph, self.overlay)

    @property
    def view(self) -> GraphView:
        """The graph's read-only face at this moment."""
        return GraphView(self.graph, self.history)


class Judgement(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What was decided, with everything that it rests on.

    `evidence` names the objects whose live state could turn a refusal into an allow.
    """

    case: Case
    change: Change
    findings: Findings
    claims: tuple[Claim, ...]
    receipt: Receipt
    verdict: Verdict
    evidence: tuple[ObjectKey, ...] = ()
    grants: tuple[Grant, ...] = ()
    """By which a refusal was lifted."""
    unmarked: bool = False
    """Whether their use has yet to be marked on the cluster; until it is, nothing is reserved."""
