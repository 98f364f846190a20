"""Who wants which kinds watched, and how closely: the union of that is what is watched.

Here because it is the app's own bookkeeping: rooms below say what they read, the cluster says what
there is, and the mirror follows what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

import msgspec

from suture.model.names import LEASES, NAMESPACES, Resource
from suture.model.rulebook import KindRules
from suture.wire.discovery import ApiResource
from suture.wire.kinds import CLOSELY, SHAPES

EVENTS = frozenset({Resource("", "events"), Resource("events.k8s.io", "events")})
"""WHY never read: nothing depends on them, and there is no end of them."""

NEVER = EVENTS | {LEASES}
"""WHY never watched: nothing depends on them, and they are most of what a quiet cluster writes."""

MODEL = "model"
"""The registrar of what impact and policies read, whatever else is wanted."""


class Want(msgspec.Struct, frozen=True):
    """How a kind is wanted.

    `full`: whole objects, else metadata only. `fresh`: decisions rest on it, so that its age must
    be known within seconds even where nothing happens. `rules`: what its reader is to heed; it is
    listed anew when they change.
    """

    full: bool = False
    fresh: bool = False
    rules: KindRules | None = None

    def __or__(self, other: Want) -> Want:
        return Want(self.full or other.full, self.fresh or other.fresh, self.rules or other.rules)


EVERYTHING = Want()
"""What every kind gets that can be listed and watched: closures of owners and namespaces are exact
only when nothing in them is overlooked."""

OF_THE_MODEL: Mapping[Resource, Want] = {
    **{resource: Want(full=True, fresh=resource in CLOSELY) for resource in SHAPES},
    NAMESPACES: Want(fresh=True),
}


class Watches:
    """Registrars and their wants. A change tells `on_change`, which may be set by one follower.

    `never`: kinds that nobody gets, whoever wants them.
    """

    def __init__(self, never: AbstractSet[Resource] = NEVER) -> None:
        self._never = never
        self._wants: dict[str, Mapping[Resource, Want]] = {MODEL: OF_THE_MODEL}
        self.on_change: Callable[[], None] = lambda: None

    def register(self, who: str, wants: Mapping[Resource, Want]) -> None:
        """Replace what a registrar wants; other registrars' wants are untouched."""
        if self._wants.get(who) != wants:
            self._wants[who] = dict(wants)
            self.on_change()

    def withdraw(self, who: str) -> None:
        """Forget a registrar."""
        if self._wants.pop(who, None) is not None:
            self.on_change()

    def want(self, api: ApiResource) -> Want | None:
        """Return how a served kind is watched; None where it is not, or cannot be."""
        if not {"list", "watch"} <= api.verbs or api.resource in self._never:
            return None
        union = EVERYTHING
        for wants in self._wants.values():
            union |= wants.get(api.resource, EVERYTHING)
        return union
