"""`suture generate` writes what it says, and says what to do where it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from suture.adapters.snapshots import load_graph
from suture.cli.generate import TargetError, generate
from suture.errors import UnavailableError
from suture.lab.clusters import Cluster
from suture.lab.clusters.pages import PagesError, check_space, read_index, write_pages
from suture.lab.clusters.size import TINY
from suture.lab.clusters.store import ScaleError, cluster_pages
from suture.wire.discovery import decode_discovery


def said(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_pages_are_those_of_an_api_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file a kind and page, which ask for each other, with the discovery beside them."""
    folder = tmp_path / "pages"
    assert generate(scale="tiny", pages=folder, output="json") == 0
    summary, index = said(capsys), read_index(folder)
    assert summary["objects"] == index.objects == sum(summary["kinds"].values())
    assert summary["kinds"]["pods"] == TINY.pods
    discovered = decode_discovery(
        [(folder / "discovery" / f"{one}.json").read_bytes() for one in ("api", "apis")]
    )
    assert {one.resource for one in discovered.resources} == {one.resource for one in index.kinds}
    for kind in index.kinds:
        for partial in (False, True):
            found, more = 0, ""
            for page in range(kind.pages):
                document = msgspec.json.decode(
                    (folder / kind.path(page, partial=partial)).read_bytes()
                )
                assert document["metadata"]["resourceVersion"] == index.resource_version
                found += len(document["items"])
                more = document["metadata"].get("continue", "")
                assert bool(more) == (page + 1 < kind.pages)
            assert found == kind.count


def test_lines_and_snapshot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An object a line, a file a kind; and the model of it all in one file."""
    folder, snapshot = tmp_path / "lines", tmp_path / "tiny.snapshot"
    assert generate(scale="tiny", seed=3, ndjson=folder, snapshot=snapshot, output="json") == 0
    summary = said(capsys)
    lines = {one.stem: len(one.read_bytes().splitlines()) for one in folder.iterdir()}
    assert lines == summary["kinds"]
    assert len(load_graph(snapshot)) == summary["objects"]


def test_a_table_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by kind, the total, and how large it is."""
    assert generate(scale="tiny", ndjson=tmp_path / "lines") == 0
    text = capsys.readouterr().out
    assert "scale tiny, seed 2021" in text
    assert "pods" in text
    assert " MB, in " in text


def test_targets_that_make_no_sense() -> None:
    """No target, a server beside others, and what no lab holds are refused."""
    with pytest.raises(TargetError, match="--pages"):
        generate(scale="tiny")
    with pytest.raises(TargetError, match="goes alone"):
        generate(scale="tiny", serve=True, lab="default")
    with pytest.raises(TargetError, match="cannot hold scale L"):
        generate(scale="L", lab="default")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A folder with something in it is left as it is; an empty one is filled."""
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(PagesError, match="exists already"):
        write_pages(Cluster(TINY), tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    write_pages(Cluster(TINY), tmp_path / "empty")
    assert read_index(tmp_path / "empty").seed == 2021


def test_a_snapshot_is_not_written_over_either(tmp_path: Path) -> None:
    """It is told before anything is made."""
    mine = tmp_path / "mine"
    mine.write_text("precious")
    with pytest.raises(TargetError, match="exists already"):
        generate(scale="tiny", snapshot=mine, pages=tmp_path / "pages")
    assert mine.read_text() == "precious"
    assert not (tmp_path / "pages").exists()


def test_a_file_is_no_place_for_a_folder(tmp_path: Path) -> None:
    """What cannot be written is told, with what to do."""
    (tmp_path / "file").touch()
    with pytest.raises(PagesError, match="name another"):
        write_pages(Cluster(TINY), tmp_path / "file" / "pages")


def test_a_disk_that_is_too_small(tmp_path: Path) -> None:
    """It is said before anything is written, with what there is and what is needed."""
    with pytest.raises(UnavailableError, match=r"9,000,000,000,000 MB are needed; free some"):
        check_space(tmp_path / "not" / "there", 9 * 10**18)


def test_a_folder_without_pages(tmp_path: Path) -> None:
    """Whoever reads pages where there are none is told how to make them."""
    with pytest.raises(PagesError, match="suture generate"):
        read_index(tmp_path)


def test_the_cache_makes_each_cluster_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second who asks gets what the first one made."""
    monkeypatch.setenv("SUTURE_CACHE", str(tmp_path))
    made: list[str] = []
    first = cluster_pages(
        "tiny", 1, told=lambda resource, _count, _size: made.append(str(resource))
    )
    assert made
    made.clear()
    assert cluster_pages("tiny", 1, told=lambda *_: made.append("again")) == first
    assert not made
    with pytest.raises(ScaleError, match="take one of tiny, S, M, L"):
        cluster_pages("XXL", 1)
