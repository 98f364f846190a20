"""What a CustomResourceDefinition's schema tells of its instances: selectors, names, sizes.

Beside `declared`, which reads instances: here the schema alone is read, once, and only the rules
that follow are kept; what the names of its fields say is `fieldrules`. Pure.
Source: apiextensions/v1 JSONSchemaProps and its subresources; field names as in core/v1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from suture.errors import InputError
from suture.model.fieldpath import FieldPath
from suture.model.names import (
    PODS,
    Resource,
)
from suture.model.rules import (
    Family,
    Form,
    Open,
    Outside,
    ReferenceRule,
    Selects,
    TypeName,
    speaks_of_outside,
)
from suture.wire.endings import STATUS, paths_of
from suture.wire.fieldrules import RULES, SPEC, Schema, field_rule, names_of_schema
from suture.wire.projections import UNREADABLE
from suture.wire.shapes import ABSENT

SUSPEND = "suspend"
"""How a spec calls whether its work is to wait. SOURCE: batch/v1 Job, and sets of jobs."""

POLICIES = (("spec", "deletionPolicy"), ("spec", "reclaimPolicy"))
"""Fields that say what becomes of a thing outside the cluster. Only there: deeper ones speak of a
part."""
MANAGEMENT = ("spec", "managementPolicies")
"""The field that lists what may be done to the thing outside. SOURCE: Crossplane."""
PRUNE = ("spec", "prune")
"""The field that says whether what it keeps goes with an object; `false` is as good as `Orphan`."""
IDS = (("spec", "providerID"), ("status", "providerID"), ("status", "selfLink"))
"""Fields that say which thing it is. Often it is the status: who makes the thing learns its id."""
ARN = "arn"
"""How the status calls what says so in AWS' own words, itself or in one of its parts."""

REPLICAS = ("spec", "replicas")
"""SOURCE: API conventions: a count of what is wanted is called `replicas`."""

POOLS = ("replicas", "count", "size", "members", "instances", "nodes", "servers", "replicaCount")
"""How parts of a custom resource call the number that each wants of itself: its node sets, pools,
racks and roles."""

SIZES = (
    "size", "members", "instances", "nodes", "count", "numberOfInstances", "clusterSize",
    "replicaCount", "servers", "brokers", "nodeCount", "instanceCount", "memberCount", "podCount",
    "numberOfReplicas", "numberOfNodes", "desiredReplicas", "numReplicas", "numNodes",
    "initialClusterSize",
)  # fmt: skip
"""How a custom resource calls the number of its members where it does not call it `replicas`, and
its definition takes any fields; what one describes is read by the words that its name is made of.
"""

_MEMBERS = "(?:replica|node|member|instance|pod|server|broker|worker|peer|cluster)"
_SIZE = re.compile(
    rf"{_MEMBERS}s?(?:Count|Size|Number)|(?:num|numberOf|desired|total|initial){_MEMBERS}s"
    r"|initialClusterSize",
    re.IGNORECASE,
)

TYPED = frozenset({"apiVersion", "kind", "name"})
"""The fields of an item that names an object of any type. SOURCE: core/v1 ObjectReference."""

POOLED = 32
"""LIMIT: such fields of one definition; the largest operators have a dozen roles."""


class Scale(msgspec.Struct, rename="camel", gc=False):
    """Where a custom resource says how many it wants, and what it selects."""

    spec_replicas_path: str = ""
    label_selector_path: str = ""


class _Validation(msgspec.Struct, rename={"schema": "openAPIV3Schema"}, gc=False):
    schema: Schema | None = None


class _Subresources(msgspec.Struct, gc=False):
    scale: Scale | None = None


_validation_decoder = msgspec.json.Decoder(_Validation | None)
_subresources_decoder = msgspec.json.Decoder(_Subresources | None)


def rules_of_schema(resource: Resource, raw: msgspec.Raw) -> list[ReferenceRule]:
    """Return what the `schema` of a version tells, nearer fields first.

    Nothing where it is absent or cannot be read.
    """
    if raw is ABSENT:
        return []
    try:
        validation = _validation_decoder.decode(raw)
    except UNREADABLE:
        return []
    root = validation.schema if validation is not None else None
    if root is None:
        return []
    found: list[ReferenceRule] = [
        *_said_at(MANAGEMENT, "array", resource, root), *_outside(resource, root),
        *_said_at(PRUNE, "boolean", resource, root), *_replicas(resource, root),
        *_pools(resource, root), *_ended(resource, root), *_lists(resource, root),
        *_suspend(resource, root), *_open(resource, root),
    ]  # fmt: skip
    for rule in names_of_schema(resource, root):
        if len(found) >= RULES:
            break
        found.append(rule)
    return found


def _open(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the rule of a spec that takes any fields, or has a part at its top that does."""
    spec = (root.properties or {}).get("spec") if root.properties else root
    if spec is None:
        return
    parts = (spec, *(spec.properties or {}).values())
    if any(one.anything for one in parts):
        yield field_rule(resource, FieldPath(SPEC), Open())


def _outside(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the rules of what stands for a thing outside, where a field says so.

    What becomes of it comes before which one it is, and one text is enough. Where a definition
    takes any fields each of them may be there, and has a rule.
    """
    for steps in (*POLICIES, *IDS):
        if steps == IDS[0]:
            yield from _taking_along(resource, root)
        schema: Schema | None = root
        for step in steps:
            schema = _below(schema, step)
        if schema is None:
            continue
        if schema.type == "string" or schema.anything:
            field = FieldPath(steps)
            yield field_rule(resource, field, Outside(field))
            if not schema.anything:
                return
    yield from _by_arn(resource, root)


def _by_arn(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the rule of the ARN that a status is described to hold, or a part at its top.

    Where it takes any fields both may hold one.
    """
    status = (root.properties or {}).get("status") if root.properties else root
    if status is not None and status.anything:
        for steps in ((), ("",)):
            field = FieldPath(("status", *steps, ARN))
            yield field_rule(resource, field, Outside(field))
        return
    parts = (status.properties or {}) if status is not None else {}
    places: list[tuple[tuple[str, ...], Schema | None]] = [((), status)]
    places += [((name,), part) for name, part in parts.items()]
    for way, schema in places:
        found = (schema.properties or {}).get(ARN) if schema is not None else None
        if found is not None and found.type == "string":
            field = FieldPath(("status", *way, ARN))
            yield field_rule(resource, field, Outside(field))
            return


def _below(schema: Schema | None, name: str) -> Schema | None:
    """Return what a field is to look like; what takes any fields looks as it does itself."""
    if schema is None:
        return None
    found = (schema.properties or {}).get(name)
    return schema if found is None and schema.anything else found


def _taking_along(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the rules of what says with a yes or no whether the thing outside goes as well.

    Where a definition takes any fields its whole `spec` has the rule, by the names in it.
    """
    spec = (root.properties or {}).get("spec") if root.properties else root
    if spec is None:
        return
    found = [
        FieldPath(("spec", name))
        for name, field in (spec.properties or {}).items()
        if field.type == "boolean" and speaks_of_outside(name)
    ]
    if spec.anything:
        found.insert(0, FieldPath(SPEC))
    for field in found[:POOLED]:
        yield field_rule(resource, field, Outside(field))


def _said_at(
    steps: tuple[str, ...], form: str, resource: Resource, root: Schema
) -> Iterator[ReferenceRule]:
    """Yield the rule of one field of a type that says what becomes of what an object is for.

    Where a definition takes any fields it may be there too; what is not there says nothing.
    """
    schema: Schema | None = root
    for step in steps:
        schema = _below(schema, step)
    if schema is not None and (schema.type == form or schema.anything):
        yield field_rule(resource, FieldPath(steps), Outside(FieldPath(steps)))


def _replicas(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the rule of how many are wanted, by the name that nearly all say it with.

    Where a definition takes any fields it may be there too; what is not there says nothing.
    """
    schema: Schema | None = root
    for step in REPLICAS:
        schema = _below(schema, step)
    if schema is not None and (schema.type == "integer" or schema.anything):
        field = FieldPath(REPLICAS)
        yield field_rule(resource, field, Family(wanted=field))


def _pools(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the one rule of what the parts want that stand right below `spec`, and it itself.

    Of what is listed one deeper as well, as the racks of a datacenter.

    Where a definition takes any fields, any of them may be such a part, or a list of such.
    """
    spec = (root.properties or {}).get("spec") if root.properties else root
    if spec is None:
        return
    ways: list[tuple[str, ...]] = []
    if spec.properties:
        fields = spec.properties
        ways += [
            (name,)
            for name, schema in fields.items()
            if schema.type == "integer" and (name in SIZES or _SIZE.fullmatch(name))
        ]
        ways += [way for part, schema in fields.items() for way in _counted(part, schema)]
        # WHY only items, which have names of their own: one deeper, numbers are mostly settings.
        ways += [
            (part, *way)
            for part, schema in fields.items()
            for inner, shape in (schema.properties or {}).items()
            if shape.items is not None
            for way in _counted(inner, shape)
        ]
    elif spec.anything:
        ways = [*((name,) for name in SIZES), *(("", name) for name in POOLS)]
    found = [FieldPath(("spec", *way)) for way in ways]
    if found:
        field = FieldPath(SPEC)
        yield field_rule(resource, field, Family(pools=tuple(found[:POOLED])))


def _ended(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the one rule of where a status says that the work is over."""
    status = (root.properties or {}).get(STATUS) if root.properties else root
    if status is None:
        return
    any_fields = status.anything and not status.properties
    paths = paths_of(None if any_fields else status.properties or {})
    if paths:
        yield field_rule(resource, FieldPath((STATUS,)), Family(ended=paths))


def _suspend(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the one rule of where a spec says whether its work is to wait."""
    spec = (root.properties or {}).get("spec") if root.properties else root
    if spec is not None and (SUSPEND in (spec.properties or {}) or spec.anything):
        field = FieldPath(("spec", SUSPEND))
        yield field_rule(resource, field, Family(suspend=field))


def _lists(resource: Resource, root: Schema) -> Iterator[ReferenceRule]:
    """Yield the one rule of where a spec lists objects by type and name, at its top or one below.

    Where a definition takes any fields, any list may be such; of others the items say nothing.
    """
    spec = (root.properties or {}).get("spec") if root.properties else root
    if spec is None:
        return
    found: list[FieldPath] = []
    for part, schema in (spec.properties or {}).items():
        deeper = (((part, name), one) for name, one in (schema.properties or {}).items())
        for steps, shape in (((part,), schema), *deeper):
            items = shape.items.properties if shape.items is not None else None
            if items is not None and items.keys() >= TYPED:
                found.append(FieldPath(("spec", *steps, "")))
    if spec.anything:
        found = [FieldPath(("spec", "", ""))]
    if found:
        field = FieldPath(("spec", "", ""))
        yield field_rule(resource, field, Family(lists=tuple(found[:POOLED])))


def _counted(part: str, schema: Schema) -> Iterator[tuple[str, ...]]:
    """Yield the way to each count that a part says of itself, or each of its items does."""
    for steps, shape in (
        ((part,), schema),
        ((part, ""), schema.items),
        ((part, ""), schema.additional_properties),
    ):
        if isinstance(shape, Schema):
            fields = shape.properties or {}
            for name in POOLS:
                if name in fields and fields[name].type == "integer":
                    yield (*steps, name)


def rules_of_scale(resource: Resource, raw: msgspec.Raw) -> list[ReferenceRule]:
    """Return what the scale subresource tells, of the `subresources` of a version.

    Nothing where there is none or it cannot be read.
    """
    if raw is ABSENT:
        return []
    try:
        subresources = _subresources_decoder.decode(raw)
    except UNREADABLE:
        return []
    scale = subresources.scale if subresources is not None else None
    if scale is None:
        return []
    found: list[ReferenceRule] = []
    wanted = _path(scale.spec_replicas_path)
    if wanted is not None:
        found.append(field_rule(resource, wanted, Family(wanted=wanted)))
    selector = _path(scale.label_selector_path)
    if selector is not None:
        says = Selects(selector, TypeName.of(PODS), Form.STRING)
        found.append(field_rule(resource, selector, says))
    return found


def _path(text: str) -> FieldPath | None:
    try:
        return FieldPath.parse(text.removeprefix(".")) if text else None
    except InputError:
        return None
