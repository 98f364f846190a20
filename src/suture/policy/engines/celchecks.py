"""What an expression would say only when it runs, and is the same for every case: told before.

The texts that `format` fills, the patterns of `matches` and divisors, where they are written out.
The library itself is asked, so that what passes here is what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from suture.policy.engines import EvaluationError, ExpressionError, Scalar
from suture.policy.engines.celtree import Call, Items, Literal, Node, parts

Run = Callable[[Mapping[str, object]], object]
"""One expression, run with some values. Errors: EvaluationError."""

FORMAT = "text.format(values)"
MATCHES = "''.matches(text)"
"""What is asked of the library: `text` is a string, `values` a list of anything."""

_SAMPLES: Mapping[Scalar, object] = {
    Scalar.BOOL: True,
    Scalar.INT: 0,
    Scalar.DOUBLE: 0.0,
    # WHY this text: of texts, it alone can be written as a number.
    Scalar.STRING: "NaN",
    # WHY a number: each place takes one, so that what is not known is not refused.
    Scalar.ANY: 0,
}


def refuse_certain_errors(root: Node, formats: Run, matches: Run) -> None:
    """Raise where an expression would err whatever the case. Errors: ExpressionError."""
    for node in parts(root):
        if not isinstance(node, Call):
            continue
        match node.function, node.args:
            case "format", (Literal(str(text)), Items(kinds=kinds)):
                _try(formats, {"text": text, "values": [_SAMPLES[one] for one in kinds]}, node)
            case "matches", (_, Literal(str(text))):
                _try(matches, {"text": text}, node)
            case (("_/_" | "_%_"), (_, Literal(0 as divisor))) if type(divisor) is int:
                raise ExpressionError("divides by zero", node.line)
            case _:
                pass


def _try(run: Run, values: Mapping[str, object], node: Call) -> None:
    try:
        run(values)
    except EvaluationError as error:
        problem = str(error).rstrip(": ")
        if problem.endswith("out of range"):
            problem = "it has more places than it is given values"
        words = "cannot fill" if node.function == "format" else "cannot match"
        raise ExpressionError(f"{words} `{_short(values['text'])}`: {problem}", node.line) from None


def _short(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 60 else f"{line[:59]}…"
