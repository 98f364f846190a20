"""Autoscalers that cannot read what they go by explain no smaller size."""

from __future__ import annotations

import msgspec
import pytest

from support.cluster import owner, thing, view_of, workload
from suture.impact.causes.parents import resize_explained
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.names import AUTOSCALERS, SCALED_OBJECTS
from suture.model.objects import ClusterObject

WEB = workload("web", replicas=6)


def scaler(
    least: int, most: int, floor: int = 0, *, of: ClusterObject | None = None
) -> ClusterObject:
    """Return an autoscaler of the Deployment `web`; one that another made is `of` that."""
    resource, name = (AUTOSCALERS, "web") if of is not None else (SCALED_OBJECTS, "web")
    return msgspec.structs.replace(
        thing(resource, name, "prod", facts=AutoscalerFacts(least, most, floor)),
        needs=(Need(Edge.SCALES, WEB[0].key),),
        owners=() if of is None else (owner(of),),
    )


def explained(after: int, *scalers: ClusterObject) -> bool:
    view = view_of(WEB, *scalers)
    row = view.find(WEB[0].key)
    assert row is not None
    return resize_explained(view, row, after)


@pytest.mark.parametrize(("after", "floor"), [(2, 5), (4, 5), (0, 1), (2, 3)])
def test_who_cannot_read_its_metrics_explains_no_smaller_size(after: int, floor: int) -> None:
    """Within its bounds, and not: but for its upper bound, and what it falls back on."""
    assert explained(after, scaler(0, 5))
    assert not explained(after, scaler(0, 5, floor))
    assert explained(floor, scaler(0, 5, floor))


def test_who_made_an_autoscaler_sizes_by_it() -> None:
    """Where that one is blind so is its maker, of the sizes that are that one's; not of a stop."""
    maker = scaler(0, 9)
    blind, well = scaler(1, 9, 9, of=maker), scaler(1, 9, of=maker)

    assert not explained(2, maker, blind)
    assert explained(2, maker, well)
    assert explained(0, maker, blind)
    assert explained(2, scaler(0, 9, 9), well)
    assert not explained(0, scaler(0, 9, 9), well)
