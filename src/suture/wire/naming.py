"""What an object names by its rules: names, with the namespace and key that stand beside them.

Beside `declared`, which puts together all that rules say of an object. Pure, and total on odd JSON:
what is no name, or too long for one, names nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from suture.model.edges import Edge, Need
from suture.model.fieldnames import SCALED
from suture.model.fieldpath import FieldPath
from suture.model.names import ObjectKey, Resource
from suture.model.rulebook import KindCalled, Named
from suture.model.rules import Place, Provided
from suture.model.targets import group_of, resource_of
from suture.wire.projections import beside, ends, first_text, trails

NAME = 253
"""LIMIT: characters of the longest name that the API server takes; longer text names nothing."""

LISTED = 256
"""LIMIT: names in one list, or objects that one lists by type and name, 0.2 kB each; a composition
has some dozens. What it lists beyond that it is not known to."""


def named(rule: Named, read: Mapping[str, object], namespace: str) -> Iterator[Need]:
    """Yield what a field names, of the one type that its rule says."""
    if isinstance(rule.place, FieldPath) or rule.key is not None:
        yield from _named_beside(rule, read, namespace)
        return
    place = "" if rule.place is Place.CLUSTER else namespace
    for name in ends(read, rule.field.steps):
        if isinstance(name, str) and 0 < len(name) <= NAME:
            yield from _needs(rule, ObjectKey(rule.to, place, name), "")


def provided(rule: Provided, read: Mapping[str, object], namespace: str) -> Iterator[Need]:
    """Yield what a field names by kind, where an object of that kind may be.

    WHY twice: whether a kind has namespaces its definition says; nothing is found where it is not.
    """
    for item in ends(read, rule.field.steps):
        if type(item) is not dict:
            continue
        kind, name = item.get("kind"), item.get("name")
        if not (isinstance(kind, str) and isinstance(name, str) and kind):
            continue
        group = _group(item, rule.group)
        # WHY: Kubernetes' own kinds are of no group, or named by fields of their own.
        if group and 0 < len(name) <= NAME and len(kind) <= NAME:
            to = resource_of(group, kind)
            if rule.field.steps[-1] == SCALED:
                yield Need(Edge.SCALES, ObjectKey(to, namespace, name), "", optional=False)
                continue
            place = item.get("namespace")
            for where in (place if isinstance(place, str) and place else namespace, ""):
                yield Need(Edge.PROVIDER, ObjectKey(to, where, name), "", optional=True)


def called(rule: KindCalled, read: Mapping[str, object], namespace: str) -> Iterator[Need]:
    """Yield what a field names of the kinds that it is called after.

    WHY twice each: as with `provided`.
    """
    for found in ends(read, rule.field.steps):
        for key in _each_name(found, rule.kinds, namespace):
            yield Need(Edge.PROVIDER, key, "", optional=True)


def reported(rule: KindCalled, read: Mapping[str, object], namespace: str) -> Iterator[Need]:
    """Yield what a field of the status names of the kinds that it is called after."""
    for found in ends(read, rule.field.steps):
        for key in _each_name(found, rule.kinds, namespace):
            yield Need(Edge.RULE, key, "", optional=True)


def _each_name(
    value: object, kinds: Sequence[Resource], namespace: str, *, deep: bool = True
) -> Iterator[ObjectKey]:
    """Yield what a value names: a name, one with its namespace, an object or a list of such.

    What has a number for its name says it as its `id`.
    """
    if deep and type(value) is list:
        for item in value[:LISTED]:
            yield from _each_name(item, kinds, namespace, deep=False)
        return
    name: object = value
    place: object = namespace
    if type(value) is dict and "kind" not in value:
        name, place = value.get("name"), value.get("namespace") or namespace
        number = value.get("id")
        if name is None and number is not None:
            name = str(number) if type(number) is int else number
    elif isinstance(value, str) and "/" in value:
        place, _, name = value.partition("/")
    if isinstance(name, str) and isinstance(place, str) and 0 < len(name) <= NAME:
        for to in kinds:
            for where in dict.fromkeys((place, "")):
                yield ObjectKey(to, where, name)


def _group(item: Mapping[str, object], group: str) -> str:
    """Return the group that an item says, under whichever of its usual names; else `group`."""
    for field in ("group", "apiGroup"):
        if isinstance(said := item.get(field), str) and said:
            return said[:NAME]
    version = item.get("apiVersion")
    return group_of(version[:NAME]) if isinstance(version, str) and version else group


def _named_beside(rule: Named, read: Mapping[str, object], namespace: str) -> Iterator[Need]:
    """Yield what a field names, each name with the namespace and key that stand in its item."""
    for way in trails(read, rule.field.steps):
        name = way[-1]
        if not isinstance(name, str) or not 0 < len(name) <= NAME:
            continue
        place = "" if rule.place is Place.CLUSTER else namespace
        if isinstance(rule.place, FieldPath):
            place = first_text(*beside(way, rule.field, rule.place)) or namespace
        key = "" if rule.key is None else first_text(*beside(way, rule.field, rule.key))
        yield from _needs(rule, ObjectKey(rule.to, place, name), key)


def _needs(rule: Named, target: ObjectKey, key: str) -> Iterator[Need]:
    yield Need(Edge.RULE, target, key, rule.optional)
    if rule.leads:
        yield Need(Edge.LEADS_TO, target, "", rule.optional)
