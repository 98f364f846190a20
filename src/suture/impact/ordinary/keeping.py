"""Custom resources that keep a Secret in being which running pods read: certificates, for one.

Beside `explained`, which says what counts of Kubernetes' own kinds. What such a resource had made
stays without it, and is renewed by nobody: the harm comes weeks later, to all at once.
Source: a name in the spec says which Secret it is (schemas, ReferenceRules); that the Secret is the
younger of the two says that it is what was made, and not what was given.
"""

from __future__ import annotations

from collections.abc import Collection

from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import ANY_NEED, reading
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import SECRETS


def keeps_secret(view: GraphView, row: int, removed: Collection[int]) -> bool:
    """Whether a custom resource keeps a Secret that stays and that running pods read.

    It is the only one of its type that names it.
    """
    if not is_custom(view.resource(row)):
        return False
    return any(
        secret not in removed
        and view.resource(secret) == SECRETS
        and view.created(secret) > view.created(row)
        and _kept(view, row, secret)
        for secret in view.there(row, Edge.RULE)
    )


def _kept(view: GraphView, row: int, secret: int) -> bool:
    """Whether running pods read a Secret, and no other object of a resource's type names it."""
    resource = view.resource(row)
    alone = not any(
        use.row != row and view.resource(use.row) == resource and not view.terminating(use.row)
        for use in view.uses(secret, ANY_NEED)
        if not use.of_pods
    )
    return alone and bool(reading(view, secret))
