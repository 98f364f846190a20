"""Custom resources that stand for one pod or node: its own, of its name, wanted while it is up."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, thing, view_of
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.facts import RoleBindingFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLUSTER_ROLE_BINDINGS, CONFIG_MAPS, NODES, PODS, Resource
from suture.model.objects import ClusterObject, NodeFacts, PodFacts
from suture.model.placement import Taint

ENDPOINTS = Resource("mesh.example.com", "networkendpoints")
CONTEXTS = Resource("resource.k8s.io", "podschedulingcontexts")


def pod(name: str = "p-0", *, ready: bool = True, finished: bool = False) -> ClusterObject:
    facts = PodFacts(ready=ready, finished=finished)
    return thing(PODS, name, "shop", facts=facts)


def standing(of: ClusterObject, kind: Resource = ENDPOINTS, name: str = "p-0") -> ClusterObject:
    return thing(kind, name, "shop", owners=[owner(of, controller=False)])


def removed(one: ClusterObject, *others: ClusterObject, closed: str = "") -> tuple[int, int]:
    """Return how many are wanted and in use when one object is deleted."""
    history = History()
    if closed:
        history.writes.note_closed(closed, START)
    view, request = GraphView(graph_of(one, others), history), delete(one)
    change = project(request, view)
    impact = estimate(request, change, view, operator(), {"objects_removed"}, now=START)
    (effect,) = [each for each in impact.effects if isinstance(each, ObjectsRemoved)]
    return effect.wanted, effect.in_use


def test_what_stands_for_a_ready_pod_is_wanted_and_in_use() -> None:
    """Whoever made it: the pod that owns it is there, by uid."""
    assert removed(standing(pod()), pod()) == (1, 1)


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(pod(ready=False), id="not-ready"),
        pytest.param(pod(ready=False, finished=True), id="finished"),
        pytest.param(
            thing(PODS, "p-0", "shop", facts=PodFacts(ready=True), deleted=1.0), id="going"
        ),
    ],
)
def test_a_pod_that_does_not_serve_needs_no_stand_in(of: ClusterObject) -> None:
    """Its end is what the object is cleared away for."""
    assert removed(standing(of), of) == (0, 0)


def test_a_namesake_that_is_not_the_owner_says_nothing() -> None:
    """The owner was an earlier pod of that name, or is something else."""
    earlier = thing(CONFIG_MAPS, "p-0", "shop")

    assert removed(standing(earlier), pod(), earlier) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "name"), [(ENDPOINTS, "p-0-report"), (CONTEXTS, "p-0"), (CONFIG_MAPS, "p-0")]
)
def test_other_things_that_a_pod_owns_are_not_it(kind: Resource, name: str) -> None:
    """Reports of it, what the control plane keeps of it, and what it reads."""
    assert removed(standing(pod(), kind, name), pod()) == (0, 0)


def test_a_pod_takes_its_stand_in_along() -> None:
    """Then nothing is there that would want it."""
    of = pod()
    view, request = view_of(of, standing(of)), delete(of)
    impact = estimate(request, project(request, view), view, operator(), {"objects_removed"})

    effects = [one for one in impact.effects if isinstance(one, ObjectsRemoved)]

    assert {one.resource: (one.wanted, one.in_use) for one in effects}[str(ENDPOINTS)] == (0, 0)


def node(*, ready: bool = True, closed: bool = False, deleted: float = 0.0) -> ClusterObject:
    facts = NodeFacts(ready=ready, unschedulable=closed)
    return thing(NODES, "n-0", facts=facts, deleted=deleted)


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        pytest.param(node(), 1, id="up"),
        pytest.param(node(ready=False), 0, id="not ready"),
        pytest.param(node(closed=True), 0, id="closed"),
        pytest.param(node(deleted=1.0), 0, id="going"),
    ],
)
def test_what_stands_for_a_node_is_wanted_while_it_is_up(of: ClusterObject, wanted: int) -> None:
    """Its range of addresses, say; on its way out, a node takes what is kept of it along."""
    kept = thing(ENDPOINTS, "n-0", owners=[owner(of, controller=False)])
    assert removed(kept, of) == (wanted, wanted)


def test_what_is_of_a_node_that_is_gone_may_go() -> None:
    """Its owner was another life, or is nowhere."""
    kept = thing(ENDPOINTS, "n-0", owners=[owner(node(), controller=False)])
    assert removed(kept)[1] == 0


@pytest.mark.parametrize(
    ("kept", "of", "wanted"),
    [
        pytest.param(thing(ENDPOINTS, "n-0"), node(), 1, id="of its name"),
        pytest.param(thing(ENDPOINTS, "n-0"), node(closed=True), 0, id="closed"),
        pytest.param(thing(ENDPOINTS, "n-1"), node(), 0, id="of another name"),
        pytest.param(thing(ENDPOINTS, "n-0", "shop"), node(), 0, id="in a namespace"),
    ],
)
def test_what_nobody_owns_is_known_by_its_name(
    kept: ClusterObject, of: ClusterObject, wanted: int
) -> None:
    """Agents that make the record of their node themselves leave no owner on it."""
    assert removed(kept, of) == (wanted, wanted)


@pytest.mark.parametrize(
    ("beside", "finalizers", "of", "wanted"),
    [
        pytest.param("n-1", (), node(), 1, id="as the others"),
        pytest.param("n-1", (), node(closed=True), 0, id="closed"),
        pytest.param("n-1", ("x.io/drained",), node(), 0, id="takes a thing outside along"),
        pytest.param("gold", (), node(), 0, id="by chance"),
    ],
)
def test_in_a_namespace_a_type_whose_objects_are_called_after_nodes_is_of_nodes(
    beside: str, finalizers: tuple[str, ...], of: ClusterObject, wanted: int
) -> None:
    """States of cards and disks, which the settings of their operator own."""
    kept = replace(thing(ENDPOINTS, "n-0", "shop"), finalizers=finalizers)
    other = thing(ENDPOINTS, beside, "shop")
    view = GraphView(graph_of(kept, other, of, thing(NODES, "n-1", facts=NodeFacts())), History())
    told = effects(impact_of(delete(kept), view), ObjectsRemoved)
    assert [(one.wanted, one.in_use) for one in told] == [(wanted, wanted)]


@pytest.mark.parametrize(("closed", "wanted"), [("n-0", 0), ("n-1", 1), ("", 1)])
def test_a_node_that_was_tainted_a_moment_ago_is_on_its_way_out(closed: str, wanted: int) -> None:
    """So who renews nodes closes them; one that is dedicated to some pods has its taint for good."""
    facts = NodeFacts(ready=True, taints=(Taint("going", "", "NoSchedule"),))
    kept = thing(ENDPOINTS, "n-0")
    of = thing(NODES, "n-0", facts=facts)
    assert removed(kept, of, closed=closed) == (wanted, wanted)


@pytest.mark.parametrize(("ready", "found"), [(True, (1, 1)), (False, (0, 0))])
def test_what_its_actor_made_a_moment_ago_stands_for_its_pod_as_well(
    found: tuple[int, int], *, ready: bool
) -> None:
    """Made for the next pod of a name, and deleted for the one before; of no Ready pod it may."""
    of = pod(ready=ready)
    one, by = thing(ENDPOINTS, "p-0", "shop", owners=[owner(of)]), operator()
    view = GraphView(graph_of(one, of), History())
    view.history.note_created(one.uid, by.user.username, by.operator, one.key, START)
    impact = impact_of(delete(one), view, now=START.plus_s(10), by=by)
    assert [(each.wanted, each.in_use) for each in effects(impact, ObjectsRemoved)] == [found]


USERS = Resource("portal.example.com", "users")
GRANTS = Resource("portal.example.com", "globalrolebindings")
ADMIN = thing(USERS, "u-1")
GRANT = thing(GRANTS, "grb-1")
BODY = b'{"kind": "GlobalRoleBinding", "userName": "u-1"}'


def binding(facts: RoleBindingFacts) -> ClusterObject:
    return thing(CLUSTER_ROLE_BINDINGS, "portal-grb-1", owners=[owner(GRANT)], facts=facts)


OF_A_USER = binding(RoleBindingFacts(users=("u-1",)))


@pytest.mark.parametrize(
    ("bound", "user", "by", "counted"),
    [
        pytest.param(OF_A_USER, ADMIN, operator(), 1, id="who is there"),
        pytest.param(binding(RoleBindingFacts(groups=("g",))), ADMIN, operator(), 1, id="a group"),
        pytest.param(binding(RoleBindingFacts()), ADMIN, operator(), 0, id="accounts alone"),
        pytest.param(
            OF_A_USER, replace(ADMIN, deleted=1.0), operator(), 0, id="with the user, who goes"
        ),
        pytest.param(OF_A_USER, ADMIN, operator("ann@example.com"), 0, id="by hand"),
    ],
)
def test_what_takes_rights_of_people_along(
    bound: ClusterObject, user: ClusterObject, by: Actor, counted: int
) -> None:
    """A custom resource by which an operator binds a user: some may go, and budgets count them."""
    request = replace(delete(GRANT, by=by), old_body=BODY)
    impact = impact_of(request, view_of(GRANT, bound, user), by=by)
    found = {one.resource: one.counted for one in effects(impact, ObjectsRemoved)}
    assert found[str(GRANTS)] == counted


TEAM = thing(Resource("accounts.example.com", "groups"), "developers")
PEOPLE = RoleBindingFacts(groups=("developers",))


@pytest.mark.parametrize(
    ("group", "facts", "counted"),
    [
        pytest.param(TEAM, PEOPLE, 1, id="named"),
        pytest.param(TEAM, RoleBindingFacts(groups=("others",)), 0, id="of-others"),
        pytest.param(TEAM, RoleBindingFacts(users=("developers",)), 0, id="a-user-of-that-name"),
        pytest.param(
            thing(Resource("accounts.example.com", "users"), "developers"),
            RoleBindingFacts(users=("developers",)), 1, id="a-user",
        ),
        pytest.param(
            thing(Resource("accounts.example.com", "circles"), "developers"), PEOPLE, 0, id="else"
        ),
        pytest.param(
            thing(Resource("accounts.example.com", "groups"), "developers", "shop"), PEOPLE, 0,
            id="of-a-namespace",
        ),
    ],
)  # fmt: skip
def test_a_group_of_which_bindings_speak(
    group: ClusterObject, facts: RoleBindingFacts, counted: int
) -> None:
    """With it its members lose what the binding gives, though that stays."""
    bound = thing(CLUSTER_ROLE_BINDINGS, "view", facts=facts)
    (found,) = effects(impact_of(delete(group), view_of(group, bound)), ObjectsRemoved)
    assert found.counted == counted
