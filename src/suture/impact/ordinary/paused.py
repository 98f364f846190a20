"""A workload that is put to sleep: whoever scales it to nothing notes down what it had.

Beside `parents`, where somebody above a workload wants it smaller: here the writer itself says that
it means to bring it back. Pure.
Source: tools that save at night write the former size into an annotation, each under its own name.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.change import Resized
from suture.model.request import Request

_KUBERNETES: Final = ("kubernetes.io", "k8s.io")
"""Whose annotations are about something else: a revision, a hash."""


def notes_size(request: Request, resized: Resized) -> bool:
    """Whether the write that takes a workload's size away keeps it in a new annotation."""
    if resized.after != 0 or not request.old_body or not request.new_body or request.subresource:
        return False
    before, after = annotations_of(request.old_body), annotations_of(request.new_body)
    size = str(resized.before)
    return any(
        value == size and before.get(name) != value and not _of_kubernetes(name)
        for name, value in after.items()
    )


def _of_kubernetes(name: str) -> bool:
    domain = name.partition("/")[0]
    return any(domain == one or domain.endswith(f".{one}") for one in _KUBERNETES)
