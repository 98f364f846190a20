"""Who is at work as a subject of bindings: pods that run as an account, and the control plane.

Beside `privileges`, which tells what they would miss. Of pods that go with their rights, or next,
nobody misses any. Pure.
"""

from __future__ import annotations

from suture.impact.causes.parents import maker_of
from suture.impact.ground.builtin import CONTROLLERS, OF_SYSTEM
from suture.impact.ordinary.byhand import goes_next
from suture.impact.reach.holding import Subject
from suture.impact.scene import Scene
from suture.model.actor import SYSTEM, account_of
from suture.model.edges import Edge
from suture.model.names import CRON_JOBS, DAEMON_SETS, PODS, ObjectKey
from suture.model.objects import WorkloadFacts

_ACCOUNT_GROUPS = "system:serviceaccounts"
_GUESTS = "system:anonymous", "system:unauthenticated", "system:authenticated:"
"""How names begin that stand for whoever asks, and for people by how they logged in. SOURCE:
Kubernetes, anonymous requests; OpenShift, virtual groups."""
_RUNS_AS = frozenset({Edge.SERVICE_ACCOUNT})


def is_system(scene: Scene, subject: Subject, *, bootstrapped: bool = False) -> bool:
    """Whether somebody is part of the control plane.

    An account of kube-system is where one of Kubernetes' own controllers works under it, or a
    workload does; what an add-on that is gone has left behind is not. `bootstrapped`: the API
    server makes what binds them, by which it is asked without a name whether it is well.
    """
    if subject.kind != "account":
        if subject.name.startswith(_GUESTS):
            return bootstrapped
        return subject.name.startswith(SYSTEM) and not subject.name.startswith(_ACCOUNT_GROUPS)
    key = account_of(subject.name)
    if key is None or not subject.name.startswith(OF_SYSTEM):
        return False
    return subject.name in CONTROLLERS or works_as(scene, key)


def works_as(scene: Scene, account: ObjectKey) -> bool:
    """Whether a pod runs as an account and stays, or a workload does that has pods or will."""
    return any(_works(scene, row) for row in scene.view.named_by(account, Edge.SERVICE_ACCOUNT))


def _works(scene: Scene, row: int) -> bool:
    """Whether a pod runs and stays, or a workload that stays has pods, wants some, or will."""
    view, facts = scene.view, scene.view.facts(row)
    if row in scene.removed or view.finished(row):
        return False
    if not isinstance(facts, WorkloadFacts):
        return view.resource(row) == PODS
    resource = view.resource(row)
    # WHY: how many nodes a DaemonSet is meant for only its status says.
    wants = facts.status_replicas if resource == DAEMON_SETS else facts.replicas
    return resource == CRON_JOBS or bool(wants)


def running_of(scene: Scene, subject: Subject) -> int:
    """Return how many pods run as an account and stay."""
    return len(_pods_as(scene, subject))


def _pods_as(scene: Scene, subject: Subject) -> list[int]:
    """Return the running pods that run as an account and stay."""
    key, view = account_of(subject.name), scene.view
    if subject.kind != "account" or key is None:
        return []
    # WHY: of pods that go with their rights, or next, nobody misses any.
    rows = [
        row
        for row in view.named_by(key, Edge.SERVICE_ACCOUNT)
        if view.resource(row) == PODS and row not in scene.removed and not view.finished(row)
    ]
    first = {view.alike(row): row for row in rows}
    leaving = {alike for alike, row in first.items() if _leaves_next(scene, row)}
    return [row for row in rows if view.alike(row) not in leaving] if leaving else rows


def _leaves_next(scene: Scene, pod: int) -> bool:
    """Whether what stands behind a pod is left out by its release, which takes it away next."""
    return goes_next(scene, maker_of(scene.view, pod))


def running_as(scene: Scene, account: int) -> int:
    """Return how many pods run as an account that is there, and stay; by class."""
    view, found = scene.view, 0
    for use in view.uses(account, _RUNS_AS, scene.whole):
        pods = view.pods_alike(use.row) if use.of_pods else []
        if pods and not _leaves_next(scene, pods[0]):
            found += sum(not (pod in scene.removed or view.finished(pod)) for pod in pods)
    return found


def makers_as(scene: Scene, subject: Subject) -> set[int]:
    """Return the workloads whose running pods run as an account."""
    return {maker_of(scene.view, pod) for pod in _pods_as(scene, subject)}
