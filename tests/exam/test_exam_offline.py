"""Every scenario of the examination, offline: what went well when its results were committed still does.

What a lab found is compared too: an offline run that says otherwise predicts controllers wrongly.
"""

from __future__ import annotations

import pytest

from support.exam import FOLDER, LOADED
from suture.lab.exam.marks import Paper
from suture.lab.exam.result import Column, harms
from suture.lab.exam.sitting import sit_offline
from suture.lab.exam.store import Results

OFFLINE, LAB = Results(FOLDER, "offline"), Results(FOLDER, "lab")


KNOWN: list[tuple[str, Column]] = [
    (name, "full") for name in sorted(LOADED) if OFFLINE.get(name, "full") is not None
]
"""The other columns are `make exam`'s: they would be as long again."""


def test_every_file_has_a_committed_result() -> None:
    """A new file is run once by its author: `make exam OFFLINE=1`."""
    assert [name for name in sorted(LOADED) if (name, "full") not in KNOWN] == []


@pytest.mark.parametrize(("name", "column"), KNOWN)
def test_what_went_well_still_does(name: str, column: Column) -> None:
    """And where a lab was asked, the verdict is the lab's."""
    loaded = LOADED[name]
    committed = OFFLINE.get(name, column)
    assert committed is not None

    found = sit_offline(loaded, column, "key")

    before = Paper(name=name, scenario=loaded.scenario, results={column: committed})
    now = Paper(name=name, scenario=loaded.scenario, results={column: found})
    assert now.good(column) or not before.good(column), found.words
    real = LAB.get(name, column)
    if real is not None:
        assert (found.verdict == "void", now.good(column)) == (
            real.verdict == "void",
            Paper(name=name, scenario=loaded.scenario, results={column: real}).good(column),
        )


@pytest.mark.parametrize("name", sorted(LOADED))
def test_without_a_guard_it_is_as_told(name: str) -> None:
    """An incident does its harm, and ordinary work comes to its end."""
    loaded = LOADED[name]

    found = sit_offline(loaded, "none", "key")

    if loaded.scenario.kind == "incident":
        assert harms(loaded.scenario, found)
    else:
        assert found.verdict == "passed", found.words
    real = LAB.get(name, "none")
    if real is not None:
        assert (real.verdict, real.lost, real.population, real.probes) == (
            found.verdict,
            found.lost,
            found.population,
            found.probes,
        )
