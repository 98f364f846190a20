"""Objects of a made cluster read back from its pages: what benchmarks feed on, without making it.

Apart from `suture.lab.clusters`, whose plan of two million objects takes half a gigabyte that
would be counted as the model's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from suture.lab.clusters.pages import Listed, read_index, type_prefix
from suture.model.names import Gvk, Resource


class Documents:
    """The objects in a folder of pages, each with its type, as they are outside of lists."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kinds = {one.resource: one for one in read_index(folder).kinds}
        self.kinds: dict[Resource, Gvk] = {
            resource: one.gvk for resource, one in self._kinds.items()
        }

    def documents(self, resource: Resource) -> Iterator[bytes]:
        """Yield the objects of a kind in their order, page by page."""
        kind = self._kinds[resource]
        for page in range(kind.pages):
            yield from self._items(kind, page)

    def some(self, resource: Resource, count: int, dice: Random) -> list[bytes]:
        """Return objects of a kind from all over its pages, at most `count`, in no order."""
        kind = self._kinds[resource]
        pages = dice.sample(range(kind.pages), min(kind.pages, PAGES))
        each = -(-count // len(pages))
        found: list[bytes] = []
        for page in pages:
            items = list(self._items(kind, page))
            found += dice.sample(items, min(each, len(items)))
        dice.shuffle(found)
        return found[:count]

    def pages(self, resource: Resource, *, partial: bool) -> Iterator[bytes]:
        """Yield the pages of a kind as the API server sends them."""
        kind = self._kinds[resource]
        for page in range(kind.pages):
            yield (self._folder / kind.path(page, partial=partial)).read_bytes()

    def _items(self, kind: Listed, page: int) -> Iterator[bytes]:
        """Yield a page's objects: a line each, between the first line and the last."""
        lines = (self._folder / kind.path(page, partial=False)).read_bytes().split(b"\n")[1:-2]
        prefix = b"" if kind.custom else type_prefix(kind.gvk)
        for line in lines:
            item = line.removesuffix(b",")
            if item:
                yield prefix + item[1:] if prefix else item


PAGES = 64
"""LIMIT: pages that a sample is taken from, of 4.5 MB each; more of them only take longer."""
