"""A workload that is put to sleep: whoever scales it to nothing notes down what it had.

Beside `parents`, where somebody above a workload wants it smaller: here the writer itself says that
it means to bring it back. Pure.
Source: tools that save at night write the former size into an annotation, each under its own name.
"""

from __future__ import annotations

import msgspec

from suture.impact.change import Resized
from suture.model.difference import UNREADABLE
from suture.model.request import Request

_KUBERNETES = ("kubernetes.io", "k8s.io")
"""Whose annotations are about something else: a revision, a hash."""


class _Metadata(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _Document(msgspec.Struct, gc=False):
    metadata: _Metadata | None = None


_decoder = msgspec.json.Decoder(_Document)


def notes_size(request: Request, resized: Resized) -> bool:
    """Whether the write that takes a workload's size away keeps it in a new annotation."""
    if resized.after != 0 or not request.old_body or not request.new_body or request.subresource:
        return False
    before, after = _annotations(request.old_body), _annotations(request.new_body)
    size = str(resized.before)
    return any(
        value == size and before.get(name) != value and not _of_kubernetes(name)
        for name, value in after.items()
    )


def _of_kubernetes(name: str) -> bool:
    domain = name.partition("/")[0]
    return any(domain == one or domain.endswith(f".{one}") for one in _KUBERNETES)


def _annotations(body: bytes) -> dict[str, str]:
    try:
        metadata = _decoder.decode(body).metadata
    except UNREADABLE:
        return {}
    return (metadata.annotations if metadata is not None else None) or {}
