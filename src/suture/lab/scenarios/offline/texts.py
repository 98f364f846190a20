"""Maps of text that the API server's decoder refuses with anything else in them.

Lives apart from `defaults`, which fills in and refuses nothing. Pure.
Source: the Go types of the core API: `map[string]string`.
"""

from __future__ import annotations

from typing import Any

from suture.lab.scenarios.cluster import Object

_OF_ALL = (("metadata", "labels"), ("metadata", "annotations"))
_OF_KINDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Secret": (("data",), ("stringData",)),
    "ConfigMap": (("data",), ("binaryData",)),
    "Service": (("spec", "selector"),),
}


def wrong_text(body: Object) -> str:
    """Return what in a body is no text and must be, empty where nothing is."""
    core = _OF_KINDS.get(body.get("kind", ""), ()) if body.get("apiVersion") == "v1" else ()
    for path in (*_OF_ALL, *core):
        at: Any = body
        for part in path:
            at = at.get(part) if isinstance(at, dict) else None
        for name, value in at.items() if isinstance(at, dict) else ():
            # WHY None passes: Go reads a null as the empty text.
            if not isinstance(value, str | None):
                return f"{'.'.join(path)}.{name}: `{value}` is no text; write it in quotes"
    return ""
