"""What a shape and its parameters are, in words, made from the shape itself.

Lives beside the shapes so that the list that people read cannot differ from what is taken. Pure.
"""

from __future__ import annotations

import inspect
import typing
from typing import Any

import msgspec

from suture.lab.scenarios.shapes.parts import Shape


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a shape."""

    name: str
    type: str
    default: str
    help: str = ""


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """One shape."""

    name: str
    help: str
    parameters: tuple[Parameter, ...]


def described(name: str, shape: type[Shape]) -> Described:
    """Return a shape's name, help and parameters with their defaults."""
    fields = [field for field in msgspec.structs.fields(shape) if field.name != "shape"]
    return Described(
        name=name,
        help=" ".join(inspect.cleandoc(shape.__doc__ or "").split()),
        parameters=tuple(
            Parameter(
                name=field.encode_name,
                type=_words(field.type),
                default=_default(field),
                help=_help(field.type),
            )
            for field in fields
        ),
    )


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    return msgspec.json.encode(value).decode()


def _help(kind: Any) -> str:
    # WHY the last: what a field says of itself stands after what its type says.
    for meta in reversed(getattr(kind, "__metadata__", ())):
        if isinstance(meta, msgspec.Meta) and meta.description:
            return meta.description
    return ""


def _words(kind: Any) -> str:
    """Return a type as a person would say it."""
    if typing.get_origin(kind) is typing.Annotated:
        return _words(typing.get_args(kind)[0])
    if typing.get_origin(kind) is typing.Literal:
        return " | ".join(str(value) for value in typing.get_args(kind))
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is tuple:
        return f"list of {_words(arguments[0])}"
    if typing.get_origin(kind) is dict:
        return "map"
    if arguments:
        return " or ".join(_words(one) for one in arguments if one is not type(None))
    return {"int": "number", "str": "text", "bool": "true | false"}.get(
        getattr(kind, "__name__", ""), str(kind)
    )
