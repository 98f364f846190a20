"""Webhooks, APIServices and conversions that would lose the last backend that they have.

The second wave of many outages: the Service behind a fail-closed webhook goes, and from then on
the API calls that it matches fail, among them the creation of the very pods that would serve it.
Source: admissionregistration/v1 rules and selectors; the API server's dispatcher (a call that
cannot be made fails the request under `Fail`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from suture.impact.admission.apipaths import Broken, Use
from suture.impact.admission.followed import is_followed
from suture.impact.effects import (
    AdmissionPathBroken,
    Confidence,
    EndpointsLost,
    ServiceEmptied,
    Victim,
)
from suture.impact.ground.bars import Bars, creation, on_pods
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.uninstalled import goes_along
from suture.impact.scene import Scene, named
from suture.impact.traffic.serving import ServingEffect
from suture.model.graph import GraphView
from suture.model.matchsets import Match, matches
from suture.model.names import (
    API_SERVICES,
    CRDS,
    NAMESPACES,
    SERVICES,
    WEBHOOKS,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ApiServiceFacts,
    ClusterObject,
    CrdFacts,
    Facts,
    ServiceFacts,
    ServiceRef,
    Webhook,
    WebhookFacts,
    WebhookRule,
)
from suture.model.selectors import Operator

CALLING: Final = frozenset({*WEBHOOKS, API_SERVICES, CRDS})
"""What makes the API server call a Service."""

NAMESPACES_ASKED: Final = 1024
"""LIMIT: namespaces of which it is told whether pods can still be created there: 10 us each; a
cluster of more is told that it is many."""


def admission_effects(scene: Scene, serving: Iterable[ServingEffect]) -> list[Broken]:
    """Return the API paths that break when Services go or are emptied as `serving` says."""
    broken: list[Broken] = []
    for effect in serving:
        if isinstance(effect, ServiceEmptied) or (effect.removed and effect.before > 0):
            broken.extend(_paths(scene, effect))
    return broken


def bars(scene: Scene, broken: Iterable[Broken]) -> Callable[[int], bool] | None:
    """Return what tells whether a pod could not be created anew, for paths that stay broken.

    None where no such path is in the way of any pod. What only may be in the way is not.
    """
    hooks = [one.hook for one in broken if one.hook is not None and one.stays]
    if not hooks:
        return None
    return Bars(scene.view, scene.removed, scene.evaluate, hooks).barred


def _paths(scene: Scene, effect: ServingEffect) -> Iterable[Broken]:
    """Yield the paths by which a Service that goes, or is emptied, was called."""
    row = scene.row_of(effect.service)
    if row is None:
        return
    for referrer, uses in calling(scene, row):
        # WHY no definition: releases leave them behind.
        if scene.view.resource(referrer) != CRDS and (
            goes_along(scene, referrer) or is_followed(scene, referrer)
        ):
            continue
        for use in uses:
            if not _is_called_by_nobody(scene, use):
                path = broken_path(
                    scene, use, row, source=scene.victim(referrer), service=effect.service,
                    before=effect.before, healing=effect.self_healing,
                    removed=isinstance(effect, EndpointsLost),
                )  # fmt: skip
                yield Broken(path, use.hook)


def calling(scene: Scene, row: int) -> Iterator[tuple[int, list[Use]]]:
    """Yield what stays and has the API server call a Service, each with the ways that it does."""
    view, key = scene.view, scene.view.key(row)
    ref = ServiceRef(key.namespace, key.name)
    for referrer in view.referrers(row):
        # WHY by type: most who name a Service are routes, and to read them costs more.
        if referrer in scene.removed or view.resource(referrer) not in CALLING:
            continue
        source = view.at(referrer)
        uses = [use for use in uses_of(source) if use.service == ref]
        if uses and not _in_vain(view, source):
            yield referrer, uses


def standing(
    scene: Scene, row: int, referrer: int, uses: Iterable[Use]
) -> Iterator[AdmissionPathBroken]:
    """Yield the paths by which a Service, which stays, would be called in vain."""
    before, service = scene.view.serving_count(row), scene.victim(row)
    for use in uses:
        if not _is_called_by_nobody(scene, use):
            source = scene.victim(referrer)
            yield broken_path(scene, use, row, source=source, service=service, before=before)


def broken_path(
    scene: Scene,
    use: Use,
    row: int | None,
    *,
    source: Victim,
    before: int,
    service: Victim | None = None,
    healing: bool = False,
    removed: bool = False,
    led: bool = False,
    calls: str = "",
) -> AdmissionPathBroken:
    """Return a path whose calls fail; `row`: the Service whose next pods may be in its way."""
    hook = use.hook if use.fail_closed else None
    namespaces, count = _blocked_by(scene, hook)
    ref = use.service
    return AdmissionPathBroken(
        source=source,
        path=use.path,
        service=service or named(ObjectKey(SERVICES, ref.namespace, ref.name)),
        fail_closed=use.fail_closed,
        self_healing=healing,
        service_removed=removed,
        blocks_recovery=hook is not None and row is not None and _blocks_itself(scene, hook, row),
        calls=calls or use.calls,
        before=before,
        led=led,
        namespaces=namespaces,
        namespaces_count=count,
        confidence=Confidence.EXACT if use.sure else Confidence.BOUNDED,
    )


def uses_of(source: ClusterObject) -> Iterable[Use]:
    """Yield the ways into the API for which an object names a Service."""
    facts = source.facts
    if isinstance(facts, WebhookFacts):
        for hook in facts.webhooks:
            if hook.service is not None:
                yield Use(
                    hook.name, hook.service, hook.fail_closed, calls_of(hook), hook,
                    sure=not hook.conditional, port=hook.port,
                )  # fmt: skip
    elif isinstance(facts, ApiServiceFacts) and facts.service is not None:
        calls = f"every call to {facts.group}/{facts.version}"
        yield Use(source.key.name, facts.service, fail_closed=True, calls=calls, port=facts.port)
    elif isinstance(facts, CrdFacts) and facts.conversion is not None:
        calls = f"conversion of {facts.resource}"
        port = facts.conversion_port
        yield Use(source.key.name, facts.conversion, fail_closed=True, calls=calls, port=port)


def _in_vain(view: GraphView, source: ClusterObject) -> bool:
    """Whether an object is a definition of which nothing is there that could be converted."""
    facts = source.facts
    return isinstance(facts, CrdFacts) and not view.count(facts.resource)


def _blocked_by(scene: Scene, hook: Webhook | None) -> tuple[tuple[str, ...], int]:
    """Return some of the namespaces in which a webhook's failure stops new pods, and how many."""
    if hook is None or not on_pods(hook):
        return (), 0
    view = scene.view
    spaces = view.rows(NAMESPACES)
    if len(spaces) > NAMESPACES_ASKED:
        return (), -1
    names = [view.name(row) for row in spaces if row not in scene.removed]
    # WHY the selector's own labels: a pod that it is about, in each namespace.
    labels = {
        one.key: one.values[0]
        for one in hook.object_selector.requirements
        if one.operator is Operator.IN
    }
    found = [
        name
        for name in names
        if matches(hook, creation(view, name, labels), scene.evaluate) is not Match.NO
    ]
    return tuple(found[: scene.limit]), len(found)


def _is_called_by_nobody(scene: Scene, use: Use) -> bool:
    """Whether a webhook on pods alone is not called, no namespace being as its selector asks.

    Or one on custom types alone, of which no object is there: they go before what keeps them.
    """
    view, hook = scene.view, use.hook
    if hook is None or not use.fail_closed:
        return False
    if _is_about_nothing(view, hook):
        return True
    spaces = view.rows(NAMESPACES)
    of_pods = all(rule.resources == ("pods",) and rule.groups == ("",) for rule in hook.rules)
    if not (hook.rules and of_pods and spaces) or len(spaces) > NAMESPACES_ASKED:
        return False
    asked = hook.namespace_selector
    return not any(asked.matches(view.labels(row)) for row in spaces if row not in scene.removed)


def _is_about_nothing(view: GraphView, hook: Webhook) -> bool:
    groups = {group for rule in hook.rules for group in rule.groups}
    if not groups or not all(is_custom(Resource(group, "")) for group in groups):
        return False
    if not (view.listed(CRDS) and view.listed(API_SERVICES)):
        return False
    return not any(
        _keeps_any(view, view.facts(row), groups)
        for kind in (CRDS, API_SERVICES)
        for row in view.rows(kind)
    )


def _keeps_any(view: GraphView, facts: Facts | None, groups: Collection[str]) -> bool:
    """Whether there is, or may be, an object of some groups of which a definition tells.

    What an APIService with a backend serves is kept elsewhere, and nobody counts it.
    """
    if isinstance(facts, ApiServiceFacts):
        return facts.group in groups and facts.service is not None
    if not isinstance(facts, CrdFacts) or facts.resource.group not in groups:
        return False
    return view.count(facts.resource) > 0 or not view.listed(facts.resource)


def calls_of(hook: Webhook) -> str:
    """Say in words which API calls a webhook stands in, shortest useful form."""
    parts = sorted({_words(rule) for rule in hook.rules})
    return "; ".join(parts) or "no call"


def _words(rule: WebhookRule) -> str:
    operations = "every write" if "*" in rule.operations else "/".join(rule.operations)
    if {"*", "*/*"}.isdisjoint(rule.resources):
        return f"{operations} of {','.join(rule.resources)}"
    if "*" in rule.groups:
        return f"{operations} of everything"
    return f"{operations} of everything in {','.join(group or 'core' for group in rule.groups)}"


def _blocks_itself(scene: Scene, hook: Webhook, service_row: int) -> bool:
    """Whether a webhook would stand in the way of a new pod behind its own Service."""
    view = scene.view
    service = view.at(service_row)
    facts = service.facts
    if not isinstance(facts, ServiceFacts) or facts.selector is None:
        return False
    namespace = service.key.namespace
    kinds = view.classes_selected(service_row)
    pod = view.one_alike(kinds[0]) if kinds else -1
    call = creation(view, namespace, view.labels(pod) if pod >= 0 else {})
    return matches(hook, call, scene.evaluate) is not Match.NO
