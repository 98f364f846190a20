"""Jobs that are ended to be run anew: as what keeps them says now, or as one of them failed.

A Job's template cannot be changed, so that a custom resource which makes Jobs has those of its
former content ended when somebody changes it; and where all Jobs of one have to run together, a
failure of one ends them all, and its status counts the rounds. Told by what is recorded: within the
hour somebody else than the actor wrote the custom resource that controls the Job, or within ten
minutes a number of its status went up that is called after restarts or retries.

What is lost if they do not come back: work of the one resource of which somebody asked for another.
WHY only Jobs: what serves is asked for more, in `ordinary.stopping`.
Source: KEDA ScaledJob (`rollout.strategy: default`); JobSet (`status.restarts`).
"""

from __future__ import annotations

import re
from typing import Final

from suture.impact.ground.bodies import status_bytes
from suture.impact.ground.kinds import is_custom
from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.request import Request
from suture.model.writes import HOUR_S, TEN_MINUTES_S, number

_ROUNDS: Final = re.compile(
    rb'"(?:\w*[rR]estart\w*|\w*[rR]etr(?:y|ies)\w*)"\s*:\s*(\d{1,9})(?=[,}\s])'
)
_WORDS: Final = (b"estart", b"etry", b"etries")
"""How statuses call the rounds of work."""


def remember_rounds(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a custom resource's status counts one round more of its work."""
    if not is_custom(request.gvr.resource):
        return
    after = _rounds(request.new_body)
    if after and request.old is not None and after > _rounds(request.old_body):
        view.history.writes.count(_another(request.old.uid), now)


def remember_ended(view: GraphView, row: int, now: Now) -> None:
    """Remember that one of the pods of a custom resource had ended before it was taken away."""
    parent = view.controller(row) if view.finished(row) else -1
    if parent >= 0 and is_custom(view.resource(parent)):
        view.history.writes.count(_another(view.uid(parent)), now)


def runs_anew(view: GraphView, job: int, identity: str, now: Now | None) -> bool:
    """Whether a Job's custom resource is to be run by another template, or once more."""
    parent = view.controller(job)
    if parent < 0 or now is None or account_of(identity) is None:
        return False
    if not is_custom(view.resource(parent)) or view.terminating(parent):
        return False
    writes = view.history.writes
    by = writes.last(view.key(parent), What.WROTE, now, HOUR_S)
    if by is not None and by != number(identity):
        return True
    return counts_another(view, parent, now)


def counts_another(view: GraphView, parent: int, now: Now) -> bool:
    """Whether a custom resource has begun one round more of its work lately.

    Its status counts one more, or one of its pods had ended and was taken away.
    """
    return view.history.writes.counted(_another(view.uid(parent)), now, TEN_MINUTES_S) > 0


def _rounds(body: bytes) -> int:
    """Return the sum of what a status counts of the rounds of its work."""
    # WHY the bytes: hardly any object has a word of it, and to read one costs more.
    if not any(word in body for word in _WORDS):
        return 0
    return sum(int(one) for one in _ROUNDS.findall(status_bytes(body)))


def _another(uid: str) -> str:
    return f"rounds/{uid}"
