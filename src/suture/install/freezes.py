"""The FreezeWindow kind: its definition.

Pure. A time in which machines take nothing away: a release, a holiday, an incident under way.
"""

from __future__ import annotations

from typing import Any

from suture.install.grants import definition
from suture.install.profiles import GROUP, VERSION

Document = dict[str, Any]

PLURAL = "freezewindows"
KIND = "FreezeWindow"
FREEZES_PATH = f"/apis/{GROUP}/{VERSION}/{PLURAL}"

NAMES_KEPT = 1_000
"""LIMIT: operators, and namespaces, of one window: as many as a profile names."""


def freeze_definition() -> Document:
    """Return the CustomResourceDefinition of FreezeWindow."""
    moment = {"type": "string", "format": "date-time"}
    names = {
        "type": "array",
        "maxItems": NAMES_KEPT,
        "items": {"type": "string", "minLength": 1, "maxLength": 512},
        "x-kubernetes-list-type": "set",
    }
    spec = {
        "type": "object",
        "required": ["from", "until", "reason"],
        "properties": {
            "from": {**moment, "description": "When it begins."},
            "until": {**moment, "description": "When it ends; until then refused writes wait."},
            "reason": {
                "type": "string",
                "minLength": 1,
                "maxLength": 512,
                "description": "Why; it is in every refusal.",
            },
            "operators": {
                **names,
                "description": "Profiles or user names; none for every machine but Kubernetes' own "
                "controllers.",
            },
            "namespaces": {**names, "description": "Where; none for everywhere."},
        },
        "x-kubernetes-validations": [
            {
                "rule": "self.until > self.from",
                "message": "it must end after it begins",
            }
        ],
    }
    columns: list[Document] = [
        {"name": "From", "type": "string", "jsonPath": ".spec.from"},
        {"name": "Until", "type": "string", "jsonPath": ".spec.until"},
        {"name": "Reason", "type": "string", "jsonPath": ".spec.reason"},
    ]
    words = "A time in which machines take nothing away."
    return definition(PLURAL, KIND, words, {"spec": spec}, columns=columns, short="freeze")
