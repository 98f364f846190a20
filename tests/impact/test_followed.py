"""Webhook configurations that get another name, and the Service of the former that goes first."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import (
    START,
    delete,
    graph_of,
    namespace,
    operator,
    service,
    thing,
    workload,
)
from suture.impact.effects import AdmissionPathBroken
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import SECRETS, VALIDATING_WEBHOOKS, ObjectKey
from suture.model.objects import (
    ClusterObject,
    ServiceRef,
    Webhook,
    WebhookFacts,
    WebhookRule,
)

NOW = START.plus_s(3600 * 48)
HELM = operator("system:serviceaccount:flux:helm")
OTHER = operator("system:serviceaccount:ci:deployer")
JOBS, SHOP = ObjectKey(RELEASES, "prod", "jobs"), ObjectKey(RELEASES, "prod", "shop")
OWN = WebhookRule(("CREATE", "UPDATE"), ("batch.example.com",), ("v1",), ("trainings",))
CREATED = replace(OWN, operations=("CREATE",))
PODS_TOO = WebhookRule(("CREATE",), ("",), ("v1",), ("pods",))
FORMER = service("web")


def hooked(
    name: str,
    backend: str,
    *rules: WebhookRule,
    of: ObjectKey | None = JOBS,
    ago_s: float = 60,
) -> ClusterObject:
    hook = Webhook(
        f"{name}.example.com", fail_closed=True, service=ServiceRef("prod", backend), rules=rules
    )
    needs = (Need(Edge.MANAGED_BY, of),) if of is not None else ()
    made = thing(VALIDATING_WEBHOOKS, name, facts=WebhookFacts((hook,)))
    return replace(made, needs=needs, created=NOW.utc_s - ago_s)


def broken(*hooks: ClusterObject, by: Actor = HELM) -> int:
    """Count the paths that break as the former Service goes, whose pods the next one reaches."""
    labels = {"owner": "helm", "name": "jobs", "status": "pending-upgrade"}
    record = thing(SECRETS, "sh.helm.release.v1.jobs.v2", "prod", labels=labels)
    next_one = replace(service("web"), key=ObjectKey(FORMER.key.resource, "prod", "next"), uid="n")
    empty = service("empty")
    space, pods = namespace("prod"), workload("web", replicas=2)
    view = GraphView(graph_of(space, pods, FORMER, next_one, empty, record, hooks), History())
    view.history.habits.note(update(None, record, by=HELM))
    return len(effects(impact_of(delete(FORMER, by=by), view, now=NOW, by=by), AdmissionPathBroken))


OLD = hooked("old", "web", OWN, ago_s=90_000)


def test_the_service_of_a_webhook_goes_a_moment_before_it_once_the_next_answers() -> None:
    """The upgrade of a release renames both; the former configuration is deleted next."""
    assert broken(OLD, hooked("next", "next", OWN, CREATED)) == 0


@pytest.mark.parametrize(
    ("hooks", "by"),
    [
        pytest.param([OLD], HELM, id="no-next"),
        pytest.param([OLD, hooked("next", "next", OWN)], OTHER, id="by-another"),
        pytest.param([OLD, hooked("next", "next", OWN, of=SHOP)], HELM, id="of-another-release"),
        pytest.param([OLD, hooked("next", "empty", OWN)], HELM, id="answered-by-nobody"),
        pytest.param([OLD, hooked("next", "next", CREATED)], HELM, id="asks-less"),
        pytest.param([OLD, hooked("next", "next", OWN, ago_s=9_000)], HELM, id="there-for-long"),
        pytest.param([OLD, hooked("next", "next", OWN, ago_s=99_000)], HELM, id="older"),
        pytest.param(
            [hooked("old", "web", OWN, of=None), hooked("next", "next", OWN)], HELM,
            id="made-by-the-engine-itself",
        ),
        pytest.param(
            [
                hooked("old", "web", PODS_TOO, ago_s=90_000),
                hooked("next", "next", PODS_TOO),
            ],
            HELM,
            id="in-the-way-of-pods",
        ),
    ],
)  # fmt: skip
def test_a_path_that_nothing_follows_is_broken(hooks: list[ClusterObject], by: Actor) -> None:
    """The incident: what is called by the configuration that stays has no backend any more."""
    assert broken(*hooks, by=by) == 1
