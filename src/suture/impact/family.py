"""One row of the table by which a change becomes an impact: whom to ask, when, and for what.

Apart from the table, which is machine code: a dataclass cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from suture.impact.effects import Effect
from suture.impact.ground.change import Change
from suture.impact.scene import Scene
from suture.model.names import Resource


@dataclass(frozen=True, slots=True)
class Family:
    """Effects that one module computes together: their names, when to ask it, and how.

    `speaks_of`: whether it says anything of a type, where a change only takes away; None: of all.
    """

    names: frozenset[str]
    concerns: Callable[[Change], bool]
    effects: Callable[[Scene], Iterable[Effect]]
    speaks_of: Callable[[Resource], bool] | None = None
