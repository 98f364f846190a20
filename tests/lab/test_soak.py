"""Random writers, an API server that comes and goes: at the end the model is the cluster."""

from __future__ import annotations

import sys

import pytest

from suture.lab.plane import Plane
from suture.lab.soak.bodies import kinds_of
from suture.lab.soak.run import soak
from suture.lab.soak.script import Apply, Delete, DropKind, DropSpace, script

STEPS = 2000


def say(words: str) -> None:
    """Say how far it is: the test takes half a minute, and pytest alone would be silent."""
    if sys.__stderr__ is not None:
        sys.__stderr__.write(f"{words}\n")


@pytest.mark.lab
@pytest.mark.parametrize("seed", [1, 2])
async def test_the_model_equals_a_fresh_list_after_random_writes(plane: Plane, seed: int) -> None:
    """Every object, every trimmed field and every query, after 2,000 steps and two disturbances."""
    outcome = await soak(plane, seed, STEPS, say)
    assert outcome.held, f"{outcome}\n" + "\n".join(outcome.differences[:20])
    assert outcome.answers["ok"] > STEPS / 2
    assert outcome.counts.get("regressions", 0) == 0


def test_a_seed_says_all_that_is_written() -> None:
    """A script is the same each time, differs by seed and writer, and is about all kinds."""
    first = list(script(1, 0, STEPS))
    assert first == list(script(1, 0, STEPS))
    assert first != list(script(1, 1, STEPS))
    assert first != list(script(2, 0, STEPS))
    applied = {step.kind.kind for step in first if isinstance(step, Apply)}
    assert applied == set(kinds_of(1))
    assert len(applied) >= 20
    for sort in (Delete, DropKind, DropSpace):
        assert any(isinstance(step, sort) for step in first)
