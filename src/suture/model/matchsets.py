"""Match sets: which API calls a webhook is asked about.

In the model because what a webhook stands in the way of is a property of its configuration, like
what a selector selects. Three-valued: what cannot be told from here may match. Pure.
Source: k8s.io/apiserver, admission/plugin/webhook: predicates `rules`, `namespace`, `object`,
and `matchconditions`, in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Protocol

import msgspec

from suture.model.names import NAMESPACES, Resource
from suture.model.objects import Webhook, WebhookRule
from suture.model.selectors import Selector

CONFIGURATION = "admissionregistration.k8s.io"
EXEMPT = frozenset(
    Resource(CONFIGURATION, plural)
    for plural in (
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)
"""SOURCE: IsExemptAdmissionConfigurationResource: never sent to webhooks, whatever their rules."""


class Match(IntEnum):
    """Whether a webhook is called. Ordered, so that of several conditions the least counts."""

    NO = 0
    MAYBE = 1
    YES = 2


class Call(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One API call, as far as match sets look at it.

    `labels` are those of the object as it would be, `old_labels` as it was: None where there is no
    such object (a create has no old one, a delete no new one). `version` empty, and
    `namespace_labels` None: not known.
    """

    operation: str
    resource: Resource
    version: str = ""
    subresource: str = ""
    namespace: str = ""
    namespace_labels: Mapping[str, str] | None = None
    labels: Mapping[str, str] | None = None
    old_labels: Mapping[str, str] | None = None


class Evaluate(Protocol):
    """Evaluates a CEL match condition; None where it cannot say."""

    def __call__(self, expression: str, call: Call, /) -> bool | None:
        """Return whether the condition holds for the call."""
        ...


def matches(hook: Webhook, call: Call, evaluate: Evaluate | None = None) -> Match:
    """Tell whether a webhook is asked about a call."""
    if call.resource in EXEMPT:
        return Match.NO
    rules = max((_rule(rule, call, exact=hook.exact) for rule in hook.rules), default=Match.NO)
    found = min(rules, _namespace(hook.namespace_selector, call), _object(hook, call))
    if found is Match.NO:
        return found
    return min(found, _conditions(hook, call, evaluate))


def _rule(rule: WebhookRule, call: Call, *, exact: bool) -> Match:
    if not (
        _listed(rule.operations, call.operation)
        and _listed(rule.groups, call.resource.group)
        and _resources(rule.resources, call)
        and _scope(rule.scope, call)
    ):
        return Match.NO
    if "*" in rule.versions or call.version in rule.versions:
        return Match.YES
    if not call.version:
        return Match.MAYBE if exact else Match.YES
    # SOURCE: matchPolicy Equivalent, the default: a call in another version of the same type is
    # converted and matched, if the version in the rule is served. Which ones are is not known here.
    return Match.NO if exact else Match.MAYBE


def _listed(wanted: Iterable[str], given: str) -> bool:
    return any(one in ("*", given) for one in wanted)


def _resources(wanted: Iterable[str], call: Call) -> bool:
    """Whether a rule names a resource and subresource; `pods/*` is the pods themselves as well."""
    for one in wanted:
        plural, _, subresource = one.partition("/")
        if plural in ("*", call.resource.plural) and subresource in ("*", call.subresource):
            return True
    return False


def _scope(scope: str, call: Call) -> bool:
    # A Namespace is cluster-scoped, though calls for it carry its name as their namespace.
    namespaced = bool(call.namespace) and call.resource != NAMESPACES
    return scope == "*" or (scope == "Namespaced") is namespaced


def _namespace(selector: Selector, call: Call) -> Match:
    if selector.everything:
        return Match.YES
    if call.resource == NAMESPACES:
        # WHY its own: the labels that a Namespace is to have decide, before it has them.
        labels = call.labels if call.labels is not None else call.old_labels
    elif not call.namespace:
        # SOURCE: calls for cluster-scoped objects are never exempt by a namespaceSelector.
        return Match.YES
    else:
        labels = call.namespace_labels
    if labels is None:
        return Match.MAYBE
    return Match.YES if selector.matches(labels) else Match.NO


def _object(hook: Webhook, call: Call) -> Match:
    """Whether the object as it was or as it would be is selected; one that is absent is not."""
    selector = hook.object_selector
    if selector.everything:
        return Match.YES
    states = [one for one in (call.labels, call.old_labels) if one is not None]
    return Match.YES if any(map(selector.matches, states)) else Match.NO


def _conditions(hook: Webhook, call: Call, evaluate: Evaluate | None) -> Match:
    """All conditions must hold: one that does not decides, whatever the others may be."""
    found = Match.YES
    for condition in hook.conditions:
        holds = None if evaluate is None else evaluate(condition.expression, call)
        if holds is False:
            return Match.NO
        if holds is None:
            found = Match.MAYBE
    return found
