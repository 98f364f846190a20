"""Annotations of a node that go all at once: by them agents and controllers keep notes of it there.

Who writes a node as it made it up, and not as it was, takes along what the others have put there:
where its runtime listens, who attaches its volumes, what may not be scaled down. Each of them finds
nothing, and takes the node for a new one.
Source: kubelet (`volumes.kubernetes.io/controller-managed-attach-detach`), kubeadm (`cri-socket`),
the cluster autoscaler (`scale-down-disabled`), networks (the addresses of a node).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.change import Change
from suture.impact.scene import Scene
from suture.model.names import NODES, Operation
from suture.model.request import Request

SEVERAL: Final = 2
"""Of how many what goes must be, by their domains: who takes its own alone is done with it."""

OWN: Final = ".kubernetes.io"
"""How the domains of the cluster itself end: of those every node has something."""

_ANNOTATED: Final = b'"annotations"'


def rewrites_node(change: Change) -> bool:
    """Whether a change may be of a node that stays, were it of its annotations alone."""
    made = change.rewritten
    return change.empty or (made is not None and made.after.key.resource == NODES)


def rewrites_annotations(request: Request) -> bool:
    """Whether a request writes a node itself, which has annotations; they are not in the model."""
    return (
        request.key.resource == NODES
        and request.operation is Operation.UPDATE
        and not request.subresource
        and _ANNOTATED in request.old_body
    )


def annotations_wiped(scene: Scene) -> Iterator[EntriesDropped]:
    """Yield what several annotated a node with, the cluster itself too, and only one has still."""
    request = scene.request
    row = scene.view.find(request.key) if rewrites_annotations(request) else None
    if row is None:
        return
    had = annotations_of(request.old_body)
    has = annotations_of(request.new_body)
    gone = [name for name in had if name not in has]
    whose, left = _domains(gone), _domains(name for name in had if name in has)
    wiped = len(whose) >= SEVERAL > len(left) and whose.isdisjoint(left)
    if wiped and any(one.endswith(OWN) for one in whose):
        yield EntriesDropped(
            holder=scene.victim(row),
            field="metadata.annotations",
            before=len(had),
            dropped=len(gone),
            entries=tuple(gone[: scene.limit]),
            readers=0,
            critical=True,
        )


def _domains(names: Iterable[str]) -> set[str]:
    return {name.partition("/")[0] for name in names}
