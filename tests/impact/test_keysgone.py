"""Entries of Secrets and ConfigMaps that go while somebody names them, and by whose hand."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import delete, graph_of, operator, owner, thing, workload
from suture.impact.effects import ReferenceBroken
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.facts import KeysFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CONFIG_MAPS, SECRETS, Gvk, ObjectKey, Resource
from suture.wire.trim import Trimmer

APPLICATIONS = Resource("gitops.example.com", "applications")
STORES = Resource("stores.example.com", "stores")
SHOP, OTHER = ObjectKey(APPLICATIONS, "gitops", "shop"), ObjectKey(APPLICATIONS, "gitops", "other")
HANDLER = operator("system:serviceaccount:gitops:controller")
RUNNER = operator("system:serviceaccount:system:runner")
STRANGER = operator("system:serviceaccount:tidy:controller")


class Cluster:
    """A Deployment that names the entry `password`, and what it names: as it is watched."""

    def __init__(
        self,
        resource: Resource = SECRETS,
        *,
        keeper: ObjectKey | None = None,
        user: ObjectKey | None = None,
        controlled: bool = False,
        going: bool = False,
        source: bool = False,
    ) -> None:
        store = thing(STORES, "store", "prod", deleted=1.0 if going else 0.0)
        root, *below = workload("web")
        box = thing(resource, "login", "prod", owners=[owner(store)] if controlled else ())
        marks = (Need(Edge.MANAGED_BY, keeper),) if keeper is not None else ()
        self.box = msgspec.structs.replace(box, needs=marks)
        need = Need(Edge.SECRET if resource == SECRETS else Edge.CONFIG_MAP, box.key, "password")
        kept = (Need(Edge.MANAGED_BY, user),) if user is not None else ()
        root = msgspec.structs.replace(
            root, needs=(*kept, need), owners=(owner(store),) if controlled else ()
        )
        apps = thing(APPLICATIONS, "shop", "gitops"), thing(APPLICATIONS, "other", "gitops")
        names = (Need(Edge.RULE, self.box.key, optional=True),)
        sources = [msgspec.structs.replace(thing(STORES, "source", "prod"), needs=names)]
        world = graph_of(apps, store, self.box, root, below, sources if source else ())
        self.view = GraphView(world, History())
        by = HANDLER.user.username
        self.view.history.habits.recall(
            (), [(STORES, (RUNNER.user.username,))], [(SHOP, (by,)), (OTHER, (by,))]
        )

    def dropped(self, *left: str, by: Actor = STRANGER) -> list[ReferenceBroken]:
        """Return what is told of a write that leaves these entries."""
        before = msgspec.structs.replace(self.box, facts=KeysFacts(("other", "password")))
        after = msgspec.structs.replace(self.box, facts=KeysFacts(left))
        return effects(impact_of(update(before, after, by=by), self.view, by=by), ReferenceBroken)


@pytest.mark.parametrize("resource", [SECRETS, CONFIG_MAPS])
def test_an_entry_that_a_workload_names_goes_by_the_hand_of_another(resource: Resource) -> None:
    """The incident: a synchronizer did not find it in its store; what nobody names may go."""
    cluster = Cluster(resource)
    (told,) = cluster.dropped("other")
    assert (told.key, told.current, told.past) == ("password", 1, 0)
    assert cluster.dropped("password") == []


@pytest.mark.parametrize(
    ("left", "by", "broken"),
    [
        pytest.param(("token",), STRANGER, ["other, password"], id="all, by a stranger"),
        pytest.param(("other",), STRANGER, [], id="some, of which nobody knows who reads them"),
        pytest.param(("token",), RUNNER, [], id="all, by who keeps what names it"),
    ],
)
def test_a_secret_that_a_resource_names_is_emptied(
    left: tuple[str, ...], by: Actor, broken: list[str]
) -> None:
    """It finds nothing there that it knows; which entries it reads nobody is told."""
    cluster = Cluster(source=True)
    found = [one for one in cluster.dropped(*left, by=by) if one.edge is Edge.RULE]
    assert [one.key for one in found] == broken


def test_who_keeps_both_writes_the_user_next() -> None:
    """A chart that renames an entry writes the Secret first, and then the Deployment."""
    (told,) = Cluster(keeper=SHOP, user=SHOP).dropped("other", "pass", by=HANDLER)
    assert (told.current, told.past) == (0, 1)


@pytest.mark.parametrize(
    ("keeper", "user", "by"),
    [
        pytest.param(SHOP, SHOP, STRANGER, id="by-another"),
        pytest.param(SHOP, OTHER, HANDLER, id="of-two-applications"),
        pytest.param(SHOP, None, HANDLER, id="read-by-who-is-kept-by-nobody"),
    ],
)
def test_who_does_not_keep_both(keeper: ObjectKey, user: ObjectKey | None, by: Actor) -> None:
    """What another reads is not written next."""
    (told,) = Cluster(keeper=keeper, user=user).dropped("other", by=by)
    assert told.current == 1


def test_an_operator_writes_its_configuration_first_and_then_its_workload() -> None:
    """Both are of one custom resource that stays, and the actor runs those; nobody else."""
    (told,) = Cluster(controlled=True).dropped("other", by=RUNNER)
    assert (told.current, told.past) == (0, 1)
    (told,) = Cluster(controlled=True).dropped("other", by=STRANGER)
    assert told.current == 1
    (told,) = Cluster(controlled=True, going=True).dropped("other", by=RUNNER)
    assert told.current == 1


def test_a_whole_object_that_goes_is_no_entry() -> None:
    """Whose hand keeps both says nothing of a delete: nothing is written in its place."""
    cluster = Cluster(keeper=SHOP, user=SHOP)
    (told,) = effects(
        impact_of(delete(cluster.box, by=HANDLER), cluster.view, by=HANDLER), ReferenceBroken
    )
    assert told.current == 1


def test_a_secret_is_read_whole_where_it_comes_whole() -> None:
    """A review shows the names of its entries, whatever is watched; a watch asks for none."""
    trimmer, gvk = Trimmer(secret_keys=True), Gvk("", "v1", "Secret")
    body = b'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"password":"YQ=="}}'
    assert trimmer.trim(body, SECRETS, gvk).facts == KeysFacts(("password",))
    assert trimmer.trim(body, SECRETS, gvk, full=False).facts is None
