"""What provides custom resources with what they are for: it stays as long as several name it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, operator, owner, thing, view_of
from suture.impact.effects import ReferenceBroken
from suture.model.edges import Edge, Need
from suture.model.names import PODS, ObjectKey, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, PodFacts

ISSUERS = Resource("certs.example.com", "clusterissuers")
CERTIFICATES = Resource("certs.example.com", "certificates")
TEMPLATES = Resource("infra.example.com", "machinetemplates")
POOLS = Resource("fleet.example.com", "pools")
SETS = Resource("fleet.example.com", "sets")
RELEASE = Resource("argoproj.io", "applications")
ISSUER = thing(ISSUERS, "ca")


def certificates(count: int, *needs: Need, ended: Ended = Ended.NO) -> list[ClusterObject]:
    """Make some that name the issuer, in their namespace and in none, as they are read."""
    named = tuple(
        Need(Edge.PROVIDER, ObjectKey(ISSUERS, space, "ca"), "", optional=True)
        for space in ("shop", "")
    )
    return [
        replace(
            thing(CERTIFICATES, f"c-{at}", "shop", facts=CustomFacts(ended=ended)),
            needs=(*named, *needs),
        )
        for at in range(count)
    ]


def named_by(target: ClusterObject, *others: ClusterObject) -> int:
    told = effects(impact_of(delete(target), view_of(target, others)), ReferenceBroken)
    return sum(one.current for one in told if one.edge is Edge.PROVIDER)


def test_what_several_name_is_missed_by_each() -> None:
    """None of them would be renewed."""
    assert named_by(ISSUER, *certificates(3)) == 3


def test_what_one_or_two_name_goes_with_them() -> None:
    """It was made for them, and a clean-up takes both in whatever order."""
    assert named_by(ISSUER, *certificates(2)) == 0


def test_what_has_children_is_there_for_more_than_to_be_named() -> None:
    """A database that backups name has effects of its own: what it runs, and what it holds."""
    child = thing(CERTIFICATES, "child", "shop", owners=(owner(ISSUER),))
    assert named_by(ISSUER, *certificates(3), child) == 0


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(certificates(5, ended=Ended.SURE), id="over"),
        pytest.param(
            certificates(5, Need(Edge.MANAGED_BY, ObjectKey(RELEASE, "argocd", "shop"))),
            id="one-keeper",
        ),
        pytest.param([replace(one, deleted=1.0) for one in certificates(5)], id="going"),
    ],
)
def test_what_goes_afterwards_anyway_does_not_hold_it(others: list[ClusterObject]) -> None:
    """Work that has ended, and the parts of one application, which go together."""
    application = thing(RELEASE, "shop", "argocd")
    kept = (Need(Edge.MANAGED_BY, ObjectKey(RELEASE, "argocd", "shop")),)

    assert named_by(replace(ISSUER, needs=kept), application, *others) == 0


OLD, NEXT = (thing(TEMPLATES, name, "fleet") for name in ("v1", "v2"))
POOL = thing(POOLS, "pool", "fleet")


def made_of(template: ClusterObject, user: ClusterObject = POOL) -> ClusterObject:
    """Return a user that names a template, as it is read: in its namespace and in none."""
    name = template.key.name
    named = (Need(Edge.PROVIDER, ObjectKey(TEMPLATES, at, name), "", True) for at in ("fleet", ""))
    return replace(user, needs=tuple(named))


def test_a_template_is_missed_by_the_first_who_names_it() -> None:
    """Nobody makes one for a thing that there is already: more would be made of it."""
    assert named_by(OLD, made_of(OLD)) == 1


def test_a_template_that_nobody_names_any_more_is_history() -> None:
    """The pool was turned to the next one."""
    assert named_by(OLD, NEXT, made_of(NEXT)) == 0


def test_of_what_its_controller_made_the_controller_says_what_comes_next() -> None:
    """An old set of a pool that names the next template is history; a set by itself is not."""
    old = thing(SETS, "old", "fleet", owners=(owner(POOL, controller=True),))
    assert named_by(OLD, NEXT, made_of(NEXT), made_of(OLD, old)) == 0
    assert named_by(OLD, made_of(OLD, thing(SETS, "bare", "fleet"))) == 1


def test_who_goes_with_its_owner_needs_no_template() -> None:
    """The cluster is being deleted, and its pools are next."""
    cluster = replace(thing(SETS, "cluster", "fleet"), deleted=1.0)
    pool = replace(POOL, owners=(owner(cluster),))
    assert named_by(OLD, cluster, made_of(OLD, pool)) == 0


def test_who_runs_a_kind_knows_what_its_objects_need() -> None:
    """A controller may take the template before the pool, in one pass."""
    view = view_of(OLD, (made_of(OLD),))
    view.history.habits.recall((), [(POOLS, (operator().user.username,))], ())
    assert not effects(impact_of(delete(OLD), view), ReferenceBroken)


ENDPOINTS = Resource("mesh.example.com", "endpoints")
IDENTITIES = Resource("mesh.example.com", "identities")
IDENTITY = thing(IDENTITIES, "7")


def works_by(*, ended: bool = False, deleted: float = 0.0, pods: bool = True) -> int:
    """Return how many the deletion of an identity is told to leave without."""
    facts = PodFacts(ready=not ended, node="n", finished=ended)
    pod = thing(PODS, "p", "shop", facts=facts, deleted=deleted)
    endpoint = replace(
        thing(ENDPOINTS, "p", "shop", owners=(owner(pod, controller=False),)),
        needs=(Need(Edge.RULE, IDENTITY.key, "", optional=True),),
    )
    others = [endpoint, *([pod] if pods else [])]
    told = effects(impact_of(delete(IDENTITY), view_of(IDENTITY, others)), ReferenceBroken)
    return sum(one.current for one in told)


def test_what_a_running_pod_works_by_is_missed() -> None:
    """Its network knows it by the identity that the status of its endpoint names."""
    assert works_by() == 1


def test_what_a_pod_worked_by_may_go_with_it() -> None:
    """A status tells what was, too."""
    assert works_by(ended=True) == 0
    assert works_by(deleted=1.0) == 0
    assert works_by(pods=False) == 0
