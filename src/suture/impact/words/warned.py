"""An impact as warnings: one line an effect, worst first, within what the API server passes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.effects import Confidence, Effect
from suture.impact.effects.severity import WORDS, Severity
from suture.impact.words.graded import severity
from suture.impact.words.telling import phrase, told

LINES: Final = 12
"""LIMIT: lines of impact; the API server passes 4,096 characters on, of all webhooks together."""

LINE_CHARS: Final = 240
"""LIMIT: one line; twelve of them stay under what is passed on."""

_NOTABLE: Final = int(Severity.NOTABLE)
_EXACT: Final = Confidence.EXACT


def warnings_of(effects: Iterable[Effect]) -> list[str]:
    """Return effects as warnings, worst first; what is too many is counted."""
    ranked = [(-int(severity(one)), number, one) for number, one in enumerate(effects)]
    # WHY with the number: of two that are as grave the first stays first, and none is compared.
    ranked.sort()
    lines = [_line(-grave, effect) for grave, _, effect in ranked[:LINES]]
    if len(ranked) > LINES:
        more = sum(-grave >= _NOTABLE for grave, _, _ in ranked[LINES:])
        lines.append(
            f"impact: {len(ranked) - LINES} more effects, {more} of them notable or severe"
        )
    return lines


def _line(grave: int, effect: Effect) -> str:
    line = told(effect)
    sure = "" if line.confidence is _EXACT else f" ({line.confidence.value})"
    undo = "" if line.reversible else ", cannot be undone"
    words = f"impact, {WORDS[grave]}: {line.subject}: {phrase(line)}{undo}{sure}"
    return words if len(words) <= LINE_CHARS else f"{words[: LINE_CHARS - 1]}…"
