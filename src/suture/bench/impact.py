"""How long it takes to say what would happen: projection and every effect, no policy, no network.

Beside `decision`, which times the whole judgement with the effects that its policies read. In CPU
time of the thread: nothing in here waits, and on a shared core the neighbours' share is left out.
"""

from __future__ import annotations

import gc
import time

from suture.bench.measure import Measured, Sample, Say, Setting, quantile
from suture.bench.reviews import Case, giants, pod_delete, reconcile, repeated, service_delete
from suture.bench.scene import Scene
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.wire.admission import decode_review

GIANT_CALLS = 10
"""Of changes of hundreds of objects a tenth as many are timed."""


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
    finally:
        gc.unfreeze()
        gc.enable()
    return found


def _times(scene: Scene, case: Case, calls: int) -> list[float]:
    """Return the time of each call, in µs; all effects are asked for."""
    calls = calls if len(case.reviews) > 1 else max(calls // GIANT_CALLS, 1)
    world, times = scene.world, []
    for body in repeated(case, calls + len(case.reviews)):
        request = decode_review(body, scene.rim.trimmer)
        actor = world.operators.attribute(request.user)
        now = scene.rim.clock()
        started = time.thread_time_ns()
        view = world.view
        change = project(request, view)
        estimate(request, change, view, actor, now=now, evaluate=world.conditions)
        times.append((time.thread_time_ns() - started) / 1e3)
    # Each is asked once before it counts.
    return times[len(case.reviews) :]
