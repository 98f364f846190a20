"""The model is saved by a child, whole or not at all, and its parent goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from suture.adapters.snapshots import SnapshotFileError, load_graph
from suture.adapters.snapshotter import Snapshotter
from suture.errors import UnavailableError
from suture.model import names
from suture.model.graph import Graph
from suture.model.names import Gvk, ObjectKey
from suture.model.objects import ClusterObject


def namespace(name: str) -> ClusterObject:
    """Return a namespace."""
    key = ObjectKey(names.NAMESPACES, "", name)
    return ClusterObject(key, f"uid-{name}", Gvk("", "v1", "Namespace"), "1")


def graph(count: int) -> Graph:
    """Return a graph of namespaces."""
    made = Graph()
    made.declare("", "Namespace", names.NAMESPACES)
    for number in range(count):
        made.put(namespace(f"n{number}"))
    made.note_listed(names.NAMESPACES)
    return made


async def test_a_child_saves_the_moment_of_its_birth(tmp_path: Path) -> None:
    """What changes while it writes is not in the file, and the event loop goes on."""
    found, path = graph(500), tmp_path / "model.suture"
    had: list[int] = []
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            # WHY one more and one less: what changes must not come to its end before the fork.
            found.put(namespace(f"late-{turns}"))
            found.put(namespace(f"later-{turns}"))
            found.remove(ObjectKey(names.NAMESPACES, "", f"late-{turns}"))
            await asyncio.sleep(0.001)

    task = asyncio.create_task(other())
    await Snapshotter(found, path, lambda: True, lambda _: had.append(len(found))).save()
    task.cancel()
    assert [len(load_graph(path))] == had
    assert len(found) > had[0]
    assert turns > 5


async def test_a_child_that_fails_says_why(tmp_path: Path) -> None:
    """And leaves no file."""
    path = tmp_path / "no such folder" / "model.suture"
    with pytest.raises(UnavailableError, match="cannot be written"):
        await Snapshotter(graph(1), path, lambda: True, lambda _: None).save()
    with pytest.raises(SnapshotFileError):
        load_graph(path)


def test_at_the_end_it_is_saved_here(tmp_path: Path) -> None:
    """The process has nothing else to do any more."""
    path = tmp_path / "model.suture"
    Snapshotter(graph(3), path, lambda: True, lambda _: None).save_here()
    assert len(load_graph(path)) == 3
