"""The match conditions of other people's webhooks, evaluated as far as the model knows the call.

Beside the rules because it is the same language. A condition that reads anything else of the call
than is known here does not compile, and so stays undecided: a field that was left out of the model
must not look like one that the object does not have.
Source: admissionregistration/v1 MatchCondition.
"""

from __future__ import annotations

from suture.model.matchsets import Call, Evaluate
from suture.policy.engines import (
    EvaluationError,
    ExpressionError,
    MapOf,
    Program,
    Scalar,
    Scope,
)
from suture.policy.engines.cel import CelEngine

CONDITIONS = 1024
"""LIMIT: conditions kept compiled, 20 KB each; a cluster has some hundred webhooks, of which one
in ten has conditions."""

_SCOPE = Scope(
    {
        "request.operation": Scalar.STRING,
        "request.namespace": Scalar.STRING,
        "request.subResource": Scalar.STRING,
        "request.resource.group": Scalar.STRING,
        "request.resource.resource": Scalar.STRING,
        "object.metadata.labels": MapOf(Scalar.STRING),
        "oldObject.metadata.labels": MapOf(Scalar.STRING),
    }
)


class MatchConditions:
    """Evaluates match conditions, each compiled once."""

    def __init__(self) -> None:
        self._engine = CelEngine()
        self._known: dict[str, Program | None] = {}

    def __call__(self, expression: str, call: Call, /) -> bool | None:
        """Return whether a condition holds for a call; None where that cannot be told from here."""
        if expression not in self._known:
            if len(self._known) >= CONDITIONS:
                self._known.clear()
            self._known[expression] = self._compiled(expression)
        program = self._known[expression]
        if program is None:
            return None
        values = _values(call)
        if not program.reads <= values.keys():
            return None
        try:
            return bool(program.evaluate(self._engine.bind(values)))
        except EvaluationError:
            # What then happens is the webhook's failurePolicy: it may be called, or fail.
            return None

    def _compiled(self, expression: str) -> Program | None:
        try:
            return self._engine.compile(expression, _SCOPE, Scalar.BOOL)
        except ExpressionError:
            return None


def _values(call: Call) -> dict[str, object]:
    """Return what is known of a call.

    WHY no empty labels: an object without any has no such field, and reading it is an error.
    """
    values: dict[str, object] = {
        "request.operation": call.operation,
        "request.namespace": call.namespace,
        "request.subResource": call.subresource,
        "request.resource.group": call.resource.group,
        "request.resource.resource": call.resource.plural,
    }
    if call.labels:
        values["object.metadata.labels"] = dict(call.labels)
    if call.old_labels:
        values["oldObject.metadata.labels"] = dict(call.old_labels)
    return values


def _conforms(conditions: MatchConditions) -> Evaluate:
    """Let the type checker hold this class to the protocol."""
    return conditions
