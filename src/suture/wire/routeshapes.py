"""Projections of what leads traffic to Services from outside: Ingresses, Gateways, their routes.

One of several, as a kind's neighbours change together. Pure.
Source: networking/v1; gateway.networking.k8s.io, whose versions agree in the fields read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from suture.model import names
from suture.model.edges import Edge, Need
from suture.model.names import ObjectKey
from suture.model.objects import Facts, RouteFacts, ServiceRef
from suture.model.targets import resource_of
from suture.wire.balancedshapes import BalancedStatus, addresses_of
from suture.wire.shapes import Count, ManagedDocument, each_once, named


class _Other(msgspec.Struct, rename="camel", gc=False):
    """A backend of another kind, in the Ingress' own namespace."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""


class _Port(msgspec.Struct, gc=False):
    """A port of a Service, by name or by number."""

    name: str | None = None
    number: Count | None = None


class _Called(msgspec.Struct, gc=False):
    """A Service in an Ingress, which is of its namespace."""

    name: str = ""
    port: _Port | None = None


class _Backend(msgspec.Struct, gc=False):
    service: _Called | None = None
    resource: _Other | None = None


class _Path(msgspec.Struct, gc=False):
    backend: _Backend | None = None


class _Http(msgspec.Struct, gc=False):
    paths: tuple[_Path, ...] | None = None


class _IngressRule(msgspec.Struct, gc=False):
    host: str | None = None
    http: _Http | None = None


class _IngressTls(msgspec.Struct, rename="camel", gc=False):
    secret_name: str = ""


class _IngressSpec(msgspec.Struct, rename="camel", gc=False):
    default_backend: _Backend | None = None
    rules: tuple[_IngressRule, ...] | None = None
    tls: tuple[_IngressTls, ...] | None = None
    ingress_class_name: str | None = None


class IngressDocument(ManagedDocument, gc=False):
    """An Ingress."""

    spec: _IngressSpec | None = None
    status: BalancedStatus | None = None


def _backends(doc: IngressDocument) -> Iterator[_Backend]:
    spec = doc.spec or _IngressSpec()
    if spec.default_backend is not None:
        yield spec.default_backend
    for rule in spec.rules or ():
        for path in rule.http.paths or () if rule.http is not None else ():
            if path.backend is not None:
                yield path.backend


def ingress(doc: IngressDocument, namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what an Ingress adds to its metadata."""
    services = {
        ServiceRef(namespace, backend.service.name): None
        for backend in _backends(doc)
        if backend.service is not None
    }
    spec = doc.spec or _IngressSpec()
    hosts = dict.fromkeys(rule.host or "" for rule in spec.rules or ())
    if spec.default_backend is not None:
        hosts[""] = None
    ports = dict.fromkeys(
        f"{one.name}:{one.port.name or one.port.number}"
        for backend in _backends(doc)
        if (one := backend.service) is not None
        and one.port is not None
        and (one.port.name or one.port.number)
    )
    return RouteFacts(tuple(services), tuple(hosts), addresses_of(doc.status), tuple(ports))


def ingress_needs(
    doc: IngressDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the backends, certificates and class that an Ingress names."""
    return each_once(_ingress_needs(doc, key.namespace))


def _ingress_needs(doc: IngressDocument, namespace: str) -> Iterator[Need]:
    for backend in _backends(doc):
        if backend.service is not None:
            yield from named(Edge.ROUTES_TO, names.SERVICES, namespace, backend.service.name)
        if backend.resource is not None and backend.resource.kind:
            resource = resource_of(backend.resource.api_group or "", backend.resource.kind)
            yield from named(Edge.ROUTES_TO, resource, namespace, backend.resource.name)
    spec = doc.spec or _IngressSpec()
    for tls in spec.tls or ():
        yield from named(Edge.CERTIFICATE, names.SECRETS, namespace, tls.secret_name)
    yield from named(Edge.CLASS, names.INGRESS_CLASSES, "", spec.ingress_class_name)


class _Target(msgspec.Struct, rename="camel", gc=False):
    """A reference of the Gateway API; what is absent depends on where it stands."""

    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    name: str = ""
    weight: Count | None = None
    section_name: str | None = None


class _Aside(msgspec.Struct, rename="camel", gc=False):
    """Whom a filter asks beside the backend."""

    backend_ref: _Target | None = None


class _Filter(msgspec.Struct, rename="camel", gc=False):
    request_mirror: _Aside | None = None
    external_auth: _Aside | None = None


class _RouteBackend(_Target, rename="camel", gc=False):
    filters: tuple[_Filter, ...] | None = None


class _RouteRule(msgspec.Struct, rename="camel", gc=False):
    backend_refs: tuple[_RouteBackend, ...] | None = None
    filters: tuple[_Filter, ...] | None = None


class _RouteSpec(msgspec.Struct, rename="camel", gc=False):
    hostnames: tuple[str, ...] | None = None
    parent_refs: tuple[_Target, ...] | None = None
    rules: tuple[_RouteRule, ...] | None = None


class RouteDocument(ManagedDocument, gc=False):
    """An HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute."""

    spec: _RouteSpec | None = None


def route(doc: RouteDocument, namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a route adds to its metadata: the Services that answer, and its hosts."""
    services = tuple(
        ServiceRef(need.target.namespace, need.target.name)
        for need in each_once(_backend_needs(doc, namespace))
        if need.target.resource == names.SERVICES and not need.optional
    )
    hosts = (doc.spec or _RouteSpec()).hostnames or ()
    return RouteFacts(services, tuple(dict.fromkeys(hosts)))


def route_needs(doc: RouteDocument, key: ObjectKey, _labels: Mapping[str, str]) -> Sequence[Need]:
    """Return the backends of a route, and what it is attached to."""
    spec = doc.spec or _RouteSpec()
    parents = [
        need
        for parent in spec.parent_refs or ()
        for need in _reference(
            Edge.ATTACHED_TO, parent, key.namespace, names.GATEWAYS.group, "Gateway"
        )
    ]
    return each_once([*_backend_needs(doc, key.namespace), *parents])


def _backend_needs(doc: RouteDocument, namespace: str) -> Iterator[Need]:
    for rule in (doc.spec or _RouteSpec()).rules or ():
        for backend in rule.backend_refs or ():
            # WHY optional: no request goes to a backend of weight zero, or waits for a mirror.
            idle = backend.weight == 0
            yield from _reference(Edge.ROUTES_TO, backend, namespace, "", "Service", optional=idle)
            yield from _asked_aside(backend.filters, namespace)
        yield from _asked_aside(rule.filters, namespace)


def _asked_aside(filters: Iterable[_Filter] | None, namespace: str) -> Iterator[Need]:
    """Yield whom filters ask: a mirror is not waited for, without an authority all is refused.

    Source: Gateway API, HTTPRequestMirrorFilter and HTTPExternalAuthFilter.
    """
    for one in filters or ():
        for aside, optional in ((one.request_mirror, True), (one.external_auth, False)):
            if aside is not None and aside.backend_ref is not None:
                backend = aside.backend_ref
                yield from _reference(
                    Edge.ROUTES_TO, backend, namespace, "", "Service", optional=optional
                )


def _reference(
    edge: Edge, target: _Target, namespace: str, group: str, kind: str, *, optional: bool = False
) -> tuple[Need, ...]:
    """Return a reference's need; `group` and `kind` are what is meant where it has none."""
    resource = resource_of(
        group if target.group is None else target.group,
        kind if target.kind is None else target.kind,
    )
    return named(
        edge,
        resource,
        target.namespace or namespace,
        target.name,
        key=target.section_name or "",
        optional=optional,
    )


class _ListenerTls(msgspec.Struct, rename="camel", gc=False):
    certificate_refs: tuple[_Target, ...] | None = None


class _Listener(msgspec.Struct, gc=False):
    tls: _ListenerTls | None = None


class _GatewaySpec(msgspec.Struct, rename="camel", gc=False):
    gateway_class_name: str = ""
    listeners: tuple[_Listener, ...] | None = None


class _GatewayAddress(msgspec.Struct, gc=False):
    value: str = ""


class _GatewayStatus(msgspec.Struct, gc=False):
    addresses: tuple[_GatewayAddress, ...] | None = None


class GatewayDocument(ManagedDocument, gc=False):
    """A Gateway."""

    spec: _GatewaySpec | None = None
    status: _GatewayStatus | None = None


def gateway(doc: GatewayDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts:
    """Return what a Gateway adds to its metadata: where the routes attached to it are reached.

    Without an address too: that a kind has facts tells a snapshot that it was read whole.
    """
    given = (doc.status.addresses if doc.status is not None else None) or ()
    return RouteFacts(addresses=tuple(sorted({one.value for one in given} - {""})))


def gateway_needs(
    doc: GatewayDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the class and the certificates that a Gateway names."""
    spec = doc.spec or _GatewaySpec()
    certificates = [
        need
        for listener in spec.listeners or ()
        for ref in (listener.tls.certificate_refs or () if listener.tls is not None else ())
        for need in _reference(Edge.CERTIFICATE, ref, key.namespace, "", "Secret")
    ]
    return each_once(
        [*named(Edge.CLASS, names.GATEWAY_CLASSES, "", spec.gateway_class_name), *certificates]
    )
