"""An effect in one line: what it happens to, how much before and after, and who is hit.

The journal keeps this, explanations and reports show it; rules read the effects themselves.
"""

from __future__ import annotations

from string import Formatter
from typing import Final, assert_never

from suture.impact.effects import (
    NAMES,
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
    Victim,
)
from suture.impact.words.told import Told

PHRASES: dict[str, str] = {
    "objects_removed": "{count} would be gone",
    "pods_lost": "{count} of {before} running pods would be gone",
    "pods_restarted": "{count} pods would be replaced",
    "placement_lost": "{before} nodes that would do become {after}",
    "endpoints_lost": "{before} ready endpoints would become {after}",
    "service_emptied": "would lose all of its {before} ready endpoints",
    "route_broken": "would send traffic to nothing",
    "admission_path_broken": "would lose its last backend",
    "data_lost": "data would be lost",
    "reference_broken": "{count} that name it could not start again",
    "deletion_stuck": "{count} would stay half deleted",
    "disruption_exceeded": "{before} healthy pods would become {after}",
    "quorum_lost": "{before} ready members would become {after}, under a majority",
    "selection_changed": "{before} ready pods selected would become {after}",
    "scope_widened": "would reach more",
    "privilege_gained": "would be allowed {count} more",
    "privilege_lost": "would no longer be allowed {count}",
    "entries_dropped": "{count} of {before} entries would be gone",
    "hollowed": "would be as good as gone",
    "capacity_lost": "{before} open nodes would become {after}",
    "external_deleted": "{count} things outside the cluster would be deleted",
    "foreign_write": "is managed by somebody else",
    "finalizer_removed": "would lose a finalizer that others handle",
    "owner_invalid": "would have an owner that cannot own it",
    "loop_closed": "{count} would need each other to come up",
    "growth": "{before} would become {after}",
    "churn": "would change for the {count}. time",
}
"""What happens to the subject of an effect, in words; `count`, `before` and `after` are numbers."""


def words_of(victim: Victim) -> str:
    """Return an object as people write it: `services shop/checkout`."""
    kind = f"{victim.resource}.{victim.group}" if victim.group else victim.resource
    place = f"{victim.namespace}/" if victim.namespace else ""
    return f"{kind} {place}{victim.name}"


_PIECES: Final = {
    effect: tuple((text, number or "") for text, number, _, _ in Formatter().parse(words))
    for effect, words in PHRASES.items()
}
"""The same, taken apart once: text, and which number follows it, if any."""


def phrase(line: Told) -> str:
    """Return what happens to the subject of a line, in words."""
    words = ""
    for text, number in _PIECES[line.effect]:
        words += text
        if number == "count":
            words += _digits(line.count)
        elif number == "before":
            words += _digits(line.before)
        elif number == "after":
            words += _digits(line.after)
    return words


def _digits(number: int) -> str:
    # WHY apart: most numbers are small, and to ask for commas costs five times as much.
    return str(number) if 0 <= number < 1000 else f"{number:,}"


def told(effect: Effect) -> Told:
    """Return an effect in short."""
    # WHY in this order: what most deletes have comes first, each case being a look at its type.
    match effect:
        case ObjectsRemoved():
            after = effect.population - effect.count
            return _line(
                effect, effect.resource, effect.population, after, effect.count,
                effect.victims, counted=effect.counted,
            )  # fmt: skip
        case EndpointsLost():
            return _of(effect, effect.service, effect.before, effect.after)
        case ForeignWrite():
            return _of(effect, effect.target, 1, 1, 1)
        case RouteBroken():
            route = words_of(effect.route) + (" (shut to its front)" if effect.shut else "")
            return _line(effect, route, effect.before, 0, effect.before, (effect.service,))
        case ExternalDeleted():
            return _line(
                effect, f"{effect.resource} ({effect.why})", effect.population,
                effect.population - effect.count, effect.count, effect.victims,
                counted=effect.count - effect.explained,
            )  # fmt: skip
        case PodsLost():
            after = effect.before - effect.count
            return _of(effect, effect.maker, effect.before, after, victims=effect.victims)
        case PodsRestarted():
            return _of(effect, effect.workload, effect.before, effect.before, effect.count)
        case PlacementLost():
            before, after = effect.nodes_before, effect.nodes_after
            return _of(effect, effect.workload, before, after, effect.gone)
        case ServiceEmptied():
            return _of(effect, effect.service, effect.before, 0)
        case AdmissionPathBroken():
            subject = f"{words_of(effect.source)} {effect.path}".rstrip()
            before = max(0, effect.before)
            return _line(effect, subject, before, 0, before, (effect.service,))
        case DataLost():
            return _of(effect, effect.holder, 1, 0)
        case ReferenceBroken():
            subject = f"{words_of(effect.target)} {effect.key}".rstrip()
            count = effect.current + effect.past
            return _line(effect, subject, count, 0, count, effect.users)
        case DeletionStuck():
            return _of(effect, effect.stuck, effect.count, effect.count, effect.count)
        case DisruptionExceeded():
            after = effect.healthy - effect.asked
            return _of(effect, effect.budget, effect.healthy, after)
        case QuorumLost():
            return _of(effect, effect.owner, effect.before, effect.after)
        case SelectionChanged():
            return _of(effect, effect.source, effect.before, effect.after)
        case ScopeWidened():
            subject = f"{words_of(effect.source)} {effect.part}".rstrip()
            before, after = effect.matched_before, effect.matched_after
            return _line(effect, subject, before, after, after - before, (effect.source,))
        case PrivilegeGained():
            count = len(effect.rights)
            return _line(effect, effect.subject, 0, count, count, (effect.source,))
        case PrivilegeLost():
            return _line(effect, effect.subject, effect.rights, 0, effect.rights, (effect.source,))
        case EntriesDropped():
            subject = f"{words_of(effect.holder)} {effect.field}".rstrip()
            after = effect.before - effect.dropped
            return _line(effect, subject, effect.before, after, effect.dropped, (effect.holder,))
        case Hollowed():
            subject = f"{words_of(effect.target)} {effect.what}"
            return _line(effect, subject, effect.before, effect.after, 1, (effect.target,))
        case CapacityLost():
            return _line(
                effect, f"nodes {effect.how}", effect.open_before, effect.open_after,
                effect.nodes, effect.victims,
            )  # fmt: skip
        case FinalizerRemoved():
            subject = f"{words_of(effect.target)} {effect.finalizer}"
            return _line(effect, subject, 1, 0, 1, (effect.target,))
        case OwnerInvalid():
            return _of(effect, effect.target, 1, 0 if effect.collected else 1, 1)
        case LoopClosed():
            return _line(effect, effect.cut, 0, len(effect.ring), len(effect.ring), effect.ring)
        case Growth():
            subject = f"{effect.resource} of {words_of(effect.holder)}"
            before, after = effect.before, effect.after
            return _line(effect, subject, before, after, after - before, (effect.holder,))
        case Churn():
            return _of(effect, effect.target, effect.times, effect.times, effect.times)
        case _:
            assert_never(effect)


def _of(
    effect: Effect,
    subject: Victim,
    before: int,
    after: int,
    count: int | None = None,
    *,
    victims: tuple[Victim, ...] = (),
) -> Told:
    """Tell of an effect that happens to one object."""
    lost = max(0, before - after) if count is None else count
    return _line(effect, words_of(subject), before, after, lost, victims or (subject,))


def _line(  # noqa: PLR0917 the columns of the line, in their order
    effect: Effect,
    subject: str,
    before: int,
    after: int,
    count: int,
    victims: tuple[Victim, ...],
    *,
    counted: int = 0,
) -> Told:
    return Told(
        effect=NAMES[type(effect)],
        subject=subject,
        before=before,
        after=after,
        count=count,
        counted=counted,
        victims=victims,
        reversible=effect.reversible,
        confidence=effect.confidence,
    )
