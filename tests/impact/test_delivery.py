"""Delivery in steps: what is turned to the next set, sent away behind it, or left behind by it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.sizes import asked_for, resize_explained
from suture.impact.effects import (
    EndpointsLost,
    ObjectsRemoved,
    PodsLost,
    SelectionChanged,
    ServiceEmptied,
)
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    INGRESSES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    Resource,
)
from suture.model.objects import (
    ClusterObject,
    CustomFacts,
    PodFacts,
    ServiceFacts,
    SliceFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

ROLLOUTS = Resource("rollouts.example.com", "rollouts")
REVISIONS = Resource("rollouts.example.com", "revisions")
BY = operator("system:serviceaccount:delivery:rollouts-controller")
ROLLOUT = thing(ROLLOUTS, "web", "prod", facts=CustomFacts(wanted=3))


def hashed(revision: str) -> dict[str, str]:
    return {"app": "web", "revision": revision}


def replica_set(revision: str, *, ready: int, of: ClusterObject = ROLLOUT) -> list[ClusterObject]:
    """Return a set of three with its pods, as many of them Ready."""
    facts = WorkloadFacts(3, Selector.of(hashed(revision)))
    root = thing(REPLICA_SETS, f"web-{revision}", "prod", owners=[owner(of)], facts=facts)
    return [
        root,
        *(
            thing(
                PODS, f"web-{revision}-{number}", "prod", owners=[owner(root)],
                labels=hashed(revision), facts=PodFacts(ready=number < ready, node="node-1"),
            )
            for number in range(3)
        ),
    ]  # fmt: skip


def role(name: str, labels: dict[str, str], of: ClusterObject | None = None) -> ClusterObject:
    facts = ServiceFacts(Selector.of(labels))
    return thing(SERVICES, name, "prod", owners=[owner(of)] if of else [], facts=facts)


ACTIVE, PREVIEW = role("active", hashed("a")), role("preview", hashed("a"))


def turned(
    view: GraphView, labels: dict[str, str], of: ClusterObject = PREVIEW
) -> tuple[list[bool], list[str]]:
    """Return whether what a Service loses to a new selector is explained, and what it is called."""
    request = update(of, replace(of, facts=ServiceFacts(Selector.of(labels))), by=BY)
    impact = impact_of(request, view, by=BY)
    explained = [one.explained for one in effects(impact, EndpointsLost)]
    explained += [one.explained for one in effects(impact, ServiceEmptied)]
    return explained, [one.cause for one in effects(impact, SelectionChanged)]


def test_a_preview_may_be_turned_to_a_set_that_is_not_ready_yet() -> None:
    """Blue and green: nobody reads the preview, and the active Service has what it had."""
    view = view_of(ROLLOUT, replica_set("a", ready=3), replica_set("b", ready=0), ACTIVE, PREVIEW)
    assert turned(view, hashed("b")) == ([True, True], ["role"])


@pytest.mark.parametrize(
    ("things", "labels"),
    [
        pytest.param([ACTIVE], hashed("typo"), id="a-set-that-is-not-there"),
        pytest.param([ACTIVE], {**hashed("b"), "zone": "x"}, id="another-label"),
        pytest.param([], hashed("b"), id="nobody-else-reaches-its-pods"),
        pytest.param(
            [
                ACTIVE,
                replace(
                    thing(INGRESSES, "web", "prod"), needs=(Need(Edge.ROUTES_TO, PREVIEW.key),)
                ),
            ],
            hashed("b"),
            id="a-route-reads-it",
        ),
    ],
)
def test_a_selector_that_goes_wrong_is_no_turn(
    things: Iterable[ClusterObject], labels: dict[str, str]
) -> None:
    """The twin: what Services lost to a selector that nothing was ready for."""
    view = view_of(ROLLOUT, replica_set("a", ready=3), replica_set("b", ready=0), PREVIEW, things)
    assert turned(view, labels) == ([False, False], ["selector"])


def test_a_route_of_who_delivers_says_itself_how_much_goes_there() -> None:
    """Its own, to what comes alone, at no weight between two releases."""
    route = thing(INGRESSES, "web-canary", "prod", owners=[owner(ROLLOUT)])
    route = replace(route, needs=(Need(Edge.ROUTES_TO, PREVIEW.key),))
    sets = replica_set("a", ready=3), replica_set("b", ready=1)
    view = view_of(ROLLOUT, *sets, ACTIVE, PREVIEW, route)
    assert turned(view, hashed("b")) == ([True], ["role"])


def test_only_who_keeps_the_pods_turns_services_to_the_next() -> None:
    """Anybody else takes the endpoints away."""
    view = view_of(ROLLOUT, replica_set("a", ready=3), replica_set("b", ready=0), ACTIVE, PREVIEW)
    request = update(PREVIEW, replace(PREVIEW, facts=ServiceFacts(Selector.of(hashed("b")))))
    assert [one.explained for one in effects(impact_of(request, view), ServiceEmptied)] == [False]


@pytest.mark.parametrize(
    ("active", "next_ready", "asked"),
    [("b", 3, 0), ("a", 3, 3), ("b", 1, 2)],
    ids=["traffic-has-left", "still-served", "the-next-is-not-ready"],
)
def test_an_old_set_that_traffic_has_left_may_go(active: str, next_ready: int, asked: int) -> None:
    """Its parent asks for three in all, and has them in the set that is served."""
    old, new = replica_set("a", ready=3), replica_set("b", ready=next_ready)
    view = view_of(ROLLOUT, old, new, role("active", hashed(active)))
    row = view.find(old[0].key)
    assert row is not None
    assert asked_for(view, row) == asked
    assert resize_explained(view, row, 0) is (asked == 0)


@pytest.mark.parametrize(
    ("mine", "next_ready", "route", "asked"),
    [
        pytest.param(ROLLOUT, 3, False, 0, id="made-for-the-set"),
        pytest.param(ROLLOUT, 1, False, 2, id="the-next-is-not-ready"),
        pytest.param(ROLLOUT, 3, True, 3, id="a-route-leads-to-it"),
        pytest.param(None, 3, False, 3, id="somebody-s"),
    ],
)
def test_sets_with_a_service_of_their_own_each_count_together(
    mine: ClusterObject | None, next_ready: int, asked: int, *, route: bool
) -> None:
    """A version is called by its own address: that of the old one goes with it."""
    old, new = replica_set("a", ready=3), replica_set("b", ready=next_ready)
    front = role("web-a", hashed("a"), mine)
    routes = [replace(thing(INGRESSES, "web", "prod"), needs=(Need(Edge.ROUTES_TO, front.key),))]
    view = view_of(
        ROLLOUT, old, new, front, role("web-b", hashed("b"), ROLLOUT), routes if route else []
    )
    row = view.find(old[0].key)
    assert row is not None
    assert asked_for(view, row) == asked
    assert resize_explained(view, row, 0) is (asked == 0)


@pytest.mark.parametrize(("named", "asked"), [("ab", 1), ("a", 3), ("b", 3), ("", 3)])
def test_sets_whose_services_their_parent_names_count_together(named: str, asked: int) -> None:
    """A stable set shrinks as its canary grows, and traffic is shifted by a route."""
    fronts = {one: role(f"web-{one}", hashed(one)) for one in "ab"}
    needs = tuple(Need(Edge.RULE, fronts[one].key, "", optional=True) for one in named)
    sets = replica_set("a", ready=3), replica_set("b", ready=2)
    view = view_of(replace(ROLLOUT, needs=needs), *sets, *fronts.values())
    row = view.find(sets[0][0].key)
    assert row is not None
    assert asked_for(view, row, after=1) == asked
    # Its Service still leads to it: of nothing else is it the last.
    assert asked_for(view, row) == 3


def explained_service(*things: ClusterObject | list[ClusterObject], was: bool = False) -> bool:
    """Return whether the end of a Service is explained whose set is history, or `was` there."""
    view = view_of(ROLLOUT, FRONT, *things)
    if was:
        old = replica_set("a", ready=0)[0]
        view.history.note_removed(old.uid, old.key, START, owners=old.owners)
    (found,) = effects(impact_of(delete(FRONT, by=BY), view, by=BY), ObjectsRemoved)
    return found.explained == 1


FRONT = role("web-a", hashed("a"), ROLLOUT)
NEXT = [role("web-b", hashed("b"), ROLLOUT), *replica_set("b", ready=3)]


def test_the_service_of_a_set_that_is_history_may_go() -> None:
    """Its set wants no pods and has none, or went; the next one has its own Service, and serves."""
    idle = stopped(replica_set("a", ready=0)[0])
    assert explained_service(NEXT, idle)
    assert explained_service(NEXT, was=True)


def test_the_service_of_a_set_that_may_come_back_may_not() -> None:
    """Its set wants pods, was never seen, or nothing came after it; or something leads to it."""
    assert not explained_service(NEXT, replica_set("a", ready=0))
    assert not explained_service(NEXT, replica_set("a", ready=0)[0])
    assert not explained_service(NEXT)
    assert not explained_service(was=True)
    route = replace(thing(INGRESSES, "web", "prod"), needs=(Need(Edge.ROUTES_TO, FRONT.key),))
    assert not explained_service(NEXT, route, was=True)


def canary(twin_ready: int, *, owned: bool = True) -> tuple[GraphView, ClusterObject]:
    """Return somebody's Deployment behind the Service of a canary, beside the set for good."""
    facts = WorkloadFacts(3, Selector.of({"app": "web"}))
    web = thing(DEPLOYMENTS, "web", "prod", facts=facts, owners=[] if owned else [owner(ROLLOUT)])
    primary = replace(facts, selector=Selector.of({"app": "web-primary"}))
    twin = thing(DEPLOYMENTS, "web-primary", "prod", facts=primary, owners=[owner(ROLLOUT)])
    pods = [
        thing(
            PODS, f"{root.key.name}-{number}", "prod", owners=[owner(root)],
            labels={"app": root.key.name}, facts=PodFacts(ready=number < ready, node="node-1"),
        )
        for root, ready in ((web, 3), (twin, twin_ready))
        for number in range(3)
    ]  # fmt: skip
    front = role("web-canary", {"app": "web"}, ROLLOUT)
    return view_of(ROLLOUT, web, twin, pods, front), web


def stopped(workload: ClusterObject) -> ClusterObject:
    assert isinstance(workload.facts, WorkloadFacts)
    return replace(workload, facts=replace(workload.facts, replicas=0))


@pytest.mark.parametrize(
    ("twin_ready", "owned", "explained"),
    [(3, True, True), (2, True, False), (3, False, False)],
    ids=["taken-over", "not-yet", "a-member-of-its-own"],
)
def test_what_was_copied_is_sent_away_behind_the_copys_own_service(
    twin_ready: int, *, owned: bool, explained: bool
) -> None:
    """A canary that is promoted: as many serve in the set that stays."""
    view, web = canary(twin_ready, owned=owned)
    request = update(web, stopped(web), by=BY)
    impact = impact_of(request, view, by=BY)
    (found,) = effects(impact, ServiceEmptied)
    (lost,) = effects(impact, PodsLost)
    assert (found.explained, lost.lasting == 0) == (explained, explained)


@pytest.mark.parametrize(
    ("by_hand", "explained"), [(("10.0.0.9",), True), ((), False)], ids=["answered", "by-nobody"]
)
def test_what_sleeps_is_answered_for_meanwhile(
    by_hand: tuple[str, ...], *, explained: bool
) -> None:
    """A function without traffic: its public Service leads to who wakes it."""
    web = replica_set("a", ready=3)
    private = role("web-private", hashed("a"), ROLLOUT)
    public = thing(SERVICES, "web", "prod", owners=[owner(ROLLOUT)], facts=ServiceFacts(None))
    written = thing(ENDPOINT_SLICES, "web-0", "prod", facts=SliceFacts("web", by_hand))
    view = view_of(ROLLOUT, web, private, public, written)
    request = update(web[0], stopped(web[0]), by=BY)
    impact = impact_of(request, view, by=BY)
    # A parent that says how many it wants is not asked for here.
    assert [one.explained for one in effects(impact, ServiceEmptied)] == [explained]
    assert [one.lasting for one in effects(impact, PodsLost)] == [0 if explained else 3]


def generation(name: str, made: float, *, replicas: int = 0, ready: int = 0) -> list[ClusterObject]:
    """Return a revision with its set, its pods and its Service."""
    revision = replace(thing(REVISIONS, name, "prod", owners=[owner(ROLLOUT)]), created=made)
    facts = WorkloadFacts(replicas, Selector.of({"revision": name}))
    root = thing(DEPLOYMENTS, name, "prod", owners=[owner(revision)], facts=facts)
    pods = [
        thing(
            PODS, f"{name}-{number}", "prod", owners=[owner(root)], labels={"revision": name},
            facts=PodFacts(ready=number < ready, node="node-1"),
        )
        for number in range(replicas)
    ]  # fmt: skip
    return [revision, root, *pods, role(name, {"revision": name}, revision)]


@pytest.mark.parametrize(
    ("things", "explained"),
    [
        pytest.param([generation("new", 2.0)], True, id="a-younger-one"),
        pytest.param([], False, id="the-only-one"),
        pytest.param([generation("older", 0.5)], False, id="the-latest"),
        pytest.param([generation("new", 2.0)[0]], False, id="a-younger-one-that-has-nothing"),
    ],
)
def test_a_generation_that_nothing_runs_in_is_left_behind(
    things: Iterable[ClusterObject | list[ClusterObject]], *, explained: bool
) -> None:
    """Releases of a function leave revisions, each with a Service, that its controller collects."""
    old = generation("old", 1.0)
    more = [one for some in things for one in (some if isinstance(some, list) else [some])]
    impact = impact_of(delete(old[0]), view_of(ROLLOUT, old, more))
    told = {one.resource: one.explained for one in effects(impact, ObjectsRemoved)}
    assert told[str(SERVICES)] == int(explained)


def test_a_generation_that_runs_is_not() -> None:
    """The twin: a revision that serves goes, with a younger one beside it."""
    old = generation("old", 1.0, replicas=1, ready=1)
    impact = impact_of(delete(old[0]), view_of(ROLLOUT, old, generation("new", 2.0)))
    told = {one.resource: one.explained for one in effects(impact, ObjectsRemoved)}
    assert told[str(SERVICES)] == 0


@pytest.mark.parametrize(
    ("turned_to", "ready", "explained"),
    [
        pytest.param("new", 2, True, id="traffic has left it"),
        pytest.param("new", 1, False, id="for fewer pods"),
        pytest.param("old", 2, False, id="traffic is still there"),
        pytest.param("neither", 2, False, id="nobody says where it is"),
    ],
)
def test_a_generation_that_runs_and_was_left(
    turned_to: str, ready: int, *, explained: bool
) -> None:
    """A cluster of model servers is made beside the old one, and its Services turned to it."""
    old = generation("old", 1.0, replicas=2, ready=2)
    new = generation("new", 2.0, replicas=2, ready=ready)
    public = role("web", {"revision": turned_to}, ROLLOUT)
    impact = impact_of(delete(old[0]), view_of(ROLLOUT, old, new, public))
    told = {one.resource: one.explained for one in effects(impact, ObjectsRemoved)}
    assert told[str(DEPLOYMENTS)] == int(explained)


def test_what_never_ran_anything_is_no_generation() -> None:
    """The twin: what a generator makes one of for each tenant owns nothing, and all are of an age."""
    tenants = [thing(REVISIONS, name, "prod", owners=[owner(ROLLOUT)]) for name in ("one", "two")]
    impact = impact_of(delete(tenants[0]), view_of(ROLLOUT, tenants))
    assert [one.explained for one in effects(impact, ObjectsRemoved)] == [0]


def test_what_goes_together_excuses_none_of_itself() -> None:
    """The twin: all generations go, with the parent that made them or before it."""
    view = view_of(ROLLOUT, generation("old", 1.0), generation("new", 2.0))

    impact = impact_of(delete(ROLLOUT), view)

    told = {one.resource: one.explained for one in effects(impact, ObjectsRemoved)}
    assert (told[str(SERVICES)], told[str(REVISIONS)]) == (0, 0)


def relieved(
    *, ready: int = 3, name: str = "web", selector: dict[str, str] | None = None,
    front: dict[str, str] | None = None, known: bool = True,
) -> int:  # fmt: skip
    """Return how much is lost for good as a Deployment is sent away beside a set of a rollout."""
    root = thing(ROLLOUTS, name, "prod", facts=CustomFacts(wanted=3))
    web = thing(DEPLOYMENTS, "web", "prod", facts=WorkloadFacts(3, Selector.of({"app": "web"})))
    own = thing(
        REPLICA_SETS, "web-1", "prod", owners=[owner(web)],
        facts=WorkloadFacts(3, Selector.of({"app": "web"})),
    )  # fmt: skip
    ours = [
        thing(
            PODS, f"web-1-{number}", "prod", owners=[owner(own)], labels={"app": "web"},
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(3)
    ]  # fmt: skip
    its = replica_set("b", ready=ready, of=root)
    if selector is not None:
        its[0] = replace(its[0], facts=WorkloadFacts(3, Selector.of(selector)))
    view = view_of(root, web, own, ours, its, role("web", front or {"app": "web"}))
    by = BY if known else operator("system:serviceaccount:other:tool")
    view.history.habits.recall((), [(ROLLOUTS, (BY.user.username,))], ())
    impact = impact_of(update(web, stopped(web), by=by), view, by=by)
    return sum(one.lasting for one in effects(impact, PodsLost))


def test_a_delivery_takes_over_from_a_deployment() -> None:
    """Its pods stand behind the same Services, as many of them Ready."""
    assert relieved() == 0


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(relieved(ready=2), id="fewer-ready"),
        pytest.param(relieved(name="shop"), id="of-another-name"),
        pytest.param(relieved(selector={"revision": "b"}), id="selects-others-too"),
        pytest.param(relieved(known=False), id="not-by-who-delivers"),
    ],
)
def test_what_does_not_stand_in_for_a_deployment(lost: int) -> None:
    assert lost == 3
