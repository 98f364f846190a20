"""A number of children that was lowered, by whatever name: how many of them may go."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import EndpointsLost, ObjectsRemoved, PodsLost
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, PODS, SERVICES, STATEFUL_SETS, Resource
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

MONITORS = Resource("monitoring.example.com", "monitors")
MONITOR = thing(MONITORS, "main", "prod")
SETS = [
    thing(STATEFUL_SETS, f"shard-{at}", "prod", owners=[owner(MONITOR)], facts=WorkloadFacts(2))
    for at in range(4)
]


class Monitored:
    """A custom resource with four sets, or others, and what was written of it."""

    def __init__(self, *sets: ClusterObject) -> None:
        self.view = GraphView(graph_of(MONITOR, sets or SETS), History())

    def rewrite(self, old: dict[str, object], new: dict[str, object]) -> None:
        bodies = (msgspec.json.encode({"spec": old}), msgspec.json.encode({"spec": new}))
        request = update(MONITOR, MONITOR, bodies=bodies)
        remember(request, project(request, self.view), self.view, START)

    def explained(self, *going: int) -> int:
        """Return for how many of the four that go at once a cause accounts."""
        return self.explained_of([SETS[one] for one in going])

    def explained_of(self, going: Sequence[ClusterObject]) -> int:
        """Return for how many of some sets that go at once a cause accounts."""
        first = delete(going[0])
        change = project(first, self.view)
        rows = tuple(self.view.find(one.key) for one in going)
        change = msgspec.structs.replace(
            change, direct=tuple(row for row in rows if row is not None)
        )
        impact = estimate(first, change, self.view, operator(), now=START)
        (found,) = [
            one for one in effects(impact, ObjectsRemoved) if one.resource == str(STATEFUL_SETS)
        ]
        return found.explained


@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({"shards": 4}, {"shards": 3}, 1, id="one fewer"),
        pytest.param({"shards": 4}, {"shards": 2}, 2, id="two fewer"),
        pytest.param({"of": {"shards": 4}}, {"of": {"shards": 3}}, 1, id="within a part"),
        pytest.param(
            {"groups": [{"groupName": "a", "of": 9}, {"groupName": "b", "shards": 4}]},
            {"groups": [{"groupName": "b", "shards": 3}]},
            1,
            id="within a part of a list that has a name",
        ),
        pytest.param({"groups": [{"shards": 4}]}, {"groups": [{"shards": 3}]}, 0, id="without"),
        pytest.param({"days": 9}, {"days": 3}, 0, id="a number of something else"),
        pytest.param({"shards": 4}, {"shards": 0}, 0, id="none, which may be of anything"),
        pytest.param({"pairs": 2}, {"pairs": 1}, 2, id="two for each"),
        pytest.param({"pairs": 3}, {"pairs": 2}, 0, id="not as many for each"),
        pytest.param({"pairs": 1}, {"pairs": 0}, 0, id="all that there are for one"),
        pytest.param({"shards": 3}, {"shards": 4}, 0, id="more"),
        pytest.param({"on": True}, {"on": False}, 0, id="no number"),
    ],
)
def test_a_number_that_was_as_many_as_the_children(
    old: dict[str, object], new: dict[str, object], explained: int
) -> None:
    """Two that go at once are explained as far as the parent can spare them."""
    monitored = Monitored()
    monitored.rewrite(old, new)
    assert monitored.explained(2, 3) == explained


def test_without_such_a_write_nothing_is_explained() -> None:
    """A set that goes under a parent that says what it said is a loss; so once it was raised."""
    monitored = Monitored()
    assert monitored.explained(3) == 0
    monitored.rewrite({"shards": 4}, {"shards": 3})
    assert monitored.explained(3) == 1
    monitored.rewrite({"shards": 3}, {"shards": 4})
    assert monitored.explained(3) == 0


def test_what_there_are_two_of_for_each_may_go_once() -> None:
    """Of four sets for two pairs two go, and none once there are two pairs again."""
    monitored = Monitored()
    monitored.rewrite({"pairs": 2}, {"pairs": 1})
    assert [monitored.explained(3), monitored.explained(1, 2, 3)] == [1, 2]
    monitored.rewrite({"pairs": 1}, {"pairs": 2})
    assert monitored.explained(3) == 0


def test_ways_in_are_not_counted_for_each() -> None:
    """The twin: of Services there are two, or four, for many reasons."""
    ways = [thing(SERVICES, f"way-{at}", "prod", owners=[owner(MONITOR)]) for at in range(4)]
    monitored = Monitored(*ways)
    monitored.rewrite({"pairs": 2}, {"pairs": 1})
    (found,) = effects(impact_of(delete(ways[3]), monitored.view), ObjectsRemoved)
    assert found.explained == 0


@pytest.mark.parametrize(
    ("stopped", "lasting"),
    [
        pytest.param((), 0, id="the first of two"),
        pytest.param((2,), 0, id="the second"),
        pytest.param((1, 2), 1, id="one more than the parent can spare"),
    ],
)
def test_a_set_that_is_stopped_before_it_goes(stopped: tuple[int, ...], lasting: int) -> None:
    """Of sets of one for each host, as many are stopped as there are too many."""
    sets = [
        thing(STATEFUL_SETS, f"host-{at}", "prod", owners=[owner(MONITOR)], facts=sized(1))
        for at in range(4)
    ]
    pod = thing(PODS, "host-3-0", "prod", owners=[owner(sets[3])], facts=PodFacts(ready=True))
    graph = graph_of(MONITOR, sets, pod)
    monitored = Monitored()
    monitored.view = GraphView(graph, History())
    monitored.rewrite({"shards": 2}, {"shards": 1})
    for at in stopped:
        graph.put(msgspec.structs.replace(sets[at], facts=sized(0)))
    smaller = msgspec.structs.replace(sets[3], facts=sized(0))
    (lost,) = effects(impact_of(update(sets[3], smaller), monitored.view), PodsLost)
    assert lost.lasting == lasting


@pytest.mark.parametrize(
    ("zone", "going", "explained"),
    [
        pytest.param("a", (0, 1), 1, id="two, of which one is let go"),
        pytest.param("b", (0, 1), 0, id="a number that may be of the zone, too"),
        pytest.param("a", (3,), 0, id="what is labelled otherwise"),
    ],
)
def test_a_number_of_those_that_one_label_makes_out(
    zone: str, going: tuple[int, ...], explained: int
) -> None:
    """Each bears an id of its own, so that no two are labelled alike, and all workers a role."""
    sets = [
        thing(
            STATEFUL_SETS,
            f"member-{at}",
            "prod",
            owners=[owner(MONITOR)],
            labels={
                "id": str(at),
                "role": "head" if at == 3 else "worker",
                "zone": zone if at else "a",
            },
        )
        for at in range(4)
    ]
    monitored = Monitored(*sets)
    monitored.rewrite({"workers": 3}, {"workers": 2})
    assert monitored.explained_of([sets[one] for one in going]) == explained


@pytest.mark.parametrize(
    ("going", "explained"),
    [
        pytest.param(("work-0",), 1, id="a worker"),
        pytest.param(("work-0", "work-1"), 1, id="two, of which one is let go"),
        pytest.param(("head",), 0, id="what is labelled otherwise"),
    ],
)
def test_a_number_that_was_as_many_as_the_children_labelled_alike(
    going: tuple[str, ...], explained: int
) -> None:
    """Workers of a group beside their head: the number is the group's, and so is who may go."""
    workers = [
        thing(
            STATEFUL_SETS, f"work-{at}", "prod", owners=[owner(MONITOR)], labels={"role": "worker"}
        )
        for at in range(3)
    ]
    head = thing(STATEFUL_SETS, "head", "prod", owners=[owner(MONITOR)], labels={"role": "head"})
    monitored = Monitored(*workers, head)
    monitored.rewrite({"workers": 3}, {"workers": 2})
    gone = [one for one in (*workers, head) if one.key.name in going]
    assert monitored.explained_of(gone) == explained


@pytest.mark.parametrize(
    ("zones", "explained"),
    [
        pytest.param("aaa", 1, id="by one label, or two that are the same"),
        pytest.param("aab", 1, id="by one of two"),
        pytest.param("bbb", 0, id="by two that are not"),
    ],
)
def test_a_number_of_members_each_with_its_claim(zones: str, explained: int) -> None:
    """However many Services there are, and other sets and claims beside them."""
    labels = [{"group": "db", "zone": zone} for zone in zones] + [{"group": "backup", "zone": "b"}]
    if zones == "bbb":
        labels = [{"group": "db", "zone": zone} for zone in "abb"] + [labels[-1]]
    things = [
        thing(of, f"m-{at}", "prod", owners=[owner(MONITOR)], labels=says, facts=facts)
        for of, facts in ((STATEFUL_SETS, WorkloadFacts(1)), (CLAIMS, ClaimFacts(bound=True)))
        for at, says in enumerate(labels)
    ]
    ways = [
        thing(SERVICES, f"way-{at}", "prod", owners=[owner(MONITOR)], facts=ServiceFacts())
        for at in range(3)
    ]
    monitored = Monitored(*things, *ways)
    monitored.rewrite({"members": 3}, {"members": 2})
    claim = next(one for one in things if one.key.resource == CLAIMS)
    told = effects(impact_of(delete(claim), monitored.view, now=START), ObjectsRemoved)
    assert [one.explained for one in told if one.resource == str(CLAIMS)] == [explained]


def shards(count: int, replicas: int) -> list[ClusterObject]:
    """Return sets of one pod each, numbered by their shard and by which of its replicas they are."""
    return [
        thing(
            STATEFUL_SETS,
            f"main-{shard}-{replica}",
            "prod",
            owners=[owner(MONITOR)],
            labels={"of": "main", "shard": str(shard), "replica": str(replica)},
            facts=WorkloadFacts(1, Selector.of({"set": f"{shard}-{replica}"})),
        )
        for shard in range(count)
        for replica in range(replicas)
    ]


@pytest.mark.parametrize(
    ("replicas", "numbers", "explained"),
    [
        pytest.param(2, (3, 2), 2, id="the last shard"),
        pytest.param(2, (3, 1), 4, id="the last two"),
        pytest.param(2, (2, 1), 3, id="the second replica of each"),
        pytest.param(2, (9, 2), 0, id="a number of something else"),
        pytest.param(2, (2, 3), 0, id="more"),
        pytest.param(3, (3, 2), 0, id="as many shards as replicas, of which one is meant"),
    ],
)
def test_a_number_up_to_which_the_children_are_numbered(
    replicas: int, numbers: tuple[int, int], explained: int
) -> None:
    """A number of shards lets those go that are beyond it, and all that each consists of."""
    sets = shards(3, replicas)
    monitored = Monitored(*sets)
    monitored.rewrite({"shards": numbers[0]}, {"shards": numbers[1]})
    assert monitored.explained_of(sets) == explained


def test_a_number_of_shards_that_was_raised_again() -> None:
    """Then each of them is wanted."""
    sets = shards(3, 2)
    monitored = Monitored(*sets)
    monitored.rewrite({"shards": 3}, {"shards": 2})
    monitored.rewrite({"shards": 2}, {"shards": 3})
    assert monitored.explained_of(sets) == 0


def test_a_set_beyond_the_number_is_stopped_before_it_goes() -> None:
    """To nothing, as its operator does to end its pod in good order; those within it are not."""
    sets = shards(3, 2)
    pods = [
        thing(PODS, f"{one.key.name}-0", "prod", owners=[owner(one)], facts=PodFacts(ready=True))
        for one in sets
    ]
    monitored = Monitored(*sets, *pods)
    monitored.rewrite({"shards": 3}, {"shards": 2})
    stopped = [msgspec.structs.replace(one, facts=WorkloadFacts(0)) for one in sets]
    lost = [
        sum(one.lasting for one in effects(impact_of(update(*both), monitored.view), PodsLost))
        for both in zip(sets, stopped, strict=True)
    ]
    assert lost == [1, 1, 1, 1, 0, 0]


POOLS, POD_SETS = Resource("mq.example.com", "pools"), Resource("mq.example.com", "podsets")
POOL = thing(POOLS, "old", "prod")
POD_SET = thing(POD_SETS, "main-old", "prod", owners=[owner(POOL, controller=False)])


def broker(number: int, of: ClusterObject) -> list[ClusterObject]:
    """Return a broker of a set, and the Service that leads to it alone."""
    name = f"{of.key.name}-{number}"
    selects = ServiceFacts(Selector.of({"pod": name}))
    labels = {"mq": "main", "pod": name}
    facts = PodFacts(ready=True, node="node-1")
    return [
        thing(PODS, name, "prod", owners=[owner(of)], labels=labels, facts=facts),
        thing(SERVICES, name, "prod", facts=selects),
    ]


def emptied_pool(size: int, *, beside: int) -> list[bool]:
    """Whether each broker may go, one after the other, of a pool of three made smaller.

    `beside`: brokers of another pool.
    """
    other = thing(POD_SETS, "main-new", "prod")
    brokers = [broker(number, POD_SET) for number in range(3)]
    rest = [broker(number, other) for number in range(beside)]
    facing = thing(SERVICES, "main", "prod", facts=ServiceFacts(Selector.of({"mq": "main"})))
    graph = graph_of(POOL, POD_SET, other, facing, *brokers, *rest)
    view = GraphView(graph, History())
    bodies = (b'{"spec":{"replicas":3}}', msgspec.json.encode({"spec": {"replicas": size}}))
    lowered = update(POOL, POOL, bodies=bodies)
    remember(lowered, project(lowered, view), view, START)
    found = []
    for pod, _ in reversed(brokers):
        impact = impact_of(delete(pod), view)
        found.append(all(one.explained for one in effects(impact, EndpointsLost)))
        graph.remove(pod.key)
    return found


@pytest.mark.parametrize(
    ("size", "beside", "may_go"),
    [
        pytest.param(0, 3, [True, True, True], id="emptied beside another"),
        pytest.param(0, 0, [False, False, False], id="the only one emptied"),
        pytest.param(2, 0, [True, False, False], id="made smaller"),
        pytest.param(3, 3, [False, False, False], id="left as it was"),
    ],
)
def test_pods_that_a_child_keeps_for_it(size: int, beside: int, may_go: list[bool]) -> None:
    """A pool has its brokers by a set of its own kind; to nothing only where others serve."""
    assert emptied_pool(size, beside=beside) == may_go


def step(size: int, *, beside: int = 2, numbers: tuple[int, int] = (5, 3)) -> int:
    """Return how many pods are let go of for no cause when a set of five is made so large.

    `numbers`: what a number of its parent was and is. `beside`: the size of another set of it.
    """
    members = thing(STATEFUL_SETS, "main-rs", "prod", owners=[owner(MONITOR)], facts=sized(5))
    other = thing(STATEFUL_SETS, "main-log", "prod", owners=[owner(MONITOR)], facts=sized(beside))
    pods = [
        thing(PODS, f"main-rs-{at}", "prod", owners=[owner(members)], facts=PodFacts(ready=True))
        for at in range(5)
    ]
    view = GraphView(graph_of(MONITOR, members, other, pods), History())
    bodies = [msgspec.json.encode({"spec": {"of": {"voters": number}}}) for number in numbers]
    lowered = update(MONITOR, MONITOR, bodies=(bodies[0], bodies[1]))
    remember(lowered, project(lowered, view), view, START)
    smaller = msgspec.structs.replace(members, facts=sized(size))
    (lost,) = effects(impact_of(update(members, smaller), view), PodsLost)
    return lost.lasting


def sized(replicas: int) -> WorkloadFacts:
    return WorkloadFacts(replicas, Selector.of({"app": "main"}))


def test_a_set_goes_step_by_step_to_the_size_that_is_wanted() -> None:
    """Each step is asked for, by whatever name the number goes; less than it is not."""
    assert [step(size) for size in (4, 3, 2)] == [0, 0, 3]


@pytest.mark.parametrize(
    ("beside", "numbers"),
    [
        pytest.param(5, (5, 3), id="two sets had that size"),
        pytest.param(2, (9, 3), id="a number of something else"),
        pytest.param(2, (3, 5), id="raised"),
        pytest.param(2, (5, 0), id="to none, which may be of anything"),
    ],
)
def test_a_number_that_says_nothing_of_the_size(beside: int, numbers: tuple[int, int]) -> None:
    """The twin: then a smaller set is a loss, as before."""
    assert step(4, beside=beside, numbers=numbers) == 1


def moved(ready: int, *, app: str = "etl", size: int = 2) -> int:
    """Return how many pods a Deployment of three lets go of for no cause, made so large.

    `ready`: Ready pods of a set of another kind of the same parent, which wants three. `app`: the
    label of these.
    """
    parent = thing(POOLS, "etl", "prod", facts=CustomFacts(wanted=3))
    root, *others = workload("etl", replicas=3)
    root = msgspec.structs.replace(root, owners=(owner(parent),))
    following = thing(POD_SETS, "etl", "prod", owners=[owner(parent)])
    pods = [
        thing(
            PODS, f"etl-{at}", "prod", owners=[owner(following)], labels={"app": app},
            facts=PodFacts(ready=at < ready),
        )
        for at in range(3)
    ]  # fmt: skip
    view = GraphView(graph_of(parent, root, others, following, pods), History())
    assert isinstance(root.facts, WorkloadFacts)
    facts = msgspec.structs.replace(root.facts, replicas=size)
    smaller = msgspec.structs.replace(root, facts=facts)
    (lost,) = effects(impact_of(update(root, smaller), view), PodsLost)
    return lost.lasting


def test_what_a_workload_ran_is_moved_to_another_kind() -> None:
    """One in, one out, and then the empty workload: its parent has as many all the time."""
    assert [moved(ready, size=3 - ready) for ready in (1, 2, 3)] == [0, 0, 0]


def test_what_no_other_kind_has_taken_over_is_lost() -> None:
    """The incident: a stale operator, the next pods not Ready, or other parts of the parent."""
    assert (moved(0), moved(1, size=1), moved(3, app="proxy")) == (1, 2, 1)
