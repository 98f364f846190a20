"""CEL in Python for what rules ask of every case: on the values as they are, nothing converted.

A checked expression becomes one Python function where every part of it is known here, and means
the same; else there is none. INVARIANT: where the function returns, it returns what the library
would; wherever CEL would err (a key that is not there, a sum beyond 64 bits) it raises, and the
caller asks the library, whose word it is. A property test holds the one against the other.
Cost is linear in the lists of a case: a loop within a loop runs over a part of its item, or is the
same for all items and taken once, before.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from suture.policy.engines import ListOf, MapOf, Record, Scalar, ValueType, quickcalls
from suture.policy.engines.celtree import Call, Field, Fold, Items, Literal, Name, Node, Other
from suture.policy.engines.quickbody import code_of

Quick = Callable[[Mapping[str, object]], object]
"""An expression as a function of the values of a case, by their full names."""

_COMPARE: Mapping[str, ast.cmpop] = {
    "_==_": ast.Eq(),
    "_!=_": ast.NotEq(),
    "_<_": ast.Lt(),
    "_<=_": ast.LtE(),
    "_>_": ast.Gt(),
    "_>=_": ast.GtE(),
}
_SUMS: Mapping[str, tuple[ast.operator, str]] = {
    "_+_": (ast.Add(), "add_int64"),
    "_-_": (ast.Sub(), "subtract_int64"),
    "_*_": (ast.Mult(), "multiply_int64"),
}
_HELPED: Mapping[str, tuple[frozenset[str], str]] = {
    "_/_": (frozenset({"divide_int64"}), "divided"),
    "_%_": (frozenset({"modulo_int64"}), "remainder"),
    "-_": (frozenset({"negate_int64"}), "negated"),
    "sum": (frozenset({"list_int_sum"}), "summed"),
    "startsWith": (frozenset({"starts_with_string"}), "starts"),
    "endsWith": (frozenset({"ends_with_string"}), "ends"),
    "contains": (frozenset({"contains_string"}), "holds"),
    "join": (frozenset({"list_join_string"}), "joined"),
    "math.@max": (frozenset({"math_@max_int_int", "math_@max_int"}), "max"),
    "math.@min": (frozenset({"math_@min_int_int", "math_@min_int"}), "min"),
}
"""Functions by the overloads that are known here, and the helper that each is."""
_DIRECTIVE = re.compile("(%[%ds])")
"""What a format string has besides text; any other `%` is not known here."""


class _Unknown(Exception):  # noqa: N818 not an error: the library is asked instead
    """Some part of an expression is not known here."""


def quick(
    root: Node, variables: Mapping[str, ValueType], constants: Mapping[str, object]
) -> Quick | None:
    """Return an expression as a function, or None where some part of it is not known here.

    `constants` are values that are the same for every case, by their full names.
    """
    maker = _Maker(variables, constants)
    try:
        body, _ = maker.make(root, {})
        code = code_of(body, maker.before)
    # WHY of syntax: loops within loops within loops, of which Python takes twenty.
    except (_Unknown, RecursionError, SyntaxError):
        return None
    return types.FunctionType(code, {**_GLOBALS, **maker.kept})


_Typed = tuple[ast.expr, ValueType | None]


@dataclass(frozen=True, slots=True)
class _Loop:
    """One loop: its variable, what it runs over, and the names that can be read inside it."""

    variable: str
    over: ast.expr
    names: Mapping[str, _Typed]


class _Maker:
    """Makes one expression; keeps the constants that it reads as globals of the function."""

    def __init__(self, variables: Mapping[str, ValueType], constants: Mapping[str, object]) -> None:
        self._variables = variables
        self._constants = constants
        self.kept: dict[str, object] = {}
        self._loops = 0
        self.before: list[ast.expr] = []
        """What is the same for all items of a loop; read inside it as `b0`, `b1` and so on."""

    def make(self, node: Node, loop: Mapping[str, _Typed]) -> _Typed:
        """Return an expression in Python with its type, as far as that is known."""
        match node:
            case Literal(value):
                return ast.Constant(value), None  # type: ignore[arg-type]  # text, number or bool
            case Name(name):
                return loop[name] if name in loop else self._variable(name)
            case Field(of, name):
                return self._field(*self.make(of, loop), name)
            case Items(items):
                return _tuple([self.make(one, loop)[0] for one in items]), None
            case Fold():
                return self._fold(node, loop)
            case Call():
                return self._call(node, loop)
            case Other():
                raise _Unknown

    def _variable(self, name: str) -> _Typed:
        kind = self._variables.get(name)
        if kind is None:
            raise _Unknown
        if name in self._constants:
            value = self._constants[name]
            if type(value) in {bool, int, str}:
                return ast.Constant(value), kind  # type: ignore[arg-type]  # one of these
            key = f"k{len(self.kept)}"
            self.kept[key] = value
            return _load(key), kind
        return ast.Subscript(_load("case"), ast.Constant(name), ast.Load()), kind

    def _field(self, base: ast.expr, kind: ValueType | None, name: str) -> _Typed:
        if isinstance(kind, Record):
            found = dict(kind.fields).get(name)
            return ast.Attribute(base, name, ast.Load()), found
        if isinstance(kind, MapOf):
            return ast.Subscript(base, ast.Constant(name), ast.Load()), kind.value
        raise _Unknown

    def _fold(self, fold: Fold, loop: Mapping[str, _Typed]) -> _Typed:
        """Return a macro as a loop: `exists`, `all`, `exists_one`, `map`, `filter`."""
        if loop and not _of_loop(fold.over, loop):
            return self._once(fold, loop)
        over, kind = self.make(fold.over, loop)
        item = kind.item if isinstance(kind, ListOf) else None
        variable = f"i{self._loops}"
        self._loops += 1
        inner = _Loop(variable, over, {**loop, fold.var: (_load(variable), item)})
        accumulator = Name(fold.accumulator)
        step = fold.step
        if not isinstance(step, Call):
            raise _Unknown
        match step.function, step.args:
            case ("_||_", (first, asked)) if first == accumulator and fold.result == accumulator:
                return _call("any", self._loop(asked, None, inner)), Scalar.BOOL
            case ("_&&_", (first, asked)) if first == accumulator and fold.result == accumulator:
                return _call("all", self._loop(asked, None, inner)), Scalar.BOOL
            case ("_+_", (first, Items((made,)))) if first == accumulator:
                return self._list(fold, made, None, inner)
            case ("_?_:_", (asked, Call("_+_", _, (first, Items((made,)))), last)) if (
                first == last == accumulator
            ):
                return self._list(fold, made, asked, inner)
            case ("_?_:_", (asked, Call("_+_", _, (first, Literal(1))), last)) if (
                first == last == accumulator
            ):
                ones = _call("sum", self._loop(Literal(1), asked, inner))
                return ast.Compare(ones, [ast.Eq()], [ast.Constant(1)]), Scalar.BOOL
            case _:
                raise _Unknown

    def _once(self, fold: Fold, loop: Mapping[str, _Typed]) -> _Typed:
        """Return the value of a loop that reads nothing of the loops around it."""
        if _reads(fold, frozenset(loop)):
            raise _Unknown
        made, kind = self.make(fold, {})
        self.before.append(made)
        return _load(f"b{len(self.before) - 1}"), kind

    def _list(self, fold: Fold, made: Node, asked: Node | None, loop: _Loop) -> _Typed:
        if fold.result != Name(fold.accumulator):
            raise _Unknown
        kind = self.make(made, loop.names)[1]
        # WHY a list: it is made faster than a tuple, and read as one.
        found = self._loop(made, asked, loop)
        return ast.ListComp(found.elt, found.generators), ListOf(kind) if kind else None

    def _loop(self, made: Node, asked: Node | None, loop: _Loop) -> ast.GeneratorExp:
        conditions = [self.make(asked, loop.names)[0]] if asked is not None else []
        generator = ast.comprehension(
            target=ast.Name(loop.variable, ast.Store()), iter=loop.over, ifs=conditions, is_async=0
        )
        return ast.GeneratorExp(self.make(made, loop.names)[0], [generator])

    def _call(self, call: Call, loop: Mapping[str, _Typed]) -> _Typed:
        typed = [self.make(one, loop) for one in call.args]
        args = [one for one, _ in typed]
        # WHY: of types known only when it runs, CEL tells true and 1 apart, Python does not.
        loose = any(kind is Scalar.ANY for _, kind in typed)
        if loose and (call.function in _COMPARE or call.function == "@in"):
            raise _Unknown
        if call.function in _COMPARE and len(args) == 2:
            return ast.Compare(args[0], [_COMPARE[call.function]], [args[1]]), Scalar.BOOL
        if call.function in _HELPED and call.overloads <= _HELPED[call.function][0]:
            return _call(_HELPED[call.function][1], *args), None
        if call.function in _SUMS:
            return self._sum(call, args), None
        match call.function, args:
            case "_&&_", [one, other]:
                return ast.BoolOp(ast.And(), [one, other]), Scalar.BOOL
            case "_||_", [one, other]:
                return ast.BoolOp(ast.Or(), [one, other]), Scalar.BOOL
            case "!_", [one]:
                return ast.UnaryOp(ast.Not(), one), Scalar.BOOL
            case "_?_:_", [asked, one, other]:
                return ast.IfExp(asked, one, other), typed[1][1]
            case "@in", [one, other]:
                known = self._texts(other, typed[1][1])
                return ast.Compare(one, [ast.In()], [known or other]), Scalar.BOOL
            case "size", [one]:
                return _call("len", one), Scalar.INT
            case "_[_]", [one, key]:
                return _index(typed[0][1], one, key)
            case "slice", [one, start, end] if isinstance(typed[0][1], ListOf):
                return _call("sliced", one, start, end), typed[0][1]
            case "dyn", [one]:
                return one, Scalar.ANY
            case "format", [ast.Constant(str(text)), ast.Tuple(values)]:
                return _format(text, values), Scalar.STRING
            case _:
                raise _Unknown

    def _texts(self, base: ast.expr, kind: ValueType | None) -> ast.expr | None:
        """Return a constant list of texts as a set, which is looked into at once; None for others.

        WHY by what it holds: of other values a set tells apart what CEL does, and Python does not.
        """
        values = self.kept.get(base.id) if isinstance(base, ast.Name) else None
        if kind != ListOf(Scalar.STRING) or not isinstance(values, list | tuple):
            return None
        if not all(type(one) is str for one in values):
            return None
        key = f"k{len(self.kept)}"
        self.kept[key] = frozenset(values)
        return _load(key)

    def _sum(self, call: Call, args: list[ast.expr]) -> ast.expr:
        operator, whole = _SUMS[call.function]
        if call.overloads == {whole}:
            return _call("whole", ast.BinOp(args[0], operator, args[1]))
        if call.overloads == {"add_string"}:
            return ast.BinOp(args[0], operator, args[1])
        raise _Unknown


def _of_loop(over: Node, loop: Mapping[str, _Typed]) -> bool:
    """Whether a list is a part of the item at hand, or written out, and so is short."""
    match over:
        case Name(name):
            return name in loop
        case Field(of, _):
            return _of_loop(of, loop)
        case Fold(over=inner):
            return _of_loop(inner, loop)
        case Items():
            return True
        case _:
            return False


def _reads(node: Node, names: frozenset[str]) -> bool:
    """Whether an expression reads any of some loop variables."""
    match node:
        case Name(name):
            return name in names
        case Field(of, _):
            return _reads(of, names)
        case Call(args=parts) | Items(parts):
            return any(_reads(one, names) for one in parts)
        case Fold(var, over, accumulator, init, step, result):
            inner = names - {var, accumulator}
            return _reads(over, names) or any(_reads(one, inner) for one in (init, step, result))
        case Literal() | Other():
            return False


def _index(kind: ValueType | None, base: ast.expr, key: ast.expr) -> _Typed:
    if isinstance(kind, MapOf):
        return ast.Subscript(base, key, ast.Load()), kind.value
    if isinstance(kind, ListOf):
        return _call("item", base, key), kind.item
    raise _Unknown


def _format(text: str, values: list[ast.expr]) -> ast.expr:
    """Return text with values in it; `%d` takes whole numbers, `%s` text and whole numbers."""
    parts: list[ast.expr] = []
    rest = list(reversed(values))
    for piece in _DIRECTIVE.split(text):
        if piece == "%%":
            parts.append(ast.Constant("%"))
        elif piece in {"%d", "%s"} and rest:
            made = _call("digits" if piece == "%d" else "said", rest.pop())
            parts.append(ast.FormattedValue(made, -1))
        elif "%" in piece:
            raise _Unknown
        elif piece:
            parts.append(ast.Constant(piece))
    if rest:
        raise _Unknown
    return ast.JoinedStr(parts)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_load(name), list(args), [])


def _tuple(items: list[ast.expr]) -> ast.Tuple:
    return ast.Tuple(items, ast.Load())


_GLOBALS: Mapping[str, object] = {
    "__builtins__": {},
    "any": any,
    "all": all,
    "sum": sum,
    "len": len,
    "max": max,
    "min": min,
    "whole": quickcalls.whole,
    "divided": quickcalls.divided,
    "remainder": quickcalls.remainder,
    "negated": quickcalls.negated,
    "summed": quickcalls.summed,
    "item": quickcalls.item,
    "joined": quickcalls.joined,
    "sliced": quickcalls.sliced,
    "digits": quickcalls.digits,
    "said": quickcalls.said,
    "starts": str.startswith,
    "ends": str.endswith,
    "holds": str.__contains__,
}
"""All that a rule's function can reach besides its case."""
