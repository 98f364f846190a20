"""Columns, as machine code and as plain Python have them, beside a list that holds the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.graph.column import CHUNK, STEPS, Column, Flags
from suture.model.graph.plaincolumn import PlainColumn, PlainFlags

# Any: two classes of one face.
INTEGERS = pytest.mark.parametrize(
    "make", [Column, lambda: PlainColumn("i")], ids=["fast", "plain"]
)
FLAGS = pytest.mark.parametrize("make", [Flags, lambda: PlainFlags("B")], ids=["fast", "plain"])
NUMBERS = st.integers(-(2**31), 2**31 - 1)


@INTEGERS
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("append"), NUMBERS),
            st.tuples(st.just("set"), NUMBERS),
            st.tuples(st.just("pop"), st.just(0)),
            st.tuples(st.just("grow"), st.sampled_from((-1, 0))),
            st.tuples(st.just("reserve"), st.integers(0, 3)),
        ),
        max_size=30,
    ),
    at=st.integers(0, 10**6),
)
def test_a_column_holds_what_a_list_holds(
    make: Callable[[], Any], steps: list[tuple[str, int]], at: int
) -> None:
    """However it was filled, grown, given room and emptied."""
    column, wanted = make(), list[int]()
    for step, value in steps:
        match step:
            case "append":
                column.append(value)
                wanted.append(value)
            case "set" if wanted:
                column[at % len(wanted)] = wanted[at % len(wanted)] = value
            case "pop" if wanted:
                assert column.pop() == wanted.pop()
            case "grow":
                column.grow(value)
                wanted += [value] * CHUNK
            case "reserve":
                column.reserve(value)
            case _:
                pass
        assert len(column) == len(wanted)
    assert column.all() == wanted
    rows = [(at + 7 * one) % len(wanted) for one in range(20)] if wanted else []
    assert list(column.at(rows)) == list(column.at(tuple(rows))) == [wanted[row] for row in rows]
    again = make()
    again.load(column.tobytes())
    assert again.all() == wanted
    assert again.size_bytes == column.size_bytes == 4 * len(wanted)


@INTEGERS
def test_what_does_not_fit_a_column_is_an_error(make: Callable[[], Any]) -> None:
    """Rows that are not there, numbers past 32 bits, bytes that are no integers."""
    column = make()
    column.fill(-1, 3)
    assert column.all() == [-1, -1, -1]
    with pytest.raises(IndexError):
        column[3]
    for number in (2**31, -(2**31) - 1):
        with pytest.raises((OverflowError, ValueError)):
            column[0] = number
    with pytest.raises(ValueError, match="bytes"):
        make().load(b"12345")
    with pytest.raises(IndexError):
        make().pop()


@FLAGS
@given(values=st.binary(max_size=30), at=st.integers(0, 10**6))
def test_flags_hold_what_bytes_hold(make: Callable[[], Any], values: bytes, at: int) -> None:
    """And grow by a chunk of zeros."""
    column = make()
    column.load(values)
    column.grow()
    wanted = bytearray(values + bytes(CHUNK))
    row = at % len(wanted)
    column[row] = wanted[row] = 255
    column.reserve(0.5)
    assert column.tobytes() == bytes(wanted)
    assert [column[row], len(column)] == [255, len(wanted)]
    assert list(column.at([row, 0])) == list(column.at((row, 0))) == [255, wanted[0]]


def test_columns_of_one_length_are_copied_at_different_rows() -> None:
    """A column that is full is copied, which takes milliseconds; not all of them at once."""
    columns = [Column(step) for step in range(STEPS)]
    for column in columns:
        column.fill(0, 64 * CHUNK)
    copied = []
    for chunk in range(16):
        before = [column._room for column in columns]  # what is reserved
        for column in columns:
            column.grow(0)
        moved = sum(one._room != room for one, room in zip(columns, before, strict=True))
        if chunk:
            copied.append(moved)
    assert max(copied) <= STEPS // 4
