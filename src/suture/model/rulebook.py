"""What the reader of each kind must do, made of all rules once it is known which kinds are served.

Beside `rules`, which hold what was said, of kinds as people name them. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import assert_never

import msgspec

from suture.model.fieldnames import kinds_called
from suture.model.fieldpath import FieldPath
from suture.model.names import NODES, Resource
from suture.model.rules import (
    By,
    Called,
    Child,
    Family,
    Form,
    Open,
    Outside,
    Place,
    Provided,
    Reference,
    ReferenceRule,
    Selects,
    TypeName,
)

SPEC = FieldPath(("spec",))
STATUS = "status"


class Named(msgspec.Struct, frozen=True, gc=False):
    """A reference whose types are known."""

    field: FieldPath
    to: Resource
    place: Place | FieldPath
    key: FieldPath | None
    optional: bool
    leads: bool = False


class ParentOf(msgspec.Struct, frozen=True, gc=False):
    """How an object of a kind names its parent."""

    parent: Resource
    kind: tuple[str, str]
    """Group and kind of the parent, as ownerReferences name it."""
    by: By
    label: str
    pattern: str
    """Regular expression over the child's name whose group is the parent's."""
    place: Place


class Selected(msgspec.Struct, frozen=True, gc=False):
    """A selector whose types are known."""

    field: FieldPath
    resource: Resource
    written: Form
    place: Place
    namespaces: FieldPath | None
    by_name: bool = False


class KindCalled(msgspec.Struct, frozen=True, gc=False):
    """A field that names objects of kinds that it is called after."""

    field: FieldPath
    kinds: tuple[Resource, ...]


class OpenSpec(msgspec.Struct, frozen=True, gc=False):
    """A kind whose `spec` takes any fields, and the other kinds of its group, by their names.

    `declared`: the fields of which a person or the definition says something, so that their names
    say nothing.
    """

    of: Resource
    kinds: tuple[tuple[str, Resource], ...]
    declared: tuple[FieldPath, ...] = ()


class KindRules(msgspec.Struct, frozen=True, gc=False):
    """All that is to be read of the objects of one kind."""

    named: tuple[Named, ...] = ()
    parents: tuple[ParentOf, ...] = ()
    selected: tuple[Selected, ...] = ()
    wanted: FieldPath | None = None
    outside: tuple[FieldPath, ...] = ()
    pools: tuple[FieldPath, ...] = ()
    ended: tuple[FieldPath, ...] = ()
    lists: tuple[FieldPath, ...] = ()
    provided: tuple[Provided, ...] = ()
    called: tuple[KindCalled, ...] = ()
    reported: tuple[KindCalled, ...] = ()
    """Fields of the status that name what an object works by, where it stands for a pod."""
    open: OpenSpec | None = None
    suspend: FieldPath | None = None

    @property
    def metadata_only(self) -> bool:
        """Whether nothing but metadata is read."""
        return all(path.steps[0] == "metadata" for path in self.paths())

    def paths(self) -> tuple[FieldPath, ...]:
        """Return every field that is read, each once and in order."""
        found: set[FieldPath] = set(self.pools)
        for one in self.named:
            found.add(one.field)
            if isinstance(one.place, FieldPath):
                found.add(one.place)
            if one.key is not None:
                found.add(one.key)
        for each in self.selected:
            found.add(each.field)
            if each.namespaces is not None:
                found.add(each.namespaces)
        if self.wanted is not None:
            found.add(self.wanted)
        if self.suspend is not None:
            found.add(self.suspend)
        found.update(self.outside)
        found.update(self.ended)
        found.update(self.lists)
        found.update(one.field for one in self.provided)
        found.update(one.field for one in (*self.called, *self.reported))
        if self.open is not None:
            found.add(SPEC)
        return tuple(sorted(found))


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """A declared rule that is not in force, since a type that it names is not served."""

    rule: str
    missing: TypeName


class Rulebook(msgspec.Struct, frozen=True):
    """All rules in force, by the kind whose reader must heed them, and those that wait."""

    kinds: Mapping[Resource, KindRules]
    waiting: tuple[Waiting, ...] = ()


def rules_by_kind(
    rules: Iterable[ReferenceRule],
    kinds: Mapping[tuple[str, str], Resource],
    declared: Iterable[tuple[Resource, FieldPath]] = (),
) -> Rulebook:
    """Sort rules by the kind that is read for each; `kinds` tells the type of a (group, kind).

    What a person declared of a field, in these rules or in others of which `declared` has the
    fields, stands against what was discovered of it. Of several wanted
    counts of one kind the first by name stands. Total: a rule about a type that is not served
    waits, and a discovered one is left out.
    """
    table = _Table(kinds, declared)
    # WHY sorted: declared ones first, and the same rules give the same readers in any order.
    for rule in sorted(rules, key=lambda one: (one.discovered, one.name)):
        missing = table.take(rule)
        if missing is not None and not rule.discovered:
            table.waiting.append(Waiting(rule.name, missing))
    return table.book()


class _Unknown(Exception):  # noqa: N818 never leaves this module; not an error but "not yet"
    def __init__(self, missing: TypeName) -> None:
        self.missing = missing


class _Sorted:
    """What was sorted in for one kind; dictionaries keep the order, and each thing once."""

    __slots__ = (
        "called", "ended", "lists", "named", "open", "outside", "parents", "pools", "provided",
        "reported", "selected", "suspend", "wanted",
    )  # fmt: skip

    def __init__(self) -> None:
        self.named: dict[tuple[FieldPath, Resource], Named] = {}
        self.parents: dict[ParentOf, None] = {}
        self.selected: dict[FieldPath, Selected] = {}
        self.wanted: FieldPath | None = None
        self.suspend: FieldPath | None = None
        self.outside: dict[FieldPath, None] = {}
        self.pools: tuple[FieldPath, ...] = ()
        self.ended: tuple[FieldPath, ...] = ()
        self.lists: tuple[FieldPath, ...] = ()
        self.provided: dict[Provided, None] = {}
        self.called: dict[KindCalled, None] = {}
        self.reported: dict[KindCalled, None] = {}
        self.open: OpenSpec | None = None

    def rules(self) -> KindRules:
        """Return it as a value; what the definition says of a field its name says no more."""
        said = {field for field, _ in self.named} | self.selected.keys()
        taking_any = self.open
        if taking_any is not None:
            declared = tuple(sorted(said.union(taking_any.declared)))
            taking_any = msgspec.structs.replace(taking_any, declared=declared)
        return KindRules(
            named=tuple(self.named.values()),
            parents=tuple(self.parents),
            selected=tuple(self.selected.values()),
            wanted=self.wanted,
            outside=tuple(self.outside),
            pools=self.pools,
            ended=self.ended,
            lists=self.lists,
            provided=tuple(self.provided),
            called=tuple(self.called),
            reported=tuple(self.reported),
            open=taking_any,
            suspend=self.suspend,
        )


class _Table:
    """Rules as they are sorted."""

    def __init__(
        self,
        kinds: Mapping[tuple[str, str], Resource],
        declared: Iterable[tuple[Resource, FieldPath]],
    ) -> None:
        self._kinds = kinds
        self._kind_of = {resource: name for name, resource in kinds.items()}
        self._grouped: dict[str, list[tuple[str, Resource]]] = {}
        for (group, kind), resource in sorted(kinds.items()):
            self._grouped.setdefault(group, []).append((kind, resource))
        self._declared = set(declared)
        self._of: defaultdict[Resource, _Sorted] = defaultdict(_Sorted)
        self.waiting: list[Waiting] = []

    def take(self, rule: ReferenceRule) -> TypeName | None:
        """Sort a rule in; return the type that it names and nobody serves."""
        try:
            self._take(rule, self._resource(rule.of))
        except _Unknown as unknown:
            return unknown.missing
        return None

    def _take(self, rule: ReferenceRule, source: Resource) -> None:
        match rule.says:
            case Reference() as says:
                to = self._resource(says.to)
                if self._heeds(rule, source, says.field):
                    one = Named(says.field, to, says.place, says.key, says.optional, says.leads)
                    self._of[source].named.setdefault((says.field, to), one)
            case Selects() as says:
                of = self._selected(rule, source, says)
                if self._heeds(rule, source, says.field):
                    place = Place.CLUSTER if of == NODES else says.place
                    chosen = Selected(
                        says.field, of, says.written, place, says.namespaces, says.by_name
                    )
                    self._of[source].selected.setdefault(says.field, chosen)
            case Family() as says:
                self._take_family(source, says)
            case Outside() as says:
                if self._heeds(rule, source, says.field):
                    self._of[source].outside[says.field] = None
            case Provided() as says:
                if self._heeds(rule, source, says.field):
                    self._of[source].provided[says] = None
            case Called() as says:
                self._take_called(rule, source, says)
            case Open():
                said = sorted(field for of, field in self._declared if of == source)
                self._of[source].open = OpenSpec(source, self._beside(source), tuple(said))
            case _:
                assert_never(rule.says)

    def _take_family(self, source: Resource, says: Family) -> None:
        children = [(self._resource(child.of), child) for child in says.children]
        found = self._of[source]
        found.wanted = found.wanted or says.wanted
        found.pools = found.pools or says.pools
        found.ended = found.ended or says.ended
        found.lists = found.lists or says.lists
        found.suspend = found.suspend or says.suspend
        for kind, child in children:
            self._of[kind].parents[self._parent(source, child)] = None

    def _take_called(self, rule: ReferenceRule, source: Resource, says: Called) -> None:
        """Sort in which kinds of its group each field is called after, of those that are served."""
        kinds = self._beside(source)
        for field in says.fields:
            meant = kinds_called(field.name, kinds)
            if meant and self._heeds(rule, source, field):
                one = KindCalled(field, tuple(resource for _, resource in meant))
                found = self._of[source]
                said = found.reported if field.steps[0] == STATUS else found.called
                said[one] = None

    def _beside(self, source: Resource) -> tuple[tuple[str, Resource], ...]:
        """Return the other kinds of a kind's group.

        WHY not its own: that would be a peer, or what it came from.
        """
        return tuple(one for one in self._grouped.get(source.group, ()) if one[1] != source)

    def _heeds(self, rule: ReferenceRule, source: Resource, field: FieldPath) -> bool:
        """Whether a rule is heeded: what a person said of a field stands alone."""
        if rule.discovered:
            return (source, field) not in self._declared
        self._declared.add((source, field))
        return True

    def _parent(self, source: Resource, child: Child) -> ParentOf:
        return ParentOf(
            source,
            self._kind_of.get(source, (source.group, "")),
            child.by,
            child.label,
            name_pattern(child.name) if child.by is By.NAME else "",
            child.place,
        )

    def _selected(self, rule: ReferenceRule, source: Resource, says: Selects) -> Resource:
        """Return the type that a selector is of; a field's name may say but its last words."""
        try:
            return self._resource(says.of)
        except _Unknown:
            meant = kinds_called(says.of.kind, self._beside(source)) if rule.discovered else ()
            if len(meant) != 1:
                raise
            return meant[0][1]

    def _resource(self, name: TypeName) -> Resource:
        if name.plural:
            return Resource(name.group, name.plural)
        found = self._kinds.get((name.group, name.kind))
        if found is None:
            raise _Unknown(name)
        return found

    def book(self) -> Rulebook:
        """Return what was sorted."""
        kinds = {source: found.rules() for source, found in self._of.items()}
        return Rulebook(
            {source: kinds[source] for source in sorted(kinds) if kinds[source] != _NOTHING},
            tuple(self.waiting),
        )


_NOTHING = KindRules()


def name_pattern(template: str) -> str:
    """Return the regular expression that finds the parent's name in a child's.

    `{name}` is the longest that fits; with every `*` held apart from it by `-` or `.`, there is
    one way to fit at most.
    """
    parts = re.split(r"(\{name\}|\*)", template)
    words = {"{name}": "(.+)", "*": "[^-.]+"}
    return "".join(words.get(part, re.escape(part)) for part in parts)
