"""Parents that an object without owner is called after, by name and label, and that the actor runs.

Beside `labelled`, whose labels say of which group a parent is: here a bare label, as `app: orders`
on `orders-server`, or on `orders`; or a recommended one that says of what it is a part, whatever
its own name. So it is believed of the operator of that type alone, which knows what it made for
whom, and of nothing that holds data. Where nobody is known to run the type, a label that is called
like its kind says as much, as `searchcluster: orders`.
Source: Kubernetes, recommended labels (`app.kubernetes.io/…`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from suture.impact.causes.counters import removals
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.likeness import words_of_identity, words_of_name
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CRDS,
    DISRUPTION_BUDGETS,
    SERVICES,
    WORKLOADS,
    ObjectKey,
    Resource,
    plural_of,
)
from suture.model.objects import CrdFacts
from suture.model.writes import HOUR_S

MADE_FOR: Final = frozenset({DISRUPTION_BUDGETS, SERVICES, *WORKLOADS})
"""What operators make for their own resources, find by name or label, and clear away after them."""

FEW_ENDS: Final = 5
"""LIMIT: ends of a type within the hour that explain anything. With such a resource goes, as it
seems, nothing, so that nobody has weighed what its operator clears away: an end of more of them is
an error that was made once, and the workloads are what is left to refuse."""

_PART_OF: Final = tuple(
    f"app.kubernetes.io/{word}" for word in ("instance", "part-of", "component")
)
"""Labels by which a part of an application names the whole."""

_DEFINITIONS: Final = (CRDS,)


def called_after(view: GraphView, row: int, identity: str, now: Now) -> Iterator[ObjectKey]:
    """Yield what an object without owner is called after, of the types that `identity` runs.

    Or that nobody is known to run, where a label says it. WHY no person's: people run no types.
    """
    if view.resource(row) not in MADE_FOR or is_person(identity):
        return
    name = f"{view.name(row)}-"
    labels = view.labels(row)
    stems = [one for one in set(labels.values()) if one and name.startswith(f"{one}-")]
    # WHY whatever it is called: these say of what it is a part.
    stems += [one for label in _PART_OF if (one := labels.get(label)) and one not in stems]
    if not stems or view.targets(row, Edge.MANAGED_BY) or view.targets(row, Edge.PARENT):
        return
    namespace, writes, habits = view.namespace(row), view.history.writes, view.history.habits
    known = [ObjectKey(one, namespace, stem) for one in run_by(view, identity) for stem in stems]
    said = [key for key in said_parents(view, row) if not habits.keepers(key.resource)]
    for key in dict.fromkeys([*known, *said]):
        if writes.counted(removals(key.resource), now, HOUR_S) > FEW_ENDS:
            continue
        if not _is_younger(view, row, key):
            yield key


def _is_younger(view: GraphView, row: int, key: ObjectKey) -> bool:
    """Whether an object was made after the end of what it is called after: it is another's."""
    gone, made = view.history.removed_at(key), view.history.creation(view.uid(row))
    return gone is not None and made is not None and made.at_ns > gone.at_ns


def run_by(view: GraphView, identity: str, *, person: bool = False) -> Iterable[Resource]:
    """Return the custom types that an identity runs: it writes their status, or is called alike.

    No person is: that people and definitions are of one company says nothing.
    """
    by_word = view.made_of(_DEFINITIONS, _by_word)
    words = () if person else words_of_identity(identity)
    alike = (one for word in words for one in by_word.get(word, ()))
    known = (one for one in view.history.habits.kinds_of(identity) if is_custom(one))
    return dict.fromkeys([*known, *alike])


def said_parents(view: GraphView, row: int) -> Iterator[ObjectKey]:
    """Yield what labels that are called like a custom kind name, of what is called after it too."""
    name, by_plural = f"{view.name(row)}-", view.made_of(_DEFINITIONS, _by_plural)
    for label, value in view.labels(row).items():
        if value and name.startswith(f"{value}-"):
            plural = plural_of(label.lower().replace("-", "").replace("_", ""))
            for resource in by_plural.get(plural, ()):
                yield ObjectKey(resource, view.namespace(row), value)


def _by_plural(view: GraphView) -> dict[str, list[Resource]]:
    """Return the custom types by their plurals."""
    return types_by(view, lambda facts: (facts.resource.plural,))


def _by_word(view: GraphView) -> dict[str, list[Resource]]:
    """Return the custom types by what an identity may be called that runs them."""
    return types_by(view, lambda facts: words_of_name(str(facts.resource)))


def types_by(
    view: GraphView, names: Callable[[CrdFacts], Iterable[str]]
) -> dict[str, list[Resource]]:
    """Return the custom types by what of their definitions is asked."""
    found: dict[str, list[Resource]] = {}
    for row in view.rows(CRDS):
        facts = view.facts(row)
        if isinstance(facts, CrdFacts):
            for name in names(facts):
                found.setdefault(name, []).append(facts.resource)
    return found
