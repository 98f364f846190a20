"""A file is replaced whole or not at all, and a dead writer leaves nothing that stays."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from suture.adapters.wholefile import BeingWrittenError, replacing


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(one.name for one in folder.iterdir())


def test_the_new_content_is_there_when_it_is_whole(tmp_path: Path) -> None:
    """Until then the old one is."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"

    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(tmp_path) == ["a"]


def test_a_writer_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Whatever it fails of."""
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_what_a_dead_writer_left_is_taken_over(tmp_path: Path) -> None:
    """Longer than the new content, and nothing of it stays."""
    (tmp_path / ".a.part").write_bytes(b"half of something long")
    with replacing(tmp_path / "a") as file:
        file.write(b"new")

    assert (tmp_path / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


def test_two_writers_do_not_mix(tmp_path: Path) -> None:
    """The second is told, and the first finishes."""
    path = tmp_path / "a"
    with replacing(path) as file:
        with pytest.raises(BeingWrittenError, match="another process"), replacing(path):
            pass
        file.write(b"first")

    assert path.read_bytes() == b"first"


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    """Nobody can have it write elsewhere."""
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / ".a.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), replacing(tmp_path / "a"):
        pass

    assert (tmp_path / "elsewhere").read_bytes() == b"precious"
