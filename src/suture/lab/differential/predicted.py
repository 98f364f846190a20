"""What is said of a write before it is made, in the terms in which it can be checked after.

Apart from the comparison, so that it is fixed before the write is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from suture.impact.effects import (
    AdmissionPathBroken,
    Confidence,
    DisruptionExceeded,
    Effect,
    EndpointsLost,
    PodsLost,
    PodsRestarted,
    SelectionChanged,
    ServiceEmptied,
)
from suture.impact.estimate import estimate
from suture.impact.ground.change import Change
from suture.impact.project import project
from suture.lab.differential.hands import WRITER
from suture.model.actor import Operators
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.request import Request
from suture.policy.matchconditions import MatchConditions

_ACTOR = Operators().attribute(WRITER)
_CONDITIONS = MatchConditions()

LIMIT = 1000
"""LIMIT: victims named: all of a small world."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """What would come of a write, by uid."""

    removed: frozenset[str] = frozenset()
    """The objects that go, the write's own and those that controllers take."""
    restarted: Mapping[str, PodsRestarted] = {}
    """What replaces its pods, by workload."""
    resized: Mapping[str, int] = {}
    """How many pods a workload wants from then on."""
    held_up: bool = False
    """Whether what goes for a size stays as long as a StatefulSet lacks the name of a pod."""
    joined: Mapping[str, int] = {}
    """How many pods each workload takes for its own that it did not make."""
    endpoints: Mapping[str, EndpointsLost] = {}
    """By Service."""
    emptied: frozenset[str] = frozenset()
    """Services left with nothing, for good."""
    blocked: bool | None = False
    """Whether new pods can no longer be made; None: they may or may not."""
    refused: bool = False
    """Whether the API server itself refuses: an eviction past a budget."""
    effects: tuple[Effect, ...] = ()
    doubt: tuple[str, ...] = ()


def predict(request: Request, graph: Graph, now: Now) -> Prediction:
    """Judge a request as `judge` does, and keep what can be checked."""
    view = GraphView(graph)
    change = project(request, view)
    impact = estimate(
        request, change, view, _ACTOR, now=now, evaluate=_CONDITIONS, limit=LIMIT
    )  # fmt: skip
    effects = impact.effects
    lost = {one.service.uid: one for one in effects if isinstance(one, EndpointsLost)}
    resized = _resized(view, change)
    return Prediction(
        removed=frozenset(view.uid(row) for row in change.removed),
        restarted={one.workload.uid: one for one in effects if isinstance(one, PodsRestarted)},
        resized=resized,
        held_up=any(
            isinstance(one, PodsLost)
            and one.maker.uid in resized
            and one.confidence is Confidence.BOUNDED
            for one in effects
        ),
        joined={
            one.source.uid: one.after - one.before
            for one in effects
            if isinstance(one, SelectionChanged) and one.after > one.before
        },
        endpoints=lost,
        emptied=frozenset(
            one.service.uid
            for one in effects
            if isinstance(one, ServiceEmptied) and not one.self_healing
        ),
        blocked=_blocked(effects),
        refused=any(isinstance(one, DisruptionExceeded) and one.evicted for one in effects),
        effects=effects,
        doubt=impact.doubt,
    )


def _resized(view: GraphView, change: Change) -> dict[str, int]:
    resized = change.resized
    return {} if resized is None else {view.uid(resized.row): resized.after}


def _blocked(effects: Iterable[Effect]) -> bool | None:
    """Return whether pods can no longer be made, and not for a moment only; None where it races."""
    paths = [
        one
        for one in effects
        if isinstance(one, AdmissionPathBroken)
        and one.fail_closed
        and "pods" in one.calls
        and (one.blocks_recovery or not one.self_healing)
    ]
    if paths and all(one.confidence is Confidence.BOUNDED for one in paths):
        return None
    return bool(paths)
