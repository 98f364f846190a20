"""The naive rate limiter, as a baseline: destructive writes counted by identity, and nothing known.

Lives in the examination because only it wants such a guard. The rule is the usual advice: at most
twenty destructive writes in ten seconds and sixty in a minute; the controllers of kube-system are
let through, since their ordinary work would trip it. Offline alone: on a lab it would be a server.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.offline import answers
from suture.lab.scenarios.offline.reviews import Write
from suture.lab.scenarios.offline.server import Server
from suture.lab.scenarios.report import GuardMode
from suture.lab.scenarios.written import Written
from suture.model.names import NODES, Operation

WINDOWS = ((10.0, 20), (60.0, 60))
"""Seconds, and the destructive writes that one identity may do in them."""

EXEMPT = "system:serviceaccount:kube-system:"


def destructive(write: Write) -> bool:
    """Whether a write takes something away: deletes, evictions, closed nodes, scale to none."""
    if write.operation is Operation.DELETE or write.sub == "eviction":
        return True
    if write.operation is not Operation.UPDATE:
        return False
    old, new = _spec(write.old), _spec(write.new)
    if write.api.resource == NODES:
        closed = bool(new.get("unschedulable")) and not old.get("unschedulable")
        return closed or len(new.get("taints") or ()) > len(old.get("taints") or ())
    return bool(old.get("replicas")) and not new.get("replicas") and _scales(write)


def _scales(write: Write) -> bool:
    return write.sub in ("", "scale") and "replicas" in _spec(write.old)


def _spec(body: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (body or {}).get("spec") or {}
    return found


class RateLimiter:
    """Refuses an identity's destructive writes once a window is full."""

    mode: GuardMode = "enforce"

    def __init__(self, server: Server) -> None:
        """Guard the writes of `server`."""
        self._server = server
        self._passed: dict[str, deque[float]] = {}

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[RateLimiter]:
        """Be asked about every write, for the length of a block."""
        self._server.admission.suture = self._asked
        try:
            yield self
        finally:
            self._server.admission.suture = None

    async def enrol(self, voices: Sequence[Voice]) -> None:
        """Know nobody by name."""

    async def would_refuse(self, writes: Sequence[Written]) -> int:
        """Return how many of the writes were refused."""
        return sum(one.outcome == "refused" for one in writes)

    async def bound(self, populations: Mapping[str, int], span_s: float) -> int | None:
        """Return what the minute's window lets through of these populations."""
        _, most = WINDOWS[-1]
        return min(sum(populations.values()), most * (int(span_s // 60) + 1))

    async def _asked(self, write: Write, request: Mapping[str, Any]) -> None:  # noqa: ARG002 - the hook's
        """Count a write. Errors: ForbiddenError when a window is full."""
        user = write.user.username
        if write.dry_run or user.startswith(EXEMPT) or not destructive(write):
            return
        now = self._server.store.now().mono_ns / 1e9
        passed = self._passed.setdefault(user, deque())
        while passed and now - passed[0] > WINDOWS[-1][0]:
            passed.popleft()
        for span_s, most in WINDOWS:
            if sum(now - at <= span_s for at in passed) >= most:
                words = f"suture: {most} destructive writes in {span_s:g} s [limiter] (decision 0)"
                raise answers.forbidden(write.api.resource, write.name, words)
        passed.append(now)
