"""Add-ons older than Suture's history, which a person takes away in the order of their file.

Beside `byhand`: there a person made all of it, here nobody is known to have made any. That a part
came with its workload from one file the cluster tells then: both are as old as each other, one hand
alone has ever written the part, and it is called after the workload, its only user. Of one workload
within the hour, which nobody reaches, sizes, owns or keeps, and on which neither the cluster nor a
node stands: a person may take that away, and then its parts. Never of Secrets, whose content is in
no file.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import before_users, not_back
from suture.impact.causes.parents import maker_of
from suture.impact.ground.readers import services_reaching
from suture.impact.rollout import classes_under
from suture.impact.scene import Scene
from suture.model.actor import SERVICE_ACCOUNT, is_person
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    RBAC,
    RESERVED,
    SERVICE_ACCOUNTS,
)
from suture.model.objects import WorkloadFacts

ONE_FILE_S: Final = 60
"""What is applied from one file comes within this time."""

OF_ONE_FILE: Final = 4
"""LIMIT: bindings or roles of each kind that a person may take away so within the hour; who takes
more of what nobody is known to have made goes through them."""

SYSTEM: Final = "system-"
"""How the priorities begin of what a cluster stands on. SOURCE: Kubernetes, PriorityClass."""

_MOUNTS: Final = frozenset({Edge.CONFIG_MAP, Edge.SERVICE_ACCOUNT})
_WORDS: Final = frozenset(Edge) - {Edge.OWNER}
_STANDS: Final = (Edge.PARENT, Edge.DRIVER)


def is_of_one_file(scene: Scene, user: int) -> bool:
    """Whether a person deletes a part that came with `user`, its only user, from one file."""
    view = scene.view
    (target,) = scene.change.direct
    resource, identity = view.resource(target), scene.actor.user.username
    if resource not in RBAC and resource not in (CONFIG_MAPS, SERVICE_ACCOUNTS):
        return False
    # WHY first: few workloads have such a name, and then little is read.
    if not f"{view.name(target)}-".startswith(f"{view.name(user)}-") or not is_person(identity):
        return False
    if not (_came_together(scene, target, user) and _is_apart(view, user)):
        return False
    if scene.counted(not_back(identity, resource)) >= OF_ONE_FILE:
        return False
    named = (
        view.one_alike(use.row) if use.of_pods else use.row for use in view.uses(target, _MOUNTS)
    )
    used = {maker_of(view, row) for row in named if row >= 0}
    return used <= {user} and scene.counted(before_users(identity)) <= _missed(view, user)


def _came_together(scene: Scene, target: int, user: int) -> bool:
    """Whether nobody is known to have made two objects, and all else tells that one hand did.

    SOURCE: an account of which nothing but the name was said has no writer (measured, 1.36).
    """
    view, creation = scene.view, scene.view.history.creation
    born = view.created(target)
    if not born or abs(view.created(user) - born) > ONE_FILE_S:
        return False
    if any(creation(view.uid(one)) or scene.marks(one) for one in (target, user)):
        return False
    writers = view.at(target).managers
    if not writers:
        return view.resource(target) == SERVICE_ACCOUNTS
    return len(writers) == 1 and writers[0] in view.at(user).managers


def _is_apart(view: GraphView, workload: int) -> bool:
    """Whether nobody has a word in a workload or reaches it, and no node or cluster stands on it.

    WHY the priority: with that of the system runs what all others need. Nor may any resource be
    left without who runs its type.
    """
    facts = view.facts(workload)
    if view.resource(workload) not in (DEPLOYMENTS, DAEMON_SETS):
        return False
    if not isinstance(facts, WorkloadFacts) or facts.placement.host_network:
        return False
    if view.has_owner(workload) or view.namespace(workload).startswith(RESERVED):
        return False
    if view.uses(workload, _WORDS) or any(view.targets(workload, one) for one in _STANDS):
        return False
    if any(
        view.name(one).startswith(SYSTEM) for one, _ in view.targets(workload, Edge.PRIORITY_CLASS)
    ):
        return False
    reached = services_reaching(view, classes_under(view, workload))
    return not (reached or _runs_types(view, workload))


def _runs_types(view: GraphView, workload: int) -> bool:
    """Whether a workload runs as who writes the status of something that is there."""
    names = [view.key(one) for one, _ in view.targets(workload, Edge.SERVICE_ACCOUNT)]
    return any(
        view.count(resource)
        for key in names
        for resource in view.history.habits.kinds_of(f"{SERVICE_ACCOUNT}{key.namespace}:{key.name}")
    )


def _missed(view: GraphView, workload: int) -> int:
    """Return how much a workload names that is not there any more."""
    return sum(not present for edge in _MOUNTS for _, present in view.targets(workload, edge))
