"""Volumes that are taken from those who use them, without anything being erased."""

from __future__ import annotations

import pytest

from support.asking import effects, impact_of
from support.cluster import START, operator, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.causes.parents import accountable
from suture.impact.effects import DataLost
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, NODES, PODS, VOLUME_ATTACHMENTS, VOLUMES
from suture.model.request import Request

MACHINE = operator("system:serviceaccount:ops:sweeper")
CLAIM = body("PersistentVolumeClaim", "data", spec={"volumeName": "pv"}, status={"phase": "Bound"})
VOLUME = body(
    "PersistentVolume",
    "pv",
    "",
    spec={
        "persistentVolumeReclaimPolicy": "Delete",
        "claimRef": {"namespace": "prod", "name": "data"},
    },
    status={"phase": "Bound"},
)
ATTACHMENT = body(
    "VolumeAttachment",
    "csi-1",
    "",
    apiVersion="storage.k8s.io/v1",
    spec={"nodeName": "node-1", "source": {"persistentVolumeName": "pv"}},
    status={"attached": True},
)


def node(ready: str = "True", *taints: str) -> Body:
    marks = [{"key": one, "effect": "NoExecute"} for one in taints]
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return body("Node", "node-1", "", spec={"taints": marks}, status=status)


def pod(place: str = "node-1", phase: str = "Running") -> Body:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return body(
        "Pod", "db-0", spec={"nodeName": place, "volumes": volumes}, status={"phase": phase}
    )


def world(*, runs: Body | None, claim: Body = CLAIM, place: Body | None = None) -> GraphView:
    found = [
        trimmed(VOLUMES, VOLUME), trimmed(VOLUME_ATTACHMENTS, ATTACHMENT), trimmed(CLAIMS, claim),
        trimmed(NODES, place or node()),
    ]  # fmt: skip
    return view_of(*found, *([trimmed(PODS, runs)] if runs is not None else []))


def taken(view: GraphView, request: Request) -> list[tuple[int, bool]]:
    """Return of each loss how many pods use the data, and whether it is explained."""
    found = effects(impact_of(request, view), DataLost)
    assert all(one.reclaim == "Retain" and one.reversible for one in found)
    return [(one.mounted, one.explained) for one in found]


@pytest.mark.parametrize(
    ("runs", "place", "found"),
    [
        (pod(), node(), [(1, False)]),
        (pod(), node("Unknown"), [(1, True)]),
        (pod(), node("True", "node.kubernetes.io/out-of-service"), [(1, True)]),
        (pod(), node("True", "example.com/dedicated"), [(1, False)]),
        (pod("node-2"), node(), [(0, False)]),
        (pod(phase="Succeeded"), node(), [(0, False)]),
        (None, node(), [(0, False)]),
    ],
)
def test_an_attachment_goes(runs: Body | None, place: Body, found: list[tuple[int, bool]]) -> None:
    """Pods of that node lose it; pods elsewhere, and those of a node that is dead, lose nothing."""
    view = world(runs=runs, place=place)

    assert taken(view, write(VOLUME_ATTACHMENTS, ATTACHMENT, None)) == found


def test_what_is_not_attached_is_taken_from_nobody() -> None:
    """The driver never came to attach it: the pod waits, and may get another."""
    waiting = changed(ATTACHMENT, status={"attached": False})
    view = view_of(
        trimmed(VOLUMES, VOLUME), trimmed(VOLUME_ATTACHMENTS, waiting), trimmed(CLAIMS, CLAIM),
        trimmed(NODES, node()), trimmed(PODS, pod(phase="Pending")),
    )  # fmt: skip

    assert taken(view, write(VOLUME_ATTACHMENTS, waiting, None)) == [(0, False)]


def test_a_volume_that_its_claim_has_left_is_taken_from_nobody() -> None:
    """The claim was made anew under its name, and the pod uses the volume that it has now."""
    elsewhere = changed(CLAIM, spec={"volumeName": "pv-2"})
    view = world(runs=pod(), claim=elsewhere)

    assert taken(view, write(VOLUME_ATTACHMENTS, ATTACHMENT, None)) == [(0, False)]


def test_who_uses_an_attachment_is_read_before_a_refusal() -> None:
    """Its node and the pods there: of one that has just ended the model may not have heard yet."""
    view = world(runs=pod())
    row = view.find(trimmed(VOLUME_ATTACHMENTS, ATTACHMENT).key)
    assert row is not None

    assert [view.name(one) for one in accountable(view, row)] == ["node-1", "db-0"]


def released(**spec: object) -> Request:
    kept = {"persistentVolumeReclaimPolicy": "Delete"}
    return write(VOLUMES, VOLUME, changed(VOLUME, spec={**kept, **spec}))


def test_a_volume_forgets_its_claim() -> None:
    """The claim that is bound to it is lost; the same claim by name alone stays."""
    other = {"namespace": "prod", "name": "other"}
    same = {"namespace": "prod", "name": "data", "uid": "another"}

    assert taken(world(runs=pod()), released()) == [(1, False)]
    assert taken(world(runs=None), released(claimRef=other)) == [(0, False)]
    assert taken(world(runs=pod()), released(claimRef=same)) == []


@pytest.mark.parametrize(
    ("had", "has", "found"),
    [
        pytest.param("", "another", [], id="bound-to-no-life-of-it-yet"),
        pytest.param("its", "its", [], id="as-it-was"),
        pytest.param("its", "", [(1, False)], id="to-whichever-comes"),
        pytest.param("its", "another", [(1, False)], id="to-another-life"),
        pytest.param("another", "", [], id="it-was-not-bound-to-this-one"),
    ],
)
def test_a_volume_forgets_which_life_of_its_claim_it_was(
    had: str, has: str, found: list[tuple[int, bool]]
) -> None:
    """Then it is bound to none, and the claim is lost, though both name each other."""

    def bound(uid: str) -> Body:
        of = {"its": "uid-PersistentVolumeClaim-prod-data"}.get(uid, uid)
        reference = {"namespace": "prod", "name": "data", **({"uid": of} if of else {})}
        return changed(VOLUME, spec={"claimRef": reference})

    assert taken(world(runs=pod()), write(VOLUMES, bound(had), bound(has))) == found


def test_a_volume_whose_claim_is_not_bound_to_it_may_be_used_again() -> None:
    """Gone, going, or bound to another volume: that is how a released volume is reused."""
    elsewhere = changed(CLAIM, spec={"volumeName": "pv-2"})
    going = changed(CLAIM, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    gone = view_of(trimmed(VOLUMES, VOLUME))

    assert taken(gone, released()) == []
    assert taken(world(runs=None, claim=elsewhere), released()) == []
    assert taken(world(runs=None, claim=going), released()) == [(0, True)]


def kept(policy: str = "Retain", phase: str = "Released") -> Body:
    spec = {
        "persistentVolumeReclaimPolicy": policy,
        "claimRef": {"namespace": "prod", "name": "data", "uid": "gone"},
    }
    return changed(VOLUME, spec=spec, status={"phase": phase})


@pytest.mark.parametrize(
    ("had", "has", "lost"),
    [
        pytest.param(kept(), kept("Delete"), [False], id="erased at once"),
        pytest.param(kept("Delete"), kept("Delete"), [], id="it was so before"),
        pytest.param(kept("Delete"), kept(), [], id="the other way round"),
        pytest.param(kept(phase="Available"), kept("Delete", "Available"), [], id="never used"),
    ],
)
def test_a_volume_that_was_kept_is_set_to_be_deleted(
    had: Body, has: Body, lost: list[bool]
) -> None:
    """Its claim is gone: nobody else has what is on it, and its driver waits for nothing more."""
    found = effects(impact_of(write(VOLUMES, had, has), view_of(trimmed(VOLUMES, had))), DataLost)
    assert [one.explained for one in found if one.last_copy] == lost


@pytest.mark.parametrize(
    ("ended_by", "by", "explained"),
    [
        pytest.param("ann@example.com", MACHINE, True, id="its claim was given up"),
        pytest.param("system:serviceaccount:ops:sweeper", MACHINE, False, id="by itself"),
        pytest.param("", MACHINE, False, id="nobody knows by whom"),
        pytest.param("", operator("ann@example.com"), True, id="a person erases it"),
    ],
)
def test_who_may_erase_it(ended_by: str, by: Actor, *, explained: bool) -> None:
    """The twins."""
    view, claim = view_of(trimmed(VOLUMES, kept())), trimmed(CLAIMS, CLAIM)
    if ended_by:
        view.history.note_removed(claim.uid, claim.key, START, by=ended_by)
    request = write(VOLUMES, kept(), kept("Delete"), by=by)
    (lost,) = effects(impact_of(request, view, by=by, now=START.plus_s(60)), DataLost)
    assert lost.explained is explained


OTHER = body("PersistentVolumeClaim", "wanted", spec={})
HANDED = changed(
    VOLUME,
    spec={
        "persistentVolumeReclaimPolicy": "Delete",
        "claimRef": {"namespace": "prod", "name": "wanted"},
    },
)


@pytest.mark.parametrize(
    ("volume", "wanted", "runs", "last", "explained"),
    [
        pytest.param(HANDED, OTHER, None, False, True, id="handed over"),
        pytest.param(HANDED, OTHER, pod(), False, False, id="with a pod that uses it still"),
        pytest.param(HANDED, None, None, True, False, id="to a claim that is not there"),
        pytest.param(
            HANDED,
            changed(OTHER, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            None,
            True,
            False,
            id="to a claim that goes",
        ),
        pytest.param(VOLUME, OTHER, None, True, False, id="its own still"),
    ],
)
def test_a_claim_whose_volume_is_another_ones(
    volume: Body, wanted: Body | None, runs: Body | None, *, last: bool, explained: bool
) -> None:
    """Who fills a volume hands it to the claim that was asked for, and deletes its own."""
    things = [trimmed(VOLUMES, volume), trimmed(CLAIMS, CLAIM)]
    if wanted is not None:
        things.append(trimmed(CLAIMS, wanted))
    if runs is not None:
        things.append(trimmed(PODS, runs))
    request = write(CLAIMS, CLAIM, None)
    (lost,) = effects(impact_of(request, view_of(*things)), DataLost)
    assert (lost.last_copy, lost.explained) == (last, explained)
    assert lost.reclaim == ("Delete" if last else "Retain")
