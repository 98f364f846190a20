"""Plain columns that refuse a row below 0, as those of machine code do, for the length of the tests.

WHY in tests alone: an `array` reads its last value there, and to ask of each row costs ten times what
reading it does. Where machine code would end in an error, a test in plain Python ends in one too.
"""

from __future__ import annotations

from array import array

from suture.model.graph.plaincolumn import PlainColumn, PlainFlags


def _read(column: array[int], row: int) -> int:
    if row < 0:
        raise IndexError(f"row {row}")
    return array.__getitem__(column, row)


def _write(column: array[int], row: int, value: int) -> None:
    if row < 0:
        raise IndexError(f"row {row}")
    array.__setitem__(column, row, value)


def make_strict() -> None:
    """Have every plain column refuse rows below 0 from now on."""
    for kind in (PlainColumn, PlainFlags):
        kind.__getitem__ = _read  # type: ignore[assignment]
        kind.__setitem__ = _write  # type: ignore[assignment]
