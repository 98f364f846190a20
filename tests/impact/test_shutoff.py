"""Network policies that shut the API server off from the backends of what it calls."""

from __future__ import annotations

from typing import Any

import pytest

from support.asking import effects, impact_of, update
from support.cluster import delete, namespace, service, view_of, webhook, workload
from support.writes import Body, body, trimmed
from suture.impact.effects import AdmissionPathBroken
from suture.model.names import NETWORK_POLICIES
from suture.model.objects import ClusterObject, ServiceRef

HOOK = webhook("guard", ServiceRef("guard", "hook"))
WORLD: list[ClusterObject | list[ClusterObject]] = [
    namespace("kube-system"), namespace("guard"), namespace("shop"),
    workload("hook", "guard", replicas=2), service("hook", "guard"), HOOK,
    workload("other", "guard"), service("other", "guard"),
]  # fmt: skip
SYSTEM: Body = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}
}


def policy(
    *ingress: Body, name: str = "deny", selects: Body | None = None, egress: bool = False
) -> ClusterObject:
    spec: dict[str, Any] = {
        "podSelector": selects or {},
        "policyTypes": ["Egress" if egress else "Ingress"],
        "ingress": list(ingress),
    }
    version = "networking.k8s.io/v1"
    made = body("NetworkPolicy", name, "guard", apiVersion=version, spec=spec)
    return trimmed(NETWORK_POLICIES, made)


def broken(made: ClusterObject, *there: ClusterObject) -> list[AdmissionPathBroken]:
    return effects(impact_of(update(None, made), view_of(*WORLD, there)), AdmissionPathBroken)


@pytest.mark.parametrize(
    "ingress",
    [
        pytest.param((), id="nobody"),
        pytest.param(({"from": [{"podSelector": {}}]},), id="own-namespace"),
        pytest.param(
            ({"from": [{"namespaceSelector": {"matchLabels": {"team": "watching"}}}]},),
            id="another-namespace",
        ),
    ],
)
def test_a_policy_that_lets_pods_alone_in_shuts_the_api_server_off(
    ingress: tuple[Body, ...],
) -> None:
    """The API server is no pod: the calls time out, and new pods are refused for it."""
    (found,) = broken(policy(*ingress))

    assert found.service.name == "hook"
    assert (found.fail_closed, found.led, found.before, found.service_removed) == (
        True, False, 2, False,
    )  # fmt: skip
    assert found.blocks_recovery
    assert found.namespaces_count == 3


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(policy({}), id="everybody"),
        pytest.param(policy({"ports": [{"port": 9443}]}), id="everybody-at-a-port"),
        pytest.param(policy({"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}), id="addresses"),
        pytest.param(policy({"from": [SYSTEM]}), id="what-passes-calls-on"),
        pytest.param(policy({"from": [{"namespaceSelector": {}}]}), id="every-namespace"),
        pytest.param(policy(egress=True), id="the-other-direction"),
        pytest.param(policy(selects={"matchLabels": {"app": "other"}}), id="others"),
    ],
)
def test_a_policy_that_lets_the_api_server_in_breaks_nothing(made: ClusterObject) -> None:
    assert broken(made) == []


def test_what_another_policy_lets_in_stays_open() -> None:
    """And is shut by the write that takes this one away."""
    deny, allow = policy(), policy({"ports": [{"port": 9443}]}, name="allow")

    assert broken(deny, allow) == []
    found = effects(impact_of(delete(allow), view_of(*WORLD, deny, allow)), AdmissionPathBroken)
    assert [one.service.name for one in found] == ["hook"]


def test_what_was_shut_before_is_not_told_again() -> None:
    assert broken(policy(name="second"), policy(name="first")) == []
