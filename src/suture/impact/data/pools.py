"""Custom resources in which volumes lie: the pool or file system that a class provisions from.

Beside `engines`, where an object is one volume: here it is what many are made in. Told by names and
types, never by product: two parameters of a class are the object's name and its namespace, or one
is its name and the class's driver is of the domain that the object's group is of. When the object
goes, so does what lies in it, and the volumes stay with nothing behind them. Pure.
Source: storage/v1 StorageClass (`parameters` are handed to the driver as they are).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.parents import mounting
from suture.impact.data.engines import bound_to, domain, volume_lost
from suture.impact.effects import DataLost
from suture.impact.ground.inventory import leaves_all
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.machines import holder
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import StorageClassFacts, VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import STORAGE_CLASSES, VOLUMES

CLASSES_ASKED: Final = 64
"""LIMIT: StorageClasses that are asked what they provision from, 1 us each; where there are more,
nothing is told."""

VOLUMES_ASKED: Final = 256
"""LIMIT: claims and volumes of a class that are looked at, 3 us each; one in use is enough."""


def pool_effects(scene: Scene) -> Iterable[DataLost]:
    """Yield that volumes lie in the request's own object, if they do.

    WHY a finalizer: what does something in the end for what it stands for has one.
    """
    view = scene.view
    if len(scene.change.direct) != 1:
        return
    (row,) = scene.change.direct
    if not is_custom(view.resource(row)) or not holder(view, row) or leaves_all(view, row):
        return
    classes = view.rows(STORAGE_CLASSES)
    if len(classes) > CLASSES_ASKED:
        return
    volumes = [
        one
        for each in classes
        if _provisions_from(view, each, row)
        for one in view.sources(each, Edge.STORAGE_CLASS)[:VOLUMES_ASKED]
        if _holds(view, one)
    ]
    claims = [claim for one in volumes for claim in bound_to(view, one)]
    if not claims:
        return
    mounted = sum(len(mounting(view, claim)) for claim in claims)
    yield volume_lost(scene, row, volumes[0], mounted)


def _provisions_from(view: GraphView, storage: int, row: int) -> bool:
    """Whether the volumes of a class are made in what an object stands for."""
    facts = view.facts(storage)
    if not isinstance(facts, StorageClassFacts) or view.name(row) not in facts.words:
        return False
    namespace = view.namespace(row)
    if namespace in facts.words and namespace != view.name(row):
        return True
    return bool(facts.driver) and domain(facts.driver) == domain(view.resource(row).group)


def _holds(view: GraphView, row: int) -> bool:
    """Whether a row is a bound volume that stays."""
    facts = view.facts(row) if view.resource(row) == VOLUMES else None
    return isinstance(facts, VolumeFacts) and facts.phase == "Bound" and not view.terminating(row)
