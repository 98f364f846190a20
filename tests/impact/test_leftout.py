"""Parts that somebody takes out of a custom resource, or switches off: what goes with them."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import DataLost, ObjectsRemoved, PodsLost
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.facts import DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CLAIMS,
    CRDS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    HTTP_ROUTES,
    INGRESSES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CrdFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.overlay import Overlay
from suture.model.parts import parts_left_out
from suture.model.request import intent_of
from suture.model.selectors import Selector
from suture.model.writes import TEN_MINUTES_S

DATABASES = Resource("db.example.com", "databases")
DATABASE = thing(DATABASES, "shop", "prod")
PERSON = Actor(UserInfo("dba@example.com"), "dba", IdentityKind.PERSON, Stage.ENFORCE)
Spec = dict[str, object]

ON: Spec = {"proxy": {"enabled": True, "size": 5}, "monitoring": {"exporter": {"port": 9}}}


def part(name: str) -> list[ClusterObject]:
    """Return a part of the database: a set with a Ready pod, a Service, a claim."""
    labels = {"part": name}
    facts = WorkloadFacts(1, Selector.of(labels))
    root = thing(STATEFUL_SETS, f"shop-{name}", "prod", owners=[owner(DATABASE)], facts=facts)
    pod = thing(
        PODS, f"shop-{name}-0", "prod", owners=[owner(root)], labels=labels,
        facts=PodFacts(ready=True, node="node-1"),
    )  # fmt: skip
    facing = thing(
        SERVICES, f"shop-{name}", "prod", owners=[owner(DATABASE)],
        facts=ServiceFacts(Selector.of(labels)),
    )  # fmt: skip
    claim = thing(
        CLAIMS, f"shop-{name}", "prod", owners=[owner(DATABASE)],
        facts=ClaimFacts(bound=True, volume="pv"),
    )  # fmt: skip
    return [root, pod, facing, claim]


PROXY, MEMBERS = part("proxy"), part("members")


class Database:
    """A custom resource with two parts, and what was written of it."""

    def __init__(self) -> None:
        self.view = GraphView(graph_of(DATABASE, PROXY, MEMBERS), History())

    def rewrite(self, old: Spec, new: Spec, by: Actor | None = None) -> None:
        self.write({"spec": old}, {"spec": new}, by)

    def annotate(self, old: dict[str, str], new: dict[str, str]) -> None:
        first, then = ({"metadata": {"annotations": one}, "spec": ON} for one in (old, new))
        self.write(first, then)

    def write(self, old: Spec, new: Spec, by: Actor | None = None) -> None:
        bodies = (msgspec.json.encode(old), msgspec.json.encode(new))
        request = update(DATABASE, DATABASE, bodies=bodies, by=by)
        remember(request, project(request, self.view), self.view, START)

    def explained(self, going: ClusterObject, now: Now = START) -> int:
        """Return how many of an object's type a cause accounts for, if it goes."""
        impact = impact_of(delete(going), self.view, now=now)
        return sum(
            one.explained
            for one in effects(impact, ObjectsRemoved)
            if one.resource == str(going.key.resource)
        )


@pytest.mark.parametrize(
    ("new", "explained"),
    [
        pytest.param({**ON, "proxy": {"enabled": False, "size": 5}}, 1, id="switched off"),
        pytest.param({"monitoring": ON["monitoring"]}, 1, id="taken out"),
        pytest.param({**ON, "proxy": {"managementState": "Removed"}}, 1, id="removed"),
        pytest.param({**ON, "proxy": {"managementState": "Unmanaged"}}, 0, id="left alone"),
        pytest.param({**ON, "proxy": {"enabled": True, "size": 4}}, 0, id="smaller"),
        pytest.param({"proxy": ON["proxy"]}, 0, id="another part"),
    ],
)
def test_a_part_that_is_left_out(new: Spec, explained: int) -> None:
    """Its set and its Service go for it; those of another part do not, nor does its data."""
    database = Database()
    assert database.explained(PROXY[0]) == 0
    database.rewrite(ON, new)
    root, _, facing, claim = PROXY
    assert [database.explained(one) for one in (root, facing)] == [explained, explained]
    assert [database.explained(one) for one in (claim, *MEMBERS)] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("off", "on", "explained"),
    [
        pytest.param({"enableProxy": False}, {"enableProxy": True}, (1, 1), id="enable"),
        pytest.param({"exposeProxy": False}, {"exposeProxy": True}, (1, 1), id="expose"),
        pytest.param({"proxyEnabled": False}, {"proxyEnabled": True}, (1, 1), id="enabled"),
        pytest.param(
            {"enablePro_xy": False}, {"enablePro_xy": True}, (1, 1), id="parted otherwise"
        ),
        pytest.param({"ui": {"proxyPort": 0}}, {"ui": {"proxyPort": 80}}, (0, 1), id="a port"),
        pytest.param({"proxyPort": 81}, {"proxyPort": 80}, (0, 0), id="another port"),
        pytest.param({"proxyUsers": 0}, {"proxyUsers": 80}, (0, 0), id="another number"),
        pytest.param({}, {"enableProxy": True}, (0, 0), id="a default"),
        pytest.param({}, {"proxyPort": 80}, (0, 0), id="a default port"),
        pytest.param({"proxy": False}, {"proxy": True}, (0, 0), id="another flag"),
    ],
)
def test_a_part_that_a_flag_or_a_port_switches_off(
    off: Spec, on: Spec, explained: tuple[int, int]
) -> None:
    """A flag gives up what it is called after, a port its Service alone, and neither the data."""
    database = Database()
    database.rewrite(on, off)
    root, _, facing, claim = PROXY
    assert (database.explained(root), database.explained(facing)) == explained
    assert [database.explained(one) for one in (claim, *MEMBERS)] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("off", "on"),
    [
        pytest.param({"enableProxy": False}, {"enableProxy": True}, id="a flag"),
        pytest.param({"proxyPort": 0}, {"proxyPort": 80}, id="a port"),
    ],
)
def test_a_flag_or_a_port_that_is_there_again(off: Spec, on: Spec) -> None:
    """The twin: an operator that saw only the first of two writes is mistaken."""
    database = Database()
    database.rewrite(on, off)
    database.rewrite(off, on)
    root, _, facing, _ = PROXY
    assert [database.explained(one) for one in (root, facing)] == [0, 0]


def test_a_part_that_is_there_again() -> None:
    """The twin: switched off and on again, as one sees who reads an old copy."""
    database, off = Database(), {**ON, "proxy": {"enabled": False, "size": 5}}
    database.rewrite(ON, off)
    database.rewrite(off, ON)
    assert database.explained(PROXY[0]) == 0


@pytest.mark.parametrize(
    ("name", "explained"),
    [("server-ui", 1), ("server-ui-0", 1), ("ui-server", 0), ("ui-server-0", 0), ("server-0", 0)],
)
def test_a_part_with_a_short_name(name: str, explained: int) -> None:
    """At the end, or before a number of one of several; anywhere else it may mean anything."""
    database, console = Database(), part(name)
    database.view = GraphView(graph_of(DATABASE, console), History())
    database.rewrite({"enableUI": True}, {"enableUI": False})
    assert [database.explained(one) for one in (console[0], console[2])] == [explained] * 2


SHARDS: Spec = {
    "pools": [{"name": "members", "size": 3}],
    "sharding": {"enabled": True, "configServer": {"size": 3}, "router": {"size": 2}},
}
UNSHARDED: Spec = {**SHARDS, "sharding": {**SHARDS["sharding"], "enabled": False}}  # type: ignore[dict-item]


class Sharded(Database):
    """A custom resource whose parts are called in full, and its sets by other words."""

    def __init__(self, **sizes: int) -> None:
        self.sets = {
            name: thing(
                STATEFUL_SETS, f"shop-{name}", "prod", owners=[owner(DATABASE)],
                facts=WorkloadFacts(size),
            )
            for name, size in sizes.items()
        }  # fmt: skip
        self.view = GraphView(graph_of(DATABASE, self.sets.values()), History())

    def explains(self, name: str) -> bool:
        return self.explained(self.sets[name]) == 1


def test_a_set_that_is_called_otherwise_than_its_part() -> None:
    """It is the only one so large of which no part has the name; that of another part stays."""
    database = Sharded(members=3, cfg=3, router=2)
    assert not database.explains("cfg")
    database.rewrite(SHARDS, UNSHARDED)
    assert [database.explains(one) for one in ("cfg", "router", "members")] == [True, True, False]


def test_a_set_called_otherwise_of_a_part_that_is_there_again() -> None:
    """The twin: switched off and on again; the set may have gone and come in between."""
    database = Sharded(members=3, cfg=3, router=2)
    database.rewrite(SHARDS, UNSHARDED)
    database.rewrite(UNSHARDED, SHARDS)
    assert not database.explains("cfg")


@pytest.mark.parametrize(
    ("database", "old"),
    [
        pytest.param(Sharded(members=3, cfg=5, router=2), SHARDS, id="of another size"),
        pytest.param(Sharded(members=3, cfg=3, more=3, router=2), SHARDS, id="one of two"),
        pytest.param(
            Sharded(members=3, cfg=3, configServer=3, router=2), SHARDS, id="the part has one"
        ),
        pytest.param(
            Sharded(db=3, cfg=3, router=2), {**SHARDS, "pools": [], "instances": 3}, id="of all"
        ),
        pytest.param(Sharded(cfg=3, router=2), {**SHARDS, "instances": 3}, id="two so large"),
    ],
)
def test_a_set_that_is_perhaps_of_what_stays(database: Sharded, old: Spec) -> None:
    """Then its name has to tell: a database is not given up for its proxy."""
    database.rewrite(old, {**old, "sharding": UNSHARDED["sharding"]})
    assert not database.explains("cfg")


THREE: Spec = {"nodes": [{"id": number, "group": "default"} for number in range(3)]}
TWO: Spec = {"nodes": [{"id": number, "group": "default"} for number in range(2)]}


class Numbered(Database):
    """A custom resource that lists its members by number, each a pod with a claim."""

    def __init__(self, *, away: int = -1) -> None:
        things = [DATABASE]
        self.claims, self.pods = [], []
        for number in range(3):
            labels = {"nodeId": str(number)}
            claim = thing(
                CLAIMS, f"shop-{number}-x", "prod", owners=[owner(DATABASE)], labels=labels,
                facts=ClaimFacts(bound=True, volume=f"pv-{number}"),
            )  # fmt: skip
            pod = thing(
                PODS, f"shop-{number}-y", "prod", owners=[owner(DATABASE)], labels=labels,
                facts=PodFacts(ready=True, node="node-1"),
            )  # fmt: skip
            self.claims.append(claim)
            self.pods.append(replace(pod, needs=(Need(Edge.CLAIM, claim.key),)))
        things += [*self.claims, *(pod for at, pod in enumerate(self.pods) if at != away)]
        self.view = GraphView(graph_of(things), History())


def test_a_member_that_is_struck_from_a_list() -> None:
    """Its pod goes, and then its claim, which nobody uses any more; those of others stay."""
    database = Numbered()
    database.rewrite(THREE, TWO)
    assert [database.explained(pod) for pod in database.pods] == [0, 0, 1]
    assert [database.explained(claim) for claim in database.claims] == [0, 0, 0]
    database = Numbered(away=2)
    assert [database.explained(claim) for claim in database.claims] == [0, 0, 0]
    database.rewrite(THREE, TWO)
    assert [database.explained(claim) for claim in database.claims] == [0, 0, 1]


def test_a_member_that_is_listed_again() -> None:
    """The twin: it takes part, and an operator that reads the shorter list is mistaken."""
    database = Numbered(away=2)
    database.rewrite(THREE, TWO)
    database.rewrite(TWO, THREE)
    assert database.explained(database.claims[2]) == 0


def test_another_than_the_member_that_is_struck() -> None:
    """It was away when the list was read: its claim is not the one that was given up."""
    database = Numbered(away=1)
    database.rewrite(THREE, TWO)
    assert [database.explained(claim) for claim in database.claims] == [0, 0, 0]


@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({"pause": False}, {"pause": True}, True, id="paused"),
        pytest.param({"runStrategy": "Always"}, {"runStrategy": "Halted"}, True, id="halted"),
        pytest.param({"running": True}, {"running": False}, True, id="not running"),
        pytest.param({"desiredState": "Active"}, {"desiredState": "Inactive"}, True, id="idle"),
        pytest.param({"desiredState": "Inactive"}, {"desiredState": "Active"}, False, id="active"),
        pytest.param({"active": True}, {"active": False}, True, id="not active"),
        pytest.param({"started": True}, {"started": False}, True, id="not started"),
        pytest.param({"started": False}, {"started": True}, False, id="started anew"),
        pytest.param({"state": "running"}, {"state": "stopped"}, True, id="a state"),
        pytest.param(
            {"job": {"state": "running"}}, {"job": {"state": "suspended"}}, True, id="of its job"
        ),
        pytest.param(
            {"task": {"state": "running"}}, {"task": {"state": "suspended"}}, False, id="of a task"
        ),
        pytest.param({"mode": "online"}, {"mode": "Offline"}, True, id="a mode"),
        pytest.param({"mode": "Auto"}, {"mode": "Off"}, False, id="a mode of something"),
        pytest.param({"state": "ready"}, {"state": "paused"}, False, id="a state of the operator"),
        pytest.param({"lifecycle": {}}, {"lifecycle": {"run": False}}, True, id="not to run"),
        pytest.param({}, {"stop": "yes"}, True, id="a stop in words"),
        pytest.param({"stop": "no"}, {"stop": True}, True, id="a stop"),
        pytest.param(
            {"runPolicy": {"suspend": False}}, {"runPolicy": {"suspend": True}}, True, id="a job"
        ),
        pytest.param(
            {"runPolicy": {"suspend": True}},
            {"runPolicy": {"suspend": False}},
            False,
            id="let go on",
        ),
        pytest.param(
            {"lifecycle": {"enabled": True}},
            {"lifecycle": {"enabled": False}},
            False,
            id="a part that is called alike",
        ),
        pytest.param(
            {"backup": {"suspend": False}}, {"backup": {"suspend": True}}, False, id="a part"
        ),
        pytest.param({"paused": False}, {"paused": True}, False, id="not to be touched"),
        pytest.param({"pause": True}, {"pause": False}, False, id="started"),
    ],
)
def test_all_of_it_is_stopped(old: Spec, new: Spec, *, explained: bool) -> None:
    """Its sets may go or shrink to nothing, and what leads to them; its claims stay."""
    database = Database()
    database.rewrite(old, new)
    root, _, facing, claim = MEMBERS
    assert [database.explained(one) for one in (root, facing)] == [int(explained)] * 2
    assert database.explained(claim) == 0
    none = msgspec.structs.replace(root, facts=WorkloadFacts(0, Selector.of({"part": "members"})))
    (lost,) = effects(impact_of(update(root, none), database.view), PodsLost)
    assert lost.lasting == int(not explained)


@pytest.mark.parametrize("labels", [{}, {"part": "members", "also": "reports"}])
def test_a_service_of_what_is_stopped_that_leads_elsewhere_or_nowhere(
    labels: dict[str, str],
) -> None:
    """Who is reached by it is not stopped; and of a Service without pods the name is all."""
    other = thing(PODS, "reports", "prod", labels=labels, facts=PodFacts(ready=True, node="node-1"))
    selector = {"part": "members"} if labels else {"part": "none"}
    facing = thing(
        SERVICES, "shop-all", "prod", owners=[owner(DATABASE)],
        facts=ServiceFacts(Selector.of(selector)),
    )  # fmt: skip
    database = Database()
    database.view = GraphView(graph_of(DATABASE, MEMBERS, other, facing), History())
    database.rewrite({"stop": "no"}, {"stop": "yes"})
    assert database.explained(facing) == 0


@pytest.mark.parametrize(
    ("of", "explained"),
    [
        pytest.param(DATABASE, 1, id="its own"),
        pytest.param(thing(DATABASES, "other", "prod"), 0, id="of another"),
    ],
)
@pytest.mark.parametrize("seen", [True, False])
def test_a_service_of_a_pod_that_went_first(
    of: ClusterObject, explained: int, *, seen: bool
) -> None:
    """What is stopped gives up its pods and the Service of each; before that it keeps both."""
    labels = {"job": "shop"}
    pod = thing(
        PODS,
        "worker-0",
        "prod",
        labels=labels,
        owners=[owner(of)],
        facts=PodFacts(ready=True, node="n"),
    )
    facing = thing(
        SERVICES, "worker-0", "prod", owners=[owner(DATABASE)],
        facts=ServiceFacts(Selector.of(labels)),
    )  # fmt: skip
    database = Database()
    graph = graph_of(DATABASE, facing, *([] if seen else [pod]))
    database.view = GraphView(graph, History())
    if seen:
        database.view.history.note_removed(pod.uid, pod.key, START, owners=pod.owners)
    else:
        Overlay(graph).admit(intent_of(delete(pod)), [pod.uid], START)
    assert database.explained(facing) == 0
    database.rewrite({"runPolicy": {}}, {"runPolicy": {"suspend": True}})
    assert database.explained(facing) == explained


ASLEEP = {"db.example.com/hibernation": "on"}


def test_a_part_that_is_asked_for_as_it_is_by_default() -> None:
    """`proxy: {}` asks for one: without it the proxy may go, and with it, whatever it says, not."""
    database = Database()
    rest = {"monitoring": ON["monitoring"]}
    database.rewrite({**rest, "proxy": {}}, {**rest, "proxy": {"size": 3}})
    assert database.explained(PROXY[0]) == 0
    database.rewrite({**rest, "proxy": {}}, rest)
    assert [database.explained(one) for one in (PROXY[0], MEMBERS[0])] == [1, 0]
    database.rewrite(rest, {**rest, "proxy": {}})
    assert database.explained(PROXY[0]) == 0


@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({}, ASLEEP, True, id="asleep"),
        pytest.param({}, {"example.com/stop": "True"}, True, id="stopped"),
        pytest.param({"x/sleep": "no"}, {"x/sleep": "yes"}, True, id="changed"),
        pytest.param({}, {"my-resource-stopped": "2026-11-25T20:00:00Z"}, True, id="since when"),
        pytest.param({}, {"my-resource-stopped": "a-lock"}, False, id="held back"),
        pytest.param({}, {"last-stopped": "2026-11-25T20:00:00Z"}, False, id="some time ago"),
        pytest.param({}, {"db.example.com/hibernation": "off"}, False, id="off"),
        pytest.param({}, {"example.com/hibernation-schedule": "1"}, False, id="another word"),
        pytest.param({}, {"example.com/pause": "true"}, False, id="not to be touched"),
        pytest.param(ASLEEP, {**ASLEEP, "note": "x"}, False, id="before Suture was there"),
        pytest.param(ASLEEP, {}, False, id="awake"),
    ],
)
def test_an_annotation_by_which_it_is_stopped(
    old: dict[str, str], new: dict[str, str], *, explained: bool
) -> None:
    """As a field of the spec: what runs may go, and what leads to it; data stays."""
    database = Database()
    database.annotate(old, new)
    root, pod, facing, claim = MEMBERS
    assert [database.explained(one) for one in (root, pod, facing)] == [int(explained)] * 3
    assert database.explained(claim) == 0


@pytest.mark.parametrize(
    "awake", [{}, {"db.example.com/hibernation": "off"}], ids=["taken away", "off"]
)
def test_what_sleeps_is_woken(awake: dict[str, str]) -> None:
    """The twin: in the morning it is to run again, and nothing of it may go."""
    database = Database()
    database.annotate({}, ASLEEP)
    assert database.explained(MEMBERS[1]) == 1
    database.annotate(ASLEEP, awake)
    assert database.explained(MEMBERS[1]) == 0


def test_of_two_ways_to_stop_it_one_is_enough() -> None:
    """What is paused in the spec stays so when it is told to sleep no more."""
    database = Database()
    paused: Spec = {"pause": True}
    database.rewrite({}, paused)
    asleep: Spec = {"metadata": {"annotations": ASLEEP}, "spec": paused}
    database.write({"spec": paused}, asleep)
    database.write(asleep, {"spec": paused})
    assert database.explained(MEMBERS[0]) == 1


def test_annotations_that_cannot_be_read() -> None:
    """They say nothing."""
    database = Database()
    database.write({"spec": {}}, {"metadata": {"annotations": ["stop"]}, "spec": {}})
    assert database.explained(MEMBERS[0]) == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"a": {"b": 1}}, {}, ({"a"}, set())),
        ({"a": {}, "b": {"c": {}}}, {"b": {"d": 1}}, ({"a", "c"}, set())),
        ({}, {"a": {}}, (set(), {"a"})),
        ({"a": {}, "b": []}, {"a": {"c": 1}}, (set(), {"a"})),
        ({}, {"a": {"b": 1}}, (set(), {"a"})),
        ({"a": 1, "c": {"d": {}}}, {"c": {}}, ({"c"}, set())),
        ({"a": [{"name": "x"}, {"name": "y"}]}, {"a": [{"name": "y"}]}, ({"x"}, set())),
        ({"a": [{"name": "x", "b": {"c": 1}}]}, {"a": [{"name": "x"}]}, ({"b"}, set())),
        ({"a": [{"name": "x", "b": 1}]}, {"a": [1]}, ({"x"}, set())),
        ({"a": {"enabled": False}}, {"a": {"enabled": True}}, (set(), {"a"})),
        ({"a": {"router": {"size": 2}, "disk": {"gi": 1}}}, {}, ({"a", "router"}, set())),
        (
            {"a": {"enabled": False, "router": {"image": "x"}}},
            {"a": {"enabled": True, "router": {"image": "x"}}},
            (set(), {"a", "router"}),
        ),
        (
            {"racks": [{"name": "a", "members": 1}, {"name": "b", "members": 3}]},
            {"racks": [{"name": "a", "members": 0}, {"name": "b", "members": 3}]},
            ({"a"}, set()),
        ),
        (
            {"a": [{"component": "b", "size": 1}], "c": [{"dName": "e", "count": 2}]},
            {"a": [{"component": "f", "size": 1}], "c": [{"dName": "g", "count": 2}]},
            ({"b", "e"}, {"f", "g"}),
        ),
        ({"a": [{"className": "b"}]}, {"a": [{"x": 1}]}, (set(), set())),
        ({"a": [{"bName": "c", "dName": "e", "size": 1}]}, {"a": [{"x": 1}]}, (set(), set())),
        (
            {"racks": [{"name": "a", "members": 0}, {"name": "b", "members": 0}]},
            {"racks": [{"name": "a", "members": 2}, {"name": "b", "members": 0}]},
            (set(), {"a"}),
        ),
        (
            {"racks": [{"name": "a", "members": 3}, {"name": "b", "members": 3}]},
            {"racks": [{"name": "a", "members": 0}, {"name": "b", "members": 0}]},
            (set(), set()),
        ),
        (
            {"racks": [{"name": "a", "days": 1}, {"name": "b", "days": 3}]},
            {"racks": [{"name": "a", "days": 0}, {"name": "b", "days": 3}]},
            (set(), set()),
        ),
        (
            {"a": {"size": 1}, "b": {"size": 1}},
            {"a": {"size": 0}, "b": {"size": 1}},
            (set(), set()),
        ),
        ({"a": {"pdb": {}, "b": {}}}, {"a": {}}, ({"a", "pdb"}, set())),
        ({"a": {"b": 1}}, {"a": {"b": 1, "enabled": False}}, ({"a"}, set())),
        ({"a": {"b": 1, "enabled": False}}, {"a": {"b": 1}}, (set(), {"a"})),
        ({}, {"disableProxy": True}, ({"Proxy"}, set())),
        (
            {"disableProxy": False, "pdbDisabled": True},
            {"disableProxy": True},
            ({"Proxy"}, {"pdb"}),
        ),
        ({"disableProxy": True}, {"disableProxy": True}, (set(), set())),
        ({"disabled": False}, {"disabled": True}, (set(), set())),
        ({"pause": True}, {}, (set(), {""})),
        ({"a": "text"}, {"a": 3}, (set(), set())),
    ],
)
def test_what_counts_as_a_part(old: Spec, new: Spec, told: tuple[set[str], set[str]]) -> None:
    """Maps, lists and named items; no plain values."""
    bodies = (msgspec.json.encode({"spec": old}), msgspec.json.encode({"spec": new}))
    gone, back = parts_left_out(*bodies)
    assert (set(gone), set(back)) == told


SETS = Resource("db.example.com", "podsets")


GUARD = thing(
    DISRUPTION_BUDGETS, "shop", "prod", owners=[owner(DATABASE)],
    facts=DisruptionBudgetFacts(Selector.of({"part": "members"})),
)  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({"enablePDB": True}, {"enablePDB": False}, 1, id="a flag"),
        pytest.param(
            {"podDisruptionBudget": {"enabled": True}},
            {"podDisruptionBudget": {"enabled": False}}, 1, id="a part",
        ),
        pytest.param({}, {"disablePDB": True}, 1, id="its negative"),
        pytest.param(
            {"placement": {"disruptionBudget": {"maxUnavailable": 1}}}, {"placement": {}}, 1,
            id="inside a part that says nothing any more",
        ),
        pytest.param({"enableProxy": True}, {"enableProxy": False}, 0, id="another flag"),
    ],
)  # fmt: skip
def test_what_is_called_after_the_type_of_an_object(old: Spec, new: Spec, explained: int) -> None:
    """A budget has the name of what it guards, and the field that of its type."""
    database = Database()
    database.view = GraphView(graph_of(DATABASE, PROXY, MEMBERS, GUARD), History())
    assert database.explained(GUARD) == 0
    database.rewrite({**ON, **old}, {**ON, **new})
    assert database.explained(GUARD) == explained
    assert database.explained(MEMBERS[0]) == 0


WAY_IN: Spec = {"host": "shop.example.com"}
"""What a part says of the route that leads to it."""


@pytest.mark.parametrize("resource", [INGRESSES, HTTP_ROUTES])
@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({"WAY": {"enabled": True}}, {"WAY": {"enabled": False}}, 1, id="a part"),
        pytest.param({"WAY": WAY_IN}, {}, 1, id="taken out"),
        pytest.param(
            {"members": {"WAY": {"enabled": True}}}, {"members": {"WAY": {"enabled": False}}}, 1,
            id="of a part",
        ),
        pytest.param({"enableWAY": True}, {"enableWAY": False}, 1, id="a flag"),
        pytest.param({"enableProxy": True}, {"enableProxy": False}, 0, id="another flag"),
        pytest.param({"WAY": {"enabled": False}}, {"WAY": {"enabled": True}}, 0, id="switched on"),
    ],
)  # fmt: skip
def test_a_route_is_called_after_what_it_leads_to(
    resource: Resource, old: Spec, new: Spec, explained: int
) -> None:
    """And the part after the type of it. Off for a moment and on again it is wanted as before."""
    way = "Ingress" if resource == INGRESSES else "Route"
    called = way if "enableWAY" in old else way.lower()
    old, new = (
        msgspec.json.decode(msgspec.json.encode(one).replace(b"WAY", called.encode()), type=Spec)
        for one in (old, new)
    )
    route = thing(resource, "shop-members", "prod", owners=[owner(DATABASE)])
    database = Database()
    database.view = GraphView(graph_of(DATABASE, PROXY, MEMBERS, route), History())
    database.rewrite({**ON, **old}, {**ON, **new})
    assert database.explained(route) == explained
    assert database.explained(MEMBERS[0]) == 0
    database.rewrite({**ON, **new}, {**ON, **old})
    if explained:
        assert database.explained(route) == 0


OUTER = thing(
    SERVICES, "shop-ext", "prod", owners=[owner(DATABASE)],
    facts=ServiceFacts(Selector.of({"part": "members"}), "LoadBalancer"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({"expose": {"type": "LoadBalancer"}}, {}, 1, id="taken out"),
        pytest.param(
            {"externalAccess": {"enabled": True}}, {"externalAccess": {"enabled": False}}, 1,
            id="switched off",
        ),
        pytest.param({"expose": {"type": "LoadBalancer"}}, {"expose": {"port": 5}}, 0, id="stays"),
        pytest.param({"backup": {"keep": "7d"}}, {}, 0, id="another part"),
    ],
)  # fmt: skip
def test_a_further_way_to_the_same_pods(old: Spec, new: Spec, explained: int) -> None:
    """It is called after what it exposes; the pods are reached as before from within."""
    database = Database()
    database.view = GraphView(graph_of(DATABASE, PROXY, MEMBERS, OUTER), History())
    database.rewrite({**ON, **old}, {**ON, **new})
    assert database.explained(OUTER) == explained
    assert database.explained(MEMBERS[0]) == 0


def test_a_further_way_that_is_wanted_again_or_is_the_only_one() -> None:
    """What was left out and is there again says nothing; the only way to pods is no further one."""
    exposed: Spec = {**ON, "expose": {"type": "LoadBalancer"}}
    database = Database()
    database.view = GraphView(graph_of(DATABASE, PROXY, MEMBERS, OUTER), History())
    database.rewrite(exposed, ON)
    database.rewrite(ON, exposed)
    assert database.explained(OUTER) == 0
    database.view = GraphView(graph_of(DATABASE, PROXY, MEMBERS[:2], OUTER), History())
    database.rewrite(exposed, ON)
    assert database.explained(OUTER) == 0


def test_an_owner_that_does_not_call_itself_the_controller() -> None:
    """It has left the part out all the same: the part's pods go, and those of another stay."""
    parts = [
        (
            made := thing(SETS, f"shop-{name}", "prod", owners=[owner(DATABASE, controller=False)]),
            thing(PODS, f"shop-{name}-0", "prod", owners=[owner(made)], facts=PodFacts(ready=True)),
        )
        for name in ("proxy", "members")
    ]
    database = Database()
    database.view = GraphView(graph_of(DATABASE, *parts), History())
    database.rewrite(ON, {"monitoring": ON["monitoring"]})
    proxy, members = ([database.explained(one) for one in part] for part in parts)
    assert (proxy, members) == ([1, 1], [0, 0])


@pytest.mark.parametrize(
    ("label", "off", "explained"),
    [
        ("db.example.com/component", "connectionPooler", 1),
        ("application", "connectionPooler", 1),
        ("application", "monitoring", 0),
        ("note", "connectionPooler", 0),
    ],
)
def test_a_part_that_only_a_label_calls_as_its_parent_does(
    label: str, off: str, explained: int
) -> None:
    """Of what is called `pooler` a label says that it is the connection pooler."""
    labels = {label: "db-connection-pooler"}
    facts = WorkloadFacts(2, Selector.of(labels))
    pooler = thing(
        STATEFUL_SETS, "shop-pooler", "prod", owners=[owner(DATABASE)], labels=labels, facts=facts
    )
    database = Database()
    database.view = GraphView(graph_of(DATABASE, pooler), History())
    both: Spec = {"connectionPooler": {"enabled": True}, "monitoring": {"enabled": True}}
    database.rewrite(both, {**both, off: {"enabled": False}})
    assert database.explained(pooler) == explained


def node_set(name: str, *, there: bool = True, used: bool = True) -> list[ClusterObject]:
    """Return a set of one member, with a claim of the database that its pod uses, or nobody."""
    facts = PodFacts(ready=True, node="node-1")
    mounts = Need(Edge.CLAIM, ObjectKey(CLAIMS, "prod", f"data-shop-{name}-0"))
    pod = msgspec.structs.replace(
        thing(PODS, f"shop-{name}-0", "prod", facts=facts), needs=(mounts,)
    )
    claim = thing(
        CLAIMS, f"data-shop-{name}-0", "prod", owners=[owner(DATABASE)],
        facts=ClaimFacts(bound=True, volume=f"pv-{name}"),
    )  # fmt: skip
    root = thing(STATEFUL_SETS, f"shop-{name}", "prod", facts=WorkloadFacts(0, Selector.of({})))
    return [claim, *([root] if there else []), *([pod] if used else [])]


HOT_AND_COLD: Spec = {"nodeSets": [{"name": "hot", "count": 1}, {"name": "cold", "count": 1}]}
HOT: Spec = {"nodeSets": [{"name": "hot", "count": 1}]}
DATA_TOO: Spec = {"nodeSets": [{"name": "hot", "count": 1}, {"name": "data", "count": 1}]}


@pytest.mark.parametrize(
    ("old", "cold", "hot", "explained"),
    [
        pytest.param(
            HOT_AND_COLD, node_set("cold", there=False, used=False), node_set("hot"), 1,
            id="set aside",
        ),
        pytest.param(
            HOT_AND_COLD, node_set("cold", there=False), node_set("hot"), 0, id="still used"
        ),
        pytest.param(
            HOT_AND_COLD, node_set("cold", used=False), node_set("hot"), 0, id="its set is there"
        ),
        pytest.param(
            HOT_AND_COLD, node_set("cold", there=False, used=False), node_set("hot", used=False), 0,
            id="no other in use",
        ),
        pytest.param(
            DATA_TOO, node_set("cold", there=False, used=False), node_set("hot"), 0,
            id="the volume is called as the part",
        ),
    ],
)  # fmt: skip
def test_claims_of_a_part_that_was_emptied(
    old: Spec, cold: list[ClusterObject], hot: list[ClusterObject], explained: int
) -> None:
    """What was in them is with the members that stay; a claim in use is data, whoever left it."""
    database = Database()
    database.view = GraphView(graph_of(DATABASE, cold, hot), History())
    database.rewrite(old, HOT)
    set_of_cold = ObjectKey(STATEFUL_SETS, "prod", "shop-cold")
    for size in (1, 0):
        database.view.history.writes.note(set_of_cold, Deed(What.SCALED, "operator", size), START)
    assert [database.explained(one) for one in (cold[0], hot[0])] == [explained, 0]


@pytest.mark.parametrize(
    ("size", "controls", "explained"),
    [
        pytest.param(0, True, 1, id="empty"),
        pytest.param(0, False, 1, id="owned-and-not-controlled"),
        pytest.param(1, True, 0, id="wants-its-pod"),
    ],
)
def test_the_last_claim_of_a_part_goes_before_its_set(
    size: int, *, controls: bool, explained: int
) -> None:
    """Member by member: the set is of no size then, and what it is for was left out."""
    cold, hot = node_set("cold", there=False, used=False), node_set("hot")
    facts = WorkloadFacts(size, Selector.of({"set": "cold"}))
    root = thing(STATEFUL_SETS, "shop-cold", "prod", owners=[owner(DATABASE)], facts=facts)
    claims = [
        msgspec.structs.replace(one, owners=(owner(DATABASE, controller=controls),))
        for one in (cold[0], hot[0])
    ]
    database = Database()
    database.view = GraphView(graph_of(DATABASE, root, claims, hot[1:]), History())
    database.rewrite(HOT_AND_COLD, HOT)
    assert database.explained(claims[0]) == explained


@pytest.mark.parametrize("sizes", [(), (1,), (0, 1)], ids=["none", "smaller", "back"])
def test_claims_of_a_part_whose_set_was_taken_away_at_once(sizes: tuple[int, ...]) -> None:
    """The twin: nobody has moved what they hold."""
    cold, hot = node_set("cold", there=False, used=False), node_set("hot")
    database = Database()
    database.view = GraphView(graph_of(DATABASE, cold, hot), History())
    database.rewrite(HOT_AND_COLD, HOT)
    set_of_cold = ObjectKey(STATEFUL_SETS, "prod", "shop-cold")
    for size in sizes:
        database.view.history.writes.note(set_of_cold, Deed(What.SCALED, "operator", size), START)
    assert database.explained(cold[0]) == 0


@pytest.mark.parametrize(
    ("later", "used", "explained"),
    [
        pytest.param(TEN_MINUTES_S, True, 1, id="put in its place"),
        pytest.param(TEN_MINUTES_S - 1, True, 0, id="put there just now"),
        pytest.param(TEN_MINUTES_S, False, 0, id="used by nobody"),
    ],
)
def test_a_claim_of_a_part_in_whose_place_another_was_put(
    later: int, explained: int, *, used: bool
) -> None:
    """Of members that another set has taken over from, one claim goes for each at work.

    Such a claim is called after the member that uses it.
    """
    cold, second = (
        thing(
            CLAIMS, f"shop-cold-{number}-data", "prod", owners=[owner(DATABASE)],
            facts=ClaimFacts(bound=True, volume=f"pv-{number}"),
        )
        for number in "ab"
    )  # fmt: skip
    claim, *hot = node_set("hot", used=used)
    new = replace(claim, created=cold.created + later)
    database = Database()
    for parts, told in (((cold, new, hot), explained), ((cold, second, new, hot), 0)):
        database.view = GraphView(graph_of(DATABASE, *parts), History())
        database.rewrite(HOT_AND_COLD, HOT)
        assert database.explained(cold) == told


def of_part(name: str, *, used: bool = True) -> list[ClusterObject]:
    """Return a claim that a label says to be of a part, and a Ready pod that uses it."""
    claim, *rest = node_set(name, there=False, used=used)
    return [replace(claim, labels={"set": name}, created=START.utc_s), *rest]


@pytest.mark.parametrize(
    ("cold", "hot", "by", "explained"),
    [
        pytest.param(of_part("cold", used=False), of_part("hot"), PERSON, 1, id="taken over"),
        pytest.param(of_part("cold"), of_part("hot"), PERSON, 0, id="still used"),
        pytest.param(
            of_part("cold", used=False), of_part("hot", used=False), PERSON, 0,
            id="no other in use",
        ),
        pytest.param(of_part("cold", used=False), of_part("hot"), None, 0, id="by a machine"),
        pytest.param(
            [replace(one, labels={"set": "x"}) for one in of_part("cold", used=False)],
            of_part("hot"), PERSON, 0, id="of another part",
        ),
        pytest.param(of_part("cold", used=False), [], PERSON, 0, id="there is no other"),
    ],
)  # fmt: skip
def test_claims_of_a_part_that_a_person_takes_out(
    cold: list[ClusterObject], hot: list[ClusterObject], by: Actor | None, explained: int
) -> None:
    """They are called by a label; the others have what was in them, as long as each is at work."""
    database = Database()
    database.view = GraphView(graph_of(DATABASE, cold, hot), History())
    database.rewrite(HOT_AND_COLD, HOT, by)
    assert database.explained(cold[0], START.plus_s(60)) == explained
    database.rewrite(HOT, HOT_AND_COLD, by)
    assert database.explained(cold[0], START.plus_s(60)) == 0


def test_claims_of_a_part_in_whose_place_a_person_puts_another_at_once() -> None:
    """The new one has yet to get what is in them, whether or not it is at work already."""
    cold, hot = of_part("cold", used=False), of_part("hot")
    database = Database()
    database.view = GraphView(graph_of(DATABASE, cold, hot), History())
    database.rewrite({"nodeSets": [{"name": "cold", "count": 1}]}, HOT, PERSON)
    assert database.explained(cold[0], START.plus_s(60)) == 0


@pytest.mark.parametrize(
    ("size", "sets", "owned", "last"),
    [
        pytest.param(0, ["hot"], True, False, id="the set has handed on what it held"),
        pytest.param(0, ["default", "hot"], True, True, id="it is only stopped"),
        pytest.param(1, ["hot"], True, True, id="it is left out and still wants its pod"),
        pytest.param(0, ["hot"], False, True, id="nothing ties its claim to the other set"),
    ],
)
def test_the_last_claim_of_a_set_that_another_took_the_place_of(
    *, size: int, sets: list[str], owned: bool, last: bool
) -> None:
    """A set of nodes got another name: the old one is emptied, and loses its claims, then goes."""
    things = [DATABASE]
    for name, wants in (("default", size), ("hot", 1)):
        called = f"shop-{name}"
        facts = WorkloadFacts(wants, Selector.of({"set": name}))
        things += [
            thing(STATEFUL_SETS, called, "prod", owners=[owner(DATABASE)], facts=facts),
            thing(
                CLAIMS, f"data-{called}-0", "prod", owners=[owner(DATABASE)] if owned else [],
                facts=ClaimFacts(bound=True, volume=f"pv-{name}"),
            ),
        ]  # fmt: skip
    database = Database()
    database.view = GraphView(graph_of(*things), History())
    before, after = ([{"name": one, "count": 1} for one in some] for some in (["default"], sets))
    database.rewrite({"sets": before}, {"sets": after})
    going = next(one for one in things if one.key.name == "data-shop-default-0")

    (lost,) = effects(impact_of(delete(going), database.view), DataLost)
    assert lost.last_copy == last


def test_a_part_of_what_only_labels_name() -> None:
    """Some operators own nothing that they make, and say by a pair of labels of what it is."""
    pair = "install.db.example.com/owning-resource"
    labels = {pair: DATABASE.key.name, f"{pair}-namespace": DATABASE.key.namespace}
    proxy = thing(
        DEPLOYMENTS, "shop-proxy", "prod", labels=labels,
        facts=WorkloadFacts(2, Selector.of({"part": "proxy"})),
    )  # fmt: skip
    database = Database()
    defined = thing(CRDS, str(DATABASES), facts=CrdFacts(DATABASES, "Database", namespaced=True))
    database.view = GraphView(graph_of(DATABASE, defined, proxy), History())
    assert database.explained(proxy) == 0
    database.rewrite(ON, {**ON, "proxy": {"enabled": False}})
    assert database.explained(proxy) == 1
