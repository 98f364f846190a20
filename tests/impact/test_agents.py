"""Agents that nodes need: told by what they ask for, while they run, and until another does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from support.writes import body, trimmed
from suture.impact.causes.counters import restarter, taken_from
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.impact.estimate import estimate
from suture.impact.nodes.agents import SUCCESSION_S
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    VOLUMES,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClusterObject,
    CustomFacts,
    NodeFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.placement import NO_EXECUTE, NO_SCHEDULE, Placement, Toleration
from suture.model.selectors import Selector

ANY = Toleration(any_value=True)
NODE_CRITICAL = "system-node-critical"
OLD = START.utc_s - 400 * 24 * 3600.0


def agent(
    name: str = "network",
    space: str = "kube-system",
    *,
    priority: str = NODE_CRITICAL,
    host_network: bool = True,
    tolerates: tuple[Toleration, ...] = (ANY,),
    nodes: int = 10,
    ready: int | None = None,
    created: float = OLD,
) -> list[ClusterObject]:
    """Make a DaemonSet with a pod on each of some nodes."""
    need = Need(Edge.PRIORITY_CLASS, ObjectKey(PRIORITY_CLASSES, "", priority))
    placement = Placement(tolerations=tolerates, host_network=host_network)
    made = msgspec.structs.replace(
        thing(DAEMON_SETS, name, space, facts=WorkloadFacts(placement=placement)),
        needs=(need,),
        created=created,
    )
    pods = [
        thing(
            PODS, f"{name}-{number}", space, labels={"app": name}, owners=[owner(made)],
            facts=PodFacts(ready=number < (nodes if ready is None else ready), node=f"n-{number}"),
        )
        for number in range(nodes)
    ]  # fmt: skip
    return [made, *pods]


def wanted(
    going: list[ClusterObject], *others: list[ClusterObject], history: History | None = None
) -> int:
    """Return how many DaemonSets are wanted when one of them is deleted."""
    view, request = GraphView(graph_of(going, *others), history or History()), delete(going[0])
    change = project(request, view)
    impact = estimate(request, change, view, operator(), {"objects_removed"}, now=START)
    removed = effects(impact, ObjectsRemoved)
    return sum(one.wanted for one in removed if one.resource == str(DAEMON_SETS))


def test_an_agent_of_the_nodes_is_wanted() -> None:
    """Whatever it is called, and though nothing owns it; other old agents do other things."""
    assert wanted(agent("anything")) == 1
    assert wanted(agent(space="kube-mesh")) == 1
    assert wanted(agent(tolerates=(Toleration(effect=NO_SCHEDULE, any_value=True),))) == 1
    assert wanted(agent(), agent("proxy"), agent("proxy-2", created=OLD + 3600)) == 1


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"space": "logging"}, id="in its owner's namespace"),
        pytest.param({"priority": "system-cluster-critical"}, id="another priority"),
        pytest.param({"host_network": False}, id="on the network of pods"),
        pytest.param({"tolerates": ()}, id="kept away by taints"),
        pytest.param({"tolerates": (Toleration("gpu", any_value=True),)}, id="of some nodes"),
        pytest.param(
            {"tolerates": (Toleration(effect=NO_EXECUTE, any_value=True),)}, id="only not evicted"
        ),
        pytest.param({"nodes": 0}, id="on no node"),
        pytest.param({"ready": 4}, id="most of it broken"),
    ],
)
def test_other_agents_may_go(parts: dict[str, Any]) -> None:
    """They are somebody's, who takes them away, or do nothing any more."""
    assert wanted(agent(**parts)) == 0


@pytest.mark.parametrize(
    ("successor", "still"),
    [
        pytest.param({"created": START.utc_s - 600}, 0, id="everywhere"),
        pytest.param({"created": START.utc_s - 600, "space": "mesh"}, 0, id="of any namespace"),
        pytest.param({"created": START.utc_s - 600, "ready": 9}, 0, id="but for one node"),
        pytest.param({"created": START.utc_s - 600, "ready": 5}, 1, id="on half of the nodes"),
        pytest.param({"created": START.utc_s - 2 * SUCCESSION_S}, 1, id="there for long"),
        pytest.param(
            {"created": START.utc_s - 600, "host_network": False}, 1, id="of another sort"
        ),
    ],
)
def test_an_agent_goes_once_another_has_taken_its_place(
    successor: dict[str, Any], still: int
) -> None:
    """Made lately, and Ready as widely."""
    assert wanted(agent(), agent("next", **successor)) == still


def test_what_was_installed_together_does_not_succeed_itself() -> None:
    """A cluster of today: its agents were all applied within a moment."""
    today = START.utc_s - 3600
    assert wanted(agent(created=today), agent("proxy", created=today + 5)) == 1
    assert wanted(agent(created=today), agent("next", created=today + 600)) == 0


def test_what_was_seen_to_come_is_later_than_what_was_there() -> None:
    """However soon after it, as in a cluster that was made a moment ago."""
    today = START.utc_s - 600
    old, new = agent(created=today), agent("next", created=today + 5)
    history = History()
    history.note_created(new[0].uid, "somebody", "somebody", new[0].key, START)
    assert wanted(old, new, history=history) == 0
    history.note_created(old[0].uid, "somebody", "somebody", old[0].key, START)
    assert wanted(old, new, history=history) == 1


def test_what_the_actor_installed_today_it_may_take_away() -> None:
    """A trial, and whoever made it gives it up."""
    tried = agent(created=START.utc_s - 600)
    history = History()
    by = operator().user.username
    history.note_created(tried[0].uid, by, by, tried[0].key, START)
    assert wanted(tried, history=history) == 0
    assert wanted(tried) == 1


FORWARDERS = Resource("logging.example.com", "forwarders")
KEEPER = thing(FORWARDERS, "logs", "logging", facts=CustomFacts())
NOW = START.plus_s(24 * 3600)


def collector(name: str, *, created: float = OLD, ready: int = 10) -> list[ClusterObject]:
    """Make a DaemonSet of a custom resource, with a pod on each of ten nodes."""
    made, *pods = agent(name, "logging", priority="", created=created, ready=ready)
    return [msgspec.structs.replace(made, owners=(owner(KEEPER),)), *pods]


def still_wanted(
    *new: list[ClusterObject], written: bool = True, by: str = "", taken: int = 0
) -> int:
    """Return how many DaemonSets are wanted when the old one is deleted by the operator."""
    old, history = collector("old"), History()
    for value in (1, 2) if written else ():
        history.writes.note(KEEPER.key, Deed(What.WROTE, "human", value), NOW)
    identity = by or operator().user.username
    for one in new:
        history.note_created(one[0].uid, identity, identity, one[0].key, NOW)
    history.writes.count(taken_from(KEEPER.uid, DAEMON_SETS), NOW, taken)
    view, request = GraphView(graph_of(KEEPER, old, *new), history), delete(old[0])
    impact = estimate(
        request, project(request, view), view, operator(), {"objects_removed"}, now=NOW
    )
    removed = effects(impact, ObjectsRemoved)
    return sum(one.wanted for one in removed if one.resource == str(DAEMON_SETS))


LATELY = NOW.utc_s - 600


def test_a_set_of_agents_goes_once_its_resource_asked_for_another() -> None:
    """The resource was written, and what the operator made since runs on as many nodes."""
    assert still_wanted(collector("new", created=LATELY)) == 0


@pytest.mark.parametrize(
    "still",
    [
        pytest.param(still_wanted(), id="nothing in its place"),
        pytest.param(still_wanted(collector("new", created=LATELY), written=False), id="unasked"),
        pytest.param(still_wanted(collector("new", created=LATELY, ready=5)), id="on half of them"),
        pytest.param(still_wanted(collector("new")), id="there before"),
        pytest.param(still_wanted(collector("new", created=LATELY), by="other"), id="of another"),
        pytest.param(still_wanted(collector("new", created=LATELY), taken=1), id="used up"),
    ],
)
def test_a_set_of_agents_that_nothing_has_followed_stays(still: int) -> None:
    """Its living resource still asks for it."""
    assert still == 1


NETWORKS = Resource("network.example.com", "networks")
NETWORK = thing(NETWORKS, "default", facts=CustomFacts())
FRONT = Selector.of({"app": "front"})


def nodes(count: int = 10) -> list[ClusterObject]:
    return [thing(NODES, f"n-{number}", facts=NodeFacts(ready=True)) for number in range(count)]


def installed(**parts: Any) -> list[ClusterObject]:
    """Make an agent that a custom resource keeps, in a namespace of its own."""
    made, *pods = agent("agent", "network", **parts)
    return [msgspec.structs.replace(made, owners=(owner(NETWORK),)), *pods]


def lost_along(
    going: list[ClusterObject], *others: list[ClusterObject], named: ClusterObject = NETWORK
) -> int:
    """Return how many DaemonSets are wanted when what keeps one is deleted."""
    things = graph_of([] if named.key == going[0].key else NETWORK, going, *others)
    view, request = GraphView(things, History()), delete(named)
    change = project(request, view)
    impact = estimate(request, change, view, operator(), {"objects_removed"}, now=START)
    removed = effects(impact, ObjectsRemoved)
    return sum(one.wanted for one in removed if one.resource == str(DAEMON_SETS))


def test_an_agent_that_goes_with_its_custom_resource_is_wanted() -> None:
    """Nobody named it, and it runs on most nodes, in whatever namespace."""
    assert lost_along(installed(), nodes()) == 1
    assert lost_along(installed(ready=6), nodes()) == 1


@pytest.mark.parametrize(
    ("parts", "there"),
    [
        pytest.param({"priority": ""}, 10, id="for logs"),
        pytest.param({"host_network": False}, 10, id="on the network of pods"),
        pytest.param({"tolerates": ()}, 10, id="kept away by taints"),
        pytest.param({"nodes": 3}, 10, id="of a pool"),
        pytest.param({"nodes": 0}, 10, id="on no node any more"),
        pytest.param({}, 0, id="of nodes nothing is known"),
    ],
)
def test_what_goes_along_and_no_node_stands_on(parts: dict[str, Any], there: int) -> None:
    """An uninstall of what is somebody's own."""
    assert lost_along(installed(**parts), nodes(there)) == 0


def test_an_agent_goes_along_once_another_has_taken_its_place() -> None:
    later = agent("next", created=START.utc_s - 600)
    assert lost_along(installed(), nodes(), later) == 0


def hung(resource: Resource = CONFIG_MAPS, *, mine: bool = False, **parts: Any) -> int:
    """Return how many DaemonSets are wanted when the settings go on which one hangs."""
    settings = thing(resource, "driver-settings", "network")
    made, *pods = agent("driver", "network", **parts)
    made = msgspec.structs.replace(made, owners=(owner(settings),))
    view = GraphView(graph_of(settings, made, *pods, nodes()), History())
    if mine:
        by = operator().user.username
        view.history.note_created(made.uid, by, by, made.key, START)
    request = delete(settings)
    change = project(request, view)
    impact = estimate(request, change, view, operator(), {"objects_removed"}, now=START)
    removed = effects(impact, ObjectsRemoved)
    return sum(one.wanted for one in removed if one.resource == str(DAEMON_SETS))


def test_what_runs_on_all_nodes_and_hangs_on_settings_is_wanted() -> None:
    """Whatever it asks for: who deletes a ConfigMap, to write it anew, means no driver."""
    assert hung() == hung(SECRETS) == 1
    assert hung(priority="", tolerates=(), host_network=False) == 1


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"nodes": 3}, id="of a pool"),
        pytest.param({"ready": 4}, id="most of it broken"),
        pytest.param({"nodes": 0}, id="on no node"),
        pytest.param({"mine": True}, id="the actor's own"),
        pytest.param({"resource": SERVICES}, id="of a Service"),
    ],
)
def test_what_hangs_on_settings_and_may_go(parts: dict[str, Any]) -> None:
    assert hung(**parts) == 0


def test_an_agent_of_its_own_namespace_may_be_deleted_by_name() -> None:
    """Who names it has seen what it is."""
    alone = agent("agent", "network")
    assert lost_along(alone, nodes(), named=alone[0]) == 0


def front() -> list[ClusterObject]:
    """Make what answers beside the agents: a Deployment of one pod behind a Service."""
    by, labels = (owner(NETWORK),), {"app": "front"}
    facts = WorkloadFacts(replicas=1, selector=FRONT)
    made = thing(STATEFUL_SETS, "front", "network", owners=by, facts=facts)
    service = thing(SERVICES, "front", "network", owners=by, facts=ServiceFacts(FRONT))
    pod = thing(
        PODS, "front-0", "network", labels=labels, owners=[owner(made)], facts=PodFacts(ready=True)
    )
    return [made, service, pod]


def explained(*agents: list[ClusterObject]) -> list[bool]:
    """Return whether it is explained that what answers beside agents is scaled to nothing."""
    made, *rest = front()
    none = msgspec.structs.replace(made, facts=WorkloadFacts(replicas=0, selector=FRONT))
    view = GraphView(graph_of(NETWORK, made, rest, nodes(), *agents), History())
    found = effects(impact_of(update(made, none), view), ServiceEmptied)
    return [one.explained for one in found]


def test_what_answers_beside_agents_that_have_left_the_nodes() -> None:
    """Explained once newer ones run there, and not while one of the old still asks."""
    later = agent("next", created=START.utc_s - 600)

    assert explained(installed(nodes=0), later) == [True]
    assert explained(installed(nodes=1), later) == [False]
    assert explained(installed(nodes=0)) == [False]
    assert explained(later) == [False]


def mounted(driver: str) -> list[ClusterObject]:
    """Make a pod with a claim, and the volume of a driver that it is bound to."""
    claim = thing(CLAIMS, "data", "shop")
    volume = thing(VOLUMES, "pv-1", facts=VolumeFacts(driver=driver))
    pod = thing(PODS, "store-0", "shop", facts=PodFacts(ready=True, node="n-1"))
    return [
        claim,
        msgspec.structs.replace(volume, needs=(Need(Edge.BOUND_CLAIM, claim.key),)),
        msgspec.structs.replace(pod, needs=(Need(Edge.CLAIM, claim.key),)),
    ]


@pytest.mark.parametrize(
    ("path", "ready", "asked", "wanted"),
    [
        pytest.param("/var/lib/kubelet/plugins/block.example.com/", 10, "block", 1, id="in use"),
        pytest.param("/var/lib/kubelet/plugins/block.example.com", 10, "file", 0, id="retired"),
        pytest.param("/var/lib/kubelet/plugins_registry/", 10, "block", 0, id="another path"),
        pytest.param("/var/lib/kubelet/plugins/block.example.com/", 0, "block", 0, id="broken"),
    ],
)
def test_a_driver_whose_volumes_are_mounted(path: str, ready: int, asked: str, wanted: int) -> None:
    """Wherever it runs and whatever it asks for: by the directory that it has at the kubelet."""
    driver = registers(path, "driver", ready=ready)
    assert driver_wanted(driver, mounted(f"{asked}.example.com")) == wanted


BLOCK = "/var/lib/kubelet/plugins/block.example.com/"


def registers(
    path: str = BLOCK, name: str = "driver", space: str = "storage", **parts: Any
) -> list[ClusterObject]:
    """Make a DaemonSet that has a directory of its nodes, with a pod on each of some."""
    made, *pods = agent(name, space, priority="", host_network=False, **parts)
    volumes = [{"hostPath": {"path": path}}, {"name": "x"}]
    spec = {"template": {"spec": {"volumes": volumes}}}
    read = trimmed(DAEMON_SETS, body("DaemonSet", name, space, apiVersion="apps/v1", spec=spec))
    return [msgspec.structs.replace(made, needs=read.needs), *pods]


def driver_wanted(
    *things: list[ClusterObject], history: History | None = None, by: Actor | None = None
) -> int:
    """Return how many DaemonSets are wanted when the first is deleted."""
    view = GraphView(graph_of(*things, nodes()), history or History())
    impact = impact_of(delete(things[0][0], by=by), view, now=START, by=by)
    (removed,) = [one for one in effects(impact, ObjectsRemoved)
                  if one.resource == str(DAEMON_SETS)]  # fmt: skip
    return removed.wanted


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        pytest.param({}, 0, id="on all its nodes"),
        pytest.param({"ready": 9}, 1, id="but for one node"),
        pytest.param({"created": OLD - 3600}, 1, id="there before"),
        pytest.param({"path": "/var/lib/kubelet/plugins/file.example.com"}, 1, id="another driver"),
    ],
)
def test_a_driver_that_another_agent_has_taken_over(parts: dict[str, Any], wanted: int) -> None:
    """It may leave the nodes on which a later one serves the same volumes."""
    later = registers(**{"name": "next", "created": START.utc_s - 600, **parts})
    assert driver_wanted(registers(), mounted("block.example.com"), later) == wanted


def test_a_driver_of_one_pool_stands_in_for_no_other() -> None:
    """The incident: as many agents of the same driver, on other nodes."""
    other, *pods = registers(name="next", created=START.utc_s - 600)
    pods = [
        msgspec.structs.replace(one, facts=PodFacts(ready=True, node=f"other-{number}"))
        for number, one in enumerate(pods)
    ]
    assert driver_wanted(registers(), mounted("block.example.com"), [other, *pods]) == 1


@pytest.mark.parametrize(
    ("account", "asked", "wanted"),
    [
        pytest.param("operator", "file", 0, id="retired by the operator that it hangs on"),
        pytest.param("operator", "block", 1, id="in use"),
        pytest.param("another", "file", 1, id="of another operator"),
    ],
)
def test_a_driver_that_hangs_on_its_operator(account: str, asked: str, wanted: int) -> None:
    """The Deployment of an operator asks for nothing but what its pods say; nodes do as before."""
    need = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "lb", account))
    parent = msgspec.structs.replace(thing(DEPLOYMENTS, "operator", "lb"), needs=(need,))
    driver = registers(space="lb")
    driver[0] = msgspec.structs.replace(driver[0], owners=(owner(parent),))
    beside = [parent, thing(SERVICE_ACCOUNTS, account, "lb")]
    assert driver_wanted(driver, beside, mounted(f"{asked}.example.com")) == wanted


DEPLOYER = operator("system:serviceaccount:storage:deployer")


@pytest.mark.parametrize(
    ("back", "by", "wanted"),
    [
        pytest.param(2, DEPLOYER, 0, id="each made anew"),
        pytest.param(1, DEPLOYER, 1, id="one of them"),
        pytest.param(0, DEPLOYER, 1, id="uninstalled"),
        pytest.param(2, operator("system:serviceaccount:ci:deployer"), 1, id="from elsewhere"),
    ],
)
def test_a_driver_of_which_the_parts_are_made_anew(back: int, by: Actor, wanted: int) -> None:
    """Its own deployer has taken its Deployments away and made them again; next is the agent."""
    history, identity, parts = History(), by.user.username, []
    for number in range(3):
        part = thing(DEPLOYMENTS, f"part-{number}", "storage", facts=WorkloadFacts(replicas=1))
        history.note_removed(part.uid, part.key, START, by=identity)
        if number < back:
            parts.append(msgspec.structs.replace(part, uid=f"anew-{number}"))
            history.note_created(f"anew-{number}", identity, identity, part.key, START)
    driver, used = registers(), mounted("block.example.com")
    assert driver_wanted(driver, used, parts, history=history, by=by) == wanted


ADMIN = Actor(UserInfo("net@example.com"), "net", IdentityKind.PERSON, Stage.ENFORCE)
SETTINGS = thing(CONFIG_MAPS, "proxy", "kube-system")


def out_of_use(
    going: ClusterObject, *others: list[ClusterObject], by: Actor = ADMIN, history: History
) -> bool:
    """Whether the removal of an agent, or of its settings, is explained."""
    view, request = GraphView(graph_of(going, *others), history), delete(going, by=by)
    impact = estimate(request, project(request, view), view, by, {"objects_removed"}, now=START)
    removed = effects(impact, ObjectsRemoved)
    return all(one.explained for one in removed if one.resource == str(going.key.resource))


def rolled(one: ClusterObject, by: Actor = ADMIN) -> History:
    """Return the past of somebody who rolled an agent within the hour."""
    history = History()
    history.writes.count(restarter(by.user.username, one), START)
    return history


@pytest.mark.parametrize(
    ("parts", "by", "which", "found"),
    [
        pytest.param({}, ADMIN, 1, True, id="another-does-its-work"),
        pytest.param({"ready": 5}, ADMIN, 1, False, id="on-half-of-the-nodes"),
        pytest.param({"space": "mesh"}, ADMIN, 1, False, id="of-another-namespace"),
        pytest.param({}, operator(), 1, False, id="by-a-machine"),
        pytest.param({}, ADMIN, 0, False, id="the-agent-itself-was-rolled"),
    ],
)
def test_an_agent_goes_after_the_other_was_rolled(
    parts: dict[str, Any], by: Actor, which: int, found: bool
) -> None:
    """So a proxy of Services ends where the network does its work from then on."""
    proxy, network = agent("proxy"), agent("network", **parts)
    history = rolled((proxy, network)[which][0], by)
    assert out_of_use(proxy[0], proxy[1:], network, by=by, history=history) == found


def gone(by: str, ago_s: float) -> History:
    """Return the past of somebody who deleted the agent."""
    history = History()
    history.note_removed("uid", ObjectKey(DAEMON_SETS, "kube-system", "proxy"), START, by=by)
    return history if not ago_s else History()


@pytest.mark.parametrize(
    ("others", "history", "found"),
    [
        pytest.param([], gone(ADMIN.user.username, 0), True, id="after-its-agent"),
        pytest.param([], gone("somebody else", 0), False, id="after-anothers-deed"),
        pytest.param([], gone("", 1), False, id="before-it"),
        pytest.param(agent("proxy"), gone(ADMIN.user.username, 0), False, id="it-is-back"),
    ],
)
def test_settings_go_after_their_agent(
    others: list[ClusterObject], history: History, found: bool
) -> None:
    assert out_of_use(SETTINGS, others, history=history) == found


DRIVERS = Resource("gpu.example.com", "drivers")


@pytest.mark.parametrize(
    ("nodes", "other", "counted"),
    [
        pytest.param(0, True, 0, id="outgrown"),
        pytest.param(0, False, 1, id="the-only-one"),
        pytest.param(1, True, 1, id="of-use-on-a-node"),
    ],
)
def test_a_driver_of_no_node_beside_another(nodes: int, counted: int, *, other: bool) -> None:
    """One for each version of the nodes: what is left of the former version is a name."""
    driver = thing(DRIVERS, "pool", "")
    former, *pods = agent("former", nodes=nodes)
    following, *_ = agent("following", nodes=0)
    former, following = (
        msgspec.structs.replace(one, owners=(owner(driver),)) for one in (former, following)
    )
    view = GraphView(graph_of(driver, former, pods, *([following] if other else [])))
    (gone,) = [
        one
        for one in effects(impact_of(delete(former), view), ObjectsRemoved)
        if one.resource == "daemonsets.apps"
    ]
    assert gone.counted == counted
