"""What is predicted of random writes to random worlds is what the real controllers then do."""

from __future__ import annotations

import sys

import pytest

from suture.adapters.kube import KubeClient
from suture.lab.assets import Assets
from suture.lab.clusters.chance import dice as chance
from suture.lab.differential.choosing import Chooser
from suture.lab.differential.run import Differential
from suture.lab.differential.worlds import OWN_KIND, has_own_kind, world
from suture.lab.differential.writes import Create, Delete, DeleteAll, Evict, Patch, Scale
from suture.lab.plane import Plane

CASES = 300
SEED = 1
SORTS = (Delete, DeleteAll, Evict, Patch, Scale)


def say(words: str) -> None:
    """Say how far it is: the test takes two minutes, and pytest alone would be silent."""
    if sys.__stderr__ is not None:
        sys.__stderr__.write(f"{words}\n")


@pytest.mark.lab
async def test_predictions_are_what_the_real_controllers_do(lab_assets: Assets) -> None:
    """Objects removed, pods replaced, endpoints, Services emptied, pods that cannot be made."""
    # WHY one of its own: hundreds of objects go and come, and nobody takes away what stays.
    with Plane.up("differential-test", binaries=lab_assets) as plane:
        async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
            tally = await Differential(plane, client, SEED, say).run(CASES)

    assert tally.cases >= CASES
    assert not tally.unpredicted, "\n".join(map(str, tally.mismatches))
    assert not tally.mismatches, "\n".join(map(str, tally.mismatches))
    assert set(tally.kinds) == {sort.__name__ for sort in SORTS}
    assert tally.removed > CASES


def test_a_world_is_a_function_of_seed_and_number() -> None:
    """So that one case can be made again; over many of them everything that runs is there."""
    assert world(3, 7) == world(3, 7)
    assert world(3, 7) != world(3, 8)
    assert world(3, 7) != world(4, 7)
    made = [create.body["kind"] for number in range(60) for create in world(3, number).first]
    assert {
        "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod",
        "Service", "EndpointSlice", "PodDisruptionBudget", "HorizontalPodAutoscaler",
        "PersistentVolumeClaim", "PersistentVolume", "Ingress", "Widget", "Planet", "Gadget",
    } <= set(made)  # fmt: skip
    late = [write for number in range(60) for write in world(3, number).then]
    assert {Create, Delete, Patch} <= {type(write) for write in late}
    assert sum(map(has_own_kind, range(60))) == 60 // OWN_KIND


def test_nothing_is_written_where_nothing_is_left() -> None:
    """A world whose namespaces are gone gives no further cases."""
    assert Chooser((), chance(1)).draw(last=True) is None
