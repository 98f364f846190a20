"""Documents that people write (policies, profiles, scenarios), with the line of every field kept.

Values and a search over them, pure: `wire.yaml` makes them of text. What is wrong in a document is
always said with its source, its line and its field, wherever it is found out.
"""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from suture.errors import DocumentError

Path = tuple[str | int, ...]
"""The way to a field: `("spec", "claims", 0, "amount")`; the empty tuple is the whole document."""

T = TypeVar("T")

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*\Z")
_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d+|\.\.\.)\]")
_AT = re.compile(r"^(?P<problem>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?$", re.DOTALL)
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`\Z")
_MISSING_FIELD = re.compile(r"Object missing required field `(.*)`\Z")
_EMPTY = "Expected `str` of length >= 1"
_BAD_ENUM = re.compile(r"Invalid enum value (.*)\Z")


class Mark(msgspec.Struct, frozen=True):
    """Where a value stands: the line of its key, the line of the value itself, and its parts'.

    `literal`: a block scalar (`|`), whose text starts on the line after `value_line` and keeps its
    line breaks, so that line 3 of the text can be pointed at.
    """

    line: int
    value_line: int
    literal: bool = False
    fields: Mapping[str, Mark] | None = None
    items: Sequence[Mark] = ()


class Document(msgspec.Struct, frozen=True):
    """One parsed document: plain Python in `value`, and where each part of it was written.

    `marks` None: it did not come from text (an object of the cluster), and has no lines.
    """

    source: str
    value: object
    marks: Mark | None = None

    def line(self, path: Path = ()) -> int | None:
        """Return the line of a field, or of its nearest parent that exists; counted from 1."""
        mark = self._mark(path)
        return mark.line if mark is not None else None

    def line_of_text(self, path: Path, line: int) -> int | None:
        """Return the line in the source of line `line` (from 1) of the text at `path`.

        Exact for a literal block; the value's own line for text that was folded or quoted.
        """
        mark = self._mark(path)
        if mark is None:
            return None
        return mark.value_line + line if mark.literal else mark.value_line

    def at(self, path: Path) -> object:
        """Return the value at `path`; None where there is none."""
        value = self.value
        for step in path:
            if isinstance(step, int):
                known = isinstance(value, list) and step < len(value)
                value = value[step] if known and isinstance(value, list) else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        return value

    def error(self, path: Path, problem: str, *, text_line: int | None = None) -> DocumentError:
        """Return the error that says `problem` of the field at `path`, for the caller to raise."""
        line = self.line(path) if text_line is None else self.line_of_text(path, text_line)
        return DocumentError(self.source, line, field_text(path), problem)

    def _mark(self, path: Path) -> Mark | None:
        mark = self.marks
        for step in path:
            if mark is None:
                return None
            below: Mark | None = None
            if isinstance(step, str):
                below = mark.fields.get(step) if mark.fields is not None else None
            elif 0 <= step < len(mark.items):
                below = mark.items[step]
            if below is None:
                return mark
            mark = below
        return mark


def field_text(path: Path) -> str:
    """Write a path as people do: `spec.claims[0].amount`; odd keys are quoted in brackets."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.match(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f'["{step}"]')
    return "".join(parts)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...` for the nearest known word, `; known: ...` for a few, or nothing.

    Made to be put at the end of a problem's text.
    """
    words = sorted(set(known))
    close = difflib.get_close_matches(word.lower(), [w.lower() for w in words], n=1, cutoff=0.6)
    if close:
        match = next(w for w in words if w.lower() == close[0])
        return f"; did you mean `{match}`"
    # LIMIT: eight words still fit into one line of a terminal.
    return f"; known: {', '.join(words)}" if 0 < len(words) <= 8 else ""


def read_as(document: Document, wanted: type[T], path: Path = ()) -> T:
    """Return the part of a document at `path` as a `wanted` (a msgspec Struct, mostly).

    Nothing is coerced: a number is not text. Unknown fields are errors where the Struct is
    declared with `forbid_unknown_fields=True`, as every Struct of a document should be.
    Errors: DocumentError, with line, field, and the nearest known word.
    """
    value = document.at(path)
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        raise _located(document, path, value, wanted, error) from None


def _located(
    document: Document, path: Path, value: object, wanted: object, error: Exception
) -> DocumentError:
    """Turn msgspec's words (`Expected ... - at $.a[0]`) into an error at a line."""
    found = _AT.match(str(error))
    problem, below = (str(error), "") if found is None else (found["problem"], found["path"] or "")
    steps = _steps(below, value, wanted)
    if found is not None and found["key"]:
        problem = f"a key is wrong: {_lower(problem)}"
    kind = _type_at(wanted, steps)
    unknown, missing = _UNKNOWN_FIELD.match(problem), _MISSING_FIELD.match(problem)
    if unknown is not None:
        name = unknown[1]
        hint = did_you_mean(name, _field_names(kind))
        return document.error((*path, *steps, name), f"is not a known field{hint}")
    if missing is not None:
        return document.error((*path, *steps), f"lacks the field `{missing[1]}`")
    if problem == _EMPTY:
        return document.error((*path, *steps), "must not be empty")
    bad = _BAD_ENUM.match(problem)
    if bad is not None:
        given = bad[1].strip("'\"")
        hint = did_you_mean(given, _enum_values(kind))
        return document.error((*path, *steps), f"cannot be `{given}`{hint}")
    return document.error((*path, *steps), _lower(problem))


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _steps(text: str, value: object, wanted: object) -> Path:
    """Read msgspec's path; `[...]`, an entry of a map, is searched for by trying each entry."""
    steps: list[str | int] = []
    for name, index in _STEP.findall(text):
        if name:
            steps.append(name)
        elif index != "...":
            steps.append(int(index))
        else:
            key = _failing_key(_value_at(value, steps), _type_at(wanted, steps))
            if key is None:
                break
            steps.append(key)
    return tuple(steps)


def _value_at(value: object, steps: Sequence[str | int]) -> object:
    return Document("", value).at(tuple(steps))


def _failing_key(value: object, kinds: Collection[object]) -> str | None:
    if not isinstance(value, dict):
        return None
    for kind in kinds:
        if typing.get_origin(kind) not in (dict, Mapping):
            continue
        entry_kind = typing.get_args(kind)[1]
        for key, entry in value.items():
            try:
                msgspec.convert(entry, entry_kind)
            except msgspec.ValidationError:
                return str(key)
    return None


def _type_at(wanted: object, steps: Sequence[str | int]) -> list[object]:
    """Return the types that the declaration allows at `steps`, unions taken apart."""
    kinds = _arms(wanted)
    for step in steps:
        below: list[object] = []
        for kind in kinds:
            below.extend(_below(kind, step))
        kinds = below
    return kinds


def _below(kind: object, step: str | int) -> list[object]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        return [arm for field in fields if field.encode_name == step for arm in _arms(field.type)]
    arguments = typing.get_args(kind)
    if not arguments:
        return []
    entry = arguments[1] if typing.get_origin(kind) in (dict, Mapping) else arguments[0]
    return _arms(entry)


def _arms(kind: object) -> list[object]:
    origin = typing.get_origin(kind)
    if origin is typing.Union or isinstance(kind, types.UnionType):
        return [arm for part in typing.get_args(kind) for arm in _arms(part)]
    if origin is typing.Annotated:
        return _arms(typing.get_args(kind)[0])
    return [kind]


def _field_names(kinds: Iterable[object]) -> list[str]:
    return [
        field.encode_name
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
        for field in msgspec.structs.fields(kind)
    ]


def _enum_values(kinds: Iterable[object]) -> list[str]:
    values: list[str] = []
    for kind in kinds:
        if typing.get_origin(kind) is typing.Literal:
            values.extend(map(str, typing.get_args(kind)))
        elif isinstance(kind, type) and hasattr(kind, "__members__"):
            values.extend(str(member.value) for member in kind.__members__.values())
    return values
