"""What custom resources select by labels, and would not any more as something loses them.

Beside `selection`, which tells of pods: here it is a namespace, a node, or another custom resource,
as clusters are chosen for what is to be installed on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import Confidence, SelectionChanged
from suture.impact.ground.change import Rewritten
from suture.impact.ordinary.keepers import is_own
from suture.impact.scene import Scene
from suture.model.edges import Selection
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, NODES, PODS
from suture.model.objects import ClusterObject, CustomFacts

LABELS: Final = "labels"


def choosing_effects(scene: Scene, made: Rewritten, row: int) -> Iterable[SelectionChanged]:
    """Tell of custom resources that select an object, no pod, by labels that it loses.

    A namespace is selected for what runs in it, and one in which nothing does is missed by nobody.
    """
    view, key, before = scene.view, made.after.key, made.before
    if before is None or (key.resource == NAMESPACES and not _runs(scene, key.name)):
        return
    losing = _losing(view, before, made.after)
    # WHY not nodes: one given to others is lost to those that had it.
    handed = losing and key.resource != NODES
    gaining = {
        (view.resource(one), view.namespace(one))
        for one in (_losing(view, made.after, before) if handed else ())
        if not view.terminating(one)
    }
    for source, facts in losing.items():
        # WHY not what is handed on: the next of its kind in the same place has it from then on.
        if source == row or (view.resource(source), view.namespace(source)) in gaining:
            continue
        count = len(matched(view, facts.selections))
        yield SelectionChanged(
            source=scene.victim(source),
            before=count,
            after=max(0, count - 1),
            kept=max(0, count - 1),
            empty=False,
            cause=LABELS,
            own=is_own(scene, row),
            confidence=Confidence.BOUNDED,
        )


def _runs(scene: Scene, namespace: str) -> bool:
    """Whether any pod runs in a namespace."""
    return any(scene.running(kind)[0] for kind in scene.view.classes_in(namespace))


def _losing(view: GraphView, before: ClusterObject, after: ClusterObject) -> dict[int, CustomFacts]:
    """Return the custom resources that select an object by its labels, and would not any more."""
    found = ((row, view.facts(row)) for row in view.choosing(after.key.resource, before.labels))
    return {
        row: facts
        for row, facts in found
        if isinstance(facts, CustomFacts) and _loses(facts, before, after)
    }


def _loses(facts: CustomFacts, before: ClusterObject, after: ClusterObject) -> bool:
    """Whether a custom resource selects an object by its labels, and would not any more."""
    key = after.key
    mine = [
        one
        for one in facts.selections
        if one.resource == key.resource and (one.everywhere or one.namespace in {"", key.namespace})
    ]
    had = any(one.selector.matches(before.labels) for one in mine)
    return had and not any(one.selector.matches(after.labels) for one in mine)


def matched(view: GraphView, chosen: Iterable[Selection]) -> set[int]:
    """Return the rows that selections match: of pods the Ready ones."""
    found: set[int] = set()
    for one in chosen:
        spaces: Iterable[str | None] = (one.namespace or None,)
        if one.namespaces is not None:
            spaces = [
                view.name(row)
                for row in view.rows(NAMESPACES)
                if one.namespaces.matches(view.labels(row))
            ]
        for space in spaces:
            found.update(_in_space(view, one, space))
    return found


def _in_space(view: GraphView, one: Selection, space: str | None) -> list[int]:
    if one.resource == PODS and space is not None:
        return [row for row in view.pods_selected(space, one.selector) if view.serves(row)]
    return [row for row in view.rows(one.resource, space) if one.selector.matches(view.labels(row))]
