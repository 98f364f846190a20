"""Where a graph can come from: what a source is, is seen by its bytes; no Secret gets through."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import structlog.testing

from support.cluster import START, graph_of, service, workload
from support.snapshots import raw_bytes
from suture.adapters.snapshots import save_graph
from suture.adapters.sources import MAPPED_BYTES, SourceError, open_graph, open_source
from suture.app.sources import NothingReadError
from suture.lab.clusters import Cluster
from suture.lab.clusters.size import TINY
from suture.model.names import PODS, SECRETS
from suture.wire.snapshot import NotASnapshotError

PASSWORD = "hunter2-correct-horse"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "prod"}}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "key",
        "namespace": "prod",
        "uid": "s-1",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": PASSWORD},
        "managedFields": [{"manager": "kubectl", "fieldsV1": {f"f:{PASSWORD}": {}}}],
    },
    "type": "Opaque",
    "data": {"password": PASSWORD},
    "stringData": {"password": PASSWORD},
}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "prod", "uid": "c-1"},
    "data": {"url": f"postgres://app:{PASSWORD}@db"},
}
WORKER = {
    **POD,
    "metadata": {"name": "worker", "namespace": "prod", "uid": "p-1"},
    "spec": {
        "containers": [
            {"name": "app", "env": [{"name": "TOKEN", "value": PASSWORD}], "args": [PASSWORD]}
        ],
        "volumes": [{"name": "key", "secret": {"secretName": "key"}}],
    },
}


def listed(*things: dict[str, Any]) -> str:
    """Return what `kubectl get -A -o json` prints."""
    return json.dumps(
        {"apiVersion": "v1", "items": list(things), "kind": "List", "metadata": {}}, indent=4
    )


def test_a_snapshot_is_known_by_its_bytes(tmp_path: Path) -> None:
    """Whatever it is called."""
    graph = graph_of(service("web"), workload("web", replicas=2))
    save_graph(graph, tmp_path / "looks-like.yaml", now=START, cluster="prod")
    opened = open_source(tmp_path / "looks-like.yaml", now=START)

    assert {one.key for one in opened.graph} == {one.key for one in graph}
    assert opened.kind == "snapshot"
    assert opened.header is not None
    assert opened.header.cluster == "prod"


def test_a_folder_is_read_to_its_last_corner(tmp_path: Path) -> None:
    """Every manifest in it, in nested folders too; hidden files and other kinds of files not."""
    deep = tmp_path / "team" / "app"
    deep.mkdir(parents=True)
    (tmp_path / "a.json").write_text(listed(POD))
    (deep / "b.yml").write_text("kind: Namespace\napiVersion: v1\nmetadata: {name: prod}\n")
    (deep / "c.ndjson").write_text(f"{json.dumps(WORKER)}\n{json.dumps(SECRET)}\n")
    (deep / "README.md").write_text("kind: Pod")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "d.yaml").write_text("kind: [")
    opened = open_source(tmp_path, now=START)

    assert sorted(one.key.name for one in opened.graph) == ["key", "prod", "web-1", "worker"]
    assert (opened.kind, opened.whole, opened.notes) == ("manifests", True, ())


def test_links_that_are_not_read_are_told(tmp_path: Path) -> None:
    """One that leads nowhere, and a folder by another way; what they hold is not known."""
    folder, beside = tmp_path / "repo", tmp_path / "base"
    folder.mkdir()
    beside.mkdir()
    (beside / "b.yaml").write_text(json.dumps(POD))
    (folder / "a.yaml").symlink_to(beside / "b.yaml")
    (folder / "base").symlink_to(beside)
    (folder / "gone.yaml").symlink_to(beside / "gone.yaml")
    (folder / "gone.txt").symlink_to(beside / "gone.txt")
    (folder / ".hidden").symlink_to(beside)
    (folder / "loop").symlink_to(".")
    (folder / "itself.yaml").symlink_to("itself.yaml")
    opened = open_source(folder, now=START)

    assert [one.key.name for one in opened.graph] == ["web-1"]
    assert [note.partition(" is a link ")[0] for note in opened.notes] == [
        f"left out: {folder}/base:",
        f"left out: {folder}/gone.yaml:",
        f"left out: {folder}/itself.yaml:",
    ]
    assert not opened.whole
    assert opened.graph.freshness[PODS].unknown == f"{folder}/base could not be read"


def test_kubectl_output_is_read_from_a_file(tmp_path: Path) -> None:
    """Large enough to be mapped: objects, waiting ones too, outlive the mapping."""
    padding = {"annotations": {"pad": "x" * 4000}}
    pods = [
        {**POD, "metadata": {"name": f"p{n}", "namespace": "prod", "uid": f"u{n}", **padding}}
        for n in range(300)
    ]
    widget = {
        "apiVersion": "shop.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "prod", "uid": "w-1"},
    }
    (tmp_path / "all.json").write_text(listed(widget, *pods))
    opened = open_source(tmp_path / "all.json", now=START)

    assert (tmp_path / "all.json").stat().st_size > MAPPED_BYTES
    assert opened.graph.count(PODS) == 300
    assert len(opened.graph) == 301


def test_standard_input_is_read() -> None:
    """As `kubectl get -A -o json | suture snapshot save --from -` has it."""
    opened = open_source("-", now=START, stdin=io.BytesIO(listed(POD).encode()))

    assert [one.key.name for one in opened.graph] == ["web-1"]


def test_a_snapshot_by_standard_input_is_told_what_to_do() -> None:
    """It is checked at both ends, and a pipe has but one."""
    with pytest.raises(NotASnapshotError, match="give its path"):
        open_source("-", stdin=io.BytesIO(b"\x89SUTURE\n" + bytes(99)))


@pytest.mark.parametrize("layout", ["columns", "objects"])
@pytest.mark.parametrize("form", ["kubectl", "json", "yaml"])
def test_no_secret_is_in_the_file(tmp_path: Path, form: str, layout: str) -> None:
    """Neither of a Secret, nor of a ConfigMap or of a pod's environment: not one byte of it."""
    things = (SECRET, CONFIG, WORKER)
    source = tmp_path / "source"
    source.mkdir()
    for number, thing in enumerate(things):
        if form == "kubectl":
            (source / "all.json").write_text(listed(*things))
        else:
            head = "# yaml\n" if form == "yaml" else ""
            (source / f"{number}.{form}").write_text(head + json.dumps(thing))
    opened = open_source(source, now=START)
    save_graph(opened.graph, tmp_path / "a", now=START, notes=opened.notes, layout=layout)
    whole = raw_bytes(tmp_path / "a")

    assert opened.graph.count(SECRETS) == 1
    assert b"key" in whole
    assert b"worker" in whole
    assert PASSWORD.encode() not in whole
    assert PASSWORD.encode() not in (tmp_path / "a").read_bytes()


def test_a_made_cluster_reads_the_same_from_json_and_from_its_snapshot(tmp_path: Path) -> None:
    """Object by object: kubectl's output, and the snapshot of what was listed."""
    made = Cluster(TINY)
    graph = made.graph(START)
    with (tmp_path / "all.ndjson").open("wb") as file:
        for resource in made.kinds:
            for body in made.documents(resource):
                file.write(body + b"\n")
    save_graph(graph, tmp_path / "a", now=START)
    read, loaded = open_graph(tmp_path / "all.ndjson"), open_graph(tmp_path / "a")

    assert {one.key: one for one in loaded} == {one.key: one for one in graph}
    assert {one.key: one for one in read}.keys() <= {one.key for one in graph}
    assert read.count(PODS) == graph.count(PODS)
    assert read.count(SECRETS) == graph.count(SECRETS)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("nothing", "No such file"), ("empty", "holds no manifests"), ("odd.json", "no object")],
)
def test_what_is_no_source_is_told_so(tmp_path: Path, name: str, problem: str) -> None:
    """A path that is not there, a folder without manifests, a file of something else."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd.json").write_text('{"a": 1}')

    with pytest.raises((SourceError, NothingReadError), match=problem):
        open_source(tmp_path / name)


def test_what_is_left_out_is_logged_where_nobody_asks(tmp_path: Path) -> None:
    """`open_graph` returns the graph alone; a document that it left out is a warning."""
    (tmp_path / "a.yaml").write_text("a: 1\n---\n" + json.dumps(POD))
    with structlog.testing.capture_logs() as logs:
        open_graph(tmp_path)

    assert [(one["log_level"], one["note"]) for one in logs] == [
        ("warning", f"left out: {tmp_path}/a.yaml:1: lacks the field `apiVersion`")
    ]
