"""Field selectors: which objects one may take, as far as the model has what it asks for.

Two fields are every object's; the phase of a pod is told by whether it has ended and is Ready.
Of other fields nothing is known here, and who asks has to be told so.
Source: apiserver registry (ObjectMetaFieldsSet), core registry/pod (ToSelectableFields).
"""

from __future__ import annotations

from typing import Final

from suture.model.names import PODS, ObjectKey, Resource
from suture.model.objects import Facts, PodFacts
from suture.model.selectors import Selector

NAME: Final = "metadata.name"
NAMESPACE: Final = "metadata.namespace"
PHASE: Final = "status.phase"

_ENDED: Final = ("Succeeded", "Failed")
_READY: Final = ("Running",)
_OTHER: Final = ("Pending", "Running", "Unknown")


def unfollowed(fields: Selector, resource: Resource) -> tuple[str, ...]:
    """Return the fields that are asked for, and of which nothing is known of objects of a type."""
    known = (NAME, NAMESPACE, PHASE) if resource == PODS else (NAME, NAMESPACE)
    return tuple(one.key for one in fields.requirements if one.key not in known)


def may_take(fields: Selector, key: ObjectKey, facts: Facts | None) -> bool:
    """Whether a field selector may take an object; what is not known of it excludes nothing."""
    if not fields.requirements:
        return True
    unknown = unfollowed(fields, key.resource)
    asked = [one for one in fields.requirements if one.key not in unknown]
    return any(
        all(one.matches({NAME: key.name, NAMESPACE: key.namespace, PHASE: phase}) for one in asked)
        for phase in _phases(facts)
    )


def _phases(facts: Facts | None) -> tuple[str, ...]:
    """Return the phases that a pod may be in; one of none for what has none."""
    if not isinstance(facts, PodFacts):
        return ("",)
    if facts.finished:
        return _ENDED
    return _READY if facts.ready else _OTHER
