"""Pods that come and go: what a busy cluster's watch of pods carries, at any rate.

Apart from `store`, which keeps what happened. New pods are alike to pods that are there: of the
same ReplicaSets, with the same labels and sizes, so that who follows them does what it would do.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import msgspec

from suture.lab.clusters.bodies import KINDS, Object
from suture.lab.clusters.chance import dice, suffix, uid
from suture.lab.clusters.forms import Form
from suture.lab.clusters.pages import type_prefix
from suture.lab.replay.shelf import Key, Shelf
from suture.lab.replay.state import Churn, Happening, OrderError
from suture.lab.replay.store import Store
from suture.model.names import PODS

TICK_S = 0.02
"""How often pods are made: 100 at a time at 5,000 a second."""

MODELS = 256
"""LIMIT: pods that new ones are made after; 20 KB each in its four forms, 5 MB."""

MODEL_PAGES = 32
"""LIMIT: pages that they are taken from; 5 ms each."""

MAX_TOGETHER = 100
"""LIMIT: pods of one page that change together; a page is read for them, 5 ms."""

MAX_RATE = 10_000.0
"""LIMIT: pods a second; ten times what the largest published cluster starts."""

MAX_SECONDS = 3_600.0
"""LIMIT: of one order and of a pod's life; an hour at 5,000 a second is a soak test."""

MAX_ALIVE = 500_000
"""LIMIT: new pods alive at a time; 1 KB each."""

SCHEDULED_S, READY_S, GRACE_S = 0.05, 1.0, 1.0
"""After which time a new pod has a node, is Ready from then on, and is gone once told to go."""
Place = tuple[int, int, bytes]
"""Page, line, and the pod there."""


class Model:
    """A pod that is there, as forms for new ones like it: one a stage of their lives."""

    def __init__(self, body: bytes) -> None:
        pod: Object = msgspec.json.decode(body)
        meta, spec, status = pod["metadata"], pod["spec"], pod["status"]
        self.namespace: str = meta["namespace"]
        self.node: str = spec["nodeName"]
        self.stem: str = meta["name"].rpartition("-")[0]
        meta |= {"name": "@@name@@", "uid": "@@uid@@", "resourceVersion": "@@version@@"}
        spec["nodeName"] = "@@node@@"
        pending: Object = {"phase": "Pending", "qosClass": status.get("qosClass", "Burstable")}
        placed = [{"type": "PodScheduled", "status": "True"}]
        going = {**meta, "deletionTimestamp": meta["creationTimestamp"]}
        self.created = _form(pod, spec=_without(spec, "nodeName"), status=pending)
        self.scheduled = _form(pod, status={**pending, "conditions": placed})
        self.ready = _form(pod, status={**status, "conditions": _conditions(status, "True")})
        self.going = _form(
            pod,
            metadata={**going, "deletionGracePeriodSeconds": 30},
            status={**status, "conditions": _conditions(status, "False")},
        )


class NewPod:
    """A new pod: after which model, and what is its own."""

    __slots__ = ("model", "name", "node", "uid")

    def __init__(self, model: Model, name: str, uid: str, node: str) -> None:
        self.model = model
        self.name = name
        self.uid = uid
        self.node = node

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.model.namespace, self.name

    def at(self, form: Form, version: int) -> bytes:
        """Return it in one form, at a version."""
        return form.filled(
            {"name": self.name, "uid": self.uid, "node": self.node, "version": str(version)}
        )


class Churner:
    """Carries out one order at a time, in a thread of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shelf: Shelf = store.shelves[PODS]
        self._thread: threading.Thread | None = None
        self._orders = 0

    @property
    def busy(self) -> bool:
        """Whether an order is being carried out, to the end of the last new pod's life."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, order: Churn) -> None:
        """Begin an order. Errors: OrderError while another goes on, or when it is too large."""
        if self.busy:
            raise OrderError("pods come and go already; wait until `churning` is false")
        if not 0 < order.pods_per_second <= MAX_RATE:
            raise OrderError(f"`pods_per_second` must be more than 0 and at most {MAX_RATE:g}")
        if not (0 < order.seconds <= MAX_SECONDS and 0 <= order.lifetime_s <= MAX_SECONDS):
            raise OrderError(f"`seconds` and `lifetime_s` must be at most {MAX_SECONDS:g}")
        living_s = SCHEDULED_S + READY_S + min(order.lifetime_s, order.seconds) + GRACE_S
        if order.pods_per_second * living_s > MAX_ALIVE:
            raise OrderError(f"more than {MAX_ALIVE} new pods would be alive; shorten `lifetime_s`")
        self._orders += 1
        rng = dice(self._orders, "churn")
        work = {
            Happening.CREATE: self._create,
            Happening.STATUS: self._status,
            Happening.DELETE: self._delete,
        }[order.kind]
        self._thread = threading.Thread(target=work, args=(order, rng), daemon=True)
        self._thread.start()

    # ---- new pods

    def _create(self, order: Churn, rng: Random) -> None:
        models = self._models(rng)
        nodes = [model.node for model in models]
        waits = (SCHEDULED_S, READY_S, order.lifetime_s, GRACE_S)
        stages: list[deque[tuple[float, NewPod]]] = [deque() for _ in waits]
        steps: list[Callable[[NewPod], None]] = [
            self._schedule,
            self._get_ready,
            self._tell_to_go,
            self._go,
        ]
        made = 0
        began = time.monotonic()
        wanted_in_all = round(order.pods_per_second * order.seconds)
        while made < wanted_in_all or any(stages):
            now = time.monotonic()
            wanted = min(wanted_in_all, int((now - began) * order.pods_per_second) + 1)
            with self._store.news[PODS]:
                # WHY from the last stage on: a pod makes one step a tick, however late that is.
                for at in range(len(steps) - 1, -1, -1):
                    while stages[at] and stages[at][0][0] <= now:
                        _, pod = stages[at].popleft()
                        steps[at](pod)
                        if at + 1 < len(steps):
                            stages[at + 1].append((now + waits[at + 1], pod))
                while made < wanted:
                    pod = self._new(rng.choice(models), rng.choice(nodes), rng, made)
                    stages[0].append((now + waits[0], pod))
                    made += 1
                self._store.news[PODS].notify_all()
            time.sleep(max(0.0, TICK_S - (time.monotonic() - now)))

    def _new(self, model: Model, node: str, rng: Random, number: int) -> NewPod:
        name = f"{model.stem}-{suffix(rng, 8)}"
        pod = NewPod(model, name, uid(self._orders, "new", number, name), node)
        self._step(b"ADDED", pod, model.created)
        self._shelf.count += 1
        return pod

    def _schedule(self, pod: NewPod) -> None:
        self._step(b"MODIFIED", pod, pod.model.scheduled)

    def _get_ready(self, pod: NewPod) -> None:
        self._step(b"MODIFIED", pod, pod.model.ready)

    def _tell_to_go(self, pod: NewPod) -> None:
        self._step(b"MODIFIED", pod, pod.model.going)

    def _go(self, pod: NewPod) -> None:
        self._step(b"DELETED", pod, pod.model.going)
        del self._shelf.added[pod.key]
        self._shelf.count -= 1

    def _step(self, kind: bytes, pod: NewPod, form: Form) -> None:
        made = self._store.happen(PODS, kind, partial(pod.at, form))
        self._shelf.added[pod.key] = made

    # ---- pods that are there

    def _status(self, order: Churn, rng: Random) -> None:
        for places in self._paced(order, rng):
            self._change(b"MODIFIED", [(page, line, _turned(body)) for page, line, body in places])

    def _delete(self, order: Churn, rng: Random) -> None:
        for places in self._paced(order, rng):
            self._change(b"DELETED", places)

    def _change(self, kind: bytes, places: list[Place]) -> None:
        gone = kind == b"DELETED"
        with self._store.news[PODS]:
            for page, line, body in places:
                made = self._store.happen(PODS, kind, _versioned(body))
                self._shelf.changed.setdefault(page, {})[line] = None if gone else made()
                self._shelf.count -= gone
            self._store.news[PODS].notify_all()

    def _paced(self, order: Churn, rng: Random) -> Iterator[list[Place]]:
        """Yield pods with their places at the rate that is asked for, a few of a page together."""
        began, done = time.monotonic(), 0
        wanted_in_all = round(order.pods_per_second * order.seconds)
        together = min(MAX_TOGETHER, math.ceil(order.pods_per_second * TICK_S))
        while done < wanted_in_all:
            found = self._some(rng, min(together, wanted_in_all - done))
            # WHY counted so: where all pods of a page are gone, its turn is over all the same.
            done += max(1, len(found))
            yield found
            early_s = began + done / order.pods_per_second - time.monotonic()
            time.sleep(max(0.0, early_s))

    def _some(self, rng: Random, count: int) -> list[Place]:
        page = rng.randrange(self._shelf.listed.pages)
        bodies = self._shelf.wholes(page)
        lines = rng.sample(sorted(bodies), min(count, len(bodies)))
        return [(page, line, bodies[line]) for line in lines]

    def _models(self, rng: Random) -> list[Model]:
        """Return pods that are there, run, and belong to a ReplicaSet, from all over the pages."""
        pages = range(self._shelf.listed.pages)
        chosen = rng.sample(pages, min(MODEL_PAGES, len(pages)))
        each = MODELS // len(chosen)
        found: list[Model] = []
        for page in chosen:
            bodies = [
                body
                for body in self._shelf.wholes(page).values()
                if b'"kind":"ReplicaSet"' in body and b'"phase":"Running"' in body
            ]
            found += map(Model, rng.sample(bodies, min(each, len(bodies))))
        return found


def _form(pod: Object, **parts: Object) -> Form:
    body = {**pod, **parts}
    inside = msgspec.json.encode({key: body[key] for key in ("metadata", "spec", "status")})
    return Form(type_prefix(KINDS[PODS]) + inside[1:])


def _without(spec: Object, name: str) -> Object:
    return {key: value for key, value in spec.items() if key != name}


def _conditions(status: Object, ready: str) -> list[Object]:
    return [
        {**one, "status": ready} if one["type"] in ("Ready", "ContainersReady") else one
        for one in status.get("conditions", ())
    ]


def _turned(body: bytes) -> bytes:
    """Return a pod that is Ready where it was not, and the other way round."""
    pod = msgspec.json.decode(body)
    was = {one["type"]: one["status"] for one in pod["status"]["conditions"]}
    now = "False" if was.get("Ready") == "True" else "True"
    pod["status"]["conditions"] = _conditions(pod["status"], now)
    return msgspec.json.encode(pod)


def _versioned(body: bytes) -> Callable[[int], bytes]:
    """Return what writes an object at another version."""
    mark = b'"resourceVersion":"'
    start = body.index(mark) + len(mark)
    before, after = body[:start], body[body.index(b'"', start) :]
    return lambda version: b"%s%d%s" % (before, version, after)
