"""What objects without an owner say of their parent by labels, a pair from another namespace."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, service, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, CRDS, GATEWAYS, INGRESSES, NODES, PODS, SERVICES, Resource
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CrdFacts,
    NodeFacts,
    OwnerReference,
    PodFacts,
)


def pair(stem: str, group: str = "edge.example.com/", kind: str = "-name") -> dict[str, str]:
    return {f"{group}{stem}{kind}": "web", f"{group}{stem}-namespace": "shop"}


PAIR = pair("owning-gateway")
TUNNELS = Resource("edge.example.com", "bluetunnels")
GATEWAY = thing(GATEWAYS, "web", "shop")
OTHER = thing(Resource("edge.example.com", "fleets"), "all")


def front(
    labels: Mapping[str, str] = PAIR, owners: tuple[OwnerReference, ...] = ()
) -> ClusterObject:
    return msgspec.structs.replace(service("proxy"), labels=labels, owners=owners)


POD = thing(PODS, "proxy-0", "prod", labels={"app": "proxy"}, facts=PodFacts(ready=True))


def world(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(POD, *things), History())


def told(view: GraphView, one: ClusterObject) -> tuple[int, int]:
    """Return how many are explained and wanted when a Service in use is deleted."""
    (effect,) = effects(impact_of(delete(one), view), ObjectsRemoved)
    assert (effect.resource, effect.in_use) == (str(SERVICES), 1)
    return effect.explained, effect.wanted


def test_what_a_living_parent_in_another_namespace_is_known_by_is_wanted() -> None:
    """A gateway's proxy stands where its controller does, so that no owner can say whose it is."""
    assert told(world(GATEWAY, front()), front()) == (0, 1)


def test_what_belonged_to_a_parent_that_goes_or_went_may_go() -> None:
    """The twin: terminating under a finalizer, or seen to go."""
    going = msgspec.structs.replace(GATEWAY, deleted=1.0)
    assert told(world(going, front()), front()) == (1, 0)
    view = world(front())
    assert told(view, front()) == (0, 0)
    view.history.note_removed(GATEWAY.uid, GATEWAY.key, START)
    assert told(view, front()) == (1, 0)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(pair("blue-tunnel", kind=""), id="kind-alone"),
        pytest.param(pair("for-blue-tunnel"), id="two-words"),
    ],
)  # fmt: skip
def test_types_of_the_labels_own_group_are_meant(labels: dict[str, str]) -> None:
    """Whatever stands before the kind."""
    assert told(world(thing(TUNNELS, "web", "shop"), front(labels)), front(labels)) == (0, 1)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param({**PAIR, "edge.example.com/owning-gateway-namespace": "other"}, id="elsewhere"),
        pytest.param({"edge.example.com/owning-gateway-name": "web"}, id="no-pair"),
        pytest.param(pair("owning-gateway", ""), id="no-group"),
        pytest.param(pair("blue-tunnel", "x.example.com/"), id="another-group"),
    ],
)  # fmt: skip
def test_other_labels_name_no_parent(labels: dict[str, str]) -> None:
    """Nor what is not there, nor a type of another group."""
    view = world(GATEWAY, thing(TUNNELS, "web", "shop"), front(labels))
    assert told(view, front(labels)) == (0, 0)


MESHES = Resource("install.mesh.example", "meshes")
MESH = thing(MESHES, "web", "shop")
DEFINED = thing(CRDS, str(MESHES), facts=CrdFacts(MESHES, "Mesh", namespaced=True))


@pytest.mark.parametrize(
    ("labels", "parent"),
    [
        pytest.param(pair("owning-resource", "install.operator.mesh.example/", ""), MESH, id="whose"),
        pytest.param(pair("owner", "mesh.example/"), MESH, id="owner"),
        pytest.param(
            pair("stack", "ingress.k8s.cloud.example/"), thing(INGRESSES, "web", "shop"),
            id="ingress",
        ),
        pytest.param(
            pair("stack", "service.k8s.cloud.example/"), thing(SERVICES, "web", "shop"),
            id="service",
        ),
    ],
)  # fmt: skip
def test_a_pair_may_say_whose_and_of_no_kind(labels: dict[str, str], parent: ClusterObject) -> None:
    """A type of the same domain, or what the group begins with: wanted, and explained once gone."""
    assert told(world(DEFINED, parent, front(labels)), front(labels)) == (0, 1)
    going = msgspec.structs.replace(parent, deleted=1.0)
    assert told(world(DEFINED, going, front(labels)), front(labels)) == (1, 0)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(pair("policy", "generate.mesh.example/"), id="not-whose"),
        pytest.param(pair("owning-resource", "install.other.example/", ""), id="another-domain"),
    ],
)
def test_a_pair_that_does_not_say_whose_names_nobody(labels: dict[str, str]) -> None:
    """What made an object at some time may be named as well, and does not ask for it."""
    assert told(world(DEFINED, MESH, front(labels)), front(labels)) == (0, 0)


BESIDE = {"edge.example.com/blue-tunnel": "web"}


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(BESIDE, id="kind"),
        pytest.param({"edge.example.com/blueTunnel": "web"}, id="as Go writes it"),
        pytest.param({"edge.example.com/for-blue-tunnel-name": "web"}, id="name"),
    ],
)
def test_a_parent_in_the_same_namespace_needs_one_label(labels: dict[str, str]) -> None:
    """Children that an operator finds by label alone: of a living parent, and of one that went."""
    parent = thing(TUNNELS, "web", "prod")
    assert told(world(parent, front(labels)), front(labels)) == (0, 1)
    going = msgspec.structs.replace(parent, deleted=1.0)
    assert told(world(going, front(labels)), front(labels)) == (1, 0)
    view = world(front(labels))
    view.history.note_removed(parent.uid, parent.key, START)
    assert told(view, front(labels)) == (1, 0)


LAST_WORD = {"edge.example.com/tunnel": "web"}
DEFINED_TUNNELS = thing(CRDS, str(TUNNELS), facts=CrdFacts(TUNNELS, "BlueTunnel", namespaced=True))


def test_a_label_may_say_the_last_word_of_a_kind() -> None:
    """As `…/cluster` does of one whose kind says of what; of that group, and there, alone."""
    parent = thing(TUNNELS, "web", "prod")
    assert told(world(DEFINED_TUNNELS, parent, front(LAST_WORD)), front(LAST_WORD)) == (0, 1)
    going = msgspec.structs.replace(parent, deleted=1.0)
    assert told(world(DEFINED_TUNNELS, going, front(LAST_WORD)), front(LAST_WORD)) == (1, 0)
    for label in ("mesh.example.com/tunnel", "edge.example.com/blue"):
        other = {label: "web"}
        assert told(world(DEFINED_TUNNELS, parent, front(other)), front(other)) == (0, 0)


@pytest.mark.parametrize(
    ("parent", "labels"),
    [
        pytest.param(thing(TUNNELS, "web", "shop"), BESIDE, id="another namespace"),
        pytest.param(thing(TUNNELS, "other", "prod"), BESIDE, id="another name"),
        pytest.param(thing(TUNNELS, "web"), BESIDE, id="in no namespace"),
        pytest.param(
            thing(TUNNELS, "web", "prod"), {"edge.example.com/owner": "web"}, id="another word"
        ),
    ],
)
def test_one_label_that_names_no_parent(parent: ClusterObject, labels: dict[str, str]) -> None:
    """It has to be of the kind, the name and the namespace."""
    assert told(world(parent, front(labels)), front(labels)) == (0, 0)


@pytest.mark.parametrize(
    ("parent", "label"),
    [
        pytest.param(thing(TUNNELS, "web", "prod"), "owner", id="owner"),
        pytest.param(thing(TUNNELS, "web", "prod"), "name", id="name"),
        pytest.param(thing(TUNNELS, "web"), "instance-name", id="in no namespace"),
        pytest.param(thing(TUNNELS, "web"), "blue-tunnel", id="its kind, in no namespace"),
    ],
)
def test_of_what_went_a_loose_label_is_enough(parent: ClusterObject, label: str) -> None:
    """Operators find their children by labels of their own; a living parent is none by these."""
    one = front({f"edge.example.com/{label}": "web"})
    assert told(world(parent, one), one) == (0, 0)
    assert told(world(msgspec.structs.replace(parent, deleted=1.0), one), one) == (1, 0)
    view = world(thing(TUNNELS, "another", parent.key.namespace), one)
    assert told(view, one) == (0, 0)
    view.history.note_removed(parent.uid, parent.key, START)
    assert told(view, one) == (1, 0)


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(thing(TUNNELS, "web", "prod"), id="made anew"),
        pytest.param(
            thing(Resource("edge.example.com", "ponds"), "web", "prod"), id="of another type"
        ),
    ],
)
def test_a_loose_label_that_may_mean_what_lives_explains_nothing(beside: ClusterObject) -> None:
    """The name is there again, or was of two at once."""
    one = front({"edge.example.com/owner": "web"})
    gone = thing(TUNNELS, "web", "prod")
    view = world(beside, one)
    view.history.note_removed("before", gone.key, START)
    assert told(view, one) == (0, 0)


def test_data_and_what_is_in_no_namespace_stay_by_a_loose_label() -> None:
    """A claim outlives its database, and a node its pool."""
    labels = {"edge.example.com/owner": "web"}
    gone = thing(TUNNELS, "web")
    for one in (
        thing(CLAIMS, "data", "prod", labels=labels, facts=ClaimFacts(bound=True, volume="v")),
        thing(NODES, "node-1", labels=labels, facts=NodeFacts(ready=True)),
    ):
        view = world(thing(TUNNELS, "another"), one)
        view.history.note_removed(gone.uid, gone.key, START)
        (effect,) = effects(impact_of(delete(one), view), ObjectsRemoved)
        assert effect.explained == 0


def test_an_owner_says_more_than_labels() -> None:
    """What has one goes with that one, and is asked for by it."""
    one = front(owners=(owner(OTHER, controller=False),))
    view = world(OTHER, one)
    view.history.note_removed(GATEWAY.uid, GATEWAY.key, START)
    assert told(view, one) == (0, 1)


def test_a_parent_that_was_written_lately_may_want_another() -> None:
    """Its class, or what it listens on: what serves it changes with it."""
    view = world(GATEWAY, front())
    request = update(GATEWAY, msgspec.structs.replace(GATEWAY, labels={"class": "other"}))
    remember(request, project(request, view), view, START)
    assert told(view, front()) == (0, 0)


def test_more_than_a_few_are_asked_alike() -> None:
    """A collection of what one gateway had: explained each, or wanted each."""
    many = [
        msgspec.structs.replace(service(f"proxy-{at}"), labels={**PAIR, "app": f"{at}"})
        for at in range(12)
    ]
    for parents, expected in (([GATEWAY], (0, 12)), ([], (12, 0))):
        view = world(*parents, *many)
        if not parents:
            view.history.note_removed(GATEWAY.uid, GATEWAY.key, START)
        rows = tuple(row for one in many if (row := view.find(one.key)) is not None)
        request = delete(many[0])
        change = msgspec.structs.replace(project(request, view), direct=rows)
        impact = estimate(request, change, view, operator(), {"objects_removed"}, now=START)
        (effect,) = effects(impact, ObjectsRemoved)
        assert (effect.explained, effect.wanted) == expected


@pytest.mark.parametrize(("by", "explained"), [("operator", 0), ("owner@example.com", 1)])
def test_an_end_that_the_actor_brought_about_itself_explains_nothing(
    by: str, explained: int
) -> None:
    """Else who deletes parents by mistake might go on with all that is labelled after them."""
    parent, one = thing(TUNNELS, "web", "prod"), front({"edge.example.com/owner": "web"})
    view = world(parent, one)
    first, second = delete(parent, by=operator(by)), delete(one, by=operator("operator"))
    remember(first, project(first, view), view, START)
    view.history.note_removed(parent.uid, parent.key, START)
    after = GraphView(graph_of(POD, thing(TUNNELS, "another", "prod"), one), view.history)
    asked = impact_of(second, after, now=START, by=operator("operator"))
    (effect,) = effects(asked, ObjectsRemoved)
    assert effect.explained == explained


@pytest.mark.parametrize(
    "label", ["edge.example.com/blue-tunnel", "edge.example.com/owner"], ids=["kind", "loose"]
)
@pytest.mark.parametrize(
    ("ended", "left", "explained"),
    [
        pytest.param(5, 1, 1, id="a few"),
        pytest.param(6, 7, 1, id="the lesser part"),
        pytest.param(6, 6, 0, id="most"),
    ],
)
def test_where_most_parents_went_they_explain_nothing(
    label: str, ended: int, left: int, explained: int
) -> None:
    """All pruned by an error: what their operator clears away after them is weighed there."""
    one = front({label: "web"})
    gone = [thing(TUNNELS, name, "prod") for name in ("web", *map(str, range(1, ended)))]
    rest = [thing(TUNNELS, f"stays-{at}", "prod") for at in range(left)]
    view = world(*gone, *rest, one)
    for parent in gone:
        request = delete(parent, by=operator("pruner"))
        remember(request, project(request, view), view, START)
        view.history.note_removed(parent.uid, parent.key, START)
    after = GraphView(graph_of(POD, *rest, one), view.history)
    (effect,) = effects(impact_of(delete(one), after, now=START), ObjectsRemoved)
    assert effect.explained == explained


JOINTS = Resource("joints.mesh.example.com", "joints")
JOINT = thing(JOINTS, "west", "lb")
MIRRORED = front({"mirror.mesh.example.com/cluster-name": "west"})


def explained_by(account: str, *there: ClusterObject, ended_by: str = "admin@example.com") -> int:
    """Return how many are explained when an account deletes what is kept for a joint that went."""
    facts = CrdFacts(JOINTS, "Joint", namespaced=True)
    things = (thing(CRDS, str(JOINTS), facts=facts), MIRRORED, *there)
    first = delete(JOINT, by=operator(ended_by))
    view = world(*things, JOINT)
    remember(first, project(first, view), view, START)
    view.history.note_removed(JOINT.uid, JOINT.key, START)
    by = operator(account)
    asked = impact_of(
        delete(MIRRORED, by=by), GraphView(graph_of(POD, *things), view.history), by=by
    )
    (effect,) = effects(asked, ObjectsRemoved)
    return effect.explained


def test_what_was_kept_for_a_joint_of_the_own_namespace_may_go_after_it() -> None:
    """Of a group beside that of the label, and wherever it is."""
    assert explained_by("system:serviceaccount:lb:mirror") == 1


@pytest.mark.parametrize(
    ("account", "there", "ended_by"),
    [
        pytest.param("system:serviceaccount:other:mirror", (), "admin@example.com", id="elsewhere"),
        pytest.param("admin@example.com", (), "other@example.com", id="a person's"),
        pytest.param(
            "system:serviceaccount:lb:mirror", (), "system:serviceaccount:lb:mirror", id="its own"
        ),
        pytest.param("system:serviceaccount:lb:mirror", (JOINT,), "admin@example.com", id="anew"),
    ],
)
def test_a_joint_that_says_nothing(
    account: str, there: tuple[ClusterObject, ...], ended_by: str
) -> None:
    """Of another namespace, ended by who asks, or there again."""
    assert explained_by(account, *there, ended_by=ended_by) == 0


def test_a_joint_that_stays_is_no_cause() -> None:
    """The incident: it takes what it keeps for leftovers."""
    facts = CrdFacts(JOINTS, "Joint", namespaced=True)
    view = world(thing(CRDS, str(JOINTS), facts=facts), MIRRORED, JOINT)
    assert told(view, MIRRORED)[0] == 0
