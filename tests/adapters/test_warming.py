"""A saved model is gone on from where it is this cluster's, and this Suture's; else it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.fakecluster import FakeCluster
from support.following import PACE
from suture.adapters.snapshots import save_graph
from suture.adapters.warming import warmed
from suture.app.watches import Watches
from suture.model import names
from suture.model.graph import Graph
from suture.model.names import Gvk, ObjectKey
from suture.model.objects import ClusterObject


@pytest.fixture
def cluster() -> FakeCluster:
    """Return a cluster that can be told from others."""
    found = FakeCluster(second_s=0.01)
    found.write(names.NAMESPACES, "kube-system")
    return found


def saved(path: Path, uid: str) -> Path:
    """Save a model of the cluster whose kube-system has a uid."""
    graph = Graph()
    graph.declare("", "Namespace", names.NAMESPACES)
    key = ObjectKey(names.NAMESPACES, "", "kube-system")
    graph.put(ClusterObject(key, uid, Gvk("", "v1", "Namespace"), "1"))
    graph.note_listed(names.NAMESPACES)
    graph.heard(names.NAMESPACES, "101", 1)
    save_graph(graph, path)
    return path


async def test_the_model_comes_with_its_watches(cluster: FakeCluster, tmp_path: Path) -> None:
    """Of each kind that was listed, and from the version that the file has."""
    path = saved(tmp_path / "model.suture", "uid-101")
    found = await warmed(path, cluster, Watches(), pace=PACE, chance=lambda: 0.5)
    assert found is not None
    assert len(found.graph) == 1
    want = Watches().want(cluster.apis["/api/v1/namespaces"])
    assert want is not None
    taken = found.head_start.take(names.NAMESPACES, "101", want)
    assert taken is not None
    await taken.close()


async def test_another_cluster_s_model_is_left(cluster: FakeCluster, tmp_path: Path) -> None:
    """Its versions mean nothing here."""
    path = saved(tmp_path / "model.suture", "uid-other")
    assert await warmed(path, cluster, Watches(), pace=PACE, chance=lambda: 0.5) is None


async def test_what_cannot_be_read_is_left(cluster: FakeCluster, tmp_path: Path) -> None:
    """Neither a damaged head nor a damaged section ends a start."""
    path = saved(tmp_path / "model.suture", "uid-101")
    whole = path.read_bytes()
    for at in (4, len(whole) - 60):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert await warmed(path, cluster, Watches(), pace=PACE, chance=lambda: 0.5) is None
