"""The demo on a real control plane: the bundled scenario without and with Suture, one lab each.

Beside `demo`, which needs no control plane. Each run has a lab of its own: the first one leaves
nothing of it that a second could stand on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from suture.lab.plane import Plane
from suture.lab.progress import Progress
from suture.lab.scenarios.guard import NoGuard
from suture.lab.scenarios.place import Lab
from suture.lab.scenarios.reading import find, load
from suture.lab.scenarios.report import GuardMode, Report
from suture.lab.scenarios.run import Runner
from suture.lab.scenarios.suture import SutureGuard

SCENARIO = "load-balancer-operator"

Say = Callable[[str], None]


class LabDemo(msgspec.Struct, frozen=True):
    """Both runs of the scenario."""

    without: Report
    guarded: Report

    @property
    def held(self) -> bool:
        """Whether both came out as the scenario's file says."""
        return self.without.expected and self.guarded.expected


def play_on_the_lab(scenario: str = SCENARIO, *, say: Say = lambda _words: None) -> LabDemo:
    """Run the scenario twice, each on a fresh control plane. Errors: as labs and scenarios have."""
    return LabDemo(_run(scenario, "off", say), _run(scenario, "enforce", say))


def _run(scenario: str, mode: GuardMode, say: Say) -> Report:
    prefix = "without Suture: " if mode == "off" else "with Suture: "

    def progress(made: Progress) -> None:
        say(f"{prefix}{made}")

    with Plane.up(f"demo-{mode}", report=progress) as plane:
        guard = NoGuard() if mode == "off" else SutureGuard(plane, mode)
        runner = Runner(
            load(find(scenario)), Lab(plane), guard, say=lambda words: say(f"{prefix}{words}")
        )
        return asyncio.run(runner.run())
