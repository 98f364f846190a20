"""How long it takes to say what would happen: projection and every effect, no policy, no network.

Beside `decision`, which times the whole judgement with the effects that its policies read. In CPU
time of the thread: nothing in here waits, and on a shared core the neighbours' share is left out.
"""

from __future__ import annotations

import gc
import time

from suture.bench.measure import Measured, Sample, Say, Setting, quantile
from suture.bench.reviews import (
    Case,
    deletes_by_type,
    giants,
    pod_delete,
    reconcile,
    repeated,
    service_delete,
    updates_by_type,
)
from suture.bench.scene import Scene
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.wire.admission import decode_review

GIANT_CALLS = 10
"""Of changes of hundreds of objects a tenth as many are timed."""

TAKEN = 500
"""How many objects a delete of any type may take along to count: no more than a giant's row."""

ASKED_TWICE = 2
"""Each write of any type is timed so often, and the lesser counts: what came in between is not its
own."""

LONG_US = 1_000
"""From which time on a type is told of while it is measured."""


def measure(setting: Setting, say: Say) -> Sample:
    """Return median and p99 of each sort of change, in µs of CPU time."""
    say("loading the cluster")
    scene = Scene(setting)
    found: dict[str, Measured] = {}
    try:
        cluster = scene.cluster
        small = (reconcile(cluster), pod_delete(cluster), service_delete(cluster))
        for case in (*small, *giants(cluster, scene.world.graph)):
            say(case.name)
            times = _times(scene, case, setting.calls)
            found[f"{case.name}: median"] = Measured(quantile(times, 0.5), "µs CPU")
            found[f"{case.name}: p99"] = Measured(quantile(times, 0.99), "µs CPU")
        for sort, cases in (
            ("delete", deletes_by_type(cluster)),
            ("update", updates_by_type(cluster)),
        ):
            say(f"{sort}s of every type")
            times = sorted(one for case in cases for one in _few(scene, case, sort, say))
            found[f"{sort} of any type: median"] = Measured(quantile(times, 0.5), "µs CPU")
            found[f"{sort} of any type: p99"] = Measured(quantile(times, 0.99), "µs CPU")
            found[f"{sort} of any type: longest"] = Measured(times[-1], "µs CPU")
    finally:
        gc.unfreeze()
        gc.enable()
    return found


def _times(scene: Scene, case: Case, calls: int) -> list[float]:
    """Return the time of each call, in µs; all effects are asked for."""
    calls = calls if len(case.reviews) > 1 else max(calls // GIANT_CALLS, 1)
    asked = repeated(case, calls + len(case.reviews))
    # Each is asked once before it counts.
    return [_timed(scene, body)[0] for body in asked][len(case.reviews) :]


def _few(scene: Scene, case: Case, sort: str, say: Say) -> list[float]:
    """Return the time of each write that takes few objects, in µs, and say the longest."""
    times = []
    for body in case.reviews:
        time_us, taken = min(_timed(scene, body) for _ in range(ASKED_TWICE))
        if taken <= TAKEN:
            times.append(time_us)
    if times and max(times) > LONG_US:
        say(f"{sort}s of {case.name}: {max(times):.0f} µs at most")
    return times


def _timed(scene: Scene, body: bytes) -> tuple[float, int]:
    """Return how long one change and its effects took, in µs, and how many objects it takes."""
    world = scene.world
    request = decode_review(body, scene.rim.trimmer)
    actor = world.operators.attribute(request.user)
    now = scene.rim.clock()
    started = time.thread_time_ns()
    view = world.view
    change = project(request, view)
    estimate(request, change, view, actor, now=now, evaluate=world.conditions)
    return (time.thread_time_ns() - started) / 1e3, len(change.removed)
