"""How grave an effect is for people: what sorts a report, colours it, and ends a CI job.

Not a policy: whether a write is refused, rules decide. Explained and self-healing effects are
minor; what is lasting and in use is severe.
"""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

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


class Severity(IntEnum):
    """How grave; ordered."""

    NONE = 0
    MINOR = 1
    NOTABLE = 2
    SEVERE = 3

    @property
    def word(self) -> str:
        """How it is written."""
        return _WORDS[self]


_WORDS = ("none", "minor", "notable", "severe")


def severity(effect: Effect) -> Severity:
    """Return how grave an effect is."""
    match effect:
        case ObjectsRemoved():
            return _removed(effect)
        case PodsLost():
            return Severity.NOTABLE if effect.lasting else Severity.MINOR
        case PodsRestarted():
            return Severity.NOTABLE if not effect.healthy and effect.count else Severity.MINOR
        case PlacementLost():
            return Severity.SEVERE if effect.gone == effect.running else _NOTABLE
        case EndpointsLost():
            return _endpoints(effect)
        case ServiceEmptied():
            return _unless(effect.self_healing, effect.explained, Severity.SEVERE)
        case RouteBroken():
            return _unless(effect.self_healing, effect.explained, Severity.SEVERE)
        case AdmissionPathBroken():
            if effect.fail_closed and not effect.self_healing:
                return Severity.SEVERE
            return Severity.NOTABLE
        case DataLost():
            return _data(effect)
        case ReferenceBroken():
            if effect.explained or not (effect.current or effect.pods):
                return Severity.MINOR
            return Severity.SEVERE
        case DisruptionExceeded():
            return _unless(effect.self_healing, effect.explained, Severity.NOTABLE)
        case QuorumLost():
            return _unless(effect.self_healing, effect.explained, Severity.SEVERE)
        case SelectionChanged():
            if effect.empty or (effect.before and not effect.after):
                return Severity.SEVERE
            return Severity.NOTABLE if effect.foreign or effect.kept < effect.before else _MINOR
        case ScopeWidened():
            return Severity.SEVERE if effect.newly and not effect.backend_ready else _NOTABLE
        case PrivilegeGained():
            return Severity.SEVERE if effect.escalates else _NOTABLE
        case PrivilegeLost():
            grave = (effect.system or effect.running) and not effect.explained
            return Severity.SEVERE if grave else _MINOR
        case EntriesDropped():
            return Severity.SEVERE if effect.critical else _NOTABLE
        case CapacityLost():
            if effect.explained or (effect.planned == effect.nodes and not effect.unplaced):
                return _MINOR
            return Severity.SEVERE if effect.unplaced else _NOTABLE
        case ExternalDeleted():
            return Severity.SEVERE if effect.count > effect.explained else _MINOR
        case ForeignWrite():
            return _NOTABLE if effect.manager_lives and not effect.explained else _MINOR
        case FinalizerRemoved():
            return _MINOR if effect.by_owner else Severity.SEVERE if effect.data else _NOTABLE
        case OwnerInvalid():
            return Severity.SEVERE if effect.collected and effect.in_use else _NOTABLE
        case DeletionStuck() | Growth() | Churn() | Hollowed():
            return _NOTABLE
        case LoopClosed():
            return Severity.SEVERE if effect.fail_closed else _NOTABLE
        case _:
            assert_never(effect)


_MINOR, _NOTABLE = Severity.MINOR, Severity.NOTABLE


def _unless(healing: bool, explained: bool, grave: Severity) -> Severity:
    """Return `grave`, or less where it heals by itself or has a recorded cause."""
    if explained:
        return Severity.MINOR
    return Severity(max(Severity.MINOR, grave - 1)) if healing else grave


def _removed(effect: ObjectsRemoved) -> Severity:
    if effect.counted and (effect.in_use or effect.counted > 1):
        return Severity.SEVERE
    return Severity.NOTABLE if effect.counted or effect.wanted else Severity.MINOR


def _endpoints(effect: EndpointsLost) -> Severity:
    if effect.explained or effect.self_healing:
        return Severity.MINOR
    if effect.removed:
        return Severity.SEVERE if effect.before else Severity.NOTABLE
    return Severity.NOTABLE if effect.after * 2 < effect.before else Severity.MINOR


def _data(effect: DataLost) -> Severity:
    if effect.explained:
        return Severity.MINOR
    return Severity.NOTABLE if effect.reclaim == "Retain" else Severity.SEVERE
