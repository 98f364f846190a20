"""Custom resources that are the volumes of a storage engine: what is behind a bound volume."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import delete, operator, owner, thing, view_of
from suture.impact.data.engines import may_be_volume
from suture.impact.effects import DataLost
from suture.model.edges import Edge, Need
from suture.model.facts import SnapshotFacts, VolumeFacts
from suture.model.names import CLAIMS, PODS, SNAPSHOTS, VOLUMES, Resource
from suture.model.objects import ClaimFacts, ClusterObject, PodFacts

ENGINE = Resource("storage.example.com", "volumes")
CLAIM = thing(CLAIMS, "ledger", "prod", facts=ClaimFacts(bound=True, volume="pvc-1"))


def needing(one: ClusterObject, *needs: Need) -> ClusterObject:
    return msgspec.structs.replace(one, needs=needs)


def held(resource: Resource = ENGINE) -> ClusterObject:
    return thing(resource, "pvc-1", "engine")


def volume(
    phase: str = "Bound", driver: str = "csi.example.com", name: str = "pvc-1"
) -> ClusterObject:
    made = thing(VOLUMES, name, facts=VolumeFacts("Delete", phase, driver=driver))
    return needing(made, Need(Edge.BOUND_CLAIM, CLAIM.key))


def user() -> ClusterObject:
    made = thing(PODS, "web-0", "prod", facts=PodFacts(ready=True))
    return needing(made, Need(Edge.CLAIM, CLAIM.key))


def lost(*things: ClusterObject, of: ClusterObject | None = None) -> list[tuple[int, bool]]:
    """Return for the engine's own object the pods that use it, and whether no copy stays."""
    one = of or held()
    found = effects(impact_of(delete(one), view_of(one, *things)), DataLost)
    return [(each.mounted, each.last_copy) for each in found if each.bound]


def test_the_object_behind_a_bound_volume() -> None:
    """Its data goes with it, whoever uses the claim at this moment."""
    assert lost(volume(), CLAIM) == [(0, True)]
    assert lost(volume(), CLAIM, user()) == [(1, True)]


def test_a_volume_that_tells_no_driver() -> None:
    """An engine that gives it out as a path or an address: by its name, where pods use it."""
    assert lost(volume(driver=""), CLAIM, user()) == [(1, True)]
    assert lost(volume(driver="", name="pvc-2"), CLAIM, user()) == []


def test_a_snapshot_is_a_copy() -> None:
    """It holds what goes, of an earlier hour."""
    snapshot = needing(
        thing(SNAPSHOTS, "s", "prod", facts=SnapshotFacts(ready=True)),
        Need(Edge.SNAPSHOT_SOURCE, CLAIM.key),
    )

    assert lost(volume(), CLAIM, snapshot) == [(0, False)]


@pytest.mark.parametrize(
    "things",
    [
        pytest.param((), id="orphaned"),
        pytest.param((volume("Released"), CLAIM), id="released"),
        pytest.param((volume(),), id="its-claim-is-gone"),
        pytest.param((volume(name="pvc-2"), CLAIM), id="of-another-name"),
        pytest.param((volume(driver=""), CLAIM), id="made-by-hand"),
        pytest.param((volume(driver="csi.example.org"), CLAIM), id="of-another-engine"),
        pytest.param((volume(), msgspec.structs.replace(CLAIM, deleted=1.0)), id="its-claim-goes"),
        pytest.param(
            (volume(), msgspec.structs.replace(CLAIM, facts=ClaimFacts(bound=True, volume="pv"))),
            id="its-claim-has-another",
        ),
    ],
)
def test_what_is_behind_no_volume_in_use(things: tuple[ClusterObject, ...]) -> None:
    """Nobody can ask for what it holds."""
    assert lost(*things) == []


def test_its_own_engine_clears_away_what_no_pod_uses() -> None:
    """To take it up again from a backup under the same name; never from under pods."""
    engine = operator("system:serviceaccount:storage-system:storage-manager")
    own = delete(held(), by=engine)

    idle = impact_of(own, view_of(held(), volume(), CLAIM), by=engine)
    used = impact_of(own, view_of(held(), volume(), CLAIM, user()), by=engine)

    assert effects(idle, DataLost) == []
    assert [one.mounted for one in effects(used, DataLost)] == [1]


@pytest.mark.parametrize(
    ("resource", "may"),
    [
        (ENGINE, True),
        (Resource("zfs.example.com", "zfsvolumes"), True),
        (Resource("storage.example.com", "backupvolumes"), False),
        (Resource("storage.example.com", "replicas"), False),
        (VOLUMES, False),
    ],
)
def test_types_that_are_called_volumes(resource: Resource, *, may: bool) -> None:
    """Copies are called so as well, and so is what Kubernetes has itself."""
    assert may_be_volume(resource) is may


# ---------------------------------------------------------------- replicas of a volume

PARTS = Resource("storage.example.com", "replicas")


def part(number: int, *, going: bool = False) -> ClusterObject:
    made = thing(PARTS, f"pvc-1-r-{number}", "engine", owners=[owner(held())])
    return msgspec.structs.replace(made, deleted=1.0 if going else 0.0)


def test_the_last_replica_of_a_volume_in_use() -> None:
    """Whatever became of the others: with it all that is there goes, and the engine has no other."""
    one, other = part(0), part(1)
    world = (held(), volume(), CLAIM, user())

    assert lost(*world, of=one) == [(1, True)]
    assert lost(*world, part(1, going=True), of=one) == [(1, True)]
    assert lost(*world, other, of=one) == []


@pytest.mark.parametrize(
    "world",
    [
        pytest.param((held(), volume(), CLAIM), id="in use by nobody"),
        pytest.param((held(), CLAIM, user()), id="of a volume that is gone"),
        pytest.param(
            (msgspec.structs.replace(held(), deleted=1.0), volume(), CLAIM, user()),
            id="of a volume that goes",
        ),
    ],
)
def test_a_replica_that_nobody_misses(world: tuple[ClusterObject, ...]) -> None:
    assert lost(*world, of=part(0)) == []


def test_what_else_a_volume_has_is_none_of_its_replicas() -> None:
    """An attachment of it to a node goes as its pods move."""
    attachment = thing(
        Resource("storage.example.com", "attachments"), "a", "engine", owners=[owner(held())]
    )
    assert lost(held(), volume(), CLAIM, user(), of=attachment) == []
