"""What is in no namespace and bound to one custom resource in a namespace, and goes with that.

Beside `labelled`, whose parents labels name by their kind: an owner cannot be in a namespace of
what is in none, so that controllers write two references in its place. What people ask for, in
their namespace, names the other by kind; and that says in a pair of labels `…-name` and
`…-namespace` whose it is. Both are of one group, as a claim and its volume are. A guess by names,
so that it is believed of what has no owner.
Source: Crossplane claims and composites (`spec.resourceRef`, `crossplane.io/claim-name` and
`crossplane.io/claim-namespace`).
LIMIT: of what was asked for by something that is gone nobody knows any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from suture.impact.causes.parents import asks_as_before
from suture.impact.ground.kinds import is_custom
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.graph import GraphView

_NAMESPACE: Final = "-namespace"
_MARK: Final = b'-namespace"'


def bound_ends(view: GraphView, row: int) -> bool:
    """Whether what an object is bound to is going."""
    asking = _bound_to(view, row)
    return bool(asking) and all(map(view.terminating, asking))


def bound_wants(view: GraphView, row: int, removed: Collection[int], now: Now | None) -> bool:
    """Whether what an object is bound to is there, and stays as it was."""
    return any(asks_as_before(view, one, removed, now) for one in _bound_to(view, row))


def _bound_to(view: GraphView, row: int) -> list[int]:
    """Return what in a namespace an object in none is bound to."""
    resource = view.resource(row)
    # WHY the bytes: to read labels costs more, and few name a namespace.
    if view.namespace(row) or not is_custom(resource) or _MARK not in view.label_bytes(row):
        return []
    if view.has_owner(row):
        return []
    labels = view.labels(row)
    return [
        one
        for one in view.sources(row, Edge.PROVIDER)
        if view.resource(one).group == resource.group
        and names_in_labels(labels, view.name(one), view.namespace(one))
    ]


def names_in_labels(labels: Mapping[str, str], name: str, namespace: str) -> bool:
    """Whether a pair of labels, `…-name` and `…-namespace`, says these."""
    return bool(namespace) and any(
        said == namespace
        and label.endswith(_NAMESPACE)
        and labels.get(f"{label.removesuffix(_NAMESPACE)}-name") == name
        for label, said in labels.items()
    )
