"""The scenario files of the examination as tests see them, and made results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from suture.lab.exam.__main__ import files_of
from suture.lab.exam.marks import Paper
from suture.lab.exam.result import Column, Result
from suture.lab.scenarios.format import Scenario
from suture.lab.scenarios.reading import load

FOLDER = Path(__file__).parents[2] / "scenarios"
LOADED = {path.stem: load(path) for path in files_of(FOLDER)}


def scenario(**given: Any) -> Scenario:
    """Return a scenario of one delete."""
    step = {"by": "a", "verb": "delete", "resource": "services", "names": "x"}
    plain = {"kind": "incident", "steps": [step], "actors": {"a": {"user": "a"}}, **given}
    return msgspec.convert(plain, Scenario)


def result(column: Column = "full", **given: Any) -> Result:
    """Return a result of an incident that was stopped at once."""
    plain = {"verdict": "stopped", "writes": 1, "guilty_writes": 1, "stopped_at": 1}
    return Result(scenario="x", column=column, key="k", **{"place": "offline", **plain, **given})


def paper(name: str, *results: Result, **given: Any) -> Paper:
    """Return a file with results."""
    return Paper(
        name=name, scenario=scenario(**given), results={one.column: one for one in results}
    )
