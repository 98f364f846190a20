"""Parameters: a template's schema read and checked, a constraint's values held against it.

A subset of OpenAPI v3, small enough to be explained in one table of the reference. A rule never
meets an absent parameter: each has a default or must be given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec

from suture.errors import DocumentError
from suture.model.documents import Document, Path, did_you_mean
from suture.policy.engines import ListOf, MapOf, Scalar, ValueType
from suture.policy.format import SchemaFormat

NAMESPACE = "parameters"
_INT64 = 2**63
_ABSENT = msgspec.UNSET

Report = Callable[[DocumentError], None]
"""Where a mistake is told, so that one does not hide the next."""


class Kind(StrEnum):
    """The types that a parameter may have."""

    OBJECT = "object"
    ARRAY = "array"
    INTEGER = "integer"
    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    INT_OR_STRING = "integer or string"


_SCALARS = {
    Kind.INTEGER: Scalar.INT,
    Kind.NUMBER: Scalar.DOUBLE,
    Kind.STRING: Scalar.STRING,
    Kind.BOOLEAN: Scalar.BOOL,
    Kind.INT_OR_STRING: Scalar.ANY,
}


@dataclass(frozen=True, slots=True)
class Schema:
    """One checked schema. `properties` None: an object with keys of any name."""

    kind: Kind
    default: object = _ABSENT
    enum: tuple[object, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: frozenset[str] = frozenset()
    properties: Mapping[str, Schema] | None = None
    item: Schema | None = None

    def variables(self, prefix: str) -> Iterator[tuple[str, ValueType]]:
        """Yield the names that rules may read: objects with known fields are taken apart."""
        if self.properties is None:
            yield prefix, self.value_type()
            return
        for name, schema in self.properties.items():
            yield from schema.variables(f"{prefix}.{name}")

    def value_type(self) -> ValueType:
        """Return the type of a value of this schema when it is read whole."""
        if self.kind is Kind.ARRAY:
            return ListOf(self.item.value_type() if self.item is not None else Scalar.ANY)
        if self.kind is Kind.OBJECT:
            uniform = self.properties is None and self.item is not None
            return MapOf(self.item.value_type() if uniform and self.item else Scalar.ANY)
        return _SCALARS[self.kind]


EMPTY = Schema(Kind.OBJECT, properties={})


def leaves(schema: Schema, value: object, prefix: str) -> Iterator[tuple[str, object]]:
    """Yield the values behind the names of `Schema.variables`."""
    if schema.properties is None or not isinstance(value, dict):
        yield prefix, value
        return
    for name, below in schema.properties.items():
        yield from leaves(below, value[name], f"{prefix}.{name}")


def read_schema(written: SchemaFormat, document: Document, path: Path, report: Report) -> Schema:
    """Check the schema of a template's parameters, defaults included."""
    schema = _read(written, document, path, report)
    if schema.kind is not Kind.OBJECT or schema.properties is None:
        report(document.error(path, "parameters are an object with `properties`"))
        return EMPTY
    _check_readable(schema, document, path, report)
    return schema


def _read(written: SchemaFormat, document: Document, path: Path, report: Report) -> Schema:
    kind = _kind(written, document, path, report)
    properties: dict[str, Schema] | None = None
    if written.properties is not None:
        properties = {
            name: _read(below, document, (*path, "properties", name), report)
            for name, below in written.properties.items()
        }
    item, word = written.items, "items"
    if kind is Kind.OBJECT:
        item, word = written.additional_properties, "additionalProperties"
    schema = Schema(
        kind=kind,
        enum=tuple(written.enum or ()),
        minimum=written.minimum,
        maximum=written.maximum,
        required=frozenset(written.required),
        properties=properties,
        item=_read(item, document, (*path, word), report) if item is not None else None,
    )
    for name in written.required:
        if name not in (properties or {}):
            hint = did_you_mean(name, properties or {})
            report(document.error((*path, "required"), f"`{name}` is no property{hint}"))
    if written.default is msgspec.UNSET:
        return schema
    default = check(schema, written.default, document, (*path, "default"), report)
    return replace(schema, default=default)


def _kind(written: SchemaFormat, document: Document, path: Path, report: Report) -> Kind:
    if written.int_or_string:
        return Kind.INT_OR_STRING
    known = [kind for kind in Kind if kind is not Kind.INT_OR_STRING]
    if written.type in known:
        return Kind(written.type)
    if not written.type:
        report(document.error(path, f"lacks the field `type`{did_you_mean('', known)}"))
    else:
        hint = did_you_mean(written.type, known)
        report(document.error((*path, "type"), f"cannot be `{written.type}`{hint}"))
    return Kind.STRING


def _check_readable(schema: Schema, document: Document, path: Path, report: Report) -> None:
    """Report properties that could be absent when a rule reads them."""
    for name, below in (schema.properties or {}).items():
        at = (*path, "properties", name)
        if below.kind is Kind.OBJECT and below.properties is not None:
            _check_readable(below, document, at, report)
        elif below.default is _ABSENT and name not in schema.required:
            report(document.error(at, "needs a `default`, or a place in `required`"))


def check(schema: Schema, value: object, document: Document, path: Path, report: Report) -> object:
    """Return `value` with defaults filled in; every way in which it breaks the schema is told."""
    problem = _type_problem(schema, value)
    if problem:
        report(document.error(path, problem))
        return value
    match schema.kind:
        case Kind.OBJECT if isinstance(value, dict):
            return _check_object(schema, value, document, path, report)
        case Kind.ARRAY if isinstance(value, list) and schema.item is not None:
            return [
                check(schema.item, entry, document, (*path, index), report)
                for index, entry in enumerate(value)
            ]
        case Kind.NUMBER if isinstance(value, int):
            value = float(value)
        case _:
            pass
    if schema.enum and value not in schema.enum:
        hint = did_you_mean(str(value), map(str, schema.enum))
        report(document.error(path, f"cannot be `{value}`{hint}"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        if schema.minimum is not None and value < schema.minimum:
            report(document.error(path, f"is {value}, must be at least {schema.minimum}"))
        if schema.maximum is not None and value > schema.maximum:
            report(document.error(path, f"is {value}, must be at most {schema.maximum}"))
    return value


def _type_problem(schema: Schema, value: object) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    match schema.kind:
        case Kind.OBJECT:
            fits = isinstance(value, dict)
        case Kind.ARRAY:
            fits = isinstance(value, list)
        case Kind.INTEGER:
            fits = whole
        case Kind.NUMBER:
            fits = whole or (isinstance(value, float) and math.isfinite(value))
        case Kind.STRING:
            fits = isinstance(value, str)
        case Kind.BOOLEAN:
            fits = isinstance(value, bool)
        case Kind.INT_OR_STRING:
            fits = whole or isinstance(value, str)
    if not fits:
        return f"must be {_article(schema.kind)}, not `{_shown(value)}`"
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return "is larger than 64 bits"
    return ""


def _article(kind: Kind) -> str:
    return f"an {kind}" if kind[0] in "aio" else f"a {kind}"


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode() if not isinstance(value, str) else value
    return text if len(text) <= 40 else text[:39] + "…"


def _check_object(
    schema: Schema, value: Mapping[str, object], document: Document, path: Path, report: Report
) -> dict[str, object]:
    if schema.properties is None:
        return {
            key: check(schema.item, entry, document, (*path, key), report)
            if schema.item is not None
            else entry
            for key, entry in value.items()
        }
    for key in sorted(value.keys() - schema.properties.keys()):
        hint = did_you_mean(key, schema.properties)
        report(document.error((*path, key), f"is not a known parameter{hint}"))
    filled: dict[str, object] = {}
    for name, below in schema.properties.items():
        if name in value:
            filled[name] = check(below, value[name], document, (*path, name), report)
        elif below.default is not _ABSENT:
            filled[name] = below.default
        elif name in schema.required:
            report(document.error(path, f"lacks the parameter `{name}`"))
        elif below.kind is Kind.OBJECT and below.properties is not None:
            filled[name] = _check_object(below, {}, document, (*path, name), report)
    return filled
