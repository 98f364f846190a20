"""What the model of a cluster costs: memory, start, events, answers, stalls; and its baselines.

The order of measurements, each in a fresh process, and the names of their figures, by which a
program finds them. A replay server in a process of its own stands in for the cluster.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from suture.bench import child
from suture.bench.asking import Answered
from suture.bench.comparing import Compared
from suture.bench.following import Followed
from suture.bench.measure import Measured, Sample, Say, Setting, quantile
from suture.bench.questions import Asked
from suture.bench.resuming import Resumed
from suture.bench.stalling import PODS_A_SECOND, SETTLE_S, Stalled, Waiting
from suture.bench.starting import Started
from suture.errors import DefectError
from suture.lab.replay import ReplayServer
from suture.model.names import Resource

GROWING = ("pod_selectors_us", "service_loss_us", "deployment_descendants_us", "reselect_us")
"""The small questions, which are to cost about the same in any cluster."""

BASELINES = ("dicts", "networkx")

BASELINE_BYTES = 12 << 30
"""LIMIT: a baseline that would be larger is not measured: the machine has other uses."""

OBJECT_BYTES = {"dicts": 1_500, "networkx": 1_500}
"""What an object takes in each, rounded up: by which its size is foreseen."""

OBJECTS_A_POD = 3.3
"""How many objects a made cluster has for each pod, rounded up."""

LIFETIME_S = 60.0
"""New pods stay while stalls are measured: each is created, scheduled and Ready, three events."""


def measure(setting: Setting, say: Say) -> Sample:
    """Return the figures of one run."""
    with tempfile.TemporaryDirectory(prefix="suture-bench-") as place:
        snapshot = Path(place) / "model.suture"
        with _replayed(setting, say) as server:
            folder, login = str(server.folder), str(server.kubeconfig)
            say("cold start over TLS")
            started = child.ask("suture.bench.starting", setting, Started, login, str(snapshot))
            if started.unknown:
                raise DefectError(f"{started.unknown} kinds could not be listed")
            say("warm start from a snapshot")
            resumed = child.ask("suture.bench.resuming", setting, Resumed, login, str(snapshot))
            say("stalls while pods and reviews come")
            stalled = _stalls(setting, server, snapshot)
        say("watch events")
        followed = child.ask("suture.bench.following", setting, Followed, folder, str(snapshot))
        say("questions")
        answered = child.ask("suture.bench.asking", setting, Answered, str(snapshot))
        figures = {
            **_start_figures(started, resumed),
            **_event_figures(followed),
            **_answer_figures(answered.asked),
            **_stall_figures(stalled),
            **_memory_figures(answered),
        }
        for name in BASELINES:
            if setting.baselines and fits(name, setting):
                say(f"baseline {name}")
                compared = child.ask(
                    "suture.bench.comparing", setting, Compared, folder, str(snapshot), name
                )
                figures |= _baseline_figures(name, compared)
    return figures


@contextmanager
def _replayed(setting: Setting, say: Say) -> Iterator[ReplayServer]:
    def told(resource: Resource, count: int, size: int) -> None:
        say(f"making {resource}: {count:,} objects, {size / 1e6:,.0f} MB")

    with ReplayServer(setting.scale, setting.seed, told=told) as server:
        yield server


def _stalls(setting: Setting, server: ReplayServer, snapshot: Path) -> Stalled:
    more = (str(server.kubeconfig), str(server.folder), str(snapshot))
    with child.start("suture.bench.stalling", setting, *more) as process:
        try:
            telling, hearing = child.pipes(process)
            child.heard(hearing.readline(), Waiting, "stalling")
            server.churn(PODS_A_SECOND, setting.stall_s + 2 * SETTLE_S, lifetime_s=LIFETIME_S)
            telling.write(b"\n")
            telling.flush()
            return child.heard(hearing.readline(), Stalled, "stalling")
        finally:
            child.end(process)


def fits(name: str, setting: Setting) -> bool:
    """Whether a baseline of this size is small enough to be built."""
    return setting.size.pods * OBJECTS_A_POD * OBJECT_BYTES[name] <= BASELINE_BYTES


# ---------------------------------------------------------------- figures by name


def _start_figures(started: Started, resumed: Resumed) -> Sample:
    objects = started.objects
    return {
        "objects": Measured(objects, ""),
        "bytes_per_object": Measured(started.grown_bytes / objects, "B"),
        "bytes_per_object_first": Measured(started.first_bytes / objects, "B"),
        "bytes_per_object_peak": Measured(started.peak_bytes / objects, "B"),
        "ready_s": Measured(started.ready_s, "s"),
        "ready_cpu_s": Measured(started.ready_cpu_s, "s CPU"),
        "warm_restart_s": Measured(resumed.ready_s, "s"),
        "warm_restart_cpu_s": Measured(resumed.ready_cpu_s, "s CPU"),
        "warm_restart_relisted": Measured(resumed.relisted, ""),
        "snapshot_load_s": Measured(resumed.load_s, "s"),
        "snapshot_load_cpu_s": Measured(resumed.load_cpu_s, "s CPU"),
        "snapshot_save_s": Measured(started.snapshot_save_s, "s"),
        "snapshot_save_cpu_s": Measured(started.snapshot_save_cpu_s, "s CPU"),
        "snapshot_bytes": Measured(started.snapshot_bytes, "B"),
    }


def _event_figures(followed: Followed) -> Sample:
    return {
        **_two("watch_event_us", followed.times_us),
        "watch_event_bytes": Measured(followed.mean_bytes, "B"),
    }


def _answer_figures(asked: Asked, prefix: str = "") -> Sample:
    figures: dict[str, Measured] = {}
    for name, times in asked.small_us.items():
        figures |= _two(f"{prefix}{name}_us", times)
    for name, times in asked.giants_us.items():
        figures[f"{prefix}{name}_ms"] = Measured(quantile(times, 0.5) / 1e3, "ms CPU")
        if not prefix:
            figures[f"{name}_objects"] = Measured(asked.sizes[name], "")
    return figures


def _stall_figures(stalled: Stalled) -> Sample:
    return {
        "stall_ms": Measured(max(stalled.steps_us.values()) / 1e3, "ms CPU"),
        "stall_turn_ms": Measured(max(stalled.turns_us) / 1e3, "ms CPU"),
        "stall_turn_p999_ms": Measured(quantile(stalled.turns_us, 0.999) / 1e3, "ms CPU"),
        "stall_turns": Measured(len(stalled.turns_us), ""),
        "stall_turns_broken": Measured(len(stalled.broken_us), ""),
        "stall_turn_broken_ms": Measured(max(stalled.broken_us, default=0.0) / 1e3, "ms CPU"),
        "stall_turns_stolen": Measured(len(stalled.stolen_us), ""),
        "stall_turn_stolen_ms": Measured(max(stalled.stolen_us, default=0.0) / 1e3, "ms CPU"),
        "stall_stolen_ms": Measured(
            max(stalled.stolen_steps_us.values(), default=0.0) / 1e3, "ms CPU"
        ),
        "stall_events_per_s": Measured(stalled.events / stalled.seconds, "events/s"),
        "stall_reviews_per_s": Measured(stalled.reviews / stalled.seconds, "reviews/s"),
        "stall_behind_s": Measured(stalled.behind_s, "s"),
        "stall_doubts": Measured(stalled.doubts, ""),
        "stall_cpu_share": Measured(stalled.cpu_s / stalled.seconds, ""),
        **_two("stall_review_us", stalled.review_us),
        "stall_collector_ms": Measured(max(stalled.pauses_ms, default=0.0), "ms CPU"),
        "stall_fork_ms": Measured(stalled.fork_ms, "ms"),
    }


def _memory_figures(answered: Answered) -> Sample:
    return {
        f"memory.{part.replace(' ', '_')}": Measured(size / answered.objects, "B per object")
        for part, size in answered.memory.items()
    }


def _baseline_figures(name: str, compared: Compared) -> Sample:
    prefix = f"baselines.{name}."
    return {
        f"{prefix}bytes_per_object": Measured(compared.grown_bytes / compared.objects, "B"),
        f"{prefix}built_cpu_s": Measured(compared.built_cpu_s, "s CPU"),
        f"{prefix}equal_answers": Measured(compared.compared, ""),
        **_answer_figures(compared.asked, prefix),
    }


def _two(name: str, times_us: Sequence[float]) -> Mapping[str, Measured]:
    return {
        f"{name}.median": Measured(quantile(times_us, 0.5), "µs CPU"),
        f"{name}.p99": Measured(quantile(times_us, 0.99), "µs CPU"),
    }
