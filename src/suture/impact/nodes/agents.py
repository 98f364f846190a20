"""What every pod of a node stands on: the agents by which the cluster itself keeps its nodes up.

Told by what a DaemonSet says of its pods, never by its name: the priority of node agents, the
network of the node itself, no taint that keeps them away, a namespace of the cluster's own.
Source: Kubernetes documentation, "Guaranteed Scheduling For Critical Add-On Pods" (without which
a cluster may stop working) and "Namespaces" (`kube-` is kept for the system's own).
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import restarter, taken_from
from suture.impact.causes.parents import SIBLINGS
from suture.impact.nodes.drivers import mounted_drivers
from suture.impact.ordinary.hands import made_lately
from suture.impact.ordinary.uninstalled import made_again
from suture.impact.scene import Scene
from suture.model.actor import account_of, is_person
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    NODES,
    PRIORITY_CLASSES,
    RESERVED,
    SECRETS,
    ObjectKey,
)
from suture.model.objects import CustomFacts, WorkloadFacts
from suture.model.placement import NO_SCHEDULE, Placement
from suture.model.writes import HOUR_S

NODE_CRITICAL: Final = ObjectKey(PRIORITY_CLASSES, "", "system-node-critical")
"""The priority of what every pod of a node needs: network, proxies. SOURCE: Kubernetes' own."""

SETTINGS: Final = (CONFIG_MAPS, SECRETS)
"""What only holds words that others read, and runs nothing by itself."""

MOUNTS: Final = frozenset({Edge.CONFIG_MAP})
"""By what pods read settings."""

READY_PERCENT: Final = 50
"""Share of an agent's pods that are Ready, under which nodes do without it already."""

ROUND: Final = (DEPLOYMENTS, DAEMON_SETS)
"""Of what types a driver has its parts."""

BACK: Final = 2
"""LIMIT: parts that a deployer has made again, before it is believed of the agent of all nodes."""

NAMED: Final = 16
"""LIMIT: objects of a collection that are looked at for what they are: they are of one type."""

SUCCEEDED_PERCENT: Final = 90
"""Share of an agent's Ready pods that another has, to have taken its place: some node is always
being made or repaired."""

APART_S: Final = 30
"""What one installation applies comes within this time: of its agents none succeeds another."""

SUCCESSION_S: Final = 7 * 24 * 3600
"""How long an agent is new. LIMIT: what a new one does is not known; one that came to do
something else is taken for a successor for as long."""


def needed_by_nodes(scene: Scene, row: int) -> bool:
    """Whether nodes that stay need an agent that goes: most of its pods are Ready.

    Not where the actor made it within the day, nor where a newer one runs as widely. Outside of the
    system's own namespaces only what most nodes have, and nobody named: it goes along with a custom
    resource. WHY not by name there: agents for logs and metrics ask for as much as networks do.
    So is whatever runs on most nodes and hangs on settings that somebody else takes away, and the
    driver of volumes that pods have mounted, wherever it is, until another has it on all its nodes,
    or its own deployer is about to make it anew.
    """
    view = scene.view
    if _hangs_on_settings(scene, row):
        return _widely(view, _pods(view, row)[1]) and not scene.tied(row)
    drives = mounted_drivers(view, row) if row in scene.direct else []
    if not (drives or _is_agent(view, row)):
        return False
    running, ready = _pods(view, row)
    if not ready or ready * 100 < running * READY_PERCENT:
        return False
    if drives:
        handed_on = all(_handed_on(scene, row, one) for one in drives)
        return not (handed_on or made_lately(scene, row) or _is_of_a_round(scene, row))
    if not view.namespace(row).startswith(RESERVED) and not (
        _goes_along(scene, row) and _widely(view, ready)
    ):
        return False
    return not (made_lately(scene, row) or _has_successor(scene, row, ready))


def replaced_on_nodes(scene: Scene, row: int) -> bool:
    """Whether an agent of nodes has a newer one that runs as widely: it may leave them."""
    view = scene.view
    return _is_agent(view, row) and _has_successor(scene, row, max(1, _pods(view, row)[1]))


def is_out_of_use(scene: Scene, row: int) -> bool:
    """Whether a person takes an agent whose work another does by now, or the settings it had.

    So a proxy of Services goes once the network does its work, and what it was told then.
    """
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    if now is None or not is_person(identity) or scene.change.direct != (row,):
        return False
    if view.resource(row) != CONFIG_MAPS:
        return replaced_on_nodes(scene, row) or _is_stood_in_for(scene, row)
    agent = ObjectKey(DAEMON_SETS, view.namespace(row), view.name(row))
    went = view.history.removed_at(agent)
    if went is None or went.by != identity or now.ago_s(went.at_ns) > HOUR_S:
        return False
    return view.find(agent) is None and not view.uses(row, MOUNTS)


def _is_stood_in_for(scene: Scene, row: int) -> bool:
    """Whether the actor rolled another agent beside it within the hour, which runs as widely.

    It does more than before then. WHY a person: who deploys rolls all that it has, and puts nothing
    in the place of anything by it.
    """
    view, identity = scene.view, scene.actor.user.username
    ready = _pods(view, row)[1]
    return any(
        one != row
        and scene.stays(one)
        and scene.counted(restarter(identity, view.at(one))) > 0
        and _pods(view, one)[1] * 100 >= ready * SUCCEEDED_PERCENT
        for one in view.rows(DAEMON_SETS, view.namespace(row))[:SIBLINGS]
    )


def served_agents(scene: Scene, service: int) -> bool:
    """Whether a Service is of a custom resource whose agents have left the nodes to newer ones.

    What answers beside agents is asked by them; an agent that still runs somewhere asks it yet.
    """
    view = scene.view
    parent = view.controller(service)
    if parent < 0 or not isinstance(view.facts(parent), CustomFacts):
        return False
    agents = [one for one in view.children_of(parent)[:SIBLINGS] if _is_agent(view, one)]
    nodes = view.count(NODES)
    return bool(agents) and all(
        not _pods(view, one)[0] and _has_successor(scene, one, max(1, nodes * READY_PERCENT // 100))
        for one in agents
    )


def _is_agent(view: GraphView, row: int) -> bool:
    """Whether a DaemonSet is one that every pod of a node stands on, by what it asks for."""
    if view.resource(row) != DAEMON_SETS:
        return False
    facts = view.facts(row)
    if not isinstance(facts, WorkloadFacts) or not _keeps_nodes(facts.placement):
        return False
    return any(view.key(one) == NODE_CRITICAL for one, _ in view.targets(row, Edge.PRIORITY_CLASS))


def _goes_along(scene: Scene, row: int) -> bool:
    """Whether an object goes with custom resources that the request names, and is none of them."""
    direct, view = scene.change.direct, scene.view
    return (
        bool(direct)
        and row not in scene.direct
        and all(isinstance(view.facts(one), CustomFacts) for one in direct[:NAMED])
    )


def _hangs_on_settings(scene: Scene, row: int) -> bool:
    """Whether a DaemonSet goes along with a ConfigMap or Secret, by which nobody means it.

    Drivers are hung on one to be cleared away with it, and those who write it anew delete it first.
    """
    view = scene.view
    return (
        view.resource(row) == DAEMON_SETS
        and row not in scene.direct
        and bool(scene.change.direct)
        and all(view.resource(one) in SETTINGS for one in scene.change.direct[:NAMED])
    )


def _widely(view: GraphView, ready: int) -> bool:
    """Whether so many pods of an agent are most of the nodes: no pool, and not a few of them."""
    return 0 < view.count(NODES) * READY_PERCENT <= ready * 100


def _has_successor(scene: Scene, row: int, ready: int) -> bool:
    """Whether another agent has taken the place of one that has so many pods Ready."""
    return any(
        _succeeds(scene, one, row, ready)
        for one in scene.view.named_by(NODE_CRITICAL, Edge.PRIORITY_CLASS)
    )


def _handed_on(scene: Scene, row: int, driver: ObjectKey) -> bool:
    """Whether a later agent that stays has registered a driver on each node that has this one.

    WHY each: a driver may have an agent for every pool, and then none stands in for another.
    """
    view, nodes = scene.view, _nodes_of(scene.view, row)
    return any(
        one != row
        and view.resource(one) == DAEMON_SETS
        and scene.stays(one)
        and not view.gone(one)
        and _later(view, one, row)
        and nodes <= _nodes_of(view, one)
        for one in view.named_by(driver, Edge.DRIVER)
    )


def _is_of_a_round(scene: Scene, row: int) -> bool:
    """Whether an agent is deleted to be made anew, as what runs beside it was within the hour.

    By an account that lives there, one after the other, each made by it again. So a deployer of
    drivers brings its next version. An uninstaller makes nothing again.
    """
    view, account = scene.view, account_of(scene.actor.user.username)
    space = view.namespace(row)
    if account is None or account.namespace != space or scene.change.direct != (row,):
        return False
    beside = [one for kind in ROUND for one in view.rows(kind, space)[:SIBLINGS]]
    return sum(made_again(scene, one) for one in beside if scene.stays(one)) >= BACK


def _nodes_of(view: GraphView, row: int) -> set[int | None]:
    """Return the nodes on which pods of a DaemonSet are Ready."""
    kinds = view.classes_owned(row)
    pods = [pod for kind in kinds for pod in view.pods_alike(kind) if view.serves(pod)]
    return {view.node_of(pod) for pod in pods}


def _keeps_nodes(placement: Placement) -> bool:
    """Whether pods use the network of their node, and no taint keeps them off it."""
    return placement.host_network and any(
        not one.key and one.any_value and one.effect in ("", NO_SCHEDULE)
        for one in placement.tolerations
    )


def _pods(view: GraphView, row: int) -> tuple[int, int]:
    """Return how many pods of a DaemonSet run, and how many of them are Ready."""
    counts = [view.running_alike(kind) for kind in view.classes_owned(row)]
    return sum(one[0] for one in counts), sum(one[1] for one in counts)


def _later(view: GraphView, new: int, old: int) -> bool:
    """Whether an agent came after another, and not with it; one that was seen to come did."""
    later = view.created(new) - view.created(old)
    seen, known = (view.history.creation(view.uid(row)) is not None for row in (new, old))
    return later >= (0 if seen and not known else APART_S)


def _succeeds(scene: Scene, new: int, old: int, ready: int) -> bool:
    """Whether an agent that stays was made lately, after another, and runs as widely."""
    view = scene.view
    if view.resource(new) != DAEMON_SETS or not scene.stays(new):
        return False
    facts, made = view.facts(new), view.created(new)
    if not isinstance(facts, WorkloadFacts) or not _keeps_nodes(facts.placement):
        return False
    if not _later(view, new, old):
        return False
    if scene.now is not None and made < scene.now.utc_s - SUCCESSION_S:
        return False
    return _pods(view, new)[1] * 100 >= ready * SUCCEEDED_PERCENT


def succeeded(scene: Scene, row: int) -> bool:
    """Whether what keeps a DaemonSet was written, and has another by the actor run as widely since.

    Within the hour, under one custom resource, and one for one: what the actor took from it in that
    hour had successors too. Where nobody wrote the resource it still asks for what it had.
    """
    view = scene.view
    parent = view.controller(row)
    if parent < 0 or not isinstance(view.facts(parent), CustomFacts) or not scene.changed(parent):
        return False
    ready = _pods(view, row)[1]
    made = sum(
        view.resource(one) == DAEMON_SETS
        and scene.stays(one)
        and not view.gone(one)
        and view.controller(one) == parent
        and scene.made_young(one)
        and _pods(view, one)[1] * 100 >= ready * SUCCEEDED_PERCENT
        for one in view.children_of(parent)[:SIBLINGS]
    )
    return made > scene.counted(taken_from(view.uid(parent), DAEMON_SETS))
