"""Pods that were made in the place of others, for the same owner, under names of their own.

Beside `settle`, which gives back what an operator spent on what it then made again: what has the
name of the old one is known by that. A controller of its own kind rolls pod by pod, deletes one
and makes the next, which has another name; from when that one is Ready nothing is lost.
"""

from __future__ import annotations

from typing import Final

from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.lives import Created
from suture.model.names import PODS, ObjectKey
from suture.model.objects import ClusterObject, PodFacts, controller_of

OWED: Final = 16_384
"""LIMIT: owners and operators with pods that nothing has taken the place of, 0.5 kB each. Forgotten
early, what they cost is not given back."""

OWED_EACH: Final = 256
"""LIMIT: pods of one owner that wait for their successors; of more the oldest stay lost."""

SERVED: Final = 65_536
"""LIMIT: successors that have counted, 0.1 kB each; one forgotten early may count once more, where
its operator has removed another pod of the same owner since."""


SEEN_LATE_NS: Final = 5_000_000_000
"""LIMIT: how long the watch may take to tell of a pod that goes; its successor is asked for at
once, and no earlier. SOURCE: the age at which a type counts as stale."""


class Successors:
    """Which pods of an owner an operator took away, and which it made since, each counted once."""

    def __init__(self) -> None:
        self._owed: dict[tuple[str, str], list[tuple[ObjectKey, int]]] = {}
        self._served: dict[str, None] = {}

    def took(self, pod: ClusterObject, identity: str, now: Now) -> None:
        """Take note that an identity removed a pod of an owner."""
        owner = controller_of(pod.owners)
        if pod.key.resource != PODS or owner is None:
            return
        owed = self._owed.setdefault((owner.uid, identity), [])
        owed.append((pod.key, now.mono_ns))
        del owed[:-OWED_EACH]
        for each in oldest(self._owed, OWED):
            del self._owed[each]

    @property
    def owed(self) -> bool:
        """Whether any pod went in whose place none has come."""
        return bool(self._owed)

    def follows(self, pod: str, owner: str, made: Created) -> ObjectKey | None:
        """Return the pod in whose place this one was made, by whom the creation tells.

        `pod` and `owner` are uids, of one that is Ready and of its controller. None where it has
        counted, where that identity owes none, or made this one before it took any.
        """
        spot = owner, made.identity
        owed = self._owed.get(spot)
        if not owed or pod in self._served or made.at_ns < owed[0][1] - SEEN_LATE_NS:
            return None
        self._served[pod] = None
        for uid in oldest(self._served, SERVED):
            del self._served[uid]
        key, _ = owed.pop(0)
        if not owed:
            del self._owed[spot]
        return key


def serves(thing: ClusterObject) -> bool:
    """Whether an object is a pod that is Ready and stays."""
    facts = thing.facts
    return isinstance(facts, PodFacts) and facts.ready and not thing.terminating
