"""Which constraints a request can concern at all, so that asking costs what matches, not what is.

Each constraint is filed under the narrowest thing that its match names: namespaces, operators,
names or a label; what names none of them is filed by operation and kind alone. INVARIANT: what is
not returned does not match; what is returned is asked whether it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from suture.model.names import Operation
from suture.model.request import Collection
from suture.model.selectors import Operator, Selector
from suture.policy.matching import ANY, Globs, Match, namespace_of
from suture.policy.rules import Case, labels_seen

KINDS: Final = 4_096
"""LIMIT: kinds with operations that are remembered, a list of numbers each: a large cluster writes
some hundred kinds. Past it all are forgotten and found again."""

_Kind = tuple[Operation, str, str, str]


class _Names:
    """Constraints by a name that they ask for, written out or as what it starts with."""

    def __init__(self) -> None:
        self._exact: dict[str, list[int]] = {}
        self._starts: dict[int, dict[str, list[int]]] = {}
        self.all: list[int] = []

    def add(self, globs: Globs, number: int) -> None:
        self.all.append(number)
        for pattern in globs.patterns:
            if pattern.endswith(ANY):
                start = pattern[: -len(ANY)]
                of_length = self._starts.setdefault(len(start), {})
                of_length.setdefault(start, []).append(number)
            else:
                self._exact.setdefault(pattern, []).append(number)

    def of(self, name: str) -> Iterator[int]:
        yield from self._exact.get(name, ())
        for length, of_length in self._starts.items():
            yield from of_length.get(name[:length], ())


class Index:
    """The constraints of a set, by number."""

    def __init__(self, matches: Sequence[Match]) -> None:
        self._matches = matches
        self._namespaces, self._operators, self._names = _Names(), _Names(), _Names()
        self._labels: dict[tuple[str, str], list[int]] = {}
        self._labelled: list[int] = []
        self._general: list[int] = []
        self._of_kind: dict[_Kind, tuple[int, ...]] = {}
        for number, match in enumerate(matches):
            self._file(match, number)
        self._filed = len(self._general) < len(matches)

    def _file(self, match: Match, number: int) -> None:
        for names, globs in (
            (self._namespaces, match.namespaces),
            (self._operators, match.operators),
            (self._names, match.names),
        ):
            if globs is not None and _indexable(globs):
                names.add(globs, number)
                return
        labels = list(_labels(match.selector))
        if labels:
            self._labelled.append(number)
            for label in labels:
                self._labels.setdefault(label, []).append(number)
            return
        self._general.append(number)

    def candidates(self, case: Case) -> Iterable[int]:
        """Return the numbers of the constraints that may match a case, in their order."""
        request = case.request
        gvr = request.gvr
        kind = (request.operation, gvr.group, gvr.plural, request.subresource)
        general = self._of_kind.get(kind)
        if general is None:
            if len(self._of_kind) >= KINDS:
                self._of_kind.clear()
            general = self._of_kind[kind] = tuple(
                number for number in self._general if self._matches[number].of_kind(request)
            )
        if not self._filed:
            return general
        found = set(general)
        found.update(self._namespaces.of(namespace_of(case)))
        found.update(self._operators.of(case.actor.operator))
        found.update(self._operators.of(case.actor.user.username))
        found.update(self._of_object(case))
        return sorted(found)

    def _of_object(self, case: Case) -> Iterator[int]:
        request = case.request
        if isinstance(request.extent, Collection):
            # WHY all: a whole collection may hold objects of any name and label.
            yield from self._names.all
            yield from self._labelled
            return
        yield from self._names.of(request.key.name)
        if self._labels:
            for labels in labels_seen(case):
                for label in labels.items():
                    yield from self._labels.get(label, ())


def _indexable(globs: Globs) -> bool:
    """Whether every pattern is a name, or what one starts with and a single `*`."""
    return all(
        ANY not in pattern.removesuffix(ANY) and pattern != ANY for pattern in globs.patterns
    )


def _labels(selector: Selector | None) -> Iterator[tuple[str, str]]:
    """Yield the labels of which a selector needs one, of its first requirement that names some."""
    for requirement in selector.requirements if selector is not None else ():
        if requirement.operator is Operator.IN:
            yield from ((requirement.key, value) for value in requirement.values)
            return
