"""Parts of a custom resource that its spec has no more, or has switched off.

Beside `parents`, which tells how many children one wants: here somebody took a component out of
the parent, or stopped all of it, by its spec or an annotation, and what runs for that is nobody's
wish any more. Data is not among it. Pure; what was left out is remembered by `recent`, so that of
what was left out before Suture was there nobody knows.
"""

from __future__ import annotations

import re
from typing import Final

from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.recent import is_custom
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CRON_JOBS,
    DISRUPTION_BUDGETS,
    JOBS,
    PODS,
    WORKLOADS,
)

SHORTEST: Final = 3
"""Letters of a part's name from which it is looked for in the names of children."""

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_RUNS: Final = frozenset({PODS, JOBS, CRON_JOBS, DISRUPTION_BUDGETS, *WORKLOADS})
"""What is of no use while nothing of its parent is to run. A Service is: its name stays."""


def left_out(view: GraphView, row: int) -> bool:
    """Whether a custom resource above an object has left out what the object is for."""
    writes = view.history.writes
    if not writes.any_left_out:
        return False
    return any(_left_out(view, parent, row) for parent in _above(view, row))


def _above(view: GraphView, row: int) -> list[int]:
    """Return the custom resources that keep an object, by owner, label or name."""
    chain = (row, *view.controllers(row, CLIMBED))
    found = dict.fromkeys(chain[1:])
    for one in chain:
        found.update((parent, None) for parent, there in view.targets(one, Edge.PARENT) if there)
    return [one for one in found if not view.gone(one)]


def _left_out(view: GraphView, parent: int, row: int) -> bool:
    names = view.history.writes.left_out(view.uid(parent))
    if not names:
        return False
    resource = view.resource(row)
    if "" in names and (resource in _RUNS or is_custom(resource)):
        return True
    below = _words(view.name(row).removeprefix(view.name(parent)))
    return any(_within(_words(name), below) for name in names)


def _words(name: str) -> list[str]:
    """Return the words of a name, however it joins them: `entityOperator`, `entity-operator`."""
    return [word.lower() for word in _WORD.findall(name)]


def _within(part: list[str], name: list[str]) -> bool:
    """Whether the words of a part stand in a name one after the other."""
    if len("".join(part)) < SHORTEST:
        return False
    size = len(part)
    return any(name[at : at + size] == part for at in range(len(name) - size + 1))
