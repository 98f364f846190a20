"""Manifests and `kubectl get -o json` output: text to the objects in it, each with its place.

Here because it is parsing. Nothing is lost silently: what is no object comes out too, as what is
wrong with it and where. Which type a kind is, and what becomes of it, is others' business. Pure.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from mmap import mmap

import msgspec

from suture.errors import DocumentError
from suture.model.documents import Document, Path, field_text, read_as
from suture.wire.trim import UNREADABLE
from suture.wire.yaml import read_documents

_AT_BYTE = re.compile(r" \(byte (\d+)\)\Z")
_LIST = "List"
_LOOK_BYTES = 4096
_BLANK = b" \t\r\n"


class HeadMeta(msgspec.Struct, frozen=True, gc=False):
    """Metadata that tells one object from another; labels are read to see that they are text."""

    name: str
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None


class Head(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What every object must say of itself."""

    api_version: str
    kind: str
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
    try:
        documents = read_documents(text, source)
    except DocumentError as error:
        yield error
        return
    for document in documents:
        yield from _pieces(document, ())


def _pieces(document: Document, path: Path) -> Iterator[Piece]:
    """Yield the object at `path`, or the items of the list there."""
    value = document.at(path)
    if isinstance(value, dict) and "items" in value and _is_list(str(value.get("kind") or "")):
        items = value["items"] or []
        if not isinstance(items, list):
            yield document.error((*path, "items"), "is no list of objects")
            return
        if not items:
            yield from _empty(str(value.get("apiVersion") or ""), str(value.get("kind") or ""))
        for number in range(len(items)):
            yield from _pieces(document, (*path, "items", number))
        return
    try:
        head = read_as(document, Head, path)
        place = f"{document.source}:{document.line(path)}"
        yield Found(head, msgspec.json.encode(value), place)
    except DocumentError as error:
        yield error


def _empty(api_version: str, kind: str) -> Iterator[Empty]:
    """Yield what an empty list says; a plain `List` says nothing."""
    if kind.endswith(_LIST) and kind != _LIST and api_version:
        yield Empty(api_version, kind.removesuffix(_LIST))


# ---- JSON


class _Json:
    """One text of JSON."""

    def __init__(self, text: Text, source: str) -> None:
        self._text = text
        self._source = source
        self._seen_bytes = 0
        self._seen_lines = 1

    def pieces(self) -> Iterator[Piece]:
        """Yield what it holds: one document, an array of them, or one a line."""
        try:
            begin = self._text[:_LOOK_BYTES].lstrip(_BLANK)[:1]
            if begin == b"[":
                raws = _raws_decoder.decode(self._text)
            else:
                try:
                    raws = [_raw_decoder.decode(self._text)]
                except msgspec.DecodeError as error:
                    if "trailing characters" not in str(error):
                        raise
                    raws = _raw_decoder.decode_lines(self._text)
        except UNREADABLE as error:
            yield self._unreadable(error)
            return
        for number, raw in enumerate(raws):
            yield from self._document(raw, (number,) if len(raws) > 1 else ())

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
        line = self._line(raw)
        try:
            value = _any_decoder.decode(body)
            read_as(Document(self._source, value), Head)
        except DocumentError as error:
            field = ".".join(part for part in (field_text(path), error.field) if part)
            return DocumentError(self._source, line, field, error.problem)
        except UNREADABLE as error:
            return DocumentError(self._source, line, field_text(path), f"is not JSON: {error}")
        return DocumentError(self._source, line, field_text(path), "is no object")

    def _unreadable(self, error: Exception) -> DocumentError:
        found = _AT_BYTE.search(str(error))
        if found is None:
            problem = "it ends too early" if "truncated" in str(error) else str(error)
            return DocumentError(self._source, None, "", f"is not JSON: {problem}")
        line = self._text[: int(found[1])].count(b"\n") + 1
        problem = _AT_BYTE.sub("", str(error))
        return DocumentError(self._source, line, "", f"is not JSON: {problem}")

    def _line(self, raw: msgspec.Raw) -> int:
        """Return the line in which a part begins; parts are asked for in their order."""
        at = self._text.find(bytes(raw), self._seen_bytes)
        self._seen_lines += self._text[self._seen_bytes : at].count(b"\n")
        self._seen_bytes = at
        return self._seen_lines


def _named(item: msgspec.Raw, kind: Empty) -> bytes | msgspec.Raw:
    """Return an item of a list of one kind, with the kind that the list says.

    WHY: the items of a `PodList`, as the API server writes it, do not say that they are Pods.
    """
    try:
        fields = _fields_decoder.decode(item)
    except UNREADABLE:
        return item
    if "kind" in fields and "apiVersion" in fields:
        return item
    told = {"apiVersion": kind.api_version, "kind": kind.kind}
    return msgspec.json.encode({**told, **fields})
