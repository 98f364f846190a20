"""Projections of cluster-wide network policies and of Calico's, as facts that a NetworkPolicy has.

One of several, as a kind's neighbours change together. Beside `trafficshapes`, as Cilium's differ.
Only what closes a direction to everybody is read as closing it: what denies a part is given the
benefit of the doubt, as is what cannot be read. Pure.
Source: policy.networking.k8s.io AdminNetworkPolicy (rules in order, the first that matches
decides); projectcalico.org/v3 NetworkPolicy (what no rule of a policy that applies lets through is
denied; rules in order), Calico documentation, "Selector".
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
from suture.wire.expressions import parse_expression
from suture.wire.shapes import (
    ABSENT,
    Count,
    LabelSelector,
    ManagedDocument,
    port_number,
    selector_of,
)
from suture.wire.trafficshapes import NAME_LABEL

EVERYBODY = Selection(PODS, "", Selector(), Selector())
OUTSIDE = ("outside",)
"""A peer that is no pod, or that cannot be read."""

ALLOWING = frozenset({"Allow", "Accept", "Pass"})
DENY = "Deny"
ANY_ADDRESS = frozenset({"0.0.0.0/0", "::/0"})
API_SERVER = (TrafficPort("TCP", 443), TrafficPort("TCP", 6443))
"""What is no pod and is asked by pods: who denies all pods does not deny it."""

PROTOCOLS = ("TCP", "UDP", "SCTP")


def _policy(
    pods: Selector, spaces: Selector | None, closed: frozenset[bool], rules: Iterable[TrafficRule]
) -> NetworkPolicyFacts:
    """Return facts; `closed` are the directions that are closed, True for egress."""
    return NetworkPolicyFacts(
        selector=pods,
        ingress=False in closed,
        egress=True in closed,
        rules=tuple(rules),
        namespaces=spaces,
    )


# ---- AdminNetworkPolicy and its kin


class _Pods(msgspec.Struct, rename="camel", gc=False):
    namespace_selector: LabelSelector | None = None
    pod_selector: LabelSelector | None = None


class _Peer(msgspec.Struct, rename="camel", gc=False):
    """A subject or a peer: all pods of namespaces, pods, or what is outside."""

    namespaces: LabelSelector | None = None
    pods: _Pods | None = None
    networks: tuple[str, ...] | None = None

    def selection(self) -> Selection | None:
        """Return the pods that it means; None where it means none."""
        if self.namespaces is not None:
            return Selection(PODS, "", Selector(), self.namespaces.selector())
        if self.pods is None:
            return None
        spaces = selector_of(self.pods.namespace_selector) or Selector()
        return Selection(PODS, "", selector_of(self.pods.pod_selector) or Selector(), spaces)


class _Number(msgspec.Struct, gc=False):
    protocol: str = "TCP"
    port: Count = 0


class _Range(msgspec.Struct, gc=False):
    protocol: str = "TCP"
    start: Count = 0
    end: Count = 0


class _Port(msgspec.Struct, rename="camel", gc=False):
    port_number: _Number | None = None
    port_range: _Range | None = None
    named_port: str = ""

    def value(self) -> Iterator[TrafficPort]:
        """Yield the ports; a name is one of any protocol."""
        if self.port_number is not None:
            yield TrafficPort(self.port_number.protocol, self.port_number.port)
        elif self.port_range is not None:
            found = self.port_range
            yield TrafficPort(found.protocol, found.start, found.end)
        elif self.named_port:
            yield from (TrafficPort(one, name=self.named_port) for one in PROTOCOLS)


class _Rule(msgspec.Struct, gc=False):
    action: str = ""
    to: tuple[_Peer, ...] | None = None
    source: tuple[_Peer, ...] | None = msgspec.field(default=None, name="from")
    ports: tuple[_Port, ...] | None = None
    # Raw: that protocols narrow it is all that is read of it.
    protocols: msgspec.Raw = ABSENT

    @property
    def narrow(self) -> bool:
        """Whether ports narrow whom it is about."""
        return bool(self.ports) or self.protocols is not ABSENT


class _Spec(msgspec.Struct, gc=False):
    subject: _Peer | None = None
    ingress: tuple[_Rule, ...] | None = None
    egress: tuple[_Rule, ...] | None = None


class ClusterPolicyDocument(ManagedDocument, gc=False):
    """An AdminNetworkPolicy, BaselineAdminNetworkPolicy or ClusterNetworkPolicy."""

    spec: _Spec | None = None


def cluster_policy(
    doc: ClusterPolicyDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a policy of the cluster's administrator adds."""
    spec = doc.spec
    subject = spec.subject.selection() if spec is not None and spec.subject is not None else None
    if spec is None or subject is None:
        return None
    closed: set[bool] = set()
    rules: list[TrafficRule] = []
    for egress, found in ((False, spec.ingress), (True, spec.egress)):
        for rule in found or ():
            peers = (rule.to if egress else rule.source) or ()
            if rule.action in ALLOWING:
                rules.append(_allowed(rule, peers, egress=egress))
                continue
            pods = any(one.selection() == EVERYBODY for one in peers)
            everywhere = any(not ANY_ADDRESS.isdisjoint(one.networks or ()) for one in peers)
            if rule.action == DENY and not rule.narrow and (pods or everywhere):
                closed.add(egress)
                if egress and not everywhere:
                    rules.append(TrafficRule(egress, (), OUTSIDE, API_SERVER))
                break
    return _policy(subject.selector, subject.namespaces, frozenset(closed), rules)


def _allowed(rule: _Rule, peers: Iterable[_Peer], *, egress: bool) -> TrafficRule:
    found = [one.selection() for one in peers]
    return TrafficRule(
        egress,
        tuple(one for one in found if one is not None),
        OUTSIDE if None in found else (),
        tuple(port for one in rule.ports or () for port in one.value()),
    )


# ---- Calico


class _End(msgspec.Struct, rename="camel", gc=False):
    """A rule's source or destination."""

    selector: str = ""
    namespace_selector: str = ""
    ports: tuple[Count | str, ...] | None = None
    # Raw: that they narrow it is all that is read of them.
    nets: msgspec.Raw = ABSENT
    domains: msgspec.Raw = ABSENT
    services: msgspec.Raw = ABSENT
    service_accounts: msgspec.Raw = ABSENT
    not_nets: msgspec.Raw = ABSENT
    not_selector: msgspec.Raw = ABSENT
    not_ports: msgspec.Raw = ABSENT

    @property
    def named(self) -> bool:
        """Whether anything narrows it beside selectors and ports."""
        parts = (
            self.nets, self.domains, self.services, self.service_accounts, self.not_nets,
            self.not_selector, self.not_ports,
        )  # fmt: skip
        return any(one is not ABSENT for one in parts)

    @property
    def everybody(self) -> bool:
        """Whether nothing narrows it."""
        return not (self.selector or self.namespace_selector or self.ports or self.named)


class _CalicoRule(msgspec.Struct, gc=False):
    action: str = ""
    protocol: str | Count | None = None
    source: _End | None = None
    destination: _End | None = None


class _CalicoSpec(msgspec.Struct, rename="camel", gc=False):
    selector: str = ""
    namespace_selector: str = ""
    service_account_selector: str = ""
    types: tuple[str, ...] | None = None
    ingress: tuple[_CalicoRule, ...] | None = None
    egress: tuple[_CalicoRule, ...] | None = None
    apply_on_forward: bool = False


class CalicoDocument(ManagedDocument, gc=False):
    """A NetworkPolicy or GlobalNetworkPolicy of Calico."""

    spec: _CalicoSpec | None = None


def calico_policy(doc: CalicoDocument, namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a policy of Calico adds; None where its selector is not read."""
    spec = doc.spec
    if spec is None or spec.apply_on_forward or spec.service_account_selector:
        return None
    pods, spaces = parse_expression(spec.selector), parse_expression(spec.namespace_selector)
    if pods is None or spaces is None:
        return None
    selector, inner = _parted(pods)
    types = spec.types or _types_by_rules(spec)
    closed = frozenset(egress for egress in (False, True) if _TYPES[egress] in types)
    rules = [
        *_calico_rules(spec.ingress, namespace, egress=False),
        *_calico_rules(spec.egress, namespace, egress=True),
    ]
    inside = Selector((*inner.requirements, *_spaces(spaces).requirements))
    return _policy(selector, None if namespace else inside, closed, rules)


_TYPES = {False: "Ingress", True: "Egress"}


def _types_by_rules(spec: _CalicoSpec) -> tuple[str, ...]:
    """Return which ways a policy without types is about: those that it has rules for, or in.

    Source: libcalico-go, `defaultPolicyTypesField`.
    """
    if spec.egress:
        return ("Ingress", "Egress") if spec.ingress else ("Egress",)
    return ("Ingress",)


def _calico_rules(
    found: Iterable[_CalicoRule] | None, namespace: str, *, egress: bool
) -> Iterator[TrafficRule]:
    for rule in found or ():
        source, target = rule.source or _End(), rule.destination or _End()
        if rule.action in ALLOWING:
            yield _calico_allowed(rule, namespace, egress=egress)
        elif (
            rule.action == DENY and rule.protocol is None and source.everybody and target.everybody
        ):
            # What comes after is never reached.
            return


def _calico_allowed(rule: _CalicoRule, namespace: str, *, egress: bool) -> TrafficRule:
    target = rule.destination or _End()
    peer = target if egress else rule.source or _End()
    ports = tuple(
        port
        for protocol in _protocols(rule.protocol)
        for one in target.ports or ("",)
        for port in _calico_port(protocol, one)
    )
    ports = ports if target.ports or rule.protocol is not None else ()
    if peer.named:
        return TrafficRule(egress, (), OUTSIDE, ports)
    if not (peer.selector or peer.namespace_selector):
        return TrafficRule(egress, (), (), ports)
    pods, spaces = parse_expression(peer.selector), parse_expression(peer.namespace_selector)
    if pods is None or spaces is None:
        return TrafficRule(egress, (), OUTSIDE, ports)
    selector, inner = _parted(pods)
    chosen = Selector((*inner.requirements, *_spaces(spaces).requirements))
    own = bool(namespace) and not peer.namespace_selector and chosen.everything
    selection = Selection(PODS, namespace if own else "", selector, None if own else chosen)
    return TrafficRule(egress, (selection,), (), ports)


def _protocols(given: str | int | None) -> tuple[str, ...]:
    return (given.upper(),) if isinstance(given, str) else PROTOCOLS


def _calico_port(protocol: str, given: int | str) -> Iterator[TrafficPort]:
    first, _, last = str(given).partition(":")
    number = port_number(first)
    if number is not None:
        yield TrafficPort(protocol, number, port_number(last) or 0)
    else:
        yield TrafficPort(protocol, name=first)


_SPACE, _SPACE_LABEL = "projectcalico.org/namespace", "pcns."


def _parted(selector: Selector) -> tuple[Selector, Selector]:
    """Part a selector into that of pods and that of their namespaces."""
    pods: list[Requirement] = []
    spaces: list[Requirement] = []
    for one in selector.requirements:
        if one.key == _SPACE:
            spaces.append(Requirement(NAME_LABEL, one.operator, one.values))
        elif one.key.startswith(_SPACE_LABEL):
            key = one.key.removeprefix(_SPACE_LABEL)
            spaces.append(Requirement(key, one.operator, one.values))
        else:
            pods.append(one)
    return Selector(tuple(pods)), Selector(tuple(spaces))


def _spaces(selector: Selector) -> Selector:
    """Return a selector of namespaces with Kubernetes' own label for their names."""
    return Selector(
        tuple(
            Requirement(NAME_LABEL, one.operator, one.values)
            if one.key == "projectcalico.org/name"
            else one
            for one in selector.requirements
        )
    )
