"""The effect types: facts about what a change would do, with before, after, victims and confidence.

A policy never computes facts; it weighs these. Field names are what rules read in CEL, so they are
part of the public contract: renaming one breaks somebody's constraint.
"""

from __future__ import annotations

import msgspec

from suture.impact.effects.altering import (
    Churn,
    EntriesDropped,
    FinalizerRemoved,
    ForeignWrite,
    Growth,
    Hollowed,
    OwnerInvalid,
    PlacementLost,
    PodsRestarted,
)
from suture.impact.effects.common import (
    VICTIMS_NAMED,
    Confidence,
    Victim,
)
from suture.impact.effects.reach import (
    CapacityLost,
    LoopClosed,
    PrivilegeGained,
    PrivilegeLost,
    ScopeWidened,
)
from suture.impact.effects.removal import (
    DataLost,
    DeletionStuck,
    DisruptionExceeded,
    ExternalDeleted,
    ObjectsRemoved,
    PodsLost,
    QuorumLost,
    ReferenceBroken,
)
from suture.impact.effects.serving import (
    AdmissionPathBroken,
    EndpointsLost,
    RouteBroken,
    SelectionChanged,
    ServiceEmptied,
)

__all__ = [
    "ALL_EFFECTS",
    "NAMES",
    "VICTIMS_NAMED",
    "AdmissionPathBroken",
    "CapacityLost",
    "Churn",
    "Confidence",
    "DataLost",
    "DeletionStuck",
    "DisruptionExceeded",
    "Effect",
    "EndpointsLost",
    "EntriesDropped",
    "ExternalDeleted",
    "FinalizerRemoved",
    "ForeignWrite",
    "Growth",
    "Hollowed",
    "Impact",
    "LoopClosed",
    "ObjectsRemoved",
    "OwnerInvalid",
    "PlacementLost",
    "PodsLost",
    "PodsRestarted",
    "PrivilegeGained",
    "PrivilegeLost",
    "QuorumLost",
    "ReferenceBroken",
    "RouteBroken",
    "ScopeWidened",
    "SelectionChanged",
    "ServiceEmptied",
    "Victim",
]


Effect = (
    ObjectsRemoved
    | PodsLost
    | PodsRestarted
    | PlacementLost
    | EndpointsLost
    | ServiceEmptied
    | RouteBroken
    | AdmissionPathBroken
    | DataLost
    | ReferenceBroken
    | DeletionStuck
    | DisruptionExceeded
    | QuorumLost
    | SelectionChanged
    | ScopeWidened
    | PrivilegeGained
    | PrivilegeLost
    | EntriesDropped
    | Hollowed
    | CapacityLost
    | ExternalDeleted
    | ForeignWrite
    | FinalizerRemoved
    | OwnerInvalid
    | LoopClosed
    | Growth
    | Churn
)

NAMES: dict[type[Effect], str] = {
    ObjectsRemoved: "objects_removed",
    PodsLost: "pods_lost",
    PodsRestarted: "pods_restarted",
    PlacementLost: "placement_lost",
    EndpointsLost: "endpoints_lost",
    ServiceEmptied: "service_emptied",
    RouteBroken: "route_broken",
    AdmissionPathBroken: "admission_path_broken",
    DataLost: "data_lost",
    ReferenceBroken: "reference_broken",
    DeletionStuck: "deletion_stuck",
    DisruptionExceeded: "disruption_exceeded",
    QuorumLost: "quorum_lost",
    SelectionChanged: "selection_changed",
    ScopeWidened: "scope_widened",
    PrivilegeGained: "privilege_gained",
    PrivilegeLost: "privilege_lost",
    EntriesDropped: "entries_dropped",
    Hollowed: "hollowed",
    CapacityLost: "capacity_lost",
    ExternalDeleted: "external_deleted",
    ForeignWrite: "foreign_write",
    FinalizerRemoved: "finalizer_removed",
    OwnerInvalid: "owner_invalid",
    LoopClosed: "loop_closed",
    Growth: "growth",
    Churn: "churn",
}
"""What rules call each effect: `effects.service_emptied` is a list of them."""

ALL_EFFECTS = frozenset(NAMES.values())


class Impact(msgspec.Struct, frozen=True, gc=False):
    """The measured consequence of a change. `doubt` names what the model could not know."""

    effects: tuple[Effect, ...] = ()
    doubt: tuple[str, ...] = ()
