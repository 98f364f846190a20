"""Claims that a StatefulSet gives up for its size, as it was told to do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import operator, owner, thing, view_of
from suture.impact.effects import DataLost
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.names import CLAIMS, PODS, STATEFUL_SETS, VOLUMES, Resource
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    WorkloadFacts,
)

CACHES = Resource("cache.example.com", "caches")
PERSON, MACHINE = "owner@example.com", "system:serviceaccount:cd:deployer"


def lost(by: str, size: int, *, wanted: int | None = None, other: bool = False) -> list[DataLost]:
    """Make a set of six smaller; `wanted` by a custom resource, `other`: a pod of others reads."""
    above = [] if wanted is None else [thing(CACHES, "cache", "prod", facts=CustomFacts(wanted))]
    before = thing(
        STATEFUL_SETS, "cache", "prod", owners=[owner(one) for one in above],
        facts=WorkloadFacts(6, sheds_claims=True),
    )  # fmt: skip
    things: list[ClusterObject] = [*above, before]
    for number in range(6):
        claim = thing(
            CLAIMS, f"data-cache-{number}", "prod",
            facts=ClaimFacts(bound=True, volume=f"pv-{number}"),
        )  # fmt: skip
        names = [f"cache-{number}", *([f"reader-{number}"] if other else [])]
        pods = [
            thing(
                PODS, name, "prod", owners=[owner(before)] if name.startswith("cache") else [],
                facts=PodFacts(ready=True, node="node-1"),
            )
            for name in names
        ]  # fmt: skip
        things += [replace(pod, needs=(Need(Edge.CLAIM, claim.key),)) for pod in pods]
        things += [claim, thing(VOLUMES, f"pv-{number}", facts=VolumeFacts("Delete", "Bound"))]
    after = replace(before, facts=WorkloadFacts(size, sheds_claims=True))
    actor = operator(by)
    return effects(impact_of(update(before, after, by=actor), view_of(things), by=actor), DataLost)


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        pytest.param(PERSON, None, id="a person"),
        pytest.param(MACHINE, 4, id="what keeps it wants fewer"),
    ],
)
def test_a_set_that_gives_its_claims_up(by: str, wanted: int | None) -> None:
    """Somebody who may decide made it smaller, and it says what becomes of the claims."""
    gone = lost(by, 4, wanted=wanted)
    assert {one.holder.name for one in gone} == {"data-cache-4", "data-cache-5"}
    assert all(one.explained for one in gone)


@pytest.mark.parametrize(
    ("by", "size", "wanted", "other"),
    [
        pytest.param(PERSON, 0, None, False, id="stopped"),
        pytest.param(PERSON, 2, None, False, id="less than half is left"),
        pytest.param(PERSON, 4, 6, False, id="what keeps it wants them"),
        pytest.param(MACHINE, 4, None, False, id="a machine by its own word"),
        pytest.param(PERSON, 4, None, True, id="others work with them"),
    ],
)
def test_claims_that_nobody_gave_up(by: str, size: int, wanted: int | None, *, other: bool) -> None:
    """The twin: they go with the pods all the same, and their data with them."""
    gone = lost(by, size, wanted=wanted, other=other)
    assert gone
    assert not any(one.explained for one in gone)
