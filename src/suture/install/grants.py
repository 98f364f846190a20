"""The Grant kind: its definition, and a grant as a document.

Pure. The digest of a change or policies with a scope, never both; what was granted is never
edited, only taken back.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from suture.install.expressions import LABELS
from suture.install.profiles import GROUP, VERSION
from suture.model.grants import Grant

Document = dict[str, Any]

PLURAL = "grants"
KIND = "Grant"
GRANTS_PATH = f"/apis/{GROUP}/{VERSION}/{PLURAL}"

ENTRIES_KEPT = 64
"""LIMIT: policies, resources, namespaces and names of one grant: what a person reads through."""

TEXT_CHARS = 512


def grant_document(grant: Grant, *, decision: str = "") -> Document:
    """Return a grant as a person creates it; `decision` is the one that it answers."""
    spec: Document = {
        "operator": grant.operator,
        "approver": grant.approver,
        "reason": grant.reason,
        "expires": datetime.fromtimestamp(grant.expires_utc_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "uses": grant.uses,
    }
    lists = {
        "policies": grant.policies,
        "resources": grant.scope.resources,
        "namespaces": grant.scope.namespaces,
        "names": grant.scope.names,
    }
    spec |= {name: list(values) for name, values in lists.items() if values}
    spec |= {
        name: text for name, text in (("digest", grant.digest), ("decision", decision)) if text
    }
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": grant.name},
        "spec": spec,
    }


def grant_definition() -> Document:
    """Return the CustomResourceDefinition of Grant."""
    spec = {
        "type": "object",
        "required": ["operator", "approver", "reason", "expires"],
        "properties": {
            "operator": _text("Whom it is for: an OperatorProfile's name, or a user name."),
            "approver": _text("Who allowed it: the user who creates this object."),
            "reason": _text("Why, for whoever reads the journal."),
            "decision": _text("The decision that it answers, if any.", least=0),
            "expires": {
                "type": "string",
                "format": "date-time",
                "description": "From when on it allows nothing.",
            },
            "digest": {
                "type": "string",
                "pattern": "^[0-9a-f]{32}$",
                "description": "The digest of the one change that is allowed, whatever refuses it; "
                "it stands in the journal's entry of each decision.",
            },
            "policies": _texts("Constraints or templates that are lifted; * for all."),
            "resources": _texts("Resources: services, deployments.apps; none for all."),
            "namespaces": _texts("Namespaces; none for all, and for what is in none."),
            "names": _texts("Names of objects; none for all."),
            "uses": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100_000,
                "default": 1,
                "description": "How many writes it allows; 0 for any number until it expires.",
            },
        },
        "x-kubernetes-validations": [
            {
                "rule": "has(self.digest) != (has(self.policies) && size(self.policies) > 0)",
                "message": "name a digest or policies, and not both",
            },
            {"rule": "self == oldSelf", "message": "a grant is not edited; make another"},
        ],
    }
    status = {
        "type": "object",
        "properties": {
            "used": {"type": "integer", "minimum": 0},
            "lastUsed": {"type": "string", "format": "date-time"},
            "lastDecision": {"type": "string", "maxLength": TEXT_CHARS},
        },
    }
    columns: list[Document] = [
        {"name": "Operator", "type": "string", "jsonPath": ".spec.operator"},
        {"name": "Approver", "type": "string", "jsonPath": ".spec.approver"},
        {"name": "Used", "type": "integer", "jsonPath": ".status.used"},
        {"name": "Uses", "type": "integer", "jsonPath": ".spec.uses"},
        {"name": "Expires", "type": "string", "jsonPath": ".spec.expires"},
        {"name": "Reason", "type": "string", "jsonPath": ".spec.reason", "priority": 1},
    ]
    properties = {"spec": spec, "status": status}
    return definition(
        PLURAL,
        KIND,
        "One exception that a person allows one operator.",
        properties,
        columns=columns,
    )


def definition(
    plural: str,
    kind: str,
    words: str,
    properties: Document,
    *,
    columns: list[Document],
    short: str = "",
) -> Document:
    """Return the definition of a cluster-scoped kind of Suture's own; with a status if it has."""
    version: Document = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "description": words,
                "required": ["spec"],
                "properties": properties,
            }
        },
    }
    if "status" in properties:
        version["subresources"] = {"status": {}}
    names: Document = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
        "categories": ["suture"],
    }
    if short:
        names["shortNames"] = [short]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}", "labels": LABELS},
        "spec": {"group": GROUP, "scope": "Cluster", "names": names, "versions": [version]},
    }


def _text(words: str, *, least: int = 1) -> Document:
    return {
        "type": "string",
        "minLength": least,
        "maxLength": TEXT_CHARS,
        "description": words,
    }


def _texts(words: str) -> Document:
    return {
        "type": "array",
        "maxItems": ENTRIES_KEPT,
        "items": {"type": "string", "minLength": 1, "maxLength": TEXT_CHARS},
        "x-kubernetes-list-type": "set",
        "description": words,
    }
