"""Who needs whom, among rows: one adjacency for every edge that the graph keeps.

A link runs from the row that needs to the row that is needed and stands in two chains, that of
its source and that of its target, so that both directions are read without a search and either
end can go in a moment, however many links the other end has.
"""

from __future__ import annotations

from typing import ClassVar

from suture.model.graph.column import CHUNK
from suture.model.graph.columns import NONE, integers


class Links:
    """Directed links between rows, each with a detail: a number whose meaning is the graph's."""

    __slots__ = (
        "_free", "count", "detail", "in_head", "in_next", "in_previous",
        "out_head", "out_next", "out_previous", "source", "target",
    )  # fmt: skip

    def __init__(self) -> None:
        self.source, self.target, self.detail = integers(), integers(), integers()
        self.in_next, self.in_previous = integers(), integers()
        self.out_next, self.out_previous = integers(), integers()
        self.in_head, self.out_head = integers(), integers()
        self.count = 0
        self._free = NONE

    def grow(self) -> None:
        """Make room for CHUNK more rows, without links."""
        self.in_head.grow(NONE)
        self.out_head.grow(NONE)

    def add(self, source: int, target: int, detail: int) -> int:
        """Link two rows; return the link. The youngest link of a row comes first."""
        if self._free < 0:
            self._more()
        link, in_next = self._free, self.in_next
        self._free = in_next[link]
        in_first, out_first = self.in_head[target], self.out_head[source]
        self.source[link] = source
        self.target[link] = target
        self.detail[link] = detail
        in_next[link] = in_first
        self.in_previous[link] = NONE
        self.out_next[link] = out_first
        self.out_previous[link] = NONE
        if in_first >= 0:
            self.in_previous[in_first] = link
        if out_first >= 0:
            self.out_previous[out_first] = link
        self.in_head[target] = self.out_head[source] = link
        self.count += 1
        return link

    def add_all(self, source: int, wanted: list[tuple[int, int]]) -> None:
        """Link a row to targets, each with a detail; they are read in this order."""
        for target, detail in reversed(wanted):
            self.add(source, target, detail)

    def _more(self) -> None:
        """Make room for more links, all free."""
        first = len(self.source)
        for column in (
            self.source, self.target, self.detail,
            self.in_next, self.in_previous, self.out_next, self.out_previous,
        ):  # fmt: skip
            column.grow(NONE)
        for link in range(first, first + CHUNK - 1):
            self.in_next[link] = link + 1
        self._free = first

    def remove(self, link: int) -> None:
        """Take a link away."""
        self._leave_target(link)
        before, after = self.out_previous[link], self.out_next[link]
        if before >= 0:
            self.out_next[before] = after
        else:
            self.out_head[self.source[link]] = after
        if after >= 0:
            self.out_previous[after] = before
        self.source[link] = self.target[link] = NONE
        self.in_next[link] = self._free
        self._free = link
        self.count -= 1

    def retarget(self, link: int, target: int, detail: int) -> None:
        """Let a link run to another row."""
        self._leave_target(link)
        first = self.in_head[target]
        self.target[link] = target
        self.detail[link] = detail
        self.in_next[link], self.in_previous[link] = first, NONE
        if first >= 0:
            self.in_previous[first] = link
        self.in_head[target] = link

    def _leave_target(self, link: int) -> None:
        before, after = self.in_previous[link], self.in_next[link]
        if before >= 0:
            self.in_next[before] = after
        else:
            self.in_head[self.target[link]] = after
        if after >= 0:
            self.in_previous[after] = before

    def outs(self, row: int) -> list[int]:
        """Return the links that begin at a row."""
        found: list[int] = []
        link, following = self.out_head[row], self.out_next
        while link >= 0:
            found.append(link)
            link = following[link]
        return found

    def ins(self, row: int) -> list[int]:
        """Return the links that end at a row."""
        found: list[int] = []
        link, following = self.in_head[row], self.in_next
        while link >= 0:
            found.append(link)
            link = following[link]
        return found

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "source", "target", "in_next", "in_previous", "out_next", "out_previous",
        "detail", "in_head", "out_head",
    )  # fmt: skip

    @property
    def free(self) -> int:
        """The first of the links that are free, which are chained through `in_next`."""
        return self._free

    def restore(self, columns: dict[str, bytes], free: int, count: int) -> None:
        """Take over the columns of an equal one."""
        for name in self.COLUMNS:
            getattr(self, name).load(columns[name])
        self._free, self.count = free, count

    @property
    def size_bytes(self) -> int:
        """How much memory the links take, the heads of rows left out."""
        return 7 * self.source.size_bytes
