"""Entries that one version of a value has and the next has not: keys, list items, lines.

In the model, not in `wire`, because impact asks for it, and only of the few writes that change such
a value. Pure; returns names, never the value of a Secret.

An entry is known by what it is called, so that one that is only changed is not dropped: a key, the
name of an item, the word that a line begins with. What has no name is known by its whole text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from suture.model.difference import UNREADABLE
from suture.model.listtexts import values_listed

NAME = 60
"""LIMIT: characters of an entry's name that are told; five of them fit a refusal."""

DEEP = 24
"""LIMIT: levels below a part that are compared; deeper down a value is taken as a whole."""

NAMED_BY = ("name", "key", "id", "uid", "host", "hostname", "namespace", "type", "path")
"""The fields by which items of a list are known, the first that an item has. SOURCE: the merge
keys of Kubernetes' own types, and `x-kubernetes-list-map-keys` as definitions set them."""

Json = object


class Dropped(msgspec.Struct, frozen=True, gc=False):
    """Entries that are gone from one place: its key or path, and how many there were."""

    field: str
    before: int
    entries: tuple[str, ...]


def keys_dropped(field: str, old: Mapping[str, object], new: Mapping[str, object]) -> list[Dropped]:
    """Return the keys of a map that are gone, or that have nothing left."""
    gone = tuple(key for key, value in old.items() if value and not new.get(key))
    return [Dropped(field, len(old), gone)] if gone else []


def texts_dropped(field: str, old: str, new: str) -> list[Dropped]:
    """Return what is gone from inside a text: of JSON its keys and items, else its lines.

    Of a list that is written in another way by now, its values, where fewer of those are gone.

    A text of one line is a value, not a list of entries: it is changed, and nothing is gone. Lines
    come with those first whose name is nowhere any more, and each name once before any repeats.
    """
    before, after = _json(old), _json(new)
    if before is not None and after is not None:
        return list(values_dropped(field, before, after, keys=True))
    if "\n" not in old.strip():
        return []
    lines = list(_lines(old))
    had, has = Counter(word for word, _ in lines), Counter(word for word, _ in _lines(new))
    gone = had - has
    if not gone:
        return []
    listed, now = values_listed(old), values_listed(new)
    if listed is not None and now is not None:
        lost = list((Counter(listed) - Counter(now)).elements())
        # WHY only where it is less: a value that is only changed is gone, its line is not.
        if len(lost) * had.total() < gone.total() * len(listed):
            return [Dropped(field, len(listed), tuple(map(_short, lost)))] if lost else []
    depths = dict(reversed(lines))
    # WHY in this order: a block says more than what is in it, or than one word of many.
    names = sorted(gone, key=lambda word: (word in has, depths[word]))
    repeated = (gone - Counter(names)).elements()
    return [Dropped(field, had.total(), tuple(map(_short, (*names, *repeated))))]


def values_dropped(
    field: str, old: Json, new: Json, *, keys: bool = False, deep: int = DEEP
) -> Iterator[Dropped]:
    """Yield what is gone from the lists inside a value, from the maps too with `keys`.

    WHY keys only on request: of an object with a schema a field that is not set any more means its
    default; the keys of a free text are its entries.
    """
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        if keys:
            yield from keys_dropped(field, old, new)
        for key, value in old.items():
            now = new.get(key)
            if now is not None and deep:
                yield from values_dropped(f"{field}.{key}", value, now, keys=keys, deep=deep - 1)
            elif now is None and not keys and isinstance(value, list) and value:
                yield Dropped(f"{field}.{key}", len(value), tuple(map(_called, value)))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items_dropped(field, old, new)
        after = {_called(one): one for one in new if isinstance(one, dict)}
        for one in old if deep else ():
            if isinstance(one, dict) and (name := _called(one)) in after:
                yield from values_dropped(
                    f"{field}[{name}]", one, after[name], keys=keys, deep=deep - 1
                )


def _items_dropped(field: str, old: list[Json], new: list[Json]) -> list[Dropped]:
    """Return which items of a list are gone.

    Of items without a name only so many are gone as there are fewer of them: who changes one
    writes another text and drops nothing.
    """
    had, has = Counter(map(_called, old)), Counter(map(_called, new))
    gone = list((had - has).elements())
    nameless = {_called(one) for one in old if isinstance(one, dict) and not _name(one)}
    fewer = max(0, sum(map(_is_nameless, old)) - sum(map(_is_nameless, new)))
    lost = [one for one in gone if one not in nameless]
    lost += [one for one in gone if one in nameless][:fewer]
    return [Dropped(field, len(old), tuple(lost))] if lost else []


def _is_nameless(item: Json) -> bool:
    return isinstance(item, dict) and not _name(item)


def _called(item: Json) -> str:
    """Return what an item of a list is known by: a name, or all that it says."""
    if isinstance(item, str):
        return _short(item)
    name = _name(item) if isinstance(item, dict) else ""
    return _short(name or msgspec.json.encode(item, order="sorted").decode())


def _name(item: Mapping[str, Json]) -> str:
    for field in NAMED_BY:
        name = item.get(field)
        if isinstance(name, str) and name:
            return name
    return ""


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield what each line of a text is known by, and how many blanks it begins with.

    Lines that are blank, comments or brackets alone are no entries. A line `key: value`,
    `key = value` or `word more` is known by its first word; an item of a list, `- x`, has no name
    and is known by itself.
    """
    for line in text.splitlines():
        said = line.strip()
        if not said or said[0] in "#;" or said.startswith("//") or not any(map(str.isalnum, said)):
            continue
        depth = len(line) - len(line.lstrip())
        if said.startswith("- "):
            yield said, depth
            continue
        word = said.split(None, 1)[0]
        yield word.split("=", 1)[0].rstrip(":") or said, depth


def _json(text: str) -> Json | None:
    """Return a text as JSON; None where it is none, or a mere word or number."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        found: Json = msgspec.json.decode(text)
    except UNREADABLE:
        return None
    return found


def _short(text: str) -> str:
    return text if len(text) <= NAME else f"{text[: NAME - 1]}…"
