"""What the functions of rules call: CEL's own functions, where Python's mean something else.

Apart from `quick`, which makes those functions: these are machine code, and called some thirty
times for a delete. Each raises where CEL would err, and the caller asks the library then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1

_NEAR: Final = 2**61
"""What is nearer to zero is a machine's own number, and compared as one."""


def whole(value: int) -> int:
    """Return a whole number. Errors: OverflowError beyond 64 bits, as CEL has it."""
    if -_NEAR < value < _NEAR:
        return value
    if not LEAST <= value <= MOST:
        raise OverflowError
    return value


def divided(one: int, other: int) -> int:
    """Return a quotient, rounded towards zero."""
    result = abs(one) // abs(other)
    return whole(result if (one < 0) == (other < 0) else -result)


def remainder(one: int, other: int) -> int:
    """Return what a division leaves, with the sign of what was divided."""
    result = abs(one) % abs(other)
    return result if one >= 0 else -result


def negated(value: int) -> int:
    """Return a number with the other sign."""
    return whole(-value)


def summed(values: Iterable[int]) -> int:
    """Return the sum of some numbers."""
    return whole(sum(values))


def item(values: Sequence[object], index: int) -> object:
    """Return one of some values. Errors: IndexError; there are none from the end."""
    if index < 0:
        raise IndexError
    return values[index]


def joined(values: Iterable[str], between: str) -> str:
    """Return some texts as one."""
    return between.join(values)


def sliced(values: Sequence[object], start: int, end: int) -> list[object]:
    """Return some of some values. Errors: IndexError beyond them."""
    if not 0 <= start <= end <= len(values):
        raise IndexError
    return list(values[start:end])


def digits(value: object) -> str:
    """Return a whole number as text. Errors: TypeError for anything else."""
    if type(value) is not int:
        raise TypeError
    return str(value)


def said(value: object) -> str:
    """Return a text or a whole number as text."""
    if isinstance(value, str):
        return str(value)
    return digits(value)
