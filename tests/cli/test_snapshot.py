"""`suture snapshot` says what it saved, what it found and what it could not, in words and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suture.adapters.snapshots import load_graph, save_graph
from suture.cli import snapshot
from suture.model.graph import Graph
from suture.model.names import DEPLOYMENTS, NODES, SECRETS
from suture.wire.snapshot import SnapshotCorruptError, SnapshotError

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "prod"}}


def run(*words: str) -> int:
    """Run a command and return its exit status."""
    try:
        status = snapshot.app(words, result_action="return_value")
    except SystemExit as ended:
        status = ended.code
    return int(status or 0)


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """Return a folder with one pod in it."""
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "pod.json").write_text(json.dumps(POD))
    return folder


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return what was printed, as a program reads it."""
    return json.loads(capsys.readouterr().out)


def test_saved_shown_and_loaded(
    manifests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a folder to a file and back, each step said in JSON."""
    file = str(tmp_path / "a.snapshot")
    words = ["--from", str(manifests), "--name", "prod-1", "--output", "json"]
    assert run("save", file, *words) == 0
    saved = said(capsys)
    assert run("show", file, "--output", "json") == 0
    shown = said(capsys)
    assert run("load", file, "--output", "json") == 0
    loaded = said(capsys)

    assert (saved["file"], saved["whole"]) == (file, True)
    assert saved["header"]["objects"] == shown["header"]["objects"] == loaded["objects"] == 1
    assert shown["header"]["cluster"] == "prod-1"
    assert {"resource": "pods", "objects": 1}.items() <= next(
        kind for kind in shown["header"]["kinds"] if kind["resource"] == "pods"
    ).items()
    assert shown["header"]["sections"][0]["name"] == "table"
    assert saved["size_bytes"] == shown["size_bytes"] == loaded["size_bytes"]


def test_standard_input_is_a_dash(manifests: Path, tmp_path: Path) -> None:
    """As documented, in a process of its own."""
    file = tmp_path / "a"
    ran = subprocess.run(
        [sys.executable, "-m", "suture", "snapshot", "save", str(file), "--from", "-"],
        input=(manifests / "pod.json").read_bytes(),
        capture_output=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert [one.key.name for one in load_graph(file)] == ["web-1"]


def test_a_snapshot_is_saved_from_a_snapshot(
    manifests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written anew by this Suture, with the name of its cluster."""
    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    run("save", first, "--from", str(manifests), "--name", "prod-1")
    capsys.readouterr()
    assert run("save", second, "--from", first, "--output", "json") == 0

    assert said(capsys)["header"]["cluster"] == "prod-1"


def test_what_was_left_out_is_said(
    manifests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its place, brackets and all, and as the exit status."""
    file = str(tmp_path / "a")
    bad = {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}]}
    (manifests / "bad.json").write_text(json.dumps(bad))

    assert run("save", file, "--from", str(manifests)) == 1
    assert "bad.json:1: field `items[0]` lacks the field `apiVersion`" in capsys.readouterr().out
    assert run("show", file) == 0
    assert "bad.json:1: field `items[0]`" in capsys.readouterr().out


def test_people_see_the_same(
    manifests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts, size, age, what is unknown and why, in a few lines."""
    file = str(tmp_path / "a")
    run("save", file, "--from", str(manifests))
    saved = capsys.readouterr().out
    run("show", file)
    shown = capsys.readouterr().out
    run("load", file)
    loaded = capsys.readouterr().out

    assert "1 objects of 1 kinds" in saved
    assert "from manifests" in shown
    assert "unknown" in shown
    assert "more: there is none in" in shown
    assert "sound; 1 objects" in loaded


def test_kinds_that_one_right_is_missing_for_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An API server names the kind in each refusal; what is refused alone is told as it was."""
    graph, file = Graph(), tmp_path / "a"
    for resource, user in ((SECRETS, "jane"), (DEPLOYMENTS, "jane"), (NODES, "joe")):
        why = (
            f'403 Forbidden: {resource} is forbidden: User "{user}" cannot list resource '
            f'"{resource.plural}" in API group "{resource.group}" at the cluster scope'
        )
        graph.mark_unknown(resource, why)
    save_graph(graph, file)

    assert run("show", str(file)) == 0
    said = [one for one in capsys.readouterr().out.splitlines() if one.startswith("unknown")]
    assert len(said) == 2
    assert said[0].startswith('unknown  nodes: 403 Forbidden: nodes is forbidden: User "joe"')
    assert said[1].startswith("unknown  secrets, deployments.apps: 403 Forbidden: … is forbidden")


def test_what_is_no_snapshot_is_an_error_of_the_input(tmp_path: Path, manifests: Path) -> None:
    """`main` makes status 2 of it; a damaged one is shown by its header and does not load."""
    file = tmp_path / "a"
    run("save", str(file), "--portable", "--from", str(manifests))
    damaged = bytearray(file.read_bytes())
    damaged[-60] ^= 1
    file.write_bytes(damaged)

    assert run("show", str(file)) == 0
    with pytest.raises(SnapshotCorruptError, match="section `objects/"):
        run("load", str(file))
    with pytest.raises(SnapshotError, match="is not one"):
        run("show", str(manifests / "pod.json"))
