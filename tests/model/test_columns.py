"""Columns, as machine code and as plain Python have them, beside a list that holds the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.graph.column import CHUNK, Column, Flags
from suture.model.graph.plaincolumn import PlainColumn, PlainFlags

# Any: two classes of one face.
INTEGERS = pytest.mark.parametrize(
    "make", [Column, lambda: PlainColumn("i")], ids=["fast", "plain"]
)
FLAGS = pytest.mark.parametrize("make", [Flags, lambda: PlainFlags("B")], ids=["fast", "plain"])
NUMBERS = st.integers(-(2**31), 2**31 - 1)


def below_zero(column: Any) -> None:
    """Expect that a row of -1 is none: neither is the last read for it, nor written.

    Of machine code's columns; plain ones are so in tests alone (`strictcolumns`).
    """
    with pytest.raises(IndexError):
        column.__getitem__(-1)
    with pytest.raises(IndexError):
        column[-1] = 0
    with pytest.raises(IndexError):
        column.at([0, -1])
    with pytest.raises(IndexError):
        column.at((-1,))


@INTEGERS
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("append"), NUMBERS),
            st.tuples(st.just("set"), NUMBERS),
            st.tuples(st.just("pop"), st.just(0)),
            st.tuples(st.just("many"), st.integers(0, 2 * CHUNK)),
        ),
        max_size=30,
    ),
    at=st.integers(0, 10**6),
)
def test_a_column_holds_what_a_list_holds(
    make: Callable[[], Any], steps: list[tuple[str, int]], at: int
) -> None:
    """However it was filled and emptied, and after it was written down and read back."""
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
            case "many":
                for number in range(value):
                    column.append(number)
                wanted += range(value)
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
    below_zero(column)
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
    below_zero(column)
    column.load(column.tobytes())
    below_zero(column)
    column.grow()
    wanted += bytes(CHUNK)
    assert column.tobytes() == bytes(wanted)
    assert [column[row], len(column)] == [255, len(wanted)]
    assert list(column.at([row, 0])) == list(column.at((row, 0))) == [255, wanted[0]]


@INTEGERS
@given(st.lists(st.sampled_from((-1, 0)), max_size=5), st.integers(0, 10**6))
def test_a_column_grows_by_chunks(make: Callable[[], Any], values: list[int], at: int) -> None:
    """Before and after it is read from its bytes; each value can be written."""
    column, wanted = make(), list[int]()
    column.fill(7, 5)
    wanted += [7] * 5
    for number, value in enumerate(values):
        column.grow(value)
        wanted += [value] * CHUNK
        row = (at * (number + 1)) % len(wanted)
        column[row] = wanted[row] = number
        below_zero(column)
        if at % 3 == number:
            column.load(column.tobytes())
    assert column.all() == wanted
