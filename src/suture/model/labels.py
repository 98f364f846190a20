"""Labels as the bytes that they are written in, read when first asked for.

WHY: of 620,000 pods of the largest cluster known four in five have the labels of a sibling; the
graph tells label sets apart by their bytes, and reads those of the few that a query looks at.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import lru_cache
from typing import TypeVar, overload

import msgspec

T = TypeVar("T")

_decoder = msgspec.json.Decoder(dict[str, str])
_encoder = msgspec.json.Encoder(order="sorted")


CANONICAL = 4096
"""LIMIT: label sets in another order than ours that are remembered, 0.5 KB each."""


@lru_cache(CANONICAL)
def canonical(raw: bytes) -> bytes:
    """Return the bytes of labels as `Labels` has them; what is no labels as it is."""
    try:
        return _encoder.encode(_decoder.decode(raw))
    except msgspec.MsgspecError:
        return raw


class Labels(Mapping[str, str]):
    """The labels of an object; equal to any mapping of the same pairs.

    INVARIANT: `raw` is compact JSON with sorted keys, as the API server writes every map, so that
    equal labels have equal bytes.
    """

    __slots__ = ("_pairs", "raw")

    def __init__(self, raw: bytes) -> None:
        """Take bytes that are canonical already; `of` makes such bytes."""
        self.raw = raw
        self._pairs: dict[str, str] | None = None

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> Labels:
        """Return the labels that any mapping holds."""
        return pairs if isinstance(pairs, Labels) else cls(_encoder.encode(dict(pairs)))

    def _read(self) -> dict[str, str]:
        found = self._pairs
        if found is None:
            found = self._pairs = _decoder.decode(self.raw)
        return found

    def __getitem__(self, key: str) -> str:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __contains__(self, key: object) -> bool:
        return key in self._read()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Labels):
            return self.raw == other.raw
        return isinstance(other, Mapping) and self._read() == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labels({self._read()!r})"

    # What a mapping has anyway, straight from the pairs: selectors ask a million times.

    @overload
    def get(self, key: str, default: None = None, /) -> str | None: ...
    @overload
    def get(self, key: str, default: str | T, /) -> str | T: ...
    def get(self, key: str, default: object = None, /) -> object:
        """Return the value of a key, or `default` where the key is not there."""
        return self._read().get(key, default)

    def keys(self) -> KeysView[str]:
        """Return the keys."""
        return self._read().keys()

    def values(self) -> ValuesView[str]:
        """Return the values."""
        return self._read().values()

    def items(self) -> ItemsView[str, str]:
        """Return the pairs."""
        return self._read().items()
