"""Projections of Istio's policies, as the same facts that a NetworkPolicy has: who may still ask.

Beside `trafficshapes`, as a kind's neighbours change together. They hold for pods that a proxy was
put into, which its label tells; those of a mesh without proxies in the pods are not selected. A
narrower policy stands before a wider one: a namespace's own word beside the mesh's adds up like
allowing policies do, and that of the mesh to let everybody in is none, since it is the default.
Pure.
Source: security.istio.io/v1 PeerAuthentication (what is unset is inherited, and at last permissive)
and AuthorizationPolicy (without rules nobody, what is not named is not asked about).
LIMIT: the mesh's root namespace is the usual one; a denying rule is read where it denies all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from suture.model.edges import Selection
from suture.model.facts import NetworkPolicyFacts
from suture.model.names import MESH_ROOT, PODS
from suture.model.objects import Facts
from suture.model.selectors import Operator, Requirement, Selector
from suture.model.traffic import TrafficPort, TrafficRule
from suture.wire.shapes import ABSENT, ManagedDocument
from suture.wire.trafficshapes import NAME_LABEL

MODE_LABEL: Final = "security.istio.io/tlsMode"
"""What the injector puts on each pod that it gives a proxy."""

_SPEAKS: Final = (
    MODE_LABEL,
    "service.istio.io/canonical-name",
    "istio.io/rev",
    "gateway.istio.io/managed",
    "istio",
)
"""Labels, any of which a pod has that asks by mutual TLS: injected, or a gateway of the mesh."""

_AMBIENT: Final = Requirement("istio.io/dataplane-mode", Operator.IN, ("ambient",))
_STRICT: Final = "STRICT"
_SAYS: Final = frozenset({_STRICT, "PERMISSIVE", "DISABLE"})


class _Labels(msgspec.Struct, rename="camel", gc=False):
    match_labels: dict[str, str] | None = None


class _Mode(msgspec.Struct, gc=False):
    mode: str = "UNSET"


class _PeerSpec(msgspec.Struct, rename="camel", gc=False):
    selector: _Labels | None = None
    mtls: _Mode | None = None
    port_level_mtls: dict[str, _Mode] | None = None


class PeerAuthenticationDocument(ManagedDocument, gc=False):
    """A PeerAuthentication."""

    spec: _PeerSpec | None = None


class _Source(msgspec.Struct, rename="camel", gc=False):
    namespaces: tuple[str, ...] | None = None
    principals: tuple[str, ...] | None = None
    service_accounts: tuple[str, ...] | None = None


class _From(msgspec.Struct, gc=False):
    source: _Source | None = None


class _Rule(msgspec.Struct, rename="camel", gc=False):
    from_: tuple[_From, ...] | None = msgspec.field(default=None, name="from")
    # Raw: that it is narrowed so is all that is read of it.
    to: msgspec.Raw = ABSENT
    when: msgspec.Raw = ABSENT


class _AuthorizationSpec(msgspec.Struct, rename="camel", gc=False):
    selector: _Labels | None = None
    target_ref: msgspec.Raw = ABSENT
    target_refs: msgspec.Raw = ABSENT
    action: str = "ALLOW"
    rules: tuple[_Rule | None, ...] | None = None


class AuthorizationPolicyDocument(ManagedDocument, gc=False):
    """An AuthorizationPolicy."""

    spec: _AuthorizationSpec | None = None


def peer_authentication(
    doc: PeerAuthenticationDocument, namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return whom pods with a proxy let in by mutual TLS alone; None where it says nothing."""
    spec = doc.spec or _PeerSpec()
    mode = (spec.mtls or _Mode()).mode
    of_all = namespace == MESH_ROOT and spec.selector is None
    if mode not in _SAYS or (of_all and mode != _STRICT):
        return None
    own = Selector((Requirement(NAME_LABEL, Operator.IN, (namespace,)),))
    rules = [_IN_MESH] if mode == _STRICT else [TrafficRule(egress=False)]
    rules += [
        TrafficRule(egress=False, ports=(TrafficPort("TCP", int(port)),))
        for port, said in (spec.port_level_mtls or {}).items()
        if port.isdigit() and said.mode in _SAYS and said.mode != _STRICT
    ]
    reach = Selector() if of_all else own
    return _facts(spec.selector, rules, reach if namespace == MESH_ROOT else None)


def authorization_policy(
    doc: AuthorizationPolicyDocument, namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return whom pods with a proxy let in at all; None where it is of something else.

    What narrows a rule otherwise, by paths or by who is logged in, is given the benefit of the
    doubt.
    """
    spec = doc.spec or _AuthorizationSpec()
    if spec.target_ref is not ABSENT or spec.target_refs is not ABSENT:
        return None
    said = [one or _Rule() for one in spec.rules or ()]
    if spec.action == "ALLOW":
        rules = [_allowed(one.from_) for one in said]
    elif spec.action == "DENY" and any(map(_is_for_all, said)):
        rules = []
    else:
        return None
    return _facts(spec.selector, rules, Selector() if namespace == MESH_ROOT else None)


def _facts(
    chosen: _Labels | None, rules: Iterable[TrafficRule], spaces: Selector | None
) -> NetworkPolicyFacts:
    own = Selector.of((chosen.match_labels if chosen is not None else None) or {})
    return NetworkPolicyFacts(
        selector=Selector((*own.requirements, Requirement(MODE_LABEL, Operator.EXISTS, ()))),
        ingress=True,
        rules=tuple(rules),
        namespaces=spaces,
    )


def _anywhere(pods: Selector, spaces: Selector | None = None) -> Selection:
    return Selection(PODS, "", pods, spaces or Selector())


_IN_MESH: Final = TrafficRule(
    egress=False,
    pods=(
        *(_anywhere(Selector((Requirement(one, Operator.EXISTS, ()),))) for one in _SPEAKS),
        _anywhere(Selector(), Selector((_AMBIENT,))),
    ),
)


def _is_for_all(rule: _Rule) -> bool:
    return not rule.from_ and rule.to is ABSENT and rule.when is ABSENT


def _allowed(sources: Iterable[_From] | None) -> TrafficRule:
    """Return whom a rule lets in: by the namespaces in which they are, as far as it names them."""
    if not sources:
        return TrafficRule(egress=False)
    found = [list(_spaces(one.source or _Source())) for one in sources]
    if not all(found):
        return TrafficRule(egress=False, blocks=("outside",))
    named = tuple(dict.fromkeys(name for names in found for name in names))
    wanted = Selector((Requirement(NAME_LABEL, Operator.IN, named),))
    return TrafficRule(egress=False, pods=(_anywhere(Selector(), wanted),))


def _spaces(source: _Source) -> Iterator[str]:
    """Yield the namespaces that a source names; none where it may be in any."""
    names = [
        *(source.namespaces or ()),
        # SOURCE: SPIFFE identities of Istio, `TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT`.
        *(one.rpartition("/sa/")[0].rpartition("/ns/")[2] for one in source.principals or ()),
        *(one.rpartition("/")[0] for one in source.service_accounts or ()),
    ]
    if all(name and "*" not in name for name in names):
        yield from names
