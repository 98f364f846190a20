"""The clock of a lab: later by what was moved, at once, and never back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from suture.adapters.labclock import LabClock, move, reset
from suture.errors import InputError


def test_it_is_the_machines_time_until_it_is_moved(tmp_path: Path) -> None:
    """Both parts of the time."""
    reset(tmp_path / "clock")
    clock = LabClock(tmp_path / "clock")

    before_ns, before_s = time.monotonic_ns(), time.time()
    now = clock()

    assert before_ns <= now.mono_ns <= time.monotonic_ns()
    assert before_s <= now.utc_s <= time.time()


def test_moves_add_up(tmp_path: Path) -> None:
    """A follower sees them at once, both parts alike."""
    reset(tmp_path / "clock")
    clock = LabClock(tmp_path / "clock")
    first = clock()

    move(tmp_path / "clock", 6 * 3600.0)
    move(tmp_path / "clock", 0.5)

    later = clock()
    assert 21600.5 <= (later.mono_ns - first.mono_ns) / 1e9 < 21630.0
    assert 21600.5 <= later.utc_s - first.utc_s < 21630.0


def test_time_never_goes_back(tmp_path: Path) -> None:
    """Neither is it asked to, nor does a file that begins anew."""
    reset(tmp_path / "clock")
    clock = LabClock(tmp_path / "clock")
    move(tmp_path / "clock", 3600.0)
    later = clock()

    with pytest.raises(InputError, match="not moved back"):
        move(tmp_path / "clock", -1.0)
    with (tmp_path / "clock").open("r+b") as file:
        file.write(bytes(8))

    assert clock().mono_ns >= later.mono_ns


@pytest.mark.parametrize("content", [b"", b"3600", bytes(4096)], ids=["empty", "words", "long"])
def test_a_file_that_no_lab_made_is_refused(tmp_path: Path, content: bytes) -> None:
    """As is one that is not there."""
    (tmp_path / "clock").write_bytes(content)

    with pytest.raises(InputError, match="no clock of a lab"):
        LabClock(tmp_path / "clock")
    with pytest.raises(InputError, match="cannot be read"):
        LabClock(tmp_path / "missing")
