"""Projections of what bounds pods: disruption budgets, network policies, autoscalers.

One of several, as a kind's neighbours change together. Pure.
Source: policy/v1, networking/v1, autoscaling/v2, keda.sh/v1alpha1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from suture.model.edges import Edge, Need, Selection
from suture.model.facts import (
    AutoscalerFacts,
    DisruptionBudgetFacts,
    NetworkPolicyFacts,
)
from suture.model.names import PODS, ObjectKey
from suture.model.objects import Facts
from suture.model.selectors import Selector
from suture.model.targets import group_of, resource_of
from suture.model.traffic import TrafficPort, TrafficRule
from suture.wire.shapes import (
    Condition,
    Conditions,
    Count,
    LabelSelector,
    ManagedDocument,
    annotation,
    each_once,
    holds,
    named,
    selector_of,
)


class _BudgetSpec(msgspec.Struct, rename="camel", gc=False):
    selector: LabelSelector | None = None
    # WHY not any integer: JSON knows larger ones than what is kept can hold.
    min_available: Count | str | None = None
    max_unavailable: Count | str | None = None
    unhealthy_pod_eviction_policy: str = ""


class _BudgetStatus(msgspec.Struct, rename="camel", gc=False):
    expected_pods: Count = 0
    desired_healthy: Count = 0
    current_healthy: Count = 0
    disruptions_allowed: Count = 0


class BudgetDocument(ManagedDocument, gc=False):
    """A PodDisruptionBudget."""

    spec: _BudgetSpec | None = None
    status: _BudgetStatus | None = None


def disruption_budget(
    doc: BudgetDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a PodDisruptionBudget adds to its metadata."""
    spec, status = doc.spec or _BudgetSpec(), doc.status or _BudgetStatus()
    return DisruptionBudgetFacts(
        selector_of(spec.selector),
        spec.min_available,
        spec.max_unavailable,
        status.expected_pods,
        status.desired_healthy,
        status.current_healthy,
        status.disruptions_allowed,
        spares_unready=spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
    )


class _Block(msgspec.Struct, gc=False):
    """An address block; what it leaves out matters to nobody here."""

    cidr: str = ""


class _Peer(msgspec.Struct, rename="camel", gc=False):
    pod_selector: LabelSelector | None = None
    namespace_selector: LabelSelector | None = None
    ip_block: _Block | None = None


class _PolicyPort(msgspec.Struct, rename="camel", gc=False):
    protocol: str = "TCP"
    port: Count | str | None = None
    end_port: Count | None = None

    def value(self) -> TrafficPort:
        name = self.port if isinstance(self.port, str) else ""
        number = self.port if isinstance(self.port, int) else 0
        return TrafficPort(self.protocol, number, self.end_port or 0, name)


class _PolicyRule(msgspec.Struct, rename={"source": "from"}, gc=False):
    source: tuple[_Peer, ...] | None = None
    to: tuple[_Peer, ...] | None = None
    ports: tuple[_PolicyPort, ...] | None = None

    def value(self, namespace: str, *, egress: bool) -> TrafficRule:
        peers = (self.to if egress else self.source) or ()
        blocks = (one.ip_block.cidr for one in peers if one.ip_block is not None)
        ports = tuple(one.value() for one in self.ports or ())
        return TrafficRule(egress, tuple(_selected(peers, namespace)), tuple(blocks), ports)


class _NetworkSpec(msgspec.Struct, rename="camel", gc=False):
    pod_selector: LabelSelector | None = None
    policy_types: tuple[str, ...] | None = None
    ingress: tuple[_PolicyRule, ...] | None = None
    egress: tuple[_PolicyRule, ...] | None = None


class NetworkPolicyDocument(ManagedDocument, gc=False):
    """A NetworkPolicy."""

    spec: _NetworkSpec | None = None


def network_policy(
    doc: NetworkPolicyDocument, namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a NetworkPolicy adds to its metadata."""
    spec = doc.spec
    if spec is None:
        return None
    # SOURCE: networking/v1 defaulting: ingress always, egress where there are rules for it.
    types = spec.policy_types or (("Ingress", "Egress") if spec.egress else ("Ingress",))
    ingress, egress = "Ingress" in types, "Egress" in types
    let_in = (spec.ingress or ()) if ingress else ()
    let_out = (spec.egress or ()) if egress else ()
    return NetworkPolicyFacts(
        selector_of(spec.pod_selector) or Selector(),
        ingress,
        egress,
        (
            *(rule.value(namespace, egress=False) for rule in let_in),
            *(rule.value(namespace, egress=True) for rule in let_out),
        ),
    )


def _selected(peers: Sequence[_Peer], namespace: str) -> Iterator[Selection]:
    for peer in peers:
        if peer.ip_block is not None:
            continue
        # SOURCE: networking/v1 NetworkPolicyPeer: pods of the policy's own namespace, unless
        # namespaces are selected; then all their pods, unless these are selected too.
        pods = selector_of(peer.pod_selector) or Selector()
        spaces = selector_of(peer.namespace_selector)
        yield Selection(PODS, namespace if spaces is None else "", pods, spaces)


class _ScaleTarget(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""


class _Metric(msgspec.Struct, gc=False):
    type: str = ""


class _AutoscalerSpec(msgspec.Struct, rename="camel", gc=False):
    scale_target_ref: _ScaleTarget | None = None
    min_replicas: Count | None = None
    max_replicas: Count = 0
    metrics: tuple[_Metric, ...] | None = None


_METRICS_API = "metrics.k8s.io"
_READS: Mapping[str, str] = {
    "Resource": _METRICS_API,
    "ContainerResource": _METRICS_API,
    "Pods": f"custom.{_METRICS_API}",
    "Object": f"custom.{_METRICS_API}",
    "External": f"external.{_METRICS_API}",
}
"""The group of the API from which a metric is read, by its type; without any the usual one is that
of resources. SOURCE: autoscaling/v2 MetricSpec."""


class _ReasonedCondition(Condition, gc=False):
    reason: str = ""


class _AutoscalerStatus(msgspec.Struct, gc=False):
    conditions: tuple[_ReasonedCondition, ...] | None = None


class AutoscalerDocument(ManagedDocument, gc=False):
    """A HorizontalPodAutoscaler."""

    spec: _AutoscalerSpec | None = None
    status: _AutoscalerStatus | None = None


def autoscaler(
    doc: AutoscalerDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a HorizontalPodAutoscaler adds to its metadata.

    SOURCE: horizontal controller: where a metric cannot be read, `ScalingActive` is False and no
    smaller size follows, but for the upper bound; it is True again where what is left asks for
    more. `ScalingDisabled` is a target that was scaled to nothing, and no fault.
    """
    spec, status = doc.spec or _AutoscalerSpec(), doc.status or _AutoscalerStatus()
    least = 1 if spec.min_replicas is None else spec.min_replicas
    blind = any(
        one.type == "ScalingActive" and one.status == "False" and one.reason != "ScalingDisabled"
        for one in status.conditions or ()
    )
    types = [one.type for one in spec.metrics or ()] or ["Resource"]
    reads = tuple(sorted({_READS[one] for one in types if one in _READS}))
    return AutoscalerFacts(least, spec.max_replicas, spec.max_replicas if blind else 0, reads)


def autoscaler_needs(
    doc: AutoscalerDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the workload that an autoscaler scales."""
    target = (doc.spec or _AutoscalerSpec()).scale_target_ref
    if target is None or not target.kind:
        return ()
    return _scales(target.api_version, target.kind, key.namespace, target.name)


class _Fallback(msgspec.Struct, gc=False):
    replicas: Count = 0


class _Authentication(msgspec.Struct, gc=False):
    name: str = ""
    kind: str = ""


class _Trigger(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    authentication_ref: _Authentication | None = None


class _ScaledSpec(msgspec.Struct, rename="camel", gc=False):
    scale_target_ref: _ScaleTarget | None = None
    triggers: tuple[_Trigger, ...] | None = None
    min_replica_count: Count | None = None
    idle_replica_count: Count | None = None
    max_replica_count: Count | None = None
    fallback: _Fallback | None = None


class _Health(msgspec.Struct, gc=False):
    status: str = ""


class _ScaledStatus(msgspec.Struct, gc=False):
    conditions: Conditions = None
    health: dict[str, _Health] | None = None


class ScaledObjectDocument(ManagedDocument, gc=False):
    """A ScaledObject."""

    spec: _ScaledSpec | None = None
    status: _ScaledStatus | None = None


PAUSED_AT = "autoscaling.keda.sh/paused-replicas"

DIGITS = 9
"""LIMIT: digits of a number of replicas; a longer one is no 32-bit number."""


def scaled_object(
    doc: ScaledObjectDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a ScaledObject adds to its metadata.

    SOURCE: keda.sh `paused-replicas`: that many, whatever the spec says, while it is there. It
    allows for that number here, and takes nothing away by itself. `cron`: by the clock.
    """
    spec = doc.spec or _ScaledSpec()
    # SOURCE: keda.sh ScaledObject: from none to 100 where it does not say.
    most = 100 if spec.max_replica_count is None else spec.max_replica_count
    least = spec.min_replica_count or 0
    if spec.idle_replica_count is not None:
        # SOURCE: keda.sh: so many where there is nothing to do, and no fewer than its least else.
        least = min(least, spec.idle_replica_count)
    timed = any(one.type == "cron" for one in spec.triggers or ())
    paused = annotation(doc.metadata, PAUSED_AT)
    if paused.isdecimal() and len(paused) <= DIGITS:
        return AutoscalerFacts(min(least, int(paused)), max(most, int(paused)), timed=timed)
    if _reads(doc.status or _ScaledStatus()):
        return AutoscalerFacts(least, most, timed=timed)
    floor = most if spec.fallback is None else min(spec.fallback.replicas, most)
    return AutoscalerFacts(least, most, floor, timed=timed)


def _reads(status: _ScaledStatus) -> bool:
    """Whether a ScaledObject does not say that it cannot read one of its sources.

    SOURCE: keda.sh: with a trigger in error it does not stop its target, and falls back on the
    number that is declared for it, if one is.
    """
    return not (
        holds(status.conditions, "Fallback")
        or any(one.type == "Ready" and one.status == "False" for one in status.conditions or ())
        or any(one.status == "Failing" for one in (status.health or {}).values())
    )


def scaled_object_needs(
    doc: ScaledObjectDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the workload that a ScaledObject scales, and what its triggers are let in by.

    A Deployment and a TriggerAuthentication where it does not say. SOURCE: keda.sh ScaledObject.
    """
    spec = doc.spec or _ScaledSpec()
    needs: list[Need] = []
    target = spec.scale_target_ref
    if target is not None:
        version, kind = target.api_version or "apps/v1", target.kind or "Deployment"
        needs += _scales(version, kind, key.namespace, target.name)
    for trigger in spec.triggers or ():
        given = trigger.authentication_ref
        if given is not None:
            of = resource_of(key.resource.group, given.kind or "TriggerAuthentication")
            place = "" if given.kind.startswith("Cluster") else key.namespace
            needs += named(Edge.PROVIDER, of, place, given.name, optional=True)
    return each_once(needs)


def _scales(api_version: str, kind: str, namespace: str, name: str) -> Sequence[Need]:
    return named(Edge.SCALES, resource_of(group_of(api_version), kind), namespace, name)
