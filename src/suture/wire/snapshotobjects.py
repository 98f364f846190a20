"""The layout `objects` of a snapshot: every object by itself, as lines of JSON, a section a kind.

The one that outlives changes of how the graph is stored: it says what the model knows, not how.
Beside `snapshot`, which knows sections and not what is in them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from suture.model.graph import Graph
from suture.model.names import Resource
from suture.model.objects import ClusterObject
from suture.wire.snapshot import Header, Sections, SnapshotCorruptError

LAYOUT = "objects"
LAYOUT_VERSION = 4
"""Raised when what is written would be read wrongly, not merely in part, by who knows the last."""

TYPES = "types"
OBJECTS = "objects/"

BATCH = 512
"""LIMIT: objects written or read at a time: half a megabyte."""


class _Type(msgspec.Struct, frozen=True):
    """How well one type is known, as the graph's `Freshness` has it."""

    resource: Resource
    listed: bool
    heard_ns: int
    resource_version: str
    unknown: str


class _Kind(msgspec.Struct, frozen=True):
    """Which type a kind is."""

    group: str
    kind: str
    resource: Resource


class _Types(msgspec.Struct, frozen=True):
    types: tuple[_Type, ...]
    kinds: tuple[_Kind, ...]


def _plain(value: object) -> Any:
    """Write what is read lazily (needs, labels) as the list or mapping that it stands for."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"`{type(value).__name__}` has no place in a snapshot")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
_types_decoder = msgspec.json.Decoder(_Types)
_object_decoder = msgspec.json.Decoder(ClusterObject)


def resources_of(graph: Graph) -> list[Resource]:
    """Return the types that a graph knows of, with or without objects, in a stable order."""
    known = {*graph.freshness, *graph.kinds.values()}
    # WHY: a type that was never declared, of a kind that another type has, is in neither.
    if sum(map(graph.count, known)) < len(graph):
        known.update(thing.key.resource for thing in graph)
    return sorted(known)


def sections_of(graph: Graph) -> dict[str, Iterable[bytes]]:
    """Return the sections of a graph by name; those of objects are made as they are walked."""
    types = _Types(
        tuple(
            _Type(one, fresh.listed, fresh.heard_ns, fresh.resource_version, fresh.unknown)
            for one, fresh in graph.freshness.items()
        ),
        tuple(_Kind(group, kind, one) for (group, kind), one in graph.kinds.items()),
    )
    sections: dict[str, Iterable[bytes]] = {TYPES: [_encoder.encode(types)]}
    for number, resource in enumerate(resources_of(graph)):
        if graph.count(resource):
            # WHY numbered: two odd types may be written alike.
            sections[f"{OBJECTS}{number}/{resource}"] = _lines(graph, resource)
    return sections


def _lines(graph: Graph, resource: Resource) -> Iterator[bytes]:
    batch: list[ClusterObject] = []
    for row in graph.rows(resource):
        batch.append(graph.at(row))
        if len(batch) == BATCH:
            yield _encoder.encode_lines(batch)
            batch.clear()
    yield _encoder.encode_lines(batch)


def graph_of(header: Header, sections: Sections, source: str) -> Graph:
    """Return the graph that was written. Errors: SnapshotError."""
    graph = Graph()
    try:
        types = _types_decoder.decode(b"".join(sections.stream(TYPES)))
        for section in header.sections:
            if section.name.startswith(OBJECTS):
                for thing in _objects(sections.stream(section.name)):
                    graph.put(thing)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SnapshotCorruptError(
            source, f"says what no model says: {error}; read it with the Suture that wrote it"
        ) from error
    _tell_types(graph, types)
    return graph


def knows(section: str) -> bool:
    """Whether a section of this name is one of this layout."""
    return section == TYPES or section.startswith(OBJECTS)


def _tell_types(graph: Graph, types: _Types) -> None:
    # WHY anew: an object's own kind, which it brought when it was put, may have been another's.
    graph.kinds.clear()
    for kind in types.kinds:
        graph.kinds[kind.group, kind.kind] = kind.resource
    for one in types.types:
        graph.heard(one.resource, one.resource_version, one.heard_ns)
        if one.listed:
            graph.note_listed(one.resource)
        if one.unknown:
            graph.mark_unknown(one.resource, one.unknown)


def _objects(pieces: Iterable[bytes]) -> Iterator[ClusterObject]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            thing = _object_decoder.decode(line)
            # WHY: a sequence is read as a list, and an object's needs are a value.
            msgspec.structs.force_setattr(thing, "needs", tuple(thing.needs))
            yield thing
    if rest:
        raise msgspec.DecodeError("the last line does not end")
