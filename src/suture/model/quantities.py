"""Amounts as Kubernetes writes them: `500m`, `2Gi`, `1e3`. Pure.

Source: apimachinery's resource.Quantity.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache

_SUFFIXES = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1),
    "k": Decimal(10**3), "M": Decimal(10**6), "G": Decimal(10**9), "T": Decimal(10**12),
    "P": Decimal(10**15), "E": Decimal(10**18),
    "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40),
    "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip
_QUANTITY = re.compile(r"([+-]?[0-9]{1,20}(?:\.[0-9]{0,20})?)(?:[eE]([+-]?[0-9]{1,2}))?([A-Za-z]*)")
_MOST = 2**53

AMOUNTS = 1024
"""LIMIT: amounts remembered, as they are written, each way; 200 bytes each."""

Quantity = str | int | float


def quantity(text: Quantity) -> Decimal:
    """Return what a quantity says; nothing for what is none, or is past any machine."""
    found = _QUANTITY.fullmatch(str(text))
    suffix = _SUFFIXES.get(found[3]) if found is not None else None
    if found is None or suffix is None:
        return Decimal(0)
    value = Decimal(found[1]) * Decimal(10) ** int(found[2] or 0) * suffix
    return value if 0 <= value < _MOST * 10**6 else Decimal(0)


# WHY remembered: whoever writes a template asks for one of a few round amounts.
@lru_cache(AMOUNTS)
def cpu_m(text: Quantity, *, up: bool) -> int:
    """Return thousandths of a core, rounded up for what is asked, else down."""
    return _whole(quantity(text) * 1000, up=up)


@lru_cache(AMOUNTS)
def memory_mi(text: Quantity, *, up: bool) -> int:
    """Return MiB, rounded up for what is asked, else down."""
    return _whole(quantity(text) / 2**20, up=up)


def whole(text: Quantity) -> int:
    """Return a number of things, rounded down: pods that a node takes."""
    return _whole(quantity(text), up=False)


def _whole(value: Decimal, *, up: bool) -> int:
    return min(_MOST, int(value.to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)))
