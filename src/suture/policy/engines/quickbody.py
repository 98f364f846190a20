"""An expression as the body of a function: a search for an effect becomes a plain loop.

Beside `quick`, which makes the expression: most rules are `any(… for effect in …)` behind a few
conditions, and to make a generator for each costs as much as what it looks at.
"""

from __future__ import annotations

import ast
import types


def code_of(expression: ast.expr) -> types.CodeType:
    """Return the code of a function of `case` that returns what an expression does."""
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg("case")], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    function = ast.FunctionDef("rule", arguments, _body(expression), [])
    module = ast.fix_missing_locations(ast.Module([function], []))
    # WHY so: the function's own code is taken out of what was compiled; nothing is executed.
    constants = compile(module, "<rule>", "exec").co_consts
    return next(one for one in constants if isinstance(one, types.CodeType))


def _body(expression: ast.expr) -> list[ast.stmt]:
    match expression:
        case ast.BoolOp(ast.And(), [first, *rest]):
            following = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
            held = ast.Name("held", ast.Load())
            return [
                ast.Assign([ast.Name("held", ast.Store())], first),
                # WHY itself: so it is with `and`, whatever it is.
                ast.If(ast.UnaryOp(ast.Not(), held), [ast.Return(held)], []),
                *_body(following),
            ]
        case ast.Call(
            ast.Name("any"),
            [ast.GeneratorExp(asked, [ast.comprehension(item, over, [])])],
        ):
            found = ast.If(asked, [ast.Return(ast.Constant(True))], [])
            return [ast.For(item, over, [found], []), ast.Return(ast.Constant(False))]
        case _:
            return [ast.Return(expression)]
