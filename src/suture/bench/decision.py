"""How long a decision takes: `suture.judge.judge` alone, no network, no decoding, no journal.

In CPU time of the thread: nothing in there waits, so on a quiet core it is the wall time, and on a
shared one the neighbours' share is left out.
"""

from __future__ import annotations

import gc
import time

from suture.bench.measure import Measured, Sample, Say, Setting, quantile
from suture.bench.reviews import Case, cases, repeated
from suture.bench.scene import Scene
from suture.judge import judge
from suture.model.actor import Actor
from suture.model.request import Request
from suture.wire.admission import decode_review

LARGE_CALLS = 10
"""Of decisions about hundreds of objects a tenth as many are timed."""


def measure(setting: Setting, say: Say) -> Sample:
    """Return median and p99 of each sort of decision, in µs of CPU time."""
    say("loading the cluster")
    scene = Scene(setting)
    found: dict[str, Measured] = {}
    try:
        for case in cases(scene.cluster, scene.world.graph):
            say(case.name)
            times = _times(scene, case, setting.calls)
            found[f"{case.name}: median"] = Measured(quantile(times, 0.5), "µs CPU")
            found[f"{case.name}: p99"] = Measured(quantile(times, 0.99), "µs CPU")
    finally:
        gc.unfreeze()
        gc.enable()
    return found


def _times(scene: Scene, case: Case, calls: int) -> list[float]:
    """Return the time of each call, in µs; each finds a world in which nothing was admitted yet."""
    calls = calls if len(case.reviews) > 1 else max(calls // LARGE_CALLS, 1)
    asked: list[tuple[Request, Actor]] = []
    for body in repeated(case, calls):
        request = decode_review(body, scene.rim.trimmer)
        asked.append((request, scene.world.operators.attribute(request.user)))
    world, times = scene.world, []
    for request, actor in asked[: len(case.reviews)]:  # once before it counts
        judge(request, actor, world, scene.rim.clock())
        scene.forget()
    for request, actor in asked:
        now = scene.rim.clock()
        started = time.thread_time_ns()
        judge(request, actor, world, now)
        times.append((time.thread_time_ns() - started) / 1e3)
        scene.forget()
    return times
