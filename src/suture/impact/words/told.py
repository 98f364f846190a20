"""One effect in short, as `telling` makes it: for the journal, explanations and reports."""

from __future__ import annotations

import msgspec

from suture.impact.effects import Confidence, Victim


class Told(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One effect in short. `counted`: how much of it a budget would count."""

    effect: str
    subject: str
    before: int
    after: int
    count: int
    counted: int = 0
    victims: tuple[Victim, ...] = ()
    reversible: bool = True
    confidence: Confidence = Confidence.EXACT
