"""Who is told of changes: the one face that whatever follows the model turns to it.

Speaks of lives, not of states: the state before is not handed on, since reading it back from the
graph would cost more than most changes do.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from suture.model.names import Resource
from suture.model.objects import ClusterObject, PodState


class Observer(Protocol):
    """Told of each change, after it is in the graph. Must return at once, and never waits.

    Of an object that was deleted and created anew unseen: `ended` of the one, `began` of the other.
    """

    @property
    def heeds(self) -> AbstractSet[Resource] | None:
        """The types of which `began` and `changed` are told; None: of all. `ended` is of all.

        WHY: a start tells of two million objects, and most who listen wait for a few of them.
        """
        ...

    def began(self, thing: ClusterObject) -> None:
        """Note that an object is newly there; it may be terminating already."""
        ...

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Note that the same life is now like this; `terminates`: its delete was accepted."""
        ...

    def restated(self, state: PodState) -> None:
        """Note that the same life of a pod told its state anew: Ready, finished, or neither.

        All else of it is as it was, and nobody read it again. WHY beside `changed`: it is what most
        events are, and reading the pod back would cost more than all else that is done for it.
        """
        ...

    def ended(self, thing: ClusterObject) -> None:
        """Note that a life is over; this was its last state."""
        ...
