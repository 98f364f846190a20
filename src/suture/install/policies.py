"""Policies as kinds of the cluster: PolicyTemplate, and a kind for the constraints of each.

Pure. A template's parameter schema becomes part of its kind's definition, so that the API server
itself refuses a wrong constraint where it is written. Parameters and match have roots of their own
and cannot collide. Defaults are left out: they stay the template's, and a later pack may better
them in constraints that never said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from suture.install.expressions import LABELS
from suture.model.documents import Document as Written
from suture.model.documents import read_as
from suture.model.names import Operation
from suture.policy.format import (
    API_VERSION,
    TEMPLATE_KIND,
    BudgetFormat,
    SchemaFormat,
    TemplateFormat,
    TemplateSpec,
)
from suture.policy.matching import ANY
from suture.policy.rules import EnforcementAction, Point
from suture.policy.windows import MAX_WINDOWS

Document = dict[str, Any]

GROUP, _, VERSION = API_VERSION.partition("/")
POLICIES_PATH = f"/apis/{API_VERSION}"
TEMPLATES = f"{TEMPLATE_KIND.lower()}s"
TEMPLATES_PATH = f"{POLICIES_PATH}/{TEMPLATES}"

ENTRIES = 1_000
"""LIMIT: names, kinds or selectors in one list of a match: as many as a profile names."""
CHARACTERS = 512
"""LIMIT: of one such name; the API server's own names have 253."""

_TEXT: Document = {"type": "string", "maxLength": CHARACTERS}
_TEXTS: Document = {"type": "array", "maxItems": ENTRIES, "items": _TEXT}
_SOME_TEXTS: Document = {**_TEXTS, "minItems": 1}
"""WHY some: of a list that is empty nothing matches, and a policy would be off without a word."""
_ACTION: Document = {"type": "string", "enum": [action.value for action in EnforcementAction]}
_LABELS: Document = {"type": "object", "additionalProperties": _TEXT}
_WINDOWS: Document = {
    "type": "array",
    "minItems": 1,
    "maxItems": MAX_WINDOWS,
    "items": {
        "type": "object",
        "required": ["seconds", "count"],
        "properties": {
            "seconds": {
                "x-kubernetes-int-or-string": True,
                "description": "How long it is: a number, or 90s, 5m, 24h, 7d.",
            },
            "count": {"type": "integer", "minimum": 0},
            "percent": {"type": "number", "minimum": 0, "maximum": 100},
        },
    },
}


def constraints_plural(kind: str) -> str:
    """Return under which plural a template's constraints are served: the kind in small letters."""
    return kind.lower()


def constraints_path(kind: str) -> str:
    """Return the path of all constraints of a kind."""
    return f"{POLICIES_PATH}/{constraints_plural(kind)}"


def policy_definitions(documents: Iterable[Written]) -> tuple[Document, ...]:
    """Return the definitions of PolicyTemplate, and of the constraints of each template given.

    Documents that are no templates are passed over. Errors: DocumentError for a template that is
    not shaped like one.
    """
    templates = [
        read_as(document, TemplateFormat)
        for document in documents
        if document.at(("kind",)) == TEMPLATE_KIND
    ]
    return (template_definition(), *(constraint_definition(one.spec) for one in templates))


def template_definition() -> Document:
    """Return the CustomResourceDefinition of PolicyTemplate.

    What a definition cannot check (expressions, effects, the schema of parameters) is told by
    `suture policies apply` before it writes, and by `suture serve`, which leaves it out.
    """
    spec: Document = {
        "type": "object",
        "required": ["constraintKind"],
        # WHY: the schema of parameters nests without end, and what is misspelt must be told, which
        # it cannot be once the API server has dropped it.
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {
            "constraintKind": {
                "type": "string",
                "pattern": "^[A-Z][A-Za-z0-9]{0,62}$",
                "description": "The kind of its constraints.",
            },
            "description": {"type": "string"},
        },
        "x-kubernetes-validations": [
            {
                "rule": "self.constraintKind == oldSelf.constraintKind",
                "message": "its constraints have that kind; make another template",
            }
        ],
    }
    columns = [
        {"name": "Constraints", "type": "string", "jsonPath": ".spec.constraintKind"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    words = "The logic of a policy, once; its constraints say where it holds, with which numbers."
    found = _definition(TEMPLATE_KIND, TEMPLATES, words, spec, columns)
    found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    return found


def constraint_definition(template: TemplateSpec) -> Document:
    """Return the CustomResourceDefinition of a template's constraints."""
    kind = template.constraint_kind
    spec: Document = {
        "type": "object",
        "properties": {
            "enforcementAction": {
                **_ACTION,
                "description": "deny refuses (the default), warn tells, dryrun only reports.",
            },
            "enforcementPoints": {
                "type": "object",
                "properties": {point.value: _ACTION for point in Point},
                "description": "What differs where a decision is made elsewhere.",
            },
            "rules": {
                "type": "object",
                "additionalProperties": _ACTION,
                "description": "What differs for single rules, by their codes.",
            },
            "match": _match(),
            "parameters": _parameters(template),
        },
    }
    columns = [
        {"name": "Action", "type": "string", "jsonPath": ".spec.enforcementAction"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    return _definition(kind, constraints_plural(kind), template.description, spec, columns)


def _match() -> Document:
    operations = [ANY, *(operation.value for operation in Operation)]
    kinds: Document = {
        "type": "object",
        "required": ["groups", "resources"],
        "properties": {"groups": _SOME_TEXTS, "resources": _SOME_TEXTS},
    }
    expression: Document = {
        "type": "object",
        "required": ["key", "operator"],
        "properties": {"key": _TEXT, "operator": _TEXT, "values": _TEXTS},
    }
    return {
        "type": "object",
        "description": "Which requests it applies to; what is left out excludes nothing.",
        "properties": {
            "operators": _SOME_TEXTS,
            "excludedOperators": _TEXTS,
            "operations": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "enum": operations},
            },
            "kinds": {"type": "array", "minItems": 1, "maxItems": ENTRIES, "items": kinds},
            "namespaces": _SOME_TEXTS,
            "excludedNamespaces": _TEXTS,
            "names": _SOME_TEXTS,
            "labelSelector": {
                "type": "object",
                "properties": {
                    "matchLabels": _LABELS,
                    "matchExpressions": {"type": "array", "maxItems": ENTRIES, "items": expression},
                },
            },
        },
    }


def _parameters(template: TemplateSpec) -> Document:
    schema: Document = {"type": "object", "properties": {}}
    if template.parameters is not None:
        schema = _schema(template.parameters.schema)
    for budget in template.budgets:
        schema["properties"] |= _windows(budget)
    return schema


def _windows(budget: BudgetFormat) -> Document:
    words = budget.description or f"Windows of the budget {budget.name}."
    found: Document = {budget.parameter: {**_WINDOWS, "description": words}}
    if budget.by_key:
        keyed = {"type": "object", "required": ["windows"], "properties": {"windows": _WINDOWS}}
        found[budget.by_key] = {
            "type": "object",
            "additionalProperties": keyed,
            "description": f"{words} For single keys.",
        }
    return found


def _schema(written: SchemaFormat) -> Document:
    """Return a parameter's schema as a definition may have it: without its default."""
    found: Document = {}
    if written.int_or_string:
        found["x-kubernetes-int-or-string"] = True
    else:
        found["type"] = written.type
    for name in ("description", "enum", "minimum", "maximum", "required"):
        value = getattr(written, name)
        if value not in (None, "", []):
            found[name] = value
    if written.properties is not None:
        found["properties"] = {name: _schema(one) for name, one in written.properties.items()}
    if written.items is not None:
        found["items"] = _schema(written.items)
    if written.additional_properties is not None:
        found["additionalProperties"] = _schema(written.additional_properties)
    if found.get("type") == "object" and not {"properties", "additionalProperties"} & found.keys():
        found["x-kubernetes-preserve-unknown-fields"] = True
    return found


def _definition(
    kind: str, plural: str, words: str, spec: Document, columns: list[Document]
) -> Document:
    schema: Document = {
        "type": "object",
        "description": words,
        "properties": {"spec": spec},
    }
    version: Document = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": schema},
    }
    names: Document = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
        "categories": ["suture", "suture-policies"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}", "labels": LABELS},
        "spec": {"group": GROUP, "scope": "Cluster", "names": names, "versions": [version]},
    }
