"""What nodes take along: pods that fit elsewhere or nowhere, nodes that close one after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, service, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import CapacityLost
from suture.impact.ground.fit import Asked, Open, running, unplaced
from suture.impact.nodes.balancers import HIDES
from suture.impact.project import project
from suture.model.deeds import Deed, What
from suture.model.edges import Selection
from suture.model.fieldpath import FieldPath
from suture.model.graph import Graph, GraphView
from suture.model.history import History
from suture.model.names import CRDS, DAEMON_SETS, NODES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import (
    ClusterObject,
    CrdFacts,
    CustomFacts,
    Ended,
    NodeFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.placement import (
    NO_EXECUTE,
    NO_SCHEDULE,
    OUT_OF_SERVICE,
    Placement,
    Taint,
    Toleration,
)
from suture.model.request import Collection, Request
from suture.model.rules import Open as TakesAny
from suture.model.rules import ReferenceRule, Selects, TypeName
from suture.model.selectors import Operator, Requirement, Selector

PEERS = Resource("net.example.com", "peers")
ROOMY = NodeFacts(ready=True, cpu_m=4000, memory_mi=8192, pods=110)


def node(name: str, facts: NodeFacts = ROOMY, **labels: str) -> ClusterObject:
    return thing(NODES, name, labels=labels, facts=facts)


def with_room(things: Iterable[ClusterObject], placement: Placement) -> list[ClusterObject]:
    """Let the controllers among some objects ask for room."""
    return [
        msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, placement=placement))
        if isinstance(one.facts, WorkloadFacts)
        else one
        for one in things
    ]


def on(node: str, things: Iterable[ClusterObject]) -> list[ClusterObject]:
    return [
        msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, node=node))
        if isinstance(one.facts, PodFacts)
        else one
        for one in things
    ]


def lost(request: Request, graph: Graph, history: History | None = None) -> list[CapacityLost]:
    return effects(impact_of(request, GraphView(graph, history)), CapacityLost)


def rewritten(before: ClusterObject, **facts: object) -> Request:
    assert before.facts is not None
    changed = msgspec.structs.replace(before.facts, **facts)
    return update(before, msgspec.structs.replace(before, facts=changed))


def relabelled(before: ClusterObject, labels: Mapping[str, str]) -> Request:
    return update(before, msgspec.structs.replace(before, labels=labels))


def test_pods_of_a_node_that_goes_fit_elsewhere() -> None:
    """A Ready node goes; its pods fit on the two others, DaemonSets' pods are nobody's worry."""
    nodes = [node("node-1"), node("node-2"), node("node-3")]
    daemons = thing(DAEMON_SETS, "agent", "prod", facts=WorkloadFacts())
    agent = thing(
        PODS, "agent-1", "prod", owners=[owner(daemons)], facts=PodFacts(ready=True, node="node-1")
    )
    web = with_room(workload("web", replicas=4), Placement(1000, 1024))

    (found,) = lost(delete(nodes[0]), graph_of(nodes, daemons, agent, web))

    assert (found.how, found.nodes, found.healthy, found.planned) == ("deleted", 1, 1, 0)
    assert (found.open_before, found.open_after, found.leaving) == (3, 2, 0)
    assert (found.pods, found.unplaced) == (4, 0)


def test_pods_that_fit_nowhere_are_told() -> None:
    """The other node has room for one of two, once what runs there is taken off."""
    nodes = [node("node-1"), node("node-2", NodeFacts(ready=True, cpu_m=3000, memory_mi=4096))]
    web = with_room(workload("web", replicas=2), Placement(1000, 1024))
    other = with_room(on("node-2", workload("other", replicas=2)), Placement(1000, 1024))

    (found,) = lost(delete(nodes[0]), graph_of(nodes, web, other))

    assert (found.pods, found.unplaced) == (2, 1)


def test_selectors_and_taints_keep_pods_away() -> None:
    """Only a node with the labels that are asked for will do, and only one whose taint is borne."""
    disk = Placement(terms=(Selector.of({"disk": "ssd"}),))
    borne = Placement(terms=disk.terms, tolerations=(Toleration("gpu", "yes"),))
    tainted = node("node-2", msgspec.structs.replace(ROOMY, taints=(Taint("gpu", "yes"),)))
    tainted = msgspec.structs.replace(tainted, labels={"disk": "ssd"})
    nodes = [node("node-1", disk="ssd"), tainted, node("node-3")]

    for placement, unplaced_pods in ((disk, 1), (borne, 0)):
        web = with_room(workload("web"), placement)
        (found,) = lost(delete(nodes[0]), graph_of(nodes, web))
        assert found.unplaced == unplaced_pods


@pytest.mark.parametrize(
    ("role", "closed", "pods", "planned"),
    [
        pytest.param("control-plane", False, 1, 0, id="open"),
        pytest.param("master", False, 1, 0, id="by its former name"),
        pytest.param("control-plane", True, 1, 1, id="closed before"),
        pytest.param("worker", False, 0, 1, id="of workers"),
    ],
)
def test_a_node_of_the_control_plane_is_in_use(
    role: str, pods: int, planned: int, *, closed: bool
) -> None:
    """What its kubelet shows there runs nowhere else; that it is tainted for good plans nothing."""
    facts = msgspec.structs.replace(ROOMY, taints=(Taint("role"),), unschedulable=closed)
    master = thing(NODES, "node-1", labels={f"node-role.kubernetes.io/{role}": ""}, facts=facts)
    api = thing(
        PODS, "api-node-1", "kube-system", owners=[owner(master)],
        facts=PodFacts(ready=True, node="node-1"),
    )  # fmt: skip

    (found,) = lost(delete(master), graph_of(master, api, node("node-2")))

    assert (found.healthy, found.pods, found.unplaced, found.planned) == (1, pods, 0, planned)


def test_a_drained_node_is_planned_and_a_dead_one_is_not_healthy() -> None:
    """A cordoned node was marked before, one that is not Ready is no loss of a healthy one."""
    drained = node("node-1", msgspec.structs.replace(ROOMY, unschedulable=True))
    dead = node("node-2", msgspec.structs.replace(ROOMY, ready=False))
    marked = node("node-3", msgspec.structs.replace(ROOMY, taints=(Taint("going"),)))
    graph = graph_of(drained, dead, marked, node("node-4"))

    told = {
        one.key.name: (found.healthy, found.planned, found.open_before, found.open_after)
        for one in (drained, dead, marked)
        for found in lost(delete(one), graph)
    }

    assert told["node-1"] == (1, 1, 2, 2)
    assert told["node-2"] == (0, 0, 2, 2)
    assert told["node-3"] == (1, 1, 2, 1)


def test_a_dedicated_node_is_not_planned() -> None:
    """Its pods tolerate its taint: it is there to stay."""
    dedicated = node("node-1", msgspec.structs.replace(ROOMY, taints=(Taint("gpu", "yes"),)))
    web = with_room(workload("web"), Placement(tolerations=(Toleration("gpu", "yes"),)))

    (found,) = lost(delete(dedicated), graph_of(dedicated, web))

    assert found.planned == 0


def test_nodes_closed_one_after_another_are_leaving() -> None:
    """What others closed lately is no longer open, whether or not it was seen to be."""
    nodes = [node(f"node-{number}") for number in range(5)]
    graph, history = graph_of(nodes), History()
    for name in ("node-1", "node-2", "node-9"):
        history.writes.note_closed(name, START)

    (found,) = lost(rewritten(nodes[0], unschedulable=True), graph, history)

    assert (found.how, found.leaving) == ("cordoned", 3)
    assert (found.open_before, found.open_after) == (3, 2)


@pytest.mark.parametrize(
    ("ago_s", "facts", "joined"),
    [
        pytest.param(600, ROOMY, 3, id="as large, this hour"),
        pytest.param(4000, ROOMY, 0, id="long there"),
        pytest.param(600, msgspec.structs.replace(ROOMY, ready=False), 0, id="not Ready"),
        pytest.param(600, msgspec.structs.replace(ROOMY, cpu_m=2000), 0, id="smaller"),
        pytest.param(600, msgspec.structs.replace(ROOMY, unschedulable=True), 0, id="closed"),
    ],
)
def test_nodes_that_joined_stand_in_for_those_that_close(
    ago_s: float, facts: NodeFacts, joined: int
) -> None:
    """Ready, open, of at least their room, lately, and empty; those closed earlier count on."""
    new = [
        msgspec.structs.replace(node(f"new-{at}", facts), created=START.utc_s - ago_s)
        for at in range(4)
    ]
    shut = msgspec.structs.replace(ROOMY, unschedulable=True)
    old, history = node("old-0"), History()
    used = [*on("new-3", workload("web")), *on("old-1", workload("api"))]
    graph = graph_of(old, node("old-1", shut), new, used)
    history.writes.note_closed("old-1", START.plus_s(-60))
    (found,) = lost(rewritten(old, unschedulable=True), graph, history)
    assert (found.leaving, found.joined) == (1, joined)

    closed_in_use(history, "old-1", ago_s=1000)
    history.writes.note_closed("gone", START)
    (found,) = lost(rewritten(old, unschedulable=True), graph, history)
    assert (found.leaving, found.gone, found.joined) == (2, 1, joined)


@pytest.mark.parametrize(("places", "joined"), [(2, 1), (1, 0)], ids=["enough", "too-few"])
def test_a_node_with_places_for_what_runs_there_stands_in(places: int, joined: int) -> None:
    """How many pods a node may have at most is set anew with its pool: those that run count."""
    few = msgspec.structs.replace(ROOMY, pods=places)
    fresh = msgspec.structs.replace(node("new-0", few), created=START.utc_s - 600)
    shut = msgspec.structs.replace(ROOMY, unschedulable=True)
    old, history = node("old-0"), History()
    used = [*on("old-0", workload("web", replicas=2)), *on("old-1", workload("api"))]
    graph = graph_of(old, node("old-1", shut), fresh, used)
    history.writes.note_closed("old-1", START.plus_s(-60))

    (found,) = lost(rewritten(old, unschedulable=True), graph, history)

    assert found.joined == joined


def test_a_node_of_another_pool_stands_in_for_nobody() -> None:
    """It is empty and as large, and none of the pods may run there."""
    fresh = [
        node("new-1", role="batch"),
        node("new-2", msgspec.structs.replace(ROOMY, taints=(Taint("gpu"),)), role="web"),
        node("new-3", role="web"),
    ]
    new = [msgspec.structs.replace(one, created=START.utc_s - 60) for one in fresh]
    asked = Placement(terms=(Selector.of({"role": "web"}),))
    shut = msgspec.structs.replace(ROOMY, unschedulable=True)
    old, history = node("old-0"), History()
    pods = with_room(on("old-0", workload("web")), asked)
    graph = graph_of(old, node("old-1", shut), new, pods)
    history.writes.note_closed("old-1", START)

    (found,) = lost(rewritten(old, unschedulable=True), graph, history)

    assert found.joined == 1


@pytest.mark.parametrize(
    ("ago_s", "running", "leaving"),
    [(40, 0, 0), (40, 1, 2), (5, 0, 2)],
    ids=["emptied-since", "in-use-still", "closed-a-moment-ago"],
)
def test_a_node_that_was_emptied_since_it_closed_is_done_with(
    ago_s: int, running: int, leaving: int
) -> None:
    """Machines that are taken back two minutes after their notice are drained at once.

    One that closes before it could be emptied may have been empty all along.
    """
    closed = msgspec.structs.replace(ROOMY, unschedulable=True)
    nodes = [node(f"node-{number}", closed if number in {1, 2} else ROOMY) for number in range(10)]
    pods = [one for name in ("node-1", "node-2") for one in on(name, workload(name)[: 2 + running])]
    history = History()
    for name in ("node-1", "node-2"):
        history.writes.note_closed(name, START.plus_s(-ago_s))

    (found,) = lost(rewritten(nodes[0], unschedulable=True), graph_of(nodes, pods), history)

    assert found.leaving == leaving


def test_no_more_than_a_fifth_of_all_nodes_is_done_with() -> None:
    """Lest a cluster be emptied node by node within minutes."""
    closed = msgspec.structs.replace(ROOMY, unschedulable=True)
    nodes = [node(f"node-{number}", closed if 0 < number < 6 else ROOMY) for number in range(10)]
    history = History()
    for one in nodes[1:6]:
        history.writes.note_closed(one.key.name, START.plus_s(-60))

    (found,) = lost(rewritten(nodes[0], unschedulable=True), graph_of(nodes), history)

    assert found.leaving == 5 - 2


@pytest.mark.parametrize("after_s", [0, 30], ids=["at-once", "later"])
@pytest.mark.parametrize(
    ("ready", "drained", "leaving", "gone"),
    [
        pytest.param(True, False, 2, 0, id="with its pods"),
        pytest.param(True, True, 2, 2, id="drained"),
        pytest.param(False, False, 2, 2, id="dead when it was closed"),
    ],
)
def test_a_node_that_was_closed_and_ends_with_its_pods_counts_as_closed(
    ready: bool, drained: bool, leaving: int, gone: int, after_s: int
) -> None:
    """Or who marks a few and has them ended at once goes on to the next, up to the last of all.

    A node with few pods is drained, and goes, within the second in which it was marked.
    """
    facts = msgspec.structs.replace(ROOMY, ready=ready)
    nodes = [node(f"node-{number}", facts if number in {1, 2} else ROOMY) for number in range(10)]
    pods = {one: on(f"node-{one}", workload(f"w{one}")) for one in (1, 2)}
    graph, history = graph_of(nodes, *pods.values()), History()
    view = GraphView(graph, history)
    for number in (1, 2):
        request = rewritten(nodes[number], taints=(Taint("removed"),))
        remember(request, project(request, view), view, START.plus_s(-60))
        for one in pods[number] if drained else ():
            graph.remove(one.key)
        request = delete(nodes[number])
        remember(request, project(request, view), view, START.plus_s(-60 + after_s))
        graph.remove(nodes[number].key)

    (found,) = lost(rewritten(nodes[0], unschedulable=True), graph, history)

    assert (found.leaving, found.gone) == (leaving, gone)


OUT = Taint("start.example.com/not-ready", effect=NO_EXECUTE)


def closed_in_use(history: History, name: str, *, ago_s: int) -> None:
    """Remember that a node on which pods ran was closed."""
    then = START.plus_s(-ago_s)
    history.writes.note_closed(name, then)
    history.writes.note(
        ObjectKey(NODES, "", name), Deed(What.CLOSED, "anybody", -then.mono_ns), then
    )


@pytest.mark.parametrize("ago_s", [40, 1800], ids=["lately", "half-an-hour-ago"])
@pytest.mark.parametrize(
    ("in_use", "facts", "leaving"),
    [
        pytest.param(True, msgspec.structs.replace(ROOMY, taints=(OUT,)), 2, id="driven-away"),
        pytest.param(False, msgspec.structs.replace(ROOMY, taints=(OUT,)), 0, id="empty-before"),
        pytest.param(
            True, msgspec.structs.replace(ROOMY, taints=(OUT,), ready=False), 0, id="dead"
        ),
        pytest.param(True, msgspec.structs.replace(ROOMY, unschedulable=True), 0, id="drained"),
    ],
)
def test_a_node_that_its_own_taint_emptied_stays_closed(
    in_use: bool, facts: NodeFacts, leaving: int, ago_s: int
) -> None:
    """That is no drain: whoever taints all nodes so in turn closes all of them."""
    nodes = [node(f"node-{number}", facts if number in {1, 2} else ROOMY) for number in range(10)]
    history = History()
    for name in ("node-1", "node-2"):
        if in_use:
            closed_in_use(history, name, ago_s=ago_s)
        else:
            history.writes.note_closed(name, START.plus_s(-ago_s))

    (found,) = lost(rewritten(nodes[0], taints=(OUT,)), graph_of(nodes), history)

    assert found.leaving == leaving


@pytest.mark.parametrize(
    ("facts", "bears", "in_use", "leaving"),
    [
        pytest.param({"unschedulable": True}, False, True, 1, id="cordoned"),
        pytest.param({"unschedulable": True}, False, False, 0, id="was-empty"),
        pytest.param({"unschedulable": True, "ready": False}, False, True, 0, id="dead"),
        pytest.param({"taints": (Taint("gpu"),)}, False, True, 1, id="tainted"),
        pytest.param({"taints": (Taint("gpu"),)}, True, True, 0, id="dedicated"),
        pytest.param({}, False, True, 0, id="opened"),
    ],
)
def test_a_node_in_use_counts_for_an_hour_while_it_is_closed(
    facts: Mapping[str, object], bears: bool, in_use: bool, leaving: int
) -> None:
    """However slowly they close; but not one that is closed to the pods of others alone."""
    shut = node("node-1", msgspec.structs.replace(ROOMY, **facts))
    borne = Placement(tolerations=(Toleration("gpu", any_value=True),))
    web = with_room(on("node-1", workload("web")), borne if bears else Placement())
    one, history = node("node-0"), History()
    if in_use:
        closed_in_use(history, "node-1", ago_s=1800)
    else:
        history.writes.note_closed("node-1", START.plus_s(-1800))

    (found,) = lost(rewritten(one, unschedulable=True), graph_of(one, shut, web), history)

    assert found.leaving == leaving


@pytest.mark.parametrize(("joined", "leaving"), [(0, 6), (3, 5), (8, 0)])
def test_nodes_drained_long_ago_are_done_with_where_as_many_joined(
    joined: int, leaving: int
) -> None:
    """A pool that is kept closed until its replacement proved itself; a fifth goes without."""
    closed = msgspec.structs.replace(ROOMY, unschedulable=True)
    old = [node(f"old-{number}", closed if number else ROOMY) for number in range(9)]
    fresh = [node(f"new-{number}") for number in range(joined)]
    new = [msgspec.structs.replace(one, created=START.utc_s - 3000) for one in fresh]
    new.append(node("standing"))
    used = [on(one.key.name, workload(f"web-{one.key.name}")) for one in new]
    history = History()
    for one in old[1:]:
        closed_in_use(history, one.key.name, ago_s=1800)

    (found,) = lost(rewritten(old[0], unschedulable=True), graph_of(old, new, *used), history)

    assert (found.leaving, found.joined) == (leaving, 0)


@pytest.mark.parametrize(
    ("finalizers", "how"),
    [(("provisioner.example.com/drain",), "cordoned"), (("orphan",), "deleted"), ((), "deleted")],
)
def test_a_node_that_a_finalizer_keeps_is_closed_and_not_gone(
    finalizers: tuple[str, ...], how: str
) -> None:
    """Who provisions nodes deletes them first, drains them then, and lifts its finalizer last.

    That is the end, and is weighed as one.
    """
    kept = msgspec.structs.replace(node("node-0"), finalizers=finalizers)
    graph = graph_of(kept, node("node-1"), on("node-0", workload("web")))

    (found,) = lost(delete(kept), graph)

    assert found.how == how
    assert found.pods == (0 if how == "cordoned" else 1)
    if how == "cordoned":
        going = msgspec.structs.replace(kept, deleted=START.utc_s)
        lifted = msgspec.structs.replace(going, finalizers=())
        (end,) = lost(update(going, lifted), graph_of(going, on("node-0", workload("web"))))
        assert (end.how, end.pods) == ("deleted", 1)


@pytest.mark.parametrize(("drained", "closed"), [(True, 0), (False, 1)])
def test_a_node_that_was_drained_while_a_finalizer_kept_it_is_done_with(
    closed: int, *, drained: bool
) -> None:
    """Its pods were there when its delete was asked for; what counts is its end."""
    kept = msgspec.structs.replace(node("node-0"), finalizers=("provisioner.example.com/drain",))
    pods, one = on("node-0", workload("web")), node("node-1")
    others = [one, *on("node-1", workload("shop"))]
    shut = msgspec.structs.replace(kept, facts=msgspec.structs.replace(ROOMY, unschedulable=True))
    going = msgspec.structs.replace(shut, deleted=START.utc_s)
    history = History()

    _remembered(update(kept, shut), graph_of(kept, pods, others), history, 200)
    _remembered(delete(shut), graph_of(shut, pods, others), history, 180)
    left = graph_of(going, others) if drained else graph_of(going, pods, others)
    _remembered(update(going, msgspec.structs.replace(going, finalizers=())), left, history, 60)

    (found,) = lost(rewritten(one, unschedulable=True), graph_of(others), history)
    assert found.leaving - found.gone == closed


def test_a_cordon_moves_no_pod() -> None:
    """Its pods stay until somebody evicts them."""
    one = node("node-1")
    (found,) = lost(rewritten(one, unschedulable=True), graph_of(one, workload("web")))
    assert (found.pods, found.unplaced) == (0, 0)


def test_a_taint_drives_away_who_does_not_tolerate_it() -> None:
    """NoExecute moves pods at once, NoSchedule none."""
    one = node("node-1")
    graph = graph_of(one, node("node-2"), workload("web", replicas=3))

    (driven,) = lost(rewritten(one, taints=(Taint("out", effect=NO_EXECUTE),)), graph)
    (kept,) = lost(rewritten(one, taints=(Taint("out"),)), graph)

    assert (driven.how, driven.pods, driven.unplaced) == ("tainted", 3, 0)
    assert (kept.how, kept.pods) == ("tainted", 0)


@pytest.mark.parametrize("effect", [NO_EXECUTE, NO_SCHEDULE])
def test_a_node_that_is_said_to_be_off(effect: str) -> None:
    """Its volumes are detached by force: it loses its pods as if it were deleted."""
    one, off = node("node-1"), (Taint(OUT_OF_SERVICE, "nodeshutdown", effect),)
    graph = graph_of(one, node("node-2"), workload("web", replicas=3))

    (found,) = lost(rewritten(one, taints=off), graph)

    assert (found.how, found.healthy, found.planned, found.pods) == ("deleted", 1, 0, 3)
    dead = node("node-1", msgspec.structs.replace(ROOMY, ready=False))
    graph = graph_of(dead, node("node-2"), workload("web", replicas=3))
    (found,) = lost(rewritten(dead, taints=off), graph)
    assert (found.how, found.healthy) == ("deleted", 0)


def test_what_opens_a_node_loses_nothing() -> None:
    """Uncordoned, a taint taken off, a label added: no effect."""
    closed = node(
        "node-1", msgspec.structs.replace(ROOMY, unschedulable=True, taints=(Taint("out"),))
    )
    graph = graph_of(closed)
    assert lost(rewritten(closed, unschedulable=False, taints=()), graph) == []
    assert lost(relabelled(closed, {"new": "label"}), graph) == []


def test_labels_that_pods_ask_for() -> None:
    """Removing one that a running pod's template reads tells how many could not come back."""
    asked = Placement(terms=(Selector.of({"feature": "on"}),))
    web = with_room(workload("web", replicas=2), asked)
    one = node("node-1", feature="on", zone="a")
    graph = graph_of(one, node("node-2"), web)

    (found,) = lost(relabelled(one, {"zone": "a"}), graph)

    assert (found.how, found.pods, found.unplaced) == ("relabelled", 2, 2)
    assert (found.open_before, found.open_after) == (2, 2)
    assert lost(relabelled(one, {"feature": "on"}), graph) == []


def test_labels_that_daemons_and_custom_resources_select() -> None:
    """A DaemonSet that leaves the node, and a custom resource that then selects no node."""
    asked = Placement(terms=(Selector.of({"role": "edge"}),))
    daemons = thing(DAEMON_SETS, "agent", "prod", facts=WorkloadFacts(placement=asked))
    selects = Selects(FieldPath.parse("spec.nodeSelector"), TypeName("", "Node"))
    rule = ReferenceRule("peers", TypeName("net.example.com", "Peer"), selects)
    definition = thing(CRDS, str(PEERS), facts=CrdFacts(PEERS, "Peer", False, rules=(rule,)))
    peer = thing(PEERS, "tor", "", facts=CustomFacts(None, (Selection(NODES, "", asked.terms[0]),)))
    one = node("node-1", role="edge")

    alone = graph_of(one, node("node-2"), daemons, definition, peer)
    beside = graph_of(one, node("node-2", role="edge"), daemons, definition, peer)

    (found,) = lost(relabelled(one, {}), alone)
    assert (found.pods, found.selecting, found.emptied) == (0, 2, 2)
    (found,) = lost(relabelled(one, {}), beside)
    assert (found.selecting, found.emptied) == (2, 0)


def test_a_selector_of_all_nodes_hides_no_other() -> None:
    """A resource says in one field of all nodes whom they choose, and in another of which."""
    every, some = Selection(NODES, "", Selector()), Selection(NODES, "", Selector.of({"role": "r"}))
    selects = Selects(FieldPath.parse("spec.nodeSelector"), TypeName("", "Node"))
    rule = ReferenceRule("peers", TypeName("net.example.com", "Peer"), selects)
    definition = thing(CRDS, str(PEERS), facts=CrdFacts(PEERS, "Peer", False, rules=(rule,)))
    one = node("node-1", role="r")

    def emptied(*selections: Selection) -> int:
        peer = thing(PEERS, "mesh", "", facts=CustomFacts(None, selections))
        graph = graph_of(one, node("node-2"), definition, peer)
        return sum(found.emptied for found in lost(relabelled(one, {}), graph))

    assert (emptied(every, some), emptied(every)) == (1, 0)


def test_only_what_selects_by_the_lost_label_is_told_of() -> None:
    """Of many custom resources of a type, alike or not: peers of a rack, of a role, of all."""
    selects = Selects(FieldPath.parse("spec.nodeSelector"), TypeName("", "Node"))
    rule = ReferenceRule("peers", TypeName("net.example.com", "Peer"), selects)
    definition = thing(CRDS, str(PEERS), facts=CrdFacts(PEERS, "Peer", False, rules=(rule,)))
    has_role = Selector((Requirement("role", Operator.EXISTS),))
    chosen = [has_role, has_role, Selector.of({"rack": "r1"}), Selector()]
    peers = [
        thing(PEERS, f"peer-{at}", "", facts=CustomFacts(None, (Selection(NODES, "", one),)))
        for at, one in enumerate(chosen)
    ]
    one = node("node-1", role="reflector", rack="r1")
    graph = graph_of(one, node("node-2", rack="r1"), definition, peers)

    (found,) = lost(relabelled(one, {"rack": "r1"}), graph)

    assert (found.selecting, found.emptied) == (2, 2)
    assert {victim.name for victim in found.victims} == {"node-1", "peer-0", "peer-1"}


def test_of_a_kind_that_takes_any_fields_its_objects_select() -> None:
    """As its schema would have told; what is over asks for no label any more."""
    free = ReferenceRule("any", TypeName("net.example.com", "Peer"), TakesAny(), discovered=True)
    definition = thing(CRDS, str(PEERS), facts=CrdFacts(PEERS, "Peer", False, rules=(free,)))
    by_role = (Selection(NODES, "", Selector.of({"role": "edge"})),)
    one = node("node-1", role="edge")

    for ended, told in ((Ended.NO, [1]), (Ended.SURE, [])):
        peer = thing(PEERS, "tor", "", facts=CustomFacts(None, by_role, ended=ended))
        found = lost(relabelled(one, {}), graph_of(one, node("node-2"), definition, peer))
        assert [effect.emptied for effect in found] == told


NEEDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4)


ROOMS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=3)


@given(asked=NEEDS, rooms=ROOMS)
def test_never_more_is_left_than_no_placing_could_avoid(
    asked: list[tuple[int, int]], rooms: list[tuple[int, int]]
) -> None:
    """What is told is never less than the best placing leaves."""
    assert _fewest_left(asked, rooms) <= told_unplaced(asked, rooms)


@given(asked=st.lists(st.integers(0, 3), max_size=4), room=st.integers(1, 5))
@example(asked=[1, 1, 1, 3], room=3)
def test_a_large_one_does_not_push_several_small_ones_out(asked: list[int], room: int) -> None:
    """Of one node and one measure it is told exactly how many are left."""
    pods, rooms = [(0, memory) for memory in asked], [(1, room)]
    assert told_unplaced(pods, rooms) == _fewest_left(pods, rooms)


@given(one=st.tuples(st.integers(0, 3), st.integers(0, 3)), count=st.integers(0, 4), rooms=ROOMS)
def test_of_pods_that_are_alike_it_is_told_exactly(
    one: tuple[int, int], count: int, rooms: list[tuple[int, int]]
) -> None:
    """As of the replicas of one workload."""
    assert told_unplaced([one] * count, rooms) == _fewest_left([one] * count, rooms)


def told_unplaced(asked: list[tuple[int, int]], rooms: list[tuple[int, int]]) -> int:
    """Return how many of some pods of a node that goes are told to fit on no other."""
    gone = node("gone")
    things: list[ClusterObject] = [gone]
    for number, (cpu, memory) in enumerate(asked):
        pods = on("gone", workload(f"w{number}"))
        things += with_room(pods, Placement(cpu, memory))
    for number, (cpu, memory) in enumerate(rooms):
        things.append(node(f"n{number}", NodeFacts(ready=True, cpu_m=cpu, memory_mi=memory)))
    view = GraphView(graph_of(things))
    row = view.find(ObjectKey(NODES, "", "gone"))
    assert row is not None

    others = Open(view, frozenset({row}))
    return unplaced(view, Asked(view), running(view, row), others)


def _fewest_left(asked: list[tuple[int, int]], rooms: list[tuple[int, int]]) -> int:
    """Try every way to place pods, or to leave them."""
    best = len(asked)
    for way in product(range(-1, len(rooms)), repeat=len(asked)):
        fits = all(
            sum(asked[pod][part] for pod, to in enumerate(way) if to == at) <= room[part]
            for at, room in enumerate(rooms)
            for part in (0, 1)
        )
        if fits:
            best = min(best, way.count(-1))
    return best


def test_nodes_that_are_kept_and_nodes_that_are_not_are_told_apart() -> None:
    """Of one delete of a collection: some are closed by it, the others gone."""
    held = msgspec.structs.replace(node("node-0"), finalizers=("provisioner.example.com/drain",))
    asked = delete(held)
    whole = msgspec.structs.replace(asked, name="", extent=Collection(), old=None)

    found = lost(whole, graph_of(held, node("node-1"), node("node-2")))

    assert sorted((one.how, one.nodes) for one in found) == [("cordoned", 1), ("deleted", 2)]


def test_a_label_taken_off_node_after_node_takes_agents_along() -> None:
    """One node is given up; of the next the agents count, but not where another takes over."""
    things = _labelled()
    graph, history = graph_of(things), History()
    first, second = (one for one in things if one.key.name in ("node-1", "node-2"))

    (found,) = lost(relabelled(first, {}), graph, history)
    assert (found.pods, found.selecting) == (0, 1)
    _remembered(relabelled(first, {}), graph, history)

    (found,) = lost(relabelled(second, {}), graph, history)
    assert (found.pods, found.unplaced) == (1, 0)
    (found,) = lost(relabelled(second, {"feature": "other"}), graph, history)
    assert found.pods == 0
    without = Placement(terms=(Selector((Requirement("feature", Operator.DOES_NOT_EXIST),)),))
    next_one = thing(DAEMON_SETS, "next", "prod", facts=WorkloadFacts(placement=without))
    follows, history = graph_of(*things, next_one), History()
    _remembered(relabelled(first, {}), follows, history)
    (found,) = lost(relabelled(second, {}), follows, history)
    assert found.pods == 0


def test_the_last_node_hidden_from_balancers_is_told_with_what_they_serve() -> None:
    """One of several may be hidden, and one that is not Ready is nobody's backend."""
    balanced = ServiceFacts(type="LoadBalancer", addresses=("192.0.2.1",))
    shop = thing(SERVICES, "shop", "prod", facts=balanced)
    waits = thing(SERVICES, "waits", "prod", facts=msgspec.structs.replace(balanced, addresses=()))
    hidden, down = node("node-1", ROOMY, **{HIDES: ""}), node("node-2", NodeFacts())
    one = node("node-0")
    graph = graph_of(one, hidden, down, shop, waits, service("inner"))

    (found,) = lost(relabelled(one, {HIDES: ""}), graph)

    assert (found.how, found.selecting, found.emptied) == ("relabelled", 1, 1)
    assert [victim.name for victim in found.victims] == ["node-0", "shop"]
    assert lost(relabelled(one, {HIDES: ""}), graph_of(one, node("node-3"), shop)) == []
    assert lost(relabelled(down, {HIDES: ""}), graph_of(down, hidden, shop)) == []
    assert lost(relabelled(one, {HIDES: ""}), graph_of(one, hidden, waits)) == []
    assert lost(relabelled(hidden, {HIDES: "true"}), graph_of(hidden, shop)) == []


def test_a_label_taken_off_empty_nodes_counts_who_asks_for_it_elsewhere() -> None:
    """Not on a node that was closed before, nor once the label was given back."""
    asked = Placement(terms=(Selector.of({"feature": "on"}),))
    web = with_room(on("node-1", workload("web", replicas=3)), asked)
    web = [
        msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, status_replicas=3))
        if isinstance(one.facts, WorkloadFacts)
        else one
        for one in web
    ]
    nodes = [node(f"node-{at}", feature="on") for at in range(1, 6)]
    shut = node("shut", msgspec.structs.replace(ROOMY, unschedulable=True), feature="on")
    graph, history = graph_of(nodes, shut, web), History()

    assert lost(relabelled(nodes[1], {}), graph, history) == []
    _remembered(relabelled(nodes[1], {}), graph, history)
    (found,) = lost(relabelled(nodes[2], {}), graph, history)
    assert (found.pods, found.unplaced) == (3, 0)
    assert lost(relabelled(shut, {}), graph, history) == []

    back = msgspec.structs.replace(nodes[1], labels={})
    _remembered(update(back, nodes[1]), graph, history)
    assert lost(relabelled(nodes[2], {}), graph, history) == []


def test_a_label_that_nobody_asks_for_goes_from_all_nodes() -> None:
    """What is swept is told of only where something asks for it."""
    nodes = [node(f"node-{at}", unused="yes") for at in range(6)]
    graph, history = graph_of(nodes, workload("web")), History()

    for one in nodes:
        assert lost(relabelled(one, {}), graph, history) == []
        _remembered(relabelled(one, {}), graph, history)


def _labelled() -> list[ClusterObject]:
    """Return ten nodes with a label, a DaemonSet that asks for it, and its pod on each."""
    asked = Placement(terms=(Selector.of({"feature": "on"}),))
    agents = thing(DAEMON_SETS, "agent", "prod", facts=WorkloadFacts(placement=asked))
    things: list[ClusterObject] = [agents]
    for at in range(1, 11):
        facts = PodFacts(ready=True, node=f"node-{at}")
        things.append(node(f"node-{at}", feature="on"))
        things.append(thing(PODS, f"agent-{at}", "prod", owners=[owner(agents)], facts=facts))
    return things


def _remembered(request: Request, graph: Graph, history: History, ago_s: int = 0) -> None:
    view = GraphView(graph, history)
    remember(request, project(request, view), view, START.plus_s(-ago_s))
