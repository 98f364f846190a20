"""A real cluster saved and loaded: all of it, but no Secret; what may not be listed is unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.snapshots import raw_bytes
from suture.adapters.snapshots import load_graph, read_snapshot_header
from suture.cli import snapshot
from suture.errors import UnavailableError
from suture.lab.identities import Person
from suture.lab.plane import Plane
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, NAMESPACES, PODS, SECRETS, ObjectKey

pytestmark = pytest.mark.lab

SPACE = "snapshot-test"
PASSWORD = "hunter2-correct-horse"
READER = Person("snapshot-reader")


@pytest.fixture(scope="module")
def space(plane: Plane) -> Iterator[Plane]:
    """Fill a namespace with a Secret and more ConfigMaps than a page has."""
    rest = plane.admin
    rest.create("/api/v1/namespaces", {"metadata": {"name": SPACE}})
    base = f"/api/v1/namespaces/{SPACE}"
    rest.create(
        f"{base}/secrets", {"metadata": {"name": "key"}, "stringData": {"password": PASSWORD}}
    )
    for number in range(510):
        rest.create(f"{base}/configmaps", {"metadata": {"name": f"c{number}"}})
    yield plane
    rest.delete(f"/api/v1/namespaces/{SPACE}")


def save(plane: Plane, file: Path, *words: str, who: Person | None = None) -> int:
    """Run `suture snapshot save` against the control plane."""
    config = plane.kubeconfig() if who is None else plane.kubeconfig(who)
    found = snapshot.app(
        ["save", str(file), "--kubeconfig", str(config), *words], result_action="return_value"
    )
    return int(found)


def test_a_cluster_comes_back_from_its_file(
    space: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Object by object what a list shows, at the versions at which it was; and no Secret's value."""
    assert save(space, tmp_path / "a", "--output", "json") == 0
    said = json.loads(capsys.readouterr().out)
    graph = load_graph(tmp_path / "a")
    listed = space.admin.get(f"/api/v1/namespaces/{SPACE}/configmaps")["items"]
    system = space.admin.get("/api/v1/namespaces/kube-system")

    known = {
        (one.key.name, one.uid, one.resource_version)
        for one in graph
        if one.key.resource == CONFIG_MAPS and one.key.namespace == SPACE
    }
    assert known == {
        (one["metadata"]["name"], one["metadata"]["uid"], one["metadata"]["resourceVersion"])
        for one in listed
    }
    assert len(known) > 500
    assert graph.row(ObjectKey(SECRETS, SPACE, "key")) is not None
    assert PASSWORD.encode() not in raw_bytes(tmp_path / "a")
    assert said["header"]["cluster_uid"] == system["metadata"]["uid"]
    assert said["header"]["cluster"]
    assert GraphView(graph).listed(PODS)
    assert int(graph.freshness[PODS].resource_version) > 0


def test_what_may_not_be_listed_is_unknown(space: Plane, tmp_path: Path) -> None:
    """With the server's own words, for each kind; the exit status says that it is not all."""
    rest = space.admin
    rules = [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}]
    rest.create(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        {"metadata": {"name": READER.user}, "rules": rules},
    )
    rest.create(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {
            "metadata": {"name": READER.user},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": READER.user,
            },
            "subjects": [{"kind": "User", "name": READER.user}],
        },
    )
    assert save(space, tmp_path / "a", who=READER) == 1
    header, graph = read_snapshot_header(tmp_path / "a"), load_graph(tmp_path / "a")

    assert GraphView(graph).listed(NAMESPACES)
    assert graph.row(ObjectKey(NAMESPACES, "", SPACE)) is not None
    assert "403 Forbidden" in header.unknown["pods"]
    assert "403 Forbidden" in GraphView(graph).unknown(SECRETS)
    assert graph.count(CONFIG_MAPS) == 0


def test_a_cluster_that_is_away_leaves_no_file(tmp_path: Path, space: Plane) -> None:
    """Exit status 3, by `main`; what was saved before stays."""
    config = space.kubeconfig().read_text().replace(space.endpoint, "https://127.0.0.1:1")
    (tmp_path / "config").write_text(config)

    with pytest.raises(UnavailableError):
        snapshot.app(
            ["save", str(tmp_path / "a"), "--kubeconfig", str(tmp_path / "config")],
            result_action="return_value",
        )
    assert not (tmp_path / "a").exists()
