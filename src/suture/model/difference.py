"""Which parts of an object a write changes, told from the two bodies that a request carries.

In the model, not in `wire`, because impact asks for it, and only where an effect needs it: of most
writes the bodies are the same, and then nothing is decoded. Pure; keeps no value.
Source: the API server reuses the old managedFields, times and all, where nothing else differs, so
that a reconcile that changes nothing comes with two equal bodies (apiserver, fieldmanager,
`IgnoreManagedFieldsTimestamps`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

UNSAID: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Parts of which nothing is told: metadata is read field by field, a status is nobody's wish."""

PART_DEPTH: Final = 4
"""LIMIT: levels of a spec at which parts are told of; deeper ones are settings of a part."""

_ANOTHER: Final = re.compile(
    r"restart|(?!apiVersion).*(?:image|version|tag|restartedAt|Image|Version|Tag)"
)
_ANOTHER_WORDS: Final = (b"image", b"version", b"tag", b"restart")
"""How a custom resource calls what it runs: the image, its version; and that it starts anew."""

_parts_decoder: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
# WHY a float hook: numbers past a double's range are JSON too.
_any_decoder: Final = msgspec.json.Decoder(float_hook=float)


class _Metadata(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None


_metadata_decoder: Final = msgspec.json.Decoder(_Metadata)

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
    old, new = spec_of(old_body), spec_of(new_body)
    return tuple(
        (name, before, after)
        for name, before in sorted(old.items())
        if type(before) is int and type(after := new.get(name)) is int and before != after
    )


def spec_of(body: bytes) -> dict[str, object]:
    """Return what an object's spec says; nothing where it has none, or it is no map."""
    return map_in(parts_of(body).get("spec"))


def texts_of(body: bytes) -> frozenset[str]:
    """Return the texts that stand in a spec's own fields, none of what is below them."""
    return frozenset(one for one in spec_of(body).values() if isinstance(one, str))


def own_texts_of(body: bytes) -> frozenset[str]:
    """Return the texts that stand in an object's own fields, beside its spec and in it."""
    beside = (_text_in(raw) for raw in parts_of(body).values() if bytes(raw)[:1] == b'"')
    return texts_of(body) | {one for one in beside if one}


def _text_in(raw: msgspec.Raw) -> str:
    try:
        found = _any_decoder.decode(raw)
    except UNREADABLE:
        return ""
    return found if isinstance(found, str) else ""


def map_in(raw: msgspec.Raw | None) -> dict[str, object]:
    """Return what a part says, where it is a map; empty where it is none, or is not there."""
    if raw is None:
        return {}
    try:
        found = _any_decoder.decode(raw)
    except UNREADABLE:
        return {}
    return found if type(found) is dict else {}


def annotations_in(metadata: msgspec.Raw | None) -> dict[str, str]:
    """Return the annotations that metadata has; none where they cannot be read."""
    if metadata is None:
        return {}
    try:
        return _metadata_decoder.decode(metadata).annotations or {}
    except UNREADABLE:
        return {}


def finalizers_in(metadata: msgspec.Raw | None) -> frozenset[str]:
    """Return the finalizers that metadata has; none where they cannot be read."""
    if metadata is None:
        return frozenset()
    try:
        return frozenset(_metadata_decoder.decode(metadata).finalizers or ())
    except UNREADABLE:
        return frozenset()


def has_any(raw: bytes, words: Iterable[bytes]) -> bool:
    """Whether bytes have one of some words, which are given small, however it is written.

    WHY no expression: one that ignores case takes ten times as long.
    """
    small = raw.lower()
    return any(word in small for word in words)


def numbers_changed(old_body: bytes, new_body: bytes) -> tuple[tuple[int, int], ...]:
    """Return what whole numbers of two specs were and are, where they differ in the same place.

    Items of a list stand in the same place where they have the same name, by whatever is called
    `name` or `…Name` in them; of others it is not known.
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
        if type(before) is list and type(after) is list:
            before, after = _by_name(before), _by_name(after)
        if type(before) is dict and type(after) is dict:
            # WHY only what differs: of a large spec that is mostly one number.
            pairs += [
                (before[name], after[name])
                for name in before.keys() & after.keys()
                if before[name] != after[name]
            ]
        elif type(before) is int and type(after) is int and before != after:
            found.append((before, after))
    return tuple(sorted(found))


def asks_for_another(old_body: bytes, new_body: bytes) -> bool:
    """Whether a spec says another image or version than before, or asks for a restart."""
    old, new = parts_of(old_body).get("spec"), parts_of(new_body).get("spec")
    # WHY the bytes: hardly any spec that is written has a word of it that differs.
    if old is None or new is None or old == new or not has_any(bytes(new), _ANOTHER_WORDS):
        return False
    pairs = [(map_in(old), map_in(new), PART_DEPTH)]
    while pairs:
        before, after, depth = pairs.pop()
        for name, value in after.items():
            was = before.get(name)
            if was == value:
                continue
            if type(value) in (str, int) and value and _ANOTHER.fullmatch(name) is not None:
                return True
            if depth > 1:
                pairs += _below(was, value, depth - 1)
    return False


def _below(
    was: object, value: object, depth: int
) -> list[tuple[dict[str, object], dict[str, object], int]]:
    """Return what a field says now beside what it said: its map, or its items that have a name."""
    if isinstance(value, dict):
        return [(was if isinstance(was, dict) else {}, value, depth)]
    if not isinstance(value, list):
        return []
    before = _by_name(was) if isinstance(was, list) else {}
    return [(before.get(name, {}), item, depth) for name, item in _by_name(value).items()]


def _by_name(items: list[object]) -> dict[tuple[str, str], dict[str, object]]:
    """Return those items of a list that say their name, by what they call it and what it is."""
    found: dict[tuple[str, str], dict[str, object]] = {}
    for item in items:
        if type(item) is dict:
            for field, name in item.items():
                if (field == "name" or field.endswith("Name")) and type(name) is str:
                    found.setdefault((field, name), item)
                    break
    return found
