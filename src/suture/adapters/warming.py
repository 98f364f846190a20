"""A model from a file, and its watches: begun while the file is read, which takes as long.

At the rim because it reads a file in a thread; which file is whose, and what can be gone on from,
the app knows.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import structlog

from suture import __version__
from suture.adapters.snapshots import clock, load_graph, read_snapshot_header
from suture.app.begun import HeadStart
from suture.app.follow import SETTLED_S, Pace
from suture.app.ports import Cluster
from suture.app.warmstart import same_cluster
from suture.app.watches import Watches
from suture.errors import InputError
from suture.model.graph import Graph
from suture.wire.snapshot import Header

log = structlog.get_logger(__name__)


TURN_S = 0.0002
"""LIMIT: a thread's turn while a file is read: 70 connections are made meanwhile, in some 500 steps
each of which waits for a turn to end; at the usual 5 ms they would take longer than the file."""


class Warm(msgspec.Struct, frozen=True):
    """A model that was saved, and the watches that go on from it."""

    graph: Graph
    head_start: HeadStart


async def warmed(
    path: Path, cluster: Cluster, watches: Watches, *, pace: Pace, chance: Callable[[], float]
) -> Warm | None:
    """Return what a file has of this very cluster; None, and a word in the log, where nothing."""
    header = _header(path)
    if header is None:
        return None
    head_start = HeadStart(
        cluster, watches, clock=clock, watch_s=pace.first_watch_s, settled_s=SETTLED_S
    )
    with short_turns():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(head_start.begin(header.kinds))
            same = tasks.create_task(same_cluster(cluster, header.cluster_uid, pace, chance))
            graph = await asyncio.to_thread(_graph, path)
    if graph is not None and same.result():
        log.info("model loaded", objects=len(graph), taken_s=header.taken_s)
        return Warm(graph, head_start)
    if graph is not None:
        log.warning("saved model is of another cluster; all is listed", path=str(path))
    await head_start.close()
    return None


@contextmanager
def short_turns() -> Iterator[None]:
    """Have threads take turns more often, so that what waits for the network is not held up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _header(path: Path) -> Header | None:
    try:
        header = read_snapshot_header(path)
    except InputError as error:
        _unreadable(error)
        return None
    # WHY the version: another Suture may read other fields of the same objects.
    if header.suture != __version__:
        log.info("saved model is of another version; all is listed", version=header.suture)
        return None
    return header


def _graph(path: Path) -> Graph | None:
    try:
        return load_graph(path)
    except InputError as error:
        _unreadable(error)
        return None


def _unreadable(error: InputError) -> None:
    log.warning("saved model cannot be read; all is listed", error=str(error))
