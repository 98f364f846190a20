"""The Service by which all pods look up names: the last of it is wanted, whoever keeps it."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, owner, thing, view_of, workload
from suture.impact.effects import ObjectsRemoved
from suture.model.names import KUBE_SYSTEM, SERVICES, Resource
from suture.model.objects import ClusterObject, CustomFacts, ServiceFacts
from suture.model.selectors import Selector

CLUSTERS = Resource("dns.example.com", "clusters")


def names(name: str, namespace: str = KUBE_SYSTEM, label: str = "kube-dns") -> ClusterObject:
    facts = ServiceFacts(Selector.of({"app": "dns"}))
    return thing(SERVICES, name, namespace, labels={"k8s-app": label}, facts=facts)


def wanted(gone: ClusterObject, *others: ClusterObject, ready: int = 2) -> int:
    """Return how many Services are wanted where one goes, with so many pods Ready behind it."""
    view = view_of(gone, *others, workload("dns", gone.key.namespace, replicas=2, ready=ready))
    found = effects(impact_of(delete(gone), view, now=START), ObjectsRemoved)
    return sum(one.wanted for one in found if one.resource == str(SERVICES))


@pytest.mark.parametrize("name", ["kube-dns", "platform-dns"])
def test_the_last_that_answers_for_names_is_wanted(name: str) -> None:
    """By the label too by which distributions of another name mark theirs."""
    assert wanted(names(name)) == 1


def test_one_that_its_owner_wants_as_well_is_counted_once() -> None:
    parent = thing(CLUSTERS, "main", KUBE_SYSTEM, facts=CustomFacts())
    owned = msgspec.structs.replace(names("kube-dns"), owners=(owner(parent),))
    assert wanted(owned, parent) == 1


@pytest.mark.parametrize(
    ("gone", "others", "ready"),
    [
        pytest.param(names("a"), [names("b")], 2, id="another-answers"),
        pytest.param(names("a"), [], 0, id="it-answers-nobody"),
        pytest.param(names("a", "prod"), [], 2, id="of-one-namespace"),
        pytest.param(names("a", label="metrics"), [], 2, id="of-something-else"),
    ],
)
def test_what_may_go(gone: ClusterObject, others: list[ClusterObject], ready: int) -> None:
    assert wanted(gone, *others, ready=ready) == 0
