"""Who wrote which field by server-side apply, so that what an applier leaves out can be taken away.

Lives apart from `server`, which merges: here is only what goes before that. Everybody who does not
apply is one owner, for whom nothing is ever taken away.
Source: structured-merge-diff: what the last configuration of a manager had, this one lacks, and
nobody else owns is removed; whoever changes a value takes it from its owners.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from suture.lab.scenarios.cluster import Object
from suture.wire.patches import PLAIN, WHOLE, key_of

Path = tuple[Any, ...]
"""Names of fields; an entry of a keyed list is a pair of its key and that key's value."""
Leaves = Mapping[Path, Any]

_OTHERS = None
_IDENTITY = frozenset({"apiVersion", "kind"})
_OF_THE_SERVER = frozenset(
    {
        "name", "namespace", "uid", "generation", "resourceVersion", "creationTimestamp",
        "deletionTimestamp", "managedFields",
    }
)  # fmt: skip
"""SOURCE: stripMeta of the field manager, and what nobody but the API server writes."""


class _Record(msgspec.Struct, frozen=True):
    """The owners of an object's fields, and the fields as they were when it was last applied."""

    owners: Mapping[str | None, Collection[Path]]
    seen: Leaves


class Fields:
    """The owners of the fields of every object that was ever applied."""

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}

    def left(self, body: Object, wish: Object, manager: str) -> Object:
        """Return a live object less what its applier wrote and wishes for no more."""
        record = self._now(body)
        own = record.owners.get(manager, ())
        others = {path for name, has in record.owners.items() if name != manager for path in has}
        gone = set(own) - leaves(wish).keys() - _and_above(others)
        return _without(body, gone, ()) if gone else body

    def note(self, before: Object | None, after: Object, wish: Object, manager: str) -> None:
        """Take note that an applier's wish was stored."""
        now = leaves(after)
        owners = self._now(before).owners if before is not None else {}
        known = leaves(before) if before is not None else {}
        kept = {name: _unchanged(has, known, now) for name, has in owners.items()}
        own = leaves(wish).keys() & now.keys()
        self._records[after["metadata"]["uid"]] = _Record({**kept, manager: own}, now)

    def _now(self, body: Object) -> _Record:
        """Return who owns what, after what others wrote since the last apply."""
        now = leaves(body)
        record = self._records.get(body["metadata"]["uid"])
        if record is None:
            return _Record({_OTHERS: now.keys()}, now)
        seen = record.seen
        owners = {name: _unchanged(has, seen, now) for name, has in record.owners.items()}
        theirs = {path for path, value in now.items() if not _same(path, value, seen)}
        return _Record({**owners, _OTHERS: theirs.union(owners.get(_OTHERS, ()))}, now)


def _same(path: Path, value: Any, seen: Leaves) -> bool:
    return path in seen and bool(seen[path] == value)


def _unchanged(paths: Collection[Path], before: Leaves, after: Leaves) -> set[Path]:
    """Return those of the paths that lead to the same as before."""
    return {path for path in paths if path in after and _same(path, after[path], before)}


def _and_above(paths: Collection[Path]) -> set[Path]:
    """Return paths, and all that lead to them: an entry stays for what somebody has in it."""
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}


def leaves(body: Object) -> Leaves:
    """Return what a body says, by path; an entry of a keyed list is said by being there."""
    found = dict(_leaves(body, (), ""))
    return {path: value for path, value in found.items() if not _is_server_s(path)}


def _is_server_s(path: Path) -> bool:
    return path[0] in _IDENTITY or (
        path[0] == "metadata" and len(path) > 1 and path[1] in _OF_THE_SERVER
    )


def _leaves(value: Any, path: Path, field: str) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value and field not in WHOLE:
        for key, one in value.items():
            yield from _leaves(one, (*path, key), key)
        return
    entries = _entries(value, field)
    if not entries:
        yield path, value
    for part, entry in entries:
        yield (*path, part), None
        if isinstance(entry, dict):
            yield from _inside(entry, (*path, part))


def _inside(entry: Object, path: Path) -> Iterator[tuple[Path, Any]]:
    """Return what an entry of a keyed list says besides its key."""
    key, _ = path[-1]
    for field, one in entry.items():
        if field != key:
            yield from _leaves(one, (*path, field), field)


def _entries(value: Any, field: str) -> list[tuple[Any, Any]]:
    """Return the entries of a list that are told apart, each with its part of a path."""
    if not isinstance(value, list):
        return []
    if field in PLAIN:
        return [(("", one), one) for one in value]
    key = key_of(field, value)
    if key is None or not all(isinstance(one, dict) and key in one for one in value):
        return []
    return [((key, one[key]), one) for one in value]


def _without(value: Any, gone: Collection[Path], path: Path) -> Any:
    """Return a value less what is at the paths; a map that loses all it had goes with it."""
    field = path[-1] if path and isinstance(path[-1], str) else ""
    if isinstance(value, dict) and field not in WHOLE:
        found = {}
        for key, one in value.items():
            at = (*path, key)
            left = None if at in gone else _without(one, gone, at)
            if at not in gone and (left or not one):
                found[key] = left
        return found
    entries = _entries(value, field)
    if not entries:
        return value
    return [
        _without(one, gone, (*path, part)) if isinstance(one, dict) else one
        for part, one in entries
        if (*path, part) not in gone
    ]
