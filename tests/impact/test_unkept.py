"""Volumes in use that were to be kept, and are to be erased with their claims."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects
from support.cluster import operator, owner, thing
from support.unfolding import OTHER, Unfolding
from support.writes import body, trimmed
from suture.impact.effects import DataLost
from suture.model.actor import Actor
from suture.model.names import CLAIMS, PODS, VOLUMES, Resource
from suture.model.objects import ClusterObject


def volume(at: int, reclaim: str = "Retain", **marks: str) -> ClusterObject:
    spec = {
        "persistentVolumeReclaimPolicy": reclaim,
        "claimRef": {"namespace": "prod", "name": f"data-{at}"},
    }
    made = body(
        "PersistentVolume", f"pv-{at}", "", metadata={"labels": marks}, spec=spec,
        status={"phase": "Bound"},
    )  # fmt: skip
    return trimmed(VOLUMES, made)


def claim(at: int) -> ClusterObject:
    spec, status = {"volumeName": f"pv-{at}"}, {"phase": "Bound"}
    return trimmed(CLAIMS, body("PersistentVolumeClaim", f"data-{at}", spec=spec, status=status))


def pod(at: int) -> ClusterObject:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{at}"}}]
    made = body("Pod", f"db-{at}", spec={"volumes": volumes}, status={"phase": "Running"})
    return trimmed(PODS, made)


class Disks(Unfolding):
    """Six volumes with their claims, and a pod on each of the first `used`."""

    def __init__(self, used: int = 6, reclaim: str = "Retain") -> None:
        volumes = [volume(at, reclaim) for at in range(6)]
        super().__init__(volumes, map(claim, range(6)), map(pod, range(used)))

    def lost(self, at: int, reclaim: str = "Delete", by: Actor | None = None) -> list[int]:
        """Return how many pods use what is to be erased."""
        found = effects(self.write(volume(at, reclaim), by), DataLost)
        assert all((one.reclaim, one.direct, one.bound) == ("Delete", True, True) for one in found)
        return [one.mounted for one in found]


def test_from_the_third_on_the_data_of_running_pods_is_let_go() -> None:
    """Two are a decision of whoever gives them up; one after the other is a script's."""
    disks = Disks()
    assert [disks.lost(at) for at in range(4)] == [[], [], [1], [1]]


def test_data_that_nobody_works_with_may_be_let_go() -> None:
    """Clean-ups set volumes of what has gone to be erased, however many."""
    assert [Disks(used=0).lost(at) for at in range(6)] == [[]] * 6


@pytest.mark.parametrize("reclaim", ["Retain", "Recycle"])
def test_what_is_kept_or_goes_already_is_not_told(reclaim: str) -> None:
    """To keep what was to be erased, or another way of erasing it, loses nothing more."""
    disks = Disks(reclaim="Delete")
    assert [disks.lost(at, reclaim) for at in range(6)] == [[]] * 6


def test_who_kept_volumes_for_a_move_sets_them_back() -> None:
    """A move keeps each volume while its claim is made anew, and lets it go again afterwards."""
    disks = Disks(reclaim="Delete")
    for at in range(6):
        disks.lost(at, "Retain")
    assert [disks.lost(at) for at in range(6)] == [[]] * 6


def test_each_actor_is_another() -> None:
    """What others let go counts for them."""
    disks = Disks()
    disks.lost(0)
    disks.lost(1, by=OTHER)
    assert disks.lost(2) == []


DATABASE = thing(Resource("db.example.com", "databases"), "db", "prod")
PERSON = operator("dba@example.com")


@pytest.mark.parametrize(
    ("by", "name", "told"),
    [
        pytest.param(PERSON, "db", [[], [], [], []], id="a person asked for it"),
        pytest.param(PERSON, "monitor", [[], [], [1], [1]], id="of something else"),
        pytest.param(OTHER, "db", [[], [], [1], [1]], id="a machine did"),
    ],
)
def test_what_a_person_asked_for_of_all(by: Actor, name: str, told: list[list[int]]) -> None:
    """Of the custom resource whose pods use the volumes, and not of another that is called so."""
    asked = DATABASE if name == "db" else thing(DATABASE.key.resource, name, "prod")
    disks = Disks()
    for at in range(6):
        key = pod(at).key
        disks.things[key] = msgspec.structs.replace(pod(at), owners=(owner(DATABASE),))
    disks.things |= {one.key: one for one in (DATABASE, asked)}
    specs = [{"spec": {"pvReclaimPolicy": one}} for one in ("Retain", "Delete")]
    old, new = map(msgspec.json.encode, specs)
    disks.write(asked, by, (old, new))
    assert [disks.lost(at) for at in range(4)] == told
