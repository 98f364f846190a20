"""The needs of an object that was read back from its row: links, read when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suture.model.edges import Need, Needs

if TYPE_CHECKING:  # the graph calls us
    from suture.model.graph.graph import Graph


class RowNeeds(Needs):
    """The needs of the object in a row, read when they are asked for.

    INVARIANT: that is before the graph changes; else the row may be another's.
    """

    __slots__ = ("_changes", "_graph", "_read_already", "_row")

    def __init__(self, graph: Graph, row: int) -> None:
        super().__init__(b"")
        self._graph, self._row, self._changes = graph, row, graph.changes
        self._read_already: tuple[Need, ...] | None = None

    def read(self) -> tuple[Need, ...]:
        """Return the needs. Errors: LookupError when the graph has changed since."""
        if self._read_already is None:
            if self._graph.changes != self._changes:
                raise LookupError("the needs of a row were asked for after the graph had changed")
            self._read_already = self._graph.needs_of(self._row)
        return self._read_already
