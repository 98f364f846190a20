"""The page of effects: every example says what it says, and every effect has its section."""

from __future__ import annotations

import pytest

from support.effectpage import Example, effects_of, examples, said, sections
from suture.impact.effects import ALL_EFFECTS

EXAMPLES = list(examples())


@pytest.mark.parametrize("example", EXAMPLES, ids=[one.effect for one in EXAMPLES])
def test_an_example_of_the_page_is_true(example: Example) -> None:
    """One effect of that name says what the page says of it."""
    found = [said(one, example.says) for one in effects_of(example)]

    assert example.says in found


def test_the_page_speaks_of_effects_that_there_are() -> None:
    """A section is an effect's, and holds an example."""
    assert set(sections()) <= ALL_EFFECTS
    assert {one.effect for one in EXAMPLES} == set(sections())
