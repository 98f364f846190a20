"""Which objects might select a pod: selectors by a label pair that every match must carry.

Asked once for each new class of pods; a selector that changes asks the other way round, for the
classes of its namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from suture.model.graph.column import Column
from suture.model.graph.names import Names
from suture.model.labels import Labels
from suture.model.selectors import Operator, Selector

_encoder: Final = msgspec.json.Encoder()


def anchor(selector: Selector) -> tuple[str, str] | None:
    """Return a label pair that every match must carry, the cheapest way into an index.

    None where the selector has no such pair (everything, or only expressions).
    """
    for requirement in selector.requirements:
        if requirement.operator is Operator.IN and len(requirement.values) == 1:
            return requirement.key, requirement.values[0]
    return None


class Matcher:
    """A selector made ready to be asked of many label sets, by their bytes where that will do."""

    __slots__ = ("_pairs", "_rest")

    def __init__(self, selector: Selector) -> None:
        # A pair stands in canonical labels just as it is encoded by itself: a quote within a key
        # or value would be escaped, so that nothing else can look like it.
        self._pairs = [
            _encoder.encode(one.key) + b":" + _encoder.encode(one.values[0])
            for one in selector.requirements
            if one.operator is Operator.IN and len(one.values) == 1
        ]
        self._rest = [
            one
            for one in selector.requirements
            if not (one.operator is Operator.IN and len(one.values) == 1)
        ]

    def matches(self, raw: bytes) -> bool:
        """Whether labels, given as their canonical bytes, meet the selector."""
        for pair in self._pairs:
            if pair not in raw:
                return False
        return not self._rest or self._rest_matches(raw)

    def among(self, rows: Iterable[int], numbers: Column, texts: Names) -> list[int]:
        """Return which of some rows have labels, texts by their `numbers`, that meet the selector.

        WHY beside `matches`: of a thousand pod classes the labels are looked at where they stand.
        """
        pairs, at, sizes, find = self._pairs, texts.at, texts.sizes, texts.block.find
        found = []
        for row in rows:
            number = numbers[row]
            start = at[number]
            end = start + sizes[number]
            for pair in pairs:
                if find(pair, start, end) < 0:
                    break
            else:
                if not self._rest or self._rest_matches(texts.get(number)):
                    found.append(row)
        return found

    def _rest_matches(self, raw: bytes) -> bool:
        labels: Mapping[str, str] = Labels(raw) if raw else {}
        return all(one.matches(labels) for one in self._rest)


class Selecting:
    """Rows that select pods, by namespace and by the pair that their matches must carry.

    WHY not what they select: their facts say so, and 130,000 selectors of the largest cluster kept
    as values would be a tenth of the model. But a row that selects by nothing else than the pair
    stands there as its complement, so that the facts of most need not be read to know it.
    """

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index: dict[str, dict[str, list[int]]] = {}

    def set(self, row: int, namespace: str, selectors: tuple[Selector, ...]) -> None:
        """Note a row, which has selected nothing so far, by what it selects."""
        there = self.index.setdefault(namespace, {})
        for key, entry in _entries(row, selectors):
            there.setdefault(key, []).append(entry)

    def clear(self, row: int, namespace: str, selectors: tuple[Selector, ...]) -> None:
        """Forget a row, which was noted by these."""
        there = self.index[namespace]
        for key, entry in _entries(row, selectors):
            entries = there[key]
            entries.remove(entry)
            if not entries:
                del there[key]
        if not there:
            del self.index[namespace]

    def candidates(self, namespace: str, labels: Mapping[str, str]) -> tuple[list[int], list[int]]:
        """Return the rows that select pods of these labels, and those that may; each once."""
        there = self.index.get(namespace)
        if there is None:
            return [], []
        sure = []
        found = dict.fromkeys(there.get(ANYTHING, ()))
        for key, value in labels.items():
            for entry in there.get(f"{key}={value}", ()):
                if entry < 0:
                    sure.append(~entry)
                else:
                    found[entry] = None
        return sure, list(found)

    def rows(self, namespace: str) -> list[int]:
        """Return all rows that are noted for a namespace, by whatever pair; each once."""
        there = self.index.get(namespace, {})
        return list(
            dict.fromkeys(
                entry if entry >= 0 else ~entry for entries in there.values() for entry in entries
            )
        )


ANYTHING: Final = ""
"""The key of selectors without such a pair: every pod of the namespace is a candidate."""


def _entries(row: int, selectors: tuple[Selector, ...]) -> Iterable[tuple[str, int]]:
    """Return under which keys a row stands in the index, and as what."""
    pairs = [anchor(selector) for selector in selectors]
    keys = dict.fromkeys(ANYTHING if pair is None else f"{pair[0]}={pair[1]}" for pair in pairs)
    alone = len(selectors) == 1 and len(selectors[0].requirements) == 1 and pairs[0] is not None
    entry = ~row if alone else row
    return [(key, entry) for key in keys]
