"""Facts of the kinds that pods stand on or are bounded by: storage, limits, rights, keys.

Beside `objects`, which holds the facts of what runs and serves, and the union of all. A kind of
which nothing is read but what it names has no facts: its needs say it all.
"""

from __future__ import annotations

import msgspec

from suture.model.edges import Selection
from suture.model.rights import RightsRule
from suture.model.selectors import Selector
from suture.model.traffic import TrafficRule

Amount = int | str
"""As Kubernetes writes an IntOrString: a number of pods, or a share such as `50%`."""

RETAIN = "Retain"
"""What becomes of a volume, or of a snapshot's content, that outlives what it was bound to."""

RELEASED = "Released"
"""The phase of a volume whose claim is gone. SOURCE: core/v1 PersistentVolumeStatus."""


class VolumeFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="volume"
):
    """What a PersistentVolume adds: what becomes of the data when its claim goes.

    `reclaim` is Retain, Delete or Recycle; `phase` Available, Bound, Released or Failed. `hosts`:
    the only nodes from which it can be reached, by `kubernetes.io/hostname`, or as `label=name` by
    a label of its driver; empty where it is bound to none by name. `driver`: the CSI driver that
    made it; empty where none did. `terms`: by which labels it can be reached where it is bound to
    none by name, any of them: those of a zone, mostly.
    """

    reclaim: str = RETAIN
    phase: str = ""
    hosts: tuple[str, ...] = ()
    driver: str = ""
    terms: tuple[Selector, ...] = ()


class StorageClassFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="storage-class"
):
    """What a StorageClass adds: what its volumes do when their claim goes, and is it the default.

    The reclaim policy is that of volumes still to be made; each volume has its own. `driver` makes
    them; `words` are what its parameters say that may be the name of an object, sorted.
    """

    reclaim: str = "Delete"
    default: bool = False
    driver: str = ""
    words: tuple[str, ...] = ()


class AttachmentFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="attachment"
):
    """What a VolumeAttachment adds."""

    attached: bool = False


class SnapshotFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="snapshot"
):
    """What a VolumeSnapshot adds: can a claim be filled from it."""

    ready: bool = False


class SnapshotContentFacts(
    msgspec.Struct,
    frozen=True,
    gc=False,
    array_like=True,
    tag_field="facts",
    tag="snapshot-content",
):
    """What a VolumeSnapshotContent adds: `Delete` or `Retain`, when its snapshot goes.

    `source`: the driver and its handle of the volume that it was taken of; empty where it was there
    before it had an object.
    """

    deletion: str = "Delete"
    source: str = ""


class DisruptionBudgetFacts(
    msgspec.Struct,
    frozen=True,
    gc=False,
    array_like=True,
    tag_field="facts",
    tag="disruption-budget",
):
    """What a PodDisruptionBudget adds. `selector` None: it selects no pods.

    At most one of `min_available` and `max_unavailable` is set; with neither it allows nothing.
    The counters are what the disruption controller last said. `spares_unready`: pods that are not
    Ready may be evicted whatever the others are.
    """

    selector: Selector | None = None
    min_available: Amount | None = None
    max_unavailable: Amount | None = None
    expected: int = 0
    desired: int = 0
    healthy: int = 0
    allowed: int = 0
    spares_unready: bool = False


class NetworkPolicyFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="network-policy"
):
    """What a NetworkPolicy adds: whose traffic it limits, and the pods that it lets through.

    `namespaces`: of a policy of the whole cluster, those whose pods it selects; None: its own.
    """

    selector: Selector = Selector()
    ingress: bool = False
    egress: bool = False
    rules: tuple[TrafficRule, ...] = ()
    namespaces: Selector | None = None

    @property
    def peers(self) -> tuple[Selection, ...]:
        """The pods that rules name, each once; peers that are address blocks are none."""
        return tuple(dict.fromkeys(peer for rule in self.rules for peer in rule.pods))


class AutoscalerFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="autoscaler"
):
    """What an autoscaler adds: between how many and how many replicas it keeps its target.

    `floor` is the smallest size that it can answer for where its status says that it cannot read
    what it goes by: `most`, above which it needs no metric, or what it declares to fall back on.
    0 as long as it says nothing of the kind. `reads` are the groups of the APIs that its metrics
    come from, sorted. `timed`: whether it goes by the clock, alone or among others.
    """

    least: int = 1
    most: int = 0
    floor: int = 0
    reads: tuple[str, ...] = ()
    timed: bool = False


class AdmissionPolicyFacts(
    msgspec.Struct,
    frozen=True,
    gc=False,
    array_like=True,
    tag_field="facts",
    tag="admission-policy",
):
    """What a policy of the API server adds: the kind that its parameters are of, if it has any."""

    group: str = ""
    kind: str = ""


class PolicyBindingFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="policy-binding"
):
    """What the binding of such a policy adds: which object its parameters are read from.

    `parameters` empty: none, or those that a selector finds. `namespace` empty: that of the object
    that is judged.
    """

    policy: str = ""
    parameters: str = ""
    namespace: str = ""


class RoleBindingFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="role-binding"
):
    """What a binding adds beside the role and the service accounts that it names."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class RoleFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="role"
):
    """What a Role or ClusterRole adds: what it allows.

    `aggregates`: the control plane fills the rules in from ClusterRoles that these select.
    """

    rules: tuple[RightsRule, ...] = ()
    aggregates: tuple[Selector, ...] = ()


class KeysFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="keys"
):
    """What a ConfigMap or Secret adds: the names of its entries, sorted; never a value."""

    keys: tuple[str, ...] = ()


class LeaseFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="lease"
):
    """What a Lease adds: its holder's name for itself."""

    holder: str = ""


MoreFacts = (
    VolumeFacts
    | StorageClassFacts
    | AttachmentFacts
    | SnapshotFacts
    | SnapshotContentFacts
    | DisruptionBudgetFacts
    | NetworkPolicyFacts
    | AutoscalerFacts
    | AdmissionPolicyFacts
    | PolicyBindingFacts
    | RoleBindingFacts
    | RoleFacts
    | KeysFacts
    | LeaseFacts
)
