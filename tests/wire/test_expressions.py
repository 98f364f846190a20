"""Selectors that stand in a field as text, in both ways to write them."""

from __future__ import annotations

import pytest

from suture.model.selectors import Operator, Requirement, Selector, SelectorError
from suture.wire.expressions import parse_text

ROLE = "node-role.example.com/reflector"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("all()", ()),
        (f"has({ROLE})", (Requirement(ROLE, Operator.EXISTS),)),
        (f"!has({ROLE})", (Requirement(ROLE, Operator.DOES_NOT_EXIST),)),
        (
            f'has({ROLE}) && rack == "r1"',
            (Requirement(ROLE, Operator.EXISTS), Requirement("rack", Operator.IN, ("r1",))),
        ),
        ("rack in {'r2', 'r1'}", (Requirement("rack", Operator.IN, ("r1", "r2")),)),
        ("rack not in {'r1'}", (Requirement("rack", Operator.NOT_IN, ("r1",)),)),
        ("rack=r1", (Requirement("rack", Operator.IN, ("r1",)),)),
        ("rack in (r1, r2)", (Requirement("rack", Operator.IN, ("r1", "r2")),)),
        (ROLE, (Requirement(ROLE, Operator.EXISTS),)),
    ],
)
def test_both_ways_to_write_a_selector_are_read(
    text: str, expected: tuple[Requirement, ...]
) -> None:
    """An expression, or what `kubectl -l` takes."""
    assert parse_text(text) == Selector(expected)


@pytest.mark.parametrize(
    "text", ["has(a) || has(b)", "!(has(a))", "(has(a))", "rack contains 'r'", "has()"]
)
def test_what_is_no_conjunction_is_not_read(text: str) -> None:
    """Nothing is better than half of it."""
    with pytest.raises(SelectorError):
        parse_text(text)
