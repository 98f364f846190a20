"""Claims that say that they are deleted before they are made again, and who was given them."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import delete, thing, view_of, workload
from suture.impact.effects import DataLost
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.names import CLAIMS, CRON_JOBS, DEPLOYMENTS, JOBS, PODS, VOLUMES, Resource
from suture.model.objects import ClaimFacts, ClusterObject, PodFacts, WorkloadFacts

HOOK = {"helm.sh/hook": "pre-upgrade", "helm.sh/hook-delete-policy": "before-hook-creation"}
CLAIM = thing(CLAIMS, "scratch", "prod", facts=ClaimFacts(bound=True, volume="pv"))
VOLUME = thing(VOLUMES, "pv", "", facts=VolumeFacts("Delete", "Bound"))
NEEDS = (Need(Edge.CLAIM, CLAIM.key),)


def naming(resource: Resource, size: int = 0) -> ClusterObject:
    """Return what names the claim in the template of its pods."""
    return msgspec.structs.replace(
        thing(resource, "user", "prod", facts=WorkloadFacts(size)), needs=NEEDS
    )


def given_up(annotations: dict[str, str], *users: ClusterObject) -> bool:
    """Whether the loss of the claim is explained, which says this of itself."""
    body = msgspec.json.encode({"metadata": {"name": "scratch", "annotations": annotations}})
    request = msgspec.structs.replace(delete(CLAIM), old_body=body)
    (lost,) = effects(impact_of(request, view_of(CLAIM, VOLUME, *users)), DataLost)
    assert lost.last_copy
    return lost.explained


@pytest.mark.parametrize("users", [(), (naming(JOBS),)], ids=["nobody", "a job that is over"])
def test_a_hook_that_nobody_uses_any_more(users: tuple[ClusterObject, ...]) -> None:
    assert given_up(HOOK, *users)


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(naming(DEPLOYMENTS), id="a Deployment at rest"),
        pytest.param(naming(CRON_JOBS), id="a CronJob"),
        pytest.param(
            msgspec.structs.replace(
                thing(PODS, "user", "prod", facts=PodFacts(ready=True, node="n")), needs=NEEDS
            ),
            id="a pod",
        ),
    ],
)
def test_a_hook_that_was_given_to_something_else(user: ClusterObject) -> None:
    """The incident: a chart calls the claim of its application a hook."""
    assert not given_up(HOOK, user)


@pytest.mark.parametrize(
    "said",
    [{}, HOOK | {"helm.sh/hook-delete-policy": "hook-succeeded"}],
    ids=["no hook", "gone after it ran"],
)
def test_a_claim_that_does_not_say_that_it_goes_first(said: dict[str, str]) -> None:
    assert not given_up(said, *workload("other"))
