"""Put to sleep, and not lost: the size that is taken away is noted in the same write."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import graph_of, service, workload
from suture.impact.effects import PodsLost, ServiceEmptied
from suture.model.graph import GraphView
from suture.model.objects import WorkloadFacts


def body(annotations: dict[str, str], size: int) -> bytes:
    """Return a Deployment as a request shows it."""
    meta = {"name": "web", "annotations": annotations}
    return msgspec.json.encode({"metadata": meta, "spec": {"replicas": size}})


@pytest.mark.parametrize(
    ("old", "new", "noted"),
    [
        pytest.param({}, {"sleep.example.com/was": "3"}, True, id="noted"),
        pytest.param({"a/was": "2"}, {"a/was": "3"}, True, id="noted anew"),
        pytest.param({}, {}, False, id="not noted"),
        pytest.param({"a/was": "3"}, {"a/was": "3"}, False, id="a number of before"),
        pytest.param({}, {"a/was": "2"}, False, id="another number"),
        pytest.param({}, {"deployment.kubernetes.io/revision": "3"}, False, id="a revision"),
    ],
)
def test_a_size_that_is_noted_is_to_come_back(
    old: dict[str, str], new: dict[str, str], *, noted: bool
) -> None:
    """The Service is emptied for a reason; that it is a workload stopped is told all the same."""
    things = workload("web", replicas=3)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    smaller = msgspec.structs.replace(things[0], facts=msgspec.structs.replace(facts, replicas=0))
    request = update(things[0], smaller, bodies=(body(old, 3), body(new, 0)))

    impact = impact_of(request, GraphView(graph_of(things, service("web"))))

    (emptied,), (lost,) = effects(impact, ServiceEmptied), effects(impact, PodsLost)
    assert (emptied.explained, lost.lasting) == (noted, 3)
