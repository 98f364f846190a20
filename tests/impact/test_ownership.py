"""Owners that cannot own, told when they are written."""

from __future__ import annotations

import pytest

from support.cluster import START, operator, service, thing, view_of, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import OwnerInvalid
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, DEPLOYMENTS, SECRETS, SERVICES, VOLUMES, ObjectKey
from suture.model.request import Request


def told(view: GraphView, request: Request) -> list[OwnerInvalid]:
    impact = estimate(request, project(request, view), view, operator(), {"owner_invalid"})
    return [one for one in impact.effects if isinstance(one, OwnerInvalid)]


def reference(
    name: str = "web", uid: str = "uid:deployments.apps:prod/web", kind: str = "Deployment"
) -> Body:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}


def owned(*references: Body, namespace: str = "prod") -> Body:
    return body(
        "Service", "web", namespace, metadata={"ownerReferences": list(references)}, spec={}
    )


@pytest.mark.parametrize(
    ("made", "why", "collected"),
    [
        (owned(reference()), "", False),
        (owned(reference(), namespace="other"), "other-namespace", True),
        (owned(reference(uid="nobody")), "unknown-uid", True),
        (owned(reference(name="web2")), "unknown-uid", True),
        (owned(reference(kind="ReplicaSet")), "wrong-kind", True),
        (owned(reference(kind="Deploiment")), "unknown-kind", False),
        (owned(reference(kind="Deploiment", uid="nobody")), "", False),
        (owned(reference(), reference(uid="nobody")), "unknown-uid", False),
    ],
)
def test_owners_of_a_new_object(made: Body, why: str, collected: bool) -> None:
    """Each way in which an owner cannot own, and whether another one keeps the object."""
    view = view_of(workload("web"))

    found = told(view, write(SERVICES, None, made))

    assert [(one.why, one.collected) for one in found] == ([(why, collected)] if why else [])


def test_a_namespaced_owner_of_what_has_no_namespace() -> None:
    """The collector stops at such an owner: the object is never collected, and never right."""
    view = view_of(workload("web"))
    volume = body(
        "PersistentVolume", "pv", "", metadata={"ownerReferences": [reference()]}, spec={}
    )

    (found,) = told(view, write(VOLUMES, None, volume))

    assert (found.why, found.collected) == ("namespaced-owner", False)


def test_what_serves_is_said_to_be_in_use() -> None:
    """An object that serves and is handed to nobody: it is in use, and goes."""
    plain = body("Service", "web", spec={"selector": {"app": "web"}})
    view = view_of(workload("web"), trimmed(SERVICES, plain))
    owners = {"ownerReferences": [reference(uid="nobody")]}

    (found,) = told(view, write(SERVICES, plain, changed(plain, metadata=owners)))

    assert (found.in_use, found.collected) == (True, True)


def handed(view: GraphView, old: Body, *references: Body) -> list[bool]:
    """Tell whether an object is in use, once for each owner that cannot own it."""
    new = changed(old, metadata={"ownerReferences": list(references)})
    resource = SECRETS if old["kind"] == "Secret" else CONFIG_MAPS
    found = told(view, write(resource, old, new))
    assert all((one.why, one.collected) == ("unknown-uid", True) for one in found)
    return [one.in_use for one in found]


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_data_that_is_handed_to_an_owner_of_another_cluster(kind: str) -> None:
    """Nobody is known to read it, and nobody means it to go: its owner was never here."""
    old = body(kind, "tls", data={"a": "MQ=="})
    thing_ = trimmed(SECRETS if kind == "Secret" else CONFIG_MAPS, old)

    assert handed(view_of(workload("web"), thing_), old, reference(uid="elsewhere")) == [True]


def test_data_that_is_handed_to_an_owner_that_is_gone_or_goes_itself() -> None:
    """Who hands it to an owner that was here wants both to go; what terminates goes anyway."""
    old = body("Secret", "tls", data={"a": "MQ=="})
    view = view_of(trimmed(SECRETS, old))
    view.history.note_removed("over", ObjectKey(DEPLOYMENTS, "prod", "web"), START)
    assert handed(view, old, reference(uid="over")) == [False]

    going = body("Secret", "tls", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, data={})
    view = view_of(workload("other"), trimmed(SECRETS, going))
    assert handed(view, going, reference(uid="elsewhere")) == [False]


def test_data_that_another_owner_keeps_is_not_collected() -> None:
    """One owner that is there is enough, and one that was let through this moment too."""
    old = body("Secret", "tls", data={"a": "MQ=="})
    view = view_of(workload("web"), trimmed(SECRETS, old))
    both = changed(old, metadata={"ownerReferences": [reference(), reference(uid="elsewhere")]})
    (found,) = told(view, write(SECRETS, old, both))
    assert not found.collected

    view.history.note_created("new-uid", "me", "me", ObjectKey(DEPLOYMENTS, "prod", "new"), START)
    assert handed(view, old, reference("new", "new-uid")) == []


def test_owners_that_were_there_before_are_no_news() -> None:
    """An update that leaves the owners as they are says nothing of them."""
    old = owned(reference(uid="nobody"))
    view = view_of(workload("web"), service("web"))
    new = changed(old, spec={"selector": {"app": "web"}})

    assert told(view, write(SERVICES, old, new)) == []


def test_an_owner_that_was_let_through_this_moment_is_known() -> None:
    """Its creation is on its way to the model: its uid is not unknown."""
    view = view_of(workload("web"))
    key = ObjectKey(DEPLOYMENTS, "prod", "new")
    view.history.note_created("new-uid", "somebody", "somebody", key, START)

    assert told(view, write(SERVICES, None, owned(reference("new", "new-uid")))) == []
    assert thing(DEPLOYMENTS, "new", "prod").key == key
