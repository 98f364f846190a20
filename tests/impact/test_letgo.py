"""Namespaces that a person takes from another one, and what was kept there for that."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, namespace, operator, thing, workload
from support.cluster import view_of as cluster_of
from support.writes import Body, body, trimmed, write
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved, PrivilegeLost
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    CLUSTER_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject

API = "rbac.authorization.k8s.io"
TREES = Resource("tree.example.com", "trees")
PERSON = Actor(UserInfo("admin@example.com"), "admin", IdentityKind.PERSON, Stage.ENFORCE)
TOOL = operator("system:serviceaccount:ops:tool")
NOW = START.plus_s(48 * 3600)


def child(parent: str) -> Body:
    """Make what says in a namespace which its parent is."""
    return body("Tree", "tree", "team", apiVersion="tree.example.com/v1", spec={"parent": parent})


def labelled(**labels: str) -> Body:
    """Make a namespace that a tool finds by a label."""
    return body("Namespace", "team", "", metadata={"labels": labels, "uid": "uid:namespaces:/team"})


def binding(*subjects: dict[str, str]) -> ClusterObject:
    """Make a binding in the namespace, for whom it is."""
    return trimmed(
        ROLE_BINDINGS,
        body(
            "RoleBinding",
            "deployer",
            "team",
            apiVersion=f"{API}/v1",
            roleRef={"apiGroup": API, "kind": "ClusterRole", "name": "edit"},
            subjects=list(subjects),
        ),
    )


OF_ORG = {"kind": "ServiceAccount", "namespace": "org", "name": "web"}
OF_NEXT = {"kind": "ServiceAccount", "namespace": "next", "name": "web"}
GROUP = {"kind": "Group", "apiGroup": API, "name": "developers"}


def world(*things: ClusterObject) -> GraphView:
    """Make namespaces, one of which works in the others, and what runs there."""
    rules = [{"verbs": ["update"], "apiGroups": ["apps"], "resources": ["deployments"]}]
    role = body("ClusterRole", "edit", "", apiVersion=f"{API}/v1", rules=rules)
    account = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "org", "web"))
    running = [msgspec.structs.replace(one, needs=(account,)) for one in workload("web", "org")]
    homes = [namespace("org"), namespace("next"), namespace("team")]
    return cluster_of(homes, trimmed(CLUSTER_ROLES, role), running, *things)


def wrote(
    view: GraphView, kind: Resource, old: Body, new: Body, by: Actor = PERSON, ago_s: float = 60
) -> None:
    request = write(kind, old, new, by=by)
    remember(request, project(request, view), view, NOW.plus_s(-ago_s))


def counts(view: GraphView, copy: ClusterObject) -> bool:
    (effect,) = effects(impact_of(delete(copy, by=TOOL), view, now=NOW, by=TOOL), ObjectsRemoved)
    return effect.counted > 0


COPY = thing(ROLE_BINDINGS, "a", "team", labels={"tree.example.com/inherited-from": "org"})
ORIGINAL = thing(ROLE_BINDINGS, "a", "org")
TREE = thing(TREES, "tree", "team")


def test_copies_of_a_former_parent_are_nobodys() -> None:
    """A person writes another parent into the resource by which a tool copies."""
    view = world(COPY, ORIGINAL, TREE)
    assert counts(view, COPY)
    wrote(view, TREES, child("org"), child("next"))
    assert not counts(view, COPY)
    wrote(view, TREES, child("next"), child("org"), ago_s=30)
    assert counts(view, COPY)


@pytest.mark.parametrize(
    ("old", "new", "by", "ago_s"),
    [
        pytest.param("next", "other", PERSON, 60, id="another-parent-went"),
        pytest.param("org", "next", TOOL, 60, id="by-a-machine"),
        pytest.param("org", "next", PERSON, 4000, id="long-ago"),
        pytest.param("org", "org", PERSON, 60, id="the-same"),
    ],
)
def test_otherwise_they_count(old: str, new: str, by: Actor, ago_s: float) -> None:
    """Nobody has taken the namespace from the one that has the original."""
    view = world(COPY, ORIGINAL, TREE)
    wrote(view, TREES, child(old), child(new), by, ago_s)
    assert counts(view, COPY)


def passes(view: GraphView, one: ClusterObject) -> bool:
    impact = impact_of(delete(one, by=TOOL), view, now=NOW, by=TOOL)
    return all(lost.explained for lost in effects(impact, PrivilegeLost))


def test_what_a_tool_may_do_in_a_namespace_that_was_taken_from_it_goes() -> None:
    """The label by which it worked there is taken off, and its rights follow."""
    one = binding(OF_ORG)
    view = world(one)
    assert not passes(view, one)
    wrote(view, NAMESPACES, labelled(by="org"), labelled())
    assert passes(view, one)


@pytest.mark.parametrize(
    ("one", "old", "by"),
    [
        pytest.param(binding(OF_ORG), labelled(by="next"), PERSON, id="from-another"),
        pytest.param(binding(OF_ORG), labelled(by="org"), TOOL, id="by-a-machine"),
        pytest.param(binding(OF_ORG, OF_NEXT), labelled(by="org"), PERSON, id="others-too"),
        pytest.param(binding(OF_ORG, GROUP), labelled(by="org"), PERSON, id="a-group-too"),
    ],
)
def test_the_rights_of_others_stay(one: ClusterObject, old: Body, by: Actor) -> None:
    """What it does not name is none of what was taken from it."""
    view = world(one)
    wrote(view, NAMESPACES, old, labelled(), by)
    assert not passes(view, one)


def tool(*namespaces: str, also: tuple[str, ...] = ()) -> Body:
    """Make what lists the namespaces in which its tool works, and those of a part of it."""
    spec = {"sourceNamespaces": list(namespaces), "sets": {"namespaces": list(also)}}
    return body("Tree", "tool", "org", apiVersion="tree.example.com/v1", spec=spec)


TOOL_OF_ORG = thing(TREES, "tool", "org")


@pytest.mark.parametrize(
    ("old", "new", "by", "goes"),
    [
        pytest.param(tool("team", "next"), tool("next"), PERSON, True, id="one-less"),
        pytest.param(tool(also=("team",)), tool(), PERSON, True, id="of-a-part"),
        pytest.param(tool("team", also=("team",)), tool("team"), PERSON, False, id="listed-yet"),
        pytest.param(tool("team", "next"), tool("team"), PERSON, False, id="another"),
        pytest.param(tool("team"), tool(), TOOL, False, id="by-a-machine"),
    ],
)
def test_a_namespace_that_a_tool_lists_no_more(
    old: Body, new: Body, by: Actor, *, goes: bool
) -> None:
    """What it may do there goes, and nothing else."""
    one = binding(OF_ORG)
    view = world(one, TOOL_OF_ORG)
    wrote(view, TREES, old, new, by)
    assert passes(view, one) is goes


def test_a_tool_stays_at_home_though_it_lists_its_home_no_more() -> None:
    """Its rights where it runs itself were not given up with what it works for there."""
    own = msgspec.structs.replace(binding(OF_ORG), key=ObjectKey(ROLE_BINDINGS, "org", "deployer"))
    view = world(own, TOOL_OF_ORG)
    wrote(view, TREES, tool("org", "team"), tool("team"))
    assert not passes(view, own)
