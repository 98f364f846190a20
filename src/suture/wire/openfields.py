"""What the fields of an object say by their names, where its definition takes any.

Beside `fieldrules`, which reads definitions: here the schema that an object seems to follow is made
of the object, and read as a definition's. Objects of one shape share what that tells. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice

from suture.model.fieldnames import kinds_called
from suture.model.fieldpath import FieldPath
from suture.model.names import Resource
from suture.model.rulebook import KindCalled, KindRules, OpenSpec, rules_by_kind
from suture.wire.endings import STATUS
from suture.wire.fieldrules import (
    HEEDED,
    OBJECT_ENDS,
    SELECTOR_FIELDS,
    SERVICE_END,
    SPEC,
    TEXT_ENDS,
    Schema,
    names_of_schema,
)

SHAPES_KNOWN = 128
"""LIMIT: shapes of one kind that are remembered, some kB each; past it they are forgotten."""

NAMES_KNOWN = 4096
"""LIMIT: names of fields of one kind of which it is remembered whether they say something."""

DEEP = 12
"""LIMIT: how deep fields and lists are looked at; the names in a pod template stand above it."""

ITEMS = 4
"""LIMIT: items of a list that are looked at for the fields that they have."""

WIDE = 64
"""LIMIT: fields of one object that are looked at; a map of more has keys of its own, no fields."""

NOTHING = KindRules()

_TEXT = Schema(type="string")
_LABELS = Schema(type="object", additional_properties=_TEXT)
_SELECTOR = Schema(type="object", properties={"matchLabels": _LABELS})
_SELECTS = ("elector", "electors")
_SPACES = "namespaceselector"
_TELLING = (
    *_SELECTS,
    "Namespace",
    "Ref",
    SERVICE_END,
    *TEXT_ENDS,
    *(end for end, _ in OBJECT_ENDS),
)


class OpenFields:
    """Tells of objects of one kind by what rules their `spec` is to be read."""

    def __init__(self, kind: OpenSpec) -> None:
        self._of = kind.of
        self._beside = kind.kinds
        self._kinds = {(kind.of.group, name): resource for name, resource in kind.kinds}
        self._declared = [(kind.of, field) for field in kind.declared]
        self._known: dict[Hashable, KindRules] = {}
        self._telling: dict[str, bool] = {}
        self._called: dict[str, tuple[Resource, ...]] = {}

    def rules(self, spec: object) -> KindRules:
        """Return what the names in a `spec` say."""
        if type(spec) is not dict:
            return NOTHING
        shape = self._shape("", spec, DEEP)
        if shape is None:
            return NOTHING
        found = self._known.get(shape)
        if found is None:
            if len(self._known) >= SHAPES_KNOWN:
                self._known.clear()
            root = Schema(type="object", properties={SPEC[0]: _schema("", spec, DEEP)})
            names = names_of_schema(self._of, root)
            told = rules_by_kind(names, self._kinds, self._declared)
            found = self._known[shape] = told.kinds.get(self._of, NOTHING)
        return found

    def reported(self, status: object) -> tuple[KindCalled, ...]:
        """Return which fields of a `status` are called after a kind."""
        if type(status) is not dict:
            return ()
        meant = ((name, self._meant(name)) for name in islice(status, WIDE))
        return tuple(KindCalled(FieldPath((STATUS, name)), kinds) for name, kinds in meant if kinds)

    def _meant(self, name: str) -> tuple[Resource, ...]:
        """Return the kinds that a field is called after; remembered."""
        known = self._called.get(name)
        if known is None:
            if len(self._called) >= NAMES_KNOWN:
                self._called.clear()
            known = tuple(resource for _, resource in kinds_called(name, self._beside))
            self._called[name] = known
        return known

    def _shape(self, name: str, value: object, deep: int) -> Hashable:
        """Return the same for values of a field in which the same names say something.

        None where no name does. WHY not all names: those of a map are another in each object.
        """
        if type(value) is list:
            shapes = [
                self._shape(name, item, deep - 1)
                for item in value[:ITEMS]
                if deep and (type(item) is dict or type(item) is list)
            ]
            return tuple(shapes) if any(shapes) else None
        if type(value) is not dict or not deep or len(value) > WIDE:
            return None
        selector = _selector(name, value) if name.endswith(_SELECTS) else None
        if selector is not None:
            return "labels" if selector is _LABELS else "selector"
        found: list[Hashable] = []
        for below, one in value.items():
            sort = type(one)
            # WHY first: most fields are plain values that say nothing.
            shape = self._shape(below, one, deep - 1) if sort is dict or sort is list else None
            if shape is not None or self._tells(below):
                first = one[0] if sort is list and one else None
                found.append((below, shape, sort is str, type(first) is str))
        return tuple(found) or None

    def _tells(self, name: str) -> bool:
        """Whether a field may say something by its name, or does beside another; remembered."""
        known = self._telling.get(name)
        if known is None:
            if len(self._telling) >= NAMES_KNOWN:
                self._telling.clear()
            known = name in HEEDED or name.endswith(_TELLING)
            known = known or bool(self._meant(name))
            self._telling[name] = known
        return known


def _schema(name: str, value: object, deep: int) -> Schema:
    """Return the schema that a value of a field seems to follow; odd values follow none."""
    if type(value) is str:
        return _TEXT
    if type(value) is list:
        items = [_schema(name, item, deep - 1) for item in value[:ITEMS]] if deep else []
        return Schema(type="array", items=_together(items)) if items else Schema()
    if type(value) is not dict or not deep or len(value) > WIDE:
        return Schema()
    selector = _selector(name, value) if name.endswith(_SELECTS) else None
    if selector is not None:
        return selector
    fields = {field: _schema(field, below, deep - 1) for field, below in value.items()}
    return Schema(type="object", properties=fields)


def _selector(name: str, value: dict[str, object]) -> Schema | None:
    """Return what the value of a field that is called a selector looks like, if like one.

    An empty one may be a map of labels, which selects nothing; of namespaces it selects all.
    """
    if not value:
        return _SELECTOR if name.lower().endswith(_SPACES) else None
    if value.keys() <= SELECTOR_FIELDS:
        return _SELECTOR
    return _LABELS if all(type(one) is str for one in value.values()) else None


def _together(items: list[Schema]) -> Schema:
    """Return a schema with the fields of all items, or that of the first."""
    if items[0].label_selector:
        return items[0]
    fields = {name: one for item in items for name, one in (item.properties or {}).items()}
    return Schema(type="object", properties=fields) if fields else items[0]
