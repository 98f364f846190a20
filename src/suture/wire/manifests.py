"""Manifests and `kubectl get -o json` output: text to the objects in it, each with its place.

Here because it is parsing. Nothing is lost silently: what is no object comes out too, as what is
wrong with it and where. Which type a kind is, and what becomes of it, is others' business. Pure.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from mmap import mmap
from typing import Annotated

import msgspec

from suture.errors import DocumentError
from suture.model.documents import Document, Path, field_text, read_as
from suture.wire.mend import mended
from suture.wire.oddities import UNREADABLE
from suture.wire.yaml import read_each

_AT_BYTE = re.compile(r" \(byte (\d+)\)\Z")
_LINES = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\S")
"""How JSON lines begin: with one document in a line, and something in another."""
_TOLD = {"apiVersion", "kind"}
"""What the items of a `PodList` lack, as the API server writes it: to say what they are."""
_LIST = "List"
_LOOK_BYTES = 4096
_BLANK = b" \t\r\n"


_Word = Annotated[str, msgspec.Meta(min_length=1)]


class HeadMeta(msgspec.Struct, frozen=True, gc=False):
    """Metadata that tells one object from another; labels are read to see that they are text."""

    name: _Word
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None


class Head(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What every object must say of itself."""

    api_version: _Word
    kind: _Word
    metadata: HeadMeta


class Found(msgspec.Struct, frozen=True, gc=False):
    """One object of a text: its head, its JSON whole, and where it stands."""

    head: Head
    body: bytes | msgspec.Raw
    place: str


class Empty(msgspec.Struct, frozen=True, gc=False):
    """A list of one kind with nothing in it: it says that there are none."""

    api_version: str
    kind: str


class LostError(DocumentError):
    """Text that cannot be read, or an object that says its kind and no more that can be kept.

    So something is there that nobody knows: of that kind, or of any where none is said.
    """

    def __init__(
        self, source: str, line: int | None, field: str, problem: str, kind: Empty | None = None
    ) -> None:
        super().__init__(source, line, field, problem)
        self.kind = kind

    @classmethod
    def of(cls, error: DocumentError, value: object) -> DocumentError:
        """Return the error of a value that is no object, a lost one where it says its kind."""
        if not isinstance(value, dict):
            return error
        version, kind = (str(value.get(field) or "") for field in ("apiVersion", "kind"))
        if not kind or not (version or kind.endswith(_LIST)):
            return error
        lost = None if kind.endswith(_LIST) else Empty(version, kind)
        return cls(error.source, error.line, error.field, error.problem, lost)


Text = bytes | mmap
"""What is read; a mapped file may be larger than memory."""

Piece = Found | Empty | DocumentError
"""What a text is made of; an error stands for a document that is no object."""


class _Top(msgspec.Struct, rename={"api_version": "apiVersion"}, gc=False):
    """One document of JSON; where `items` are, it is a list."""

    api_version: str = ""
    kind: str = ""
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


_top_decoder = msgspec.json.Decoder(_Top)
_raw_decoder = msgspec.json.Decoder(msgspec.Raw)
_raws_decoder = msgspec.json.Decoder(list[msgspec.Raw])
_head_decoder = msgspec.json.Decoder(Head)
_fields_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
# WHY a float hook: numbers past a double's range are JSON too, and are not read here.
_any_decoder = msgspec.json.Decoder(float_hook=float)


def read_manifests(text: Text, source: str) -> Iterator[Piece]:
    """Yield what a file holds: YAML documents, JSON, JSON lines, or lists of objects in these.

    `source` is what places call the file. JSON is never copied whole.
    """
    if text[: len(BOM_UTF8)] == BOM_UTF8:
        text = text[len(BOM_UTF8) :]
    if text[:_LOOK_BYTES].lstrip(_BLANK)[:1] in {b"{", b"["}:
        return _Json(text, source).pieces()
    return _yaml(text[:], source)


def _is_list(kind: str) -> bool:
    """Whether a document with `items` is a list of objects, and no object of a kind with items."""
    return not kind or kind.endswith(_LIST)


# ---- YAML


def _yaml(text: bytes, source: str) -> Iterator[Piece]:
    for document in read_each(text, source):
        if isinstance(document, DocumentError):
            yield LostError(document.source, document.line, document.field, document.problem)
        else:
            yield from _documents(document)


def _documents(document: Document) -> Iterator[Piece]:
    """Yield what one document holds: an array of objects, or one."""
    if not isinstance(document.value, list):
        yield from _pieces(document, ())
        return
    for number in range(len(document.value)):
        yield from _pieces(document, (number,))


def _pieces(document: Document, path: Path, within: Empty | None = None) -> Iterator[Piece]:
    """Yield an object, or the items of a list; `within` is the list of one kind it is in."""
    value = document.at(path)
    if isinstance(value, dict) and "items" in value and _is_list(str(value.get("kind") or "")):
        yield from _items(document, path, value)
        return
    if isinstance(value, dict) and within is not None and not value.keys() >= _TOLD:
        value |= {"apiVersion": within.api_version, "kind": within.kind, **value}
    try:
        head = read_as(document, Head, path)
        place = f"{document.source}:{document.line(path)}"
        yield Found(head, msgspec.json.encode(value), place)
    except DocumentError as error:
        yield LostError.of(error, value)


def _items(document: Document, path: Path, value: dict[str, object]) -> Iterator[Piece]:
    """Yield the items of a list, or that there are none of its kind."""
    items = value["items"] or []
    if not isinstance(items, list):
        yield LostError.of(document.error((*path, "items"), "is no list of objects"), value)
        return
    kind = next(_empty(str(value.get("apiVersion") or ""), str(value.get("kind") or "")), None)
    if not items and kind is not None:
        yield kind
    for number in range(len(items)):
        yield from _pieces(document, (*path, "items", number), kind)


def _empty(api_version: str, kind: str) -> Iterator[Empty]:
    """Yield what an empty list says; a plain `List` says nothing."""
    if kind.endswith(_LIST) and kind != _LIST and api_version:
        yield Empty(api_version, kind.removesuffix(_LIST))


# ---- JSON


class _Json:
    """One text of JSON, or the line of one at `path`, with `lines` before it."""

    def __init__(self, text: Text, source: str, path: Path = (), lines: int = 0) -> None:
        self._text = text
        self._source = source
        self._path = path
        self._lines = lines
        self._seen_bytes = 0
        self._seen_lines = lines + 1

    def pieces(self) -> Iterator[Piece]:
        """Yield what it holds: one document, an array of them, or one a line."""
        try:
            raws = self._raws()
        except RecursionError:
            # WHY: as with what a cluster lists, the one odd object must not hide its neighbours.
            self._text = mended(self._text[:])
            yield from self.pieces()
            return
        except UNREADABLE as error:
            if _LINES.match(self._text):
                yield from self._each_line()
            else:
                yield self._unreadable(error)
            return
        for number, raw in enumerate(raws):
            yield from self._document(raw, (*self._path, number) if len(raws) > 1 else self._path)

    def _raws(self) -> list[msgspec.Raw]:
        """Return the documents, unread. Errors: UNREADABLE, of any of them."""
        if self._text[:_LOOK_BYTES].lstrip(_BLANK)[:1] == b"[":
            return _raws_decoder.decode(self._text)
        try:
            return [_raw_decoder.decode(self._text)]
        except msgspec.DecodeError as error:
            if "trailing characters" not in str(error):
                raise
            return _raw_decoder.decode_lines(self._text)

    def _each_line(self) -> Iterator[Piece]:
        """Yield what each line holds, where another of them is bad."""
        for number, line in enumerate(self._text[:].split(b"\n")):
            if line.strip(_BLANK):
                yield from _Json(line, self._source, (number,), number).pieces()

    def _document(
        self, raw: msgspec.Raw, path: Path, within: Empty | None = None
    ) -> Iterator[Piece]:
        """Yield an object, or the items of a list; `within` is the list of one kind it is in."""
        body = raw if within is None else _named(raw, within)
        try:
            head = _head_decoder.decode(body)
        except UNREADABLE:
            yield from self._no_head(body, raw, path)
            return
        at = field_text(path)
        yield Found(head, body, f"{self._source} {at}" if at else self._source)

    def _no_head(self, body: bytes | msgspec.Raw, raw: msgspec.Raw, path: Path) -> Iterator[Piece]:
        """Yield the items of what is a list, and else what is wrong with it."""
        try:
            top = _top_decoder.decode(raw)
        except UNREADABLE:
            top = _Top()
        items = top.items
        if items is msgspec.UNSET or not _is_list(top.kind):
            yield self._no_object(body, raw, path)
            return
        kind = next(_empty(top.api_version, top.kind), None)
        if not items and kind is not None:
            yield kind
        for number, item in enumerate(items or ()):
            yield from self._document(item, (*path, "items", number), kind)

    def _no_object(self, body: bytes | msgspec.Raw, raw: msgspec.Raw, path: Path) -> DocumentError:
        """Return what is wrong with a document, by field, and in which line it begins."""
        line, value = self._line(raw), None
        try:
            value = _any_decoder.decode(body)
            read_as(Document(self._source, value), Head)
        except DocumentError as error:
            field = ".".join(part for part in (field_text(path), error.field) if part)
            return LostError.of(DocumentError(self._source, line, field, error.problem), value)
        except UNREADABLE as error:
            return LostError(self._source, line, field_text(path), f"is not JSON: {error}")
        return DocumentError(self._source, line, field_text(path), "is no object")

    def _unreadable(self, error: Exception) -> DocumentError:
        found = _AT_BYTE.search(str(error))
        if found is None:
            line = self._lines + 1 if self._path else None
            problem = "it ends too early" if "truncated" in str(error) else str(error)
        else:
            line = self._lines + self._text[: int(found[1])].count(b"\n") + 1
            problem = _AT_BYTE.sub("", str(error))
        return LostError(self._source, line, "", f"is not JSON: {problem}")

    def _line(self, raw: msgspec.Raw) -> int:
        """Return the line in which a part begins; parts are asked for in their order."""
        at = self._text.find(bytes(raw), self._seen_bytes)
        self._seen_lines += self._text[self._seen_bytes : at].count(b"\n")
        self._seen_bytes = at
        return self._seen_lines


def _named(item: msgspec.Raw, kind: Empty) -> bytes | msgspec.Raw:
    """Return an item of a list of one kind, with the kind that the list says."""
    try:
        fields = _fields_decoder.decode(item)
    except UNREADABLE:
        return item
    if fields.keys() >= _TOLD:
        return item
    told = {"apiVersion": kind.api_version, "kind": kind.kind}
    return msgspec.json.encode({**told, **fields})
