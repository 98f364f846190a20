"""The graph as blocks of bytes and back: what makes a warm start take seconds, not minutes.

Columns as they stand, with the tables that find rows in them; shared values end to end. The
bytes are this version's own and change with the storage; what outlives it is written object by
object, elsewhere.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import msgspec

from suture.model.graph.column import Column
from suture.model.graph.columns import loaded
from suture.model.graph.detail import Detail
from suture.model.graph.freshness import Freshness
from suture.model.graph.graph import Graph
from suture.model.graph.hashing import HASHING
from suture.model.graph.hashtable import SEGMENTS, HashTable
from suture.model.graph.interned import Interned
from suture.model.graph.links import Links
from suture.model.graph.names import Names
from suture.model.graph.rows import LEAVING, Rows
from suture.model.names import Gvk, Resource

Block = bytes | bytearray | memoryview

_CHAINS = ("heads", "next", "previous")
_PARTS_OF_TABLE = ("sizes", "counts", "slots")

VERSION = 10
"""Raised with every change of what a column means."""


class _Type(msgspec.Struct, frozen=True):
    resource: Resource
    listed: bool
    heard_ns: int
    resource_version: str
    unknown: str


class _Table(msgspec.Struct, frozen=True):
    """All that is not a column. `byte_order`: columns are read as they were written, or not.

    `hashing` is what the tables were made by.
    """

    byte_order: str
    hashing: str
    secret: bytes
    rows: int
    objects: int
    owners: tuple[int, int]
    links: tuple[int, int]
    kinds: list[tuple[Resource, Gvk, int]]
    places: list[tuple[Resource, str]]
    names_of_kinds: list[tuple[str, str, Resource]]
    types: list[_Type]
    details: list[Detail]
    selecting: dict[str, dict[str, list[int]]]
    definitions: list[tuple[Resource, list[int]]]
    twins: list[tuple[bytes, list[int]]]
    deleted: list[tuple[int, float]]
    odd_uids: list[tuple[int, str]]
    odd_versions: list[tuple[int, str]]
    odd_times: list[tuple[int, float]]
    free_classes: list[int]


_table_decoder = msgspec.msgpack.Decoder(_Table)


def blocks(graph: Graph) -> dict[str, Callable[[], Block]]:
    """Return what makes each of a graph's blocks, by name; the graph must not change meanwhile.

    WHY makers: all of them at once would be the model a second time.
    """
    rows = graph.rows_of
    found: dict[str, Callable[[], Block]] = {
        "table": lambda: msgspec.msgpack.encode(_table(graph)),
    }
    for name, column in _columns(graph).items():
        found[name] = column.tobytes
    for name, texts in _texts(graph):
        found[f"{name}/block"] = partial(_itself, texts.block)
    found["rows/uids"] = partial(_itself, rows.uids)
    found["rows/free"] = lambda: rows.free_rows
    for name, texts in _texts(graph):
        found[f"{name}/free-room"] = partial(_free_room, texts)
    for name, table in _tables(graph):
        found[f"tables/{name}/sizes"] = partial(_segment_sizes, table)
        found[f"tables/{name}/counts"] = partial(_segment_counts, table)
        found[f"tables/{name}/slots"] = partial(_segment_slots, table)
    return found


def _columns(graph: Graph) -> dict[str, Any]:
    rows = graph.rows_of
    # Any: columns of either sort, of which all that is asked for is their bytes.
    found: dict[str, Any] = {
        "places/uses": graph.places.uses,
        "places/head": graph.places.head,
    }
    for name, texts in _texts(graph):
        found[f"{name}/at"] = texts.at
        found[f"{name}/sizes"] = texts.sizes
    for name, sets in _shared(graph):
        found[f"{name}/uses"] = sets.uses
        found[f"{name}/free"] = sets.free
    for room, holder, held in (
        ("rows", rows, Rows.COLUMNS),
        ("owners", graph.owners, Links.COLUMNS),
        ("links", graph.links, Links.COLUMNS),
        ("chains", graph.chain, _CHAINS),
        ("classes", graph.classes, graph.classes.COLUMNS),
    ):
        for name in held:
            found[f"{room}/{name}"] = getattr(holder, name)
    return found


def _itself(block: bytearray) -> Block:
    return memoryview(block)


def _segment_sizes(table: HashTable) -> bytes:
    return array("i", [0 if one is None else len(one) for one in table.segments]).tobytes()


def _segment_counts(table: HashTable) -> bytes:
    return array("i", table.held).tobytes()


def _segment_slots(table: HashTable) -> bytes:
    return b"".join(one.tobytes() for one in table.segments if one is not None)


def _free_room(texts: Names) -> bytes:
    return texts.free_room.tobytes()


def restored(take: Callable[[str], Block]) -> Graph:
    """Return the graph that blocks were made of, with nothing admitted.

    `take` gives each block by its name, once, in the order of `blocks`.
    Errors: ValueError when they do not fit each other or this machine; KeyError where one lacks.
    """
    table = _read_table(take("table"))
    graph = Graph(table.secret)
    _restore_rows(graph, table, take)
    for name, sets in _shared(graph):
        sets.restore(loaded(take(f"{name}/uses")), loaded(take(f"{name}/free")))
    for name, texts in _texts(graph):
        texts.restore(
            bytearray(take(f"{name}/block")),
            loaded(take(f"{name}/at")),
            loaded(take(f"{name}/sizes")),
            array("I", bytes(take(f"{name}/free-room"))),
        )
    for name, found in _tables(graph):
        _restore_table(found, *(take(f"tables/{name}/{part}") for part in _PARTS_OF_TABLE))
    _check_lengths(graph)
    if table.hashing != HASHING:
        graph.rows_of.rehash()
        for _, sets in _shared(graph):
            sets.table.rehash()
    graph.places.restore(
        table.kinds, table.places, bytes(take("places/uses")), bytes(take("places/head"))
    )
    for room, links, ends in (
        ("owners", graph.owners, table.owners),
        ("links", graph.links, table.links),
    ):
        links.restore({name: bytes(take(f"{room}/{name}")) for name in Links.COLUMNS}, *ends)
    for name in _CHAINS:
        getattr(graph.chain, name).load(take(f"chains/{name}"))
    for name in graph.classes.COLUMNS:
        getattr(graph.classes, name).load(take(f"classes/{name}"))
    graph.classes.free = table.free_classes
    graph.details.restore(table.details)
    graph.selecting.index = table.selecting
    graph.crd_of = dict(table.definitions)
    graph.twins = dict(table.twins)
    graph.kinds = {(group, kind): resource for group, kind, resource in table.names_of_kinds}
    for one in table.types:
        graph.freshness[one.resource] = Freshness(
            one.listed, one.heard_ns, one.resource_version, one.unknown, one.resource_version
        )
    if len(graph) != table.objects:
        raise ValueError(f"it holds {len(graph)} objects and says {table.objects}")
    if 1 in graph.rows_of.flags.tobytes().translate(_IS_LEAVING):
        _let_stay(graph)
    return graph


def _table(graph: Graph) -> _Table:
    rows = graph.rows_of
    return _Table(
        byte_order=sys.byteorder,
        hashing=HASHING,
        secret=rows.secret,
        rows=len(rows),
        objects=len(graph),
        owners=(graph.owners.free, graph.owners.count),
        links=(graph.links.free, graph.links.count),
        kinds=[(one.resource, one.gvk, one.count) for one in graph.places.kinds.values()],
        places=graph.places.listed(),
        names_of_kinds=[(*kind, resource) for kind, resource in graph.kinds.items()],
        types=[
            _Type(one, fresh.listed, fresh.heard_ns, fresh.resource_version, fresh.unknown)
            for one, fresh in graph.freshness.items()
        ],
        details=graph.details.values,
        selecting=graph.selecting.index,
        definitions=list(graph.crd_of.items()),
        twins=list(graph.twins.items()),
        deleted=list(rows.deleted.items()),
        odd_uids=list(rows.odd_uids.items()),
        odd_versions=list(rows.odd_versions.items()),
        odd_times=list(rows.odd_times.items()),
        free_classes=graph.classes.free,
    )


def _read_table(block: Block) -> _Table:
    try:
        table = _table_decoder.decode(block)
    except msgspec.MsgspecError as error:
        raise ValueError(f"its table cannot be read: {error}") from error
    if table.byte_order != sys.byteorder:
        raise ValueError(f"it was written where bytes stand in {table.byte_order}-endian order")
    return table


def _restore_rows(graph: Graph, table: _Table, take: Callable[[str], Block]) -> None:
    rows = graph.rows_of
    for name in Rows.COLUMNS:
        getattr(rows, name).load(take(f"rows/{name}"))
    rows.uids = bytearray(take("rows/uids"))
    rows.restored(table.rows, loaded(take("rows/free")))
    rows.deleted = dict(table.deleted)
    rows.odd_uids = dict(table.odd_uids)
    rows.odd_versions = dict(table.odd_versions)
    rows.odd_times = dict(table.odd_times)


def _check_lengths(graph: Graph) -> None:
    """Make sure that columns of the same rows, and of the same values, have one length."""
    rows = graph.rows_of
    lengths = {len(getattr(rows, name)) for name in Rows.COLUMNS} | {len(rows.uids) >> 4}
    columns = [(rows.names, lengths)]
    columns += [(sets.texts, {len(sets.uses)}) for _, sets in _shared(graph)]
    for texts, wanted in columns:
        if len(wanted | {len(texts.at), len(texts.sizes)}) != 1:
            raise ValueError("its columns are not of one length")
    if len(rows) > len(rows.place):
        raise ValueError("it has fewer rows than it says")


def _restore_table(table: HashTable, sizes: Block, counts: Block, slots: Block) -> None:
    lengths, held = loaded(sizes).all(), loaded(counts).all()
    whole = memoryview(slots).cast("B")
    if len(lengths) != SEGMENTS or len(held) != SEGMENTS or 4 * sum(lengths) != len(whole):
        raise ValueError("a table that finds rows is not whole")
    segments: list[Column | None] = [
        loaded(whole[4 * at : 4 * end]) if end > at else None for at, end in _bounds(lengths)
    ]
    table.rebuilt(segments, held)


def _bounds(sizes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each of some pieces that stand end to end."""
    return pairwise(accumulate(sizes, initial=0))


def _shared(graph: Graph) -> tuple[tuple[str, Interned], ...]:
    return (
        ("labels", graph.label_sets),
        ("facts", graph.facts_sets),
        ("traits", graph.trait_sets),
    )


def _texts(graph: Graph) -> tuple[tuple[str, Names], ...]:
    return ("names", graph.rows_of.names), *((name, one.texts) for name, one in _shared(graph))


def _tables(graph: Graph) -> tuple[tuple[str, HashTable], ...]:
    rows = graph.rows_of
    of_rows = ("by-name", rows.by_name), ("by-uid", rows.by_uid)
    return *of_rows, *((name, one.table) for name, one in _shared(graph))


def _let_stay(graph: Graph) -> None:
    """Take back that objects leave: what was admitted is not part of what is saved."""
    flags = graph.rows_of.flags
    for row in range(len(graph.rows_of)):
        if flags[row] & LEAVING:
            graph.stay(graph.uid(row))


_IS_LEAVING = bytes(bool(flags & LEAVING) for flags in range(256))
