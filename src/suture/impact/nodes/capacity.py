"""Nodes: what a delete, a cordon, a taint or other labels take from the room that pods have.

Pods are followed to where they fit, in `fit`. A cordon moves nobody by itself, so that its pods are
none but those that were drained from others before and wait, in `unscheduled`. Repetition over
nodes is seen through what was closed lately, by anybody.
Source: the scheduler's filters; nodelifecycle (NoExecute taints evict); the daemonset controller
(pods are taken from nodes that their template does not match any more); attachdetach (volumes are
detached by force from a node that is out of service).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from suture.impact.causes.counters import with_machine
from suture.impact.effects import CapacityLost, Victim
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.fit import Asked, Open, is_open, movable, running, unplaced
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.machines import holder, is_kept_with_machine, node_behind
from suture.impact.nodes.apart import only_closes, sets_apart
from suture.impact.nodes.balancers import another_node, unreached
from suture.impact.nodes.closing import Closing, joined
from suture.impact.nodes.grouped import closes_with_its_group
from suture.impact.nodes.rooted import asked_by_volumes, rooted
from suture.impact.nodes.unlabelled import asking_in_vain
from suture.impact.nodes.unscheduled import left_waiting
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, NODES, Propagation, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, NodeFacts, WorkloadFacts
from suture.model.placement import NO_EXECUTE, OUT_OF_SERVICE, REPELS, Placement, Taint

CONTROL_PLANE: Final = frozenset(
    {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}
)
"""Labels of nodes that the cluster's control plane runs on. SOURCE: Kubernetes, well-known labels.
WHY by these: pods that the kubelet shows run on other nodes as well, a proxy for one."""

_CLOSINGS: Final = frozenset({"cordoned", "tainted"})


def touches_nodes(change: Change) -> bool:
    """Whether a change may take room from pods."""
    made = change.rewritten
    if made is not None and made.after.key.resource == NODES:
        return made.before is not None
    return bool(change.direct)


def may_hold_room(resource: Resource) -> bool:
    """Whether objects of a type may be nodes, or machines of nodes."""
    return resource == NODES or is_custom(resource)


def capacity_effects(scene: Scene) -> Iterator[CapacityLost]:
    """Yield what a change takes from the room that pods have."""
    made, change = scene.change.rewritten, scene.change
    if change.direct:
        held: list[int] = []
        going: list[int] = []
        for row in scene.kinds.get(NODES, ()):
            (held if _is_held(scene, row) else going).append(row)
        accounted, others = _behind_machines(scene, frozenset(held + going))
        held += others
        if held:
            yield _Loss(scene, held).effect("cordoned", [])
        if accounted:
            yield from _crowding_out(scene, accounted)
        if going:
            loss = _Loss(scene, going)
            found = loss.effect(
                "deleted", _movable(scene.view, going, loss.asked), bound=loss.of_control_plane()
            )
            waiting = rooted(scene, going)
            yield replace(found, pods=found.pods + waiting, unplaced=found.unplaced + waiting)
    elif made is not None and made.row is not None and made.before is not None:
        yield from _rewritten(scene, made, made.row, made.before)


def _behind_machines(scene: Scene, known: frozenset[int]) -> tuple[list[int], list[int]]:
    """Return the nodes, none `known`, whose machines a request deletes: for a cause, for none."""
    accounted: list[int] = []
    others: list[int] = []
    for row in scene.direct:
        if is_custom(scene.view.resource(row)):
            node = node_behind(scene.request, scene.view, row)
            if node is not None and node not in known:
                (accounted if scene.causes.explains(row) else others).append(node)
    return accounted, others


def _crowding_out(scene: Scene, rows: list[int]) -> Iterator[CapacityLost]:
    """Yield the loss of nodes whose machines are let go for a cause, where no room is left.

    A number that was lowered says that machines go, not that their pods can stay nowhere. WHY only
    beside others that close, whose pods have to move as well, or that went and none joined in their
    place: a pool without room to spare is renewed one machine at a time.
    """
    loss = _Loss(scene, rows)
    closing = Closing(scene, loss.asked, rows)
    # WHY whether any went first: who joined is asked of all nodes.
    if closing.rows or (closing.gone and closing.gone > loss.joined_since(closing)):
        found = loss.effect("deleted", _movable(scene.view, [*rows, *closing.rows], loss.asked))
        if found.unplaced:
            yield replace(found, explained=False)


def _is_held(scene: Scene, row: int) -> bool:
    """Whether a finalizer of somebody's keeps a node that is deleted, until it is empty.

    Its own, or one of the machine along with which it goes. It takes no new pods from then on, and
    loses none: who keeps it drains it first, and lifts the finalizer then, which is weighed as the
    end that it is.
    """
    view = scene.view
    if scene.change.rewritten is not None:
        return False
    if holder(view, row):
        return True
    if row in scene.direct or scene.request.options.propagation is Propagation.FOREGROUND:
        return False
    return is_kept_with_machine(view, row)


def _rewritten(
    scene: Scene, made: Rewritten, row: int, before: ClusterObject
) -> Iterator[CapacityLost]:
    old, new = before.facts, made.after.facts
    if not isinstance(old, NodeFacts) or not isinstance(new, NodeFacts):
        return
    loss = _Loss(scene, [row], old)
    if new.unschedulable and not old.unschedulable:
        found = loss.effect("cordoned", [])
        yield replace(found, explained=found.explained or _spares(scene, loss, row))
    fresh = tuple(one for one in new.taints if one.effect in REPELS and one not in old.taints)
    if any(one.key == OUT_OF_SERVICE for one in fresh):
        # WHY as if deleted: volumes are detached at once and by force, whatever still runs there.
        yield loss.effect("deleted", _movable(scene.view, [row], loss.asked))
    elif fresh:
        found = loss.effect("tainted", _evicted(scene.view, loss.asked, row, fresh))
        apart = found.explained or sets_apart(scene, loss.asked, row, fresh)
        along = apart or (only_closes(fresh) and _spares(scene, loss, row))
        yield replace(found, explained=along)
    keys = [key for key, value in before.labels.items() if made.after.labels.get(key) != value]
    if keys:
        yield from _relabelled(scene, loss, made, row, keys)
    services = unreached(scene.view, made)
    if services:
        yield loss.effect(
            "relabelled", [], selecting=len(services), emptied=len(services),
            victims=tuple(scene.victim(one) for one in services[: scene.limit]),
        )  # fmt: skip


def _spares(scene: Scene, loss: _Loss, row: int) -> bool:
    """Whether the cluster spares a node that closes, and all nodes of its group.

    WHY none of the control plane: what its kubelet shows there runs nowhere else.
    """
    return not _is_control_plane(scene.view, row) and closes_with_its_group(scene, loss.asked, row)


def _evicted(view: GraphView, asked: Asked, row: int, taints: tuple[Taint, ...]) -> list[int]:
    """Return the pods that taints drive away at once."""
    driving = tuple(taint for taint in taints if taint.effect == NO_EXECUTE)
    if not driving:
        return []
    return [pod for pod in _movable(view, [row], asked) if not asked.of(pod).tolerates(driving)]


def _movable(view: GraphView, rows: list[int], asked: Asked) -> list[int]:
    """Return the running pods of nodes that are not bound to be there."""
    return [pod for row in rows for pod in movable(view, row, asked)]


class _Loss:
    """Some nodes that go or close, and the cluster that is left."""

    def __init__(self, scene: Scene, rows: list[int], before: NodeFacts | None = None) -> None:
        self._scene, self._rows, self._before = scene, rows, before
        self.asked = Asked(scene.view)
        self._mine = frozenset(rows)
        self._lately = {} if scene.now is None else scene.view.history.writes.closed(scene.now)

    def effect(
        self, how: str, pods: list[int], *, selecting: int = 0, emptied: int = 0,
        bound: int = 0, victims: tuple[Victim, ...] = (),
    ) -> CapacityLost:  # fmt: skip
        """Return the loss; `pods` have to move, and `bound` others end with their node."""
        scene, view = self._scene, self._scene.view
        closing = Closing(scene, self.asked, self._rows)
        others = Open(view, self._mine | closing.rows)
        healthy = planned = was_open = 0
        for row in self._rows:
            facts = self._before or view.facts(row)
            if not isinstance(facts, NodeFacts):
                continue
            healthy += facts.ready
            was_open += is_open(facts)
            planned += self._planned(row, facts)
        closes = how != "relabelled"
        if how in _CLOSINGS and closing.found:
            # WHY not of those that go: a drained one may be made anew for those that wait.
            pods = [*pods, *left_waiting(scene, self.asked, self._rows, closing.since_s)]
        there = _movable(view, self._rows, self.asked)
        fresh = self._joined(others, there) if closes and closing.found else ()
        return CapacityLost(
            how=how,
            nodes=len(self._rows),
            healthy=healthy,
            planned=planned,
            open_before=len(others) + was_open,
            open_after=len(others) + (0 if closes else was_open),
            leaving=closing.leaving(len(fresh)),
            gone=closing.gone,
            joined=sum(not movable(view, row, self.asked) for row in fresh),
            running=len(there),
            pods=len(pods) + bound,
            unplaced=unplaced(view, self.asked, pods, others) if pods else 0,
            selecting=selecting,
            emptied=emptied,
            victims=(*(scene.victim(row) for row in self._rows[: scene.limit]), *victims),
            explained=closes and all(map(self._explained, self._rows)),
        )

    def _explained(self, row: int) -> bool:
        """Whether a recorded cause accounts for the end of a node, or for its closing.

        Whose machine was let go within the hour ends with it, and was weighed then: to close it,
        and to drain it, is how it ends. To delete the node itself is another thing.
        """
        scene = self._scene
        if scene.causes.explains(row):
            return True
        if self._before is None:
            return False
        gone = with_machine(scene.view.uid(row))
        return scene.counted(gone) > 0

    def joined_since(self, closing: Closing) -> int:
        """Return how many nodes, of whatever size, joined that may run what runs on these."""
        view = self._scene.view
        wants = {self.asked.of(pod) for pod in _movable(view, self._rows, self.asked)}
        return len(joined(self._scene, Open(view, self._mine | closing.rows), (), wants))

    def of_control_plane(self) -> int:
        """Return how many pods of the cluster's control plane end with their nodes.

        They belong to their node as those of DaemonSets do, and run nowhere else instead.
        """
        view = self._scene.view
        return sum(
            self.asked.stays(pod)
            for row in self._rows
            if _is_control_plane(view, row)
            for pod in running(view, row)
        )

    def _joined(self, others: Open, pods: list[int]) -> tuple[int, ...]:
        """Return the nodes that joined lately in the place of nodes that close.

        WHY places by what runs there: how many pods a node may have is set anew with its pool.
        """
        view = self._scene.view
        closing = [(self._before or view.facts(row), row) for row in self._rows]
        needed = [
            replace(one, pods=min(one.pods, len(running(view, row))))
            for one, row in closing
            if isinstance(one, NodeFacts)
        ]
        return joined(self._scene, others, needed, {self.asked.of(pod) for pod in pods})

    def _planned(self, row: int, facts: NodeFacts) -> bool:
        """Whether a node was marked for removal: closed, or tainted so that none of its pods stay.

        WHY not every taint: a dedicated node has one for good, which its pods tolerate; so has one
        of the control plane, whose pods are bound to it.
        """
        if facts.unschedulable or self._scene.view.name(row) in self._lately:
            return True
        if _is_control_plane(self._scene.view, row):
            return False
        taints = [taint for taint in facts.taints if taint.effect in REPELS]
        return bool(taints) and not any(
            self.asked.of(pod).tolerates(taints)
            for pod in _movable(self._scene.view, [row], self.asked)
        )


def _is_control_plane(view: GraphView, row: int) -> bool:
    return not CONTROL_PLANE.isdisjoint(view.labels(row))


def _relabelled(
    scene: Scene, loss: _Loss, made: Rewritten, row: int, keys: list[str]
) -> Iterator[CapacityLost]:
    """Yield the loss of what asks for labels that a node has no more."""
    view, after = scene.view, made.after.labels
    before = made.before.labels if made.before is not None else {}

    def lost(asked: Placement) -> bool:
        return asked.reads(keys) and asked.accepts(before) and not asked.accepts(after)

    pods = [
        pod
        for pod in _movable(view, [row], loss.asked)
        if lost(loss.asked.of(pod)) or any(map(lost, asked_by_volumes(view, pod)))
    ]
    victims: list[Victim] = []
    emptied = 0
    daemons = view.rows(DAEMON_SETS)
    numbers, shared = view.shared_facts(daemons)
    for daemon, number in zip(daemons, numbers, strict=True):
        facts = shared[number]
        if isinstance(facts, WorkloadFacts) and lost(facts.placement):
            victims.append(scene.victim(daemon))
            emptied += not _accepted(view, row, facts.placement)
    for source, asked in _node_selectors(view, keys):
        if lost(asked):
            victims.append(scene.victim(source))
            emptied += not _accepted(view, row, asked)
    swept = 0 if pods else asking_in_vain(scene, made, loss.asked, lost)
    if pods or victims or swept:
        yield loss.effect(
            "relabelled", pods, selecting=len(victims), emptied=emptied,
            bound=swept, victims=tuple(victims[: scene.limit]),
        )  # fmt: skip


def _accepted(view: GraphView, gone: int, asked: Placement) -> bool:
    """Whether any other node has the labels that are asked for."""
    return another_node(view, gone, lambda row: asked.accepts(view.labels(row)))


def _node_selectors(view: GraphView, keys: list[str]) -> Iterator[tuple[int, Placement]]:
    """Yield the custom resources that select nodes by some labels, each with what it selects.

    Not those whose work is over: they ask for nothing any more. What many say alike is read once: a
    network plugin may have a peer for each node.
    """
    rows = view.choosers(NODES)
    numbers, shared = view.shared_facts(rows)
    asking: dict[int, Placement] = {}
    for number, facts in shared.items():
        if isinstance(facts, CustomFacts) and facts.ended is not Ended.SURE:
            # WHY not one of all nodes: beside it another says which of them, in another field.
            asked = Placement(
                terms=tuple(
                    one.selector
                    for one in facts.selections
                    if one.resource == NODES and one.selector.requirements
                )
            )
            if asked.reads(keys):
                asking[number] = asked
    for row, number in zip(rows, numbers, strict=True):
        if number in asking:
            yield row, asking[number]
