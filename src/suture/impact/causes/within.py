"""A namespace whose application ends, and what in it is not that application's.

What is in a namespace goes with it by place alone. So the end of what keeps the namespace accounts
for what that keeps in it, and not for what another keeps there, nor for who lives there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from suture.impact.causes.agreed import is_given_up
from suture.impact.causes.explained import own_namespace
from suture.impact.causes.parents import is_kept_in_api, manager_ends
from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES


def ends_whole(
    view: GraphView, root: int, removed: Collection[int], identity: str, now: Now | None
) -> bool:
    """Whether an object goes with all that goes along, whoever keeps that."""
    return own_namespace(view, root, removed, identity, now) or is_given_up(view, root, identity)


def holds_others(
    view: GraphView,
    root: int,
    removed: Collection[int],
    marks: Callable[[], Iterable[int]],
    identity: str,
) -> bool:
    """Whether a namespace ends with its application, and another stays of which something is in it.

    `marks` are the applications that keep what goes. Or whether who asks lives there: it is at work
    as long as it asks. WHY of an application alone: an owner, an age and whoever gave leave speak
    of the namespace as the whole that it is.
    """
    if view.resource(root) != NAMESPACES or view.terminating(root) or not manager_ends(view, root):
        return False
    account = account_of(identity)
    if account is not None and account.namespace == view.name(root):
        return True
    return any(_stays(view, one, removed) for one in marks())


def _stays(view: GraphView, manager: int, removed: Collection[int]) -> bool:
    """Whether an application is there, and neither it nor what keeps it is going."""
    return (
        is_kept_in_api(view, manager)
        and view.alive(manager)
        and not (view.gone(manager) or view.terminating(manager) or manager in removed)
        and not manager_ends(view, manager)
    )
