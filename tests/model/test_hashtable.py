"""The table that finds rows, beside a set that is asked for each of them."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from suture.model.graph.hashtable import SEGMENT_SHIFT, SEGMENTS, HashTable
from suture.model.graph.interned import Interned

HASHES = [0, 1, 7, 8, 1 << SEGMENT_SHIFT, (1 << SEGMENT_SHIFT) + 7, (1 << 32) - 1]
"""Rows of few hashes, which meet in a slot and in a segment."""

ROWS = st.integers(0, 99)


def hash_of(row: int) -> int:
    return HASHES[row % len(HASHES)]


def finds(table: HashTable, row: int) -> bool:
    return row in table.candidates(hash_of(row))


@given(st.sets(ROWS), st.lists(ROWS))
def test_a_filled_table_goes_on_as_one_that_grew(rows: set[int], changes: list[int]) -> None:
    """Segments that were not made yet are as if they had been, whatever is asked first."""
    parts = [array("i") for _ in range(SEGMENTS)]
    for row in sorted(rows):
        parts[hash_of(row) >> SEGMENT_SHIFT].append(row)
    table = HashTable(hash_of)
    table.fill(parts)
    for row in changes:
        assert len(table) == len(rows)
        if row in rows:
            assert table.remove(hash_of(row), row)
        else:
            assert not table.remove(hash_of(row), row)
            table.insert(hash_of(row), row)
        rows ^= {row}
    assert all(finds(table, row) is (row in rows) for row in range(100))


@given(st.lists(st.binary(max_size=2)), st.lists(st.integers(0, 200)), st.binary(max_size=2))
def test_values_are_shared_after_they_were_restored(
    values: list[bytes], released: list[int], asked: bytes
) -> None:
    """Numbers, uses and free numbers are those of the one that was written down."""
    first = Interned()
    used = [first.use(value) for value in values]
    for at in released:
        if used:
            first.release(used.pop(at % len(used)))
    again = Interned()
    again.restore(first.values, first.uses)
    assert len(again) == len(first)
    for number in used:
        assert again.uses_of(number) == first.uses_of(number)
    for value in {*values, asked}:
        number = again.use(value)
        assert again[number] == value
        before = first.uses_of(number) if value in first.values else 0
        assert again.uses_of(number) == before + bool(value)
        again.release(number)
    assert len(again) == len(first)
