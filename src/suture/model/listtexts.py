"""What a text says that is a list, in whichever of its ways it is written.

Beside `entries`, which compares two texts line by line. Two tools write the same list otherwise:
keys in another order, texts in quotes or not, lists in lines or in brackets. Compared by line all
of it would be gone; what it says are its values. Pure, and no parser: it reads as much as tells
values from keys, and of what it cannot read it takes whole lines. WHY no YAML reader: on the way of
a review it takes 9 KB three times as long, and what an alias repeats has no bound in it.
Source: YAML 1.2, block and flow styles; JSON, which is one of them.
"""

from __future__ import annotations

import re
from typing import Final

_KEY: Final = re.compile(r"""(?:"[^"]*"|'[^']*'|[\w./-]+)\s*:(?:\s+|$)""")
_FLOW: Final = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,\[\]{}"':][^,\[\]{}"':]*(?::(?=\S)[^,\[\]{}"':]+)*)\s*(:?)"""
)
"""A text in quotes or without, inside brackets, and whether it is a key."""


def values_listed(text: str) -> list[str] | None:
    """Return the values of a text that is a list, items and what their fields say; None of others.

    A list without items has none. Comments are no values.
    """
    begins = next((line.strip() for line in text.splitlines() if _says(line)), "")
    if begins[:1] in {"[", "{"}:
        return _in_brackets(text) if begins[0] == "[" else None
    if begins[:2] != "- " and begins != "-":
        return None
    return [value for line in text.splitlines() if _says(line) for value in _of_line(line.strip())]


def _says(line: str) -> bool:
    said = line.strip()
    return bool(said) and said[0] != "#" and said not in {"---", "..."}


def _of_line(said: str) -> list[str]:
    while said[:2] == "- ":
        said = said[2:].lstrip()
    key = _KEY.match(said)
    value = said[key.end() :] if key is not None else said
    if value[:1] in {"[", "{"}:
        return _in_brackets(value)
    if value[:1] in {'"', "'"} and (end := value.find(value[0], 1)) > 0:
        return [value[1:end]]
    plain = value.partition(" #")[0].strip()
    return [] if plain in {"", "-", "|", ">", "|-", ">-"} else [plain]


def _in_brackets(text: str) -> list[str]:
    found = [
        token[1:-1] if token[0] in "\"'" else token.strip()
        for token, colon in _FLOW.findall(text)
        if not colon
    ]
    return [value for value in found if value]
