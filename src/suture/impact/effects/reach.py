"""Effects on reach and room: scopes, rights, nodes, and rings of what needs each other."""

from __future__ import annotations

import msgspec

from suture.impact.effects.common import Confidence, Victim


class ScopeWidened(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A webhook, network policy or binding would reach more than before.

    `what` is webhook, network-policy, admission-policy or binding. `part` is the webhook's name or
    the direction. `newly` names what it reaches now and did not before, of: own-backend,
    kube-system, nodes, leases, pods, everything, and for a network policy that takes something
    away: dns, apiserver, service. `matched_before` and `matched_after` count pods (network policy)
    or kinds of objects (webhook). `owners` is of how many owners the pods are that lose something.
    """

    source: Victim
    what: str
    part: str
    fail_closed: bool
    backend_ready: int
    newly: tuple[str, ...]
    matched_before: int
    matched_after: int
    owners: int = 0
    created: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class PrivilegeGained(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A subject would be allowed what it was not.

    `verbs` are the new rights in short (`delete services`). `escalates` names those by which one
    gets all others: wildcard, escalate, bind, impersonate, secrets, exec, tokens, nodes-proxy,
    webhooks. `own`: the actor gives it to itself.
    """

    subject: str
    source: Victim
    cluster_wide: bool
    rights: tuple[str, ...]
    escalates: tuple[str, ...]
    own: bool
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class PrivilegeLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A subject that is at work would no longer be allowed what it was.

    `system`: the subject is part of the control plane (`system:` names, accounts of kube-system
    under which a built-in controller or a workload works).
    `running`: pods that run as it. `wiped`: the binding stays and binds nobody, or few
    of those at work by it, or the role stays and allows nothing, or less by a stranger's hand.
    """

    subject: str
    source: Victim
    rights: int
    system: bool
    running: int
    wiped: bool = False
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class CapacityLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Nodes would be gone, closed to new pods, or no longer what pods ask of a node.

    `how` is deleted, cordoned, tainted or relabelled. `healthy`: of them, Ready. `planned`: of
    them, marked for removal before this request (unschedulable, or tainted so). `open_before` and
    `open_after` are schedulable Ready nodes of the cluster, those leaving already counted as gone.
    `pods`: running pods, DaemonSets' apart, that must move, which no cordon makes them; of nodes
    that are closed also those that wait for a node since others close; of a label that goes from
    node after node also those that end there or ask for it elsewhere; `unplaced`: of those that
    must move, the ones that fit nowhere else by requests, selectors and taints.
    `leaving`: other nodes gone within the last ten minutes, or closed within the last hour, by
    anybody. `selecting`: DaemonSets and custom resources that would no longer select a relabelled
    node, and Services whose balancer would not; `emptied`: of them, those left without any node.
    """

    how: str
    nodes: int
    healthy: int
    planned: int
    open_before: int
    open_after: int
    leaving: int
    pods: int
    unplaced: int
    gone: int = 0
    """Of those leaving, the ones that are no longer there."""
    running: int = 0
    """Running pods of the nodes, DaemonSets' apart, whether or not they must move."""
    joined: int = 0
    """Open nodes of at least their room that joined within the last hour, run nothing yet and may
    run some of their pods: what is there in the place of nodes that close."""
    selecting: int = 0
    emptied: int = 0
    victims: tuple[Victim, ...] = ()
    explained: bool = False
    confidence: Confidence = Confidence.BOUNDED
    reversible: bool = True


class LoopClosed(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What must be up for each other would form a ring: once down, none of it comes back.

    `ring` names its members in order, each needing the next; `cut` the edge that opens it.
    """

    ring: tuple[Victim, ...]
    cut: str
    fail_closed: bool
    confidence: Confidence = Confidence.BOUNDED
    reversible: bool = True
