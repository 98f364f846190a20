"""How fast `suture replay` judges a log: the whole command, in a process of its own, by level.

The log is that of `auditlog`, with a sweep of Services in it, and the snapshot is of after it, so
that it is rewound. CPU time of the command and all that it starts, from its start to its end.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec

from suture.adapters.snapshots import clock, save_graph
from suture.app.rules import Rules
from suture.app.watches import Watches
from suture.bench.auditlog import AuditLog, Writer
from suture.bench.child import CHILD_S
from suture.bench.measure import Measured, Sample, Say, Setting
from suture.errors import DefectError, UnavailableError
from suture.lab.clusters import Cluster
from suture.model.graph import Graph
from suture.model.names import CRDS
from suture.wire.audit import Level
from suture.wire.trim import Trimmer

EVENTS_A_CALL = 100
"""LIMIT: 200,000 events by default, 0.6 GB with bodies: an hour of a small cluster, a few minutes
of one of 2,000 nodes. Starting is an eighth of the time then; of a day's log it is nothing."""

REFUSALS = 12
"""The exit status of a replay that found refusals, as the sweep must have it."""

NAMES = {
    Level.METADATA: "metadata",
    Level.REQUEST: "request",
    Level.REQUEST_RESPONSE: "request_response",
}


class _Events(msgspec.Struct):
    events: int
    reads: int
    bytes: int
    malformed: int


class _Heard(msgspec.Struct):
    """What the command's JSON says of itself."""

    events: _Events
    writes: int
    judged: int
    refused: int
    events_per_s: float
    """Of the two passes alone, by the clock: what people are shown."""


def measure(setting: Setting, say: Say) -> Sample:
    """Return the figures of one run at each level. Errors: DefectError for a wrong report."""
    with tempfile.TemporaryDirectory(prefix="suture-bench-") as place:
        folder = Path(place)
        say("making the logs")
        log, snapshot, swept = _make(setting, folder)
        found: dict[str, Measured] = {}
        for level, name in NAMES.items():
            say(f"replaying, level {level.value}")
            found |= _replayed(log[level], snapshot, name, swept)
    return found


def _make(setting: Setting, folder: Path) -> tuple[dict[Level, Path], Path, int]:
    """Write the same events at each level, and a snapshot; return where, and how much is swept."""
    cluster = Cluster(setting.size, seed=setting.seed)
    log = AuditLog(cluster, setting.calls * EVENTS_A_CALL, setting.seed)
    graph, snapshot = _listed(cluster), folder / "after.suture"
    log.take_away(graph)
    save_graph(graph, snapshot, now=clock(), source="suture bench", cluster=f"made {setting.scale}")
    versions = {kind: gvk.version for kind, gvk in cluster.kinds.items()}
    paths = {level: folder / f"{name}.jsonl" for level, name in NAMES.items()}
    writers = {level: Writer(level, versions) for level in NAMES}
    with ExitStack() as stack:
        files = {level: stack.enter_context(path.open("wb")) for level, path in paths.items()}
        for at, event in enumerate(log.events()):
            for level, writer in writers.items():
                files[level].write(writer.line(at, event))
    return paths, snapshot, len(log.swept)


def _listed(cluster: Cluster) -> Graph:
    """Return the cluster as a list of it is read: the objects as they are in the log, by rules."""
    graph, trimmer = Graph(), Trimmer()
    for kind, gvk in cluster.kinds.items():
        graph.declare(gvk.group, gvk.kind, kind)
    # The definitions first, which say what to read of their instances.
    for kind in sorted(cluster.kinds, key=lambda one: one != CRDS):
        reader = trimmer.reader(kind, cluster.kinds[kind])
        graph.replace(kind, map(reader.one, cluster.documents(kind)))
        if kind == CRDS:
            Rules(trimmer, Watches(), graph).load(graph)
    return graph


def _replayed(log: Path, snapshot: Path, name: str, swept: int) -> Sample:
    """Run the command on one log."""
    order = [sys.executable, "-m", "suture", "replay", str(log), "--snapshot", str(snapshot)]
    before, began = _spent_s(), time.perf_counter()
    with subprocess.Popen([*order, "-o", "json"], stdout=subprocess.PIPE) as process:
        try:
            out, _ = process.communicate(timeout=CHILD_S)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise UnavailableError(f"the replay was not done within {CHILD_S:g} s") from error
    wall_s, cpu_s = time.perf_counter() - began, _spent_s() - before
    if process.returncode != REFUSALS:
        raise DefectError(f"the replay of a log with a sweep in it ended with {process.returncode}")
    heard = msgspec.json.decode(out, type=_Heard)
    if heard.events.malformed or heard.refused < swept // 2:
        raise DefectError(
            f"of a sweep of {swept} Services {heard.refused} were refused, "
            f"{heard.events.malformed} lines could not be read"
        )
    events = heard.events.events
    return {
        f"{name}.events_per_s": Measured(events / cpu_s, "events/s CPU"),
        f"{name}.events_per_s_wall": Measured(events / wall_s, "events/s wall"),
        f"{name}.passes_per_s_wall": Measured(heard.events_per_s, "events/s wall"),
        f"{name}.writes_per_s": Measured(heard.writes / cpu_s, "writes/s CPU"),
        f"{name}.cpu_s": Measured(cpu_s, "s CPU"),
        f"{name}.events": Measured(events, ""),
        f"{name}.reads": Measured(heard.events.reads, ""),
        f"{name}.judged": Measured(heard.judged, ""),
        f"{name}.refused": Measured(heard.refused, ""),
        f"{name}.event_bytes": Measured(heard.events.bytes / events, "bytes"),
    }


def _spent_s() -> float:
    """Return the CPU time of all children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
