"""What stands around a decision: how it came, a model that is fresh, the journal, time, chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

import msgspec

from suture.app.grants import Marks, MemoryMarks
from suture.app.ports import Journal
from suture.app.signals import Signals
from suture.app.slices import Slices
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.names import ObjectKey, Resource
from suture.model.request import Request
from suture.wire.trim import Trimmer


class Lane(StrEnum):
    """How the API server routed a request to us; the path says which."""

    DESTRUCTIVE = "destructive"
    HELD = "destructive-held"
    OTHER = "other"
    CONSEQUENCES = "consequences"
    PEOPLE = "people"

    @property
    def destructive(self) -> bool:
        """Whether requests of this lane are charged and, in doubt, may be held."""
        return self is _DESTRUCTIVE or self is _HELD

    @property
    def deadline_s(self) -> float:
        """LIMIT: 60 % of the lane's `timeoutSeconds` (2 s and 1 s), so that we answer ourselves."""
        return 1.2 if self.destructive else 0.6


_DESTRUCTIVE: Final = Lane.DESTRUCTIVE
_HELD: Final = Lane.HELD
# WHY named: to ask an enum for a member costs four times as much, and each review asks often.


class Model(Protocol):
    """What admission needs of the mirror."""

    def stale(self, resources: Iterable[Resource]) -> tuple[Resource, ...]:
        """Return those of `resources` whose state is older than the bound, or was never known."""

    async def refresh(self, keys: Iterable[ObjectKey]) -> None:
        """Read objects live into the graph. Errors: UnavailableError."""

    def just_read(self, keys: Iterable[ObjectKey]) -> bool:
        """Whether `refresh` would read none of these, having done so a moment ago."""

    def saw(self, request: Request) -> None:
        """Take the old object of a review into the graph where it is newer than ours."""


@dataclass(frozen=True)
class Rim:
    """What stands around the decision: the model's freshness, the journal, time and chance.

    `turns` is the reviews' own share of the event loop: those that come at once wait for each
    other, and never for the model, which may have thousands of changes to take in.
    """

    model: Model
    journal: Journal
    signals: Signals
    clock: Callable[[], Now]
    decision_id: Callable[[Now], str]
    trimmer: Trimmer
    turns: Slices
    marks: Marks = field(default_factory=MemoryMarks)


class Doubt(Exception):  # noqa: N818 it is not an error: it is what `whenDead` is there for
    """The model cannot decide this request."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class Asked(msgspec.Struct, frozen=True, gc=False):
    """One review as it came, and the decision that it is to become."""

    request: Request
    actor: Actor
    decision: str
    lane: Lane
    now: Now

    @property
    def until_ns(self) -> int:
        """When it is too late to be judged, in monotonic time."""
        return self.now.mono_ns + int(self.lane.deadline_s * 1e9)
