"""What rules say of one kind, read from its objects: needs, selections, the wanted count.

Beside `trim`, which reads what every object has and what built-in kinds have. Pure, and total on
odd JSON: a field that is absent, or not what its rule expects, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

import msgspec

from suture.errors import InputError
from suture.model.edges import Edge, Need, Selection
from suture.model.names import Gvk, ObjectKey
from suture.model.objects import CustomFacts, Ended, Facts
from suture.model.rulebook import KindRules, ParentOf, Selected
from suture.model.rules import By, Form, Place
from suture.model.selectors import Operator, Requirement, Selector
from suture.wire.endings import STATUS, ended
from suture.wire.expressions import parse_text
from suture.wire.metashapes import owner_names
from suture.wire.naming import called, named, provided, reported
from suture.wire.openfields import OpenFields
from suture.wire.pooled import pools, sized_parts
from suture.wire.projections import (
    UNREADABLE,
    Projection,
    beside,
    ends,
    plain,
    trails,
)
from suture.wire.said import (
    count_said,
    flag_said,
    marked_outside,
    objects_listed,
    outside_said,
)
from suture.wire.shapes import (
    ABSENT,
    Document,
    LabelSelector,
    ManagedDocument,
    Meta,
    Shape,
    each_once,
)
from suture.wire.trafficshapes import NAME_LABEL

METADATA = "metadata"
SPEC = ("spec",)


class Declared:
    """Reads what rules say of the objects of one kind.

    `base` is the projection of a kind that is built in; its fields are kept raw where rules read
    the same, and `built_in` gives the projection back. `odd` is told of a selector or a built-in
    field that cannot be read.
    """

    def __init__(
        self,
        rules: KindRules,
        base: type[Document] = ManagedDocument,
        odd: Callable[[], None] = lambda: None,
    ) -> None:
        self.rules = rules
        self._odd = odd
        below: dict[str, list[tuple[str, ...]]] = {}
        for path in rules.paths():
            below.setdefault(path.steps[0], []).append(path.steps[1:])
        self._metadata = METADATA in below
        below.pop(METADATA, None)
        if rules.open is not None:
            # WHY nothing of it: that of what a pod owns alone is looked at, and some are large.
            below.setdefault(STATUS, [])
        self._projections = {top: Projection(paths) for top, paths in below.items()}
        self._attributes = {top: f"raw_{at}" for at, top in enumerate(below)}
        self._last: tuple[Document, dict[str, object], tuple[KindRules, ...]] | None = None
        self._open = OpenFields(rules.open) if rules.open is not None else None
        self._names = bool(rules.named or rules.provided or rules.called or rules.open)
        self._reports = bool(rules.reported or rules.open)
        self._parents = [(one, re.compile(one.pattern)) for one in rules.parents]
        parts: dict[tuple[str, ...], list[str]] = {}
        for path in rules.pools:
            parts.setdefault(path.steps[:-1], []).append(path.steps[-1])
        self._sizes = tuple(parts.pop(SPEC, ()))
        self._parts = tuple(parts.items())
        self._base = base
        own = [one for one in msgspec.structs.fields(base) if one.encode_name not in _COMMON]
        # Any: types that are known at run time only.
        self._base_fields: dict[str, tuple[str, msgspec.json.Decoder[Any]]] = {}
        if below:
            for one in own:
                attribute = self._attributes.setdefault(
                    one.encode_name, f"raw_{len(self._attributes)}"
                )
                self._base_fields[one.name] = (attribute, msgspec.json.Decoder(one.type))
        self.document: type[Document] = self._made_document() if below else base

    def _made_document(self) -> type[Document]:
        fields = [
            (attribute, msgspec.Raw, msgspec.field(default=ABSENT, name=top))
            for top, attribute in self._attributes.items()
        ]
        # Any: a type made at run time.
        made: Any = msgspec.defstruct(
            f"Ruled{self._base.__name__}", fields, bases=(_parent_of(self._base),), gc=False
        )
        return cast("type[Document]", made)

    def built_in(self, document: Document) -> Document | None:
        """Return the built-in projection of an object; None where that cannot be read."""
        if self.document is self._base:
            return document
        parts: dict[str, object] = {}
        for name, (attribute, decoder) in self._base_fields.items():
            raw = getattr(document, attribute)
            if raw is not ABSENT:
                try:
                    parts[name] = decoder.decode(raw)
                except UNREADABLE:
                    self._odd()
                    return None
        return self._base(kind=document.kind, metadata=document.metadata, **parts)

    # ---- what an object says

    def needs(
        self, document: Document, namespace: str, labels: Mapping[str, str]
    ) -> tuple[Need, ...]:
        """Return what an object names by rules, each once, in the order of the rules."""
        if not (self._names or self._parents or self._reports):
            return ()
        found: dict[Need, None] = {}
        if self._names:
            read, telling = self._telling(document, labels)
            for rules in telling:
                for one in rules.provided:
                    found.update(dict.fromkeys(provided(one, read, namespace)))
                for other in rules.called:
                    found.update(dict.fromkeys(called(other, read, namespace)))
                for rule in rules.named:
                    for need in named(rule, read, namespace):
                        found[need] = None
        meta = document.metadata or Meta()
        if self._reports and _is_of_pod(meta):
            found.update(dict.fromkeys(self._reported(document, namespace, labels)))
        for parent, pattern in self._parents:
            name = _parent(parent, pattern, meta, labels)
            if name:
                place = namespace if parent.place is Place.SAME else ""
                found[Need(Edge.PARENT, ObjectKey(parent.parent, place, name))] = None
        return tuple(found)

    def facts(self, document: Document, namespace: str, labels: Mapping[str, str]) -> CustomFacts:
        """Return what a custom resource wants, selects, and stands for."""
        rules, (noted, which) = self.rules, marked_outside(document)
        if rules.wanted is None and not (
            rules.outside
            or rules.selected
            or rules.pools
            or rules.ended
            or rules.lists
            or rules.open
            or rules.suspend
        ):
            return CustomFacts(outside=noted or which)
        read, telling = self._telling(document, labels)
        selections: dict[Selection, None] = {}
        for told in telling:
            for rule in told.selected:
                for one in self._selections(rule, read, namespace):
                    selections[one] = None
        outside = noted or outside_said(read, rules.outside) or which
        wanted = count_said(rules.wanted, read)
        guessed = rules.pools and wanted is None
        wants = pools(self._parts, read) if guessed else ()
        sizes = pools(((SPEC, self._sizes),), read) if guessed and self._sizes else ()
        parts = sized_parts(self._parts, read) if wants else ()
        over = ended(read, rules.ended) if rules.ended else Ended.NO
        lists = objects_listed(rules.lists, read) if rules.lists else ()
        waits = flag_said(rules.suspend, read)
        return CustomFacts(
            wanted, tuple(selections), outside, wants, over, sizes, lists, parts, waits
        )

    def _reported(
        self, document: Document, namespace: str, labels: Mapping[str, str]
    ) -> Iterator[Need]:
        """Yield what the status of an object names, as far as its rules or its own fields tell."""
        read, _ = self._telling(document, labels)
        for rule in self.rules.reported:
            yield from reported(rule, read, namespace)
        if self._open is None:
            return
        raw = getattr(document, self._attributes[STATUS], ABSENT)
        status = None if raw is ABSENT else plain(raw)
        for rule in self._open.reported(status):
            yield from reported(rule, {STATUS: status}, namespace)

    def _telling(
        self, document: Document, labels: Mapping[str, str]
    ) -> tuple[dict[str, object], tuple[KindRules, ...]]:
        """Return an object as rules look at it, and the rules: its kind's, and its own fields'.

        What was read last is remembered: needs and facts are asked one after the other.
        """
        if self._last is None or self._last[0] is not document:
            read = self._read(document, labels)
            own = () if self._open is None else (self._open.rules(read.get(SPEC[0])),)
            self._last = document, read, (self.rules, *own)
        return self._last[1:]

    def _read(self, document: Document, labels: Mapping[str, str]) -> dict[str, object]:
        """Return the parts of an object that rules look at, as paths walk them."""
        read: dict[str, object] = {}
        for top, projection in self._projections.items():
            # WHY a default: what was asked for as metadata only has nothing else.
            raw = getattr(document, self._attributes[top], ABSENT)
            if raw is not ABSENT:
                read[top] = projection.read(raw)
        meta = document.metadata
        if self._metadata and meta is not None:
            read[METADATA] = {
                "name": meta.name,
                "namespace": meta.namespace,
                "labels": dict(labels),
                "annotations": None if meta.annotations is ABSENT else plain(meta.annotations),
            }
        return read

    def _selections(
        self, rule: Selected, read: Mapping[str, object], namespace: str
    ) -> Iterator[Selection]:
        for way in trails(read, rule.field.steps):
            selector = self._selector(rule.written, way[-1])
            if selector is None:
                continue
            if rule.place is Place.CLUSTER:
                yield Selection(rule.resource, "", selector)
                continue
            spaces: Selector | None = None
            if rule.namespaces is not None:
                for other in ends(*beside(way, rule.field, rule.namespaces)):
                    told = (
                        _spaces_by_name(other)
                        if rule.by_name
                        else self._selector(Form.LABEL_SELECTOR, other)
                    )
                    spaces = told or spaces
            # WHY everywhere: an object without a namespace has none of its own to look into.
            if spaces is None and not namespace:
                spaces = Selector()
            yield Selection(rule.resource, namespace if spaces is None else "", selector, spaces)

    def _selector(self, form: Form, value: object) -> Selector | None:
        """Return a selector as a value; None where it selects nothing, or cannot be read."""
        try:
            match form:
                case Form.LABEL_SELECTOR:
                    return msgspec.convert(value, LabelSelector).selector()
                case Form.MATCH_LABELS:
                    return Selector.of(msgspec.convert(value, dict[str, str])) if value else None
                case Form.STRING:
                    return parse_text(msgspec.convert(value, str)) if value else None
                case _:
                    assert_never(form)
        except (msgspec.ValidationError, InputError):
            self._odd()
            return None


def _spaces_by_name(value: object) -> Selector | None:
    """Return which namespaces a field selects by name, or all; None where it selects none."""
    if not isinstance(value, dict):
        return None
    names = value.get("matchNames")
    if value.get("any") is True:
        return Selector()
    if isinstance(names, list) and names and all(isinstance(one, str) for one in names):
        return Selector((Requirement(NAME_LABEL, Operator.IN, tuple(names)),))
    return None


def ruled(
    kind: str,
    rules: KindRules,
    shape: Shape | None,
    odd: Callable[[], None] = lambda: None,
    *,
    full: bool = True,
) -> Shape:
    """Return how a kind is read by rules, beside what its own shape reads, where it has one.

    `full` False: what comes is metadata only, of which rules are read too.
    """
    declared = Declared(rules, shape.document if shape is not None else ManagedDocument, odd)

    def needs(document: Document, key: ObjectKey, labels: Mapping[str, str]) -> Sequence[Need]:
        by_rules = declared.needs(document, key.namespace, labels)
        if shape is None or shape.needs is None:
            return by_rules
        built_in = declared.built_in(document)
        named = () if built_in is None else shape.needs(built_in, key, labels)
        # WHY as it came: needs that nothing is added to stay unread.
        return each_once((*named, *by_rules)) if by_rules else named

    def built_in_facts(
        document: Document, namespace: str, labels: Mapping[str, str]
    ) -> Facts | None:
        built_in = declared.built_in(document)
        if shape is None or shape.facts is None or built_in is None:
            return None
        return shape.facts(built_in, namespace, labels)

    # WHY none of metadata: it is all that is known of the object then, and facts say otherwise.
    whole = full and not (shape is None and rules.metadata_only)
    facts = declared.facts if shape is None else built_in_facts
    return Shape(kind, declared.document, facts if whole else None, needs, partial=not full)


def _parent_of(document: type[Document]) -> type[Document]:
    """Return which metadata a projection has."""
    return ManagedDocument if issubclass(document, ManagedDocument) else Document


_COMMON = frozenset(one.encode_name for one in msgspec.structs.fields(Document))


def _parent(rule: ParentOf, pattern: re.Pattern[str], meta: Meta, labels: Mapping[str, str]) -> str:
    """Return the name of an object's parent, empty where it has none by this rule."""
    match rule.by:
        case By.LABEL:
            return labels.get(rule.label, "")
        case By.NAME:
            fits = pattern.fullmatch(meta.name)
            return "" if fits is None else str(fits[1])
        case By.OWNER:
            return _owner(rule, meta)
        case _:
            assert_never(rule.by)


def _is_of_pod(meta: Meta) -> bool:
    """Whether a pod owns an object, which then says what is known of it elsewhere."""
    return any(one.kind == "Pod" and one.api_version == "v1" for one in owner_names(meta))


def _owner(rule: ParentOf, meta: Meta) -> str:
    for owner in owner_names(meta):
        gvk = Gvk.of(owner.api_version, owner.kind)
        if (gvk.group, gvk.kind) == rule.kind:
            return owner.name
    return ""
