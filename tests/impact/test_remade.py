"""ConfigMaps that their operator deletes and makes again, and those that it only deletes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, thing, view_of, workload
from suture.impact.causes.counters import not_back
from suture.impact.causes.recent import remember
from suture.impact.effects import ReferenceBroken
from suture.impact.ordinary.remade import GAPS
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, Resource
from suture.model.objects import CustomFacts

MONITORS = Resource("monitoring.example.com", "monitors")
MAIN = thing(MONITORS, "main", "prod", facts=CustomFacts())
BY = operator("system:serviceaccount:monitoring:monitors-operator")
STRANGER = operator("system:serviceaccount:tidy:cleaner")
RULES = thing(CONFIG_MAPS, "main-rules-0", "prod", owners=[owner(MAIN)])
LATER = START.plus_s(9 * 24 * 3600)


def cluster(
    *, maker: Actor = BY, remover: Actor = BY, after_s: int = 1, again: bool = True
) -> GraphView:
    """Make a workload that mounts a ConfigMap, and the past of that."""
    root, *pods = workload("main")
    root = msgspec.structs.replace(root, needs=(Need(Edge.CONFIG_MAP, RULES.key),))
    view = view_of(MAIN, RULES, root, pods)
    history, made, removed = view.history, maker.user.username, remover.user.username
    if again:
        history.note_removed("uid-before", RULES.key, START, by=removed)
    history.note_created(RULES.uid, made, made, RULES.key, START.plus_s(after_s))
    return view


def in_use(view: GraphView, by: Actor = BY) -> bool:
    impact = impact_of(delete(RULES, by=by), view, by=by, now=LATER)
    (told,) = effects(impact, ReferenceBroken)
    assert told.current or told.past
    return told.current > 0


def test_what_was_made_again_before_may_go_to_be_made_again() -> None:
    """Seen once, however long ago, and in whatever order the two were heard of."""
    assert not in_use(cluster())
    assert not in_use(cluster(after_s=-1))


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda: cluster(again=False), id="never-replaced"),
        pytest.param(lambda: cluster(after_s=600), id="not-at-once"),
        pytest.param(lambda: cluster(remover=STRANGER), id="mended-after-another"),
        pytest.param(lambda: cluster(maker=STRANGER), id="made-by-another"),
    ],
)
def test_a_past_that_says_nothing(view: Callable[[], GraphView]) -> None:
    """The incident: the same delete, and nothing was ever made in its place by who deletes it."""
    assert in_use(view())


def test_a_stranger_is_not_believed_for_it() -> None:
    assert in_use(cluster(), STRANGER)


def test_who_does_not_make_it_again() -> None:
    """After so many that did not come back the operator is not replacing anything."""
    view = cluster()
    request = delete(RULES, by=BY)
    for number in range(GAPS):
        assert not in_use(view), number
        remember(request, project(request, view), view, LATER)
    assert in_use(view)


def test_who_makes_it_again_each_time() -> None:
    """A replacement is none away, however often it is done."""
    view = cluster()
    gone = view_of(*(view.at(row) for row in view.rows(MONITORS)))
    for _ in range(2 * GAPS):
        request = delete(RULES, by=BY)
        remember(request, project(request, view), view, LATER)
        made = update(None, RULES, by=BY)
        remember(made, project(made, gone), view, LATER)
    assert view.history.writes.counted(not_back(BY.user.username, CONFIG_MAPS), LATER, 3600) == 0
    assert not in_use(view)
