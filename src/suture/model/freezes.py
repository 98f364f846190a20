"""Freeze windows: from when until when machines take nothing away, and what that means.

Pure. Wall time decides, since people say these times; a clock that jumps moves a window with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from suture.model.actor import SERVICE_ACCOUNT, Actor
from suture.model.clock import Now

POLICY = "freeze-window"
"""What a grant names that lifts a freeze."""

CLUSTERS_OWN = frozenset(
    f"{SERVICE_ACCOUNT}kube-system:{name}"
    for name in (
        "daemon-set-controller",
        "job-controller",
        "node-controller",
        "pod-garbage-collector",
        "resource-claim-controller",
        "taint-eviction-controller",
        "ttl-controller",
    )
)
"""WHY these are not frozen unless named: pods of a dead node would not come back elsewhere, and
finished Jobs would never end. Source: the controllers of kube-controller-manager that originate
deletes."""


class Freeze(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One window. What is empty does not narrow it: every machine, every namespace."""

    name: str
    from_utc_s: float
    until_utc_s: float
    reason: str
    operators: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()

    def names(self, actor: Actor) -> bool:
        """Whether an operator is meant, by its profile's name or its user name."""
        if self.operators:
            return actor.operator in self.operators or actor.user.username in self.operators
        return actor.user.username not in CLUSTERS_OWN


class Freezes:
    """The windows that there are. Replaced whole, never edited."""

    def __init__(self, windows: Iterable[Freeze] = ()) -> None:
        self.windows = tuple(sorted(windows, key=lambda one: (-one.until_utc_s, one.name)))

    def open_at(self, now: Now, actor: Actor) -> tuple[Freeze, ...]:
        """Return the windows in which an actor is now, the longest first."""
        if not self.windows:
            return ()
        return tuple(
            one
            for one in self.windows
            if one.from_utc_s <= now.utc_s < one.until_utc_s and one.names(actor)
        )


def holding(windows: Iterable[Freeze], places: Collection[str]) -> Freeze | None:
    """Return the window that holds a change which takes away from these namespaces."""
    return next(
        (
            one
            for one in windows
            if not one.namespaces or not set(places).isdisjoint(one.namespaces)
        ),
        None,
    )
