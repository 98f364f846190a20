"""CEL as the API server evaluates it on a write: match conditions and in-process policies.

Lives offline because on a cluster the API server does it. Expressions are those that Suture itself
installs and those of a scenario's own policies; each is compiled once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from suture.lab.scenarios.cluster import Object
from suture.policy.engines import Bindings, EvaluationError, ExpressionError, Program, Scalar, Scope
from suture.policy.engines.cel import CelEngine

_NAMES = ("request", "object", "oldObject", "params", "variables", "namespaceObject")
_SCOPE = Scope(dict.fromkeys(_NAMES, Scalar.ANY))


class Expressions:
    """Compiled expressions by their text."""

    def __init__(self) -> None:
        self._engine = CelEngine()
        self._compiled: dict[str, Program] = {}

    def bind(self, values: Mapping[str, Any]) -> Bindings:
        """Make a write readable for any number of expressions."""
        return self._engine.bind({**dict.fromkeys(_NAMES), "variables": {}, **values})

    def value(self, expression: str, bindings: Bindings) -> Any:
        """Return an expression's value. Errors: EvaluationError, for one that is malformed too."""
        program = self._compiled.get(expression)
        if program is None:
            try:
                program = self._engine.compile(expression, _SCOPE, Scalar.ANY)
            except ExpressionError as error:
                raise EvaluationError(str(error)) from error
            self._compiled[expression] = program
        return program.evaluate(bindings)

    def all(self, conditions: Iterable[str], bindings: Bindings) -> bool:
        """Whether every condition is true; the first that is not ends it."""
        return all(self.value(one, bindings) is True for one in conditions)


class Policies:
    """The ValidatingAdmissionPolicies of a cluster, asked of each write."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions

    def refusal(
        self,
        policy: Object,
        binding: Object,
        params: Object | None,
        values: Mapping[str, Any],
    ) -> str:
        """Return with which words a policy refuses a write that it matches, empty if it does not.

        Errors: EvaluationError, which a fail-closed policy's caller takes for a refusal.
        """
        spec = policy["spec"]
        ask = self._expressions
        known: dict[str, Any] = {**values, "params": params}
        bindings = ask.bind(known)
        conditions = [one["expression"] for one in spec.get("matchConditions") or ()]
        if not ask.all(conditions, bindings):
            return ""
        variables: dict[str, Any] = {}
        for variable in spec.get("variables") or ():
            variables[variable["name"]] = ask.value(variable["expression"], bindings)
            bindings = ask.bind({**known, "variables": variables})
        for validation in spec.get("validations") or ():
            if ask.value(validation["expression"], bindings) is True:
                continue
            return self._words(policy, binding, validation, bindings)
        return ""

    def _words(
        self, policy: Object, binding: Object, validation: Object, bindings: Bindings
    ) -> str:
        message = ""
        if "messageExpression" in validation:
            message = str(self._expressions.value(validation["messageExpression"], bindings))
        message = message or validation.get("message") or f"failed {validation['expression']}"
        name, bound = policy["metadata"]["name"], binding["metadata"]["name"]
        return (
            f"ValidatingAdmissionPolicy '{name}' with binding '{bound}' denied request: {message}"
        )
