"""The load-balancer incident, replayed on a graph: writes, verdicts, and what they did.

Offline: each admitted write's own predicted change is applied, and taken back at the end, so that
one graph serves several runs. Knows nothing of how a run is told; `demo` tells it.
Source: SREcon APAC, "How to not destroy your Kubernetes clusters", case 1.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from suture.adapters.memory import NoSignals
from suture.app.admit import addressed
from suture.app.settle import Settler
from suture.impact.effects import AdmissionPathBroken
from suture.journal.entry import decision_id
from suture.judge import Judgement, World, judge, note_collection
from suture.lab.clusters.fronts import LABEL_VALUE_CHARS
from suture.model.actor import Operators, Profile, Stage, UserInfo
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import SERVICES, Gvk, Gvr, ObjectKey, Operation
from suture.model.objects import ClusterObject
from suture.model.request import Collection, CollectionItem, Extent, One, Request
from suture.model.selectors import Selector
from suture.policy.compile import PolicySet
from suture.policy.rules import ClusterFacts, Point

ACCOUNT = UserInfo(
    "system:serviceaccount:lb-system:balancer-operator",
    ("system:serviceaccounts", "system:serviceaccounts:lb-system", "system:authenticated"),
)
OPERATOR = "balancer-operator"

WRITES_PER_S = 20
"""LIMIT: how fast the operator deletes: 20 requests a second, controller-runtime's default."""

START = Now(1_000_000_000_000, 1_787_654_700.0)
"""When the incident begins. Any moment would do: replays make their own time."""

_GVR, _GVK = Gvr("", "v1", "services"), Gvk("", "v1", "Service")


def selector_of(labels: Mapping[str, str]) -> Selector:
    """Make a list's selector as the operator's client library did: where the disaster begins.

    A value that no label can have gave neither an error nor a selector that matches nothing, but
    one that excludes nothing. SOURCE: k8s.io/apimachinery labels.SelectorFromSet before v0.19.
    """
    if any(len(value) > LABEL_VALUE_CHARS for value in labels.values()):
        return Selector()
    return Selector.of(labels)


class Broken(NamedTuple):
    """An API path that lost its last backend: when, what stands in it, which calls then fail."""

    after_s: float
    source: str
    path: str
    service: ObjectKey
    calls: str


class Refusal(NamedTuple):
    """A refused write: which one, when, and what the operator read in its error."""

    write: int
    after_s: float
    target: ObjectKey
    constraint: str
    message: str


class Replay:
    """One run of an operator's writes, with or without Suture's refusals.

    Unguarded, the operator is in the stage `observe`: the same decisions, and no refusal. As a
    context manager it gives the graph back as it was.
    """

    def __init__(
        self, graph: Graph, policies: PolicySet, *, guarded: bool, authorizer: bool = False
    ) -> None:
        stage = Stage.ENFORCE if guarded else Stage.OBSERVE
        self.world = World(
            policies=policies,
            graph=graph,
            operators=Operators([Profile(OPERATOR, users=(ACCOUNT.username,), stage=stage)]),
            cluster=ClusterFacts("demo", authorizer=authorizer),
        )
        self.actor = self.world.operators.attribute(ACCOUNT)
        self.writes = 0
        self.removed: list[ClusterObject] = []
        self.alive: list[int] = []
        """Services that are there after each write."""
        self.refusals: list[Refusal] = []
        self.broken: list[Broken] = []
        self.decision_ns: list[int] = []
        self._settler = Settler(self.world, NoSignals(), lambda: self.now)
        self._before: dict[ObjectKey, ClusterObject] = {}
        self._settler.tick(START)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the graph back as it was."""
        for thing in (*self.removed, *self._before.values()):
            self.world.graph.put(thing)

    @property
    def now(self) -> Now:
        """The time of the next write."""
        return START.plus_s(self.elapsed_s)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first write."""
        return self.writes / WRITES_PER_S

    def mark_deleted(self, key: ObjectKey) -> None:
        """Have an object's delete accepted: its finalizer keeps it until its own are gone."""
        row = self.world.graph.row(key)
        if row is None:
            raise KeyError(key)
        self._before[key] = _kept(self.world.graph.at(row))
        self.world.graph.put(msgspec.structs.replace(self._before[key], deleted=START.utc_s))

    def services(self, selector: Selector) -> list[ClusterObject]:
        """List Services of all namespaces, as the API server would."""
        view = self.world.view
        found = (view.at(row) for row in view.rows(SERVICES))
        return sorted((one for one in found if selector.matches(one.labels)), key=_place)

    def delete_each(self, services: Iterable[ClusterObject]) -> None:
        """Delete Services one by one; a refused write is not tried again, the operator goes on."""
        for service in services:
            self._delete(service, One())

    def delete_collections(self, services: Iterable[ClusterObject]) -> None:
        """Delete Services by one `deletecollection` a namespace, without a selector."""
        for namespace, members in _by_namespace(services):
            whole = _request(namespace, "", None, Collection(None))
            if self.world.cluster.authorizer and not self._authorized(whole):
                continue
            for service in members:
                # A refusal in the middle ends the collection; what went before it is gone.
                if not self._delete(service, CollectionItem()):
                    break

    def _authorized(self, whole: Request) -> bool:
        judgement = self._judged(whole, Point.AUTHORIZATION)
        if judgement.verdict.denies:
            self._refused(judgement, ObjectKey(SERVICES, whole.namespace, ""))
            self._done()
            return False
        note_collection(whole, self.world, self.now)
        return True

    def _delete(self, service: ClusterObject, extent: Extent) -> bool:
        key = service.key
        # SOURCE: a collection's reviews carry no name; it is in the old object only.
        name = key.name if isinstance(extent, One) else ""
        request = _request(key.namespace, name, service, extent)
        judgement = self._judged(request, Point.ADMISSION)
        allowed = not judgement.verdict.denies
        if allowed:
            self._apply(judgement)
        else:
            self._refused(judgement, key)
        self._done()
        return allowed

    def _judged(self, request: Request, point: Point) -> Judgement:
        started = time.perf_counter_ns()
        judgement = judge(request, self.actor, self.world, self.now, point)
        self.decision_ns.append(time.perf_counter_ns() - started)
        return judgement

    def _apply(self, judgement: Judgement) -> None:
        """Do to the graph what the watch would tell of an admitted write."""
        for effect in judgement.case.impact.effects:
            if isinstance(effect, AdmissionPathBroken) and effect.fail_closed:
                service = effect.service
                key = ObjectKey(SERVICES, service.namespace, service.name)
                source = f"{effect.source.resource} {effect.source.name}"
                self.broken.append(Broken(self.elapsed_s, source, effect.path, key, effect.calls))
        graph = self.world.graph
        for thing in [_kept(graph.at(row)) for row in judgement.change.removed]:
            graph.remove(thing.key)
            self.removed.append(thing)
            self._settler.ended(thing)

    def _refused(self, judgement: Judgement, target: ObjectKey) -> None:
        verdict = judgement.verdict
        decision = decision_id(self.now, self.writes)
        self.refusals.append(
            Refusal(
                self.writes + 1,
                self.elapsed_s,
                target,
                verdict.reasons[0].constraint,
                addressed(verdict, decision).message,
            )
        )

    def _done(self) -> None:
        self.writes += 1
        self.alive.append(self.world.view.count(SERVICES))
        if self.writes % WRITES_PER_S == 0:
            self._settler.tick(self.now)


def _request(namespace: str, name: str, old: ClusterObject | None, extent: Extent) -> Request:
    return Request(
        uid=f"{namespace}/{name}",
        operation=Operation.DELETE,
        gvr=_GVR,
        gvk=_GVK,
        namespace=namespace,
        name=name,
        user=ACCOUNT,
        extent=extent,
        old=old,
    )


def _place(thing: ClusterObject) -> tuple[str, str]:
    return thing.key.namespace, thing.key.name


def _by_namespace(
    services: Iterable[ClusterObject],
) -> Iterator[tuple[str, list[ClusterObject]]]:
    spaces: dict[str, list[ClusterObject]] = {}
    for service in services:
        spaces.setdefault(service.key.namespace, []).append(service)
    yield from spaces.items()


def _kept(thing: ClusterObject) -> ClusterObject:
    """Return an object that outlives its row: what it needs is read before the graph changes."""
    return msgspec.structs.replace(thing, needs=tuple(thing.needs))
