"""A checked CEL expression as plain values, read from the library's protobuf form.

Beside `celtypes` because both are about the library's protobuf face, which nothing else should see.
Source: cel-spec proto/cel/expr/checked.proto and syntax.proto.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]  # ships no types
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

from suture.policy.engines import Scalar


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: object


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the scope, dots included, or a loop variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, or a key of a map written with a dot."""

    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator; the target of a method is its first argument. `line`: from 1."""

    function: str
    overloads: frozenset[str]
    args: tuple[Node, ...]
    line: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Items:
    """A list written out. `kinds` are the types of its items, as far as they have no parts."""

    items: tuple[Node, ...]
    kinds: tuple[Scalar, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Fold:
    """What a macro became: `result` after `step` was taken for each item of `over`."""

    var: str
    over: Node
    accumulator: str
    init: Node
    step: Node
    result: Node


@dataclass(frozen=True, slots=True)
class Other:
    """Anything else: `has`, maps written out, bytes."""


Node = Literal | Name | Field | Call | Items | Fold | Other


def parts(node: Node) -> Iterator[Node]:
    """Yield an expression and everything in it."""
    yield node
    match node:
        case Field(of, _):
            yield from parts(of)
        case Call(args=below) | Items(below):
            for one in below:
                yield from parts(one)
        case Fold(_, over, _, init, step, result):
            for one in (over, init, step, result):
                yield from parts(one)
        case Literal() | Name() | Other():
            return


@dataclass(frozen=True, slots=True)
class Tree:
    """A checked expression, and every name that it refers to, its own loop variables included."""

    root: Node
    names: frozenset[str]


_FIELDS = descriptor_pb2.FieldDescriptorProto
_ONE, _MANY = _FIELDS.LABEL_OPTIONAL, _FIELDS.LABEL_REPEATED
_MESSAGES: Mapping[str, Iterable[tuple[str, int, str, bool]]] = {
    "Reference": (("name", 1, "string", False), ("overload_id", 3, "string", True)),
    "Entry": (("key", 1, "int64", False), ("value", 2, "Reference", False)),
    "Constant": (
        ("bool_value", 2, "bool", False),
        ("int64_value", 3, "int64", False),
        ("double_value", 5, "double", False),
        ("string_value", 6, "string", False),
    ),
    "Ident": (("name", 1, "string", False),),
    "Select": (
        ("operand", 1, "Expr", False),
        ("field", 2, "string", False),
        ("test_only", 3, "bool", False),
    ),
    "Call": (
        ("target", 1, "Expr", False),
        ("function", 2, "string", False),
        ("args", 3, "Expr", True),
    ),
    "CreateList": (("elements", 1, "Expr", True), ("optional_indices", 2, "int32", True)),
    "Comprehension": (
        ("iter_var", 1, "string", False),
        ("iter_range", 2, "Expr", False),
        ("accu_var", 3, "string", False),
        ("accu_init", 4, "Expr", False),
        ("loop_condition", 5, "Expr", False),
        ("loop_step", 6, "Expr", False),
        ("result", 7, "Expr", False),
        ("iter_var2", 8, "string", False),
    ),
    "Expr": (
        ("id", 2, "int64", False),
        ("const_expr", 3, "Constant", False),
        ("ident_expr", 4, "Ident", False),
        ("select_expr", 5, "Select", False),
        ("call_expr", 6, "Call", False),
        ("list_expr", 7, "CreateList", False),
        ("comprehension_expr", 9, "Comprehension", False),
    ),
    "Type": (("primitive", 3, "int32", False),),
    "TypeEntry": (("key", 1, "int64", False), ("value", 2, "Type", False)),
    "Position": (("key", 1, "int64", False), ("value", 2, "int32", False)),
    "Source": (("line_offsets", 3, "int32", True), ("positions", 4, "Position", True)),
    "Checked": (
        ("references", 2, "Entry", True),
        ("types", 3, "TypeEntry", True),
        ("expr", 4, "Expr", False),
        ("source", 5, "Source", False),
    ),
}
_PLAIN = {
    "string": _FIELDS.TYPE_STRING,
    "int64": _FIELDS.TYPE_INT64,
    "int32": _FIELDS.TYPE_INT32,
    "bool": _FIELDS.TYPE_BOOL,
    "double": _FIELDS.TYPE_DOUBLE,
}


_SCALARS = {1: Scalar.BOOL, 2: Scalar.INT, 4: Scalar.DOUBLE, 5: Scalar.STRING}
"""By the numbers that the library's types without parts have; 0 is of those with some."""


def _reader() -> Any:
    """Make a reader of the parts of a checked expression that are wanted."""
    file = descriptor_pb2.FileDescriptorProto(name="checked.proto", package="c", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == "Constant":
            message.oneof_decl.add(name="kind")
        for field_name, number, kind, many in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = _MANY if many else _ONE
            if kind in _PLAIN:
                field.type = _PLAIN[kind]
            else:
                field.type, field.type_name = _FIELDS.TYPE_MESSAGE, f".c.{kind}"
            if name == "Constant":
                # WHY: which of them is there tells the type; zero and absent look alike.
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("c.Checked"))


_CHECKED = _reader()


def read_tree(checked: bytes) -> Tree:
    """Return a checked expression, as the library writes it out, as plain values."""
    envelope = any_pb2.Any()
    envelope.ParseFromString(checked)
    message = _CHECKED()
    message.ParseFromString(envelope.value)
    notes = _Notes(
        {entry.key: entry.value for entry in message.references},
        {entry.key: entry.value.primitive for entry in message.types},
        {entry.key: entry.value for entry in message.source.positions},
        tuple(message.source.line_offsets),
    )
    names = frozenset(one.name for one in notes.references.values() if one.name)
    return Tree(_node(message.expr, notes), names)


@dataclass(frozen=True, slots=True)
class _Notes:
    """What the checker says of the parts of an expression, by their ids."""

    references: Mapping[int, Any]
    types: Mapping[int, int]
    positions: Mapping[int, int]
    ends: tuple[int, ...]
    """Where each line ends."""

    def line(self, number: int) -> int:
        """Return the line that a part is written in, from 1."""
        return bisect_right(self.ends, self.positions.get(number, 0)) + 1

    def kind(self, number: int) -> Scalar:
        """Return the type of a part; ANY where it has parts, or is not known before it runs."""
        return _SCALARS.get(self.types.get(number, 0), Scalar.ANY)


def _node(expr: Any, notes: _Notes) -> Node:
    reference = notes.references.get(expr.id)
    if reference is not None and reference.name and not reference.overload_id:
        return Name(reference.name)
    if expr.HasField("const_expr"):
        kind = expr.const_expr.WhichOneof("kind")
        return Other() if kind is None else Literal(getattr(expr.const_expr, kind))
    if expr.HasField("ident_expr"):
        return Name(expr.ident_expr.name)
    if expr.HasField("select_expr"):
        select = expr.select_expr
        return Other() if select.test_only else Field(_node(select.operand, notes), select.field)
    if expr.HasField("call_expr"):
        call = expr.call_expr
        args = [_node(one, notes) for one in call.args]
        if call.HasField("target"):
            args.insert(0, _node(call.target, notes))
        overloads = frozenset(reference.overload_id) if reference is not None else frozenset()
        return Call(call.function, overloads, tuple(args), notes.line(expr.id))
    if expr.HasField("list_expr") and not expr.list_expr.optional_indices:
        elements = expr.list_expr.elements
        return Items(
            tuple(_node(one, notes) for one in elements),
            tuple(notes.kind(one.id) for one in elements),
        )
    if expr.HasField("comprehension_expr") and not expr.comprehension_expr.iter_var2:
        fold = expr.comprehension_expr
        return Fold(
            fold.iter_var,
            _node(fold.iter_range, notes),
            fold.accu_var,
            _node(fold.accu_init, notes),
            _node(fold.loop_step, notes),
            _node(fold.result, notes),
        )
    return Other()
