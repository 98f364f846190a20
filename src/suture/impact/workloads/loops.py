"""Rings of what must be up for each other: once all of it is down, none of it comes back.

A fail-closed webhook needs pods behind its Service; to create a pod, every fail-closed webhook that
matches it must answer. A definition whose conversion is served by pods that an instance of it
stands for is the same, and so are pods that every pod on a node needs (of a DaemonSet with the
priority of node agents). A ring is looked for from what a write changes; `rings` looks through
the cluster.
Source: admissionregistration/v1 failurePolicy; apiextensions/v1 conversion; Tarjan's components.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from suture.impact.causes.parents import maker_of
from suture.impact.effects import LoopClosed, Victim
from suture.impact.ground.bars import creation
from suture.impact.ground.change import Change
from suture.impact.nodes.agents import NODE_CRITICAL
from suture.impact.scene import Scene, named
from suture.impact.traffic.spaces import backend_labels, namespace_labels
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.matchsets import Call, Evaluate, Match, matches
from suture.model.names import CRDS, DAEMON_SETS, NAMESPACES, SERVICES, WEBHOOKS, ObjectKey
from suture.model.objects import ClusterObject, CrdFacts, ServiceRef, Webhook, WebhookFacts

HOOKS = 1_000
"""LIMIT: fail-closed webhooks that are looked at; clusters have some ten, and three that each
match every pod of a thousand are a ring already."""

_TOUCHED = frozenset({*WEBHOOKS, NAMESPACES, CRDS})


class Gate(msgspec.Struct, frozen=True, gc=False):
    """A webhook that fails closed, or a conversion: what must answer, and from where."""

    source: ObjectKey
    name: str
    service: ServiceRef
    hook: Webhook | None = None


class Ring(msgspec.Struct, frozen=True, gc=False):
    """Gates in order, each needing the next; the last one needs the first."""

    gates: tuple[Gate, ...]


def may_close_a_ring(change: Change) -> bool:
    """Whether a change writes what rings are made of."""
    made = change.rewritten
    return made is not None and made.after.key.resource in _TOUCHED


def loop_effects(scene: Scene) -> Iterator[LoopClosed]:
    """Yield the rings that a write would close, each once, told with what opens it."""
    made = scene.change.rewritten
    if made is None or scene.change.direct:
        return
    own = list(gates_of(made.after))
    if made.after.key.resource == NAMESPACES:
        if made.before is None or made.before.labels == made.after.labels:
            return
    elif not own:
        return
    before = _Needs(scene.view, scene.evaluate)
    after = _Needs(scene.view, scene.evaluate, made.after)
    space = made.after.key.name if made.after.key.resource == NAMESPACES else None
    starts = own or [gate for gate in after.gates() if gate.service.namespace == space]
    told: set[frozenset[Gate]] = set()
    for gate in starts:
        ring = after.ring(gate)
        if ring is None or frozenset(ring.gates) in told or _known(before, gate, ring):
            continue
        told.add(frozenset(ring.gates))
        yield effect_of(scene.view, ring)


def _known(before: _Needs, gate: Gate, ring: Ring) -> bool:
    """Whether the same ring was there already, whatever else of its gates is written anew."""
    for old in before.gates():
        if _place(old) == _place(gate):
            known = before.ring(old)
            return known is not None and set(map(_place, known.gates)) == set(
                map(_place, ring.gates)
            )
    return False


def _place(gate: Gate) -> tuple[ObjectKey, str]:
    return gate.source, gate.name


def rings(view: GraphView, evaluate: Evaluate | None = None) -> list[Ring]:
    """Return every ring of the cluster, the shortest through each gate, each once."""
    needs = _Needs(view, evaluate)
    found: dict[frozenset[Gate], Ring] = {}
    for component in components({gate: needs.blocked_by(gate) for gate in needs.gates()}):
        for gate in component:
            ring = needs.ring(gate)
            if ring is not None:
                found.setdefault(frozenset(ring.gates), ring)
    return list(found.values())


def effect_of(view: GraphView, ring: Ring) -> LoopClosed:
    """Tell of a ring: its gates, the Services and pods between them, and the cut."""
    members: list[Victim] = []
    for gate in ring.gates:
        row = view.find(gate.source)
        members.append(named(gate.source, view.uid(row) if row is not None else ""))
        service = ObjectKey(SERVICES, gate.service.namespace, gate.service.name)
        members.append(named(service))
        members += _behind(view, gate)
    first, last = ring.gates[0], ring.gates[-1]
    return LoopClosed(
        ring=tuple(members),
        cut=(
            f"let {first.name or first.source.name} leave out pods in namespace "
            f"{last.service.namespace}"
        ),
        fail_closed=True,
    )


def _behind(view: GraphView, gate: Gate) -> Iterator[Victim]:
    """Yield what makes the pods behind a gate, the first where there are several."""
    row = view.service(gate.service)
    for kind in view.classes_selected(row) if row is not None else ():
        pods = view.pods_alike(kind)
        if pods:
            maker = maker_of(view, pods[0])
            yield named(view.key(maker), view.uid(maker))
            return


class _Needs:
    """Which gates stand in the way of which, as they are or as one of them would be."""

    def __init__(
        self, view: GraphView, evaluate: Evaluate | None, written: ClusterObject | None = None
    ) -> None:
        self._view, self._evaluate, self._written = view, evaluate, written
        self._gates: list[Gate] | None = None
        self._blocked: dict[Gate, list[Gate]] = {}
        self._agents: list[tuple[str, Mapping[str, str]]] | None = None

    def gates(self) -> list[Gate]:
        """Return everything that must answer."""
        if self._gates is None:
            self._gates = [gate for thing in self._sources() for gate in gates_of(thing)][:HOOKS]
        return self._gates

    def _sources(self) -> Iterator[ClusterObject]:
        view, written = self._view, self._written
        rows = [row for resource in WEBHOOKS for row in view.rows(resource)]
        # WHY asked by edge: of hundreds of definitions few have a conversion, and all are large.
        if view.names_by(Edge.CONVERSION):
            rows += [row for row in view.rows(CRDS) if view.targets(row, Edge.CONVERSION)]
        for row in rows:
            if written is None or view.key(row) != written.key:
                yield view.at(row)
        if written is not None:
            yield written

    def blocked_by(self, gate: Gate) -> list[Gate]:
        """Return the gates that must answer before a gate's pods can be created again."""
        known = self._blocked.get(gate)
        if known is None:
            calls = [self._call(space, labels) for space, labels in self._pods(gate)]
            known = self._blocked[gate] = [
                other
                for other in self.gates()
                if (
                    any(matches(other.hook, call, self._evaluate) is not Match.NO for call in calls)
                    if other.hook is not None
                    else self._stands_for(other, gate)
                )
            ]
        return known

    def _pods(self, gate: Gate) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield namespace and labels of the pods that a gate needs: its own, and node agents."""
        space = gate.service.namespace
        for labels in backend_labels(self._view, space, gate.service.name):
            yield space, labels
        yield from self._node_agents()

    def _node_agents(self) -> Sequence[tuple[str, Mapping[str, str]]]:
        if self._agents is None:
            view, found = self._view, []
            for row in view.named_by(NODE_CRITICAL, Edge.PRIORITY_CLASS):
                if view.resource(row) != DAEMON_SETS:
                    continue
                space = view.namespace(row)
                found += [(space, view.labels(kind)) for kind in view.classes_owned(row)]
            self._agents = found
        return self._agents

    def _call(self, space: str, labels: Mapping[str, str]) -> Call:
        written = self._written
        known = namespace_labels(self._view, space)
        if written is not None and written.key == ObjectKey(NAMESPACES, "", space):
            known = written.labels
        return creation(self._view, space, labels, known)

    def _stands_for(self, conversion: Gate, gate: Gate) -> bool:
        """Whether a gate's pods are kept by an instance of the type that a conversion serves."""
        view = self._view
        row = view.service(gate.service)
        crd = view.find(conversion.source)
        facts = view.facts(crd) if crd is not None else None
        if row is None or not isinstance(facts, CrdFacts):
            return False
        for kind in view.classes_selected(row):
            climbed = view.pods_alike(kind)[:1]
            for _ in range(4):
                climbed = [one.row for at in climbed for one in view.owners(at) if one.present]
                if any(view.resource(one) == facts.resource for one in climbed):
                    return True
        return False

    def ring(self, start: Gate) -> Ring | None:
        """Return the shortest ring through a gate; None: what it needs does not need it."""
        came_from: dict[Gate, Gate] = {}
        level = [start]
        while level:
            following = []
            for gate in level:
                for other in self.blocked_by(gate):
                    if other == start:
                        return Ring(_way(came_from, start, gate))
                    if other not in came_from:
                        came_from[other] = gate
                        following.append(other)
            level = following
        return None


def _way(came_from: Mapping[Gate, Gate], start: Gate, end: Gate) -> tuple[Gate, ...]:
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


def gates_of(thing: ClusterObject) -> Iterator[Gate]:
    """Yield what of an object must answer: its fail-closed webhooks, its conversion."""
    facts = thing.facts
    if isinstance(facts, WebhookFacts):
        for hook in facts.webhooks:
            if hook.fail_closed and hook.service is not None:
                yield Gate(thing.key, hook.name, hook.service, hook)
    elif isinstance(facts, CrdFacts) and facts.conversion is not None:
        yield Gate(thing.key, "", facts.conversion)


def components(needs: Mapping[Gate, Sequence[Gate]]) -> list[list[Gate]]:
    """Return the groups of gates that all need each other: of several, or one that needs itself.

    Tarjan's algorithm, without recursion: a chain of needs may be longer than the stack.
    """
    index: dict[Gate, int] = {}
    low: dict[Gate, int] = {}
    stack: list[Gate] = []
    on_stack: set[Gate] = set()
    found: list[list[Gate]] = []
    for root in needs:
        if root in index:
            continue
        work: list[tuple[Gate, Iterator[Gate]]] = [(root, iter(needs[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            gate, following = work[-1]
            other = next(following, None)
            if other is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[gate])
                if low[gate] == index[gate]:
                    at = stack.index(gate)
                    group = stack[at:][::-1]
                    del stack[at:]
                    on_stack.difference_update(group)
                    if len(group) > 1 or gate in needs[gate]:
                        found.append(group)
            elif other not in index:
                index[other] = low[other] = len(index)
                stack.append(other)
                on_stack.add(other)
                work.append((other, iter(needs[other])))
            elif other in on_stack:
                low[gate] = min(low[gate], index[other])
    return found
