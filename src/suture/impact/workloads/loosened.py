"""Disruption budgets that are written so that they keep no pod any more.

Beside `disruption`, which asks what a budget still lets go: here it is left standing and says that
all of its pods may go. Nothing is down yet; whoever drains nodes next takes them at once.
Source: policy/v1 PodDisruptionBudget (`minAvailable` of none, or `maxUnavailable` of all, never
keeps an eviction).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ground.change import Change
from suture.impact.ordinary.sweeps import is_swept
from suture.impact.scene import Scene, victim_of
from suture.impact.workloads.disruption import desired_healthy
from suture.model.facts import DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.names import DISRUPTION_BUDGETS

SEVERAL: Final = 2
"""Ready pods from which on a budget keeps a Service up: of one it only bars drains."""


def loosens(change: Change) -> bool:
    """Whether a change gives a disruption budget other bounds."""
    made = change.rewritten
    return (
        made is not None
        and made.before is not None
        and made.after.key.resource == DISRUPTION_BUDGETS
        and made.before.facts != made.after.facts
    )


def loosened_effects(scene: Scene) -> Iterator[EntriesDropped]:
    """Tell of a budget that kept some of several Ready pods, and would keep none.

    Critical where the actor has done so to others within the hour, and they are so still.
    """
    made, view = scene.change.rewritten, scene.view
    if made is None or made.before is None or made.row is None or made.after.terminating:
        return
    old, new = made.before.facts, made.after.facts
    serving, expected = _pods(view, made.row)
    if (
        serving < SEVERAL
        or not isinstance(old, DisruptionBudgetFacts)
        or not isinstance(new, DisruptionBudgetFacts)
    ):
        return
    had = desired_healthy(old, expected)
    if had < 1 or desired_healthy(new, expected) > 0:
        return
    others = (row for row in view.rows(DISRUPTION_BUDGETS) if row != made.row)
    yield EntriesDropped(
        holder=victim_of(made.after),
        field="spec",
        before=had,
        dropped=had,
        entries=("pods that stay",),
        readers=0,
        critical=is_swept(scene, others, lambda row: _keeps_none(view, row)),
    )


def _keeps_none(view: GraphView, row: int) -> bool:
    """Whether a budget lets all of several Ready pods go."""
    facts = view.facts(row)
    serving, expected = _pods(view, row)
    return (
        isinstance(facts, DisruptionBudgetFacts)
        and serving >= SEVERAL
        and not desired_healthy(facts, expected)
    )


def _pods(view: GraphView, row: int) -> tuple[int, int]:
    """Return how many pods of a budget are Ready, and how many run."""
    kinds = view.classes_selected(row)
    return sum(map(view.serving_alike, kinds)), sum(view.running_alike(kind)[0] for kind in kinds)
