"""Objects that say themselves when they end, by a label or annotation, and whose time has come.

Previews and tests are made with a time to live, and a cleaner that has nothing else to do with them
takes them when it is over. Believed of what is days old at most and was not written lately: who
puts such a mark on what was there before, by mistake or not, gets no cause by it.
Source: Kyverno `cleanup.kyverno.io/ttl` (a duration from the object's creation, or a moment); the
label of others after their prefix; kube-janitor `janitor/ttl`, `janitor/expires`, annotations.
LIMIT: annotations are not in the model: they are read from the body of what the request names.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from suture.impact.ground.bodies import annotations_of
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import CLAIMS
from suture.model.writes import HOUR_S

OLDEST_S: Final = 8 * 86_400
"""How old at most an object is of which it is believed: a preview of a week, and a day."""

_MARK: Final = re.compile(rb"/(?:ttl|expir|delete-a|remove-a)")
_ENDS: Final = re.compile(r"ttl|expires(?:-(?:at|after))?|(?:expire|delete|remove)-(?:at|after)")
_SPAN: Final = re.compile(
    r"(?:(\d{1,2})w)?(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?"
)
_UNITS_S: Final = (7 * 86_400, 86_400, 3_600, 60, 1)
_MOMENTS: Final = ("%Y-%m-%d", "%Y-%m-%dT%H%M%SZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M")
"""How a moment is written; in labels there may be no colon. SOURCE: labels' values; ISO 8601."""

_HEAD: Final = 65_536
"""LIMIT: bytes of a body in which such a word is looked for: the API server writes annotations near
the beginning, before owners and managed fields."""


def time_is_up(view: GraphView, row: int, now: Now | None, body: bytes) -> bool:
    """Whether an object that nothing keeps says that it ends, and that was before now.

    `body` is the object itself, where the request names it: only there are its annotations.

    Data is not believed to end by itself, and what has an owner is that one's affair.
    """
    if now is None or view.resource(row) == CLAIMS or view.has_owner(row):
        return False
    born = view.created(row)
    if not now.utc_s - OLDEST_S <= born <= now.utc_s:
        return False
    # WHY the bytes: to read labels costs more, and hardly any say when something ends.
    labelled = _MARK.search(view.label_bytes(row)) is not None
    annotated = _MARK.search(body, 0, _HEAD) is not None
    if not labelled and not annotated:
        return False
    if view.history.writes.written(view.key(row), What.WROTE, now, HOUR_S):
        return False
    marks = dict(view.labels(row)) if labelled else {}
    if annotated:
        marks |= annotations_of(body)
    for mark, said in marks.items():
        prefix, _, word = mark.rpartition("/")
        if prefix and _ENDS.fullmatch(word.lower()) is not None:
            ends = _end(said, born)
            if ends is not None and ends <= now.utc_s:
                return True
    return False


def _end(said: str, born: float) -> float | None:
    """Return when an object ends that was born then; None where it is not said.

    Units: seconds since the epoch.
    """
    span = _SPAN.fullmatch(said)
    if span is not None and said:
        parts = zip(span.groups(), _UNITS_S, strict=True)
        return born + sum(int(part) * unit for part, unit in parts if part)
    for form in _MOMENTS:
        try:
            return datetime.strptime(said, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None
