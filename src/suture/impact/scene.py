"""What every effect is computed from: one change, the graph it meets, who asks, and when.

Made once a request. What several effects read is looked up once and kept here.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.causes import Causes
from suture.impact.causes.explained import tied, was_made_by
from suture.impact.causes.parents import maker_of
from suture.impact.causes.sizes import resize_explained
from suture.impact.causes.together import cut_together
from suture.impact.effects import Victim
from suture.impact.ground.bars import Bars
from suture.impact.ground.change import Change, Resized
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.graph import GraphView, Lot
from suture.model.matchsets import Evaluate
from suture.model.names import PODS, SECRETS, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Request
from suture.model.writes import HOUR_S, number

_KEPT_BY: Final = Edge.MANAGED_BY


class Scene:
    """One change before it is made.

    `now` None: the time is not known (a file, a snapshot), so that nothing recent can be told.
    `evaluate` decides the match conditions of webhooks; without it they may match. `limit` is how
    many victims an effect names. `removed`: the rows that the request takes away, direct and
    cascaded; `kinds`: the same by their type, the request's own first.
    """

    __slots__ = (
        "_lots", "_made_marks", "_makers", "_marks", "_of_class", "_rows", "_running",
        "_tied", "_unlooked", "_victims", "_whole", "actor", "causes", "change", "direct",
        "evaluate", "kinds", "limit", "now", "removed", "request", "view",
    )  # fmt: skip

    def __init__(
        self,
        request: Request,
        change: Change,
        view: GraphView,
        actor: Actor,
        *,
        limit: int,
        now: Now | None = None,
        evaluate: Evaluate | None = None,
        renames: bool = True,
    ) -> None:
        self.request = request
        self.change = change
        self.view = view
        self.actor = actor
        self.now = now
        self.evaluate = evaluate
        self.limit = limit
        self.causes = Causes(
            view,
            change,
            actor.user.username,
            now=now,
            renames=renames,
            body=request.old_body,
        )
        self.causes.bar(Bars(view, self.causes.removed, evaluate).barred)
        self.direct = frozenset(change.direct)
        self.removed = self.causes.removed
        self.kinds = self.causes.kinds
        self._lots: list[Lot] | None = None
        self._makers: dict[int, int] = {}
        self._marks: dict[int, list[ObjectKey]] = {}
        self._victims: dict[int, Victim] = {}
        self._rows: dict[Victim, int] = {}
        self._unlooked: list[int] = []
        self._tied: dict[int, bool] = {}
        self._made_marks: bool | None = None
        self._whole: frozenset[int] | None = None
        self._running: dict[int, tuple[int, int, int]] = {}
        self._of_class: dict[int, tuple[int, int, int]] | None = None

    @property
    def lots(self) -> list[Lot]:
        """The pods among them, by what they have in common."""
        if self._lots is None:
            pods = self.kinds.get(PODS)
            self._lots = self.view.lots(pods) if pods else []
        return self._lots

    def running(self, kind: int) -> tuple[int, int, int]:
        """Return how many pods of a class run, serve, and leave already, counted once."""
        found = self._running.get(kind)
        if found is None:
            found = self._running[kind] = self._counted(kind) or self.view.running_alike(kind)
        return found

    def _counted(self, kind: int) -> tuple[int, int, int] | None:
        """Return the same of a class of which every pod goes; None of any other.

        WHY: those pods were walked before, and none of them leaves already.
        """
        if self._of_class is None:
            self._of_class = {}
            for lot in self.lots:
                count, (pods, run, serve) = lot.count, self._of_class.get(lot.kind, (0, 0, 0))
                self._of_class[lot.kind] = (
                    pods + count,
                    run + count if lot.running else run,
                    serve + count if lot.serves else serve,
                )
        pods, running, serving = self._of_class.get(kind, (0, 0, 0))
        return (running, serving, 0) if pods and pods == self.view.class_size(kind) else None

    @property
    def whole(self) -> frozenset[int]:
        """The pod classes of which every pod goes."""
        if self._whole is None:
            self._whole = self.view.whole_classes(self.lots)
        return self._whole

    def releases(self, namespace: str) -> list[int]:
        """Return the Secrets of a namespace that may record releases."""
        return self.view.labelled_in(SECRETS, namespace, "owner", "helm")

    def maker(self, lot: Lot) -> int:
        """Return what stands behind pods, looked up once for each class."""
        found = self._makers.get(lot.kind)
        if found is None:
            found = self._makers[lot.kind] = maker_of(self.view, lot.first)
        return found

    def marks(self, row: int) -> list[ObjectKey]:
        """Return the releases and applications whose mark an object carries, looked up once."""
        found = self._marks.get(row)
        if found is None:
            view = self.view
            found = [view.key(one) for one, _ in view.targets(row, _KEPT_BY)]
            self._marks[row] = found
        return found

    def tied(self, row: int) -> bool:
        """Whether the model can tie an object to the actor, looked up once."""
        found = self._tied.get(row)
        if found is None:
            actor = self.actor
            found = self._tied[row] = tied(self.view, row, actor.user.username, actor.pod_uid)
        return found

    @property
    def made_marks(self) -> bool:
        """Whether the actor made an application that keeps some of what goes, looked up once."""
        if self._made_marks is None:
            view, identity = self.view, self.actor.user.username
            self._made_marks = any(
                view.history.created_by(view.uid(one)) == identity for one in self.causes.marks()
            )
        return self._made_marks

    def stays(self, row: int) -> bool:
        """Whether an object neither goes with this change nor is going already."""
        return row not in self.removed and not self.view.terminating(row)

    def counted(self, counter: str) -> int:
        """Return how much was counted within the hour; 0 where the time is not known."""
        now = self.now
        return 0 if now is None else self.view.history.writes.counted(counter, now, HOUR_S)

    def written(self, row: int) -> bool:
        """Whether somebody wrote an object within the hour, more than its status."""
        now, view = self.now, self.view
        return now is not None and (
            view.history.writes.written(view.key(row), What.WROTE, now, HOUR_S) > 0
        )

    def changed(self, row: int) -> bool:
        """Whether such a write made something else of it than it was before."""
        now, view = self.now, self.view
        return now is not None and (
            view.history.writes.changed(view.key(row), What.WROTE, now, HOUR_S)
        )

    def written_by_another(self, key: ObjectKey) -> bool:
        """Whether the last to write an object within the hour was another than who asks."""
        now, writes = self.now, self.view.history.writes
        last = None if now is None else writes.last(key, What.WROTE, now, HOUR_S)
        return last is not None and last != number(self.request.user.username)

    def made(self, row: int, within_s: int = HOUR_S) -> bool:
        """Whether the actor made an object within the hour, or `within_s`."""
        return was_made_by(self.view, row, self.actor.user.username, self.now, within_s)

    def made_young(self, row: int, within_s: int = HOUR_S) -> bool:
        """Whether the actor made an object that is, by its own word, no older than `within_s`."""
        now, view = self.now, self.view
        return (
            now is not None
            and view.created(row) >= now.utc_s - within_s
            and view.history.created_by(view.uid(row)) == self.actor.user.username
        )

    def is_new(self, row: int) -> bool:
        """Whether it is remembered that somebody made an object within the hour."""
        born, now = self.view.history.creation(self.view.uid(row)), self.now
        return born is not None and now is not None and now.ago_s(born.at_ns) < HOUR_S

    def size_explained(self, resized: Resized) -> bool:
        """Whether somebody who may decide wants a workload no larger than it is to be."""
        by = self.request.user.username
        return resize_explained(
            self.view,
            resized.row,
            resized.after,
            self.change.rewritten,
            together=cut_together(self.view, by, resized, self.now),
            by=by,
        )

    def victim(self, row: int) -> Victim:
        """Name the object in a row as effects do, each once."""
        found = self._victims.get(row)
        if found is None:
            view = self.view
            resource = view.resource(row)
            found = self._victims[row] = Victim(
                resource.group, resource.plural, view.namespace(row), view.name(row), view.uid(row)
            )
            self._unlooked.append(row)
        return found

    def row_of(self, victim: Victim) -> int | None:
        """Return the row of an object by the name that effects give it; None where it is gone."""
        # WHY here: thousands are named for each that is looked up.
        for known in self._unlooked:
            self._rows[self._victims[known]] = known
        self._unlooked.clear()
        row = self._rows.get(victim)
        if row is not None:
            return row
        resource = Resource(victim.group, victim.resource)
        return self.view.find(ObjectKey(resource, victim.namespace, victim.name))


def named(key: ObjectKey, uid: str = "") -> Victim:
    """Name an object as effects do."""
    return Victim(key.resource.group, key.resource.plural, key.namespace, key.name, uid)


def victim_of(thing: ClusterObject) -> Victim:
    """Name an object as a request shows it, as effects do."""
    return named(thing.key, thing.uid)
