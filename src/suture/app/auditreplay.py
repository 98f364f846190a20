"""A recorded audit log under today's policies: what would have been refused, for whom, and why.

Two passes. The first finds what the cluster was like when the log begins: a snapshot is usually
newer, so what the log created is taken away, and what it deleted is there again, with its body
where the log or the snapshot has one, else by its name. The second judges each write with the code
that judges live, and then lets happen what was persisted: the log is the truth, refusals or not.
Reads no file.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from suture.app.auditbodies import Bodies
from suture.app.auditfindings import Findings, Refused, Untold
from suture.app.auditforms import Forms, renewed
from suture.app.settle import Settler
from suture.app.signals import Signals
from suture.impact.effects import VICTIMS_NAMED
from suture.impact.words.telling import told, words_of
from suture.judge import Judgement, World, judge, note_collection
from suture.model.actor import Actor, IdentityKind, Operators, Profile, Stage, UserInfo
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.graph.put import Life
from suture.model.graph.rowneeds import RowNeeds
from suture.model.names import NODES, PODS, Gvk, ObjectKey, Operation
from suture.model.objects import ClusterObject
from suture.model.request import Collection, DeleteOptions, Extent, One, Request
from suture.policy.policyset import PolicySet
from suture.policy.rules import ClusterFacts, Point
from suture.verdict import Verdict
from suture.wire.audit import Write

TICK_S = 1.0
"""LIMIT: event time between two rounds of refunds, as live."""

EVICTION = Gvk("policy", "v1", "Eviction")

ACTORS = 8_192
"""LIMIT: identities whose operators are remembered, as many as the log's reader remembers."""

DIRECT = 100
"""LIMIT: direct objects looked at for whether a verdict rests on what was put back."""


class _After(msgspec.Struct, frozen=True, gc=False):
    """What a write leads to, as far as the log tells. `row`: its object's, where it is there.

    `asked`: the log tells what was asked, so that it can be judged.
    """

    row: int | None = None
    new: ClusterObject | None = None
    size: int | None = None
    asked: bool = False


class Replayer:
    """Rewinds a model to the beginning of a log, and judges the log on it."""

    def __init__(self, graph: Graph, policies: PolicySet, signals: Signals) -> None:
        self._graph = graph
        self._bodies = Bodies(graph)
        self._world = World(
            policies=policies, graph=graph, cluster=ClusterFacts("replay", authorizer=True)
        )
        self._now = Now(0, 0.0)
        self._settler = Settler(self._world, signals, lambda: self._now)
        self._users: dict[str, Profile] = {}
        self._touched: set[ObjectKey] = set()
        self._ending: dict[ObjectKey, ClusterObject] = {}
        self._put_back: set[ObjectKey] = set()
        self._seen: dict[ObjectKey, ClusterObject] = {}
        self._actors: dict[int, Actor] = {}
        self._forms = Forms()
        self._ticked_s = 0.0
        self.found = Findings()

    # ---- the first pass

    def survey(self, write: Write) -> None:
        """Take note of a write: what it tells of the beginning, by the first one of each object."""
        self._enrol(write.user)
        if write.spared or not write.persisted:
            return
        key = write.key
        if write.verb == "deletecollection":
            for item in self._bodies.items(write):
                self._first(item.key, item)
            return
        if write.subresource and write.subresource != "eviction":
            return
        if not key.name:
            # WHY from there: a name that the server made up is in its answer alone.
            thing = self._bodies.after(write)
            if thing is None or not thing.key.name:
                return
            key = thing.key
        if key in self._touched:
            if key in self._put_back and key not in self._seen:
                # WHY kept: the nearest form of an object whose earlier ones nobody recorded.
                self._see(key, write)
            return
        self._touched.add(key)
        if write.creates:
            self._take_away(key)
        elif self._graph.row(key) is None:
            # It was there: in the form of its delete, or in one that only this or the log's next
            # event tells. Where the snapshot has it, no body need be read.
            self._put_back.add(key)
            self._see(key, write)

    def _enrol(self, user: UserInfo) -> None:
        if user.username not in self._users:
            self._users[user.username] = Profile(
                user.username, users=(user.username,), stage=Stage.ENFORCE
            )

    def _see(self, key: ObjectKey, write: Write) -> None:
        """Keep the form of an object that a write tells, where it tells one."""
        thing = self._bodies.after(write)
        if thing is not None:
            self._seen[key] = thing

    def _first(self, key: ObjectKey, thing: ClusterObject) -> None:
        """Note that an object was there when the log began, since its first word is its end."""
        if key not in self._touched:
            self._touched.add(key)
            if self._graph.row(key) is None:
                self._put_back.add(key)
                self._seen.setdefault(key, thing)

    def _take_away(self, key: ObjectKey) -> None:
        """Note that an object was not there yet; its form of today will do when it is made."""
        row = self._graph.row(key)
        if row is not None:
            thing = self._graph.at(row)
            # WHY read out: what a row needs can be asked for only while the graph stays as it is.
            self._ending[key] = msgspec.structs.replace(thing, needs=tuple(thing.needs))
            self._graph.remove(key)
            self.found.rewound.removed += 1

    def begin(self) -> None:
        """End the first pass: what was there is there again, as the nearest form that is known."""
        self._world.operators = Operators(self._users.values())
        self._actors.clear()
        for key in self._put_back:
            known = self._seen.get(key)
            if known is None:
                self.found.rewound.by_name += 1
                known = self._bodies.named(key)
            else:
                self.found.rewound.whole += 1
            self._graph.put(msgspec.structs.replace(known, deleted=0.0))
        self._seen.clear()

    # ---- the second pass

    def judge(self, write: Write) -> None:
        """Judge a write, and let it happen if it did."""
        found, time_s = self.found, write.time_s
        found.writes += 1
        found.levels[write.level] += 1
        found.last_s = max(found.last_s, time_s)
        if time_s < found.first_s or not found.first_s:
            found.first_s = time_s
        self._now = Now(int(time_s * 1e9), time_s)
        if time_s - self._ticked_s >= TICK_S:
            self._ticked_s = time_s
            self._settler.tick(self._now)
        if write.dry_run:
            found.dry_runs += 1
            return
        if write.spared:
            found.spared += 1
            return
        after = self._after(write)
        if after.asked and self._is_judged(write):
            self._weigh(write, self._request(write, after))
        if write.persisted:
            self._happen(write, after)
        else:
            found.not_persisted += 1

    def _is_judged(self, write: Write) -> bool:
        """Whether a write is anybody's to answer for; those that are not are counted."""
        kind = self._actor(write.user).kind
        if kind is IdentityKind.SYSTEM:
            self.found.spared += 1
            return False
        if kind is IdentityKind.CONSEQUENCE:
            # WHY not judged: it carries out what somebody else asked for and was charged for.
            self.found.consequences += 1
            return False
        # WHY not judged: what was not done asked for nothing of the cluster, and charges nobody.
        return write.persisted

    def _actor(self, user: UserInfo) -> Actor:
        """Return who a user is. Equal identities come as the very same value, mostly."""
        # INVARIANT: an actor keeps its user, so that no other value gets its number.
        actor = self._actors.get(id(user))
        if actor is None:
            if len(self._actors) >= ACTORS:
                self._actors.clear()
            actor = self._actors[id(user)] = self._world.operators.attribute(user)
        return actor

    def _weigh(self, write: Write, request: Request) -> None:
        found, actor = self.found, self._actor(write.user)
        if isinstance(request.extent, Collection):
            note_collection(request, self._world, self._now)
        judgement = judge(request, actor, self._world, self._now, Point.ADMISSION)
        found.judged += 1
        rewound = self._rests_on_rewound(judgement)
        found.verdicts_on_rewound += rewound
        verdict = judgement.verdict
        if verdict.denies:
            self._note(write, request, judgement, verdict, rewound=rewound)
        elif verdict.reasons:
            found.warned += 1

    def _rests_on_rewound(self, judgement: Judgement) -> bool:
        back, view = self._put_back, self._world.view
        if not back:
            return False
        return (
            judgement.case.request.key in back
            or not back.isdisjoint(judgement.evidence)
            or any(view.key(row) in back for row in judgement.change.direct[:DIRECT])
        )

    def _note(
        self,
        write: Write,
        request: Request,
        judgement: Judgement,
        verdict: Verdict,
        *,
        rewound: bool,
    ) -> None:
        reason = verdict.reasons[0]
        lines = [told(effect) for effect in judgement.case.impact.effects]
        victims = dict.fromkeys(words_of(one) for line in lines for one in line.victims)
        refused = Refused(
            time_s=write.time_s,
            audit_id=write.audit_id,
            operator=judgement.case.actor.operator,
            verb=write.verb if not write.subresource else f"{write.verb} {write.subresource}",
            key=request.key,
            reason=reason,
            message=verdict.message,
            stake=max((line.counted or line.count for line in lines), default=1),
            victims=tuple(victims)[:VICTIMS_NAMED],
            rewound=rewound,
            persisted=write.persisted,
        )
        self.found.note(refused, verdict)

    # ---- requests

    def _after(self, write: Write) -> _After:
        """Return what a write leads to; count where the log does not tell what it asked."""
        bodies, found = self._bodies, self.found
        match write.verb, write.subresource:
            case ("delete", _) | ("create", "eviction"):
                return _After(self._graph.row(write.key), asked=True)
            case "deletecollection", _:
                found.untold[Untold.NO_ITEMS] += not write.response
                return _After(asked=True)
            case "create", "":
                return _After(new=bodies.after(write) or self._ending.get(write.key), asked=True)
            case (("update" | "patch"), "scale"):
                size = bodies.size(write)
                if size is None:
                    found.untold[Untold.NO_BODY] += 1
                return _After(self._graph.row(write.key), size=size, asked=size is not None)
            case (("update" | "patch"), ""):
                row = self._graph.row(write.key)
                new = bodies.after(write, row)
                if new is None:
                    found.untold[Untold.NO_BODY] += 1
                return _After(row, new, asked=row is not None and new is not None)
            case (("update" | "patch"), "status"):
                return _After(new=bodies.after(write))
            case _:
                return _After()

    def _request(self, write: Write, after: _After) -> Request:
        """Return the request that a write was."""
        bodies, new = self._bodies, after.new
        operation, gvk, name = Operation.UPDATE, bodies.gvk(write), write.name
        extent: Extent = One()
        options, body, old = DeleteOptions(), b"", None
        match write.verb, write.subresource:
            case "delete", _:
                operation, options = Operation.DELETE, bodies.options(write)
                old = None if after.row is None else self._graph.at(after.row)
            case "deletecollection", _:
                operation, options = Operation.DELETE, bodies.options(write)
                extent = Collection(write.selector, write.fields)
            case "create", "eviction":
                operation, gvk = Operation.CREATE, EVICTION
            case "create", _:
                operation, body = Operation.CREATE, write.request
                name = name or (new.key.name if new is not None else "")
            case _, "":
                old = None if after.row is None else self._stood(write.key, after.row)
            case _:
                pass
        return Request(
            uid=write.audit_id or str(self.found.writes),
            operation=operation,
            gvr=write.gvr,
            gvk=gvk,
            subresource=write.subresource,
            namespace=write.namespace,
            name=name,
            user=write.user,
            extent=extent,
            old=old,
            new=new,
            new_body=body,
            scale_to=after.size,
            options=options,
        )

    def _stood(self, key: ObjectKey, row: int) -> ClusterObject:
        """Return an object as it is before a write."""
        form = self._forms.get(key)
        return self._graph.at(row) if form is None else form

    # ---- what happened

    def _happen(self, write: Write, after: _After) -> None:
        key = write.key
        match write.verb, write.subresource:
            case ("delete", _) | ("create", "eviction"):
                self._end(key, grace=self._bodies.keeps(write))
            case "deletecollection", _:
                self._end_all(write)
            case _, "scale":
                if after.size is not None:
                    self._put(self._bodies.sized(key, after.size))
            case "create", "binding":
                self._put(self._bodies.bound(write, key))
            case "create", "":
                self._put(after.new or (self._bodies.named(key) if key.name else None))
            case (("update" | "patch"), ("" | "status")):
                self._put(after.new)
            case _:
                return

    def _put(self, thing: ClusterObject | None) -> None:
        """Take an object's new form; one that is going and has no finalizer left is gone."""
        if thing is None or not thing.key.name:
            return
        if thing.terminating and not thing.finalizers and thing.key.resource != PODS:
            self._end(thing.key, grace=False)
            return
        self._put_back.discard(thing.key)
        form = self._forms.get(thing.key)
        if isinstance(thing.needs, RowNeeds):
            # WHY not kept: those can be read only until the model changes.
            self._forms.drop(thing.key)
        else:
            self._forms.keep(thing)
        if form is not None and renewed(form, thing):
            self._graph.renew(thing.key, thing.resource_version)
            self._settler.changed(thing, terminates=thing.terminating)
        elif self._graph.put(thing).life is Life.NEW:
            self._settler.began(thing)
        else:
            self._settler.changed(thing, terminates=thing.terminating)

    def _end(self, key: ObjectKey, *, grace: bool) -> None:
        row = self._graph.row(key)
        if row is None:
            return
        self._forms.drop(key)
        thing = self._graph.at(row)
        if (thing.finalizers or grace) and not thing.terminating:
            going = msgspec.structs.replace(thing, deleted=max(self._now.utc_s, 1.0))
            self._graph.put(going)
            self._settler.changed(going, terminates=True)
            return
        if thing.finalizers and key.resource not in (PODS, NODES):
            return
        self._graph.remove(key)
        self._put_back.discard(key)
        self._settler.ended(thing)

    def _end_all(self, write: Write) -> None:
        """End the objects of a collection: those of its answer, else those that it selects."""
        items = list(self._bodies.items(write))
        keys: Iterable[ObjectKey]
        if items:
            keys = [thing.key for thing in items]
        else:
            graph, asked = self._graph, Collection(write.selector, write.fields)
            rows = graph.rows(write.key.resource, write.namespace or None)
            keys = [
                graph.key(row)
                for row in rows
                if asked.may_take(graph.key(row), graph.labels(row) or {}, graph.facts(row))
            ]
        for key in keys:
            self._end(key, grace=False)
