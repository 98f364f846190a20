"""Repetition told from work: loops of deletes, values there and back, pods evicted as they come."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from support.asking import effects, update
from support.cluster import START, delete, graph_of, operator, owner, thing, workload
from suture.adapters.files import load_policies
from suture.impact.causes.counters import pattern_of
from suture.impact.causes.recent import remember
from suture.impact.effects import Churn, Growth, Impact, PodsLost
from suture.impact.estimate import estimate
from suture.impact.ground.change import Change
from suture.impact.project import project
from suture.judge import World, judge
from suture.model.actor import Actor
from suture.model.deeds import What
from suture.model.edges import Edge, Need
from suture.model.graph import Graph, GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import (
    CONFIG_MAPS,
    CRON_JOBS,
    JOBS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICES,
    SNAPSHOTS,
    STATEFUL_SETS,
    VOLUMES,
    Gvr,
    ObjectKey,
    Operation,
    Resource,
)
from suture.model.objects import ClusterObject, CustomFacts, NodeFacts, PodFacts, WorkloadFacts
from suture.model.placement import Taint
from suture.model.request import Request

OTHER = operator("system:serviceaccount:ops:other")
PERSON = operator("alice@example.com")
GADGETS = Resource("example.com", "gadgets")


class Lately:
    """A cluster in which requests follow each other; all of them are let through."""

    def __init__(self, *things: ClusterObject) -> None:
        self.graph = graph_of(things)
        self.history = History()
        self.now = START

    def ask(self, request: Request, by: Actor | None = None, after_s: float = 5) -> Impact:
        self.now = self.now.plus_s(after_s)
        actor = by or operator()
        request = msgspec.structs.replace(request, user=actor.user)
        view = GraphView(self.graph, self.history)
        change = project(request, view)
        impact = estimate(request, change, view, actor, now=self.now)
        remember(request, change, view, self.now)
        return impact

    def churns(
        self, request: Request, by: Actor | None = None, after_s: float = 5
    ) -> list[tuple[str, int, int, int]]:
        found = effects(self.ask(request, by, after_s), Churn)
        return [(one.what, one.times, one.window_s, one.actors) for one in found]

    def put(self, thing: ClusterObject) -> None:
        self.graph.put(thing)


def life(of: ClusterObject, number: int) -> ClusterObject:
    return msgspec.structs.replace(of, uid=f"{of.uid}#{number}")


DB = thing(STATEFUL_SETS, "db", "prod", facts=WorkloadFacts(3))


def test_an_object_deleted_again_and_again() -> None:
    """Each life counts once; the third delete within ten minutes says three."""
    lately = Lately(DB)
    told = []
    for number in range(3):
        one = life(DB, number)
        lately.put(one)
        told.append(lately.churns(delete(one)))
        lately.ask(delete(one))  # reviewed twice
        lately.graph.remove(one.key)

    assert told == [[], [("deleted", 2, 600, 1)], [("deleted", 3, 600, 1)]]


def test_what_is_made_again_as_often() -> None:
    """A create of what was deleted twice says so; of what was deleted once, or long ago, nothing."""
    lately = Lately()
    told = []
    for number in range(2):
        one = life(DB, number)
        lately.put(one)
        lately.ask(delete(one))
        lately.graph.remove(one.key)
        told.append(lately.churns(update(None, DB)))
    assert told == [[], [("recreated", 2, 600, 1)]]
    assert lately.churns(update(None, DB), after_s=700) == [("recreated", 2, 3600, 1)]
    assert lately.churns(update(None, DB), after_s=4000) == []


def test_finished_objects_come_and_go() -> None:
    """A finished Job of the same name that is deleted each minute is no loop."""
    done = thing(JOBS, "nightly", "prod", facts=WorkloadFacts(1, finished=True))
    lately = Lately()
    for number in range(4):
        lately.put(life(done, number))
        assert lately.churns(delete(life(done, number))) == []


def content(value: str) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "example.com/v1",
            "kind": "Gadget",
            "metadata": {"name": "g", "namespace": "prod", "resourceVersion": value},
            "spec": {"value": value},
        }
    )


def rewritten(old: str, new: str, resource: Resource = GADGETS) -> Request:
    one = thing(resource, "g", "prod", facts=None)
    return update(one, one, bodies=(content(old), content(new)))


def test_a_value_there_and_back() -> None:
    """Two controllers that undo each other are told from the second return on, both of them."""
    lately = Lately(thing(GADGETS, "g", "prod"))
    told = [
        lately.churns(rewritten(old, new), by)
        for old, new, by in (
            ("a", "b", None), ("b", "a", OTHER), ("a", "b", None), ("b", "a", OTHER)
        )
    ]  # fmt: skip
    assert told == [[], [], [("flipped", 2, 600, 2)], [("flipped", 3, 600, 2)]]


def test_ever_new_values_are_work() -> None:
    """A controller that writes something new each time does not flip."""
    lately = Lately(thing(GADGETS, "g", "prod"))
    values = [str(number) for number in range(12)]
    assert all(lately.churns(rewritten(old, new)) == [] for old, new in itertools.pairwise(values))


def test_a_secret_is_not_digested() -> None:
    """What a Secret holds is kept nowhere, not even as a number; its keys are."""
    lately = Lately(thing(SECRETS, "g", "prod"))
    for old, new in (("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")):
        assert lately.churns(rewritten(old, new, SECRETS)) == []


def status(old: object, new: object) -> Request:
    def body(value: object) -> bytes:
        return msgspec.json.encode({"metadata": {"name": "g"}, "status": value})

    one = thing(GADGETS, "g", "prod")
    return update(one, one, subresource="status", bodies=(body(old), body(new)))


def test_a_status_that_flips_without_end() -> None:
    """The same two statuses in turn, by one actor, are a loop once they are compared."""
    lately = Lately(thing(GADGETS, "g", "prod"))
    turns = [lately.churns(status(at % 2, (at + 1) % 2)) for at in range(10)]
    assert turns[:5] == [[]] * 5
    assert turns[9] == [("flipped", 5, 600, 1)]


def test_a_status_that_tells_the_time_is_work() -> None:
    """Heartbeats and counters never come back to what they were."""
    lately = Lately(thing(GADGETS, "g", "prod"))
    assert all(lately.churns(status({"at": at}, {"at": at + 1})) == [] for at in range(40))


def test_a_size_there_and_back() -> None:
    """It grew twice, and is back twice; small steps in one direction never come back."""
    lately = Lately(DB)

    def scaled(before: int, after: int) -> Request:
        facts = WorkloadFacts(before), WorkloadFacts(after)
        old, new = (msgspec.structs.replace(DB, facts=one) for one in facts)
        lately.put(old)
        return update(old, new)

    assert lately.churns(scaled(3, 0)) == []
    assert not any(one[0] == "scaled" for one in lately.churns(scaled(0, 3)))
    assert ("flipped", 2, 600, 1) in lately.churns(scaled(3, 0))
    assert ("scaled", 2, 600, 1) in lately.churns(scaled(0, 3))

    lately.history = History()
    assert lately.churns(scaled(0, 20)) == []  # as the next set of a roll-out does
    assert not any(lately.churns(scaled(size, size - 1)) for size in range(20, 0, -1))


def test_two_who_each_write_their_own_size_into_a_workload() -> None:
    """Each write is of content and of a size, and neither is forgotten before it is a loop."""
    lately = Lately(DB)
    sizes = [DB, msgspec.structs.replace(DB, facts=WorkloadFacts(5))] * 8
    for before, after in itertools.pairwise(sizes):
        lately.put(before)
        told = lately.churns(update(before, after), by=OTHER if after is DB else None)
    assert ("flipped", 14, 600, 2) in told


@pytest.mark.parametrize(("wanted", "told"), [(20, False), (6, True)], ids=["up-to", "beyond"])
def test_growing_towards_what_is_asked_for_is_no_loop(wanted: int, *, told: bool) -> None:
    """One member after the other, up to the number that the parent of a set says."""
    parent = thing(GADGETS, "main", "prod", facts=CustomFacts(wanted=wanted))
    members = msgspec.structs.replace(DB, owners=(owner(parent),))
    lately, said = Lately(parent, members), []
    for size in range(1, 16):
        old, new = (
            msgspec.structs.replace(members, facts=WorkloadFacts(one)) for one in (size, size + 1)
        )
        lately.put(old)
        said += [one for one in lately.churns(update(old, new)) if one[0] == "scaled"]
    assert bool(said) is told


def eviction(pod: ClusterObject) -> Request:
    gvr = Gvr("", "v1", "pods")
    return Request(
        uid="r", operation=Operation.CREATE, gvr=gvr, gvk=pod.gvk, subresource="eviction",
        namespace=pod.key.namespace, name=pod.key.name, user=operator().user,
    )  # fmt: skip


def test_the_pods_of_an_owner_evicted_round_after_round() -> None:
    """Once each is a drain or a restart; twice each is told, whatever the pods are called."""
    things = workload("web", replicas=3)
    replica_set = things[1]
    lately = Lately(*things[:2])
    told = []
    for number in range(6):
        pod = thing(
            PODS, f"web-{number}", "prod", labels={"app": "web"}, owners=[owner(replica_set)],
            facts=PodFacts(ready=True),
        )  # fmt: skip
        lately.put(pod)
        told.append(lately.churns(eviction(pod)))
        lately.graph.remove(pod.key)

    assert told[:5] == [[]] * 5
    assert told[5] == [("evicted", 2, 600, 1)]
    last = thing(
        PODS, "web-6", "prod", labels={"app": "web"}, owners=[owner(replica_set)],
        facts=PodFacts(ready=True),
    )  # fmt: skip
    lately.put(last)
    (again,) = effects(lately.ask(eviction(last)), Churn)
    assert (again.rounds, again.target.resource) == (True, "replicasets")


@pytest.mark.parametrize(
    ("finished", "told"),
    [
        pytest.param(True, False, id="evicted pods that a cleaner clears away"),
        pytest.param(False, True, id="pods that run, deleted as they come"),
    ],
)
@pytest.mark.parametrize("by", [operator(), PERSON])
def test_pods_that_have_ended_are_nothing_that_their_owner_has_to_bring_back(
    by: Actor, *, finished: bool, told: bool
) -> None:
    things = workload("web", replicas=3)
    lately = Lately(*things)
    pods = [
        thing(
            PODS, f"web-{number}", "prod", labels={"app": "web"}, owners=[owner(things[1])],
            facts=PodFacts(ready=not finished, finished=finished),
        )
        for number in range(12)
    ]  # fmt: skip
    for pod in pods:
        lately.put(pod)
    assert any(lately.churns(delete(pod), by) for pod in pods) is told


def test_pods_that_are_back_are_told_while_none_is_missing() -> None:
    """Of a set that is whole again, how many went within the hour; while one is away, none."""
    things = workload("web", replicas=4)
    replica_set, pods = things[1], things[2:]
    lately = Lately(*things)

    def taken(pod: ClusterObject) -> tuple[int, int]:
        (loss,) = effects(lately.ask(delete(pod)), PodsLost)
        return loss.self_healing, loss.back

    def next_pod(name: str, *, ready: bool = True) -> ClusterObject:
        made = thing(
            PODS, name, "prod", labels={"app": "web"}, owners=[owner(replica_set)],
            facts=PodFacts(ready=ready),
        )  # fmt: skip
        lately.put(made)
        return made

    assert taken(pods[0]) == (1, 0)
    lately.graph.remove(pods[0].key)
    assert taken(pods[1]) == (1, 0)
    lately.graph.remove(pods[1].key)
    next_pod("a")
    late = next_pod("b", ready=False)
    assert taken(pods[2]) == (1, 0)
    lately.graph.remove(pods[2].key)
    lately.graph.remove(late.key)
    next_pod("c")
    next_pod("d")
    assert taken(pods[3]) == (1, 3)


def grown(lately: Lately, request: Request, by: Actor | None = None) -> list[Growth]:
    return effects(lately.ask(request, by, 0.01), Growth)


def test_an_owner_with_ever_more_children() -> None:
    """More than it declares, and more than is usual: told with what it wants."""
    job = thing(JOBS, "batch", "prod", facts=WorkloadFacts(20))
    pods = [
        thing(PODS, f"p{at}", "prod", owners=[owner(job)], facts=PodFacts(finished=True))
        for at in range(60)
    ]
    lately = Lately(job, *pods)

    (found,) = grown(lately, update(None, thing(PODS, "new", "prod", owners=[owner(job)])))

    assert (found.per, found.before, found.after, found.wanted) == ("owner", 60, 61, 20)
    assert (found.resource, found.holder.name, found.recovery) == ("pods", "batch", False)


@pytest.mark.parametrize(("completions", "wanted"), [(60, []), (50, [50]), (5, [20])])
def test_a_job_that_says_how_many_pods_are_to_succeed(completions: int, wanted: list[int]) -> None:
    """Those that have ended stay beside those that run: it wants them all."""
    job = thing(JOBS, "batch", "prod", facts=WorkloadFacts(20, completions=completions))
    pods = [
        thing(PODS, f"p{at}", "prod", owners=[owner(job)], facts=PodFacts(finished=True))
        for at in range(59)
    ]
    found = grown(Lately(job, *pods), update(None, thing(PODS, "new", "prod", owners=[owner(job)])))
    assert [one.wanted for one in found] == wanted


@pytest.mark.parametrize(("ended", "told"), [(0, [(59, 60, -1)]), (55, [])])
def test_jobs_of_one_schedule_of_which_none_ends(
    ended: int, told: list[tuple[int, int, int]]
) -> None:
    """Each has one pod, and there is one more every minute; what has ended is its history."""
    schedule = thing(CRON_JOBS, "sync", "prod")
    jobs = [
        thing(JOBS, f"j{at}", "prod", owners=[owner(schedule)],
              facts=WorkloadFacts(1, finished=at < ended))
        for at in range(60)
    ]  # fmt: skip
    pod = thing(PODS, "new", "prod", owners=[owner(jobs[-1])])

    found = grown(Lately(schedule, *jobs), update(None, pod))

    assert [(one.before, one.after, one.wanted) for one in found] == told
    assert all((one.resource, one.holder.name) == (str(JOBS), "sync") for one in found)


def test_jobs_of_what_runs_many_at_once() -> None:
    """As a set of Jobs does, which was asked for: nothing is told of it when one gets its pod."""
    many = thing(Resource("jobset.example.com", "jobsets"), "train", "prod")
    jobs = [
        thing(JOBS, f"j{at}", "prod", owners=[owner(many)], facts=WorkloadFacts(1))
        for at in range(60)
    ]
    pod = thing(PODS, "new", "prod", owners=[owner(jobs[-1])])

    assert not grown(Lately(many, *jobs), update(None, pod))


def test_a_large_replica_set_is_filled_without_a_word() -> None:
    """As long as it has fewer than it declares."""
    big = thing(REPLICA_SETS, "big", "prod", facts=WorkloadFacts(500))
    pods = [thing(PODS, f"p{at}", "prod", owners=[owner(big)]) for at in range(60)]
    lately = Lately(big, *pods)
    assert grown(lately, update(None, thing(PODS, "new", "prod", owners=[owner(big)]))) == []


def made(number: int, resource: Resource = SERVICES) -> ClusterObject:
    return thing(resource, f"s{number}", "prod")


def test_one_actor_that_makes_hundreds_in_a_minute() -> None:
    """Told by actor and by namespace once it is fast, and not for the first ones."""
    lately = Lately()
    told = []
    for number in range(120):
        lately.put(made(number))
        told.append(grown(lately, update(None, made(number + 1000))))
    assert told[:50] == [[]] * 50
    by_actor, by_namespace = told[-1]
    assert (by_actor.per, by_actor.lately, by_actor.recovery) == ("actor", 119, False)
    assert by_actor.holder.name == operator().user.username
    assert (by_namespace.per, by_namespace.before) == ("namespace", 120)
    assert grown(lately, update(None, made(1, CONFIG_MAPS))) == []
    assert grown(lately, update(None, made(5000)), OTHER) == []


def copy(number: int, resource: Resource = SECRETS, space: str = "prod") -> ClusterObject:
    return thing(resource, f"token-{number}", space)


def copied(number: int, resource: Resource = SECRETS, *, stays: bool = True) -> list[Growth]:
    """Make so many copies, one every two seconds; return what is told of the last one."""
    lately, told = Lately(), list[Growth]()
    for at in range(number):
        told = effects(lately.ask(update(None, copy(at, resource)), None, 2), Growth)
        if stays:
            lately.put(copy(at, resource))
    return told


def test_copies_that_nobody_owns_are_counted_as_under_an_owner() -> None:
    """However slowly they are made: a loop of copies fills the store all the same."""
    (found,) = copied(201)
    assert (found.per, found.before, found.after) == ("owner", 200, 201)
    assert (found.holder.resource, found.holder.name, found.wanted) == ("namespaces", "prod", -1)


def test_of_copies_those_count_that_are_there_and_no_work() -> None:
    """What is collected again does not grow; pods and Jobs are submitted by the thousand."""
    assert copied(201, stays=False) == []
    assert copied(201, PODS) == []
    assert copied(201, JOBS) == []
    assert copied(201, GADGETS) == []
    assert copied(50) == []


@pytest.mark.parametrize(
    ("written", "found"),
    [
        pytest.param(("engine",), [600], id="by-who-makes-them-alone"),
        pytest.param(("engine", "worker"), [], id="by-who-works-them-off"),
        pytest.param((), [], id="by-nobody-knows-whom"),
    ],
)
def test_requests_that_nobody_works_off(written: tuple[str, ...], found: list[int]) -> None:
    """Custom resources are work, unless they lie there as they were made."""
    former = [msgspec.structs.replace(copy(at, GADGETS), managers=written) for at in range(540)]
    lately, told = Lately(*former), list[Growth]()
    for at in range(540, 601):
        one = msgspec.structs.replace(copy(at, GADGETS), managers=written[:1])
        told = grown_slowly(lately, one)
        lately.put(one)
    assert [one.before for one in told] == found


def test_copies_into_many_namespaces_are_a_few_in_each() -> None:
    lately = Lately()
    for at in range(200):
        one = copy(at, space=f"team-{at % 20}")
        assert grown_slowly(lately, one) == []
        lately.put(one)


def grown_slowly(lately: Lately, one: ClusterObject) -> list[Growth]:
    return effects(lately.ask(update(None, one), None, 2), Growth)


def wide(number: int, resource: Resource) -> list[Growth]:
    """Make so many in no namespace, under one name; return what is told of the last one."""
    lately, told = Lately(), list[Growth]()
    for at in range(number):
        one = thing(resource, f"preview-{at}", "")
        told = grown_slowly(lately, one)
        lately.put(one)
    return told


def test_namespaces_without_end_are_counted_for_who_makes_them() -> None:
    (found,) = wide(201, NAMESPACES)
    assert (found.per, found.before, found.after) == ("owner", 200, 201)
    assert (found.holder.resource, found.holder.name) == ("users", operator().user.username)


def test_namespaces_of_tests_that_come_and_go_beside_many_others() -> None:
    lately = Lately(*(thing(NAMESPACES, f"team-{at}-shop", "") for at in range(100)))
    for at in range(120):
        assert grown_slowly(lately, thing(NAMESPACES, f"e2e-{at}", "")) == []


def test_a_few_namespaces_and_volumes_for_everybody_are_no_growth() -> None:
    """One provisioner makes the volumes of all claims, by the thousand."""
    assert wide(50, NAMESPACES) == []
    assert wide(201, VOLUMES) == []


def test_a_restore_is_recovery() -> None:
    """What another actor took away within the hour may be made again, as fast as can be."""
    lately = Lately(*(made(number) for number in range(60)))
    for number in range(60):
        lately.ask(delete(made(number)), OTHER, 0.01)
        lately.graph.remove(made(number).key)
    told = [grown(lately, update(None, made(number))) for number in range(60)]
    assert {one.recovery for some in told for one in some} == {True}

    own = Lately(*(made(number) for number in range(60)))
    for number in range(60):
        own.ask(delete(made(number)), None, 0.01)
        own.graph.remove(made(number).key)
    told = [grown(own, update(None, made(number))) for number in range(60)]
    assert {one.recovery for some in told for one in some} == {False}


def test_what_went_with_another_actors_delete_is_recovered_too() -> None:
    """What was taken along was seen to go by that actor's request."""
    lately = Lately()
    lately.history.note_remover(made(1).uid, OTHER.user.username)
    lately.history.note_removed(made(1).uid, made(1).key, START)
    lately.history.writes.count(f"created/{SERVICES}/{operator().user.username}", lately.now, 60)
    (found,) = grown(lately, update(None, made(1)))
    assert found.recovery


def test_nodes_that_close_are_remembered() -> None:
    """Cordoned, tainted, deleted; forgotten when they are opened again."""
    ready, shut = NodeFacts(ready=True), NodeFacts(unschedulable=True, ready=True)
    nodes = [thing(NODES, f"n{at}", facts=ready) for at in range(3)]
    lately = Lately(*nodes)
    cordoned = [msgspec.structs.replace(one, facts=shut) for one in nodes]

    lately.ask(update(nodes[0], cordoned[0]))
    lately.ask(update(nodes[1], cordoned[1]))
    lately.ask(delete(nodes[2]))
    assert set(lately.history.writes.closed(lately.now)) == {"n0", "n1", "n2"}

    lately.ask(update(cordoned[0], nodes[0]))
    assert set(lately.history.writes.closed(lately.now)) == {"n1", "n2"}


def test_of_a_node_that_closes_it_is_remembered_whether_it_was_in_use() -> None:
    """Pods ran there that are not bound to be there; a dedicated node is opened by its uncordon."""
    ready = NodeFacts(ready=True, taints=(Taint("gpu"),))
    used, idle = thing(NODES, "node-1", facts=ready), thing(NODES, "node-2", facts=ready)
    lately = Lately(used, idle, *workload("web"))
    shut = msgspec.structs.replace(ready, unschedulable=True)

    for one in (used, idle):
        lately.ask(update(one, msgspec.structs.replace(one, facts=shut)))
    writes = lately.history.writes
    assert set(writes.closed(lately.now)) == {"node-1", "node-2"}
    told = [writes.written(one.key, What.CLOSED, lately.now, 60) for one in (used, idle)]
    assert told == [1, 0]

    lately.ask(update(msgspec.structs.replace(used, facts=shut), used))
    assert set(writes.closed(lately.now)) == {"node-2"}


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("web-7d4b9c6f5-x2k9p", "web-*"),
        ("job-28391040", "job-*"),
        ("run-abcde", "run-*"),
        ("sh.helm.release.v1.web.v17", "sh.helm.release.v1.web-*"),
        ("checkout", "checkout"),
        ("my-app", "my-app"),
    ],
)
def test_names_that_differ_by_lot_are_one(name: str, pattern: str) -> None:
    """The part drawn by lot is left out, and nothing that a person would write."""
    assert pattern_of(name) == pattern


def test_nothing_is_told_where_the_time_is_not_known() -> None:
    """A file or a snapshot has no lately."""
    view = GraphView(Graph(), History())
    request = update(None, made(1))
    assert effects(estimate(request, project(request, view), view, operator()), Churn) == []
    assert project(request, view) != Change()


def test_only_what_was_let_through_is_remembered() -> None:
    """A dry run leaves no trace; an admitted write is there for the next one."""
    world = World(load_policies(), graph_of(made(1)))
    request = delete(made(1))

    judge(msgspec.structs.replace(request, dry_run=True), operator(), world, START)
    assert not world.history.writes.knows(made(1).key)
    judge(request, operator(), world, START)
    assert world.history.writes.knows(made(1).key)


def rounds(of: ClusterObject, *, gap_s: float, by: Actor, maker: Actor) -> set[str]:
    """Return what is said of five lives of an object, each made `gap_s` after the one before."""
    lately, found = Lately(), set[str]()
    for number in range(5):
        one = life(of, number)
        found |= {what for what, *_ in lately.churns(update(None, one), maker, gap_s)}
        name = maker.user.username
        lately.history.note_created(one.uid, name, name, one.key, lately.now)
        lately.put(one)
        found |= {what for what, *_ in lately.churns(delete(one), by, 240)}
        lately.graph.remove(one.key)
        lately.history.note_removed(one.uid, one.key, lately.now, by=by.user.username)
    return found


OWNED = thing(STATEFUL_SETS, "db", "prod", owners=[owner(DB)], facts=WorkloadFacts(3))
MOMENT = thing(SNAPSHOTS, "db", "prod", owners=[owner(DB)])


@pytest.mark.parametrize(
    ("of", "gap_s", "told"),
    [
        pytest.param(DB, 120, False, id="run-after-run"),
        pytest.param(DB, 20, True, id="made-anew-at-once"),
        pytest.param(OWNED, 120, True, id="somebody-elses-wish"),
        pytest.param(MOMENT, 120, False, id="snapshots-of-one-name"),
    ],
)
def test_what_one_hand_makes_and_gives_up_run_after_run(
    of: ClusterObject, gap_s: float, *, told: bool
) -> None:
    """Tests of one name follow each other; a loop makes anew at once what it has taken."""
    me = operator()
    assert rounds(of, gap_s=gap_s, by=me, maker=me) == ({"deleted", "recreated"} if told else set())


def test_what_another_makes_again_is_a_quarrel() -> None:
    """One takes it, the other makes it again, however long that takes."""
    assert rounds(DB, gap_s=120, by=operator(), maker=OTHER) == {"deleted", "recreated"}


RELEASE = ObjectKey(RELEASES, "prod", "shop")
PART = msgspec.structs.replace(
    thing(STATEFUL_SETS, "shop", "prod", facts=WorkloadFacts(3)),
    needs=(Need(Edge.MANAGED_BY, RELEASE),),
)


def tries(statuses: tuple[str, str], *, deployer: Actor, records: int = 1) -> set[str]:
    """Return what is said of four installs of a release, each taken back and tried again at once.

    `statuses`: what its record says while it is installed, and while it is taken back.
    """
    lately, found = Lately(), set[str]()
    me = operator().user.username
    lately.history.habits.recall((), (), [(RELEASE, (deployer.user.username,))])

    def recorded(status: str, life_of: int) -> None:
        for number in range(records):
            labels = {"owner": "helm", "name": "shop", "status": status}
            name = f"sh.helm.release.v1.shop.v{number + 1}"
            one = life(thing(SECRETS, name, "prod", labels=labels), life_of)
            lately.put(one)
            lately.history.note_created(one.uid, me, me, one.key, lately.now)

    for number in range(4):
        one = life(PART, number)
        recorded(statuses[0], number)
        found |= {what for what, *_ in lately.churns(update(None, one), after_s=2)}
        lately.history.note_created(one.uid, me, me, one.key, lately.now)
        lately.put(one)
        recorded(statuses[1], number)
        found |= {what for what, *_ in lately.churns(delete(one), after_s=300)}
        lately.graph.remove(one.key)
        lately.history.note_removed(one.uid, one.key, lately.now, by=me)
    return found


@pytest.mark.parametrize(
    ("statuses", "deployer", "records", "told"),
    [
        pytest.param(("pending-install", "uninstalling"), operator(), 1, False, id="failed"),
        pytest.param(("deployed", "deployed"), operator(), 1, True, id="a-loop-in-what-stands"),
        pytest.param(("pending-upgrade", "failed"), operator(), 2, True, id="of-an-upgrade"),
        pytest.param(("pending-install", "uninstalling"), OTHER, 1, True, id="of-another"),
    ],
)
def test_an_install_that_fails_is_taken_back_and_tried_again(
    statuses: tuple[str, str], deployer: Actor, records: int, *, told: bool
) -> None:
    """Who remediates an install does so at once; who deletes what is deployed is in a loop."""
    found = tries(statuses, deployer=deployer, records=records)
    assert found == ({"deleted", "recreated"} if told else set())
