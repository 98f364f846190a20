"""Decoders made at run time, which read the fields that paths name and skip all the rest.

Beside `shapes` because those are written by hand, for kinds that everybody knows; these are made
of rules. Pure, and total: where a value is not of the shape that a path expects there is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from suture.model.fieldpath import FieldPath

STEPS_KNOWN = 16_384
"""LIMIT: names of fields remembered, 200 bytes each; 900 kinds with 256 rules have fewer."""

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

Steps = tuple[str, ...]

# WHY a float hook: numbers past a double's range are JSON too.
_any_decoder = msgspec.json.Decoder(float_hook=float)


class Projection:
    """Reads of one JSON value what the given steps lead to; the empty step is every item."""

    def __init__(self, paths: Iterable[Steps]) -> None:
        root = _Node()
        for path in paths:
            root.grow(path)
        # Any: a type made at run time.
        kind: Any = root.kind()
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind, float_hook=float)

    def read(self, raw: bytes | msgspec.Raw) -> object:
        """Return what `trails` can walk; None for what is no JSON."""
        try:
            return self._decoder.decode(raw)
        except UNREADABLE:
            return plain(raw)


def plain(raw: bytes | msgspec.Raw) -> object:
    """Return a JSON value whole, which `trails` can walk as well; None for what is no JSON."""
    try:
        return _any_decoder.decode(raw)
    except UNREADABLE:
        return None


class _Node:
    """What is read below one point: named fields, every item, or the value itself."""

    def __init__(self) -> None:
        self._fields: dict[str, _Node] = {}
        self._each: _Node | None = None
        self._whole = False

    def grow(self, path: Steps) -> None:
        if not path:
            self._whole = True
        elif path[0]:
            self._fields.setdefault(path[0], _Node()).grow(path[1:])
        else:
            self._each = self._each or _Node()
            self._each.grow(path[1:])

    def kind(self) -> object:
        """Return the type to decode; what two paths want in two shapes is decoded whole."""
        if self._whole or (self._fields and self._each is not None):
            return Any
        if self._each is not None:
            item: Any = self._each.kind()
            return list[item] | dict[str, item] | None
        # Any: it says that it returns its default, which machine code would take at its word.
        field: Any = msgspec.field
        fields = [
            (attribute(name), node.kind(), field(default=None, name=name))
            for name, node in sorted(self._fields.items())
        ]
        return msgspec.defstruct("Projected", fields, gc=False) | None


@lru_cache(maxsize=STEPS_KNOWN)
def attribute(step: str) -> str:
    """Return the name under which a projection keeps a field of any name."""
    return f"f_{step.encode().hex()}"


def trails(start: object, steps: Sequence[str]) -> Iterator[list[object]]:
    """Yield each way that the steps lead: the values met on it, from `start` to the last."""
    ways: list[list[object]] = [[start]]
    for step in steps:
        ways = [[*way, below] for way in ways for below in _below(way[-1], step)]
    yield from ways


def ends(start: object, steps: Sequence[str]) -> Sequence[Any]:
    """Return what the steps lead to: the last of each trail, without the way there.

    WHY no generator: most fields that rules name are not there, and each object is asked for all.
    """
    value: Any = start
    for at, step in enumerate(steps):
        if not step:
            items, rest = _below(value, step), steps[at + 1 :]
            return [found for item in items for found in ends(item, rest)] if items else ()
        if type(value) is dict:
            value = value.get(step)
        elif isinstance(value, msgspec.Struct):
            value = getattr(value, attribute(step), None)
        else:
            return ()
        if value is None:
            return ()
    return (value,)


def parted(start: object, steps: Sequence[str]) -> list[Any]:
    """Return the objects that the steps lead to, or that are items of a list there.

    Maps by name, or projections of such. WHY beside `ends`: where any value of an open object may
    be one, all are looked at and few are.
    """
    found = [start]
    for step in steps:
        met: list[object] = []
        for one in found:
            if step:
                met.append(
                    one.get(step) if type(one) is dict else getattr(one, attribute(step), None)
                )
            elif type(one) is dict:
                met += one.values()
            elif type(one) is list:
                met += one
        if not met:
            return []
        found = met
    parts: list[Any] = []
    for one in found:
        if type(one) is dict or isinstance(one, msgspec.Struct):
            parts.append(one)
        elif type(one) is list:
            parts += [item for item in one if type(item) is dict]
    return parts


def first_text(start: object, steps: Sequence[str]) -> str:
    """Return the first text that the steps lead to, empty where there is none."""
    return next((found for found in ends(start, steps) if isinstance(found, str)), "")


def beside(way: Sequence[object], mine: FieldPath, other: FieldPath) -> tuple[object, Steps]:
    """Return where the way of one path leaves another path, and the steps from there on.

    So that of several items each name is paired with the namespace in its own item.
    """
    together = mine.shared(other)
    return way[together], other.steps[together:]


def _below(value: object, step: str) -> Iterable[object]:
    if isinstance(value, dict):
        if not step:
            return value.values()
        found = value.get(step)
    elif isinstance(value, list):
        return value if not step else ()
    elif isinstance(value, msgspec.Struct):
        found = getattr(value, attribute(step), None)
    else:
        return ()
    return () if found is None else (found,)
