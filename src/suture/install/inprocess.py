"""The shape of an in-process policy, and of what puts it in force.

Pure. `guards` and `reach` say what is asked; here is how an API server is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suture.install.expressions import LABELS

Document = dict[str, Any]

_API = "admissionregistration.k8s.io/v1"


def admission_policy(
    name: str,
    *,
    operations: Sequence[str],
    rules: Sequence[tuple[str, ...]],
    conditions: Sequence[tuple[str, str]],
    variables: dict[str, str],
    expression: str,
    message: str,
    plain: str,
    failure: str = "Fail",
) -> Document:
    """Return a ValidatingAdmissionPolicy: what it is asked about, and what must be true.

    `message` is an expression, `plain` what is said where it has no value.
    """
    spec: Document = {
        "failurePolicy": failure,
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "resourceRules": [
                {
                    "apiGroups": [group],
                    "apiVersions": ["*"],
                    "operations": list(operations),
                    "resources": list(resources),
                    "scope": "*",
                }
                for group, *resources in rules
            ],
        },
        "variables": [{"name": key, "expression": value} for key, value in variables.items()],
        "validations": [
            {
                "expression": expression,
                "message": plain,
                "messageExpression": message,
                "reason": "Forbidden",
            }
        ],
    }
    if conditions:
        spec["matchConditions"] = [{"name": key, "expression": value} for key, value in conditions]
    return {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name, "labels": LABELS},
        "spec": spec,
    }


def admission_binding(name: str) -> Document:
    """Return what puts a policy in force for all that it is asked about."""
    return {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": LABELS},
        "spec": {"policyName": name, "validationActions": ["Deny", "Audit"]},
    }
