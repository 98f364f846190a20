"""The OperatorProfile kind: its definition, and a profile as a document.

Pure. Few fields, so that a profile can be read in one glance and kept in Git.
"""

from __future__ import annotations

from typing import Any

from suture.install.expressions import LABELS
from suture.model.actor import Profile, Stage, WhenDead

Document = dict[str, Any]

GROUP = "suture.dev"
VERSION = "v1alpha1"
PLURAL = "operatorprofiles"
KIND = "OperatorProfile"
PROFILES_PATH = f"/apis/{GROUP}/{VERSION}/{PLURAL}"

NAMES_KEPT = 1_000
"""LIMIT: users, and groups, of one profile: as many as a condition can hold in all."""


def profile_document(profile: Profile) -> Document:
    """Return a profile as the cluster stores it."""
    spec: Document = {"stage": profile.stage.value, "whenDead": profile.when_dead.value}
    if profile.default:
        spec["default"] = True
    if profile.users:
        spec["users"] = list(profile.users)
    if profile.groups:
        spec["groups"] = list(profile.groups)
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": profile.name},
        "spec": spec,
    }


def profile_definition() -> Document:
    """Return the CustomResourceDefinition of OperatorProfile."""
    names = {
        "type": "array",
        "maxItems": NAMES_KEPT,
        "items": {"type": "string", "minLength": 1, "maxLength": 512},
        "x-kubernetes-list-type": "set",
    }
    spec = {
        "type": "object",
        "properties": {
            "users": {
                **names,
                "description": "User names; service accounts as "
                "system:serviceaccount:NAMESPACE:NAME.",
            },
            "groups": {**names, "description": "Groups; whoever is in one of them is meant."},
            "stage": {
                "type": "string",
                "enum": [stage.value for stage in Stage],
                "default": Stage.OBSERVE.value,
                "description": "How far a refusal goes: observe journals it, warn tells the "
                "operator, enforce refuses, confirm lets people go on after a second thought.",
            },
            "whenDead": {
                "type": "string",
                "enum": [word.value for word in WhenDead],
                "default": WhenDead.PASS.value,
                "description": "What happens to destructive requests while Suture cannot answer. "
                "In force once `suture operators set` has written it into the registration.",
            },
            "default": {
                "type": "boolean",
                "description": "The stage of this profile holds for all machines that no other "
                "profile names.",
            },
        },
        "x-kubernetes-validations": [
            {
                "rule": "(has(self.default) && self.default) != "
                "((has(self.users) && size(self.users) > 0) || "
                "(has(self.groups) && size(self.groups) > 0))",
                "message": "name users or groups, or be the default, and not both",
            },
            {
                "rule": "self.stage != 'confirm' || (!(has(self.default) && self.default) && "
                "self.whenDead != 'hold')",
                "message": "confirm is for people that are named, and people are never held",
            },
            {
                "rule": "!(has(self.default) && self.default && self.whenDead == 'hold')",
                "message": "hold is set operator by operator: the default would hold what "
                "the cluster itself needs to start",
            },
        ],
    }
    columns = [
        {"name": "Stage", "type": "string", "jsonPath": ".spec.stage"},
        {"name": "When dead", "type": "string", "jsonPath": ".spec.whenDead"},
        {"name": "Users", "type": "string", "jsonPath": ".spec.users", "priority": 1},
        {"name": "Groups", "type": "string", "jsonPath": ".spec.groups", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}", "labels": LABELS},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["oprof"],
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
                            "description": "An identity that writes to this cluster, and how far "
                            "Suture is enforced on it.",
                            "required": ["spec"],
                            "properties": {"spec": spec},
                        }
                    },
                }
            ],
        },
    }
