"""Words by which an object says that it may be deleted, and words that are of something else."""

from __future__ import annotations

import msgspec
import pytest

from suture.model.leave import gives_leave, is_to_be_replaced

OWN = frozenset({"orders", "uid-1"})
Body = dict[str, object]


def annotated(**annotations: str) -> Body:
    return {"metadata": {"annotations": annotations}}


def given(old: Body, new: Body) -> bool:
    return gives_leave(msgspec.json.encode(old), msgspec.json.encode(new), OWN)


@pytest.mark.parametrize(
    ("name", "value", "leave"),
    [
        ("delete-date", "2026-11-25", True),
        ("delete-clustername", "orders", True),
        ("confirmation.gardener.cloud/deletion", "true", True),
        ("argocd.argoproj.io/deletion-approved", "2026-11-25T21:00:00Z", True),
        ("example.com/confirm-delete", "uid-1", True),
        ("example.com/allowDeletion", "yes", True),
        ("suture.dev/confirm-delete", "uid-1", False),
        ("delete-clustername", "another", False),
        ("example.com/deletion", "false", False),
        ("controller.kubernetes.io/pod-deletion-cost", "1", False),
        ("cluster.x-k8s.io/delete-machine", "yes", False),
        ("helm.sh/hook-delete-policy", "before-hook-creation", False),
        ("example.com/delete-after", "2026-11-25", False),
        ("example.com/confirmed", "true", False),
        ("example.com/note", "delete", False),
    ],
)
def test_an_annotation_that_is_meant(name: str, value: str, *, leave: bool) -> None:
    """It speaks of the end of the object itself, and of nothing else; once it is there it is old."""
    assert given(annotated(), annotated(**{name: value})) is leave
    assert not given(annotated(**{name: value}), annotated(**{name: value, "other": "x"}))
    assert not given(annotated(**{name: value}), annotated())


@pytest.mark.parametrize(
    ("old", "new", "leave"),
    [
        ({"deletionProtection": True}, {"deletionProtection": False}, True),
        ({"terminationProtection": True}, {}, True),
        ({"db": {"preventDestroy": True}}, {"db": {"preventDestroy": False}}, True),
        (
            {"cleanupPolicy": {}},
            {"cleanupPolicy": {"confirmation": "yes-really-destroy-data"}},
            True,
        ),
        ({}, {"cleanupPolicy": {"confirmation": "yes-really-destroy-data"}}, True),
        ({}, {"cleanupPolicy": {"confirmation": ""}}, False),
        ({"terminationPolicy": "DoNotTerminate"}, {"terminationPolicy": "WipeOut"}, True),
        ({"storage": {"deleteClaim": False}}, {"storage": {"deleteClaim": True}}, True),
        ({"storage": {"deleteClaim": True}}, {"storage": {"deleteClaim": False}}, False),
        ({"deleteOnScaleDown": False}, {"deleteOnScaleDown": True}, False),
        ({"deletionProtection": False}, {"deletionProtection": True}, False),
        ({"protected": True}, {"protected": False}, False),
        ({"deleteOnScaleDown": True}, {"deleteOnScaleDown": False}, False),
        ({"confirmation": "delete"}, {"confirmation": ""}, False),
        ({"confirmation": ""}, {"confirmation": "undeleted"}, False),
        ({"terminationPolicy": "Delete"}, {"terminationPolicy": "WipeOut"}, False),
        ({"deletionPolicy": "Retain"}, {"deletionPolicy": "Delete"}, False),
        ({"pvReclaimPolicy": "Retain"}, {"pvReclaimPolicy": "Delete"}, True),
        ({}, {"storage": {"reclaimPolicy": "Delete"}}, True),
        ({"pvReclaimPolicy": "Delete"}, {"pvReclaimPolicy": "Retain"}, False),
        ({"updateStrategy": "RollingUpdate"}, {"updateStrategy": "OnDelete"}, False),
    ],
)
def test_a_field_that_lets_go(old: Body, new: Body, *, leave: bool) -> None:
    """What protected it does so no more, or a field that asks for a word has it."""
    assert given({"spec": old}, {"spec": new}) is leave


@pytest.mark.parametrize(
    ("finalizer", "leave"),
    [
        ("example.com/delete-db-pvc", True),
        ("delete-claims", True),
        ("example.com/delete-pods-in-order", False),
        ("example.com/delete-backup", False),
        ("example.com/pvc", False),
        ("delete", False),
    ],
)
def test_a_finalizer_that_clears_data_away(finalizer: str, *, leave: bool) -> None:
    """Who puts it on wants that to be done; one that was there before says nothing new."""
    had: Body = {"metadata": {"finalizers": ["example.com/order"]}}
    has: Body = {"metadata": {"finalizers": ["example.com/order", finalizer]}}
    assert given(had, has) is leave
    assert not given(has, had)
    assert not given(has, {**has, "spec": {"deleted": 1}})


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"metadata": 1, "spec": "delete"}', b'"delete"']
)
def test_what_cannot_be_read_gives_none(body: bytes) -> None:
    """Neither way round, and nothing is thrown."""
    assert not gives_leave(body, b'{"spec": {"delete": true}}', OWN)
    assert not gives_leave(b'{"spec": {"delete": true}}', body, OWN)


@pytest.mark.parametrize(
    ("part", "name", "value", "replaced"),
    [
        ("labels", "scylla/replace", "", True),
        ("annotations", "example.com/replaceMember", "true", True),
        ("labels", "replace", "10.0.0.1", True),
        ("labels", "scylla/replace", "false", False),
        ("labels", "example.com/may-replace", "", False),
        ("finalizers", "scylla/replace", "", False),
    ],
)
def test_a_mark_by_which_a_member_is_to_be_replaced(
    part: str, name: str, value: str, *, replaced: bool
) -> None:
    """By the word that its name begins with; once it is there it is old."""
    bare, marked = (
        msgspec.json.encode({"metadata": {part: one}}) for one in ({}, {name: value, "a": "b"})
    )
    assert is_to_be_replaced(bare, marked) is replaced
    assert not is_to_be_replaced(marked, marked)
    assert not is_to_be_replaced(marked, bare)
