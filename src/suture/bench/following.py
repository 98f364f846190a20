"""The child that follows: what one watch event costs, from its bytes to the graph.

Each event comes as a block of its own, the dearest way there is; time is CPU time of the thread.
Through the reflector and the intake that the mirror has, over a model from a snapshot.
"""

from __future__ import annotations

import gc
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import uvloop

from suture.adapters.snapshots import load_graph
from suture.app.intake import Intake
from suture.bench.child import quiet_logs, say, told
from suture.bench.documents import Documents
from suture.bench.measure import Setting
from suture.bench.scene import clock
from suture.lab.clusters.chance import dice, suffix, uid
from suture.model.names import PODS
from suture.wire.trim import Trimmer
from suture.wire.watch import Reflector

EVENTS_A_CALL = 10
"""As many events are timed for each call of other figures: 20,000 of 2,000."""

CHANGED, REMOVED = 0.86, 0.07
"""What a steady cluster's pod events are: changes of state, ends; the rest are beginnings."""

ROLLED = 0.1
"""Of the pods that begin, those that are the first of a new ReplicaSet: somebody rolls out."""


class Followed(msgspec.Struct, frozen=True):
    """What each event took in µs, and how large they are."""

    times_us: list[float]
    mean_bytes: float


async def follow(setting: Setting, folder: Path, snapshot: Path) -> Followed:
    """Load, and apply the events of a busy while."""
    graph = load_graph(snapshot)
    graph.reserve()
    gc.collect()
    gc.freeze()
    gc.disable()
    documents, rng = Documents(folder), dice(setting.seed, "events")
    reflector = Reflector(Trimmer().reader(PODS, documents.kinds[PODS]))
    version = graph.freshness[PODS].resource_version
    reflector.resume(version)
    intake = Intake(graph, clock)
    bodies = documents.some(PODS, setting.calls * EVENTS_A_CALL, rng)
    times, size = [], 0
    for line in _lines(bodies, int(version), rng):
        size += len(line)
        started = time.thread_time_ns()
        deltas = reflector.lines(line)
        await intake.take(PODS, reflector.resource_version, deltas)
        times.append((time.thread_time_ns() - started) / 1e3)
    return Followed(times, size / len(times))


def _lines(pods: list[bytes], version: int, rng: Random) -> Iterator[bytes]:
    """Yield watch lines: pods whose state changes, that end, and others like them that begin."""
    for pod, now in zip(pods, itertools.count(version + 1), strict=False):
        after = _with(pod, b'"resourceVersion":"', b"%d" % now)
        chance = rng.random()
        if chance < CHANGED:
            yield _line(b"MODIFIED", _turned(after))
        elif chance < CHANGED + REMOVED:
            yield _line(b"DELETED", after)
        else:
            yield _line(b"ADDED", _new(after, now, rng))


def _line(kind: bytes, pod: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind, pod)


def _turned(pod: bytes) -> bytes:
    """Return a pod that is Ready where it was not, and the other way round."""
    ready = b'"type":"Ready","status":"'
    if ready + b"True" in pod:
        return pod.replace(ready + b"True", ready + b"False")
    return pod.replace(ready + b"False", ready + b"True")


def _new(pod: bytes, number: int, rng: Random) -> bytes:
    """Return another pod like this one; now and then of a ReplicaSet that nobody knows yet."""
    found = _with(pod, b'"metadata":{"name":"', b"new-%d" % number)
    # SOURCE: metadata is written name, namespace, uid: a pod's own uid stands before its owner's.
    found = _with(found, b'"uid":"', uid(number, "pod").encode())
    template, owners = b'"pod-template-hash":"', found.find(b'"ownerReferences":[')
    if template in found and owners >= 0 and rng.random() < ROLLED:
        found = found[:owners] + _with(found[owners:], b'"uid":"', uid(number, "set").encode())
        found = _with(found, template, suffix(rng, 9).encode())
    return found


def _with(pod: bytes, field: bytes, value: bytes) -> bytes:
    """Return a pod with another value at the first place of a text field."""
    start = pod.index(field) + len(field)
    return pod[:start] + value + pod[pod.index(b'"', start) :]


if __name__ == "__main__":
    quiet_logs()
    say(uvloop.run(follow(told(), Path(sys.argv[2]), Path(sys.argv[3]))))
