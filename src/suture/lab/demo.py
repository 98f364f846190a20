"""The demo as a value: the incident without and with Suture, measured and compared.

Above `incident`, which replays, and below the command, which tells it: here is what is counted.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from suture.adapters.files import load_policies
from suture.lab.clusters import DEMO, Cluster, Size
from suture.lab.clusters.cluster import SEED
from suture.lab.clusters.fronts import BALANCER_LABEL
from suture.lab.incident import START, WRITES_PER_S, Replay, selector_of
from suture.model.graph import Graph, GraphView
from suture.model.matchsets import Call, Match, matches
from suture.model.names import (
    MUTATING_WEBHOOKS,
    NAMESPACES,
    NODES,
    PODS,
    SERVICES,
    VALIDATING_WEBHOOKS,
    ObjectKey,
)
from suture.model.objects import NO_LABELS, ServiceRef, Webhook, WebhookFacts
from suture.model.selectors import Selector
from suture.policy.compile import PolicySet

POINTS = 60
"""LIMIT: points of a run's curve: as many as a terminal has columns for it."""

Say = Callable[[str], None]


class BrokenPath(msgspec.Struct, frozen=True):
    """API calls that fail from a moment on, since what stands in them lost its last backend."""

    after_s: float
    source: str
    service: str
    calls: str
    blocks_pods: bool
    """Whether pods of some namespace cannot be created any more."""


class FirstRefusal(msgspec.Struct, frozen=True):
    """The first refused write, and what the operator read."""

    write: int
    after_s: float
    service: str
    constraint: str
    message: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the incident. Lost is what is gone and was not meant to go."""

    guarded: bool
    writes: int
    refused: int
    refused_by: dict[str, int]
    first_refusal: FirstRefusal | None
    population: int
    lost: int
    lost_idle: int
    endpoints: int
    endpoints_lost: int
    fail_closed: int
    """Fail-closed webhooks that had a backend before."""
    fail_closed_broken: int
    broken: tuple[BrokenPath, ...]
    namespaces: int
    namespaces_blocked: int
    """Namespaces in which no pod can be created afterwards."""
    pods_stranded: int
    """Pods that run now and could not come back."""
    blocked_after_s: float | None
    decisions: int
    median_us: float
    p99_us: float
    alive: tuple[int, ...]


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A relative of the incident, guarded, in a line."""

    writes: int
    refused: int
    population: int
    lost: int
    first_refusal: FirstRefusal | None = None


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """All that the demo shows."""

    seed: int
    nodes: int
    pods: int
    services: int
    namespaces: int
    objects: int
    load_s: float
    trigger: str
    selector_asked: str
    selector_got: str
    writes_per_s: int
    without: Run
    guarded: Run
    collection_authorized: Variant
    collection_admitted: Variant
    twin: Variant
    twin_balancer: str

    @property
    def held(self) -> bool:
        """Whether Suture did what the demo says that it does."""
        return (
            self.without.lost == self.without.population
            and self.guarded.lost <= max(5, self.services // 100)
            and self.guarded.fail_closed_broken == self.guarded.namespaces_blocked == 0
            and self.collection_authorized.lost == self.collection_admitted.lost == 0
            and self.twin.refused == 0
            and self.twin.lost == 0
        )


def play(size: Size = DEMO, *, seed: int = SEED, say: Say = lambda _words: None) -> Demo:
    """Make the cluster, replay the incident on it in every variant, and say what came of it.

    `say` is told what is under way.
    """
    say("reading the policies of the safety pack")
    policies = load_policies()
    started = time.perf_counter()
    cluster = Cluster(size, seed=seed)
    with _quiet_memory():
        graph = cluster.graph(START, on_kind=lambda kind: say(f"loading the cluster: {kind}"))
        load_s = time.perf_counter() - started
        view = GraphView(graph)
        say("the incident, without Suture")
        without = _incident(graph, policies, cluster.trigger, guarded=False)
        say("the incident, with Suture")
        guarded = _incident(graph, policies, cluster.trigger, guarded=True)
        say("its relatives")
        trigger, shared = cluster.trigger, cluster.shared_balancer
        return Demo(
            seed=seed,
            nodes=view.count(NODES),
            pods=view.count(PODS),
            services=view.count(SERVICES),
            namespaces=view.count(NAMESPACES),
            objects=len(graph),
            load_s=load_s,
            trigger=_short(trigger),
            selector_asked=str(Selector.of({BALANCER_LABEL: trigger.name})),
            selector_got=str(selector_of({BALANCER_LABEL: trigger.name})),
            writes_per_s=WRITES_PER_S,
            without=without,
            guarded=guarded,
            collection_authorized=_collections(graph, policies, trigger, authorizer=True),
            collection_admitted=_collections(graph, policies, trigger, authorizer=False),
            twin=_twin(graph, policies, shared),
            twin_balancer=_short(shared),
        )


@contextmanager
def _quiet_memory() -> Iterator[None]:
    """Keep the collector of garbage away from what stays: it would walk all of it, again and again.

    What was loaded is out of its sight from the first decision on.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def _incident(graph: Graph, policies: PolicySet, trigger: ObjectKey, *, guarded: bool) -> Run:
    view = GraphView(graph)
    serving = serving_of(view)
    hooks_before = dead_and_alive(view)
    gc.freeze()
    with Replay(graph, policies, guarded=guarded) as replay:
        replay.mark_deleted(trigger)
        meant = _owned(view, trigger)
        replay.delete_each(replay.services(selector_of({BALANCER_LABEL: trigger.name})))
        gone = {thing.key for thing in replay.removed if thing.key.resource == SERVICES} - meant
        dead, _alive = dead_and_alive(view)
        blocked = blocked_namespaces(view, dead)
        blocking = {hook.name for hook in dead if blocked_namespaces(view, [hook])}
        return Run(
            guarded=guarded,
            writes=replay.writes,
            refused=len(replay.refusals),
            refused_by=dict(Counter(one.constraint for one in replay.refusals).most_common()),
            first_refusal=_first(replay),
            population=len(serving.keys() - meant),
            lost=len(gone),
            lost_idle=sum(1 for key in gone if not serving[key]),
            endpoints=sum(count for key, count in serving.items() if key not in meant),
            endpoints_lost=sum(serving[key] for key in gone),
            fail_closed=len(hooks_before[1]),
            fail_closed_broken=len(dead),
            broken=tuple(
                BrokenPath(
                    one.after_s,
                    one.source,
                    _short(one.service),
                    one.calls,
                    blocks_pods=one.path in blocking,
                )
                for one in replay.broken
            ),
            namespaces=view.count(NAMESPACES),
            namespaces_blocked=len(blocked),
            pods_stranded=sum(view.at(row).key.namespace in blocked for row in view.rows(PODS)),
            blocked_after_s=min(
                (one.after_s for one in replay.broken if one.path in blocking), default=None
            ),
            decisions=len(replay.decision_ns),
            median_us=statistics.median(replay.decision_ns) / 1e3,
            p99_us=sorted(replay.decision_ns)[len(replay.decision_ns) * 99 // 100] / 1e3,
            alive=sampled(replay.alive),
        )


def _collections(
    graph: Graph, policies: PolicySet, trigger: ObjectKey, *, authorizer: bool
) -> Variant:
    """Replay the incident of an operator that uses one `deletecollection` a namespace."""
    view = GraphView(graph)
    with Replay(graph, policies, guarded=True, authorizer=authorizer) as replay:
        replay.mark_deleted(trigger)
        meant = _owned(view, trigger)
        services = replay.services(Selector())
        replay.delete_collections(services)
        gone = {thing.key for thing in replay.removed if thing.key.resource == SERVICES}
        return _variant(replay, population=len(services) - len(meant), lost=len(gone - meant))


def _twin(graph: Graph, policies: PolicySet, balancer: ObjectKey) -> Variant:
    """Replay what looks alike and is right: the Services of a Balancer that is being deleted."""
    view = GraphView(graph)
    with Replay(graph, policies, guarded=True) as replay:
        replay.mark_deleted(balancer)
        meant = _owned(view, balancer)
        replay.delete_each(replay.services(selector_of({BALANCER_LABEL: balancer.name})))
        gone = {thing.key for thing in replay.removed if thing.key.resource == SERVICES}
        return _variant(replay, population=len(meant), lost=len(gone - meant))


def _variant(replay: Replay, *, population: int, lost: int) -> Variant:
    return Variant(
        writes=replay.writes,
        refused=len(replay.refusals),
        population=population,
        lost=lost,
        first_refusal=_first(replay),
    )


def _first(replay: Replay) -> FirstRefusal | None:
    if not replay.refusals:
        return None
    one = replay.refusals[0]
    return FirstRefusal(one.write, one.after_s, _short(one.target), one.constraint, one.message)


def _owned(view: GraphView, balancer: ObjectKey) -> set[ObjectKey]:
    """Return the Services that belong to a Balancer: those that are meant to go with it."""
    row = view.find(balancer)
    children = () if row is None else view.children(view.at(row).uid)
    keys = (view.at(child).key for child in children)
    return {key for key in keys if key.resource == SERVICES}


def _short(key: ObjectKey) -> str:
    return f"{key.namespace}/{key.name}".strip("/")


def serving_of(view: GraphView) -> dict[ObjectKey, int]:
    """Return how many ready endpoints each Service has."""
    return {view.at(row).key: len(view.ready_endpoints(row)) for row in view.rows(SERVICES)}


def dead_and_alive(view: GraphView) -> tuple[list[Webhook], list[Webhook]]:
    """Return the fail-closed webhooks without a ready backend, and those with one."""
    dead: list[Webhook] = []
    alive: list[Webhook] = []
    for resource in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
        for row in view.rows(resource):
            facts = view.at(row).facts
            for hook in facts.webhooks if isinstance(facts, WebhookFacts) else ():
                if hook.fail_closed and hook.service is not None:
                    (alive if _answers(view, hook.service) else dead).append(hook)
    return dead, alive


def _answers(view: GraphView, service: ServiceRef) -> bool:
    row = view.service(service)
    return row is not None and bool(view.ready_endpoints(row))


def _new_pod(view: GraphView, namespace: str) -> Call:
    return Call(
        operation="CREATE",
        resource=PODS,
        namespace=namespace,
        namespace_labels=view.namespace_labels(namespace),
        labels=NO_LABELS,
    )


def blocked_namespaces(view: GraphView, dead: list[Webhook]) -> set[str]:
    """Return where no pod can be created: a dead fail-closed webhook would have to be asked."""
    return {
        name
        for name in (view.at(row).key.name for row in view.rows(NAMESPACES))
        if any(matches(hook, _new_pod(view, name)) is not Match.NO for hook in dead)
    }


def sampled(curve: list[int]) -> tuple[int, ...]:
    """Return a curve in at most `POINTS` points, its last one always among them."""
    count = min(POINTS, len(curve))
    return tuple(curve[(at + 1) * len(curve) // count - 1] for at in range(count))
