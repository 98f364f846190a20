"""What users, schemas and data say of custom resources: which field names or selects what.

A ReferenceRule speaks of kinds as people do. `rules_by_kind` turns all rules into what the reader
of each kind must do, once it is known which kinds a cluster serves. Pure values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar, assert_never

import msgspec

from suture.model.fieldnames import kinds_called
from suture.model.fieldpath import FieldPath
from suture.model.names import NODES, Resource

REFERENCE_RULES = Resource("policies.suture.dev", "referencerules")
"""Where ReferenceRules are stored."""

SPEC = FieldPath(("spec",))

R = TypeVar("R")


class TypeName(msgspec.Struct, frozen=True, gc=False, order=True):
    """A type as a rule names it: group, and kind or plural, of which one is empty."""

    group: str
    kind: str = ""
    plural: str = ""

    @classmethod
    def of(cls, resource: Resource) -> TypeName:
        """Return the name of a type that is known."""
        return cls(resource.group, plural=resource.plural)

    def __str__(self) -> str:
        name = self.kind or self.plural
        return f"{name}.{self.group}" if self.group else name


class Place(StrEnum):
    """Where the named object is: a field may say it, else one of these."""

    SAME = "same"
    """In the namespace of the object that names it."""
    CLUSTER = "cluster"
    """In no namespace: it is cluster-scoped."""


class Reference(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="reference"):
    """A field holds the name of another object."""

    field: FieldPath
    to: TypeName
    place: Place | FieldPath = Place.SAME
    key: FieldPath | None = None
    """Where the entry of a ConfigMap or Secret is named that is read."""
    optional: bool = False
    leads: bool = False
    """It is a Service, and a port stands beside it: traffic is sent there."""


class By(StrEnum):
    """How a parent knows its children."""

    OWNER = "owner"
    LABEL = "label"
    NAME = "name"


class Child(msgspec.Struct, frozen=True, gc=False):
    """One kind of children, and how each names its parent.

    `label`: the key whose value is the parent's name. `name`: the child's name as `{name}-*`,
    where `*` stands for one or more characters that are neither `-` nor `.`.
    """

    of: TypeName
    by: By
    label: str = ""
    name: str = ""
    place: Place = Place.SAME
    """Where the parent is, seen from the child."""


class Family(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="children"):
    """A custom resource has children, and says how many it wants.

    `pools`: where each of its parts says so of itself. `ended`: where it says that its work is
    over, after which nothing wants its children. `lists`: where it lists them by type and name.
    """

    children: tuple[Child, ...] = ()
    wanted: FieldPath | None = None
    pools: tuple[FieldPath, ...] = ()
    ended: tuple[FieldPath, ...] = ()
    lists: tuple[FieldPath, ...] = ()


class Form(StrEnum):
    """How a selector is written."""

    LABEL_SELECTOR = "labelSelector"
    """`matchLabels` and `matchExpressions`; empty selects everything."""
    MATCH_LABELS = "matchLabels"
    """A map of labels; an empty one is as good as absent, and selects nothing."""
    STRING = "string"
    """As `kubectl -l` takes it, or as `has(a) && b == "c"`; empty text is as good as absent, and
    selects nothing."""


class Selects(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="selector"):
    """A field selects other objects by label.

    `namespaces`: the field with a label selector of the namespaces to look into; where the object
    has none it is its own. `place` CLUSTER: the selected kind has no namespaces.
    """

    field: FieldPath
    of: TypeName
    written: Form = Form.LABEL_SELECTOR
    place: Place = Place.SAME
    namespaces: FieldPath | None = None


class Outside(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="outside"):
    """A custom resource stands for something outside the cluster.

    The field says what becomes of that when the object goes (`Delete`, `Orphan`), or which thing
    it is (a provider's id). A yes or no says it by its name: see `takes_along`.
    """

    field: FieldPath


class Provided(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="provided"):
    """A field names what provides an object with what it is for, and says of which kind that is.

    `group`: of which it is where the field does not say it.
    """

    field: FieldPath
    group: str


class Called(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="called"):
    """Fields that may hold names, each of an object of a kind that it is called after.

    That is a kind of the same group; which there are is not known where it is said.
    """

    fields: tuple[FieldPath, ...]


class Open(msgspec.Struct, frozen=True, gc=False, tag_field="form", tag="open"):
    """The `spec` of a kind takes any fields: what they say, their names alone tell."""


_TAKES_ALONG = re.compile(
    r"(?:delete|destroy|drop|erase|purge|wipe)(?:[A-Z]\w*)?"
    r"On(?:Delete|Deletion|Destroy|Removal|Remove)"
)


def takes_along(name: str) -> bool:
    """Whether a field of this name says, with a yes, that what an object stands for goes with it.

    As in `destroyResourcesOnDeletion` and `dropOnDelete`: what is done begins the name, and when
    ends it.
    """
    return _TAKES_ALONG.fullmatch(name) is not None


Says = Reference | Family | Selects | Outside | Provided | Called | Open


class ReferenceRule(msgspec.Struct, frozen=True, gc=False):
    """One thing that is said of one kind.

    `discovered`: by the shape of its schema and not by a person, so that a name that leads nowhere
    is no news.
    """

    name: str
    of: TypeName
    says: Says
    discovered: bool = False


class RuleFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="rule"
):
    """What a ReferenceRule of the cluster says; `problem` where that makes no sense."""

    rule: ReferenceRule | None = None
    problem: str = ""


# ---------------------------------------------------------------- for the readers of kinds


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


class KindCalled(msgspec.Struct, frozen=True, gc=False):
    """A field that names objects of kinds that it is called after."""

    field: FieldPath
    kinds: tuple[Resource, ...]


class OpenSpec(msgspec.Struct, frozen=True, gc=False):
    """A kind whose `spec` takes any fields, and the other kinds of its group, by their names.

    `declared`: the fields of which a person says something, so that their names say nothing.
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
    open: OpenSpec | None = None

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
        found.update(self.outside)
        found.update(self.ended)
        found.update(self.lists)
        found.update(one.field for one in self.provided)
        found.update(one.field for one in self.called)
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


class _Table:
    """Rules as they are sorted."""

    def __init__(
        self,
        kinds: Mapping[tuple[str, str], Resource],
        declared: Iterable[tuple[Resource, FieldPath]],
    ) -> None:
        self._kinds = kinds
        self._kind_of = {resource: name for name, resource in kinds.items()}
        self._named: dict[Resource, dict[tuple[FieldPath, Resource | None], Named]] = {}
        self._parents: dict[Resource, list[ParentOf]] = {}
        self._selected: dict[Resource, dict[FieldPath, Selected]] = {}
        self._wanted: dict[Resource, FieldPath] = {}
        self._outside: dict[Resource, tuple[FieldPath, ...]] = {}
        self._pools: dict[Resource, tuple[FieldPath, ...]] = {}
        self._ended: dict[Resource, tuple[FieldPath, ...]] = {}
        self._lists: dict[Resource, tuple[FieldPath, ...]] = {}
        self._provided: dict[Resource, tuple[Provided, ...]] = {}
        self._called: dict[Resource, dict[KindCalled, None]] = {}
        self._open: dict[Resource, OpenSpec] = {}
        self._grouped: dict[str, list[tuple[str, Resource]]] = {}
        for (group, kind), resource in sorted(kinds.items()):
            self._grouped.setdefault(group, []).append((kind, resource))
        self._declared = set(declared)
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
                    self._named.setdefault(source, {}).setdefault((says.field, to), one)
            case Selects() as says:
                of = self._resource(says.of)
                if self._heeds(rule, source, says.field):
                    place = Place.CLUSTER if of == NODES else says.place
                    one_ = Selected(says.field, of, says.written, place, says.namespaces)
                    self._selected.setdefault(source, {}).setdefault(says.field, one_)
            case Family() as says:
                children = [(self._resource(child.of), child) for child in says.children]
                if says.wanted is not None:
                    self._wanted.setdefault(source, says.wanted)
                if says.pools:
                    self._pools.setdefault(source, says.pools)
                if says.ended:
                    self._ended.setdefault(source, says.ended)
                if says.lists:
                    self._lists.setdefault(source, says.lists)
                for kind, child in children:
                    self._parents.setdefault(kind, []).append(self._parent(source, child))
            case Outside() as says:
                if self._heeds(rule, source, says.field):
                    known = self._outside.get(source, ())
                    self._outside[source] = tuple(dict.fromkeys((*known, says.field)))
            case Provided() as says:
                if self._heeds(rule, source, says.field):
                    others = self._provided.get(source, ())
                    self._provided[source] = tuple(dict.fromkeys((*others, says)))
            case Called() as says:
                self._take_called(rule, source, says)
            case Open():
                said = sorted(field for of, field in self._declared if of == source)
                self._open[source] = OpenSpec(source, self._beside(source), tuple(said))
            case _:
                assert_never(rule.says)

    def _take_called(self, rule: ReferenceRule, source: Resource, says: Called) -> None:
        """Sort in which kinds of its group each field is called after, of those that are served."""
        kinds = self._beside(source)
        for field in says.fields:
            meant = kinds_called(field.name, kinds)
            if meant and self._heeds(rule, source, field):
                one = KindCalled(field, tuple(resource for _, resource in meant))
                self._called.setdefault(source, {})[one] = None

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

    def _resource(self, name: TypeName) -> Resource:
        if name.plural:
            return Resource(name.group, name.plural)
        found = self._kinds.get((name.group, name.kind))
        if found is None:
            raise _Unknown(name)
        return found

    def book(self) -> Rulebook:
        """Return what was sorted."""
        sources = {
            *self._named, *self._parents, *self._selected, *self._wanted, *self._outside,
            *self._pools, *self._ended, *self._lists, *self._provided, *self._called,
            *self._open,
        }  # fmt: skip
        return Rulebook(
            {
                source: KindRules(
                    tuple(self._named.get(source, {}).values()),
                    tuple(_once(self._parents.get(source, ()))),
                    tuple(self._selected.get(source, {}).values()),
                    self._wanted.get(source),
                    self._outside.get(source, ()),
                    self._pools.get(source, ()),
                    self._ended.get(source, ()),
                    self._lists.get(source, ()),
                    self._provided.get(source, ()),
                    tuple(self._called.get(source, ())),
                    self._open.get(source),
                )
                for source in sorted(sources)
            },
            tuple(self.waiting),
        )


def _once(values: Iterable[R]) -> list[R]:
    kept: list[R] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


def name_pattern(template: str) -> str:
    """Return the regular expression that finds the parent's name in a child's.

    `{name}` is the longest that fits; with every `*` held apart from it by `-` or `.`, there is
    one way to fit at most.
    """
    parts = re.split(r"(\{name\}|\*)", template)
    words = {"{name}": "(.+)", "*": "[^-.]+"}
    return "".join(words.get(part, re.escape(part)) for part in parts)
