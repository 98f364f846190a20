"""The layout `columns` of a snapshot: the graph's storage as it stands, for a start in seconds.

Beside `snapshotobjects`, the layout that outlives changes of the storage. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from suture.model.graph import Graph
from suture.model.graph.saved import VERSION, Block, blocks, restored
from suture.wire.snapshot import Header, Sections, SnapshotCorruptError

LAYOUT = "columns"
LAYOUT_VERSION = VERSION


def sections_of(graph: Graph) -> dict[str, Iterable[Block]]:
    """Return the sections of a graph by name."""
    return {name: _made(make) for name, make in blocks(graph).items()}


def _made(make: Callable[[], Block]) -> Iterator[Block]:
    yield make()


def graph_of(header: Header, sections: Sections, source: str) -> Graph:
    """Return the graph that was written. Errors: SnapshotError."""
    # WHY all at once: they are unpacked beside what is made of those before them. In the order of
    # the file, which is that in which they are taken.
    begun = {one.name: sections.begin(one.name) for one in header.sections if knows(one.name)}
    try:
        return restored(lambda name: begun.pop(name)())
    except (ValueError, KeyError, IndexError) as error:
        raise SnapshotCorruptError(
            source, f"does not hold a whole model: {error}; take it anew"
        ) from error


def knows(section: str) -> bool:
    """Whether a section of this name is one of this layout."""
    return section in _NAMES


_NAMES = frozenset(blocks(Graph()))
