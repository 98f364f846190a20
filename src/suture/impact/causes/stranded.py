"""Claims and volumes of no more use: of a node that is gone, never bound, left to another claim.

Beside `storage`, which tells what goes with a claim. Pods that wait for such a claim wait in vain:
whoever clears it away lets them start anew elsewhere.
Source: core/v1 PersistentVolumeSpec.nodeAffinity; the label `kubernetes.io/hostname` of a node, and
those by which drivers of local disks name one.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import ended_dead
from suture.impact.causes.parents import beyond_size, mounting
from suture.impact.causes.setends import set_ends
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.facts import RETAIN, VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, NODES, VOLUMES, ObjectKey
from suture.model.objects import ClaimFacts
from suture.model.placement import HOSTNAME
from suture.model.writes import MINUTE_S, TEN_MINUTES_S

GONE_FOR_GOOD_S: Final = TEN_MINUTES_S
"""LIMIT: how long a node that was seen to go may come back under its name, with its disks: one that
starts anew, or is registered again, does so within minutes."""

DIED_S: Final = MINUTE_S
"""LIMIT: the same of one that was dead when it went, and the only such of ten minutes: who takes it
away for that knows that its machine is no more. Where several die, power is away, and comes back.
SOURCE: the node cleanup controller of local volumes waits as long by default."""


def left_over(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether nobody can have anything more of a claim or volume, or asks for it."""
    return (
        beyond_size(view, row)
        or stranded(view, row, now)
        or never_bound(view, row)
        or handed_on(view, row)
        or set_ends(view, row)
    )


def never_bound(view: GraphView, row: int) -> bool:
    """Whether a claim has no volume and no pod that waits for it: it holds nothing."""
    facts = view.facts(row)
    if not isinstance(facts, ClaimFacts) or facts.bound or facts.volume:
        return False
    return not mounting(view, row)


def handed_on(view: GraphView, row: int) -> bool:
    """Whether a claim that no pod mounts leaves its volume, which stays, to another that names it.

    So a claim is given another name, or moved to another namespace: the volume is kept meanwhile.
    """
    facts = view.facts(row)
    if not isinstance(facts, ClaimFacts) or not facts.volume:
        return False
    volume = view.find(ObjectKey(VOLUMES, "", facts.volume))
    of_volume = view.facts(volume) if volume is not None else None
    if volume is None or not isinstance(of_volume, VolumeFacts) or of_volume.reclaim != RETAIN:
        return False
    return any(
        one != row and view.resource(one) == CLAIMS and not view.terminating(one)
        for one in view.sources(volume, Edge.VOLUME)
    ) and not mounting(view, row)


def stranded(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a claim or volume holds what was on a node that is gone, and no pod that runs has it.

    `now` None: of a node that was seen to go nobody knows for how long.
    """
    resource = view.resource(row)
    if resource == VOLUMES:
        claims = view.there(row, Edge.BOUND_CLAIM)
        return _node_is_gone(view, row, now) and not any(_is_used(view, one) for one in claims)
    facts = view.facts(row)
    if resource != CLAIMS or not isinstance(facts, ClaimFacts) or not facts.volume:
        return False
    volume = view.find(ObjectKey(VOLUMES, "", facts.volume))
    return volume is not None and _node_is_gone(view, volume, now) and not _is_used(view, row)


def _is_used(view: GraphView, claim: int) -> bool:
    """Whether a pod that was bound to a node names a claim; one that waits for a node uses none."""
    return any(view.node_of(pod) is not None for pod in mounting(view, claim))


def _node_is_gone(view: GraphView, volume: int, now: Now | None) -> bool:
    """Whether a volume can be reached from certain nodes alone, by name, and none of them exists.

    LIMIT: where no node has such a name, the labels of all are looked at: 1 ms of 15,000.
    """
    facts = view.facts(volume)
    if not isinstance(facts, VolumeFacts) or not facts.hosts or not view.listed(NODES):
        return False
    return not any(_may_return(view, host, now) for host in facts.hosts)


def _may_return(view: GraphView, host: str, now: Now | None) -> bool:
    """Whether a node of a name is there, or has gone so lately that it may come back."""
    label, _, name = host.rpartition("=")
    key = ObjectKey(NODES, "", name)
    if view.find(key) is not None or view.labelled(view.rows(NODES), label or HOSTNAME, name):
        return True
    went = view.history.removed_at(key)
    if went is None or now is None:
        return went is not None
    return now.ago_s(went.at_ns) < (DIED_S if _died_alone(view, name, now) else GONE_FOR_GOOD_S)


def _died_alone(view: GraphView, node: str, now: Now) -> bool:
    """Whether a node was dead when it went, and no other one was of those that went lately."""
    counted = view.history.writes.counted
    return (
        counted(ended_dead(node), now, TEN_MINUTES_S) > 0
        and counted(ended_dead(), now, TEN_MINUTES_S) == 1
    )
