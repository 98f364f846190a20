"""An observer that keeps what it was told."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from suture.model.names import Resource
from suture.model.objects import ClusterObject, PodState


class Told:
    """What was told, in order: `began`, `changed`, `terminates` or `ended`, and of what."""

    heeds: AbstractSet[Resource] | None = None

    def __init__(self) -> None:
        self.all: list[tuple[str, ClusterObject]] = []
        self.states: list[str] = []
        """The names of the pods that told their state anew."""

    def began(self, thing: ClusterObject) -> None:
        """Keep it."""
        self.all.append(("began", thing))

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Keep it."""
        self.all.append(("terminates" if terminates else "changed", thing))

    def restated(self, state: PodState) -> None:
        """Keep its name."""
        self.states.append(state.key.name)

    def ended(self, thing: ClusterObject) -> None:
        """Keep it."""
        self.all.append(("ended", thing))

    def names(self, *whats: str) -> list[str]:
        """Return the names of the objects of which one of `whats` was told."""
        return [thing.key.name for what, thing in self.all if what in whats]

    def clear(self) -> None:
        """Forget what was told so far."""
        self.all.clear()

    def __len__(self) -> int:
        return len(self.all)
