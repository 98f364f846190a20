"""The document that rules read, made from a Case: its names, their types, and their values.

One place says what a rule can see; checking and running both come from it. Effects are described
by their own structs, so that a new field is readable as soon as it exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import assert_never, get_args, get_origin

import msgspec

from suture.impact.effects import NAMES, Effect, Impact
from suture.model.request import Collection, CollectionItem, One, Request
from suture.policy.engines import ListOf, MapOf, Record, Scalar, ValueType
from suture.policy.rules import Case, Usage, labels_seen

EFFECT = "effect"
"""The one effect at hand, in rules that say `each`."""
MATCHED = "matched"
"""How many effects a rule that says `each` holds for; read in its message."""

_SCALARS: dict[object, Scalar] = {
    bool: Scalar.BOOL,
    int: Scalar.INT,
    float: Scalar.DOUBLE,
    str: Scalar.STRING,
}


def _record(kind: type[msgspec.Struct]) -> Record:
    fields = msgspec.structs.fields(kind)
    return Record(kind.__name__, tuple((f.encode_name, _value_type(f.type)) for f in fields))


def _value_type(kind: object) -> ValueType:
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Scalar.STRING
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _record(kind)
    if get_origin(kind) is tuple:
        return ListOf(_value_type(get_args(kind)[0]))
    raise TypeError(f"rules cannot read a field of type {kind}")


EFFECT_TYPES: Mapping[str, Record] = {name: _record(kind) for kind, name in NAMES.items()}
"""The type of one effect, by the name that rules use."""
_FULL = {name: f"effects.{name}" for name in EFFECT_TYPES}

_TEXT = Scalar.STRING
_FLAG = Scalar.BOOL
VARIABLES: Mapping[str, ValueType] = {
    "request.operation": _TEXT,
    "request.resource": _TEXT,
    "request.subresource": _TEXT,
    "request.namespace": _TEXT,
    "request.name": _TEXT,
    "request.collection": _TEXT,
    "request.selectsEverything": _FLAG,
    "request.hasSelector": _FLAG,
    "request.selectorKnown": _FLAG,
    "request.dryRun": _FLAG,
    "request.confirmed": _FLAG,
    "request.propagation": _TEXT,
    "request.labels": MapOf(Scalar.STRING),
    "request.namespaceLabels": MapOf(Scalar.STRING),
    "actor.operator": _TEXT,
    "actor.username": _TEXT,
    "actor.groups": ListOf(Scalar.STRING),
    "actor.kind": _TEXT,
    "actor.stage": _TEXT,
    "actor.namespace": _TEXT,
    "actor.pod": _TEXT,
    "usage": ListOf(_record(Usage)),
    "cluster.name": _TEXT,
    "cluster.authorizer": _FLAG,
    **{f"effects.{name}": ListOf(kind) for name, kind in EFFECT_TYPES.items()},
}
"""Every name that a rule can read, parameters apart."""


def _collection(request: Request) -> str:
    match request.extent:
        case One():
            return "none"
        case CollectionItem():
            return "item"
        case Collection():
            return "whole"
        case _:
            assert_never(request.extent)


def _selects_everything(case: Case) -> bool:
    extent = case.request.extent
    return isinstance(extent, Collection) and extent.everything


def _has_selector(case: Case) -> bool:
    extent = case.request.extent
    return isinstance(extent, Collection) and (
        extent.selector is not None or not extent.fields.everything
    )


def _propagation(case: Case) -> str:
    asked = case.request.options.propagation
    return asked.value if asked is not None else ""


_READERS: dict[str, Callable[[Case], object]] = {
    "request.operation": lambda case: case.request.operation.value,
    "request.resource": lambda case: str(case.request.key.resource),
    "request.subresource": lambda case: case.request.subresource,
    "request.namespace": lambda case: case.request.namespace,
    "request.name": lambda case: case.request.key.name,
    "request.collection": lambda case: _collection(case.request),
    "request.selectsEverything": _selects_everything,
    "request.hasSelector": _has_selector,
    "request.selectorKnown": lambda case: case.selector_known,
    "request.dryRun": lambda case: case.request.dry_run,
    "request.confirmed": lambda case: case.confirmed,
    "request.propagation": _propagation,
    "request.labels": lambda case: dict(next(iter(labels_seen(case)), {})),
    "request.namespaceLabels": lambda case: dict(case.namespace_labels),
    "actor.operator": lambda case: case.actor.operator,
    "actor.username": lambda case: case.actor.user.username,
    "actor.groups": lambda case: list(case.actor.user.groups),
    "actor.kind": lambda case: case.actor.kind.value,
    "actor.stage": lambda case: case.actor.stage.value,
    "actor.namespace": lambda case: case.actor.namespace,
    "actor.pod": lambda case: case.actor.pod,
    "usage": lambda case: case.usage,
    "cluster.name": lambda case: case.cluster.name,
    "cluster.authorizer": lambda case: case.cluster.authorizer,
}


def effects_by_name(impact: Impact) -> dict[str, list[Effect]]:
    """Group the effects of a case by the name that rules use; absent ones have no entry."""
    grouped: dict[str, list[Effect]] = {}
    for effect in impact.effects:
        grouped.setdefault(NAMES[type(effect)], []).append(effect)
    return grouped


def facts_of(
    case: Case, grouped: dict[str, list[Effect]], names: tuple[str, ...]
) -> dict[str, object]:
    """Return the values of a case as they are, by the names that rules use; absent effects: none.

    WHY all of `names` at once: a plain dict is read in a fifth of the time of one that makes what
    it lacks.
    """
    facts: dict[str, object] = {}
    for name in names:
        reader = _READERS.get(name)
        facts[name] = reader(case) if reader is not None else ()
    for effect, effects in grouped.items():
        facts[_FULL[effect]] = effects
    return facts


def value_of(
    name: str,
    case: Case,
    grouped: Mapping[str, list[Effect]],
    shown: Mapping[str, tuple[str, ...]],
) -> object:
    """Return the plain value of one name, for an engine that binds; absent effects are no items.

    `shown` are the fields of effects that anybody reads; the others are left out.
    """
    reader = _READERS.get(name)
    if reader is not None:
        value = reader(case)
        return list(msgspec.to_builtins(value)) if isinstance(value, tuple) else value
    effect = name.removeprefix("effects.")
    return [plain(one, shown[effect]) for one in grouped.get(effect, ())]


def _converter(kind: ValueType) -> Callable[[object], object] | None:
    match kind:
        case ListOf():
            return lambda values: [msgspec.to_builtins(value) for value in _sequence(values)]
        case Scalar.STRING | Record():
            # WHY text too: an enum is handed over as its plain value.
            return msgspec.to_builtins
        case _:
            return None


def _sequence(values: object) -> tuple[object, ...]:
    return values if isinstance(values, tuple) else ()


_CONVERTERS = {
    name: {field: _converter(kind) for field, kind in record.fields}
    for name, record in EFFECT_TYPES.items()
}


def plain(effect: Effect, shown: tuple[str, ...]) -> dict[str, object]:
    """Return an effect as rules read it, as far as the fields `shown` go."""
    converters = _CONVERTERS[NAMES[type(effect)]]
    value: dict[str, object] = {}
    for field in shown:
        convert = converters[field]
        held = getattr(effect, field)
        value[field] = held if convert is None else convert(held)
    return value
