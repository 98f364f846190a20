"""How grave an effect is for people: what sorts a report, colours it, and ends a CI job.

Not a policy: whether a write is refused, rules decide. Explained and self-healing effects are
minor; what is lasting and in use is severe.
"""

from __future__ import annotations

from typing import Final, assert_never

from suture.impact.effects import (
    AdmissionPathBroken,
    CapacityLost,
    Churn,
    DataLost,
    DeletionStuck,
    DisruptionExceeded,
    Effect,
    EndpointsLost,
    EntriesDropped,
    ExternalDeleted,
    FinalizerRemoved,
    ForeignWrite,
    Growth,
    Hollowed,
    LoopClosed,
    ObjectsRemoved,
    OwnerInvalid,
    PlacementLost,
    PodsLost,
    PodsRestarted,
    PrivilegeGained,
    PrivilegeLost,
    QuorumLost,
    ReferenceBroken,
    RouteBroken,
    ScopeWidened,
    SelectionChanged,
    ServiceEmptied,
)
from suture.impact.effects.severity import Severity

_MINOR: Final = Severity.MINOR
_NOTABLE: Final = Severity.NOTABLE
_SEVERE: Final = Severity.SEVERE


def severity(effect: Effect) -> Severity:
    """Return how grave an effect is."""
    # WHY in this order: what most deletes have comes first, each case being a look at its type.
    match effect:
        case ObjectsRemoved():
            return _removed(effect)
        case EndpointsLost():
            return _endpoints(effect)
        case ForeignWrite():
            return _NOTABLE if effect.manager_lives and not effect.explained else _MINOR
        case RouteBroken():
            return _unless(effect.self_healing, effect.explained, _SEVERE)
        case ExternalDeleted():
            return _SEVERE if effect.count > effect.explained else _MINOR
        case PodsLost():
            return _NOTABLE if effect.lasting else _MINOR
        case PodsRestarted():
            return _NOTABLE if not effect.healthy and effect.count else _MINOR
        case PlacementLost():
            return _SEVERE if effect.gone == effect.running else _NOTABLE
        case ServiceEmptied():
            return _unless(effect.self_healing, effect.explained, _SEVERE)
        case AdmissionPathBroken():
            if effect.fail_closed and not effect.self_healing:
                return _SEVERE
            return _NOTABLE
        case DataLost():
            return _data(effect)
        case ReferenceBroken():
            if effect.explained or not (effect.current or effect.pods):
                return _MINOR
            return _SEVERE
        case DisruptionExceeded():
            return _unless(effect.self_healing, effect.explained, _NOTABLE)
        case QuorumLost():
            return _unless(effect.self_healing, effect.explained, _SEVERE)
        case SelectionChanged():
            if effect.empty or (effect.before and not effect.after):
                return _SEVERE
            return _NOTABLE if effect.foreign or effect.kept < effect.before else _MINOR
        case ScopeWidened():
            return _SEVERE if effect.newly and not effect.backend_ready else _NOTABLE
        case PrivilegeGained():
            return _SEVERE if effect.escalates else _NOTABLE
        case PrivilegeLost():
            grave = (effect.system or effect.running) and not effect.explained
            return _SEVERE if grave else _MINOR
        case EntriesDropped():
            return _SEVERE if effect.critical else _NOTABLE
        case CapacityLost():
            if effect.explained or (effect.planned == effect.nodes and not effect.unplaced):
                return _MINOR
            return _SEVERE if effect.unplaced else _NOTABLE
        case FinalizerRemoved():
            return _MINOR if effect.by_owner else _SEVERE if effect.data else _NOTABLE
        case OwnerInvalid():
            return _SEVERE if effect.collected and effect.in_use else _NOTABLE
        case DeletionStuck() | Growth() | Churn() | Hollowed():
            return _NOTABLE
        case LoopClosed():
            return _SEVERE if effect.fail_closed else _NOTABLE
        case _:
            assert_never(effect)


def _unless(healing: bool, explained: bool, grave: Severity) -> Severity:
    """Return `grave`, or less where it heals by itself or has a recorded cause."""
    if explained:
        return _MINOR
    return Severity(max(_MINOR, grave - 1)) if healing else grave


def _removed(effect: ObjectsRemoved) -> Severity:
    if effect.counted and (effect.in_use or effect.counted > 1):
        return _SEVERE
    return _NOTABLE if effect.counted or effect.wanted else _MINOR


def _endpoints(effect: EndpointsLost) -> Severity:
    if effect.explained or effect.self_healing:
        return _MINOR
    if effect.removed:
        return _SEVERE if effect.before else _NOTABLE
    return _NOTABLE if effect.after * 2 < effect.before else _MINOR


def _data(effect: DataLost) -> Severity:
    if effect.explained:
        return _MINOR
    return _NOTABLE if effect.reclaim == "Retain" else _SEVERE
