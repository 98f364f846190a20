"""Whether a custom resource says that its work is over: a run, a job, a workflow that has ended.

Beside `schemas`, which tells which of these fields a kind has, and `declared`, which reads them.
Pure, and total on odd JSON. Nothing of it is said by the name of a kind: of what runs for ever some
have a phase `Succeeded` too, which then is a word and no more.
Source: API conventions, typical status properties (conditions by type and status); the statuses of
batch/v1 Jobs and of custom resources that run to an end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from suture.model.fieldpath import FieldPath
from suture.model.objects import Ended
from suture.wire.projections import ends, trails

STATUS: Final = "status"
CONDITIONS: Final = "conditions"

TIMES: Final = (
    "completionTime",
    "completionTimestamp",
    "completedAt",
    "endTime",
    "endedAt",
    "finishTime",
    "finishedAt",
    "terminationTime",
)
"""How a status calls the moment from which on it is over. Who writes it is at its end: only a kind
that describes one of these, or takes any fields, is asked whether it has ended."""

WORDS: Final = (
    ("phase",),
    ("state",),
    ("state", "phase"),
    ("jobStatus",),
    ("jobStatus", "state"),
    ("jobDeploymentStatus",),
    ("applicationState", "state"),
    ("terminalState",),
)
"""Where a status says in one word how far it is."""

SUCCEEDED: Final = frozenset(
    {"succeeded", "successful", "complete", "completed", "finished", "done", "successcriteriamet"}
)
FAILED: Final = frozenset(
    {"failed", "failure", "error", "errored", "aborted", "terminated", "stopped", "cancelled",
     "canceled", "timedout"}
)  # fmt: skip
AT_WORK: Final = frozenset({"ready", "available", "running", "active", "healthy", "progressing"})
"""Conditions of which none is true of what has ended."""

_CONDITION: Final = (STATUS, CONDITIONS, "")


def paths_of(described: Mapping[str, object] | None) -> tuple[FieldPath, ...]:
    """Return which fields tell of an end, where a status describes these; None: it takes any."""
    if described is not None and not any(time in described for time in TIMES):
        return ()
    ways: list[tuple[str, ...]] = [
        (*_CONDITION[1:], "type"), (*_CONDITION[1:], "status"),
        *((time,) for time in TIMES), *WORDS,
    ]  # fmt: skip
    there = [way for way in ways if described is None or way[0] in described]
    return tuple(FieldPath((STATUS, *way)) for way in there)


def ended(read: Mapping[str, object], fields: Sequence[FieldPath]) -> Ended:
    """Return whether a status says that it is over; `read` holds what `fields` lead to."""
    if read.get(STATUS) is None:
        return Ended.NO
    conditions = _conditions(read, "True")
    if conditions & AT_WORK:
        return Ended.NO
    said = {word for field in fields for word in _words(read, field)}
    denied = _conditions(read, "False")
    if conditions & SUCCEEDED or ("failed" in conditions and "running" in denied):
        return Ended.SURE
    failed = bool((said | conditions) & FAILED)
    # WHY decided: of what is still at work it is not known, and some write `False` for that.
    decided = failed or bool((said | denied) & SUCCEEDED)
    if decided and any(isinstance(one, str) for time in TIMES for one in _at(read, time)):
        return Ended.SURE
    if failed:
        return Ended.FAILED
    return Ended.DONE if said & SUCCEEDED else Ended.NO


def _at(read: Mapping[str, object], time: str) -> Sequence[object]:
    return ends(read, (STATUS, time))


def _conditions(read: Mapping[str, object], status: str) -> set[str]:
    """Return the types of the conditions that have a status, in small letters."""
    return {
        way[-1].lower()
        for way in trails(read, (*_CONDITION, "type"))
        if isinstance(way[-1], str) and status in ends(way[-2], ("status",))
    }


def _words(read: Mapping[str, object], field: FieldPath) -> list[str]:
    if field.steps[1:] not in WORDS:
        return []
    return [one.lower() for one in ends(read, field.steps) if isinstance(one, str)]
