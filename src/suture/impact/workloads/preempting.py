"""A default priority under which whatever is made next may drive out what runs.

Pods get their priority when they are made: those that run keep none when a default comes, and each
pod made after that stands above all of them. Nothing happens while there is room; where there is
none, the next rollout of anything takes the place of pods that nobody meant.
Source: scheduling.k8s.io/v1 PriorityClass (`globalDefault` counts for pods made from then on;
without a default the priority is nothing; `preemptionPolicy: Never` drives nobody out); the
scheduler's preemption of pods of lower priority.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from suture.impact.causes.parents import maker_of
from suture.impact.effects import Confidence, EntriesDropped
from suture.impact.ground.bodies import decoded
from suture.impact.ground.change import Change
from suture.impact.scene import Scene, victim_of
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, PRIORITY_CLASSES

MAKERS: Final = 3
"""Workloads without a class that serve, from which on a default above them is not of a new cluster:
what installs one brings its classes first."""

NAMESPACES_ASKED: Final = 20_000
"""LIMIT: namespaces whose pods are looked through, by class, 1 us each: such a write comes a few
times in the life of a cluster."""


class _Class(msgspec.Struct, rename="camel", gc=False):
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


_decoder = msgspec.json.Decoder(_Class)


def sets_default(change: Change) -> bool:
    """Whether a change makes or rewrites a priority class."""
    made = change.rewritten
    return made is not None and made.after.key.resource == PRIORITY_CLASSES


def preempting_effects(scene: Scene) -> Iterator[EntriesDropped]:
    """Tell of running pods without a class that a new default would come to stand above."""
    made = scene.change.rewritten
    if made is None or made.after.terminating:
        return
    if not _drives_out(scene.request.new_body) or _drives_out(scene.request.old_body):
        return
    pods, makers = _without_class(scene.view)
    if makers >= MAKERS:
        yield EntriesDropped(
            holder=victim_of(made.after),
            field="value",
            before=pods,
            dropped=pods,
            entries=("running pods of no class, which new ones may drive out",),
            readers=0,
            critical=True,
            confidence=Confidence.BOUNDED,
        )


def _drives_out(body: bytes) -> bool:
    """Whether a class is the default, and above what has none."""
    found = decoded(_decoder, body, _Class())
    return found.global_default and found.value > 0 and found.preemption_policy != "Never"


def _without_class(view: GraphView) -> tuple[int, int]:
    """Return how many Ready pods have no priority class, and of how many makers they are."""
    pods, makers = 0, set[int]()
    for row in view.rows(NAMESPACES)[:NAMESPACES_ASKED]:
        for kind in view.classes_in(view.name(row)):
            pod = view.one_alike(kind)
            serving = view.serving_alike(kind)
            if pod < 0 or not serving or _has_class(view, pod):
                continue
            pods += serving
            makers.add(maker_of(view, pod))
    return pods, len(makers)


def _has_class(view: GraphView, pod: int) -> bool:
    return any(one.edge is Edge.PRIORITY_CLASS for one in view.needs(pod))
