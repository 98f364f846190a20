"""Which request a controller's delete carries out: consequences are told as part of its story.

The garbage collector, the namespace controller and the controllers of replicas delete what others
gave up. Such a delete is tied to the decision that admitted the cause: by the uid, while the
overlay holds it; by an owner or the namespace that was tied before, however late it comes. What
cannot be tied is journaled as such, and never blocked. Pure: told of every decision by admission.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from suture.model.bounded import oldest
from suture.model.graph import Graph
from suture.model.names import NAMESPACES, ObjectKey
from suture.model.overlay import Overlay
from suture.model.request import Intent, Request, intent_of

INTENTS_KEPT = 16_384
"""LIMIT: decisions that may have consequences: four minutes of 65 removals a second; 3 MB."""

TIED_KEPT = 131_072
"""LIMIT: objects tied to a decision, so that their dependents can be: two definitions of 50,000
instances going at once; about 0.2 kB each, 26 MB. The oldest is forgotten first."""


class Cause(msgspec.Struct, frozen=True, gc=False):
    """The decision that a delete follows from, whose it was, and what ties it.

    `how` is uid, owner or namespace.
    """

    decision: str
    operator: str
    how: str


class Attribution:
    """Bounded memory of decisions and of what was tied to them."""

    def __init__(self, graph: Graph, overlay: Overlay) -> None:
        self._graph = graph
        self._overlay = overlay
        self._decisions: dict[Intent, tuple[str, str]] = {}
        self._tied: dict[str, tuple[str, str]] = {}

    def admitted(self, request: Request, decision: str, operator: str) -> None:
        """Remember a decision that takes objects away."""
        intent = intent_of(request)
        self._decisions.pop(intent, None)
        self._decisions[intent] = (decision, operator)
        for one in oldest(self._decisions, INTENTS_KEPT):
            del self._decisions[one]
        if request.object_uid:
            self._tie(request.object_uid, (decision, operator))

    def cause_of(self, request: Request) -> Cause | None:
        """Return what a controller's delete follows from; None where nothing ties it."""
        uid = request.object_uid
        for how, known in self._candidates(request):
            if known is not None:
                if uid:
                    self._tie(uid, known)
                return Cause(*known, how)
        return None

    def _candidates(self, request: Request) -> Iterator[tuple[str, tuple[str, str] | None]]:
        uid, thing = request.object_uid, request.old
        yield "uid", self._tied.get(uid)
        for intent in self._overlay.holders(uid):
            yield "uid", self._decisions.get(intent)
        if thing is not None:
            for owner in thing.owners:
                yield "owner", self._tied.get(owner.uid)
        if request.namespace:
            home = self._graph.row(ObjectKey(NAMESPACES, "", request.namespace))
            if home is not None:
                yield "namespace", self._tied.get(self._graph.uid(home))

    def _tie(self, uid: str, known: tuple[str, str]) -> None:
        self._tied.pop(uid, None)
        self._tied[uid] = known
        for one in oldest(self._tied, TIED_KEPT):
            del self._tied[one]
