"""Pod classes: pods that are alike in namespace, owners, labels and needs, counted together.

WHY: selectors, budgets and cascades treat such pods alike, and the 620,000 pods of the largest
cluster known are 128,000 classes. What a Service can send traffic to is a sum over the few classes
that it selects; the counts are kept as events come, so that a question reads and does not scan.

A class is a row too (so that owners, needs and selectors link to it as to anything); here are its
counts, by number.
"""

from __future__ import annotations

from typing import ClassVar

from suture.model.graph.columns import NONE, Chain, integers
from suture.model.graph.rows import LEAVING, READY, TERMINATING


class PodClasses:
    """Counts by class number: pods, pods that serve, Ready pods whose removal was admitted."""

    __slots__ = ("free", "head", "leaving", "row", "serving", "total")

    COLUMNS: ClassVar[tuple[str, ...]] = ("row", "head", "total", "serving", "leaving")

    def __init__(self) -> None:
        self.row = integers()
        self.head = integers()
        self.total = integers()
        self.serving = integers()
        self.leaving = integers()
        self.free: list[int] = []

    def __len__(self) -> int:
        return len(self.row) - len(self.free)

    def new(self, row: int, chain: Chain) -> int:
        """Begin a class; return its number, whose chain is empty."""
        if self.free:
            number = self.free.pop()
            self.row[number] = row
            return number
        for column, value in zip(self.COLUMNS, (row, chain.new_head(), 0, 0, 0), strict=True):
            getattr(self, column).append(value)
        return len(self.row) - 1

    def end(self, number: int) -> None:
        """End a class that has no pods any more."""
        self.row[number] = NONE
        self.free.append(number)

    def count(self, number: int, flags: int, sign: int) -> None:
        """Count a pod with these flags in (1) or out (-1)."""
        self.total[number] += sign
        if flags & READY:
            if flags & LEAVING:
                self.leaving[number] += sign
            elif not flags & TERMINATING:
                self.serving[number] += sign
