"""The trimmed object: only what an edge, an effect or a policy reads, told apart by kind.

Whole bodies live in the journal alone. `wire.trim` makes these values from Kubernetes JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from suture.model.edges import Need, Selection
from suture.model.facts import MoreFacts
from suture.model.groups import is_kubernetes
from suture.model.labels import Labels
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.placement import ANYWHERE, Placement, Taint
from suture.model.rules import ReferenceRule, RuleFacts
from suture.model.selectors import Selector

HTTPS: Final = 443
"""The port of a Service that the API server calls where none is named. SOURCE: ServiceReference of
admissionregistration/v1, apiextensions/v1 and apiregistration/v1."""


class OwnerReference(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A dependent's pointer to its owner; the owner is in the same namespace or cluster-scoped."""

    gvk: Gvk
    name: str
    uid: str
    controller: bool = False
    blocks_deletion: bool = False


def controller_of(owners: Sequence[OwnerReference]) -> OwnerReference | None:
    """Return the controller among owners, or the custom resource that is the only one."""
    found = next((owner for owner in owners if owner.controller), None)
    if found is None and len(owners) == 1 and not is_kubernetes(owners[0].gvk.group):
        return owners[0]
    return found


class ServiceRef(msgspec.Struct, frozen=True, gc=False, order=True):
    """A Service as another object names it."""

    namespace: str
    name: str


class PodFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="pod"
):
    """What a pod adds: is it Ready, has it finished, where does it run."""

    ready: bool = False
    finished: bool = False
    node: str = ""


LOAD_BALANCER: Final = "LoadBalancer"
EXTERNAL_NAME: Final = "ExternalName"


class ServiceFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="service"
):
    """What a Service adds. `selector` None: it selects nothing (endpoints by hand, or a CNAME).

    `ports` are as clients reach them, `80/TCP`, sorted. `addresses` are those that a load balancer
    has given it, sorted. `called` are the names of its ports, sorted. `not_ready`: it has pods
    found before they are Ready, as members of one set find each other.
    """

    selector: Selector | None = None
    type: str = "ClusterIP"
    headless: bool = False
    ports: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    not_ready: bool = False


class SliceFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="slice"
):
    """What an EndpointSlice adds: its Service, and the targets of its endpoints.

    `ready` and `not_ready` hold one entry an endpoint: the target pod's uid, or its address when
    it has no target (endpoints written by hand).
    """

    service: str = ""
    ready: tuple[str, ...] = ()
    not_ready: tuple[str, ...] = ()


class WorkloadFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="workload"
):
    """What a pod controller adds: how many it wants, and the template that it stamps out.

    `replicas` is None where the number is not declared (DaemonSet, Job without parallelism).
    `template_hash` is equal for equal pod templates; 0 where the template was not seen.
    `service` names the Service that gives a StatefulSet's pods their names. `placement` is what
    each of its pods asks of a node. `sheds_claims`: the claims of a StatefulSet go with the pods
    that it lets go of for its size. `completions` are the pods of a Job that are to succeed in all;
    0 where it says no number.
    """

    replicas: int | None = None
    selector: Selector | None = None
    template_hash: int = 0
    finished: bool = False
    status_replicas: int = 0
    service: str = ""
    placement: Placement = ANYWHERE
    sheds_claims: bool = False
    completions: int = 0


class NodeFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="node"
):
    """What a Node adds: may pods be placed there, and does its kubelet say it is well.

    `cpu_m`, `memory_mi` and `pods` are what pods may ask for in all; 0 where it was not seen.
    """

    unschedulable: bool = False
    ready: bool = False
    cpu_m: int = 0
    memory_mi: int = 0
    pods: int = 0
    taints: tuple[Taint, ...] = ()


class ClaimFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="claim"
):
    """What a PersistentVolumeClaim adds."""

    bound: bool = False
    volume: str = ""


class CrdFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="crd"
):
    """What a CustomResourceDefinition adds: the type it serves, who converts it, what it keeps."""

    resource: Resource
    kind: str
    namespaced: bool
    conversion: ServiceRef | None = None
    stored_versions: tuple[str, ...] = ()
    served_versions: tuple[str, ...] = ()
    established: bool = False
    """Whether its instances can be asked for; a moment after its creation, then for good."""
    rules: tuple[ReferenceRule, ...] = ()
    """What its schema tells of its instances: what they name, select and want."""
    conversion_port: int = HTTPS
    short_names: tuple[str, ...] = ()
    """What people may call its type, beside its names."""


class WebhookRule(msgspec.Struct, frozen=True, gc=False):
    """One rule of a webhook, as admissionregistration/v1 RuleWithOperations writes it."""

    operations: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: str = "*"


class MatchCondition(msgspec.Struct, frozen=True, gc=False):
    """One of the CEL conditions that must all hold for a webhook to be called."""

    name: str
    expression: str


WEBHOOK_WAITS_S: Final = 10
"""How long a webhook that does not say is waited for. SOURCE: admissionregistration/v1."""


class Webhook(msgspec.Struct, frozen=True, gc=False):
    """One webhook of a configuration. `service` None: it is called by URL.

    `namespace_selector` and `object_selector` are never absent here: the API server defaults both
    to the empty selector, which excludes nothing. `exact`: a request is matched only in the group
    and version that it was made in, not in equivalent ones. `waits_s`: how long an answer is waited
    for.
    """

    name: str
    fail_closed: bool
    service: ServiceRef | None = None
    rules: tuple[WebhookRule, ...] = ()
    namespace_selector: Selector = Selector()
    object_selector: Selector = Selector()
    conditions: tuple[MatchCondition, ...] = ()
    exact: bool = False
    port: int = HTTPS
    waits_s: int = WEBHOOK_WAITS_S

    @property
    def conditional(self) -> bool:
        """Whether conditions narrow it further than rules and selectors say."""
        return bool(self.conditions)


class WebhookFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="webhook"
):
    """What a webhook configuration adds."""

    webhooks: tuple[Webhook, ...] = ()


class ApiServiceFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="apiservice"
):
    """What an APIService adds: the group and version it serves, and from where."""

    group: str
    version: str
    service: ServiceRef | None = None
    port: int = HTTPS


class RouteFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="route"
):
    """What an Ingress or a route adds: the Services it sends traffic to, and for which hosts.

    `hosts` are each once; one that is empty is any host, as is none. `addresses` are those at which
    its status says that it is reached. `ports` are those of an Ingress' backends, Service and port,
    by number or name, `web:80` and `web:http`, each once.
    """

    services: tuple[ServiceRef, ...] = ()
    hosts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()


class Ended(StrEnum):
    """Whether the status of a custom resource says that its work is over, and how surely."""

    NO = ""
    DONE = "done"
    """By a word for success, which products that run for ever use as well."""
    FAILED = "failed"
    """By a word for failure: so does what is to be mended, and runs."""
    SURE = "sure"
    """By a condition of success, or with the time at which it ended."""


class CustomFacts(
    msgspec.Struct, frozen=True, gc=False, array_like=True, tag_field="facts", tag="custom"
):
    """What a custom resource adds, by the rules for its kind.

    `wanted` is how many children it wants, None where no rule tells or the field is absent.
    `pools`: what its parts want in sum (`spec.nodeSets[*].count`), one sum for each name that such
    a field has; read only where there is no `wanted`, and no more than a hint. `sizes`: what it may
    say of itself by another name (`spec.size`), as much of a hint. `parts`: the same numbers of its
    parts, each beside the name of its part (`spec.proxy.size`).
    `outside` is what a field says of the thing outside the cluster that it stands for: what becomes
    of it, or which one it is; empty where no rule tells. `ended`: whether its status says that its
    work is over. `lists`: objects that its spec lists, each by group, kind and name. `suspend`:
    whether its spec says that its work is to wait, None where it does not speak of it.
    """

    wanted: int | None = None
    selections: tuple[Selection, ...] = ()
    outside: str = ""
    pools: tuple[int, ...] = ()
    ended: Ended = Ended.NO
    sizes: tuple[int, ...] = ()
    lists: tuple[tuple[str, str, str], ...] = ()
    parts: tuple[tuple[str, int], ...] = ()
    suspend: bool | None = None


Facts = (
    PodFacts
    | ServiceFacts
    | SliceFacts
    | WorkloadFacts
    | NodeFacts
    | ClaimFacts
    | CrdFacts
    | WebhookFacts
    | ApiServiceFacts
    | RouteFacts
    | CustomFacts
    | RuleFacts
    | MoreFacts
)

NO_LABELS = Labels(b"{}")
"""The labels of what has none, shared."""


class ClusterObject(msgspec.Struct, frozen=True, gc=False):
    """One object of the cluster, trimmed.

    `facts` None: only its metadata is known or wanted (a metadata-only watch, or a kind of which
    nothing is read but what it names). `created` and `deleted` are seconds since the epoch, 0
    where unknown and unset.
    `needs` are the objects that it names; `managers` who wrote its fields, as managedFields says.
    """

    key: ObjectKey
    uid: str
    gvk: Gvk
    resource_version: str = ""
    labels: Mapping[str, str] = NO_LABELS
    owners: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    created: float = 0.0
    deleted: float = 0.0
    facts: Facts | None = None
    needs: Sequence[Need] = ()
    managers: tuple[str, ...] = ()

    @property
    def terminating(self) -> bool:
        """Whether a delete was accepted and only finalizers or grace keep the object visible."""
        return self.deleted > 0


class PodState(msgspec.Struct, frozen=True, gc=False):
    """What changes of a pod as it runs, and by what to tell that nothing else of it did.

    Of a pod that stays, that nothing but its kubelet keeps, and that has one owner. `labels` are as
    they were written.
    """

    key: ObjectKey
    uid: str
    resource_version: str
    labels: bytes
    owner: OwnerReference
    ready: bool
    finished: bool
