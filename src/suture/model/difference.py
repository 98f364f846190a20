"""Which parts of an object a write changes, told from the two bodies that a request carries.

In the model, not in `wire`, because impact asks for it, and only where an effect needs it: of most
writes the bodies are the same, and then nothing is decoded. Pure; keeps no value.
Source: the API server reuses the old managedFields, times and all, where nothing else differs, so
that a reconcile that changes nothing comes with two equal bodies (apiserver, fieldmanager,
`IgnoreManagedFieldsTimestamps`).
"""

from __future__ import annotations

from typing import Final

import msgspec

UNSAID: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Parts of which nothing is told: metadata is read field by field, a status is nobody's wish."""

_parts_decoder: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
# WHY a float hook: numbers past a double's range are JSON too.
_any_decoder: Final = msgspec.json.Decoder(float_hook=float)

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder throws at bytes that are no JSON object."""


def all_parts(body: bytes) -> dict[str, msgspec.Raw]:
    """Return the parts of an object as they are written; none of what is no object."""
    if not body:
        return {}
    try:
        return _parts_decoder.decode(body)
    except UNREADABLE:
        return {}


def parts_of(body: bytes) -> dict[str, msgspec.Raw]:
    """Return the parts of an object that stand beside its metadata; none of what is no object."""
    return {name: raw for name, raw in all_parts(body).items() if name not in UNSAID}


def differing(old: dict[str, msgspec.Raw], new: dict[str, msgspec.Raw]) -> tuple[str, ...]:
    """Return the names of the parts that differ, `spec` or `data`, sorted.

    Bytes are compared: the API server writes both in one order. A part that is written otherwise
    and means the same counts as changed.
    """
    names = (name for name in old.keys() | new.keys() if name not in UNSAID)
    return tuple(sorted(name for name in names if old.get(name) != new.get(name)))


def parts_changed(old_body: bytes, new_body: bytes) -> tuple[str, ...]:
    """Return the names of the parts of two bodies that differ; none if one is absent."""
    if not old_body or not new_body or old_body == new_body:
        return ()
    return differing(all_parts(old_body), all_parts(new_body))


def counts_changed(old_body: bytes, new_body: bytes) -> tuple[tuple[str, int, int], ...]:
    """Return the whole numbers at the top of two specs that differ: name, before and after."""
    old, new = _spec(old_body), _spec(new_body)
    return tuple(
        (name, before, after)
        for name, before in sorted(old.items())
        if type(before) is int and type(after := new.get(name)) is int and before != after
    )


def _spec(body: bytes) -> dict[str, object]:
    spec = parts_of(body).get("spec")
    if spec is None:
        return {}
    try:
        found = _any_decoder.decode(spec)
    except UNREADABLE:
        return {}
    return found if type(found) is dict else {}


def numbers_changed(old_body: bytes, new_body: bytes) -> tuple[tuple[int, int], ...]:
    """Return what whole numbers of two specs were and are, where they differ in the same place.

    Items of lists are not compared: they have no place of their own.
    """
    old, new = parts_of(old_body).get("spec"), parts_of(new_body).get("spec")
    if old is None or new is None or old == new:
        return ()
    try:
        pairs = [(_any_decoder.decode(old), _any_decoder.decode(new))]
    except UNREADABLE:
        return ()
    found: list[tuple[int, int]] = []
    while pairs:
        before, after = pairs.pop()
        if type(before) is dict and type(after) is dict:
            pairs += [(before[name], after[name]) for name in before.keys() & after.keys()]
        elif type(before) is int and type(after) is int and before != after:
            found.append((before, after))
    return tuple(sorted(found))
