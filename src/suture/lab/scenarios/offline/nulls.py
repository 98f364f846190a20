"""What the API server reads where a body says null: for kinds of its own, what is not there.

Lives apart from `defaults`, which fills in what is then missing. Custom resources are decoded by no
type: their nulls are the schema's business, and stay. Pure.
Source: Go's JSON decoder: null is a field's zero value, and in `map[string]string` the empty text.
"""

from __future__ import annotations

from typing import Any

from suture.lab.scenarios.cluster import Object
from suture.model.groups import is_kubernetes

_TEXTS = frozenset(
    {"labels", "annotations", "matchLabels", "nodeSelector", "data", "binaryData", "stringData"}
)
"""Fields that are maps of text, in whatever built-in type they are."""
_SELECTOR = "selector"
_SELECTING = frozenset({"Service", "ReplicationController"})
"""Kinds whose `spec.selector` is one, too; others have a LabelSelector there."""
_RAW = frozenset({"ControllerRevision"})
"""Kinds that carry somebody's document as it was written."""


def is_typed(body: Object) -> bool:
    """Whether the API server decodes a body into a type of its own."""
    return is_kubernetes(str(body.get("apiVersion", "")).rpartition("/")[0])


def without_nulls(body: Object) -> Object:
    """Return a body as it is decoded; the same one where it has no null."""
    kind = body.get("kind", "")
    if not is_typed(body) or kind in _RAW:
        return body
    texts = _TEXTS | {_SELECTOR} if kind in _SELECTING else _TEXTS
    found: Object = _decoded(body, texts, text=False)
    return found


def _decoded(value: Any, texts: frozenset[str], *, text: bool) -> Any:
    """Return a value without its nulls; in a map of text each is the empty text."""
    if isinstance(value, dict):
        kept = {
            key: "" if one is None else _decoded(one, texts, text=key in texts)
            for key, one in value.items()
            if one is not None or text
        }
        same = len(kept) == len(value) and all(kept[key] is one for key, one in value.items())
        return value if same else kept
    if isinstance(value, list):
        several = [_decoded(one, texts, text=False) for one in value]
        same = all(after is before for after, before in zip(several, value, strict=True))
        return value if same else several
    return value
