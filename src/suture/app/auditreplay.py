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
from suture.app.settle import Settler
from suture.app.signals import Signals
from suture.impact.effects import VICTIMS_NAMED
from suture.impact.telling import told, words_of
from suture.judge import Judgement, World, judge, note_collection
from suture.model.actor import IdentityKind, Operators, Profile, Stage, UserInfo
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import (
    CLAIMS,
    CRDS,
    DISRUPTION_BUDGETS,
    NODES,
    PODS,
    SNAPSHOTS,
    VOLUMES,
    Gvk,
    ObjectKey,
    Operation,
    Resource,
)
from suture.model.objects import ClusterObject
from suture.model.request import Collection, Request
from suture.policy.policyset import PolicySet
from suture.policy.rules import ClusterFacts, Point
from suture.verdict import Verdict
from suture.wire.audit import Write

TICK_S = 1.0
"""LIMIT: event time between two rounds of refunds, as live."""

EVICTION = Gvk("policy", "v1", "Eviction")

SPARED = frozenset(
    {
        Resource("coordination.k8s.io", "leases"),
        Resource("", "events"),
        Resource("events.k8s.io", "events"),
        Resource("authentication.k8s.io", "tokenreviews"),
        Resource("authorization.k8s.io", "subjectaccessreviews"),
        Resource("authorization.k8s.io", "selfsubjectaccessreviews"),
    }
)
"""Never judged on a cluster either: lane 0."""


STATUS_READ = frozenset({PODS, NODES, CLAIMS, VOLUMES, DISRUPTION_BUDGETS, CRDS, SNAPSHOTS})
"""Types of whose status the model reads something that a decision rests on."""


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
        self._ticked_s = 0.0
        self.found = Findings()

    # ---- the first pass

    def survey(self, write: Write) -> None:
        """Take note of a write: what it tells of the beginning, by the first one of each object."""
        resource = write.gvr.resource
        self._enrol(write.user)
        if not write.persisted or resource in SPARED:
            return
        if write.verb == "deletecollection":
            for item in self._bodies.items(write):
                self._first(item.key, item)
            return
        if write.subresource and write.subresource != "eviction":
            return
        key = _key(write)
        if key.name and key in self._touched and (key in self._seen or key not in self._put_back):
            return
        thing = self._bodies.after(write)
        if thing is not None and thing.key.name:
            # WHY from there: a name that the server made up is in its answer alone.
            key = thing.key
            # WHY kept: the nearest form of an object whose earlier ones nobody recorded.
            self._seen.setdefault(key, thing)
        if key in self._touched or not key.name:
            return
        if write.creates:
            self._touched.add(key)
            self._take_away(key)
        elif write.verb == "delete":
            self._first(key, self._bodies.deleted(write))
        else:
            # An update: it was there, in a form that only the snapshot or the log's next one tells.
            self._touched.add(key)
            self._there(key, thing)

    def _enrol(self, user: UserInfo) -> None:
        if user.username not in self._users:
            self._users[user.username] = Profile(
                user.username, users=(user.username,), stage=Stage.ENFORCE
            )

    def _first(self, key: ObjectKey, thing: ClusterObject | None) -> None:
        """Note that an object was there when the log began, since its first word is its end."""
        if key not in self._touched:
            self._touched.add(key)
            self._there(key, thing)

    def _there(self, key: ObjectKey, thing: ClusterObject | None) -> None:
        if self._graph.row(key) is None:
            self._put_back.add(key)
            if thing is not None:
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
        found = self.found
        found.writes += 1
        found.levels[write.level.value] += 1
        found.first_s = min(found.first_s or write.time_s, write.time_s)
        found.last_s = max(found.last_s, write.time_s)
        self._now = Now(int(write.time_s * 1e9), write.time_s)
        if write.time_s - self._ticked_s >= TICK_S:
            self._ticked_s = write.time_s
            self._settler.tick(self._now)
        if write.dry_run:
            found.dry_runs += 1
            return
        if write.gvr.resource in SPARED:
            found.spared += 1
            return
        request = self._request(write)
        if request is not None:
            self._weigh(write, request)
        if write.persisted:
            self._happen(write, request)
        else:
            found.not_persisted += 1

    def _weigh(self, write: Write, request: Request) -> None:
        found = self.found
        actor = self._world.operators.attribute(write.user)
        if actor.kind is IdentityKind.SYSTEM:
            found.spared += 1
            return
        if actor.kind is IdentityKind.CONSEQUENCE:
            # WHY not judged: it carries out what somebody else asked for and was charged for.
            found.consequences += 1
            return
        if not write.persisted:
            # WHY not judged: it asked for nothing that the cluster then did, and charges nobody.
            return
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
        if not self._put_back:
            return False
        view = self._world.view
        keys = {judgement.case.request.key, *judgement.evidence}
        keys.update(view.key(row) for row in judgement.change.direct[:100])
        return not self._put_back.isdisjoint(keys)

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

    def _request(self, write: Write) -> Request | None:
        """Return the request that a write was; None where the log does not tell what it asked."""
        bodies, key = self._bodies, _key(write)
        asked = Request(
            uid=write.audit_id or str(self.found.writes),
            operation=Operation.UPDATE,
            gvr=write.gvr,
            gvk=bodies.gvk(write),
            subresource=write.subresource,
            namespace=write.namespace,
            name=write.name,
            user=write.user,
        )
        change = msgspec.structs.replace
        row = self._graph.row(key)
        old = None if row is None else self._graph.at(row)
        match write.verb, write.subresource:
            case "delete", _:
                options = bodies.options(write)
                return change(asked, operation=Operation.DELETE, old=old, options=options)
            case "deletecollection", _:
                self.found.untold[Untold.NO_ITEMS] += not write.response
                extent = Collection(write.selector, write.by_fields)
                options = bodies.options(write)
                return change(asked, operation=Operation.DELETE, extent=extent, options=options)
            case "create", "eviction":
                return change(asked, operation=Operation.CREATE, gvk=EVICTION)
            case "create", "":
                new = bodies.after(write) or self._ending.get(key)
                name = write.name or (new.key.name if new is not None else "")
                return change(
                    asked, operation=Operation.CREATE, name=name, new=new, new_body=write.request
                )
            case (("update" | "patch"), "scale"):
                size = bodies.size(write)
                return self._told(size is not None, change(asked, scale_to=size))
            case (("update" | "patch"), ""):
                new = bodies.after(write, old)
                told_whole = self._told(new is not None, change(asked, old=old, new=new))
                return None if old is None else told_whole
            case _:
                return None

    def _told(self, is_told: bool, request: Request) -> Request | None:
        """Return a request whose body the log tells; count it where it does not."""
        if is_told:
            return request
        self.found.untold[Untold.NO_BODY] += 1
        return None

    # ---- what happened

    def _happen(self, write: Write, request: Request | None) -> None:
        key = _key(write)
        match write.verb, write.subresource:
            case ("delete", _) | ("create", "eviction"):
                self._end(key, grace=self._bodies.keeps(write))
            case "deletecollection", _:
                self._end_all(write)
            case _, "scale":
                if request is not None and request.scale_to is not None:
                    self._put(self._bodies.sized(key, request.scale_to))
            case "create", "binding":
                self._put(self._bodies.bound(write, key))
            case "create", "":
                made = request.new if request is not None else None
                self._put(made or (self._bodies.named(key) if key.name else None))
            case (("update" | "patch"), ("" | "status")):
                row = self._graph.row(key)
                old = None if row is None else self._graph.at(row)
                known = request.new if request is not None and request.new is not None else None
                self._put(known or self._bodies.after(write, old))
            case _:
                return

    def _put(self, thing: ClusterObject | None) -> None:
        """Take an object's new form; one that is going and has no finalizer left is gone."""
        if thing is None or not thing.key.name:
            return
        if thing.terminating and not thing.finalizers and thing.key.resource != PODS:
            self._end(thing.key, grace=False)
            return
        row = self._graph.row(thing.key)
        self._put_back.discard(thing.key)
        self._graph.put(thing)
        if row is None:
            self._settler.began(thing)
        else:
            self._settler.changed(thing, terminates=thing.terminating)

    def _end(self, key: ObjectKey, *, grace: bool) -> None:
        row = self._graph.row(key)
        if row is None:
            return
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
            graph, selector = self._graph, write.selector
            keys = [
                graph.key(row)
                for row in graph.rows(write.gvr.resource, write.namespace or None)
                if selector is None or selector.matches(graph.labels(row) or {})
            ]
        for key in keys:
            self._end(key, grace=False)


def _key(write: Write) -> ObjectKey:
    return ObjectKey(write.gvr.resource, write.namespace, write.name)
