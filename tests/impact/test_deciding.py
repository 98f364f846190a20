"""Controllers of Kubernetes that decide by themselves: believed where what they go by is so."""

from __future__ import annotations

import pytest

from support.cluster import START, graph_of, service
from support.writes import Body, trimmed, write
from suture.adapters.files import load_policies
from suture.impact.ordinary.deciding import DETACHER, SCALER
from suture.judge import World, judge
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import CLAIMS, NODES, PODS, VOLUME_ATTACHMENTS, VOLUMES, Gvr, Operation
from suture.model.objects import ClusterObject
from suture.model.request import Request
from suture.policy.compile import PolicySet
from suture.verdict import Verdict

from .test_detached import ATTACHMENT, CLAIM, VOLUME, node, pod
from .test_scalers import WEB, scaler

COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def controller(name: str, stage: Stage = Stage.ENFORCE) -> Actor:
    return Actor(UserInfo(name), name, IdentityKind.CONSEQUENCE, stage)


def to_size(after: int) -> Request:
    """Ask for another size of the Deployment `web`."""
    target = WEB[0].key
    return Request(
        uid="review-1",
        operation=Operation.UPDATE,
        gvr=Gvr("apps", "v1", "deployments"),
        gvk=WEB[0].gvk,
        subresource="scale",
        namespace=target.namespace,
        name=target.name,
        user=UserInfo(SCALER),
        scale_from=6,
        scale_to=after,
    )


def sized(pack: PolicySet, after: int, *scalers: ClusterObject, by: Actor | None = None) -> Verdict:
    world = World(pack, graph=graph_of(WEB, service("web"), *scalers))
    return judge(to_size(after), by or controller(SCALER), world, START).verdict


def test_an_autoscaler_is_believed_within_its_bounds(pack: PolicySet) -> None:
    """However far down in one step, and where the model holds no autoscaler at all."""
    assert not sized(pack, 2, scaler(2, 9)).denies
    assert not sized(pack, 1).denies
    assert not sized(pack, 0, scaler(0, 9)).denies


def test_an_autoscaler_is_not_believed_below_its_minimum_nor_blind(pack: PolicySet) -> None:
    """Its own account is refused what another would be; observed, it is told of."""
    below, blind = scaler(4, 9), scaler(2, 9, 9)

    assert [one.code for one in sized(pack, 3, below).reasons] == ["fewer_than_wanted"]
    assert [one.code for one in sized(pack, 2, blind).reasons] == ["below_floor"]
    assert not sized(pack, 4, blind).denies
    observed = sized(pack, 2, blind, by=controller(SCALER, Stage.OBSERVE))
    assert (observed.denies, observed.would) == (False, "deny")


def detached(pack: PolicySet, place: Body, runs: Body | None, by: str = DETACHER) -> Verdict:
    things = [
        trimmed(VOLUMES, VOLUME), trimmed(VOLUME_ATTACHMENTS, ATTACHMENT), trimmed(CLAIMS, CLAIM),
        trimmed(NODES, place), *([trimmed(PODS, runs)] if runs else []),
    ]  # fmt: skip
    world = World(pack, graph=graph_of(things))
    return judge(write(VOLUME_ATTACHMENTS, ATTACHMENT, None), controller(by), world, START).verdict


def test_volumes_are_not_detached_from_pods_that_run(pack: PolicySet) -> None:
    """On a node that is well; another controller carries out what was asked for, and is believed."""
    refused = detached(pack, node(), pod())

    assert (refused.denies, refused.reasons[0].code) == (True, "data_in_use")
    assert not detached(
        pack, node(), pod(), "system:serviceaccount:kube-system:namespace-controller"
    ).denies


@pytest.mark.parametrize(
    ("place", "runs"),
    [
        pytest.param(node("Unknown"), pod(), id="node not ready"),
        pytest.param(node("True", "node.kubernetes.io/out-of-service"), pod(), id="out of service"),
        pytest.param(node(), pod(phase="Succeeded"), id="pod done"),
        pytest.param(node(), pod("node-2"), id="pod elsewhere"),
        pytest.param(node(), None, id="no pod"),
    ],
)
def test_the_ordinary_work_of_detaching(pack: PolicySet, place: Body, runs: Body | None) -> None:
    """The pod has gone or ended, or its node cannot be reached."""
    assert not detached(pack, place, runs).denies
