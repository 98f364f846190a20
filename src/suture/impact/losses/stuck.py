"""Objects that would stay half deleted: nobody is there to take off one of their finalizers.

Who removes a finalizer is known of Kubernetes' own and of those that somebody was seen to set or
remove; else it is who writes the status of the kind; else it is known only where a controller of
the finalizer's name goes with the same change.
Source: meta/v1 ObjectMeta.finalizers; namespace controller (content is not deleted while the
discovery of any API group fails).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import DeletionStuck
from suture.impact.ground.builtin import BUILT_IN, NAMESPACE_CONTENT
from suture.impact.ground.likeness import called_alike
from suture.impact.scene import Scene
from suture.model.actor import SERVICE_ACCOUNT
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    API_SERVICES,
    DAEMON_SETS,
    DEPLOYMENTS,
    NAMESPACES,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)

_RUNS_AS: Final = frozenset({Edge.SERVICE_ACCOUNT})
_CONTROLLERS: Final = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS)


def stuck_effects(scene: Scene) -> Iterable[DeletionStuck]:
    """Yield what would be stuck, one effect for each kind and finalizer."""
    view = scene.view
    held: dict[tuple[Resource, str], tuple[int, int]] = {}
    for resource, rows in scene.kinds.items():
        for finalizers, first, count in view.held(rows):
            for one in finalizers:
                if one not in BUILT_IN:
                    known = held.get((resource, one), (first, 0))
                    held[resource, one] = (known[0], known[1] + count)
    for (resource, finalizer), (row, count) in held.items():
        problem = _problem(scene, resource, finalizer)
        if problem is not None:
            controller, why = problem
            yield DeletionStuck(
                stuck=scene.victim(row),
                finalizer=finalizer,
                controller=controller,
                why=why,
                count=count,
            )
    for row in scene.kinds.get(NAMESPACES, ()):
        yield from _undiscovered(scene, row)


def _problem(scene: Scene, resource: Resource, finalizer: str) -> tuple[str, str] | None:
    """Return who would remove a finalizer and what is wrong with them; None where nothing is."""
    view = scene.view
    habits = view.history.habits
    known = [
        one.removeprefix(SERVICE_ACCOUNT)
        for one in sorted(habits.lifters(finalizer) or habits.keepers(resource))
        if one.startswith(SERVICE_ACCOUNT)
    ]
    # WHY all: whoever of them is there may be the one who does it.
    if known:
        troubles = [_trouble(scene, one) for one in known]
        return (known[0], troubles[0]) if all(troubles) else None
    for kind in _CONTROLLERS:
        for row in scene.kinds.get(kind, ()):
            name = view.name(row)
            if called_alike(finalizer, name):
                return f"{kind.plural} {name}", "goes with this change"
    return None


def _trouble(scene: Scene, account: str) -> str:
    """Return what is wrong with the pods of a service account; empty where some stay and serve."""
    view = scene.view
    namespace, _, name = account.partition(":")
    row = view.find(ObjectKey(SERVICE_ACCOUNTS, namespace, name))
    if row is None:
        return "is gone" if view.listed(SERVICE_ACCOUNTS) else ""
    pods = [
        pod
        for use in view.uses(row, _RUNS_AS)
        if use.of_pods
        for pod in view.pods_alike(use.row)
        if view.serves(pod)
    ]
    if not pods:
        return "has no ready pod"
    staying = any(pod not in scene.removed for pod in pods)
    return "" if staying else "goes with this change"


def _undiscovered(scene: Scene, namespace: int) -> Iterable[DeletionStuck]:
    """Yield a namespace that cannot be emptied, since an API group cannot be asked what it has."""
    view = scene.view
    for row in view.rows(API_SERVICES):
        for service, present in view.targets(row, Edge.API_SERVICE):
            why = _unavailable(view, service, present=present)
            if why:
                yield DeletionStuck(
                    stuck=scene.victim(namespace),
                    finalizer=NAMESPACE_CONTENT,
                    controller="namespace-controller",
                    why=f"API {view.name(row)} {why}",
                )
                return


def _unavailable(view: GraphView, service: int, *, present: bool) -> str:
    if not present:
        return "has no Service" if view.listed(view.resource(service)) else ""
    return "" if view.serving_count(service) else "has no ready backend"
