"""Pods: where they run, when they are Ready, how they end; and the makers' way to a new pod.

Scheduler, kubelet and podgc in one, since none of them does anything else here. A pod's fate is
told by the same annotations as on the lab (`lab.nodes`).
Source: kube-scheduler's filters as far as scenarios use them; podgc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from suture.errors import ApiError
from suture.lab import nodes as lab
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.durations import seconds
from suture.lab.scenarios.offline.admission import Admission
from suture.lab.scenarios.offline.controllers.placing import (
    Placed,
    asked_of_nodes,
    claims_of,
    reaches,
    volume_of,
)
from suture.lab.scenarios.offline.controllers.running import Later
from suture.lab.scenarios.offline.lifecycle import end
from suture.lab.scenarios.offline.reviews import Write
from suture.lab.scenarios.offline.store import Store, Thing
from suture.lab.scenarios.ready import has
from suture.model.actor import UserInfo
from suture.model.names import CLAIMS, NAMESPACES, NODES, PODS, Operation

_CONTROLLER = "system:serviceaccount:kube-system:replicaset-controller"
_MAKER = UserInfo(_CONTROLLER, ("system:serviceaccounts", "system:authenticated"))

COLLECTED_S = 40.0
"""How long after their node the pods on it go. SOURCE: podgc's quarantineTime."""

_JOB_S = 1.0
_ALWAYS_TOLERATED = "node.kubernetes.io/"


class Pods:
    """Everything that happens to pods besides being made."""

    def __init__(self, store: Store, admission: Admission, later: Later) -> None:
        """Run the pods of a store."""
        self._store = store
        self._admission = admission
        self._later = later
        self._placed = Placed()
        self._pending: dict[str, None] = {}
        self._ending: dict[str, None] = {}
        self._look_again = False
        self._new_nodes: dict[str, None] = {}

    # ---- following

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note pods that wait or end, and whatever lets them go on."""
        thing = after or before
        if thing is None:
            return
        if thing.key.resource == PODS:
            self._placed.note(thing.uid, _node_of(after), _controller_of(thing.body))
            if after is not None and after.seen.terminating:
                self._ending[after.uid] = None
            elif after is not None and after.status.get("phase", "Pending") == "Pending":
                self._pending[after.uid] = None
                self._look_again = True
        elif thing.key.resource == NODES:
            self._look_again = True
            self._node(before, after)
        elif thing.key.resource == CLAIMS:
            self._look_again = True

    def _node(self, before: Thing | None, after: Thing | None) -> None:
        if before is None and after is not None:
            self._new_nodes[after.uid] = None
        elif after is None and before is not None:
            name = before.key.name
            self._later(COLLECTED_S, lambda: self._collect(name))
        elif after is not None and _taints(after, "NoExecute") and before is not None:
            for pod in self._store.all(PODS):
                if pod.spec.get("nodeName") == after.key.name and not _tolerates(
                    pod.spec, after, ("NoExecute",)
                ):
                    end(self._store, pod)

    def _collect(self, node: str) -> None:
        if self._store.find(NODES, "", node) is not None:
            return
        for pod in self._store.all(PODS):
            if pod.spec.get("nodeName") == node:
                end(self._store, pod, grace_s=0)

    # ---- acting

    def work(self) -> bool:
        """End what ends, and run what can run."""
        ending, self._ending = self._ending, {}
        for uid in ending:
            self._end(uid)
        nodes, self._new_nodes = self._new_nodes, {}
        for uid in nodes:
            self._up(uid)
        if not self._look_again:
            return bool(ending)
        self._look_again = False
        pending, self._pending = self._pending, {}
        for uid in pending:
            pod = self._store.life(uid)
            if pod is not None and not pod.seen.terminating and not self._run(pod):
                self._pending[uid] = None
        return True

    def _up(self, uid: str) -> None:
        """Have a new node's kubelet report that it is well."""
        node = self._store.life(uid)
        dead = node is None or _asked(node.body, lab.NEVER_READY) == "true"
        if node is not None and not dead and not has(node.body, "Ready"):
            well = [{"type": "Ready", "status": "True"}]
            self._store.amend(node, {"status": {**node.status, "conditions": well}})

    def _end(self, uid: str) -> None:
        pod = self._store.life(uid)
        if pod is None or pod.seen.finalizers:
            return
        after = _asked(pod.body, lab.TERMINATES_AFTER)
        if after is None:
            self._store.remove(pod)
        else:
            self._later(seconds(after), lambda: self._gone(uid))

    def _gone(self, uid: str) -> None:
        pod = self._store.life(uid)
        if pod is not None and pod.seen.terminating and not pod.seen.finalizers:
            self._store.remove(pod)

    def _run(self, pod: Thing) -> bool:
        """Place a pod and start it; False where it has to wait."""
        if pod.status.get("phase", "Pending") != "Pending":
            return True
        node = self._place_for(pod.key.namespace, pod.spec, _controller_of(pod.body))
        if not node or self._store.find(NODES, "", node) is None:
            return False
        spec = {**pod.spec, "nodeName": node}
        body = {**pod.body, "spec": spec}
        self._store.amend(pod, {"spec": spec, "status": self._status(body)})
        self._placed.note(pod.uid, node, _controller_of(body))
        self._fate(pod.uid, body)
        return True

    # ---- for those who make pods

    def make(
        self, owner: Thing, name: str, template: Object, *, labels: Object, node: str = ""
    ) -> Thing | None:
        """Make a pod of a template for its owner; None where it cannot be created now."""
        space = owner.key.namespace
        home = self._store.find(NAMESPACES, "", space)
        if home is None or home.seen.terminating:
            return None
        if self._store.find(PODS, space, name) is not None:
            return None
        given = template.get("metadata") or {}
        metadata = {
            **{key: given[key] for key in ("annotations", "finalizers") if given.get(key)},
            "name": name,
            "namespace": space,
            "uid": self._store.new_uid(),
            "creationTimestamp": self._store.stamp(),
            "labels": {**(given.get("labels") or {}), **labels},
            "ownerReferences": [owned_by(owner)],
        }
        spec = {"serviceAccountName": "default", **(template.get("spec") or {})}
        body: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        if not self._admitted(space, name, body):
            return None
        node = node or self._place_for(space, spec, owner.uid)
        if node:
            body["spec"] = {**spec, "nodeName": node}
        body["status"] = self._status(body) if node else {"phase": "Pending"}
        made = self._store.put(self._store.apis[PODS], body)
        self._placed.note(made.uid, node, owner.uid)
        if node:
            self._fate(made.uid, body)
        return made

    def _admitted(self, space: str, name: str, body: Object) -> bool:
        api = self._store.apis[PODS]
        write = Write(
            operation=Operation.CREATE,
            api=api,
            user=_MAKER,
            gvk=api.gvk,
            namespace=space,
            name=name,
            new=body,
        )
        try:
            self._admission.reached(write)
        except ApiError:
            return False
        return True

    # ---- nodes

    def eligible(
        self, spec: Object, *, daemon: bool = False, claims: Iterable[Thing] = ()
    ) -> list[str]:
        """Return the nodes that would take a pod with its claims; a daemon's goes to closed ones.

        Each by its labels: where the volumes of the claims can be reached. One that is not Ready
        takes no others: the node lifecycle controller taints it so.
        """
        asked = asked_of_nodes(spec)
        held = [volume for one in claims if (volume := volume_of(self._store, one)) is not None]
        return [
            node.key.name
            for node in self._store.all(NODES)
            if not node.seen.terminating
            and (daemon or (not node.spec.get("unschedulable") and has(node.body, "Ready")))
            and asked.accepts(node.seen.labels)
            and all(reaches(node.seen.labels, volume) for volume in held)
            and _tolerates(spec, node, ("NoSchedule", "NoExecute"), daemon=daemon)
        ]

    def _place_for(self, space: str, spec: Object, controller: str) -> str:
        """Return the emptiest node that takes a pod, empty where it has to wait."""
        if spec.get("nodeName"):
            return str(spec["nodeName"])
        bound: list[Thing] = []
        for claim in claims_of(self._store, space, spec):
            if claim is None or claim.status.get("phase") != "Bound":
                return ""
            bound.append(claim)
        open_nodes = [name for name in self.eligible(spec, claims=bound) if self._room(name)]
        return self._placed.emptiest(open_nodes, controller)

    def _room(self, name: str) -> bool:
        node = self._store.find(NODES, "", name)
        given = ((node.status if node else {}).get("allocatable") or {}).get("pods", "500")
        return self._placed.count(name) < int(given)

    # ---- what becomes of a pod

    def _status(self, pod: Object) -> Object:
        """Return the status of a pod that was just started."""
        if _asked(pod, lab.COMPLETES_AFTER) in ("0s", "0"):
            return finished("Succeeded")
        if _asked(pod, lab.DIES_AFTER) in ("0s", "0"):
            return _dead(pod)
        late = _asked(pod, lab.READY_AFTER) or _asked(pod, lab.NEVER_READY) == "true"
        return running(ready=not late)

    def _fate(self, uid: str, pod: Object) -> None:
        """Have happen what a pod's annotations tell."""
        ready = _asked(pod, lab.READY_AFTER)
        if ready and _asked(pod, lab.NEVER_READY) != "true":
            self._become(uid, ready, running(ready=True))
        completes = _asked(pod, lab.COMPLETES_AFTER)
        dies = _asked(pod, lab.DIES_AFTER)
        if completes is None and dies is None and _is_of_a_job(pod):
            completes = f"{_JOB_S}s"
        if completes is not None and completes not in ("0s", "0"):
            self._become(uid, completes, finished("Succeeded"))
        if dies is not None and dies not in ("0s", "0"):
            self._become(uid, dies, _dead(pod))

    def _become(self, uid: str, after: str, status: Object) -> None:
        def now() -> None:
            pod = self._store.life(uid)
            if pod is not None and not pod.seen.terminating:
                self._store.amend(pod, {"status": status})

        self._later(seconds(after), now)


def owned_by(owner: Thing) -> Object:
    """Return the reference by which a controller's object names it."""
    return {
        "apiVersion": owner.body["apiVersion"],
        "kind": owner.body["kind"],
        "name": owner.key.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def running(*, ready: bool) -> Object:
    """Return the status of a pod that runs."""
    word = "True" if ready else "False"
    conditions = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Initialized", "status": "True"},
        {"type": "ContainersReady", "status": word},
        {"type": "Ready", "status": word},
    ]
    containers = [{"name": "app", "ready": ready, "restartCount": 0}]
    return {"phase": "Running", "conditions": conditions, "containerStatuses": containers}


def finished(phase: str) -> Object:
    """Return the status of a pod that has ended."""
    conditions = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": "PodCompleted"},
    ]
    return {"phase": phase, "conditions": conditions}


def _dead(pod: Object) -> Object:
    if (pod.get("spec") or {}).get("restartPolicy", "Always") != "Always":
        return finished("Failed")
    status = running(ready=False)
    status["containerStatuses"][0]["restartCount"] = 1
    return status


def _asked(pod: Object, key: str) -> str | None:
    metadata = pod["metadata"]
    for place in ("annotations", "labels"):
        found = (metadata.get(place) or {}).get(key)
        if found is not None:
            return str(found)
    return None


def _node_of(pod: Thing | None) -> str:
    return str(pod.spec.get("nodeName", "")) if pod is not None else ""


def _controller_of(pod: Object) -> str:
    """Return the uid of what controls a pod; empty where nothing does."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((str(one.get("uid", "")) for one in owners if one.get("controller")), "")


def _is_of_a_job(pod: Object) -> bool:
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(one.get("kind") == "Job" for one in owners)


def _taints(node: Thing, *effects: str) -> list[dict[str, Any]]:
    return [one for one in node.spec.get("taints") or () if one.get("effect") in effects]


def _tolerates(
    spec: Object, node: Thing, effects: tuple[str, ...], *, daemon: bool = False
) -> bool:
    given = spec.get("tolerations") or ()
    return all(
        any(_fits(one, taint) for one in given)
        or (daemon and str(taint.get("key", "")).startswith(_ALWAYS_TOLERATED))
        for taint in _taints(node, *effects)
    )


def _fits(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint.get("key"))
    same = toleration.get("key") == taint.get("key")
    return same and (toleration.get("value") or "") == (taint.get("value") or "")
