"""Offline, time jumps, and patches know lists by their keys."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.offline.loop import run_jumping
from suture.wire.patches import applied, strategic


def test_time_jumps_to_what_is_due_next() -> None:
    """Sleeps are in order and exact, and take no time of anybody's."""
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, span_s: float) -> None:
        await asyncio.sleep(span_s)
        woken.append((name, now_s()))

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(sleeper("late", 3600))
            tasks.create_task(sleeper("soon", 60))

    began = time.monotonic()
    run_jumping(main())

    assert [name for name, _ in woken] == ["soon", "late"]
    assert woken[1][1] == pytest.approx(3600, abs=0.01)
    assert time.monotonic() - began < 5


def test_what_computes_does_not_run_out_of_time() -> None:
    """A deadline passes only where something is waited for."""

    async def main() -> float:
        async with asyncio.timeout(0.001):
            for _ in range(1000):
                await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.sleep(2)
        return now_s()

    assert run_jumping(main()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("thing", "change", "wanted"),
    [
        pytest.param(
            {"containers": [{"name": "a", "image": "1", "env": []}, {"name": "b"}]},
            {"containers": [{"name": "a", "image": "2"}]},
            {"containers": [{"name": "a", "image": "2", "env": []}, {"name": "b"}]},
            id="a-container-by-its-name",
        ),
        pytest.param(
            {"volumes": [{"name": "a"}]},
            {"volumes": [{"name": "b"}, {"name": "a", "$patch": "delete"}]},
            {"volumes": [{"name": "b"}]},
            id="one-comes-one-goes",
        ),
        pytest.param({"args": ["a"]}, {"args": ["b"]}, {"args": ["b"]}, id="plain-lists-replace"),
        pytest.param(
            {"finalizers": ["a"]},
            {"$deleteFromPrimitiveList/finalizers": ["a"]},
            {"finalizers": []},
            id="out-of-a-plain-list",
        ),
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="null-removes"),
    ],
)
def test_strategic_merge(thing: Any, change: Any, wanted: Any) -> None:
    """As the core types declare it."""
    assert strategic(thing, change) == wanted


def test_apply_adds_and_replaces() -> None:
    """And takes nothing away: who owns which field is not known here."""
    assert applied({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}, "a": None}) == {
        "a": 1,
        "b": {"c": 2, "d": 3},
    }
