"""Applications that a person takes away in whatever order: made by hand, all of it, or put to rest.

Beside `hands`, which lets the workload of such an application go first: who may take that may take
before it what it mounts, runs as and is reached by. Else the same file, deleted from its top, is
refused its first half and loses its second. Never of service accounts: what a machine made it may
have made for others, and one that repeats itself does so everywhere. Nor of what a release or
application keeps, which says itself what it drops.

A workload that is to have no pods, has none, and that nobody else has a word in, is left already:
whoever made it, what it names is of no use before a person wakes it. So goes what was retired, its
settings before it. Not what an autoscaler wakes, nor what a resource keeps that is there.

What is lost if the rest stays after all: pods that run keep what they have, and one that starts
waits for what is gone. So such a user counts as one of the past, which is warned about, and only
`RETIRED` such objects may go within the hour.

What is older than Suture's history nobody is known to have made. That a part came with its workload
from one file tells the cluster then: both are as old as each other, one hand alone has ever written
the part, and it is called after the workload, its only user. Of one workload within the hour, which
nobody reaches, sizes, owns or keeps, and on which neither the cluster nor a node stands: a person
may take that away, and then its parts. Never of Secrets, whose content is in no file.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import before_users, not_back
from suture.impact.causes.parents import maker_of
from suture.impact.causes.recent import MOUNTED
from suture.impact.causes.resting import RESTABLE, rests
from suture.impact.ground.readers import one_of_each, services_reaching
from suture.impact.ordinary.hands import (
    READERS,
    is_dropped,
    made_lately,
    owns,
    read_by_name,
    readers_of,
)
from suture.impact.rollout import classes_under
from suture.impact.scene import Scene
from suture.model.actor import SERVICE_ACCOUNT, account_of, is_person
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    RBAC,
    RESERVED,
    SERVICE_ACCOUNTS,
    SERVICES,
    WORKLOADS,
    Operation,
)
from suture.model.objects import WorkloadFacts

RETIRED: Final = 12
"""LIMIT: what a person may take away within the hour before what names it: the accounts, Secrets
and ConfigMaps of one application, or of two, and so many bindings or roles of each kind; more of it
is a sweep."""


ONE_FILE_S: Final = 60
"""What is applied from one file comes within this time."""

OF_ONE_FILE: Final = 4
"""LIMIT: bindings or roles of each kind that a person may take away so within the hour; who takes
more of what nobody is known to have made goes through them."""

PARTS: Final = MOUNTED | RBAC | {SERVICES}
"""What is a part of one application: of rights in the whole cluster each pod at work by them is
asked, and what else is of the cluster others use unnamed."""

SYSTEM: Final = "system-"
"""How the priorities begin of what a cluster stands on. SOURCE: Kubernetes, PriorityClass."""

_MOUNTS: Final = frozenset({Edge.CONFIG_MAP, Edge.SERVICE_ACCOUNT})
_WORDS: Final = frozenset(Edge) - {Edge.OWNER}
_STANDS: Final = (Edge.PARENT, Edge.DRIVER)


def goes_next(scene: Scene, row: int) -> bool:
    """Whether a user of what goes is taken away next: by its keeper's word, or by a person's."""
    if is_dropped(scene, row):
        return True
    return _by_name(scene) and (
        _is_left(scene, row) or _is_retired(scene, row) or _is_of_one_file(scene, row)
    )


def _by_name(scene: Scene) -> bool:
    """Whether a person deletes one thing by its name, and not too many so.

    WHY one name: a collection says what goes by its labels, whoever made it and in one go.
    """
    identity = scene.actor.user.username
    if scene.now is None or account_of(identity) is not None or len(scene.change.direct) != 1:
        return False
    if scene.request.operation is not Operation.DELETE or not scene.request.name:
        return False
    resource = scene.view.resource(scene.change.direct[0])
    return all(
        scene.counted(one) < RETIRED
        for one in (before_users(identity), not_back(identity, resource))
    )


def _is_left(scene: Scene, user: int) -> bool:
    """Whether a workload is at rest, and stays so until a person wakes it."""
    view = scene.view
    return (
        view.resource(user) in RESTABLE
        and rests(view, user, scene.now)
        and not view.sources(user, Edge.SCALES)
        and not scene.causes.wanted(user)
        and view.resource(scene.change.direct[0]) in MOUNTED
    )


def _is_retired(scene: Scene, user: int) -> bool:
    """Whether a person who made all of an application by hand deletes a part that `user` names."""
    view = scene.view
    (target,) = scene.change.direct
    # WHY first: hardly anybody made both, and then nothing more is read.
    if view.resource(target) not in PARTS or not (owns(scene, target) and owns(scene, user)):
        return False
    services = _services(view, target) | _services(view, user)
    parts = {target, user, *services}
    for service in services:
        readers = readers_of(scene, service)
        if readers is None or len(parts) > READERS:
            return False
        parts.update(readers)
        pods = one_of_each(view, view.classes_selected(service))
        parts.update(maker_of(view, pod) for pod in pods)
    if any(scene.marks(one) or not owns(scene, one) for one in parts):
        return False
    named = all(read_by_name(view, one) for one in services)
    return named or all(made_lately(scene, one) for one in parts)


def _services(view: GraphView, row: int) -> set[int]:
    """Return the Services by which an object is reached: itself, or those of a workload's pods."""
    resource = view.resource(row)
    if resource == SERVICES:
        return {row}
    kinds = classes_under(view, row) if resource in WORKLOADS else []
    return set(services_reaching(view, kinds))


def _is_of_one_file(scene: Scene, user: int) -> bool:
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
    """Whether nobody is known to have made two objects, and all else tells that one hand did."""
    view, creation = scene.view, scene.view.history.creation
    born = view.created(target)
    if not born or abs(view.created(user) - born) > ONE_FILE_S:
        return False
    if any(creation(view.uid(one)) or scene.marks(one) for one in (target, user)):
        return False
    writers = view.at(target).managers
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
    return not (_services(view, workload) or _runs_types(view, workload))


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
