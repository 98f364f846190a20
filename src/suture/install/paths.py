"""Where a document of ours is found on an API server.

Pure. A table and not discovery: the kinds are few, and some are served only once they are applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_POLICIES = "policies.suture.dev/"
_PLURALS = {
    "NetworkPolicy": "networkpolicies",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}
_OWN = frozenset({"PolicyTemplate", "ReferenceRule"})


def path_of(document: Mapping[str, Any]) -> str:
    """Return the path of an object that `apiVersion`, `kind` and `metadata` name."""
    version, kind = str(document["apiVersion"]), str(document["kind"])
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    if version.startswith(_POLICIES) and kind not in _OWN:
        # WHY no plural: people name the kinds of constraints, and no rule of English knows theirs.
        plural = kind.lower()
    namespace = document["metadata"].get("namespace")
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"{base}{place}/{plural}/{document['metadata']['name']}"


def label_of(document: Mapping[str, Any]) -> str:
    """Return how people call a document: `Deployment suture-system/suture`."""
    metadata = document["metadata"]
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{document['kind']} {place}{metadata['name']}"
