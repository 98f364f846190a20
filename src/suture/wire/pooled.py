"""What the parts of a custom resource say of how many members they want.

Beside `declared`, which reads the one number that a resource has for all: here each part of its
`spec` has one of its own, and may be a map under its name, or an item of a list that has a `name`.
Pure, and total on odd JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from suture.wire.naming import NAME
from suture.wire.projections import attribute, parted

PARTS: Final = 16
"""LIMIT: parts of one object that are kept by their names; the largest have a dozen roles."""

SPEC: Final = "spec"

Fields = Sequence[tuple[tuple[str, ...], Sequence[str]]]
"""Where parts are, and how each of them calls its number."""


def pools(parts: Fields, read: Mapping[str, object]) -> tuple[int, ...]:
    """Return what the parts of an object want in sum, one sum for each name of such a field."""
    sums: dict[str, int] = {}
    for steps, names in parts:
        for part in parted(read, steps):
            for name, count in _numbers(part, names):
                sums[name] = sums.get(name, 0) + count
    return tuple(dict.fromkeys(sums.values()))


def sized_parts(parts: Fields, read: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """Return the numbers of the parts of an object, each beside the name of its part."""
    found: dict[tuple[str, int], None] = {}
    for steps, names in parts:
        for called, part in _called(steps, read):
            for _, count in _numbers(part, names):
                if count > 0 and 0 < len(called) <= NAME:
                    found[called, count] = None
                    if len(found) >= PARTS:
                        return tuple(found)
    return tuple(found)


def _called(steps: tuple[str, ...], read: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the parts where some steps lead, and what each is called."""
    *above, last = steps
    if last:
        for part in parted(read, steps):
            yield _name(part) or last, part
        return
    for place in parted(read, above):
        # WHY plain ones only: of a projection the rules name the parts themselves.
        if type(place) is not dict:
            continue
        if above[-1:] != [SPEC] and (own := _name(place)):
            yield own, place
            continue
        for called, part in place.items():
            if type(part) is list:
                yield from ((own, item) for item in part if (own := _name(item)))
            elif type(part) is dict:
                yield called, part


def _name(item: object) -> str:
    """Return the name of an item of a list, empty where it has none."""
    found = item.get("name") if isinstance(item, dict) else None
    return found if isinstance(found, str) else ""


def _numbers(part: object, names: Sequence[str]) -> list[tuple[str, int]]:
    """Return which of some numbers a part has, none of them below zero."""
    if isinstance(part, dict):
        read = [(name, part.get(name)) for name in names]
    else:
        read = [(name, getattr(part, attribute(name), None)) for name in names]
    return [(name, count) for name, count in read if type(count) is int and count >= 0]
