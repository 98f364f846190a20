"""What is read live before a refusal: the objects whose state could turn it into an allow.

Our watch may be a moment behind an operator's own, and behind what was let through just now.
Pure: names objects, reads none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from suture.impact.causes.parents import accountable
from suture.impact.ground.change import Change
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import PODS, STATEFUL_SETS, ObjectKey
from suture.model.objects import ClusterObject, WorkloadFacts

EVIDENCE_OBJECTS: Final = 8
"""LIMIT: objects read live before a refusal: 8 reads at once at about 3 ms each stay far under
the 100 ms that the confirming read may take."""

NEW_OBJECTS: Final = 4
"""LIMIT: objects made a moment ago and not heard of yet that are read before a refusal, too."""

SIBLINGS: Final = 4
"""LIMIT: pods of the same set that are not known to be Ready that are read, too."""

MEMBERS: Final = 64
"""LIMIT: members of a StatefulSet that are looked for by their names, 1 us each."""


def evidence_of(change: Change, view: GraphView, now: Now) -> tuple[ObjectKey, ...]:
    """Name the objects whose live state could turn a refusal: targets, and who answers for them.

    WHY those: the operator's own watch may have told it that its custom resource wants fewer, that
    an owner is going, or that the pod it took before is back, before ours tells us. Owners that a
    write names and nobody heard of may be new, and so may be what was let through and has not been
    heard of: what takes its place.
    """
    keys: dict[ObjectKey, None] = {}
    targets = change.direct if change.resized is None else (*change.direct, change.resized.row)
    for row in targets:
        keys[view.key(row)] = None
        for other in accountable(view, row):
            keys[view.key(other)] = None
        if len(keys) >= EVIDENCE_OBJECTS:
            break
    if change.rewritten is not None:
        keys.update((key, None) for key in _unheard(view, change.rewritten.after))
    spaces = {key.namespace for key in keys}
    new = [
        key
        for space in sorted(spaces)
        for key in view.history.created_lately(space, now)
        # WHY of a type that has some: of others nothing tells that they are watched.
        if view.find(key) is None and view.count(key.resource)
    ]
    # WHY of one target: who takes members in turn takes one at a time.
    beside = _unready_beside(view, targets[0]) if len(targets) == 1 else ()
    found = (*tuple(keys)[:EVIDENCE_OBJECTS], *new[:NEW_OBJECTS], *islice(beside, SIBLINGS))
    return tuple(dict.fromkeys(found))


def _unheard(view: GraphView, thing: ClusterObject) -> Iterable[ObjectKey]:
    """Name the owners of an object that the graph does not hold, of types that it does."""
    for owner in thing.owners:
        resource = view.kind(owner.gvk.group, owner.gvk.kind)
        if resource is None or view.find_uid(owner.uid) is not None:
            continue
        some = view.rows(resource)
        namespaced = not some or view.namespace(some[0])
        yield ObjectKey(resource, thing.key.namespace if namespaced else "", owner.name)


def _unready_beside(view: GraphView, row: int) -> Iterator[ObjectKey]:
    """Name the pods of a pod's set, itself aside, that are not known to be Ready.

    Members of a StatefulSet by their names, since the next life of one has the name of the last.
    """
    workload = view.controller(row) if view.resource(row) == PODS else -1
    if workload < 0:
        return
    facts = view.facts(workload)
    if view.resource(workload) == STATEFUL_SETS and isinstance(facts, WorkloadFacts):
        above = view.key(workload)
        for number in range(min(facts.replicas or 0, MEMBERS)):
            key = ObjectKey(PODS, above.namespace, f"{above.name}-{number}")
            member = view.find(key)
            if member != row and (member is None or not view.serves(member)):
                yield key
        return
    for kind in view.classes_controlled(workload):
        running, serving, _ = view.running_alike(kind)
        if serving < running:
            yield from (
                view.key(pod)
                for pod in view.pods_alike(kind)
                if pod != row and not (view.serves(pod) or view.finished(pod))
            )
