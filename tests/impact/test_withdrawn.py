"""Aggregated APIs that are withdrawn while autoscalers go by what is read from them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, namespace, service, thing, view_of, workload
from suture.impact.effects import AdmissionPathBroken
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.names import API_SERVICES, AUTOSCALERS, DEPLOYMENTS, ObjectKey
from suture.model.objects import ApiServiceFacts, ClusterObject, ServiceRef

LIVE, EMPTY = ServiceRef("prod", "web"), ServiceRef("prod", "empty")
WORLD = [namespace("prod"), *workload("web", replicas=2), service("web"), service("empty")]
METRICS = "custom.metrics.k8s.io"


def api(
    backend: ServiceRef | None = LIVE, group: str = METRICS, version: str = "v1"
) -> ClusterObject:
    facts = ApiServiceFacts(group, version, backend)
    return thing(API_SERVICES, f"{version}.{group}", facts=facts)


def scaler(*reads: str, target: str = "web", deleted: float = 0.0) -> ClusterObject:
    one = thing(AUTOSCALERS, "web", "prod", facts=AutoscalerFacts(1, 9, reads=reads))
    need = Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", target))
    return replace(one, needs=(need,), deleted=deleted)


def broken(one: ClusterObject, *others: ClusterObject) -> list[AdmissionPathBroken]:
    return effects(impact_of(delete(one), view_of(WORLD, one, others)), AdmissionPathBroken)


def test_an_api_by_which_autoscalers_go_is_a_path_that_breaks() -> None:
    """It answers now; without it no autoscaler reads what it goes by."""
    (found,) = broken(api(), scaler(METRICS))

    assert (found.fail_closed, found.led, found.before) == (True, False, 2)
    assert "1 autoscalers" in found.calls


@pytest.mark.parametrize(
    ("one", "others"),
    [
        pytest.param(api(), (), id="no-autoscaler"),
        pytest.param(api(), (scaler("metrics.k8s.io"),), id="another-api"),
        pytest.param(api(), (scaler(METRICS, deleted=1.0),), id="going"),
        pytest.param(api(), (scaler(METRICS, target="gone"),), id="nothing-to-scale"),
        pytest.param(api(EMPTY), (scaler(METRICS),), id="answered-by-nobody"),
        pytest.param(api(), (scaler(METRICS), api(version="v2")), id="another-version"),
    ],
)
def test_what_nobody_goes_by_or_nobody_answers_may_be_withdrawn(
    one: ClusterObject, others: tuple[ClusterObject, ...]
) -> None:
    """Without readers, without a backend, or with another version that is answered for."""
    assert broken(one, *others) == []


def test_another_version_that_nobody_answers_for_is_none() -> None:
    """The group would be served by nobody."""
    assert len(broken(api(), scaler(METRICS), api(EMPTY, version="v2"))) == 1
