"""The ReferenceRule kind: its definition, so that a mistake is refused where it is made.

Pure. What a definition cannot check (a path's syntax past its characters, a template) is told by
`suture serve`, which leaves such a rule out.
"""

from __future__ import annotations

from typing import Any

from suture.install.expressions import LABELS
from suture.model.fieldpath import LENGTH
from suture.model.ruleformat import CHILDREN, KIND
from suture.model.rules import REFERENCE_RULES, By, Form, Place

Document = dict[str, Any]

VERSION = "v1alpha1"
NAMED = 253
"""LIMIT: characters of a group, a kind's name or a label's key, as the API server's own."""

_TEXT = {"type": "string", "maxLength": NAMED}


def rule_definition() -> Document:
    """Return the CustomResourceDefinition of ReferenceRule."""
    plural = f"{REFERENCE_RULES.plural}.{REFERENCE_RULES.group}"
    columns = [
        {"name": "From", "type": "string", "jsonPath": ".spec.from.kind"},
        {"name": "Field", "type": "string", "jsonPath": ".spec.field"},
        {"name": "To", "type": "string", "jsonPath": ".spec.to.kind"},
        {"name": "Selector", "type": "string", "jsonPath": ".spec.selector.field"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": plural, "labels": LABELS},
        "spec": {
            "group": REFERENCE_RULES.group,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": REFERENCE_RULES.plural,
                "singular": KIND.lower(),
                "shortNames": ["refrule"],
                "categories": ["suture"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": columns,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "description": "What a field of a custom resource names or selects, "
                            "or which children it has, so that Suture knows what needs what.",
                            "required": ["spec"],
                            "properties": {"spec": _spec()},
                        }
                    },
                }
            ],
        },
    }


def _spec() -> Document:
    return {
        "type": "object",
        "required": ["from"],
        "properties": {
            "from": _type("The kind whose objects are read."),
            "field": _path("Where the name stands: spec.backends[*].service.name."),
            "to": {
                **_type("The kind that is named."),
                "properties": {
                    **_type_fields(),
                    "namespace": {
                        **_path(
                            "Where the named object is: same, cluster, or the path of a field."
                        ),
                        "default": Place.SAME.value,
                    },
                    "key": _path("Where the entry of a ConfigMap or Secret stands that is read."),
                },
            },
            "optional": {
                "type": "boolean",
                "description": "The object starts without what it names. Only with field.",
            },
            "wanted": _path("How many children are wanted: spec.replicas. With [*] they add up."),
            "children": {
                "type": "array",
                "maxItems": CHILDREN,
                "description": "Kinds of objects that belong to each object of the kind.",
                "items": _child(),
            },
            "selector": _selector(),
            "outside": _path(
                "Where it says what becomes of the thing outside the cluster that it stands for, "
                "or which one that is: spec.deletionPolicy."
            ),
        },
        "x-kubernetes-validations": [
            {
                "rule": "[has(self.field) || has(self.to), has(self.children) || has(self.wanted), "
                "has(self.selector), has(self.outside)].filter(form, form).size() == 1",
                "message": "say one thing: field with to, children or wanted, selector, or outside",
            },
            {
                "rule": "has(self.field) == has(self.to)",
                "message": "field and to belong together",
            },
            {
                "rule": "!has(self.optional) || has(self.field)",
                "message": "optional belongs to field",
            },
        ],
    }


def _type_fields() -> Document:
    return {
        "group": {**_TEXT, "description": "Empty for the core group."},
        "kind": {**_TEXT, "minLength": 1},
        "resource": {
            **_TEXT,
            "minLength": 1,
            "description": "The plural, where kind is not given.",
        },
    }


def _type(description: str) -> Document:
    return {
        "type": "object",
        "description": description,
        "properties": _type_fields(),
        "x-kubernetes-validations": [
            {
                "rule": "has(self.kind) != has(self.resource)",
                "message": "give one of kind and resource",
            }
        ],
    }


def _path(description: str) -> Document:
    return {
        "type": "string",
        "description": description,
        "minLength": 1,
        "maxLength": LENGTH,
    }


def _child() -> Document:
    found = _type("One kind of children, and how each names its parent.")
    found["required"] = ["by"]
    found["properties"] |= {
        "by": {"type": "string", "enum": [by.value for by in By]},
        "label": {
            **_TEXT,
            "minLength": 1,
            "description": "The key whose value is the parent's name.",
        },
        "name": {
            **_TEXT,
            "minLength": 1,
            "description": "The child's name, with {name} for its parent's and * for one part.",
        },
        "parent": {
            "type": "string",
            "enum": [place.value for place in Place],
            "default": Place.SAME.value,
            "description": "Where the parent is: in the child's namespace, or in none.",
        },
    }
    found["x-kubernetes-validations"] += [
        {
            "rule": "(self.by == 'label') == has(self.label) && "
            "(self.by == 'name') == has(self.name)",
            "message": "give label where by is label, name where by is name, else neither",
        }
    ]
    return found


def _selector() -> Document:
    return {
        "type": "object",
        "description": "A field that selects other objects by their labels.",
        "required": ["field"],
        "properties": {
            "field": _path("Where the selector stands."),
            "of": {
                "description": "pods, nodes, or a kind.",
                "x-kubernetes-preserve-unknown-fields": True,
            },
            "form": {
                "type": "string",
                "enum": [form.value for form in Form],
                "default": Form.LABEL_SELECTOR.value,
            },
            "namespace": {
                "type": "string",
                "enum": [place.value for place in Place],
                "default": Place.SAME.value,
                "description": "cluster where the selected kind has no namespaces.",
            },
            "namespaces": _path("Where a label selector of the namespaces to look into stands."),
        },
    }
