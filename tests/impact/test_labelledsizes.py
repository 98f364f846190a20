"""How large a workload is to be whose parent its labels name: no owner says it."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import graph_of, thing, workload
from suture.impact.effects import PodsLost
from suture.model.graph import GraphView
from suture.model.names import Resource
from suture.model.objects import ClusterObject, CustomFacts, WorkloadFacts

ENSEMBLES = Resource("zk.example.org", "ensembles")
FIVE = CustomFacts(wanted=5)
OF_MAIN = {"zk.example.org/ensemble": "main"}


def parent(says: CustomFacts, name: str = "main", deleted: float = 0.0) -> ClusterObject:
    return thing(ENSEMBLES, name, "prod", facts=says, deleted=deleted)


def members(name: str = "main", labels: dict[str, str] = OF_MAIN) -> list[ClusterObject]:
    """Return a workload of five and what runs for it."""
    root, *rest = workload(name, replicas=5)
    return [msgspec.structs.replace(root, labels=labels), *rest]


def told(things: list[ClusterObject], *beside: ClusterObject) -> tuple[int, int]:
    """Return how many pods are lost for good, and asked for, when five become three."""
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    fewer = msgspec.structs.replace(facts, replicas=3)
    written = update(things[0], msgspec.structs.replace(things[0], facts=fewer))
    (lost,) = effects(impact_of(written, GraphView(graph_of(things, beside))), PodsLost)
    return lost.lasting, lost.wanted


@pytest.mark.parametrize("says", [FIVE, CustomFacts(sizes=(5,))], ids=["replicas", "size"])
def test_who_is_named_by_labels_still_asks_for_all(says: CustomFacts) -> None:
    """Read too long ago: the parent was made larger again since."""
    assert told(members(), parent(says)) == (2, 5)


def test_who_is_named_by_labels_asks_for_fewer() -> None:
    """The twin: the parent was made smaller, and its operator follows."""
    assert told(members(), parent(CustomFacts(wanted=3))) == (0, 3)


@pytest.mark.parametrize(
    ("labels", "of"),
    [
        pytest.param({"ensemble": "main"}, parent(FIVE), id="a-label-of-no-group"),
        pytest.param(OF_MAIN, parent(FIVE, "other"), id="not-there"),
        pytest.param(OF_MAIN, parent(FIVE, deleted=1.0), id="on-its-way-out"),
    ],
)
def test_who_asks_for_nothing(labels: dict[str, str], of: ClusterObject) -> None:
    """Nobody is known to ask, and the size is whose it is that writes it."""
    assert told(members(labels=labels), of) == (2, -1)


def test_a_number_of_another_name_is_of_one_set() -> None:
    """Two sets bear the label and are as large: the number is said of neither alone."""
    assert told(members(), parent(CustomFacts(sizes=(5,))), *members("more")) == (2, -1)
    assert told(members(), parent(CustomFacts(sizes=(5,))), *members("more", {})) == (2, 5)
