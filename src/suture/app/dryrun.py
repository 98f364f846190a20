"""What a dry run is told beside its answer: the impact, as warnings that every client shows.

`kubectl delete --dry-run=server` then says what the delete would do, to anybody, whatever their
stage: nothing is at stake, and asking is to be encouraged.
"""

from __future__ import annotations

import msgspec

from suture.impact.effects import Impact
from suture.impact.words.warned import warnings_of
from suture.verdict import Verdict


def with_impact(verdict: Verdict, impact: Impact) -> Verdict:
    """Return an answer with the impact among its warnings, worst first, after its own."""
    lines = warnings_of(impact.effects)
    if not lines:
        return verdict
    return msgspec.structs.replace(verdict, warnings=(*verdict.warnings, *lines))
