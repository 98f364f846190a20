"""How grave something is for people: words in an order.

Apart from `graded`, which says it of effects and is machine code: an enum cannot be.
"""

from __future__ import annotations

from enum import IntEnum


class Severity(IntEnum):
    """How grave; ordered."""

    NONE = 0
    MINOR = 1
    NOTABLE = 2
    SEVERE = 3

    @property
    def word(self) -> str:
        """How it is written."""
        return WORDS[self]


WORDS = ("none", "minor", "notable", "severe")
"""How each is written, by its number."""
