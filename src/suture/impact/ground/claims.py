"""Claims that are deleted and stay, since pods use them; and which sets they are called after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from suture.impact.ground.cascade import closure
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, ObjectKey

PROTECTION: Final = "kubernetes.io/pvc-protection"
"""The finalizer of a claim, lifted when no pod uses it."""

_NAMED: Final = frozenset({Edge.CLAIM})
_ORDINAL: Final = re.compile(r"(.+)-(\d{1,9})")


def set_names(claim: ObjectKey) -> Iterator[tuple[str, int]]:
    """Yield the names of the sets that a claim may be called after, and its ordinal."""
    fits = _ORDINAL.fullmatch(claim.name)
    if claim.resource != CLAIMS or fits is None:
        return
    stem, ordinal = fits[1], int(fits[2])
    _, dash, name = stem.partition("-")
    while dash:
        yield name, ordinal
        _, dash, name = name.partition("-")


def leaving_in_time(view: GraphView, rows: tuple[int, ...]) -> tuple[int, ...]:
    """Return the rows of which what they own does not wait for them in vain.

    A claim stays until no pod uses it, and what it owns stays with it: where these pods are a part
    of that, nothing goes.
    SOURCE: pkg/controller/volume/pvcprotection; the collector waits until an owner is gone.
    """
    if not rows or view.resource(rows[0]) != CLAIMS:
        return rows
    held = {row: _users(view, row) for row in rows if view.takes_along(row)}
    held = {row: pods for row, pods in held.items() if pods}
    while held:
        going = set(closure(view, [row for row in rows if row not in held]))
        freed = [row for row, pods in held.items() if going.issuperset(pods)]
        if not freed:
            break
        for row in freed:
            del held[row]
    return tuple(row for row in rows if row not in held)


def naming(view: GraphView, claim: int) -> Iterator[int]:
    """Yield the pods that name a claim, those that have ended too."""
    for use in view.uses(claim, _NAMED):
        if use.of_pods:
            yield from view.pods_alike(use.row)


def _users(view: GraphView, claim: int) -> list[int]:
    """Return the pods for which a claim is kept."""
    if PROTECTION not in view.finalizers(claim):
        return []
    return [pod for pod in naming(view, claim) if not view.finished(pod)]
