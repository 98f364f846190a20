"""EndpointSlices that follow Services and pods, disruption budgets, and the API's own Service.

Lives apart from the makers of pods: what is behind a Service is worked out from labels alone.
Source: the endpointslice, mirroring and disruption controllers; kube-apiserver's kubernetesservice.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import msgspec

from suture.impact.traffic.slices import MIRRORING
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.harm import SERVICE_NAME
from suture.lab.scenarios.observe import is_ready
from suture.lab.scenarios.offline.controllers.pods import owned_by
from suture.lab.scenarios.offline.store import Store, Thing
from suture.model.names import ENDPOINT_SLICES, PODS, SERVICES, Resource
from suture.model.objects import ServiceFacts
from suture.model.selectors import Selector
from suture.wire.shapes import LabelSelector

MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_MANAGER = "endpointslice-controller.k8s.io"
_ENDPOINTS = Resource("", "endpoints")
_BUDGETS = Resource("policy", "poddisruptionbudgets")
API_SERVICE = ("default", "kubernetes")


class Serving:
    """The endpointslice and the mirroring controller. One slice for a Service, whatever it has."""

    def __init__(self, store: Store) -> None:
        """Write the slices of a store."""
        self._store = store
        self._due: dict[tuple[str, str], None] = {}

    def on(self, before: Thing | None, after: Thing | None) -> None:
        """Note the Services whose endpoints may differ."""
        thing = after or before
        if thing is None:
            return
        if thing.key.resource in {SERVICES, _ENDPOINTS}:
            self._due[thing.key.namespace, thing.key.name] = None
        elif thing.key.resource == PODS:
            view = self._store.view
            for pod in (before, after):
                for row in view.services_selecting(pod.seen) if pod is not None else ():
                    key = view.at(row).key
                    self._due[key.namespace, key.name] = None
        elif thing.key.resource == ENDPOINT_SLICES and after is None:
            self._due[thing.key.namespace, thing.seen.labels.get(SERVICE_NAME, "")] = None

    def work(self) -> bool:
        """Write the slices that differ."""
        due, self._due = self._due, {}
        for namespace, name in due:
            service = self._store.find(SERVICES, namespace, name)
            if service is not None and not service.seen.terminating:
                self._write(service)
            elif service is None and (namespace, name) == API_SERVICE:
                self._restore()
        return bool(due)

    def _write(self, service: Thing) -> None:
        facts = service.seen.facts
        if not isinstance(facts, ServiceFacts):
            return
        if facts.selector is None:
            self._mirror(service)
            return
        view = self._store.view
        space = service.key.namespace
        uids = (view.at(row).uid for row in view.pods_selected(space, facts.selector))
        pods = [pod for uid in sorted(uids) if (pod := self._store.life(uid)) is not None]
        endpoints = [_endpoint(pod) for pod in pods if pod.spec.get("nodeName")]
        self._slice(service, _MANAGER, endpoints)

    def _mirror(self, service: Thing) -> None:
        """Write what somebody's Endpoints of the name of a Service without a selector say."""
        source = self._store.find(_ENDPOINTS, service.key.namespace, service.key.name)
        if source is None or source.seen.terminating:
            return
        endpoints = [
            {
                "addresses": [address.get("ip", "")],
                "conditions": {"ready": ready},
                **({"targetRef": address["targetRef"]} if "targetRef" in address else {}),
            }
            for subset in source.body.get("subsets") or ()
            for field, ready in (("addresses", True), ("notReadyAddresses", False))
            for address in subset.get(field) or ()
        ]
        self._slice(source, MIRRORING, endpoints)

    def _slice(self, owner: Thing, manager: str, endpoints: list[Object]) -> None:
        """Write the one slice of a Service, or of Endpoints of its name."""
        space = owner.key.namespace
        slices = [
            one
            for one in self._store.children(owner.uid)
            if one.key.resource == ENDPOINT_SLICES and one.seen.labels.get(MANAGED_BY) == manager
        ]
        if slices:
            self._store.amend(slices[0], {"endpoints": endpoints})
            for spare in slices[1:]:
                self._store.amend(spare, {"endpoints": []})
            return
        metadata = {
            "name": f"{owner.key.name}-{self._store.suffix()}",
            "namespace": space,
            "uid": self._store.new_uid(),
            "creationTimestamp": self._store.stamp(),
            "labels": {SERVICE_NAME: owner.key.name, MANAGED_BY: manager},
            "ownerReferences": [owned_by(owner)],
        }
        head = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice"}
        self._store.put(
            self._store.apis[ENDPOINT_SLICES],
            {**head, "metadata": metadata, "addressType": "IPv4", "endpoints": endpoints},
        )

    def _restore(self) -> None:
        """Make the API server's own Service again, which it does within seconds."""
        namespace, name = API_SERVICE
        metadata = {
            "name": name,
            "namespace": namespace,
            "uid": self._store.new_uid(),
            "creationTimestamp": self._store.stamp(),
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        }
        spec = {"type": "ClusterIP", "clusterIP": "10.96.0.1", "ports": [{"port": 443}]}
        head = {"apiVersion": "v1", "kind": "Service"}
        self._store.put(self._store.apis[SERVICES], {**head, "metadata": metadata, "spec": spec})


def _endpoint(pod: Thing) -> Object:
    number = int(pod.uid[-6:], 16)
    ready = is_ready(pod.body)
    return {
        # WHY made up: nothing looks at an address but to tell endpoints apart.
        "addresses": [f"10.{128 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"],
        "conditions": {
            "ready": ready,
            "serving": ready,
            "terminating": pod.seen.terminating,
        },
        "nodeName": pod.spec["nodeName"],
        "targetRef": {
            "kind": "Pod",
            "name": pod.key.name,
            "namespace": pod.key.namespace,
            "uid": pod.uid,
        },
    }


def held_by_budget(store: Store, pod: Thing) -> str:
    """Return why a disruption budget keeps a pod now, empty if none does."""
    if not is_ready(pod.body):
        return ""
    for budget in store.all(_BUDGETS, pod.key.namespace):
        selector = _selector(budget.spec.get("selector"))
        if selector is None or not selector.matches(pod.seen.labels):
            continue
        pods = [
            one
            for one in store.all(PODS, pod.key.namespace)
            if selector.matches(one.seen.labels) and not one.seen.terminating
        ]
        healthy = sum(is_ready(one.body) for one in pods)
        if healthy - _floor(budget.spec, len(pods)) < 1:
            return (
                "Cannot evict pod as it would violate the pod's disruption budget. "
                f"The disruption budget {budget.key.name} needs more healthy pods"
            )
    return ""


def _floor(spec: Object, expected: int) -> int:
    if "maxUnavailable" in spec:
        return expected - _amount(spec["maxUnavailable"], expected)
    return _amount(spec.get("minAvailable", 1), expected)


def _amount(value: Any, whole: int) -> int:
    if isinstance(value, str) and value.endswith("%"):
        return ceil(float(value[:-1]) * whole / 100)
    return int(value)


def _selector(found: Any) -> Selector | None:
    return None if found is None else msgspec.convert(found, LabelSelector).selector()
