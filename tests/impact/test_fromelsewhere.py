"""Secrets that are named from another namespace, by whoever has them read from one place."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, operator, thing, view_of
from suture.impact.effects import ReferenceBroken
from suture.model.actor import Actor, IdentityKind, UserInfo
from suture.model.edges import Edge, Need
from suture.model.names import CONFIG_MAPS, SECRETS, ObjectKey, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended

ROUTES = Resource("mesh.example.com", "entries")
CLEANER = operator("system:serviceaccount:tools:cleaner")
PERSON = Actor(UserInfo("ops@example.com"), "ops", IdentityKind.PERSON, CLEANER.stage)


def secret(space: str = "edge", resource: Resource = SECRETS) -> ClusterObject:
    return thing(resource, "shop-tls", space)


def entry(
    name: str = "web", space: str = "shop", resource: Resource = SECRETS, ended: Ended = Ended.NO
) -> ClusterObject:
    """Make a custom resource that names a Secret by a bare name."""
    named = Need(Edge.RULE, ObjectKey(resource, space, "shop-tls"), optional=True)
    made = thing(ROUTES, name, space, facts=CustomFacts(ended=ended))
    return replace(made, needs=(named,))


def broken(*others: ClusterObject, of: ClusterObject | None = None, by: Actor = CLEANER) -> int:
    """Delete a Secret of the edge; return how many name it."""
    one = of or secret()
    found = effects(impact_of(delete(one, by=by), view_of(one, others), by=by), ReferenceBroken)
    return sum(effect.current for effect in found)


def test_who_names_it_from_elsewhere_reads_the_only_one() -> None:
    """A cleaner that looks at pods alone finds that nobody uses it."""
    assert broken(entry()) == 1
    assert broken(entry(), entry("api"), entry(space="blog")) == 3


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="nobody"),
        pytest.param([entry(), secret("shop")], id="its own is there"),
        pytest.param([entry(), secret("blog")], id="another may be meant"),
        pytest.param([entry(ended=Ended.SURE)], id="its work is over"),
    ],
)
def test_nobody_reads_it(others: list[ClusterObject]) -> None:
    assert broken(*others) == 0


def test_a_person_knows_what_for() -> None:
    assert broken(entry(), by=PERSON) == 0


def test_who_stands_beside_it_is_asked_as_ever() -> None:
    """Then it is that one's; a bare name of elsewhere may be of anything."""
    assert broken(entry(), entry("mine", "edge")) == 1


def test_other_types_are_read_beside_their_readers() -> None:
    maps = entry(resource=CONFIG_MAPS)
    assert broken(maps, of=secret(resource=CONFIG_MAPS)) == 0
