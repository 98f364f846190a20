"""Custom resources and bare pods that another made, and a machine takes that knows neither."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, service, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.actor import Actor, IdentityKind, UserInfo
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    NETWORK_POLICIES,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClusterObject,
    CustomFacts,
    Ended,
    NodeFacts,
    OwnerReference,
    PodFacts,
)

TOPICS = Resource("queues.example.com", "topics")
BACKUPS = Resource("vault.example.com", "backups")
CLEANER = operator("system:serviceaccount:tools:cleaner")
MAKER = "system:serviceaccount:shop:deployer"
NOW = START.plus_s(3600 * 48)


def topic(kind: Resource = TOPICS, **more: object) -> ClusterObject:
    return msgspec.structs.replace(thing(kind, "orders", "shop", facts=CustomFacts()), **more)


def view_of(one: ClusterObject, *others: ClusterObject, by: str = MAKER) -> GraphView:
    view = GraphView(graph_of(one, *others), History())
    if by:
        view.history.note_created(one.uid, by, by, one.key, START)
    return view


def counted(
    one: ClusterObject, *others: ClusterObject, made_by: str = MAKER, by: Actor = CLEANER
) -> int:
    view = view_of(one, *others, by=made_by)
    return told(view, one, by)


def told(view: GraphView, one: ClusterObject, by: Actor = CLEANER, old: bytes = b"") -> int:
    request = msgspec.structs.replace(delete(one, by=by), old_body=old)
    (effect,) = effects(impact_of(request, view, now=NOW, by=by), ObjectsRemoved)
    return effect.counted


def test_what_another_made_counts_where_a_machine_takes_it() -> None:
    """A clean-up that made none of them."""
    assert counted(topic()) == 1
    assert counted(topic(), made_by="dev@example.com") == 1


@pytest.mark.parametrize(
    "made_by",
    [
        pytest.param("", id="nobody-knows"),
        pytest.param(CLEANER.user.username, id="itself"),
        pytest.param("system:serviceaccount:tools:maker", id="another-part-of-it"),
    ],
)
def test_ones_own_and_what_nobody_knows_of_does_not(made_by: str) -> None:
    """The twin: whoever clears away what it, or its other part, has made."""
    assert counted(topic(), made_by=made_by) == 0


def test_a_person_and_who_runs_the_type_are_no_strangers() -> None:
    """A person knows what for; an operator lets its own resources expire."""
    person = Actor(UserInfo("ops@example.com"), "ops", IdentityKind.PERSON, CLEANER.stage)
    assert counted(topic(), by=person) == 0
    assert counted(topic(), by=operator("system:serviceaccount:queues:operator")) == 0


def test_what_is_over_is_cleared_away_by_anybody_unless_it_is_data() -> None:
    """Runs that have ended; a backup has ended when it is what it was made for."""
    ended = CustomFacts(ended=Ended.SURE)
    assert counted(topic(facts=ended)) == 0
    assert counted(topic(BACKUPS, facts=ended)) == 1


def test_marks_of_an_application_are_copied_to_backups() -> None:
    """No source has them: whoever makes them hands on the labels of what asked for them."""
    application = thing(Resource("vault.example.com", "applications"), "vault", "tools")
    marked = (Need(Edge.MANAGED_BY, application.key),)
    assert counted(topic(BACKUPS, needs=marked), application) == 1
    assert counted(topic(needs=marked), application) == 0
    assert counted(topic(BACKUPS, needs=marked), application, made_by=CLEANER.user.username) == 0


def along(kind: str, child: Resource = BACKUPS, by: Actor = CLEANER) -> int:
    """Return how many of three children count when a parent of a type is deleted."""
    above = thing(Resource("vault.example.com", kind), "nightly", "shop", facts=CustomFacts())
    runs = [thing(child, f"run-{at}", "shop", owners=(owner(above),)) for at in range(3)]
    view = GraphView(graph_of(above, *runs), History())
    told = effects(impact_of(delete(above, by=by), view, now=NOW, by=by), ObjectsRemoved)
    return sum(one.counted for one in told if one.resource == str(child))


@pytest.mark.parametrize("schedule", ["schedules", "scheduledbackups", "cronbackups"])
def test_backups_that_go_along_with_their_schedule(schedule: str) -> None:
    """Whoever makes that anew under another name; its runs, or what a backup has, are kept by none.

    So it is counted of data alone, and along with a schedule alone.
    """
    person = Actor(UserInfo("ops@example.com"), "ops", IdentityKind.PERSON, CLEANER.stage)
    assert along(schedule) == along(schedule, by=person) == 3
    assert along(schedule, TOPICS) == along("vaults") == along("backups") == 0


def test_an_owner_answers_for_its_own() -> None:
    """What is owned goes for its owner's reasons."""
    above = thing(SERVICES, "above", "shop")
    assert counted(topic(owners=(owner(above),)), above) == 0


def test_what_names_nothing_in_use_is_idle() -> None:
    """Whose use can be seen counts once it is used."""
    key = ObjectKey(SECRETS, "shop", "tls")
    names = topic(needs=(Need(Edge.RULE, key),))
    secret = thing(SECRETS, "tls", "shop")
    reader = msgspec.structs.replace(
        thing(PODS, "web-1", "shop", facts=PodFacts(ready=True)), needs=(Need(Edge.SECRET, key),)
    )
    leads = topic(needs=(Need(Edge.LEADS_TO, ObjectKey(SERVICES, "shop", "web")),))
    assert counted(names, secret) == 0
    assert counted(names) == 0
    assert counted(names, secret, reader) == 1
    assert counted(leads, service("web", "shop")) == 0


@pytest.mark.parametrize("mark", ["janitor/ttl", "example.com/expires-at", "keep-until"])
def test_what_says_when_it_ends_may(mark: str) -> None:
    """Whoever made it has said so, by label or by annotation."""
    assert counted(topic(labels={mark: "24h"})) == 0
    body = b'{"metadata": {"annotations": {"%s": "24h"}}}' % mark.encode()
    assert told(view_of(topic()), topic(), old=body) == 0


def test_what_other_budgets_count_is_left_to_them() -> None:
    """Machines of nodes and things outside the cluster: an autoscaler takes what others made."""
    outside = topic(facts=CustomFacts(outside="Delete"))
    machine = topic(facts=CustomFacts(outside="cloud:///zone/1"), finalizers=("fleet.io/machine",))
    assert counted(outside) == 0
    assert counted(machine) == 0


def bare(*, ready: bool = True, finished: bool = False, node: str = "") -> ClusterObject:
    return thing(
        PODS, "driver-1", "shop", facts=PodFacts(ready=ready, finished=finished, node=node)
    )


def test_a_bare_pod_at_work_counts_where_a_machine_takes_anothers() -> None:
    """Nobody brings it back, and whoever submitted it waits for it."""
    assert counted(bare()) == 1


@pytest.mark.parametrize(
    ("pod", "made_by"),
    [
        pytest.param(bare(ready=False, finished=True), MAKER, id="ended"),
        pytest.param(bare(), CLEANER.user.username, id="its-own"),
        pytest.param(bare(), "", id="nobody-knows"),
    ],
)
def test_pods_that_ended_and_ones_own_do_not(pod: ClusterObject, made_by: str) -> None:
    """The twin: notebooks that their hub culls, drivers that have ended."""
    assert counted(pod, made_by=made_by) == 0


def test_a_pod_on_a_closed_node_has_to_move() -> None:
    """Whoever drains a node deletes what cannot be evicted."""
    node = thing(NODES, "n-1", facts=NodeFacts(ready=True, unschedulable=True))
    pod = msgspec.structs.replace(
        bare(node="n-1"), needs=(Need(Edge.NODE, ObjectKey(NODES, "", "n-1")),)
    )
    assert counted(pod, node) == 0


def runs(
    owners: tuple[OwnerReference, ...] = (),
    facts: CustomFacts = CustomFacts(),  # noqa: B008 a value
    *,
    ready: bool = True,
    by: Actor = CLEANER,
    made_by: str = "",
) -> int:
    """Return how many count of one custom resource, which runs a pod, where it is deleted."""
    machine = topic(owners=owners, facts=facts)
    pod = thing(
        PODS, "orders-0", "shop", owners=[owner(machine)], labels={"a": "b"},
        facts=PodFacts(ready=ready, node="node-1"),
    )  # fmt: skip
    request = delete(machine, by=by)
    found = effects(
        impact_of(request, view_of(machine, pod, by=made_by), now=NOW, by=by), ObjectsRemoved
    )
    return sum(one.counted for one in found if one.resource == str(TOPICS))


def test_what_runs_for_itself_counts_though_nobody_knows_who_made_it() -> None:
    """A clean-up of what has ended takes what is at work: it was there before, and is nobody's."""
    assert runs() == 1
    assert runs(ready=False) == 0


def test_what_may_end_by_such_a_hand_does_not_count() -> None:
    """The twin: its owner has it again, it has ended, or it goes by who runs or made it."""
    assert runs(owners=(owner(thing(TOPICS, "set", "shop")),)) == 0
    assert runs(facts=CustomFacts(ended=Ended.SURE)) == 0
    assert runs(by=operator("system:serviceaccount:queues:operator")) == 0
    assert runs(made_by=CLEANER.user.username) == 0


def until(moment: str, phase: str = "Completed") -> bytes:
    return msgspec.json.encode({"status": {"phase": phase, "expiration": moment}})


LATER, BEFORE = "2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        pytest.param(until(LATER), 1, id="kept"),
        pytest.param(until(BEFORE), 0, id="expired"),
        pytest.param(until(LATER, "PartiallyFailed"), 0, id="failed"),
        pytest.param(until("2099-01-01T00:00:00"), 0, id="no-zone"),
        pytest.param(until("some day"), 0, id="no-time"),
        pytest.param(b"", 0, id="not-shown"),
    ],
)
def test_what_is_done_and_kept_counts_until_it_expires(old: bytes, expected: int) -> None:
    """Also where its own operator takes it: it says itself until when."""
    one = topic(facts=CustomFacts(ended=Ended.DONE))
    keeper = operator("system:serviceaccount:queues:operator")
    assert told(view_of(one, by=""), one, keeper, old) == expected


def test_what_is_not_done_expires_as_its_keeper_sees_fit() -> None:
    """A session, a preview; and what is about to be deleted, since somebody asked."""
    keeper = operator("system:serviceaccount:queues:operator")
    assert told(view_of(topic(), by=""), topic(), keeper, until(LATER, "Deleting")) == 0


def test_a_person_may_take_what_is_kept() -> None:
    """Who knows that it is not wanted."""
    one = topic(facts=CustomFacts(ended=Ended.DONE))
    person = Actor(UserInfo("ops@example.com"), "ops", IdentityKind.PERSON, CLEANER.stage)
    assert told(view_of(one, by=""), one, person, until(LATER)) == 0


WALL = thing(NETWORK_POLICIES, "allow-front", "shop")


@pytest.mark.parametrize(
    ("made_by", "by", "expected"),
    [
        pytest.param("dev@example.com", CLEANER, 1, id="a-person-made-it"),
        pytest.param(CLEANER.user.username, CLEANER, 0, id="its-own"),
        pytest.param("", CLEANER, 0, id="nobody-knows"),
        pytest.param("dev@example.com", operator("ann@example.com"), 0, id="by-hand"),
    ],
)
def test_a_network_policy_that_another_made(made_by: str, by: Actor, expected: int) -> None:
    """A keeper of namespaces that takes away whatever it did not write."""
    assert counted(WALL, made_by=made_by, by=by) == expected
