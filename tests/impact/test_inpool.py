"""Custom resources in which volumes lie: what a StorageClass provisions from."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, operator, thing, view_of
from suture.impact.effects import DataLost
from suture.model.edges import Edge, Need
from suture.model.facts import StorageClassFacts, VolumeFacts
from suture.model.names import CLAIMS, PODS, STORAGE_CLASSES, VOLUMES, Resource
from suture.model.objects import ClaimFacts, ClusterObject, CustomFacts, PodFacts

POOLS = Resource("storage.example.com", "blockpools")
BY = operator("system:serviceaccount:cd:deployer")
HELD = ("blockpool.storage.example.com",)


def lost(
    *words: str,
    driver: str = "rbd.csi.example.org",
    phase: str = "Bound",
    finalizers: tuple[str, ...] = HELD,
    outside: str = "",
    used: bool = True,
) -> list[DataLost]:
    """Delete a pool of a namespace, with a class of such words and a volume of that class."""
    pool = thing(POOLS, "fast", "store", facts=CustomFacts(outside=outside))
    pool = replace(pool, finalizers=finalizers)
    storage = thing(STORAGE_CLASSES, "disks", facts=StorageClassFacts(driver=driver, words=words))
    claim = thing(CLAIMS, "data", "prod", facts=ClaimFacts(bound=True, volume="pv"))
    volume = replace(
        thing(VOLUMES, "pv", facts=VolumeFacts("Delete", phase, driver=driver)),
        needs=(Need(Edge.BOUND_CLAIM, claim.key), Need(Edge.STORAGE_CLASS, storage.key)),
    )
    things: list[ClusterObject] = [pool, storage, claim, volume]
    if used:
        pod = thing(PODS, "web", "prod", facts=PodFacts(ready=True, node="node-1"))
        things.append(replace(pod, needs=(Need(Edge.CLAIM, claim.key),)))
    return effects(impact_of(delete(pool, by=BY), view_of(things), by=BY), DataLost)


@pytest.mark.parametrize(
    ("words", "driver"),
    [
        pytest.param(("fast", "store"), "rbd.csi.example.org", id="its name and its namespace"),
        pytest.param(("fast",), "csi.example.com", id="its name, of a driver of its domain"),
    ],
)
def test_a_pool_in_which_volumes_lie(words: tuple[str, ...], driver: str) -> None:
    """They stay, with nothing behind them; that they are in use or not makes no difference."""
    for used in (True, False):
        (found,) = lost(*words, driver=driver, used=used)
        assert (found.holder.name, found.volume) == ("fast", "pv")
        assert (found.mounted, found.last_copy, found.direct) == (used, True, True)
        assert (found.bound, found.explained) == (True, False)


@pytest.mark.parametrize(
    "untold",
    [
        pytest.param(lost("fast"), id="its name alone"),
        pytest.param(lost("slow", "store"), id="another of its namespace"),
        pytest.param(lost("fast", "store", phase="Released"), id="nothing is bound"),
        pytest.param(lost("fast", "store", finalizers=()), id="nobody waits for its end"),
        pytest.param(lost("fast", "store", outside="Retain"), id="what it stands for is kept"),
    ],
)
def test_what_no_volume_lies_in(untold: list[DataLost]) -> None:
    """The twin: nothing goes with it, or it is not known to be what a class means."""
    assert not untold
