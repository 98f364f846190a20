"""A custom resource that turns from one ReplicaSet to the next.

Fewer pods meanwhile, and Services turned to what has none yet.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, operator, owner, thing, view_of
from suture.impact.effects import PodsLost, SelectionChanged, ServiceEmptied
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import INGRESSES, PODS, REPLICA_SETS, SERVICES, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector

ROLLOUTS = Resource("rollouts.example.com", "rollouts")
BY = operator("system:serviceaccount:delivery:rollouts-controller")
SIZE = 8
ROLLOUT = thing(ROLLOUTS, "web", "prod", facts=CustomFacts(wanted=SIZE))


def hashed(revision: str) -> dict[str, str]:
    return {"app": "web", "revision": revision}


def replica_set(revision: str, size: int, *, ready: int, made: float = 0.0) -> list[ClusterObject]:
    """Return a set with its pods, as many of them Ready."""
    facts = WorkloadFacts(size, Selector.of(hashed(revision)))
    root = thing(REPLICA_SETS, f"web-{revision}", "prod", owners=[owner(ROLLOUT)], facts=facts)
    return [
        replace(root, created=made),
        *(
            thing(
                PODS, f"web-{revision}-{number}", "prod", owners=[owner(root)],
                labels=hashed(revision), facts=PodFacts(ready=number < ready, node="node-1"),
            )
            for number in range(size)
        ),
    ]  # fmt: skip


def role(name: str, labels: dict[str, str]) -> ClusterObject:
    return thing(SERVICES, name, "prod", facts=ServiceFacts(Selector.of(labels)))


def short_of(
    old: list[ClusterObject], size: int, *beside: Iterable[ClusterObject],
    made: Iterable[ClusterObject] = (), now: Now = START,
) -> bool:  # fmt: skip
    """Whether the old set, made as small as that, has fewer pods than it is asked for."""
    root = old[0]
    assert isinstance(root.facts, WorkloadFacts)
    view = view_of(ROLLOUT, old, [role("web", {"app": "web"})], *beside)
    for one in made:
        view.history.note_created(one.uid, BY.user.username, BY.operator, one.key, START)
    after = replace(root, facts=replace(root.facts, replicas=size))
    (lost,) = effects(impact_of(update(root, after, by=BY), view, by=BY, now=now), PodsLost)
    return lost.lasting > 0 and lost.before - lost.lasting < lost.wanted


OLD = replica_set("a", SIZE, ready=SIZE, made=1.0)


@pytest.mark.parametrize(("size", "ready"), [(7, 0), (6, 0), (4, 2), (0, SIZE)])
def test_a_stable_set_that_makes_room_for_the_next(size: int, ready: int) -> None:
    """A quarter may be away, as of a Deployment; each of the next that is Ready counts."""
    new = replica_set("b", max(ready, 1), ready=ready, made=2.0)
    assert not short_of(OLD, size, new)


@pytest.mark.parametrize(
    ("size", "beside"),
    [
        pytest.param(7, [], id="no-next"),
        pytest.param(0, replica_set("b", SIZE, ready=0, made=2.0), id="all-with-nothing-ready"),
        pytest.param(5, replica_set("b", 3, ready=0, made=2.0), id="more-than-a-quarter"),
        pytest.param(7, replica_set("b", 0, ready=0, made=2.0), id="a-next-of-no-size"),
        pytest.param(7, replica_set("b", 1, ready=0, made=0.5), id="the-one-before"),
    ],
)
def test_a_stable_set_that_is_cut(size: int, beside: list[ClusterObject]) -> None:
    """The incident: the same write, and the pods that it takes have nobody in their place."""
    assert short_of(OLD, size, beside)


def test_a_stable_set_that_makes_room_before_the_next_has_a_pod() -> None:
    """Of one that may have no pod too many the next is made, then the old one shrinks."""
    assert not short_of(OLD, 6, COMING, made=COMING)


def test_a_stable_set_that_is_cut_beside_an_empty_one() -> None:
    """The incident: more than a quarter goes, or the other set has been empty for long."""
    assert short_of(OLD, 5, COMING, made=COMING)
    assert short_of(OLD, 7, COMING, made=COMING, now=START.plus_s(900))


ACTIVE, PREVIEW = role("active", hashed("a")), role("preview", hashed("a"))
ROUTE = replace(thing(INGRESSES, "web", "prod"), needs=(Need(Edge.ROUTES_TO, ACTIVE.key),))
COMING = replica_set("b", 0, ready=0, made=2.0)


def turned(view: GraphView, service: ClusterObject, revision: str, now: Now = START) -> bool:
    """Whether a Service is taken to be turned to the next set, and none of its loss is refused."""
    after = replace(service, facts=ServiceFacts(Selector.of(hashed(revision))))
    impact = impact_of(update(service, after, by=BY), view, by=BY, now=now)
    explained = [one.explained for one in effects(impact, ServiceEmptied)]
    return explained == [True] and [
        one.cause for one in effects(impact, SelectionChanged)
    ] == ["role"]  # fmt: skip


def delivered(*coming: ClusterObject, made: Iterable[ClusterObject] = ()) -> GraphView:
    """Return two roles that reach the set of today, of which the active one is read."""
    view = view_of(ROLLOUT, OLD, ACTIVE, PREVIEW, ROUTE, coming)
    for one in made:
        view.history.note_created(one.uid, BY.user.username, BY.operator, one.key, START)
    return view


def test_a_preview_is_turned_to_a_set_that_was_just_made() -> None:
    """It has no size yet: the controller fills it next. Seen already, or still on its way."""
    assert turned(delivered(*COMING, made=COMING), PREVIEW, "b")
    assert turned(delivered(made=COMING), PREVIEW, "b")


def test_a_preview_is_turned_back_to_a_set_of_the_past() -> None:
    """Somebody has written the custom resource, which goes back to what it was."""
    view = delivered(*COMING)
    assert not turned(view, PREVIEW, "b")
    for shape in (1, 2):
        deed = Deed(What.WROTE, "developer@example.com", shape)
        view.history.writes.note(ROLLOUT.key, deed, START)
    assert turned(view, PREVIEW, "b")
    assert not turned(view, PREVIEW, "b", START.plus_s(900))


def test_a_service_that_is_read_or_turned_to_nothing() -> None:
    """The incident: the active Service with the route, or a revision that nobody made."""
    assert not turned(delivered(*COMING, made=COMING), ACTIVE, "b")
    assert not turned(delivered(*COMING, made=COMING), PREVIEW, "c")
    assert not turned(delivered(made=COMING), PREVIEW, "b", START.plus_s(60))


def test_the_last_service_that_reaches_the_pods() -> None:
    """Once the preview is turned, the active one may not follow before the next set is Ready."""
    view = view_of(ROLLOUT, OLD, ACTIVE, role("preview", hashed("b")), COMING)
    for one in COMING:
        view.history.note_created(one.uid, BY.user.username, BY.operator, one.key, START)
    assert not turned(view, ACTIVE, "b")
