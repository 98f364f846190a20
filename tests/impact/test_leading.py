"""Paths into the API that a write leads to a Service that cannot answer, and those that may go."""

from __future__ import annotations

import msgspec

from support.asking import effects, impact_of, update
from support.cluster import (
    BALANCERS,
    START,
    crd,
    delete,
    graph_of,
    namespace,
    operator,
    service,
    thing,
    view_of,
    webhook,
    workload,
)
from suture.impact.effects import AdmissionPathBroken
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import API_SERVICES
from suture.model.objects import (
    ApiServiceFacts,
    ClusterObject,
    CrdFacts,
    ServiceFacts,
    ServiceRef,
    WebhookFacts,
)

LIVE, OTHER = ServiceRef("prod", "web"), ServiceRef("prod", "other")
EMPTY, MISSING = ServiceRef("prod", "empty"), ServiceRef("prod", "missing")
WORLD = [
    namespace("prod"), *workload("web", replicas=2), service("web"), service("other", app="web"),
    service("empty"),
]  # fmt: skip


def api(backend: ServiceRef | None, name: str = "v1.metrics.k8s.io") -> ClusterObject:
    return thing(API_SERVICES, name, facts=ApiServiceFacts("metrics.k8s.io", "v1", backend))


def converted(backend: ServiceRef | None, *versions: str) -> ClusterObject:
    one = crd(conversion=backend)
    assert isinstance(one.facts, CrdFacts)
    facts = msgspec.structs.replace(one.facts, served_versions=versions)
    return msgspec.structs.replace(one, facts=facts)


def led(
    before: ClusterObject | None, after: ClusterObject, *more: ClusterObject
) -> list[AdmissionPathBroken]:
    there = [] if before is None else [before]
    view: GraphView = view_of(WORLD, there, more)
    return effects(impact_of(update(before, after), view), AdmissionPathBroken)


def test_a_webhook_is_led_to_a_service_that_cannot_answer() -> None:
    """One that is not there, and one without endpoints; another that answers breaks nothing."""
    (missing,) = led(webhook("h", LIVE), webhook("h", MISSING))
    (empty,) = led(webhook("h", LIVE), webhook("h", EMPTY))

    assert (missing.led, missing.fail_closed, missing.before) == (True, True, 2)
    assert (missing.service_removed, empty.service_removed) == (True, False)
    assert missing.namespaces == ("prod",)
    assert led(webhook("h", LIVE), webhook("h", OTHER)) == []


def test_what_did_not_work_before_is_not_broken() -> None:
    """A new configuration, one led nowhere already, and one that fails open is told as such."""
    assert led(None, webhook("h", MISSING)) == []
    assert led(webhook("h", EMPTY), webhook("h", MISSING)) == []
    assert led(webhook("h", MISSING, fail_closed=False), webhook("h", MISSING)) == []
    (found,) = led(webhook("h", LIVE, fail_closed=False), webhook("h", MISSING, fail_closed=False))
    assert not found.fail_closed


def test_an_api_is_led_away_from_who_answers() -> None:
    """From a Service, and from the API server itself; a name outside the cluster is no loss."""
    named = thing(
        service("dns").key.resource, "dns", "prod", facts=ServiceFacts(None, "ExternalName")
    )

    (served,) = led(api(LIVE), api(MISSING))
    (local,) = led(api(None), api(MISSING))

    assert (served.before, local.before) == (2, -1)
    assert led(api(LIVE), api(None)) == []
    assert led(api(LIVE), api(ServiceRef("prod", "dns")), named) == []
    assert led(None, api(MISSING)) == []


def test_a_conversion_needs_something_to_convert() -> None:
    """Instances, and more than one version of them."""
    one = thing(BALANCERS, "front", "prod")

    (lost,) = led(converted(LIVE, "v1", "v2"), converted(MISSING, "v1", "v2"), one)
    (new,) = led(converted(None, "v1", "v2"), converted(MISSING, "v1", "v2"), one)

    assert (lost.before, new.before) == (2, -1)
    assert led(converted(LIVE, "v1", "v2"), converted(MISSING, "v1", "v2")) == []
    assert led(converted(LIVE, "v1"), converted(MISSING, "v1"), one) == []


def test_a_conversion_by_a_namespace_that_is_not_there() -> None:
    """No install puts a backend there later: that is not as if it were still to come."""
    one = thing(BALANCERS, "front", "prod")
    nowhere = ServiceRef("elsewhere", "webhook")
    (lost,) = led(converted(None, "v1", "v2"), converted(nowhere, "v1", "v2"), one)
    (later,) = led(
        converted(None, "v1", "v2"), converted(nowhere, "v1", "v2"), one, namespace("elsewhere")
    )
    assert (lost.before, later.before) == (0, -1)


def at_ports(*ports: str) -> ClusterObject:
    one = service("web")
    assert isinstance(one.facts, ServiceFacts)
    return msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, ports=ports))


def at_port(of: ClusterObject, port: int) -> ClusterObject:
    """Make the same webhook configuration, that calls another port."""
    assert isinstance(of.facts, WebhookFacts)
    (hook,) = of.facts.webhooks
    facts = WebhookFacts((msgspec.structs.replace(hook, port=port),))
    return msgspec.structs.replace(of, facts=facts)


def closed(
    after: tuple[str, ...], *paths: ClusterObject, ready: int = 2, made: bool = False
) -> list[AdmissionPathBroken]:
    """Leave a Service that has two ports with some of them."""
    before, me = at_ports("443/TCP", "9443/TCP"), operator().user.username
    graph = graph_of(namespace("prod"), workload("web", replicas=2, ready=ready), before, paths)
    history = History()
    for one in (before, *paths) if made else ():
        history.note_created(one.uid, me, me, one.key, START)
    request = update(before, at_ports(*after))
    return effects(impact_of(request, GraphView(graph, history)), AdmissionPathBroken)


def test_a_service_has_the_port_no_more_at_which_it_is_called() -> None:
    """By a webhook, an APIService or a conversion, at 443 or at the port that they name."""
    paths = [webhook("h", LIVE), api(LIVE), converted(LIVE, "v1", "v2")]

    broken = closed(("9443/TCP",), *paths, thing(BALANCERS, "front", "prod"))

    assert {one.source.name for one in broken} == {one.key.name for one in paths}
    assert all(one.fail_closed and not one.service_removed for one in broken)
    assert [one.before for one in broken] == [2, 2, 2]
    assert len(closed(("443/TCP",), at_port(webhook("h", LIVE), 9443))) == 1


def test_who_converts_what_is_not_there_may_go_or_close_its_port() -> None:
    """A release is uninstalled whose definitions stay: with instances they could not be read."""
    paths, one = (
        [webhook("h", LIVE), converted(LIVE, "v1", "v2")],
        thing(BALANCERS, "front", "prod"),
    )

    def without(*more: ClusterObject) -> list[str]:
        found = effects(
            impact_of(delete(service("web")), view_of(WORLD, paths, more)), AdmissionPathBroken
        )
        return [broken.source.name for broken in found]

    assert sorted(without(one)) == sorted(path.key.name for path in paths)
    assert without() == ["h"]
    assert closed(("9443/TCP",), paths[1]) == []


def test_a_port_that_may_be_closed() -> None:
    """One that nobody calls, one where nobody answers, and one that its own hand moves."""
    hook = webhook("h", LIVE)

    assert closed(("443/TCP",), hook) == []
    assert closed(("443/TCP", "80/TCP"), hook) == []
    assert closed(("9443/TCP",), at_port(hook, 9443)) == []
    assert closed(("9443/TCP",), webhook("h", OTHER)) == []
    assert closed(("9443/TCP",), hook, ready=0) == []
    assert closed(("9443/TCP",), hook, made=True) == []
