"""Projections of Cilium's network policies, as the same facts that a NetworkPolicy has.

One of several, as a kind's neighbours change together. Beside `limitshapes`, since what differs
here is the network's, not Kubernetes' own. Pure.
Source: cilium.io/v2 CiliumNetworkPolicy; Cilium documentation, "Policy Enforcement Modes": a rule
for a direction, denying or allowing, closes that direction for the pods that it selects, unless
`enableDefaultDeny` says no; all policies add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from suture.model.edges import Selection
from suture.model.facts import NetworkPolicyFacts
from suture.model.names import PODS
from suture.model.objects import Facts
from suture.model.selectors import Requirement, Selector
from suture.model.traffic import TrafficPort, TrafficRule
from suture.wire.shapes import (
    ABSENT,
    Count,
    LabelSelector,
    ManagedDocument,
    port_number,
    selector_of,
)

NAME_LABEL = "kubernetes.io/metadata.name"
_SOURCES = ("k8s:", "any:", "k8s.", "any.")
_NAMESPACE = "io.kubernetes.pod.namespace"
_NAMESPACE_LABEL = "io.cilium.k8s.namespace.labels."


class _Port(msgspec.Struct, rename="camel", gc=False):
    port: str = ""
    protocol: str = "ANY"
    end_port: Count | None = None


class _Ports(msgspec.Struct, gc=False):
    ports: tuple[_Port, ...] | None = None


class _Rule(msgspec.Struct, rename="camel", gc=False):
    from_endpoints: tuple[LabelSelector, ...] | None = None
    to_endpoints: tuple[LabelSelector, ...] | None = None
    from_entities: tuple[str, ...] | None = None
    to_entities: tuple[str, ...] | None = None
    # Raw: that such a peer is there is all that is read of it.
    from_cidr: msgspec.Raw = msgspec.field(default=ABSENT, name="fromCIDR")
    to_cidr: msgspec.Raw = msgspec.field(default=ABSENT, name="toCIDR")
    from_blocks: msgspec.Raw = msgspec.field(default=ABSENT, name="fromCIDRSet")
    to_blocks: msgspec.Raw = msgspec.field(default=ABSENT, name="toCIDRSet")
    to_names: msgspec.Raw = msgspec.field(default=ABSENT, name="toFQDNs")
    to_services: msgspec.Raw = ABSENT
    to_ports: tuple[_Ports, ...] | None = None


class _Closes(msgspec.Struct, gc=False):
    ingress: bool | None = None
    egress: bool | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    endpoint_selector: LabelSelector | None = None
    ingress: tuple[_Rule, ...] | None = None
    ingress_deny: tuple[msgspec.Raw, ...] | None = None
    egress: tuple[_Rule, ...] | None = None
    egress_deny: tuple[msgspec.Raw, ...] | None = None
    enable_default_deny: _Closes | None = None


class CiliumDocument(ManagedDocument, gc=False):
    """A CiliumNetworkPolicy or CiliumClusterwideNetworkPolicy: one spec, or a list of them."""

    spec: _Spec | None = None
    specs: tuple[_Spec, ...] = ()


def cilium_policy(doc: CiliumDocument, namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a policy of Cilium adds; None where it selects nodes, or has several specs."""
    if len(doc.specs) + (doc.spec is not None) != 1:
        return None
    spec = doc.spec or doc.specs[0]
    if spec.endpoint_selector is None:
        return None
    pods, spaces = _parted(selector_of(spec.endpoint_selector) or Selector())
    closes = spec.enable_default_deny or _Closes()
    rules = (
        *_rules(spec.ingress, namespace, egress=False),
        *_rules(spec.egress, namespace, egress=True),
    )
    return NetworkPolicyFacts(
        selector=pods,
        ingress=closes.ingress is not False and _there(spec.ingress, spec.ingress_deny),
        egress=closes.egress is not False and _there(spec.egress, spec.egress_deny),
        rules=rules,
        namespaces=None if namespace else spaces,
    )


def _there(*sections: object) -> bool:
    return any(section is not None for section in sections)


def _parted(selector: Selector) -> tuple[Selector, Selector]:
    """Part a selector into that of pods and that of their namespaces."""
    pods: list[Requirement] = []
    spaces: list[Requirement] = []
    for one in selector.requirements:
        key = next((one.key[4:] for word in _SOURCES if one.key.startswith(word)), one.key)
        if key == _NAMESPACE:
            spaces.append(Requirement(NAME_LABEL, one.operator, one.values))
        elif key.startswith(_NAMESPACE_LABEL):
            label = key.removeprefix(_NAMESPACE_LABEL)
            spaces.append(Requirement(label, one.operator, one.values))
        else:
            pods.append(Requirement(key, one.operator, one.values))
    return Selector(tuple(pods)), Selector(tuple(spaces))


def _rules(found: Iterable[_Rule] | None, namespace: str, *, egress: bool) -> Iterator[TrafficRule]:
    for rule in found or ():
        ends = (rule.to_endpoints if egress else rule.from_endpoints) or ()
        entities = (rule.to_entities if egress else rule.from_entities) or ()
        others = (
            (rule.to_cidr, rule.to_blocks, rule.to_names, rule.to_services)
            if egress
            else (rule.from_cidr, rule.from_blocks)
        )
        blocks = [*entities, *("outside" for one in others if one is not ABSENT)]
        ports = tuple(
            port for some in rule.to_ports or () for one in some.ports or () for port in _ports(one)
        )
        if not (ends or blocks or ports):
            # SOURCE: Cilium: an empty rule closes a direction and opens nothing.
            continue
        pods = tuple(_selection(selector_of(one) or Selector(), namespace) for one in ends)
        if "all" in entities:
            pods, blocks = (), []
        elif "cluster" in entities:
            pods = (*pods, Selection(PODS, "", Selector(), Selector()))
        yield TrafficRule(egress, pods, tuple(blocks), ports)


def _selection(selector: Selector, namespace: str) -> Selection:
    """Return the pods of a peer: of the policy's own namespace unless it says another."""
    pods, spaces = _parted(selector)
    if namespace and spaces.everything:
        return Selection(PODS, namespace, pods)
    return Selection(PODS, "", pods, spaces)


def _ports(port: _Port) -> Iterator[TrafficPort]:
    number = port_number(port.port)
    name = port.port if number is None else ""
    for protocol in ("TCP", "UDP", "SCTP") if port.protocol == "ANY" else (port.protocol,):
        yield TrafficPort(protocol, number or 0, port.end_port or 0, name)
