"""What the CEL checker says, in words that name the field and suggest the right one.

Apart from `cel` because it is about a library's error texts, which change more often than it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from suture.model.documents import did_you_mean
from suture.policy.engines import ExpressionError, ListOf, MapOf, Record, Scope, ValueType

_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)")
_UNDECLARED = re.compile(r"undeclared reference to '([^']+)'")
_NO_FIELD = re.compile(r"undefined field '([^']+)' not found in struct '([^']+)'")
_OVERLOAD = re.compile(r"found no matching overload for '([^']+)' applied to '\((.*)\)'")
_NAME_HERE = re.compile(r"[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*")
_FUNCTIONS = (
    *("all", "exists", "exists_one", "filter", "map", "has", "size", "dyn", "int", "double"),
    *("string", "format", "join", "split", "replace", "trim", "substring", "indexOf", "matches"),
    *("lastIndexOf", "contains", "startsWith", "endsWith", "lowerAscii", "upperAscii", "orValue"),
    *("sum", "sort", "distinct", "flatten", "slice", "reverse", "math.greatest", "math.least"),
)


def explain(text: str, expression: str, scope: Scope) -> ExpressionError:
    """Return the first error of the checker's text, rewritten."""
    found = _PLACE.search(text)
    if "recursion" in text:
        return ExpressionError("is nested too deeply: 32 levels, and a chain counts as depth")
    if found is None:
        return ExpressionError(f"is not CEL: {text.partition(chr(10))[0]}")
    line, column = int(found[1]), int(found[2])
    return ExpressionError(_words(found[3], expression, line, column, scope), line, column)


def _words(said: str, expression: str, line: int, column: int, scope: Scope) -> str:
    no_field = _NO_FIELD.match(said)
    if no_field is not None:
        name, record = no_field[1], no_field[2].removeprefix("suture.")
        fields = dict(_records(scope)).get(record, ())
        return f"has no field `{name}` in {record}{did_you_mean(name, fields)}"
    undeclared = _UNDECLARED.match(said)
    if undeclared is not None:
        return _undeclared(undeclared[1], expression, line, column, scope)
    overload = _OVERLOAD.match(said)
    if overload is not None:
        operator = overload[1].strip("_").replace("_", " ").strip() or overload[1]
        given = overload[2].replace("suture.", "")
        return f"cannot apply `{operator}` to ({given})"
    if said.startswith("Syntax error"):
        return f"is not CEL: {said.removeprefix('Syntax error: ').partition(' expecting ')[0]}"
    return f"is not CEL: {said.partition(' (in container')[0]}"


def _undeclared(name: str, expression: str, line: int, column: int, scope: Scope) -> str:
    rows = expression.splitlines() or [""]
    row = rows[min(line, len(rows)) - 1]
    here = _NAME_HERE.match(row, max(0, column - 1))
    written = re.sub(r"\s", "", here[0]) if here is not None else name
    known = [known.removeprefix(f"{scope.container}.") for known in scope.variables]
    if row[max(0, column - 1) :].startswith("("):
        # WHY: the place of an unknown function is the bracket that calls it.
        return f"calls `{name}`, which is no function{did_you_mean(name, _FUNCTIONS)}"
    family = [k for k in known if k.startswith(f"{name}.")]
    if written == name and family:
        return f"reads `{name}` whole; read one of its fields: {', '.join(sorted(family)[:8])}"
    return f"reads `{written}`, which a rule cannot see{did_you_mean(written, family or known)}"


def _records(scope: Scope) -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind in scope.variables.values():
        yield from _inside(kind)


def _inside(kind: ValueType) -> Iterator[tuple[str, tuple[str, ...]]]:
    match kind:
        case ListOf(item) | MapOf(item):
            yield from _inside(item)
        case Record(name, fields):
            yield name, tuple(field for field, _ in fields)
            for _, field_kind in fields:
                yield from _inside(field_kind)
        case _:
            return
