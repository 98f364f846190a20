"""Expression languages behind one small protocol, shaped by what compile and evaluate need.

The types of this module describe what an expression may read, so that an unknown field or a wrong
type is found when a policy is loaded and not when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Scalar(Enum):
    """A type without parts. ANY is known only when the expression runs."""

    BOOL = "bool"
    INT = "int"
    DOUBLE = "double"
    STRING = "string"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one type."""

    item: ValueType


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from text to one type; which keys it has is not known before it runs."""

    value: ValueType


@dataclass(frozen=True, slots=True)
class Record:
    """A value with named fields, all of them always there. `name` is unique to these fields."""

    name: str
    fields: tuple[tuple[str, ValueType], ...]


ValueType = Scalar | ListOf | MapOf | Record


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may read.

    Names are dotted (`request.operation`); each is bound by itself, so that only what is read is
    converted. Names that start with `container` and a dot may be written without it.
    """

    variables: Mapping[str, ValueType]
    container: str = ""

    def extended(self, **more: ValueType) -> Scope:
        """Return this scope with a few more names."""
        return Scope({**self.variables, **more}, self.container)


class ExpressionError(Exception):
    """An expression cannot be compiled. `line` and `column` are within its text, from 1."""

    def __init__(self, problem: str, line: int = 1, column: int = 1) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


class EvaluationError(Exception):
    """An expression failed while it ran: a missing key, a division by zero, its cost bound."""


class Bindings(Protocol):
    """Values bound for expressions, converted once however many expressions read them. Opaque."""


class Program(Protocol):
    """A compiled expression."""

    @property
    def reads(self) -> frozenset[str]:
        """The names of the scope, in full, that it reads."""

    def quick(
        self, constants: Mapping[str, object]
    ) -> Callable[[Mapping[str, object]], object] | None:
        """Return a function on values as they are: Structs by their fields, nothing bound.

        Where it returns, it returns what `evaluate` would; where it raises, `evaluate` tells.
        None: this engine has none for this expression. `constants` are the same for every case.
        """

    def evaluate(self, bindings: Bindings) -> object:
        """Return the value, of the type it was compiled for. Errors: EvaluationError alone."""


class Engine(Protocol):
    """One expression language."""

    def compile(self, expression: str, scope: Scope, result: ValueType) -> Program:
        """Check an expression and make it ready. Errors: ExpressionError."""

    def bind(self, values: Mapping[str, object]) -> Bindings:
        """Make values readable for programs. Whole numbers are within 64 bits."""
