"""CEL, the language that Kubernetes' own admission policies are written in.

Checked against full types, run on plain dicts. The library refuses dicts where a message type is
declared, so an expression is compiled in an environment with types, written out as a checked
tree, and read back into one without: static errors, no protobuf messages on the hot path.

Bounds: length of the expression here; 9,999 steps of `map`, `filter`, `exists`, `all` per
evaluation and linear-time regular expressions (RE2) in the library. The size of text that an
expression builds is not bounded: authors of policies are trusted as administrators are.
Source: https://github.com/google/cel-spec; cel-expr-python 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from cel_expr_python import cel

from suture.policy.engines import (
    Bindings,
    Engine,
    EvaluationError,
    ExpressionError,
    ListOf,
    MapOf,
    Program,
    Record,
    Scalar,
    Scope,
    ValueType,
)
from suture.policy.engines.celchecks import FORMAT, MATCHES, Run, refuse_certain_errors
from suture.policy.engines.celerrors import explain
from suture.policy.engines.celtree import Node, Other, read_tree
from suture.policy.engines.celtypes import Messages
from suture.policy.engines.quick import Quick, quick

MAX_CHARS = 16_384
"""LIMIT: one expression, composed ones included; the parser bounds its own depth at 32."""

# The extensions that the API server has on in its own environment, at its version of `strings`.
_CONFIG = """
name: suture
extensions:
- {name: strings, version: 2}
- {name: lists}
- {name: math}
- {name: sets}
- {name: optional}
"""

_SCALARS = {
    Scalar.BOOL: cel.Type.BOOL,
    Scalar.INT: cel.Type.INT,
    Scalar.DOUBLE: cel.Type.DOUBLE,
    Scalar.STRING: cel.Type.STRING,
    Scalar.ANY: cel.Type.DYN,
}


def _sum(values: Sequence[int]) -> int:
    return sum(values)


def _functions() -> list[cel.FunctionDecl]:
    """Declare what Kubernetes' list library adds to CEL, as far as rules need it."""
    numbers = cel.Type.List(cel.Type.INT)
    return [
        cel.FunctionDecl(
            "sum",
            [
                cel.Overload(
                    "list_int_sum",
                    return_type=cel.Type.INT,
                    parameters=[numbers],
                    is_member=True,
                    impl=_sum,
                )
            ],
        )
    ]


@dataclass(frozen=True, slots=True)
class CelProgram:
    """A compiled CEL expression."""

    reads: frozenset[str]
    _expression: cel.Expression
    _root: Node
    _variables: Mapping[str, ValueType]

    def quick(self, constants: Mapping[str, object]) -> Quick | None:
        """Return the same as a function on plain values, where every part of it is known."""
        return quick(self._root, self._variables, constants)

    def evaluate(self, bindings: Bindings) -> object:
        """Return the value as plain Python."""
        try:
            value = self._expression.eval(cast("cel.Activation", bindings))
        except RuntimeError as error:
            # WHY RuntimeError: the library raises it for its step bound, and for nothing finer.
            raise EvaluationError(_plain(str(error))) from None
        plain: object = value.plain_value()
        # WHY text only: an error is handed out as its text, and asking for the type costs more
        # than all the rest for a rule that says yes or no.
        if isinstance(plain, str):
            kind = value.type()
            if kind == cel.Type.ERROR or kind == cel.Type.UNKNOWN:  # noqa: PLR1714 no hash
                raise EvaluationError(_plain(plain))
        return plain


def _plain(text: str) -> str:
    """Cut the library's decoration: `INTERNAL: Iteration budget exceeded [INTERNAL]`."""
    first = text.partition("\n")[0]
    return first.partition(": ")[2].partition(" [")[0] or first


class CelEngine:
    """Compiles and binds for one policy set; shares the declarations among its expressions."""

    def __init__(self) -> None:
        self._config = cel.NewEnvConfigFromYaml(_CONFIG)
        self._functions = _functions()
        self._messages = Messages()
        # WHY without variables: values are converted by what they are; an environment with
        # declarations would only check them again.
        self._binder = cel.NewEnv(config=self._config, functions=self._functions)
        self._formats, self._matches = self._runner(FORMAT), self._runner(MATCHES)

    def compile(self, expression: str, scope: Scope, result: ValueType) -> CelProgram:
        """Check an expression and make it ready. Errors: ExpressionError, with a suggestion."""
        if len(expression) > MAX_CHARS:
            raise ExpressionError(f"is {len(expression)} characters long, at most {MAX_CHARS}")
        if "\x00" in expression:
            raise ExpressionError("holds a character that no expression has")
        types = {name: self._type(kind) for name, kind in scope.variables.items()}
        typed = self._environment(types, scope.container)
        try:
            checked = typed.compile(expression)
        except RuntimeError as error:
            raise explain(str(error), expression, scope) from None
        self._expect(checked.return_type(), result)
        written = checked.serialize()
        tree = read_tree(written)
        refuse_certain_errors(tree.root, self._formats, self._matches)
        loose = self._environment(dict.fromkeys(types, cel.Type.DYN), "")
        return CelProgram(
            # WHY so: `&` with the keys of a mapping gives a set that is not frozen.
            tree.names.intersection(scope.variables),
            loose.deserialize(written),
            tree.root,
            scope.variables,
        )

    def _runner(self, expression: str) -> Run:
        """Return what runs an expression on a `text` and a list of `values`."""
        types = {"text": cel.Type.STRING, "values": cel.Type.List(cel.Type.DYN)}
        compiled = self._environment(types, "").compile(expression)
        program = CelProgram(frozenset(types), compiled, Other(), {})
        return lambda values: program.evaluate(self.bind(values))

    def bind(self, values: Mapping[str, object]) -> Bindings:
        """Make values readable for programs; each is converted when it is first read."""
        return cast("Bindings", self._binder.Activation(values))

    def _environment(self, types: Mapping[str, cel.Type], container: str) -> cel.Env:
        return cel.NewEnv(
            self._messages.pool,
            config=self._config,
            variables=types,
            container=container,
            functions=self._functions,
        )

    def _type(self, kind: ValueType) -> cel.Type:
        match kind:
            case Scalar():
                return _SCALARS[kind]
            case ListOf(item):
                return cel.Type.List(self._type(item))
            case MapOf(value):
                return cel.Type.Map(cel.Type.STRING, self._type(value))
            case Record():
                return cel.Type(self._messages.declare(kind))

    def _expect(self, given: cel.Type, result: ValueType) -> None:
        wanted = self._type(result)
        if result is Scalar.ANY or given == wanted:
            return
        if given == cel.Type.DYN:
            raise ExpressionError(
                f"gives a value whose type is not known before it runs; convert it, "
                f"`{_name(wanted)}(...)`"
            )
        raise ExpressionError(f"gives {_name(given)}, must give {_name(wanted)}")


def _name(kind: cel.Type) -> str:
    return str(kind.name()).lower().replace("suture.", "")


def _conforms(engine: CelEngine, program: CelProgram) -> tuple[Engine, Program]:
    """Let the type checker hold this module to the protocol."""
    return engine, program
