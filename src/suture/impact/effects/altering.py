"""Effects of a write on what stays: restarts, tenure, ownership, entries, repetition."""

from __future__ import annotations

import msgspec

from suture.impact.effects.common import Confidence, Victim


class PodsRestarted(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Pods of one workload would be replaced by others: its template changes, or what it reads.

    `unavailable`: at most so many at a time by its strategy. `healthy`: the workload has all its
    replicas Ready now. `on_delete`: pods follow only when somebody deletes them.
    """

    workload: Victim
    count: int
    before: int
    unavailable: int
    strategy: str
    healthy: bool
    on_delete: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class PlacementLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Pods of one workload would be replaced by ones that fewer nodes would do for, or none.

    `running`: its pods now. `gone`: of them, those that go and are placed nowhere: of a DaemonSet
    those on nodes that would not do, of others what the strategy takes down at a time where no
    node would. `nodes_before` and `nodes_after`: nodes that would do. `missing`: where none would,
    what stands in the way of most: labels, taints or room. `on_delete`: pods follow only when
    somebody deletes them.
    """

    workload: Victim
    running: int
    gone: int
    nodes_before: int
    nodes_after: int
    missing: str = ""
    on_delete: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class Hollowed(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An object that stays would no longer do what it is there for: as good as gone.

    `what` it would have no more: schedule (a CronJob), address or name (a Service), backends or
    hosts (a route), webhooks (a namespace, of those that are asked about its new pods),
    pull-secrets (an account as which pods run), room (a quota, a limit range or a level of Pod
    Security, for the pods that run under it). `before` and `after` count that. `population`:
    objects of its type in the cluster.
    """

    target: Victim
    what: str
    before: int
    after: int
    population: int
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class EntriesDropped(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Entries inside an object that stays would be gone: keys, or list items and lines of a value.

    `field` is the data key or path. `critical`: the object belongs to the cluster itself (in
    kube-system, read by a core add-on or by the control plane; a port of the cluster's DNS; nodes
    that reach a Service of its own; the address at which routes are reached, or the port to which
    they lead; what others noted of a node; pods that run and had an address of a pool), or the
    write is one of several by which an actor sets disruption budgets to nothing.
    `readers`: running pods that name the object.
    """

    holder: Victim
    field: str
    before: int
    dropped: int
    entries: tuple[str, ...]
    readers: int
    critical: bool
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class ForeignWrite(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The actor writes what another manages.

    `manager` is who, `by` how that is known: controller, gitops, helm, field-manager, creator.
    `what` is delete, owners (taken from one, or with the content), adoption (a first owner for what
    had none), selector, labels, finalizers, scale, template or spec.
    `manager_lives`: the manager is there and not going.
    """

    target: Victim
    manager: str
    by: str
    what: str
    manager_lives: bool
    in_use: bool
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class FinalizerRemoved(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A finalizer would be gone without its controller having removed it.

    `owner` is who is known to remove it, in words; `by_owner`: the actor is that, or nobody is
    known. `remaining`: objects still inside (a namespace finalized, a definition). `data`: what the
    finalizer protects holds data or stands for something outside.
    """

    target: Victim
    finalizer: str
    owner: str
    by_owner: bool
    terminating: bool
    remaining: int = 0
    data: bool = False
    confidence: Confidence = Confidence.BOUNDED
    reversible: bool = False


class OwnerInvalid(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An ownerReference would point to what cannot own: the collector deletes the object for it.

    `why` is other-namespace, namespaced-owner, unknown-uid, wrong-kind or unknown-kind.
    `collected`: no other owner keeps the object, so that it goes. `in_use`: Secrets and ConfigMaps
    are taken to be, where the owner was never heard of.
    """

    target: Victim
    owner: Victim
    why: str
    collected: bool
    in_use: bool
    confidence: Confidence = Confidence.EXACT
    reversible: bool = False


class Growth(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """There would be more objects of a kind: under one owner, in a namespace, by one actor.

    `per` is owner, namespace, actor or selector (pods that a foreign controller adopts). `lately`:
    created in the last minute by the same actor. `wanted` is the count that the owner declares,
    -1 where it declares none. `recovery`: the same name was lately removed by another actor.
    """

    resource: str
    per: str
    holder: Victim
    before: int
    after: int
    lately: int
    wanted: int = -1
    recovery: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class Churn(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The same object, or objects of the same owner and name pattern, change over and over.

    `what` is deleted, evicted, recreated, flipped (a value there and back) or scaled. `times`
    counts this request, within the last `window_s`. `actors`: how many identities take part.
    `rounds`: it is the pods of the target that go, or are made anew, each `times` on average.
    """

    target: Victim
    what: str
    times: int
    window_s: int
    actors: int
    rounds: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True
