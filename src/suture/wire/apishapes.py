"""Projections of what the API itself stands on: definitions, webhooks, policies, APIServices.

One of several, as a kind's neighbours change together. Pure.
Source: apiextensions/v1, admissionregistration/v1, apiregistration/v1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from suture.model.edges import Edge, Need
from suture.model.names import SERVICES, ObjectKey, Resource
from suture.model.objects import (
    HTTPS,
    WEBHOOK_WAITS_S,
    ApiServiceFacts,
    CrdFacts,
    Facts,
    MatchCondition,
    Webhook,
    WebhookFacts,
    WebhookRule,
)
from suture.model.rules import Family, ReferenceRule
from suture.model.selectors import Selector
from suture.wire.schemas import rules_of_scale, rules_of_schema
from suture.wire.shapes import (
    ABSENT,
    Conditions,
    Count,
    LabelSelector,
    ManagedDocument,
    ServiceTarget,
    each_once,
    holds,
    named,
    reference,
    selector_of,
)


class _Called(ServiceTarget, gc=False):
    """A Service that the API server calls."""

    port: Count | None = None


def _port(found: _Called | None) -> int:
    """Return the port at which a Service is called; the usual one where none is named."""
    return HTTPS if found is None or found.port is None else found.port


class _ClientConfig(msgspec.Struct, gc=False):
    service: _Called | None = None


class _Conversion(msgspec.Struct, rename="camel", gc=False):
    client_config: _ClientConfig | None = None


class _ConversionSpec(msgspec.Struct, gc=False):
    strategy: str = "None"
    webhook: _Conversion | None = None


class _CrdNames(msgspec.Struct, rename="camel", gc=False):
    plural: str = ""
    kind: str = ""
    short_names: tuple[str, ...] | None = None


class _CrdVersion(msgspec.Struct, gc=False):
    name: str = ""
    served: bool = False
    # WHY raw: a schema of odd shape tells nothing, and hides nothing of its definition.
    schema: msgspec.Raw = ABSENT
    subresources: msgspec.Raw = ABSENT


class _CrdSpec(msgspec.Struct, gc=False):
    group: str = ""
    names: _CrdNames = msgspec.field(default_factory=_CrdNames)
    scope: str = "Namespaced"
    versions: tuple[_CrdVersion, ...] | None = None
    conversion: _ConversionSpec | None = None


class _CrdStatus(msgspec.Struct, rename="camel", gc=False):
    stored_versions: tuple[str, ...] | None = None
    conditions: Conditions = None


class CrdDocument(ManagedDocument, gc=False):
    """A CustomResourceDefinition."""

    spec: _CrdSpec | None = None
    status: _CrdStatus | None = None


def definition(doc: CrdDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a CustomResourceDefinition adds to its metadata."""
    spec, status = doc.spec, doc.status or _CrdStatus()
    if spec is None:
        return None
    served = [version for version in spec.versions or () if version.served]
    resource = Resource(spec.group, spec.names.plural)
    return CrdFacts(
        resource,
        spec.names.kind,
        spec.scope == "Namespaced",
        reference(_converter(doc)),
        status.stored_versions or (),
        tuple(version.name for version in served),
        holds(status.conditions, "Established"),
        _rules(resource, served),
        _port(_converter(doc)),
        spec.names.short_names or (),
    )


def definition_needs(
    doc: CrdDocument, _key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the Service that converts the instances of a definition."""
    return _service(Edge.CONVERSION, _converter(doc))


def _converter(doc: CrdDocument) -> _Called | None:
    conversion = doc.spec.conversion if doc.spec is not None else None
    # WHY the strategy too: a webhook may be written down and not be in use.
    if conversion is None or conversion.strategy != "Webhook" or conversion.webhook is None:
        return None
    config = conversion.webhook.client_config
    return config.service if config is not None else None


def _rules(resource: Resource, served: list[_CrdVersion]) -> tuple[ReferenceRule, ...]:
    """Return what the schemas of all served versions tell, each rule once.

    WHY all: an instance is read in the version that somebody asked for; a field that this
    version does not have is absent, and says nothing.
    """
    # WHY not the name alone: of one field, as `spec`, several things may be told.
    found: dict[tuple[str, type], ReferenceRule] = {}
    for version in served:
        scale = rules_of_scale(resource, version.subresources)
        counted = any(_counts(rule) for rule in scale)
        for rule in (*scale, *rules_of_schema(resource, version.schema)):
            # WHY first: where a scale says which field counts, no other does.
            if rule in scale or not (counted and _counts(rule)):
                found.setdefault((rule.name, type(rule.says)), rule)
    return tuple(found.values())


def _counts(rule: ReferenceRule) -> bool:
    return isinstance(rule.says, Family) and (rule.says.wanted is not None or bool(rule.says.pools))


class _Rule(msgspec.Struct, rename="camel", gc=False):
    operations: tuple[str, ...] | None = None
    api_groups: tuple[str, ...] | None = None
    api_versions: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None
    scope: str = "*"


class _Condition(msgspec.Struct, gc=False):
    name: str = ""
    expression: str = ""


class _Webhook(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    failure_policy: str = "Fail"
    client_config: _ClientConfig | None = None
    rules: tuple[_Rule, ...] | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_conditions: tuple[_Condition, ...] | None = None
    match_policy: str = "Equivalent"
    timeout_seconds: Count | None = None


class WebhookDocument(ManagedDocument, gc=False):
    """A validating or a mutating webhook configuration."""

    webhooks: tuple[_Webhook, ...] | None = None


def webhooks(doc: WebhookDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a webhook configuration adds to its metadata."""
    return WebhookFacts(tuple(_webhook(found) for found in doc.webhooks or ()))


def webhook_needs(
    doc: WebhookDocument, _key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the Services behind a configuration; one that fails open can do without its."""
    return each_once(
        need
        for hook in doc.webhooks or ()
        if hook.client_config is not None
        for need in _service(
            Edge.WEBHOOK, hook.client_config.service, optional=hook.failure_policy == "Ignore"
        )
    )


def _service(edge: Edge, found: _Called | None, *, optional: bool = False) -> tuple[Need, ...]:
    if found is None:
        return ()
    return named(edge, SERVICES, found.namespace, found.name, optional=optional)


def _webhook(found: _Webhook) -> Webhook:
    return Webhook(
        found.name,
        # WHY not `== "Fail"`: a policy that this version does not know must not look harmless.
        found.failure_policy != "Ignore",
        reference(found.client_config.service) if found.client_config else None,
        tuple(
            WebhookRule(
                rule.operations or (),
                rule.api_groups or (),
                rule.api_versions or (),
                rule.resources or (),
                rule.scope,
            )
            for rule in found.rules or ()
        ),
        selector_of(found.namespace_selector) or Selector(),
        selector_of(found.object_selector) or Selector(),
        tuple(MatchCondition(one.name, one.expression) for one in found.match_conditions or ()),
        exact=found.match_policy == "Exact",
        port=_port(found.client_config.service if found.client_config else None),
        waits_s=WEBHOOK_WAITS_S if found.timeout_seconds is None else found.timeout_seconds,
    )


class _ApiServiceSpec(msgspec.Struct, gc=False):
    group: str = ""
    version: str = ""
    service: _Called | None = None


class ApiServiceDocument(ManagedDocument, gc=False):
    """An APIService."""

    spec: _ApiServiceSpec | None = None


def api_service(
    doc: ApiServiceDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what an APIService adds to its metadata."""
    spec = doc.spec or _ApiServiceSpec()
    return ApiServiceFacts(spec.group, spec.version, reference(spec.service), _port(spec.service))


def api_service_needs(
    doc: ApiServiceDocument, _key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the Service that answers for an APIService; none where the API server does itself."""
    return _service(Edge.API_SERVICE, doc.spec.service if doc.spec is not None else None)
