"""What parents want: whether the one behind an object still asks for it, or for fewer.

A parent is found by uid (owner), by label or name (as a rule says), by the name that a StatefulSet
gives its claims, or by the mark of the release or application that keeps the object.
Source: StatefulSet controller (`<template>-<set>-<ordinal>`, claims beyond its size are left);
Deployment controller (a ReplicaSet at zero is history).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from suture.impact.causes.explained import CLIMBED, RECREATED_BY, is_at_hand, owner_ends
from suture.impact.ground.cascade import closure
from suture.impact.ground.claims import naming, set_names
from suture.impact.ground.inventory import was_suspended
from suture.impact.ground.kinds import is_custom
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.facts import AttachmentFacts
from suture.model.graph import GraphView, Owner
from suture.model.habits import RELEASES
from suture.model.names import (
    CLAIMS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    VOLUME_ATTACHMENTS,
    WORKLOADS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClaimFacts, CustomFacts, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.writes import HOUR_S

_KEPT_BY: Final = Edge.MANAGED_BY
_PARENT: Final = Edge.PARENT
_SCALES: Final = Edge.SCALES

GENERATION: Final = 64
"""LIMIT: objects that go with a generation that is no longer in use; more are more than that."""

SIBLINGS: Final = 256
"""LIMIT: children of a parent that are asked whether they are the next generation, 1 us each."""


def maker_of(view: GraphView, pod: int) -> int:
    """Return what stands behind a pod: the workload at the root of its controllers.

    Where its controller is no workload that is it; where it has none it is the pod itself.
    """
    maker = pod
    for above in view.controllers(pod, CLIMBED):
        resource = view.resource(above)
        workload = resource in WORKLOADS or resource == REPLICATION_CONTROLLERS
        if workload or maker == pod:
            maker = above
        if not workload:
            break
    return maker


def parents_of(view: GraphView, row: int) -> list[int]:
    """Return what asks for an object: its controller, and who finds it by label or name."""
    controller = view.controller(row)
    found = [controller] if controller >= 0 else []
    found += view.there(row, _PARENT)
    return list(dict.fromkeys(found))


def wanted(
    view: GraphView, row: int, removed: Collection[int], account: ObjectKey | None = None
) -> bool:
    """Whether a live parent, itself not going and not at hand of `account`, asks for an object."""
    return any(
        one not in removed and not view.terminating(one) and not is_at_hand(view, one, account)
        for one in parents_of(view, row)
    )


def asks_as_before(view: GraphView, parent: int, removed: Collection[int], now: Now | None) -> bool:
    """Whether a parent that names its children by itself stays, and as it was.

    WHY not one that was written within the hour: whom it asks for may have changed with it.
    """
    if parent in removed or view.terminating(parent):
        return False
    writes = view.history.writes
    return now is None or not writes.written(view.key(parent), What.WROTE, now, HOUR_S)


def wanted_count(view: GraphView, parent: int) -> int | None:
    """Return how many children a custom resource says that it wants; None where it does not."""
    facts = view.facts(parent)
    return facts.wanted if isinstance(facts, CustomFacts) else None


def sizes_said(view: GraphView, parent: int, *, sums: bool = False) -> tuple[int, ...]:
    """Return how many pods a custom resource may want, by whatever name it says a number.

    `sums`: and how many its parts want together.
    """
    facts = view.facts(parent)
    if not isinstance(facts, CustomFacts):
        return ()
    said = facts.sizes + facts.pools if sums else facts.sizes
    return said if facts.wanted is None else (facts.wanted, *said)


def size_of(view: GraphView, workload: int) -> int:
    """Return how many pods a workload is to have; 0 where it does not say."""
    facts = view.facts(workload)
    return (facts.replicas or 0) if isinstance(facts, WorkloadFacts) else 0


def wants_none(view: GraphView, workload: int) -> bool:
    """Whether a workload is to have no pods."""
    facts = view.facts(workload)
    return isinstance(facts, WorkloadFacts) and facts.replicas == 0


def selects_apart(view: GraphView, one: int, other: int) -> bool:
    """Whether two workloads are of one type, and select alike but for one value."""
    mine, its = view.facts(one), view.facts(other)
    return (
        view.resource(one) == view.resource(other)
        and isinstance(mine, WorkloadFacts)
        and isinstance(its, WorkloadFacts)
        and mine.selector is not None
        and its.selector is not None
        and mine.selector.one_value_apart(its.selector)
    )


def spare(view: GraphView, parent: int, resource: Resource) -> int:
    """Return how many children of a type live beyond what their custom resource wants.

    Children are those that a rule says it counts, those of which it is the set by name, and the
    pods that it owns itself; of others (a Deployment for each part of a product) the wanted count
    tells nothing.
    """
    wants = wanted_count(view, parent)
    if wants is None:
        return 0
    children = [
        row
        for row in view.sources(parent, Edge.PARENT)
        if view.resource(row) == resource and not view.terminating(row)
    ]
    if not children:
        own = _own_children(view, parent, resource)
        children = [row for row in own if not view.terminating(row)]
    return max(0, len(children) - wants)


def _own_children(view: GraphView, parent: int, resource: Resource) -> list[int]:
    """Return the children of a type of which a custom resource says by itself how many it wants."""
    if resource == PODS:
        return [pod for kind in view.classes_owned(parent) for pod in view.pods_alike(kind)]
    if view.resource(parent) != set_of(resource):
        return []
    children = view.staying(view.children_of(parent))
    return [row for row in children if view.resource(row) == resource]


def has_sets(view: GraphView, resource: Resource) -> bool:
    """Whether there are sets of objects of a custom type."""
    return is_custom(resource) and view.count(set_of(resource)) > 0


def counts_children(parent: Resource, child: Resource) -> bool:
    """Whether a type of controllers says how many of a type it wants, in a way that is known."""
    if child == PODS:
        return parent not in RECREATED_BY[PODS]
    return parent == set_of(child)


def has_idle(view: GraphView, parent: int, row: int, resource: Resource) -> bool:
    """Whether a claim is in use, and its parent has another that nobody uses: that one goes."""
    if resource != CLAIMS or not mounting(view, row):
        return False
    return any(
        other != row
        and view.resource(other) == CLAIMS
        and not (view.gone(other) or view.terminating(other) or mounting(view, other))
        for other in (*view.sources(parent, Edge.PARENT), *view.children_of(parent))
    )


def set_of(child: Resource) -> Resource:
    """Return the custom type that is by its name a set of another: `machinesets` of `machines`."""
    return Resource(child.group, f"{child.plural.removesuffix('s')}sets")


def statefulset_of(view: GraphView, claim: ObjectKey) -> tuple[int, int] | None:
    """Return the row of the StatefulSet that a claim is named after, and the claim's ordinal."""
    for name, ordinal in set_names(claim):
        row = view.find(ObjectKey(STATEFUL_SETS, claim.namespace, name))
        if row is not None:
            return row, ordinal
    return None


def beyond_size(view: GraphView, claim: int) -> bool:
    """Whether a claim is left over: its StatefulSet wants fewer, and no pod uses it any more.

    Not where it wants none at all: scaled to nothing it keeps its data for when it comes back.
    """
    found = statefulset_of(view, view.key(claim))
    if found is None:
        return False
    row, ordinal = found
    return 0 < size_of(view, row) <= ordinal and not mounting(view, claim)


def answering_owner(view: GraphView, row: int) -> Owner | None:
    """Return the owner that answers for an object: its controller, or the only one that it has.

    WHY that too: some operators own what they make, and do not call it controlled.
    """
    owners = view.owners(row)
    return next((one for one in owners if one.controller or len(owners) == 1), None)


def mounting(view: GraphView, claim: int) -> list[int]:
    """Return the running pods that name a claim."""
    return [
        pod for pod in naming(view, claim) if not view.terminating(pod) and not view.finished(pod)
    ]


def in_work(view: GraphView, claim: int) -> bool:
    """Whether pods that stay name a claim: none whose owner went, with which they go."""
    return not all(owner_ends(view, pod) for pod in mounting(view, claim))


def attached(view: GraphView, attachment: int) -> tuple[list[int], list[int]]:
    """Return the node of an attachment, and the running pods on it that use the volume.

    No pods where it is not attached, or no longer; nor those whose claim is bound to another volume
    by now, under the name of the one that this was bound to.
    """
    nodes = view.there(attachment, Edge.ATTACHED_NODE)
    facts = view.facts(attachment)
    if not (isinstance(facts, AttachmentFacts) and facts.attached):
        return nodes, []
    names = {view.name(node) for node in nodes}
    return nodes, [
        pod
        for volume, _ in view.targets(attachment, Edge.VOLUME)
        for claim in view.there(volume, Edge.BOUND_CLAIM)
        if isinstance(of_claim := view.facts(claim), ClaimFacts)
        and of_claim.volume == view.name(volume)
        for pod in mounting(view, claim)
        if isinstance(of_pod := view.facts(pod), PodFacts) and of_pod.node in names
    ]


def rolled_out(view: GraphView, row: int) -> bool:
    """Whether a ReplicaSet is history: its Deployment lives, and it wants and has no pods."""
    if view.resource(row) != REPLICA_SETS:
        return False
    return (
        wants_none(view, row)
        and all(view.one_alike(kind) < 0 for kind in view.classes_owned(row))
        and view.controller(row) >= 0
    )


def superseded(view: GraphView, row: int, removed: Collection[int]) -> bool:
    """Whether a custom resource is a generation that nothing asks for, and its parent made another.

    One of its type that is no older, of the same controller, and both of these stay: so releases of
    a function leave revisions behind. All that goes with the old one is idle (a workload of no
    size, no pod, no bound claim, and no Service with anybody behind it), or traffic has left it for
    the other.
    """
    resource, parent = view.resource(row), view.controller(row)
    # WHY first: of what goes with its parent nothing else need be asked.
    if parent < 0 or parent in removed or view.terminating(parent):
        return False
    along = closure(view, (row,))
    if len(along) > GENERATION:
        return False
    idle = not any(_busy(view, one) for one in along)
    if idle and not any(isinstance(view.facts(one), WorkloadFacts) for one in along):
        return False
    made = view.created(row)
    return any(
        other not in removed
        and view.resource(other) == resource
        and view.created(other) >= made
        and view.controller(other) == parent
        and not (view.gone(other) or view.terminating(other))
        and _parts(view, other) >= _parts(view, row)
        and (idle or _has_taken_over(view, other, along))
        for other in view.children_of(parent)[:SIBLINGS]
    )


def _has_taken_over(view: GraphView, other: int, along: Collection[int]) -> bool:
    """Whether a generation serves behind Services that stay, as many pods as all that goes `along`.

    And no Service that stays reaches any of what goes, nor is any of its data among it.
    """
    going = [one for one in along if view.resource(one) == PODS]
    if not going or any(view.resource(one) == CLAIMS for one in along):
        return False
    if any(service not in along for pod in going for service in view.services_of(pod)):
        return False
    beside = closure(view, (other,))
    if len(beside) > GENERATION:
        return False
    taking = [one for one in beside if view.resource(one) == PODS and view.serves(one)]
    return len(taking) >= sum(map(view.serves, going)) and any(
        service not in beside for pod in taking for service in view.services_of(pod)
    )


def _busy(view: GraphView, row: int) -> bool:
    """Whether an object runs, serves or holds data, or is to run."""
    resource, facts = view.resource(row), view.facts(row)
    if resource == PODS:
        return not view.finished(row)
    if isinstance(facts, ServiceFacts):
        # WHY not by hand: whoever writes these may answer for what sleeps; a route says who reads.
        by_hand = facts.selector is None and not view.sources(row, Edge.ROUTES_TO)
        return not by_hand and view.serving_count(row) > 0
    if isinstance(facts, WorkloadFacts):
        return facts.replicas != 0 and not facts.finished
    return isinstance(facts, ClaimFacts) and facts.bound


def _parts(view: GraphView, row: int) -> set[Resource]:
    """Return the types of what an object owns."""
    return {view.resource(one) for one in view.children_of(row) if not view.gone(one)}


def manager_ends(view: GraphView, row: int) -> bool:
    """Whether the application or release that keeps an object is going."""
    return all_end(view, [one for one, _ in view.targets(row, _KEPT_BY)])


def all_end(view: GraphView, managers: Iterable[int]) -> bool:
    """Whether all that keep an object, and are objects themselves, are there and going."""
    asked = [one for one in managers if is_kept_in_api(view, one)]
    return bool(asked) and all(
        undeploys(view, one) and view.alive(one) and not view.gone(one) for one in asked
    )


def undeploys(view: GraphView, manager: int) -> bool:
    """Whether an application is going, and takes along what it keeps.

    WHY not one that was suspended: that it goes was not weighed as the end of anything else.
    """
    return view.terminating(manager) and not was_suspended(view, manager)


def is_kept_in_api(view: GraphView, manager: int) -> bool:
    """Whether what keeps objects is an object itself, that can go and be asked what it wants.

    WHY not a release: nothing says of it that it goes; what has it made, beside it, does.
    """
    return view.resource(manager) != RELEASES


def accountable(view: GraphView, row: int) -> list[int]:
    """Return whose word could account for what becomes of an object, the nearest first.

    Its owners, and those above them that control it; the custom resource that counts each of them,
    the application that keeps it, the autoscaler that sizes it; the StatefulSet that a claim is
    named after; the node and the pods that use an attachment; its namespace. Of them those that are
    there.
    """
    found: list[int] = []
    resource = view.resource(row)
    if resource == VOLUME_ATTACHMENTS:
        nodes, pods = attached(view, row)
        found += nodes
        found += pods
    for one in (row, *view.controllers(row, CLIMBED)):
        found += [owner.row for owner in view.owners(one) if owner.present]
        found += view.there(one, _PARENT)
        found += view.there(one, _KEPT_BY)
        found += view.sources(one, _SCALES)
    members = statefulset_of(view, view.key(row)) if resource == CLAIMS else None
    if members is not None:
        found.append(members[0])
    home = view.find(ObjectKey(NAMESPACES, "", view.namespace(row)))
    if home is not None:
        found.append(home)
    return [one for one in dict.fromkeys(found) if one != row]
