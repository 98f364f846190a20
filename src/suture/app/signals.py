"""What the app tells whoever measures: a port, so that the app knows no metrics library."""

from __future__ import annotations

from typing import Protocol

from suture.verdict import Verdict


class Signals(Protocol):
    """Counts and times. Every call returns at once and never raises."""

    def decided(self, lane: str, verdict: Verdict, seconds: float) -> None:
        """Note an answer, the stage's and the one that enforcement had given."""

    def doubted(self, lane: str, code: str) -> None:
        """Note an answer that the model did not decide; each is an alarm."""

    def broke_glass(self) -> None:
        """Note a write of somebody whom no refusal reaches; each is an alarm."""

    def settled(self, outcome: str) -> None:
        """Note the end of a reservation: `settled`, `refunded`, `recreated`."""
