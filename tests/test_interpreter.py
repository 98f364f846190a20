"""Which Python `make` sets up with: never a slow one where a fast one is at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import interpreter

FAST = {"version": [3, 12], "optimized": True, "headers": True, "venv": True}


def told(monkeypatch: pytest.MonkeyPatch, **found: dict[str, object]) -> None:
    """Let Pythons say this of themselves; any other is not there."""
    monkeypatch.setattr(interpreter, "facts", lambda python: found.get(python, {}))


def test_an_optimized_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, mine=FAST, other={**FAST, "version": [3, 14]})
    assert interpreter.chosen("mine", ("other",)) == "mine"


@pytest.mark.parametrize(
    "mine",
    [
        {**FAST, "optimized": False},
        {**FAST, "version": [3, 9]},
        {**FAST, "headers": False},
        {**FAST, "venv": False},
        {},
    ],
    ids=["slow", "old", "without-headers", "without-venv", "missing"],
)
def test_another_is_taken_for_one_that_does_not_do(
    monkeypatch: pytest.MonkeyPatch, mine: dict[str, object]
) -> None:
    told(monkeypatch, mine=mine, other=FAST)
    assert interpreter.chosen("mine", ("absent", "other")) == "other"


@pytest.mark.parametrize("wrong", ["optimized", "headers", "venv"])
def test_one_that_does_no_better_is_not_taken(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    told(monkeypatch, mine={**FAST, "optimized": False}, other={**FAST, wrong: False})
    assert interpreter.chosen("mine", ("other",)) == "mine"


def test_a_python_says_what_it_is() -> None:
    found = interpreter.facts(sys.executable)
    assert found["version"] == list(sys.version_info[:2])
    assert interpreter.facts("/nonexistent/python") == {}
    assert interpreter.facts("/bin/true") == {}


def test_it_prints_one_path_and_says_why_it_is_another() -> None:
    script = Path(interpreter.__file__)
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=60
    )
    path = run.stdout.removesuffix("\n")
    assert os.access(path, os.X_OK)
    assert (path == sys.executable) == (run.stderr == "")
