"""Records as protobuf message types.

Beside `cel` because both are about the library's protobuf face, which nothing else should see.
"""

from __future__ import annotations

from google.protobuf import (  # type: ignore[import-untyped]  # ships no types
    descriptor_pb2,
    descriptor_pool,
)

from suture.policy.engines import ListOf, Record, Scalar

_FieldType = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    Scalar.BOOL: _FieldType.TYPE_BOOL,
    Scalar.INT: _FieldType.TYPE_INT64,
    Scalar.DOUBLE: _FieldType.TYPE_DOUBLE,
    Scalar.STRING: _FieldType.TYPE_STRING,
}
_PACKAGE = "suture"


class Messages:
    """The message types of one engine, declared as records are first used."""

    def __init__(self) -> None:
        self.pool = descriptor_pool.DescriptorPool()
        self._declared: dict[str, Record] = {}

    def declare(self, record: Record) -> str:
        """Return the full name of the message that stands for a record."""
        known = self._declared.get(record.name)
        if known is None:
            self._declared[record.name] = record
            self._add(record)
        elif known != record:
            raise TypeError(f"two records are called `{record.name}`")
        return f"{_PACKAGE}.{record.name}"

    def _add(self, record: Record) -> None:
        file = descriptor_pb2.FileDescriptorProto(
            name=f"{record.name}.proto", package=_PACKAGE, syntax="proto3"
        )
        message = file.message_type.add(name=record.name)
        for number, (name, kind) in enumerate(record.fields, 1):
            item = kind.item if isinstance(kind, ListOf) else kind
            field = message.field.add(name=name, number=number)
            field.label = (
                _FieldType.LABEL_REPEATED if isinstance(kind, ListOf) else _FieldType.LABEL_OPTIONAL
            )
            if isinstance(item, Record):
                field.type, field.type_name = _FieldType.TYPE_MESSAGE, f".{self.declare(item)}"
                if f"{item.name}.proto" not in file.dependency:
                    file.dependency.append(f"{item.name}.proto")
            elif isinstance(item, Scalar) and item in _SCALARS:
                field.type = _SCALARS[item]
            else:
                raise TypeError(f"a record cannot hold {kind}")
        self.pool.AddSerializedFile(file.SerializeToString())
