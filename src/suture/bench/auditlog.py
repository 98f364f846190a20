"""An audit log as a made cluster would write it: mostly reads, leases and status; few deletes.

Every event is made once and told at any level, so that logs of all levels tell of the same writes.
Bodies are the cluster's own objects; the fields stand in the order in which API servers write them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

import msgspec

from suture.lab.clusters import Cluster
from suture.lab.incident import ACCOUNT
from suture.model.graph import Graph
from suture.model.names import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.wire.audit import Level

BEGINS = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
A_SECOND = 1_000
"""Events in a second of the log: a fifth of them are leases, which 2,000 nodes renew every 10 s."""

SAMPLED = 3_000
"""LIMIT: objects of a kind that the log speaks of: 22 MB of pods."""

SWEPT, SWEEP_AT, SWEEP_EVERY = 200, 0.6, 50
"""A sweep of Services at 20 a second, from this part of the log on; in a short log all the same."""

LEASES, SLICES = (
    Resource("coordination.k8s.io", "leases"),
    Resource("discovery.k8s.io", "endpointslices"),
)
EVENTS = Resource("", "events")
REVIEWS = Resource("authorization.k8s.io", "subjectaccessreviews")

CONTROLLER = "system:serviceaccount:kube-system:"
RECONCILED = 7
"""How many custom kinds operators reconcile in it, beside Deployments, Services, ConfigMaps."""

OK, CREATED = 200, 201


class Told(msgspec.Struct, frozen=True, gc=False):
    """One event, before it is told at a level. `request` and `response` are JSON, or empty."""

    verb: str
    resource: Resource
    namespace: str
    name: str
    user: str
    subresource: str = ""
    code: int = OK
    request: bytes = b""
    response: bytes = b""
    query: str = ""


class _Meta(msgspec.Struct, gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""


class _Named(msgspec.Struct, gc=False):
    metadata: _Meta


class _Thing(msgspec.Struct, frozen=True, gc=False):
    key: ObjectKey
    uid: str
    body: bytes


class AuditLog:
    """A log of `events` events, and the snapshot of after it: what it deleted is not in there."""

    def __init__(self, cluster: Cluster, events: int, seed: int) -> None:
        self._cluster = cluster
        self._events = events
        self._dice = Random(seed)  # noqa: S311 a made log, the same for the same seed
        self._versions = {resource: gvk.version for resource, gvk in cluster.kinds.items()}
        customs = [kind for kind in cluster.kinds if "example.com" in kind.group][:RECONCILED]
        self._reconciled = (DEPLOYMENTS, DEPLOYMENTS, SERVICES, CONFIG_MAPS, *customs)
        kinds = (PODS, NODES, REPLICA_SETS, SLICES, LEASES, *self._reconciled)
        self._things = {kind: self._some(kind) for kind in dict.fromkeys(kinds)}
        # WHY apart: an object's first event tells of the beginning; these are made in the log.
        self._made = self._things[PODS][::4]
        self._things[PODS] = [one for at, one in enumerate(self._things[PODS]) if at % 4]
        services = self._things[SERVICES]
        self.swept = services[: min(SWEPT, len(services) // 4)]
        self._things[SERVICES] = services[len(self.swept) :]
        self._number = 0

    def _some(self, resource: Resource) -> list[_Thing]:
        """Return objects of a kind from all over the cluster."""
        every = max(1, self._count(resource) // SAMPLED)
        found = []
        for body in islice(self._cluster.documents(resource), 0, None, every):
            meta = msgspec.json.decode(body, type=_Named).metadata
            found.append(_Thing(ObjectKey(resource, meta.namespace, meta.name), meta.uid, body))
        return found

    def _count(self, resource: Resource) -> int:
        size = self._cluster.size
        return {PODS: size.pods, SERVICES: size.services, NODES: size.nodes}.get(resource, SAMPLED)

    def take_away(self, graph: Graph) -> None:
        """Make a graph of the cluster what it is after the log."""
        for one in self.swept:
            graph.remove(one.key)

    def events(self) -> Iterator[Told]:
        """Yield the events in their order; each time other ones."""
        shares: dict[Callable[[], tuple[Told, ...]], int] = {
            self._read: 420,
            self._lease: 200,
            self._review: 60,
            self._event: 50,
            self._pod_status: 100,
            self._node_status: 30,
            self._workload_status: 40,
            self._endpoints: 20,
            self._reconcile: 60,
            self._scale: 3,
            self._eviction: 1,
            self._pod_made: 4,
            self._pod_ended: 4,
        }
        drawn = self._dice.choices(list(shares), list(shares.values()), k=self._events)
        swept, sweeps_at = iter(self.swept), int(self._events * SWEEP_AT)
        every = max(1, min(SWEEP_EVERY, (self._events - sweeps_at) // len(self.swept)))
        for at, draw in enumerate(drawn):
            yield from draw()
            if at >= sweeps_at and at % every == 0:
                for one in islice(swept, 1):
                    yield self._told("delete", one, ACCOUNT.username, response=one.body)

    # ---- one event of each sort

    def _any(self, resource: Resource) -> _Thing:
        return self._dice.choice(self._things[resource])

    def _told(
        self, verb: str, thing: _Thing, user: str, subresource: str = "", *,
        code: int = OK, request: bytes = b"", response: bytes = b"",
    ) -> Told:  # fmt: skip
        key = thing.key
        return Told(
            verb, key.resource, key.namespace, key.name, user, subresource, code, request, response
        )

    def _read(self) -> tuple[Told, ...]:
        one = self._any(self._dice.choice((PODS, NODES, LEASES, *self._reconciled)))
        match self._dice.randrange(10):
            case 0 | 1:
                user = _operator(one)
                return (Told("list", one.key.resource, "", "", user, query="?limit=500"),)
            case 2 | 3 | 4:
                query = "?allowWatchBookmarks=true&resourceVersion=1253577181&watch=true"
                return (Told("watch", one.key.resource, "", "", self._kubelet(), query=query),)
            case _:
                return (self._told("get", one, _operator(one)),)

    def _lease(self) -> tuple[Told, ...]:
        one, body = self._renewed(LEASES)
        return (self._told("update", one, self._kubelet(), request=body, response=body),)

    def _review(self) -> tuple[Told, ...]:
        body = (
            b'{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},'
            b'"spec":{"resourceAttributes":{"namespace":"monitoring","verb":"get",'
            b'"version":"v1","resource":"pods"},"user":"system:serviceaccount:monitoring:agent"},'
            b'"status":{"allowed":true}}'
        )
        user = "system:serviceaccount:monitoring:aggregator"
        return (Told("create", REVIEWS, "", "", user, "", CREATED, body, body),)

    def _event(self) -> tuple[Told, ...]:
        pod, number = self._any(PODS), self._next()
        body = (
            b'{"kind":"Event","apiVersion":"v1","metadata":{"name":"%s.%x","namespace":"%s",'
            b'"uid":"6a1d2f7e-0000-4000-8000-%012x"},"involvedObject":{"kind":"Pod","name":"%s"},'
            b'"reason":"Pulled","message":"container image is already present on the machine",'
            b'"count":1,"type":"Normal"}'
        ) % (pod.key.name.encode(), number, pod.key.namespace.encode(), number,
             pod.key.name.encode())  # fmt: skip
        name = f"{pod.key.name}.{number:x}"
        user = self._kubelet()
        return (Told("create", EVENTS, pod.key.namespace, name, user, "", CREATED, body, body),)

    def _pod_status(self) -> tuple[Told, ...]:
        one, body = self._renewed(PODS)
        if self._dice.randrange(20) == 0:
            body = body.replace(
                b'"type":"Ready","status":"True"', b'"type":"Ready","status":"False"'
            )
        patch = body[body.rfind(b'"status":{"phase"') :] if b'"status":{"phase"' in body else b"}"
        return (
            self._told(
                "patch", one, self._kubelet(), "status", request=b"{" + patch, response=body
            ),
        )

    def _node_status(self) -> tuple[Told, ...]:
        one, body = self._renewed(NODES)
        user = f"system:node:{one.key.name}"
        patch = b'{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
        return (self._told("patch", one, user, "status", request=patch, response=body),)

    def _workload_status(self) -> tuple[Told, ...]:
        kind, name = self._dice.choice(
            ((DEPLOYMENTS, "deployment-controller"), (REPLICA_SETS, "replicaset-controller"))
        )
        one, body = self._renewed(kind)
        user = f"{CONTROLLER}{name}"
        return (self._told("update", one, user, "status", request=body, response=body),)

    def _endpoints(self) -> tuple[Told, ...]:
        one, body = self._renewed(SLICES)
        user = f"{CONTROLLER}endpointslice-controller"
        return (self._told("update", one, user, request=body, response=body),)

    def _reconcile(self) -> tuple[Told, ...]:
        one, body = self._renewed(self._dice.choice(self._reconciled))
        return (self._told("update", one, _operator(one), request=body, response=body),)

    def _scale(self) -> tuple[Told, ...]:
        one = self._any(DEPLOYMENTS)
        size = 3 + self._dice.randrange(20)
        body = (
            b'{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"%s","namespace":'
            b'"%s"},"spec":{"replicas":%d},"status":{"replicas":%d}}'
        ) % (one.key.name.encode(), one.key.namespace.encode(), size, size)
        user = f"{CONTROLLER}horizontal-pod-autoscaler"
        return (self._told("update", one, user, "scale", request=body, response=body),)

    def _eviction(self) -> tuple[Told, ...]:
        one = self._any(PODS)
        body = (
            b'{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"%s","namespace":"%s"}}'
        ) % (one.key.name.encode(), one.key.namespace.encode())
        user = "system:serviceaccount:maintenance:drainer"
        status = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}'
        return (
            self._told(
                "create", one, user, "eviction", code=CREATED, request=body, response=status
            ),
        )

    def _pod_made(self) -> tuple[Told, ...]:
        """Return a pod's create, without its name as ever, and its binding."""
        if not self._made:
            return self._pod_status()
        one = self._made.pop()
        self._things[PODS].append(one)
        name = one.key.name.encode()
        asked = one.body.replace(b'"name":"%s"' % name, b'"generateName":"%s"' % name[:-5], 1)
        create = Told(
            "create", PODS, one.key.namespace, "", f"{CONTROLLER}replicaset-controller", "",
            CREATED, asked, one.body,
        )  # fmt: skip
        binding = (
            b'{"kind":"Binding","apiVersion":"v1","metadata":{"name":"%s","uid":"%s"},'
            b'"target":{"kind":"Node","name":"%s"}}'
        ) % (name, one.uid.encode(), self._any(NODES).key.name.encode())
        status = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}'
        bound = self._told(
            "create", one, "system:kube-scheduler", "binding",
            code=CREATED, request=binding, response=status,
        )  # fmt: skip
        return create, bound

    def _pod_ended(self) -> tuple[Told, ...]:
        """Return the deletes of a pod that nobody has any more: its controller's, its kubelet's."""
        like, number = self._any(PODS), self._next()
        name, uid = f"{like.key.name}-{number:x}", f"7b2e3f80-0000-4000-8000-{number:012x}"
        body = like.body.replace(like.key.name.encode(), name.encode(), 1)
        body = body.replace(like.uid.encode(), uid.encode(), 1)
        one = _Thing(ObjectKey(PODS, like.key.namespace, name), uid, body)
        going = body.replace(
            b'"creationTimestamp"',
            b'"deletionTimestamp":"2026-11-20T10:00:30Z","deletionGracePeriodSeconds":30,'
            b'"creationTimestamp"',
            1,
        )
        asked = b'{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"%s"}}'
        now = b'{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}'
        user = f"{CONTROLLER}replicaset-controller"
        first = self._told("delete", one, user, request=asked % uid.encode(), response=going)
        return first, self._told("delete", one, self._kubelet(), request=now, response=going)

    # ---- parts of them

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _renewed(self, resource: Resource) -> tuple[_Thing, bytes]:
        """Return an object and its body with another resourceVersion, as every write gives it."""
        one = self._any(resource)
        version = b'"resourceVersion":"%d' % self._dice.randrange(1000, 9999)
        return one, one.body.replace(b'"resourceVersion":"', version, 1)

    def _kubelet(self) -> str:
        return f"system:node:{self._any(NODES).key.name}"


def _operator(thing: _Thing) -> str:
    """Return who reconciles an object: one operator a kind."""
    kind = thing.key.resource
    return f"system:serviceaccount:{kind.plural}-system:{kind.plural}-operator"


class Writer:
    """Tells events at one level, as lines with the time of their place in the log."""

    def __init__(self, level: Level, versions: dict[Resource, str]) -> None:
        self._level = level
        self._versions = versions

    def line(self, at: int, told: Told) -> bytes:
        """Return one event as a line. Reads are told at Metadata, as audit policies have it."""
        reads = told.verb in ("get", "list", "watch")
        level = Level.METADATA if reads else self._level
        kind, version = told.resource, self._versions.get(told.resource, "v1")
        root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
        path = "/".join(filter(None, (
            root, *(("namespaces", told.namespace) if told.namespace else ()), kind.plural,
            told.name, told.subresource,
        )))  # fmt: skip
        ref = {
            "resource": kind.plural, "namespace": told.namespace, "name": told.name,
            "apiGroup": kind.group, "apiVersion": version, "subresource": told.subresource,
        }  # fmt: skip
        head = {
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": level.value,
            "auditID": f"5f0e91c4-2b7d-4c1e-9d55-{at:012x}", "stage": "ResponseComplete",
            "requestURI": path + told.query, "verb": told.verb,
            "user": _user(told.user), "sourceIPs": ["10.64.12.7"],
            "userAgent": f"{told.user.rpartition(':')[2]}/v1.36.3 (linux/amd64) kubernetes/3c3f1b1",
            "objectRef": {key: value for key, value in ref.items() if value},
            "responseStatus": {"metadata": {}, "code": told.code},
        }  # fmt: skip
        came = BEGINS + timedelta(seconds=at / A_SECOND)
        tail = {
            "requestReceivedTimestamp": _stamp(came),
            "stageTimestamp": _stamp(came + timedelta(milliseconds=4)),
            "annotations": {
                "authorization.k8s.io/decision": "allow",
                "authorization.k8s.io/reason": "RBAC: allowed by ClusterRoleBinding "
                f'"{told.user.rpartition(":")[2]}" of ClusterRole to ServiceAccount',
            },
        }
        parts = [msgspec.json.encode(head)[:-1]]
        if told.request and level is not Level.METADATA:
            parts += (b',"requestObject":', told.request)
        if told.response and level is Level.REQUEST_RESPONSE:
            parts += (b',"responseObject":', told.response)
        parts += (b",", msgspec.json.encode(tail)[1:], b"\n")
        return b"".join(parts)


def _user(name: str) -> dict[str, object]:
    groups = ["system:authenticated"]
    extra: dict[str, object] = {}
    if name.startswith("system:serviceaccount:"):
        namespace = name.split(":")[2]
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", *groups]
        extra = {
            "authentication.kubernetes.io/credential-id": ["JTI=0b8e9c1d-41a6-4f6e-9d0c-1f5d"],
            "authentication.kubernetes.io/pod-name": [f"{namespace}-6f8d9c7b5-x2x4z"],
        }
    elif name.startswith("system:node:"):
        groups = ["system:nodes", *groups]
    user: dict[str, object] = {
        "username": name, "uid": "0a1b2c3d-6393-11e8-b7cc-42010a800002", "groups": groups,
    }  # fmt: skip
    return {**user, "extra": extra} if extra else user


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
