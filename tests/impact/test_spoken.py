"""Versions that a definition serves no more, told where a controller of the type speaks them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, thing
from suture.impact.causes.recent import remember
from suture.impact.causes.spoken import speakers
from suture.impact.effects import ReferenceBroken
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CRDS, PODS, SERVICE_ACCOUNTS, Gvr, ObjectKey, Resource
from suture.model.objects import ClusterObject, CrdFacts, PodFacts
from suture.model.writes import Writes

LEASES = Resource("pools.example.com", "leases")
KEEPER = operator("system:serviceaccount:pools:keeper")
SECOND = operator("system:serviceaccount:pools:second")
OUTSIDE = operator("pool-manager@example.com")
TEAM = operator("system:serviceaccount:team:deployer")
INSTALLER = operator("system:serviceaccount:ci:installer")

Spoken = tuple[Actor, str, str]
"""Who writes, to which subresource, and in which version."""


def definition(*served: str) -> ClusterObject:
    facts = CrdFacts(LEASES, "Lease", namespaced=True, served_versions=served)
    return thing(CRDS, str(LEASES), facts=facts)


def controller(actor: Actor, *, finished: bool = False) -> list[ClusterObject]:
    """Make the account of an actor, and a pod that runs as it."""
    _, _, namespace, name = actor.user.username.split(":")
    account = thing(SERVICE_ACCOUNTS, name, namespace)
    pod = thing(PODS, f"{name}-0", namespace, facts=PodFacts(ready=True, finished=finished))
    return [account, replace(pod, needs=(Need(Edge.SERVICE_ACCOUNT, account.key),))]


class Pools:
    """A type served in three versions, its instances, and who wrote to it."""

    def __init__(self, instances: int = 3, *others: ClusterObject) -> None:
        self.history = History()
        self.leases = [thing(LEASES, f"lease-{one}", "team") for one in range(instances)]
        self.before = definition("v1", "v1beta1", "v1alpha1")
        self.things = [self.before, *self.leases, *others]

    @property
    def view(self) -> GraphView:
        return GraphView(graph_of(self.things), self.history)

    def wrote(self, by: Actor, subresource: str, version: str) -> None:
        """Let a write of an instance through, in a version."""
        lease = thing(LEASES, "lease-0", "team")
        request = update(lease, lease, by=by, subresource=subresource)
        request = replace(request, gvr=Gvr(LEASES.group, version, LEASES.plural))
        self.history.habits.note(request)
        remember(request, project(request, self.view), self.view, START)

    def told(self, *served: str, by: Actor = INSTALLER) -> list[ReferenceBroken]:
        """Serve these versions from now on."""
        request = update(self.before, definition(*served), by=by)
        return effects(impact_of(request, self.view, by=by), ReferenceBroken)


STATUS = "status"


@pytest.mark.parametrize(
    ("spoken", "gone"),
    [
        pytest.param([], [], id="nobody"),
        pytest.param([(KEEPER, STATUS, "v1")], ["v1"], id="its controller"),
        pytest.param([(OUTSIDE, STATUS, "v1")], ["v1"], id="a controller that is no account"),
        pytest.param([(KEEPER, STATUS, "v1beta1")], [], id="in one that stays"),
        pytest.param(
            [(KEEPER, STATUS, "v1"), (KEEPER, STATUS, "v1beta1")], [], id="left for one that stays"
        ),
        pytest.param(
            [(KEEPER, STATUS, "v1"), (KEEPER, STATUS, "v1alpha1")],
            ["v1alpha1"],
            id="left for one that goes as well",
        ),
        pytest.param(
            [(KEEPER, STATUS, "v1beta1"), (KEEPER, "", "v1")], ["v1"], id="of the object, last"
        ),
        pytest.param(
            [(KEEPER, STATUS, "v1"), (SECOND, STATUS, "v1beta1")], ["v1"], id="by one of two"
        ),
        pytest.param([(TEAM, "", "v1")], [], id="by one who writes no status"),
        pytest.param(
            [(KEEPER, STATUS, "v1beta1"), (TEAM, "", "v1")], [], id="by one who runs it not"
        ),
    ],
)
def test_a_version_goes_in_which_a_controller_spoke_last(
    spoken: Sequence[Spoken], gone: list[str]
) -> None:
    """Whoever writes the statuses of a type gets 404 for all its writes from then on."""
    pools = Pools(3, *controller(KEEPER), *controller(SECOND))
    for one in spoken:
        pools.wrote(*one)

    assert [(one.key, one.current) for one in pools.told("v1beta1")] == [(one, 3) for one in gone]


def test_it_is_told_who_speaks_it() -> None:
    pools = Pools(3, *controller(KEEPER))
    pools.wrote(KEEPER, STATUS, "v1")

    (found,) = pools.told("v1beta1")
    assert (found.target.name, found.explained) == (str(LEASES), False)
    assert [one.name for one in found.users] == ["keeper"]


@pytest.mark.parametrize(
    ("served", "gone"),
    [
        pytest.param(["v1", "v1beta1"], [], id="another goes"),
        pytest.param(["v1", "v1beta1", "v1alpha1", "v2"], [], id="one comes"),
        pytest.param(["v2"], ["v1"], id="one comes instead"),
        pytest.param([], ["v1", "v1beta1", "v1alpha1"], id="all go"),
    ],
)
def test_what_is_served_from_now_on(served: list[str], gone: list[str]) -> None:
    pools = Pools(3, *controller(KEEPER))
    pools.wrote(KEEPER, STATUS, "v1")

    assert [one.key for one in pools.told(*served)] == gone


def test_who_speaks_it_takes_it_out() -> None:
    """It knows what it is about to speak; another that speaks it too does not."""
    pools = Pools(3, *controller(KEEPER), *controller(SECOND))
    pools.wrote(KEEPER, STATUS, "v1")
    assert pools.told("v1beta1", by=KEEPER) == []

    pools.wrote(SECOND, STATUS, "v1")
    assert [one.key for one in pools.told("v1beta1", by=KEEPER)] == ["v1"]


def test_without_instances_there_is_nothing_to_write() -> None:
    pools = Pools(0, *controller(KEEPER))
    pools.wrote(KEEPER, STATUS, "v1")

    assert pools.told("v1beta1") == []


@pytest.mark.parametrize(
    ("others", "went"),
    [
        pytest.param([], True, id="its account is gone"),
        pytest.param(controller(KEEPER)[:1], False, id="it has no pod"),
        pytest.param(controller(KEEPER, finished=True), False, id="its pod has ended"),
    ],
)
def test_a_controller_that_is_gone_speaks_no_more(
    others: list[ClusterObject], *, went: bool
) -> None:
    """Its successor has another account, and the version may go after both."""
    pools = Pools(3, *others)
    pools.wrote(KEEPER, STATUS, "v1")
    if went:
        account = controller(KEEPER)[0]
        pools.history.note_removed(account.uid, account.key, START)

    assert pools.told("v1beta1") == []


def test_of_whom_nothing_is_known_speaks_yet() -> None:
    """It may work from elsewhere."""
    pools = Pools(3)
    pools.wrote(KEEPER, STATUS, "v1")

    assert [one.key for one in pools.told("v1beta1")] == ["v1"]


def test_only_of_types_with_a_definition_is_it_remembered() -> None:
    """And of a type once for each who writes its statuses, under a name that no object has."""
    pools = Pools(1, *controller(KEEPER))
    pools.things.remove(pools.before)
    pools.wrote(KEEPER, STATUS, "v1")
    place = ObjectKey(LEASES, "", f"/{KEEPER.user.username}")
    assert not pools.history.writes.knows(place)

    pools.things.append(pools.before)
    pools.wrote(KEEPER, STATUS, "v1")
    assert pools.history.writes.knows(place)


def test_it_is_known_after_a_restart() -> None:
    pools = Pools(1)
    pools.wrote(KEEPER, STATUS, "v1")
    saved = pools.history.writes.encode(START)
    pools.history.writes = Writes.decode(saved, START)

    assert speakers(pools.view, LEASES, "v1") == [KEEPER.user.username]
    assert speakers(pools.view, LEASES, "v1beta1") == []
