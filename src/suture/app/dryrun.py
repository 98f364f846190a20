"""What a dry run is told beside its answer: the impact, as warnings that every client shows.

`kubectl delete --dry-run=server` then says what the delete would do, to anybody, whatever their
stage: nothing is at stake, and asking is to be encouraged.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

import msgspec

from suture.app.severity import Severity, severity
from suture.impact.effects import Confidence, Effect, Impact
from suture.impact.telling import phrase, told
from suture.verdict import Verdict

LINES = 12
"""LIMIT: lines of impact; the API server passes 4,096 characters on, of all webhooks together."""

LINE_CHARS = 240
"""LIMIT: one line; twelve of them stay under what is passed on."""


def with_impact(verdict: Verdict, impact: Impact) -> Verdict:
    """Return an answer with the impact among its warnings, worst first, after its own."""
    lines = tuple(warnings_of(impact.effects))
    if not lines:
        return verdict
    return msgspec.structs.replace(verdict, warnings=(*verdict.warnings, *lines))


def warnings_of(effects: Iterable[Effect]) -> Iterable[str]:
    """Yield effects as warnings, worst first; what is too many is counted."""
    graded = [(severity(one), one) for one in effects]
    ranked = sorted(graded, key=itemgetter(0), reverse=True)
    for grave, effect in ranked[:LINES]:
        line = told(effect)
        sure = "" if line.confidence is Confidence.EXACT else f" ({line.confidence.value})"
        undo = "" if line.reversible else ", cannot be undone"
        words = f"impact, {grave.word}: {line.subject}: {phrase(line)}{undo}{sure}"
        yield words if len(words) <= LINE_CHARS else f"{words[: LINE_CHARS - 1]}…"
    if len(ranked) > LINES:
        more = sum(grave >= Severity.NOTABLE for grave, _ in ranked[LINES:])
        yield f"impact: {len(ranked) - LINES} more effects, {more} of them notable or severe"
