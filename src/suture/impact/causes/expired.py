"""Backups that are given up once the moment has come until which they were to be kept.

Who keeps backups says first that one goes, then takes away what it is made of, and it at last. That
its time was over stands in the status from before: what comes after it does not say that any more.
Source: custom resources whose status has `expiration` beside the phase, as Velero's Backup, which
becomes `Deleting`.
"""

from __future__ import annotations

from suture.impact.causes.counters import expired
from suture.impact.ground.bodies import kept_until, until_of
from suture.impact.ground.kinds import is_custom
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.request import Request


def remember_expired(request: Request, view: GraphView, now: Now) -> None:
    """Remember what a write of its status gives up after its time."""
    old = request.old if is_custom(request.gvr.resource) else None
    until = kept_until(request.old_body) if old is not None else None
    if old is None or until is None or until > now.utc_s:
        return
    if until_of(request.old_body)[0] != until_of(request.new_body)[0]:
        view.history.writes.count(expired(old.uid), now)
