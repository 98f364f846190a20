"""A change has the same digest at every attempt, and no other change has it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.actor import UserInfo
from suture.model.digest import digest_of
from suture.model.names import Gvk, Gvr, Operation, Propagation
from suture.model.objects import ClusterObject
from suture.model.request import Collection, DeleteOptions, Request
from suture.model.selectors import Selector

DEPLOYMENTS = Gvr("apps", "v1", "deployments")


def body(spec: Any, **metadata: Any) -> bytes:
    found = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", **metadata},
        "spec": spec, "status": {"replicas": 3},
    }  # fmt: skip
    return json.dumps(found).encode()


def asked(operation: Operation = Operation.UPDATE, **more: Any) -> Request:
    given_fields: dict[str, Any] = {
        "uid": "review-1",
        "operation": operation,
        "gvr": DEPLOYMENTS,
        "gvk": Gvk("apps", "v1", "Deployment"),
        "namespace": "prod",
        "name": "web",
        "user": UserInfo("system:serviceaccount:x:y"),
    }
    return Request(**{**given_fields, **more})


@given(
    version=st.integers(),
    time=st.text(),
    manager=st.text(),
    status=st.integers(),
    review=st.text(),
)
def test_attempts_at_one_change_are_alike(
    version: int, time: str, manager: str, status: int, review: str
) -> None:
    """Versions, times, managers, status and the review's id are of the attempt, not the change."""
    old, new = body({"replicas": 3}), body({"replicas": 0})
    more = {
        "resourceVersion": str(version),
        "creationTimestamp": time,
        "managedFields": [{"manager": manager, "time": time}],
    }
    first = asked(old_body=old, new_body=new)
    retry = asked(
        uid=review,
        old_body=body({"replicas": 3}, **more),
        new_body=body({"replicas": 0}, **more).replace(b'"replicas": 3}', b'"r": %d}' % status),
    )
    assert digest_of(first) == digest_of(retry)


def test_what_others_wrote_meanwhile_does_not_count() -> None:
    """A label that stands there before and after is not what this change writes."""
    plain = asked(old_body=body({"replicas": 3}), new_body=body({"replicas": 0}))
    labels = {"labels": {"a": "b"}}
    labelled = asked(
        old_body=body({"replicas": 3}, **labels), new_body=body({"replicas": 0}, **labels)
    )
    assert digest_of(plain) == digest_of(labelled)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"user": UserInfo("somebody-else")}, id="identity"),
        pytest.param({"operation": Operation.CREATE}, id="operation"),
        pytest.param({"namespace": "stage"}, id="namespace"),
        pytest.param({"name": "api"}, id="name"),
        pytest.param({"subresource": "scale"}, id="subresource"),
        pytest.param({"gvr": Gvr("apps", "v1", "statefulsets")}, id="resource"),
        pytest.param({"new_body": body({"replicas": 1})}, id="what-is-written"),
        pytest.param({"new_body": body({"replicas": 0}, labels={"a": "b"})}, id="labels"),
        pytest.param({"new_body": body({"replicas": 0}, finalizers=["x"])}, id="finalizers"),
        pytest.param({"new_body": body({"replicas": 0}, annotations={"a": ""})}, id="annotations"),
        pytest.param({"options": DeleteOptions(propagation=Propagation.ORPHAN)}, id="propagation"),
        pytest.param({"options": DeleteOptions(uid="another")}, id="uid"),
        pytest.param({"extent": Collection(Selector.of({"a": "b"}))}, id="selector"),
    ],
)
def test_another_change_has_another(other: dict[str, Any]) -> None:
    """Who, what, where, which life of it, and what it would become."""
    base: dict[str, Any] = {"old_body": body({"replicas": 3}), "new_body": body({"replicas": 0})}
    assert digest_of(asked(**base)) != digest_of(asked(**{**base, **other}))


def test_another_life_of_the_object_is_another_change() -> None:
    """A Service that was made anew under the old name was never granted away."""

    def deleted(uid: str) -> Request:
        request = asked(Operation.DELETE)
        old = ClusterObject(key=request.key, uid=uid, gvk=request.gvk)
        return msgspec.structs.replace(request, old=old)

    assert digest_of(deleted("u1")) != digest_of(deleted("u2"))


def test_a_name_that_the_server_makes_up_does_not_count() -> None:
    """Each attempt at a create with `generateName` has another."""
    first, second = (
        asked(
            Operation.CREATE, name=name, new_body=body({}, generateName="job-", name=name, uid=name)
        )
        for name in ("job-a1", "job-b2")
    )
    assert digest_of(first) == digest_of(second)


def secret(value: str, key: str = "password") -> Request:
    found = {"metadata": {"name": "s"}, "data": {key: value}, "stringData": {key: value}}
    return asked(
        gvr=Gvr("", "v1", "secrets"),
        gvk=Gvk("", "v1", "Secret"),
        old_body=b'{"metadata": {"name": "s"}}',
        new_body=json.dumps(found).encode(),
    )


def test_the_values_of_a_secret_leave_no_trace() -> None:
    """The names of its entries count: the journal keeps the digest, and nothing may be guessed."""
    assert digest_of(secret("a")) == digest_of(secret("b"))
    assert digest_of(secret("a")) != digest_of(secret("a", "token"))


@pytest.mark.parametrize("wrong", [b"", b"nonsense", b"[]", b'{"metadata": 1}', b"\xff"])
def test_what_cannot_be_read_has_a_digest_too(wrong: bytes) -> None:
    """The digest of a refusal is asked of any request."""
    assert len(digest_of(asked(Operation.CREATE, new_body=wrong))) == 32
