"""Custom resources that are volumes: what a storage engine keeps of the data behind one.

Told by names and types, never by product: a bound PersistentVolume has the object's name, its
driver, if it has one, is of the domain of the object's group, and the type is called one of
volumes. When the object goes, the engine erases what it holds, and the volume stays with nothing
behind it.
Source: core/v1 CSIPersistentVolumeSource; an engine names its own object after the volume that it
was asked for (`CreateVolumeRequest.name`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.parents import mounting
from suture.impact.causes.stranded import left_over
from suture.impact.data.storage import DELETE, Siblings, snapshots_of
from suture.impact.effects import DataLost
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView, Owner
from suture.model.names import VOLUMES, ObjectKey, Resource
from suture.model.objects import ClaimFacts

_CALLED: Final = "volumes"
_PARTS: Final = "replicas"
_COPIES: Final = ("backup", "snapshot")
"""Words of types that are called volumes too and hold copies of them: those go by their age."""


def may_be_volume(resource: Resource) -> bool:
    """Whether objects of a type may be the volumes of a storage engine."""
    name = resource.plural
    return (
        name.endswith(_CALLED) and is_custom(resource) and not any(word in name for word in _COPIES)
    )


def may_hold_volume(resource: Resource) -> bool:
    """Whether objects of a type may be the volumes of a storage engine, or replicas of them."""
    return may_be_volume(resource) or _may_be_replica(resource)


def _may_be_replica(resource: Resource) -> bool:
    return resource.plural.endswith(_PARTS) and is_custom(resource)


def engine_effects(scene: Scene) -> Iterable[DataLost]:
    """Yield the bound volume that the request's own object is, or is the last replica of.

    WHY of that alone: what goes along with a definition or a namespace is told by its number.
    """
    view, siblings = scene.view, Siblings(scene)
    yield from _last_replicas(scene)
    for row in scene.direct:
        resource = view.resource(row)
        volume = _volume_of(view, row) if may_be_volume(resource) else None
        if volume is None:
            continue
        claims = bound_to(view, volume)
        pods = [pod for claim in claims for pod in mounting(view, claim)]
        # WHY: its own engine clears one away that nobody uses, to take it up again from a copy; and
        # the name alone says little of what nobody uses.
        if not claims or (not pods and (not _driver_of(view, volume) or keeps(scene, resource))):
            continue
        copies = sum(snapshots_of(scene, claim) + siblings.of(claim) for claim in claims)
        left = all(left_over(view, claim, scene.now) for claim in claims)
        yield volume_lost(scene, row, volume, len(pods), copies=copies, left=left)


def _last_replicas(scene: Scene) -> Iterable[DataLost]:
    """Yield each volume in use of which the request takes the last replica that was there.

    WHY the last: an engine that has another makes good what is lost, and clears failed ones away.
    """
    view = scene.view
    for row in scene.direct:
        if not _may_be_replica(view.resource(row)):
            continue
        for owner in view.owners(row):
            volume = _volume_of(view, owner.row) if _keeps_replicas(scene, owner, row) else None
            if volume is None:
                continue
            pods = [pod for claim in bound_to(view, volume) for pod in mounting(view, claim)]
            if pods:
                yield volume_lost(scene, row, volume, len(pods))


def volume_lost(
    scene: Scene, row: int, volume: int, mounted: int, *, copies: int = 0, left: bool = False
) -> DataLost:
    """Return what is lost of a bound volume with what keeps its data; `left`: by nobody."""
    return DataLost(
        holder=scene.victim(row),
        volume=scene.view.name(volume),
        reclaim=DELETE,
        bound=True,
        mounted=mounted,
        copies=copies,
        last_copy=not copies,
        explained=left or scene.causes.explains(row),
    )


def _keeps_replicas(scene: Scene, owner: Owner, row: int) -> bool:
    """Whether an owner is the volume of an engine that stays, and has no other replica that does.

    Told once, of the first that goes.
    """
    view = scene.view
    if not (owner.present and scene.stays(owner.row) and may_be_volume(view.resource(owner.row))):
        return False
    beside = [
        one
        for one in view.staying(view.children_of(owner.row))
        if view.resource(one) == view.resource(row) and not view.terminating(one)
    ]
    going = [one for one in beside if one in scene.removed]
    return len(going) == len(beside) and (not going or going[0] == row)


def _volume_of(view: GraphView, row: int) -> int | None:
    """Return the bound volume that a custom resource is, by its name and its driver's domain.

    By its name alone where no driver is told: what an engine gives out as a path or an address.
    """
    volume = view.find(ObjectKey(VOLUMES, "", view.name(row)))
    facts = view.facts(volume) if volume is not None else None
    if volume is None or not isinstance(facts, VolumeFacts) or facts.phase != "Bound":
        return None
    driver = _driver_of(view, volume)
    if driver and domain(driver) != domain(view.resource(row).group):
        return None
    return None if view.gone(volume) or view.terminating(volume) else volume


def _driver_of(view: GraphView, volume: int) -> str:
    facts = view.facts(volume)
    return facts.driver if isinstance(facts, VolumeFacts) else ""


def bound_to(view: GraphView, volume: int) -> list[int]:
    """Return the claims that are there, stay, and are bound to a volume."""
    name = view.name(volume)
    return [
        claim
        for claim in view.there(volume, Edge.BOUND_CLAIM)
        if not view.terminating(claim) and _names(view, claim, name)
    ]


def _names(view: GraphView, claim: int, volume: str) -> bool:
    facts = view.facts(claim)
    return isinstance(facts, ClaimFacts) and facts.volume == volume


def domain(name: str) -> str:
    """Return the last two parts of a name: whose it is."""
    return ".".join(name.rsplit(".", 2)[-2:])
