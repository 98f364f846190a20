"""The values of `verdict`: what the API server is told, and why.

Apart from it, which is machine code: classes with options cannot be.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class Answer(StrEnum):
    """What the API server is told."""

    ALLOW = "allow"
    WARN = "warn"
    DENY = "deny"


_DENY: Final = Answer.DENY
# WHY named: to ask an enum for a member costs four times as much, and every answer is asked often.


class Reason(msgspec.Struct, frozen=True, gc=False):
    """Why, as a stable code, the constraint that says so, and words for the caller."""

    code: str
    constraint: str
    message: str


class Verdict(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Suture's answer to one request.

    `would` is the answer that the stage `enforce` had given: reports and drills read it.
    `status` is the HTTP status of a refusal: 403, or 429 with `retry_after_s` when it will pass.
    """

    answer: Answer
    would: Answer
    reasons: tuple[Reason, ...] = ()
    message: str = ""
    warnings: tuple[str, ...] = ()
    status: int = 403
    retry_after_s: int | None = None
    advice: str = ""
    """What to do about a refusal, `DECISION` standing for its id; empty: have it explained."""
    hints: tuple[str, ...] = ()
    """More to do, as warnings of their own."""

    @property
    def denies(self) -> bool:
        """Whether the request is refused."""
        return self.answer is _DENY
