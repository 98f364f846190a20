"""One type as a replay server holds it: pages on disk, and what changed since they were written.

Knows no HTTP. Whoever calls holds the store's lock where it says so; pages are read without it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from suture.lab.clusters.pages import (
    PAGE_ITEMS,
    Listed,
    key_of,
    partial_of,
    type_prefix,
)

HISTORY = 100_000
"""LIMIT: changes of a type that a watch may resume from, and at most twice as many are kept: five
seconds of 5,000 new pods a second, each of them five events; 400 bytes each, 80 MB."""

SEPARATOR = b",\n"


Text = bytes | memoryview

Made = Callable[[], bytes]
"""An object with its type, written when it is asked for."""

Key = tuple[str, str]
"""Namespace and name."""


class Change(NamedTuple):
    """One event: an object with its type, as it is outside of lists, made when it is sent."""

    version: int
    type: bytes
    made: Made


class Shelf:
    """Everything of one type."""

    def __init__(self, folder: Path, listed: Listed, version: int, lock: RLock) -> None:
        self.listed = listed
        self.history: list[Change] = []
        self.forgotten = 0
        """How many changes are in the history no more."""
        self.oldest = version
        """The oldest version that a watch can resume from."""
        self.changed: dict[int, dict[int, bytes | None]] = {}
        """Objects of the pages that are otherwise now, or gone, by page and line."""
        self.added: dict[Key, Made] = {}
        """Objects that came since."""
        self.count = listed.count
        self._lock = lock
        self._folder = folder
        self._type = type_prefix(listed.gvk)
        self._bare = not listed.custom

    # ---- what there is

    def pages(self, added: Sequence[Made]) -> int:
        """Return how many parts a list has that begins when `added` is what came since."""
        return self.listed.pages + -(-len(added) // PAGE_ITEMS)

    def raw(self, page: int, added: Sequence[Made], *, partial: bool) -> bytes | memoryview:
        """Return the items of a page as they are sent in a list."""
        if page >= self.listed.pages or page in self.changed:
            return SEPARATOR.join(self.items(page, added, partial=partial))
        return _between(self._read(page, partial=partial))

    def items(self, page: int, added: Sequence[Made], *, partial: bool) -> Sequence[Text]:
        """Return the items of a page one by one, each as in a list."""
        if page >= self.listed.pages:
            start = (page - self.listed.pages) * PAGE_ITEMS
            return [
                self._item(made(), partial=partial) for made in added[start : start + PAGE_ITEMS]
            ]
        lines: list[Text | None] = [*_lines(self._read(page, partial=partial))]
        with self._lock:
            for line, whole in self.changed.get(page, {}).items():
                lines[line] = whole and self._item(whole, partial=partial)
        return [one for one in lines if one is not None]

    def in_namespace(self, namespace: str, *, partial: bool) -> Sequence[Text]:
        """Return the items of one namespace; only the pages that it is on are read."""
        first = self.listed.first
        found: list[Text] = []
        for page in range(max(0, bisect_right(first, (namespace, "")) - 1), self.listed.pages):
            if page < len(first) and first[page][0] > namespace:
                break
            items = self.items(page, (), partial=partial)
            found += [item for item in items if key_of(item)[0] == namespace]
        with self._lock:
            added = [made for key, made in self.added.items() if key[0] == namespace]
        return [*found, *(self._item(made(), partial=partial) for made in added)]

    def wholes(self, page: int) -> dict[int, bytes]:
        """Return the objects of a page by line, each with its type, without those that are gone."""
        lines = _lines(self._read(page, partial=False))
        found: dict[int, bytes | None] = dict(enumerate(map(self._whole, lines)))
        with self._lock:
            found |= self.changed.get(page, {})
        return {line: whole for line, whole in found.items() if whole is not None}

    def find(self, namespace: str, name: str) -> bytes | None:
        """Return an object with its type; one page is read for it."""
        made = self.added.get((namespace, name))
        if made is not None:
            return made()
        page = bisect_right(self.listed.first, (namespace, name)) - 1
        if page < 0:
            return None
        for item in self.items(page, (), partial=False):
            if key_of(item) == (namespace, name):
                return self._whole(item)
        return None

    # ---- what happened

    def note(self, change: Change) -> None:
        """Add to the history; under the lock."""
        self.history.append(change)
        if len(self.history) > 2 * HISTORY:
            self.oldest = self.history[HISTORY - 1].version
            del self.history[:HISTORY]
            self.forgotten += HISTORY

    def forget(self, version: int) -> None:
        """Drop the whole history, as a compaction at a version does; under the lock."""
        self.oldest = version
        self.forgotten += len(self.history) + 1
        self.history = []

    def after(self, version: int) -> int | None:
        """Return where in the history a version's successors begin; None: it is too old."""
        if version < self.oldest:
            return None
        return self.forgotten + bisect_right(self.history, version, key=_version)

    def since(self, cursor: int) -> Sequence[Change] | None:
        """Return the changes from a cursor on; None where they are forgotten; under the lock."""
        if cursor < self.forgotten:
            return None
        return self.history[cursor - self.forgotten :]

    # ---- forms

    def beginning(self, page: int, added: Sequence[Made], *, partial: bool) -> bytes:
        """Return the objects of a page as a watch begins with them: chunks of ADDED events."""
        items = self.items(page, added, partial=partial)
        head = b'{"type":"ADDED","object":'
        if self._bare and not partial:
            head += self._type
            items = [item[1:] for item in items]
        more = len(head) + 2
        parts: list[Text] = []
        for item in items:
            parts += (b"%x\r\n" % (len(item) + more), head, item, b"}\n\r\n")
        return b"".join(parts)

    def bookmark(self, version: int, *, partial: bool, initial: bool) -> bytes:
        """Return the event that says how far everything was told."""
        note = b',"annotations":{"k8s.io/initial-events-end":"true"}' if initial else b""
        kind = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",'
        return b'{"type":"BOOKMARK","object":%s"metadata":{"resourceVersion":"%d"%s}}}\n' % (
            kind if partial else self._type,
            version,
            note,
        )

    def _item(self, whole: bytes, *, partial: bool) -> bytes:
        if partial:
            return partial_of(whole)
        return b"{" + whole[len(self._type) :] if self._bare else whole

    def _whole(self, item: Text) -> bytes:
        return b"".join((self._type, item[1:]) if self._bare else (item,))

    def _read(self, page: int, *, partial: bool) -> bytes:
        return (self._folder / self.listed.path(page, partial=partial)).read_bytes()


def _version(change: Change) -> int:
    return change.version


def _between(page: bytes) -> memoryview:
    """Return what is between the first line of a page and its last."""
    start = page.index(b"\n") + 1
    return memoryview(page)[start : max(start, page.rindex(b"\n", 0, len(page) - 1))]


def _lines(page: bytes) -> list[memoryview]:
    """Return the items of a page; none is copied."""
    view, found = memoryview(page), []
    start, end = page.index(b"\n") + 1, page.rindex(b"\n", 0, len(page) - 1)
    while start < end:
        # WHY the line's end and not the comma before it: one byte is found ten times faster.
        after = page.find(b"\n", start, end)
        stop = end if after < 0 else after - 1
        found.append(view[start:stop])
        start = stop + 2
    return found
