"""Effects of what goes: objects, pods, data, references, members, things outside."""

from __future__ import annotations

import msgspec

from suture.impact.effects.common import Confidence, Victim


class ObjectsRemoved(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Objects of one resource that would be gone, the request's own and those that go with it.

    Every object is in exactly one of `explained` (a recorded cause accounts for it),
    `self_healing` (its controller brings it back) and `lasting`. Of the lasting ones, `counted`
    are those whose loss matters to a budget: Services, workloads, claims and routes whether or
    not they serve, of other kinds what is referenced or has instances. `foreign` are the counted
    ones that the model cannot tie to the actor, `made_lately` those that the actor itself made
    within the last day, or for what it made then. `wanted` are lasting ones that a live controller
    owner still asks for, that stand for a Ready pod or node (a custom resource that it owns, of its
    name), that nodes need (a DaemonSet of the cluster's own), that are of a release that is
    uninstalled under an application that stays, or that lead to a workload which the actor was
    refused to delete within the hour. `in_use` counts removed objects that serve, run, hold data or
    stand for such a pod or node right now.
    """

    resource: str
    count: int
    direct: int = 0
    explained: int = 0
    self_healing: int = 0
    lasting: int = 0
    counted: int = 0
    counted_cascaded: int = 0
    """Of `counted`, those that the request does not name itself."""
    foreign: int = 0
    made_lately: int = 0
    lately_cascaded: int = 0
    """Of `made_lately`, those that the request does not name itself."""
    replaced: int = 0
    """Of `counted`, beside `made_lately`, pods of a custom resource in whose place the actor has
    made others within the last hour, that serve behind the same Services: members that are rolled.
    And the claim of one, once its successor's is mounted by a Ready pod.
    """
    wanted: int = 0
    in_use: int = 0
    protected: int = 0
    """Objects with the label `suture.dev/protect: "true"` that nothing would bring back."""
    population: int = 0
    """Live objects of this resource in the cluster, before."""
    victims: tuple[Victim, ...] = ()
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class PodsLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Running pods of one maker would be gone.

    `maker` is what stands behind them: the workload at the root of their controllers, or the pod
    itself where nothing does. Every pod is in exactly one of `explained`, `self_healing` and
    `lasting`. `leaving` are pods of the same maker whose removal was admitted and not yet seen.
    `drained`: of the ready ones, those on a node that is closed to new pods or going, or has a
    taint that their workload does not tolerate. `back`: pods taken from the same controllers within
    the last hour, all of which are back: as many are Ready as the maker wants, and none is leaving;
    0 while any is missing. `foreign`: of
    the lasting ones, those that the model cannot tie to the actor. `wanted`: pods that a living
    custom resource or autoscaler behind the maker asks for, -1 where none says.
    """

    maker: Victim
    count: int
    ready: int
    before: int
    """Running pods of the maker, before."""
    declared: int
    """Pods that the maker wants; for a bare pod one."""
    leaving: int = 0
    explained: int = 0
    self_healing: int = 0
    lasting: int = 0
    drained: int = 0
    back: int = 0
    foreign: int = 0
    wanted: int = -1
    population: int = 0
    """Pods of the cluster, before."""
    evicted: bool = False
    victims: tuple[Victim, ...] = ()
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class DataLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A claim, volume or snapshot would go, and data with it where `reclaim` is Delete.

    So would what a storage engine keeps behind a bound volume: then `holder` is a custom resource.

    An attachment that goes while pods of its node use the volume, and a volume that forgets the
    claim bound to it, are told of as well: they erase nothing, and `reclaim` is Retain. `mounted`:
    pods that use it or wait for it. `copies`: snapshots of it, and volumes of its siblings in the
    same StatefulSet, that stay; none means that this is the last copy. `stuck`: the protection
    finalizer keeps it until the pods are gone. `direct`: it is asked for itself, or goes along with
    something else from under pods that stay.
    """

    holder: Victim
    volume: str
    reclaim: str
    bound: bool
    mounted: int
    copies: int
    last_copy: bool
    stuck: bool = False
    direct: bool = True
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = False


class ReferenceBroken(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Something that others name would be gone: they could not start again, or stop working.

    `key` is the entry of a ConfigMap or Secret that goes, empty where the whole goes. `edge` is the
    kind of need. `current`: workloads whose template of today names it, or other objects that do;
    `past`: only old ReplicaSets, finished pods and the like. `pods`: running pods that name it.
    """

    target: Victim
    key: str
    edge: str
    current: int
    past: int
    pods: int
    users: tuple[Victim, ...] = ()
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class DeletionStuck(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An object would stay half deleted: nobody is there to remove one of its finalizers.

    `controller` is who is known to remove it, in words, and `why` what is wrong with it.
    """

    stuck: Victim
    finalizer: str
    controller: str
    why: str
    count: int = 1
    """Objects of the same resource that are stuck for the same reason."""
    confidence: Confidence = Confidence.BOUNDED
    reversible: bool = False


class DisruptionExceeded(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A PodDisruptionBudget would be broken: more of its pods go than it allows at this moment."""

    budget: Victim
    asked: int
    allowed: int
    healthy: int
    desired: int
    evicted: bool
    """The API server itself refuses such an eviction; deletes it does not look at."""
    self_healing: bool
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class QuorumLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A set of members would have fewer Ready than a majority of what was declared.

    A member set is a StatefulSet, or what a custom resource keeps with a wanted count, of three or
    more, or the nodes that are labelled as members of the cluster's store. `before` and `after` are
    Ready members, those leaving already counted as gone.
    """

    owner: Victim
    members: int
    majority: int
    before: int
    after: int
    self_healing: bool
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class ExternalDeleted(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Objects that stand for something outside the cluster would go, and that with them.

    `why` is deletion-policy, reclaim-policy, finalizer or load-balancer; `policy` is what says so,
    in the object's own words: a value, or the name of a field that is true. `replaced`: of those
    known by an id, beside the explained ones, for how many the actor has made another within the
    last hour that has its id already, less what it removed in it: machines that are rolled.
    """

    resource: str
    why: str
    policy: str
    count: int
    direct: int
    explained: int = 0
    replaced: int = 0
    population: int = 0
    victims: tuple[Victim, ...] = ()
    confidence: Confidence = Confidence.BOUNDED
    reversible: bool = False
