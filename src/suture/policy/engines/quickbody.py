"""An expression as the body of a function: what it looks through becomes plain loops.

Beside `quick`, which makes the expression: most rules look through the effects of a case behind a
few conditions, and to make a generator or a list of its own for each costs as much as what it
looks at. INVARIANT: each loop has a variable of its own, since these are of one function now.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from copy import copy

_Plain = tuple[list[ast.stmt], ast.expr]
"""An expression without loops, and what is to be done before it."""


def code_of(expression: ast.expr, before: Sequence[ast.expr] = ()) -> types.CodeType:
    """Return the code of a function of `case` that returns what an expression does.

    `before`: what is taken first, and read in it as `b0`, `b1` and so on.
    """
    maker = _Maker()
    body: list[ast.stmt] = []
    for number, first in enumerate(before):
        body += maker.stored(f"b{number}", first)
    body += maker.returned(expression)
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg("case")], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    function = ast.FunctionDef("rule", arguments, body, [])
    module = ast.fix_missing_locations(ast.Module([function], []))
    # WHY so: the function's own code is taken out of what was compiled; nothing is executed.
    constants = compile(module, "<rule>", "exec").co_consts
    return next(one for one in constants if isinstance(one, types.CodeType))


class _Maker:
    """Makes the statements of one function."""

    def __init__(self) -> None:
        self._names = 0

    def returned(self, expression: ast.expr) -> list[ast.stmt]:
        """Return what returns an expression."""
        match expression:
            case ast.BoolOp(operator, [first, *rest]):
                held = _load("held")
                return [
                    *self.stored("held", first),
                    # WHY itself: so it is with `and` and `or`, whatever it is.
                    ast.If(_ends(operator, held), [ast.Return(held)], []),
                    *self.returned(_rest(operator, rest)),
                ]
            case ast.Call(ast.Name("any"), [ast.GeneratorExp(asked, [loop])]):
                found = self._if(asked, [ast.Return(ast.Constant(True))])
                return [*self._loop(loop, found), ast.Return(ast.Constant(False))]
            case _:
                before, value = self._plain(expression)
                return [*before, ast.Return(value)]

    def stored(self, name: str, expression: ast.expr) -> list[ast.stmt]:
        """Return what puts the value of an expression under a name."""
        before, value = self._plain(expression)
        return [*before, _put(name, value)]

    def _plain(self, expression: ast.expr) -> _Plain:
        """Return an expression with its loops before it."""
        if not _loops(expression):
            return [], expression
        match expression:
            case ast.BoolOp(operator, [first, *rest]):
                name = self._name()
                asked = ast.UnaryOp(ast.Not(), _ends(operator, _load(name)))
                more = self.stored(name, _rest(operator, rest))
                return [*self.stored(name, first), ast.If(asked, more, [])], _load(name)
            case ast.IfExp(asked, one, other):
                name = self._name()
                before, test = self._plain(asked)
                choice = ast.If(test, self.stored(name, one), self.stored(name, other))
                return [*before, choice], _load(name)
            case ast.Call(ast.Name("any" | "all" as how), [ast.GeneratorExp(asked, [loop])]):
                return self._search(asked, loop, wanted=how == "any")
            case ast.Call(ast.Name("sum"), [ast.GeneratorExp(made, [loop])]):
                return self._sum(made, loop)
            case ast.Call(ast.Name("summed"), [ast.ListComp(made, [loop])]):
                before, total = self._sum(made, loop)
                return before, ast.Call(_load("whole"), [total], [])
            case ast.Call(ast.Name("len"), [ast.ListComp(ast.Name(), [loop])]):
                return self._sum(ast.Constant(1), loop)
            case ast.ListComp(made, [loop]):
                return self._list(made, loop)
            case _:
                return self._parts(expression)

    def _parts(self, expression: ast.expr) -> _Plain:
        """Return an expression all parts of which are taken, with their loops before it."""
        before: list[ast.stmt] = []

        def plain(part: object) -> object:
            if not isinstance(part, ast.expr):
                return part
            first, value = self._plain(part)
            before.extend(first)
            return value

        made = copy(expression)
        for name, part in ast.iter_fields(expression):
            whole = [plain(one) for one in part] if isinstance(part, list) else plain(part)
            setattr(made, name, whole)
        return before, made

    def _search(self, asked: ast.expr, loop: ast.comprehension, *, wanted: bool) -> _Plain:
        """Return whether something holds of any item, or of all of them."""
        name = self._name()
        test = asked if wanted else ast.UnaryOp(ast.Not(), asked)
        found = self._if(test, [_put(name, ast.Constant(wanted)), ast.Break()])
        return [_put(name, ast.Constant(not wanted)), *self._loop(loop, found)], _load(name)

    def _sum(self, made: ast.expr, loop: ast.comprehension) -> _Plain:
        """Return the sum of what is made of each item."""
        name = self._name()
        before, value = self._plain(made)
        added = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), value)
        each = self._each(loop, [*before, added])
        return [_put(name, ast.Constant(0)), *each], _load(name)

    def _list(self, made: ast.expr, loop: ast.comprehension) -> _Plain:
        """Return a list of what is made of each item."""
        name = self._name()
        before, value = self._plain(made)
        append = ast.Attribute(_load(name), "append", ast.Load())
        each = self._each(loop, [*before, ast.Expr(ast.Call(append, [value], []))])
        return [_put(name, ast.List([], ast.Load())), *each], _load(name)

    def _each(self, loop: ast.comprehension, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return a loop over every item; what makes these of others is a part of it.

        WHY not of a search: it ends early, and would not see what errs further on.
        """
        match loop.iter:
            case ast.ListComp(made, [inner]):
                before, value = self._plain(made)
                item = ast.Assign([loop.target], value)
                return self._each(inner, [*before, item, *self._passing(loop, body)])
            case _:
                return self._loop(loop, body)

    def _loop(self, loop: ast.comprehension, body: list[ast.stmt]) -> list[ast.stmt]:
        before, over = self._plain(loop.iter)
        return [*before, ast.For(loop.target, over, self._passing(loop, body), [])]

    def _passing(self, loop: ast.comprehension, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return what is done for the items that a loop does not leave out."""
        for asked in reversed(loop.ifs):
            body = self._if(asked, body)
        return body

    def _if(self, asked: ast.expr, body: list[ast.stmt]) -> list[ast.stmt]:
        before, test = self._plain(asked)
        return [*before, ast.If(test, body, [])]

    def _name(self) -> str:
        self._names += 1
        return f"t{self._names}"


def _loops(expression: ast.expr) -> bool:
    """Whether there is any loop in an expression."""
    return any(isinstance(one, ast.GeneratorExp | ast.ListComp) for one in ast.walk(expression))


def _ends(operator: ast.boolop, held: ast.expr) -> ast.expr:
    """Return what tells that the first part of a condition decides it."""
    return held if isinstance(operator, ast.Or) else ast.UnaryOp(ast.Not(), held)


def _rest(operator: ast.boolop, rest: list[ast.expr]) -> ast.expr:
    return rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)


def _put(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
