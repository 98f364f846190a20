"""Two minutes of ordinary life under Suture: nobody is refused, and everybody did something."""

from __future__ import annotations

import sys

import pytest

from suture.lab.assets import Assets
from suture.lab.life.report import lines
from suture.lab.life.run import live
from suture.lab.life.town import NODES
from suture.lab.plane import Plane

MINUTES = 2.0
SEED = 1


def say(words: str) -> None:
    """Say how far it is: the test takes minutes, and pytest alone would be silent."""
    if sys.__stderr__ is not None:
        sys.__stderr__.write(f"{words}\n")


@pytest.mark.lab
async def test_nobody_is_refused_in_two_minutes_of_ordinary_life(lab_assets: Assets) -> None:
    """On a lab of its own: it drains and deletes nodes, which nobody beside it should feel."""
    with Plane.up("life", binaries=lab_assets, nodes=NODES) as plane:
        report = await live(plane, SEED, MINUTES, say)

    assert report.passed, "\n".join(lines(report))
    assert not report.failures, "\n".join(report.failures)
    assert sum(report.writes.values()) > 200
