"""YAML text -> documents that know their lines: Suture's own kinds, scenarios, any manifest.

YAML 1.1 as kubectl reads it (`no` is false, `0644` is octal), with three differences that are
meant: a mapping key is always the text as written (so the key `n` is "n", and not "false"), a
date is text, and a key given twice is an error. Pure; bounded in size, depth and aliases.
Source: the scalar rules are those of the Go reader behind kubectl (sigs.k8s.io/yaml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from suture.errors import DocumentError
from suture.model.documents import Document, Mark

MAX_BYTES = 16 * 1024 * 1024
"""LIMIT: one file: the 2,000 manifests of a large scenario are 8 MiB; more is a mistake."""
MAX_DEPTH = 100
"""LIMIT: nesting; the schemas inside CustomResourceDefinitions reach about 60."""
MAX_ALIASED = 100_000
"""LIMIT: values that aliases may repeat in one file; an honest file repeats a few hundred, a
"billion laughs" file passes this in its fifth line."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_SPECIAL = {
    sign + word: float(f"{sign}inf") for word in (".inf", ".Inf", ".INF") for sign in ("", "+", "-")
} | {word: float("nan") for word in (".nan", ".NaN", ".NAN")}
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0b(?P<two>[01_]+)|0x(?P<sixteen>[0-9a-fA-F_]+)|0o?(?P<eight>[0-7_]+)"
    r"|(?P<ten>0|[1-9][0-9_]*))\Z"
)
_BASES = {"two": 2, "eight": 8, "ten": 10, "sixteen": 16}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_TAG = "tag:yaml.org,2002:"
_BORDER = re.compile(r"^(?=---(?:\s|\Z))", re.MULTILINE)
"""Before each document but the first: `---` at the beginning of a line stands in no other place."""
_COLLECTION_TAGS = (None, "!", f"{_TAG}map", f"{_TAG}seq")


def read_documents(text: str | bytes, source: str) -> list[Document]:
    """Return the documents of a file in their order; empty ones (`---` alone) are left out.

    `source` is what errors call the file. Errors: DocumentError with line, for anything that is
    not YAML, is not UTF-8, or passes a bound.
    """
    return _Reader(source, _decode(text, source)).documents()


def read_each(text: str | bytes, source: str) -> Iterator[Document | DocumentError]:
    """Yield the documents of a file, and in place of those that cannot be read what is wrong.

    A file that is sound reads as by `read_documents`; of another each part from one `---` to the
    next is read for itself.
    """
    try:
        decoded = _decode(text, source)
    except DocumentError as error:
        yield error
        return
    try:
        whole = _Reader(source, decoded).documents()
    except DocumentError:
        yield from _parts(decoded, source)
    else:
        yield from whole


def _parts(text: str, source: str) -> Iterator[Document | DocumentError]:
    lines = aliased = 0
    for part in _BORDER.split(text):
        reader = _Reader(source, part, lines=lines, aliased=aliased)
        try:
            yield from reader.documents()
        except DocumentError as error:
            yield error
        lines += part.count("\n")
        aliased = reader.aliased


def _decode(text: str | bytes, source: str) -> str:
    size = len(text)
    if size > MAX_BYTES:
        raise DocumentError(source, None, "", f"is too large: {size} bytes, at most {MAX_BYTES}")
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise DocumentError(source, line, "", "is not UTF-8 text") from None


def _problem(error: yaml.MarkedYAMLError) -> str:
    said = ", ".join(part for part in (error.context, error.problem) if part)
    if "that cannot start any token" in said:
        said += "; a tab cannot indent, and text that starts so must be quoted"
    return f"is not YAML: {said}"


@dataclass(slots=True)
class _Node:
    """A value, where it stands, and how many values it holds, itself included."""

    value: object
    mark: Mark
    size: int


class _Reader:
    """One pass over a file's events, which builds values and marks side by side.

    Of a part of a file: `lines` are those before it, `aliased` the values that they repeat.
    """

    def __init__(self, source: str, text: str, *, lines: int = 0, aliased: int = 0) -> None:
        self._source = source
        self._text = text
        self._lines = lines
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, _Node] = {}
        self.aliased = aliased

    def documents(self) -> list[Document]:
        """Return the documents of the stream. Errors: DocumentError."""
        try:
            return [
                Document(self._source, node.value, node.mark)
                for node in self._nodes()
                if node.value is not None
            ]
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = None if mark is None else self._lines + mark.line + 1
            raise DocumentError(self._source, line, "", _problem(error)) from None
        except yaml.reader.ReaderError as error:
            line = self._lines + self._text.count("\n", 0, max(0, error.position)) + 1
            problem = f"holds a bad character: {error.reason}"
            raise DocumentError(self._source, line, "", problem) from None

    def _nodes(self) -> Iterator[_Node]:
        """Build each document of the stream."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                yield self._node(next(self._events), depth=0)

    def _line(self, event: yaml.Event) -> int:
        mark = event.start_mark
        return self._lines + (mark.line + 1 if mark is not None else 1)

    def _fail(self, event: yaml.Event, problem: str) -> DocumentError:
        return DocumentError(self._source, self._line(event), "", problem)

    def _node(self, event: yaml.Event, depth: int) -> _Node:
        if depth > MAX_DEPTH:
            raise self._fail(event, f"is nested more than {MAX_DEPTH} deep")
        match event:
            case yaml.AliasEvent():
                return self._alias(event)
            case yaml.ScalarEvent():
                node = self._scalar(event)
            case yaml.CollectionStartEvent() if event.tag not in _COLLECTION_TAGS:
                raise self._fail(event, f"tag `{event.tag}` is not read; leave it out")
            case yaml.SequenceStartEvent():
                node = self._sequence(event, depth)
            case yaml.MappingStartEvent():
                node = self._mapping(event, depth)
            case _:
                raise self._fail(event, "is not YAML: a value is missing")
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: yaml.AliasEvent) -> _Node:
        node = self._anchors.get(str(event.anchor))
        if node is None:
            raise self._fail(event, f"alias `*{event.anchor}` names nothing before it")
        self.aliased += node.size
        if self.aliased > MAX_ALIASED:
            raise self._fail(event, f"repeats more than {MAX_ALIASED} values by aliases")
        return node

    def _scalar(self, event: yaml.ScalarEvent) -> _Node:
        line = self._line(event)
        mark = Mark(line, line, literal=event.style == "|")
        if event.tag is None or event.tag == "!":
            plain = event.implicit[0]
            return _Node(_resolve(event.value) if plain else event.value, mark, 1)
        return _Node(self._tagged(event), mark, 1)

    def _tagged(self, event: yaml.ScalarEvent) -> object:
        name = str(event.tag).removeprefix(_TAG)
        if name in ("str", "binary"):
            return event.value
        value = _resolve(event.value)
        if name == "float" and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}.get(name)
        if wanted is None:
            raise self._fail(event, f"tag `{event.tag}` is not read; leave it out")
        if type(value) is not wanted:
            raise self._fail(event, f"`{event.value}` is no `!!{name}`")
        return value

    def _sequence(self, event: yaml.SequenceStartEvent, depth: int) -> _Node:
        line = self._line(event)
        values: list[object] = []
        marks: list[Mark] = []
        size = 1
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            node = self._node(item, depth + 1)
            # WHY: an item is pointed at where it is used, not where its anchor stands.
            values.append(node.value)
            marks.append(_moved(node.mark, self._line(item)))
            size += node.size
        return _Node(values, Mark(line, line, items=tuple(marks)), size)

    def _mapping(self, event: yaml.MappingStartEvent, depth: int) -> _Node:
        line = self._line(event)
        values: dict[str, object] = {}
        marks: dict[str, Mark] = {}
        merged: list[_Node] = []
        size = 1
        while not isinstance(start := next(self._events), yaml.MappingEndEvent):
            key = self._key(start)
            node = self._node(next(self._events), depth + 1)
            size += node.size + 1
            if key == "<<" and isinstance(start, yaml.ScalarEvent) and start.implicit[0]:
                merged.extend(self._merged(start, node))
                continue
            if key in values:
                first = marks[key].line
                raise self._fail(start, f"key `{key}` is given twice; first on line {first}")
            values[key] = node.value
            marks[key] = _moved(node.mark, self._line(start))
        for node in merged:
            if isinstance(node.value, dict):
                # WHY first: what is written here, and an earlier merge, wins over a later merge.
                values = node.value | values
                marks = dict(node.mark.fields or {}) | marks
        return _Node(values, Mark(line, line, fields=marks), size)

    def _key(self, event: yaml.Event) -> str:
        if isinstance(event, yaml.ScalarEvent):
            return str(event.value)
        if isinstance(event, yaml.AliasEvent):
            node = self._alias(event)
            if isinstance(node.value, str):
                return node.value
        raise self._fail(event, "a key must be plain text")

    def _merged(self, event: yaml.Event, node: _Node) -> list[_Node]:
        """Return the mappings that `<<` merges, the strongest first."""
        if isinstance(node.value, dict):
            return [node]
        if isinstance(node.value, list) and all(isinstance(item, dict) for item in node.value):
            pairs = zip(node.value, node.mark.items, strict=True)
            return [_Node(value, mark, 1) for value, mark in pairs]
        raise self._fail(event, "`<<` can merge mappings only")


def _moved(mark: Mark, line: int) -> Mark:
    """Return `mark` as seen from the key or dash that it hangs on."""
    if mark.line == line:
        return mark
    return Mark(line, mark.value_line, mark.literal, mark.fields, mark.items)


def _resolve(text: str) -> object:
    """Return what a plain scalar means."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _SPECIAL:
        return _SPECIAL[text]
    first = text[0]
    if first.isdigit() or first in "+-.":
        return _number(text)
    return text


def _number(text: str) -> int | float | str:
    # WHY 40: no integer of an API is longer, and reading a very long one is quadratic work.
    found = _INTEGER.match(text) if len(text) <= 40 else None
    if found is not None:
        for name, base in _BASES.items():
            digits = (found[name] or "").replace("_", "")
            if digits:
                return int(found["sign"] + digits, base)
    return float(text) if _FLOAT.match(text) else text
