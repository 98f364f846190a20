"""Recordings are followed to the letter, and left at the first difference."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from suture.lab.scenarios.offline.place import judge_offline, recording_of
from suture.lab.scenarios.reading import BUNDLED, find, load
from suture.lab.scenarios.recording import SUFFIX, Recording, beside, read, write
from suture.lab.scenarios.report import GuardMode

RECORDED: list[tuple[str, GuardMode]] = [
    (path.name.removesuffix(SUFFIX).rpartition(".")[0], mode)
    for mode in ("enforce", "off")
    for path in sorted(BUNDLED.glob(f"*.{mode}{SUFFIX}"))
]
TWIN = "load-balancer-twin"

MOST_BYTES = 300_000
"""LIMIT: a recording that is shipped: eleven of them are 3 MB of a package."""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the twin and its recording, to be spoilt."""
    file = tmp_path / f"{TWIN}.yaml"
    file.write_bytes(find(TWIN).read_bytes())
    beside(file, "enforce").write_bytes(beside(find(TWIN), "enforce").read_bytes())
    return file


def spoilt(file: Path, change: dict[str, object]) -> None:
    """Change parts of the recording beside a file."""
    path = beside(file, "enforce")
    found = read(path)
    write(path, msgspec.structs.replace(found, **change))


def of(file: Path) -> Recording:
    """Return the recording beside a file."""
    return read(beside(file, "enforce"))


@pytest.mark.parametrize(("name", "mode"), RECORDED)
def test_a_bundled_recording_holds_to_the_end(name: str, mode: GuardMode) -> None:
    """It is of the file as it is now, small, and nothing comes out otherwise than on the lab."""
    loaded = load(find(name))
    assert beside(loaded.path, mode).stat().st_size < MOST_BYTES
    assert recording_of(loaded, mode) is not None, "the file changed since; record it again"

    report = judge_offline(loaded, mode)

    assert report.controllers == "recorded", report.notes
    assert report.expected, (report.void_reason, report.unreached)


def test_another_outcome_ends_it(copied: Path) -> None:
    """From there on predictions apply, and the report says so and where."""
    wrote = list(of(copied).wrote)
    wrote[9] = msgspec.structs.replace(wrote[9], outcome="refused")
    spoilt(copied, {"wrote": tuple(wrote)})

    report = judge_offline(load(copied), "enforce")

    assert report.controllers == "predicted"
    assert any("followed until write 9" in note for note in report.notes)
    assert report.verdict == "passed", report.unreached


def test_an_event_that_fits_nothing_ends_it(copied: Path) -> None:
    """A change of something that is not there."""
    saw = list(of(copied).saw)
    strange = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "strange", "namespace": "edge", "uid": "nobody"},
    }
    event = msgspec.structs.replace(saw[0], change="MODIFIED", object=strange, own=False)
    spoilt(copied, {"saw": (event, *saw)})

    report = judge_offline(load(copied), "enforce")

    assert report.controllers == "predicted"
    assert any("strange" in note for note in report.notes)
    assert report.verdict == "passed", report.unreached


def test_a_recording_of_another_file_is_not_followed(copied: Path) -> None:
    """The steps changed since it was taken."""
    copied.write_text(copied.read_text().replace("over: 1s", "over: 2s"))

    report = judge_offline(load(copied), "enforce")

    assert report.controllers == "predicted"
    assert report.notes == ()
    assert report.verdict == "passed", report.unreached
