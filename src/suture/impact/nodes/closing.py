"""Nodes that were closed beside those that a request closes, and the new ones in their place.

Beside `capacity`, which says what a request takes. One closed node is maintenance, one after the
other is an outage: a node counts until it is opened, taken away or replaced, whether or not its
pods went.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from suture.impact.causes.counters import ended_in_use
from suture.impact.ground.fit import Asked, Open, is_shut, movable
from suture.impact.ground.machines import is_kept_with_machine
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import NODES, ObjectKey
from suture.model.objects import NodeFacts
from suture.model.overlay import HORIZON_S
from suture.model.placement import NO_EXECUTE, Placement
from suture.model.writes import HOUR_S, TEN_MINUTES_S

DRAINED_ASKED: Final = 64
"""LIMIT: closed nodes that are asked whether anything still runs on them: 10 us each. The others
count as in use: whoever closes more than these at a time is not in need of more."""

DRAINED_PERCENT: Final = 20
"""Share of the nodes that may have been closed and emptied lately, and are not counted."""

DRAINED_S: Final = 15
"""How long a node must have been closed to be taken for one that was emptied since, and that was
not empty before: whoever closes all at once closes those first as well as last."""


class Closing:
    """Other nodes that close.

    `rows`: those that are there. `gone`: those that are not any more, of ten minutes, and that lost
    nothing by it. `lost`: one that was closed in use and went with its pods was not drained; it
    counts as closed, or a cluster goes a few nodes at a time, as fast as they end. `since_s`: for
    how long they have closed at most.
    """

    def __init__(self, scene: Scene, asked: Asked, mine: Sequence[int]) -> None:
        self._scene, self._view, self._asked = scene, scene.view, asked
        self.rows: set[int] = set()
        self.gone = self.lost = self.since_s = self._drained = self._drained_long = 0
        if scene.now is None:
            return
        names = {scene.view.name(row) for row in mine}
        for name, ago_s in scene.view.history.writes.closed(scene.now, HOUR_S).items():
            if name not in names:
                self._add(name, ago_s)

    @property
    def found(self) -> bool:
        """Whether any other node closes, or is gone."""
        return bool(self.rows) or self.gone > 0 or self.lost > 0

    def leaving(self, joined: int) -> int:
        """Return how many close or are gone, where so many nodes `joined` within the hour.

        One that was drained since is done with: its pods run elsewhere. Of those a fifth of all
        nodes are not counted, lest a cluster be emptied node by node; beyond these, of those that
        stayed closed longer than ten minutes, as many as joined.
        """
        fifth = self._view.count(NODES) * DRAINED_PERCENT // 100
        lately = min(self._drained, fifth)
        longer = min(self._drained_long, max(fifth - lately, joined))
        return len(self.rows) + self.gone + self.lost - lately - longer

    def _add(self, name: str, ago_s: int) -> None:
        row, lately = self._find(name), ago_s <= TEN_MINUTES_S
        if row is None:
            lost = lately and self._ended_in_use(name)
            self.lost += lost
            self.gone += lately and not lost
            if lately:
                # WHY longer: of one that is gone it is known when it went, and not when it closed.
                self.since_s = max(self.since_s, ago_s + TEN_MINUTES_S)
            return
        if not self._counts(row, ago_s):
            return
        self.rows.add(row)
        self.since_s = max(self.since_s, ago_s)
        if ago_s < DRAINED_S or len(self.rows) > DRAINED_ASKED or not self._is_drained(row):
            return
        if lately:
            self._drained += 1
        else:
            self._drained_long += 1

    def _find(self, name: str) -> int | None:
        """Return a node that is there, or is to go once its machine is; None where there is none.

        WHY: what was admitted counts as done, and who keeps the machine is to drain the node first.
        """
        view, key = self._view, ObjectKey(NODES, "", name)
        shown = view.seen(key)
        if shown is None or not view.gone(shown) or not is_kept_with_machine(view, shown):
            return view.find(key)
        machines = [one.row for one in view.owners(shown)]
        going = all(view.gone(one) or view.terminating(one) for one in machines)
        return shown if going else None

    def _counts(self, row: int, ago_s: int) -> bool:
        """Whether a node that was closed so long ago counts as closed.

        For longer than ten minutes only one that works, is not on its way out, and was in use:
        others are of no more use open than closed.
        """
        facts, terminating = self._view.facts(row), self._view.terminating(row)
        if not isinstance(facts, NodeFacts) or not (terminating or is_shut(facts)):
            # WHY the horizon: what was admitted and not seen by then did not happen, or is over.
            return ago_s <= HORIZON_S
        if ago_s <= TEN_MINUTES_S:
            return True
        return (
            facts.ready
            and not terminating
            and self._was_in_use(row)
            and not self._is_dedicated(row, facts)
        )

    def _is_dedicated(self, row: int, facts: NodeFacts) -> bool:
        """Whether a node is closed to others alone: all that runs there bears its taints."""
        if facts.unschedulable or len(self.rows) >= DRAINED_ASKED:
            return False
        pods = movable(self._view, row, self._asked)
        return bool(pods) and all(self._asked.of(pod).tolerates(facts.taints) for pod in pods)

    def _is_drained(self, row: int) -> bool:
        """Whether a closed node was emptied by somebody, and not by its own taint.

        WHY not by a taint: that is no drain, which asks of each pod whether it may go.
        """
        facts = self._view.facts(row)
        if not isinstance(facts, NodeFacts) or movable(self._view, row, self._asked):
            return False
        drives = any(one.effect == NO_EXECUTE for one in facts.taints)
        if self._view.terminating(row):
            return True
        return is_shut(facts) and not (drives and facts.ready and self._was_in_use(row))

    def _ended_in_use(self, name: str) -> bool:
        """Whether pods ran on a closed node, not bound to be there, when it was taken away.

        One that went unseen may have been drained since it was closed.
        """
        now = self._scene.now
        if now is None:
            return False
        counted = self._view.history.writes.counted(ended_in_use(name), now, TEN_MINUTES_S)
        return counted > 0

    def _was_in_use(self, row: int) -> bool:
        """Whether pods ran on a node, not bound to be there, when it was closed."""
        now = self._scene.now
        if now is None:
            return False
        writes = self._view.history.writes
        return writes.written(self._view.key(row), What.CLOSED, now, HOUR_S) > 0


def joined(
    scene: Scene, others: Open, closing: Sequence[NodeFacts], wants: Collection[Placement]
) -> tuple[int, ...]:
    """Return the open nodes that joined within the hour and stand in for nodes that close.

    Each has at least the room of those that are `closing`, and may run some of what ran there.
    """
    view, now = scene.view, scene.now
    if now is None:
        return ()
    since = now.utc_s - HOUR_S
    return tuple(
        row
        for facts, row in others
        if view.created(row) >= since
        and all(_holds(facts, one) for one in closing)
        and (not wants or _takes_any(view, row, facts, wants))
    )


def _takes_any(view: GraphView, row: int, facts: NodeFacts, wants: Collection[Placement]) -> bool:
    """Whether a node may run some of what is wanted: a node of another pool may run none."""
    labels = view.labels(row)
    return any(one.tolerates(facts.taints) and one.accepts(labels) for one in wants)


def _holds(new: NodeFacts, old: NodeFacts) -> bool:
    """Whether a node has at least the room of another."""
    return new.cpu_m >= old.cpu_m and new.memory_mi >= old.memory_mi and new.pods >= old.pods
