"""Custom resources that keep a Secret which running pods read: their loss counts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, thing, view_of
from suture.impact.effects import ObjectsRemoved
from suture.model.edges import Edge, Need
from suture.model.names import DEPLOYMENTS, PODS, SECRETS, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodFacts

CERTIFICATES = Resource("certs.example.com", "certificates")
STORES = Resource("certs.example.com", "stores")
KEPT = ObjectKey(SECRETS, "prod", "tls")


def naming(name: str, kind: Resource = CERTIFICATES, created: float = 100.0) -> ClusterObject:
    return replace(thing(kind, name, "prod"), created=created, needs=(Need(Edge.RULE, KEPT),))


def secret(created: float = 110.0) -> ClusterObject:
    return replace(thing(SECRETS, "tls", "prod"), created=created)


def reader(*, finished: bool = False, kind: Resource = PODS) -> ClusterObject:
    facts = PodFacts(ready=not finished, finished=finished) if kind == PODS else None
    return replace(thing(kind, "web-1", "prod", facts=facts), needs=(Need(Edge.SECRET, KEPT),))


def counted(one: ClusterObject, *others: ClusterObject) -> int:
    (effect,) = effects(impact_of(delete(one), view_of(one, others)), ObjectsRemoved)
    return effect.counted


def test_what_keeps_a_secret_that_pods_read_counts() -> None:
    """Nobody would renew it; another resource of another type that names it changes nothing."""
    assert counted(naming("web"), secret(), reader()) == 1
    assert counted(naming("web"), secret(), reader(), naming("vault", STORES)) == 1


@pytest.mark.parametrize(
    "others",
    [
        pytest.param((secret(),), id="nobody-reads-it"),
        pytest.param((secret(), reader(finished=True)), id="finished"),
        pytest.param((secret(), reader(kind=DEPLOYMENTS)), id="no-pod"),
        pytest.param((secret(created=90.0), reader()), id="given-and-not-made"),
        pytest.param((secret(), reader(), naming("renamed")), id="kept-by-another"),
        pytest.param((reader(),), id="not-there"),
    ],
)
def test_what_keeps_nothing_in_use_does_not(others: tuple[ClusterObject, ...]) -> None:
    """A Secret of nobody, one that was there before, and one that another keeps on."""
    assert counted(naming("web"), *others) == 0
