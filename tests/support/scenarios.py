"""Bundled scenarios run on a lab of their own, each way once, however many tests ask.

A lab of their own: an incident deletes what other tests put on a shared one.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from suture.lab.plane import Plane
from suture.lab.scenarios.guard import Guard, NoGuard
from suture.lab.scenarios.place import Lab
from suture.lab.scenarios.reading import find, load
from suture.lab.scenarios.report import GuardMode, Report
from suture.lab.scenarios.run import Runner
from suture.lab.scenarios.suture import SutureGuard

SPEED = 2.0
"""Paces and budget windows alike: the same story in half the time."""


class Way(NamedTuple):
    """One way of running a scenario."""

    name: str
    guard: GuardMode
    authorizer: bool = True


class ScenarioLab:
    """Runs scenarios on a lab, and remembers what came out."""

    def __init__(self, plane: Plane) -> None:
        """Take a lab that nobody else uses."""
        self.plane = plane
        self._reports: dict[Way, Report] = {}
        self._spans: dict[Way, tuple[int, int]] = {}

    def report(self, way: Way) -> Report:
        """Return what a run found; it is run when first asked for."""
        if way not in self._reports:
            guard: Guard = NoGuard()
            if way.guard != "off":
                guard = SutureGuard(self.plane, way.guard, speed=SPEED, authorizer=way.authorizer)
            # WHY kept and used again: a thousand Deployments are made once for five runs.
            runner = Runner(
                load(find(way.name)),
                Lab(self.plane),
                guard,
                speed=SPEED,
                keep=True,
                reuse=True,
            )
            begins = self._log_bytes()
            self._reports[way] = asyncio.run(runner.run())
            self._spans[way] = (begins, self._log_bytes())
        return self._reports[way]

    def log_of(self, way: Way) -> bytes:
        """Return what the audit log says of a run; the lab must have been started with one."""
        begins, ends = self._spans[way]
        with self.plane.audit_log.open("rb") as file:
            file.seek(begins)
            return file.read(ends - begins)

    def _log_bytes(self) -> int:
        log = self.plane.audit_log
        return log.stat().st_size if log.exists() else 0
