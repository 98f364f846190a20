"""What a result is kept under: all that decides it, and no words."""

from __future__ import annotations

import pytest

from suture.lab.exam.sitting import deciding_digest


def policy(
    when: str = "effect.after == 0", message: str = "'it is gone'", description: str = "One."
) -> object:
    rule = {"code": "emptied", "when": when, "message": message}
    return {"spec": {"description": description, "violations": [rule]}}


def test_other_words_decide_nothing() -> None:
    other = policy(message="'nothing is left'", description="Two.")
    assert deciding_digest([other]) == deciding_digest([policy()])


@pytest.mark.parametrize("others", [[policy("effect.after < 2")], [policy(), policy()], []])
def test_other_rules_do(others: list[object]) -> None:
    assert deciding_digest(others) != deciding_digest([policy()])
