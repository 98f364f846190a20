"""Whether pods that lose their node fit elsewhere: by requests, labels and taints, largest first.

Beside `capacity`, which says whose they are. An answer in thousandths of a second on a cluster of
any size: nodes are looked at until all pods are placed or the limit is reached, and what is left
then is judged by what was found so far.
Source: the scheduler's filters NodeResourcesFit, NodeAffinity, TaintToleration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, NODES
from suture.model.objects import NodeFacts, WorkloadFacts
from suture.model.placement import ANYWHERE, REPELS, Placement

PODS_WALKED = 4_000
"""LIMIT: pods of other nodes that are looked at: 1 µs each, 4 ms; a cluster of 100 nodes is looked
at whole."""

PODS_UNSAID = 110
"""What a kubelet takes where a node does not say. SOURCE: KubeletConfiguration `maxPods`."""


_BOUND = frozenset({DAEMON_SETS, NODES})


@dataclass(slots=True)
class Room:
    """What is free on one node. None: the node does not say how much it has."""

    cpu_m: int | None
    memory_mi: int | None
    pods: int

    def take(self, asked: Placement) -> bool:
        """Place a pod if it fits."""
        if self.pods < 1:
            return False
        if self.cpu_m is not None and asked.cpu_m > max(0, self.cpu_m):
            return False
        if self.memory_mi is not None and asked.memory_mi > max(0, self.memory_mi):
            return False
        self.pods -= 1
        if self.cpu_m is not None:
            self.cpu_m -= asked.cpu_m
        if self.memory_mi is not None:
            self.memory_mi -= asked.memory_mi
        return True


class Asked:
    """What pods ask of a node, by class, as the template of their controller says.

    A pod whose controller has no template that the model reads asks for nothing but a place.
    """

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._known: dict[int, Placement] = {}
        self._daemons: dict[int, bool] = {}

    def of(self, pod: int) -> Placement:
        """Return what a pod asks for."""
        kind = self._view.alike(pod)
        known = self._known.get(kind)
        if known is None:
            known = ANYWHERE
            for owner in self._view.owners(pod):
                facts = self._view.facts(owner.row) if self._view.alive(owner.row) else None
                if owner.controller and isinstance(facts, WorkloadFacts):
                    known = facts.placement
            self._known[kind] = known
        return known

    def knows(self, pod: int) -> bool:
        """Whether the template of a pod was read: of another it is not known what it says."""
        return any(
            owner.controller
            and self._view.alive(owner.row)
            and isinstance(facts := self._view.facts(owner.row), WorkloadFacts)
            and facts.template_hash != 0
            for owner in self._view.owners(pod)
        )

    def stays(self, pod: int) -> bool:
        """Whether a pod belongs to its node: a DaemonSet's, or one that the kubelet shows."""
        kind = self._view.alike(pod)
        known = self._daemons.get(kind)
        if known is None:
            view = self._view
            known = self._daemons[kind] = any(
                owner.controller
                and (
                    owner.gvk.kind in {"DaemonSet", "Node"}
                    or (view.alive(owner.row) and view.resource(owner.row) in _BOUND)
                )
                for owner in view.owners(pod)
            )
        return known


def unplaced(view: GraphView, asked: Asked, pods: Sequence[int], nodes: Open) -> int:
    """Return how many pods fit on none of the nodes that are open.

    At least as many as no placing could avoid: the scheduler has no order by size, and the best of
    all orders is not looked for; the largest first is tried and, where some are left, the smallest.
    Where not all nodes are looked at, those that were tell of the others, in proportion.
    """
    found = _left(view, asked, pods, nodes, largest_first=True)
    return found and min(found, _left(view, asked, pods, nodes, largest_first=False))


def _left(
    view: GraphView, asked: Asked, pods: Sequence[int], nodes: Open, *, largest_first: bool
) -> int:
    """Return how many pods are left where each node is filled in this order."""
    left = Counter(asked.of(pod) for pod in pods)
    wanted = sorted(left, key=lambda one: (one.cpu_m, one.memory_mi), reverse=largest_first)
    total, placed, looked, walked = len(pods), 0, 0, 0
    for facts, row in nodes:
        if placed == total or walked >= PODS_WALKED:
            break
        looked += 1
        there = view.pods_on(row)
        walked += len(there) + 1
        room = _room(view, asked, facts, there)
        labels = None
        for one in wanted:
            if not left[one] or not one.tolerates(facts.taints):
                continue
            if one.terms:
                labels = view.labels(row) if labels is None else labels
                if not one.accepts(labels):
                    continue
            while left[one] and room.take(one):
                left[one] -= 1
                placed += 1
    if looked < len(nodes):
        # WHY: nodes that were not looked at are taken to be like these; but those that few pods
        # ask for may all be among them, and for these the benefit of the doubt is given.
        placed += sum(count for one, count in left.items() if one.terms or one.tolerations)
        placed = min(total, placed * len(nodes) // max(1, looked))
    return total - placed


def _room(view: GraphView, asked: Asked, facts: NodeFacts, there: Sequence[int]) -> Room:
    cpu = memory = count = 0
    for pod in there:
        if view.finished(pod):
            continue
        one = asked.of(pod)
        cpu += one.cpu_m
        memory += one.memory_mi
        count += 1
    return Room(
        facts.cpu_m - cpu if facts.cpu_m else None,
        facts.memory_mi - memory if facts.memory_mi else None,
        (facts.pods or PODS_UNSAID) - count,
    )


class Open:
    """The nodes that take new pods: Ready, schedulable, and not among those `closed`.

    Counted by what they have in common: 17,000 of them in 2 ms.
    """

    def __init__(self, view: GraphView, closed: frozenset[int]) -> None:
        self._closed, self._rows = closed, view.rows(NODES)
        self._numbers, facts = view.shared_facts(self._rows)
        self._open = {
            number: one
            for number, one in facts.items()
            if isinstance(one, NodeFacts) and is_open(one)
        }
        counts = Counter(self._numbers)
        # WHY not what is gone: it is not among the rows to begin with.
        shut = sum(is_open(view.facts(row)) for row in closed if not view.gone(row))
        self._count = sum(counts[number] for number in self._open) - shut

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[NodeFacts, int]]:
        for row, number in zip(self._rows, self._numbers, strict=True):
            facts = self._open.get(number)
            if facts is not None and row not in self._closed:
                yield facts, row


def is_open(facts: object) -> bool:
    """Whether facts are those of a node that takes new pods."""
    return isinstance(facts, NodeFacts) and facts.ready and not facts.unschedulable


def is_shut(facts: NodeFacts) -> bool:
    """Whether a node is closed to new pods, or to those that do not bear its taints."""
    return facts.unschedulable or any(taint.effect in REPELS for taint in facts.taints)


def running(view: GraphView, row: int) -> list[int]:
    """Return the pods of a node that run there: neither finished nor going."""
    return [
        pod for pod in view.pods_on(row) if not view.finished(pod) and not view.terminating(pod)
    ]


def movable(view: GraphView, row: int, asked: Asked) -> list[int]:
    """Return the running pods of a node that are not bound to be there."""
    return [pod for pod in running(view, row) if not asked.stays(pod)]
