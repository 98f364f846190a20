"""A default priority above all that runs without one, told from defaults that drive nobody out."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import namespace, view_of, workload
from support.writes import Body, body, write
from suture.impact.effects import EntriesDropped
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import PRIORITY_CLASSES, ObjectKey
from suture.model.objects import ClusterObject

API = "scheduling.k8s.io/v1"
MEDIUM = Need(Edge.PRIORITY_CLASS, ObjectKey(PRIORITY_CLASSES, "", "medium"))


def priority(value: int, *, default: bool = True, **parts: Any) -> Body:
    return body(
        "PriorityClass", "medium", "", apiVersion=API, value=value, globalDefault=default, **parts
    )


def running(count: int, *, ready: int = 2, needs: tuple[Need, ...] = ()) -> list[ClusterObject]:
    found = [workload(f"web-{at}", replicas=2, ready=ready) for at in range(count)]
    return [replace(one, needs=needs) for things in found for one in things]


def told(old: Body | None, new: Body, view: GraphView) -> list[EntriesDropped]:
    return effects(impact_of(write(PRIORITY_CLASSES, old, new), view), EntriesDropped)


PROD = namespace("prod")


@pytest.mark.parametrize("old", [None, priority(1000, default=False)], ids=["new", "made-default"])
def test_what_runs_has_no_class_and_what_is_made_next_has(old: Body | None) -> None:
    """Each pod that is made from then on stands above all that runs."""
    (found,) = told(old, priority(1000), view_of(PROD, running(4)))
    assert (found.field, found.dropped, found.before, found.critical) == ("value", 8, 8, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(None, priority(0), id="of-the-priority-of-what-has-none"),
        pytest.param(None, priority(-10), id="below-what-has-none"),
        pytest.param(None, priority(1000, default=False), id="for-who-asks-for-it"),
        pytest.param(None, priority(1000, preemptionPolicy="Never"), id="that-drives-nobody-out"),
        pytest.param(priority(1000), priority(1000, description="x"), id="that-is-the-default"),
        pytest.param(priority(1000), priority(1000, default=False), id="that-is-none-any-more"),
    ],
)
def test_a_class_that_stands_above_nobody(old: Body | None, new: Body) -> None:
    """Classes come with platforms and teams every day."""
    assert told(old, new, view_of(PROD, running(4))) == []


@pytest.mark.parametrize(
    "things",
    [
        pytest.param(running(4, needs=(MEDIUM,)), id="all-have-a-class"),
        pytest.param(running(2), id="of-a-cluster-that-is-installed"),
        pytest.param(running(4, ready=0), id="nothing-serves"),
    ],
)
def test_nobody_is_there_to_be_driven_out(things: list[ClusterObject]) -> None:
    """A default that was there before gave its class to all that runs."""
    assert told(None, priority(1000), view_of(PROD, things)) == []
