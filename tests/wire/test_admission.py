"""Admission reviews become requests; verdicts become answers that the API server understands."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.kubejson import DEPLOYMENT, POD, SERVICE, UID, dumps, meta
from suture.errors import ReviewError
from suture.model import names
from suture.model.actor import UserInfo
from suture.model.facts import KeysFacts
from suture.model.names import Gvk, Gvr, ObjectKey, Operation, Propagation
from suture.model.objects import PodFacts, ServiceFacts, WorkloadFacts
from suture.model.request import CollectionItem, DeleteOptions, One, Request
from suture.verdict import Answer, Verdict
from suture.wire.admission import decode_review, encode_review
from suture.wire.trim import Trimmer

DELETE_SERVICE: dict[str, Any] = {
    "kind": "AdmissionReview",
    "apiVersion": "admission.k8s.io/v1",
    "request": {
        "uid": "5b1f3a0e-0001",
        "kind": {"group": "", "version": "v1", "kind": "Service"},
        "resource": {"group": "", "version": "v1", "resource": "services"},
        "requestKind": {"group": "", "version": "v1", "kind": "Service"},
        "requestResource": {"group": "", "version": "v1", "resource": "services"},
        "name": "web",
        "namespace": "shop",
        "operation": "DELETE",
        "userInfo": {
            "username": "system:serviceaccount:balancer:operator",
            "uid": "0d7e",
            "groups": ["system:serviceaccounts", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/pod-name": ["operator-0"]},
        },
        "object": None,
        "oldObject": SERVICE,
        "dryRun": False,
        "options": {
            "kind": "DeleteOptions",
            "apiVersion": "meta.k8s.io/v1",
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": UID, "resourceVersion": "4711"},
        },
    },
}


def review(**changes: Any) -> bytes:
    """Return the review above with some fields of its request changed."""
    return dumps({**DELETE_SERVICE, "request": {**DELETE_SERVICE["request"], **changes}})


def decoded(**changes: Any) -> Request:
    """Return what such a review is read as."""
    return decode_review(review(**changes))


def test_a_delete() -> None:
    """Who, what, the object before and how: all of a delete is in the request."""
    request = decoded()
    assert request.uid == "5b1f3a0e-0001"
    assert request.operation is Operation.DELETE
    assert request.gvr == Gvr("", "v1", "services")
    assert request.gvk == Gvk("", "v1", "Service")
    assert request.key == ObjectKey(names.SERVICES, "shop", "web")
    assert request.extent == One()
    assert request.user.username == "system:serviceaccount:balancer:operator"
    assert request.user.groups == ("system:serviceaccounts", "system:authenticated")
    assert request.user.extra == {"authentication.kubernetes.io/pod-name": ("operator-0",)}
    assert request.new is None
    assert request.new_body == b""
    assert request.old is not None
    assert isinstance(request.old.facts, ServiceFacts)
    assert request.old_body == dumps(SERVICE)
    assert request.object_uid == UID
    assert request.options == DeleteOptions(Propagation.FOREGROUND, 0, UID, "4711")
    assert not request.dry_run


def test_an_object_of_a_collection_is_named_by_itself() -> None:
    """A review without a name is part of a collection; the object tells its name."""
    request = decoded(name="")
    assert request.extent == CollectionItem()
    assert request.name == "web"
    assert request.key == ObjectKey(names.SERVICES, "shop", "web")


def test_a_namespace_is_not_in_itself() -> None:
    """The key of a Namespace is that of its watch, though the review puts it in its own."""
    request = decoded(
        kind={"group": "", "version": "v1", "kind": "Namespace"},
        resource={"group": "", "version": "v1", "resource": "namespaces"},
        name="shop",
        oldObject={"metadata": meta("shop")},
    )
    assert request.key == ObjectKey(names.NAMESPACES, "", "shop")
    assert request.old is not None
    assert request.old.key == request.key


def test_an_eviction_names_the_pod_and_carries_its_options_inside() -> None:
    """An eviction is a create under the pod; how to delete stands in the object."""
    request = decoded(
        operation="CREATE",
        kind={"group": "policy", "version": "v1", "kind": "Eviction"},
        resource={"group": "", "version": "v1", "resource": "pods"},
        subResource="eviction",
        name="web-7c9-abcde",
        object={
            "kind": "Eviction",
            "apiVersion": "policy/v1",
            "metadata": {"name": "web-7c9-abcde", "namespace": "shop", "creationTimestamp": None},
            "deleteOptions": {"gracePeriodSeconds": 5, "preconditions": {"uid": "p-1"}},
        },
        oldObject=None,
        options={"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    )
    assert request.key == ObjectKey(names.PODS, "shop", "web-7c9-abcde")
    assert request.subresource == "eviction"
    assert request.options == DeleteOptions(grace_s=5, uid="p-1")
    assert request.object_uid == "p-1"
    assert request.new is not None
    assert request.new.facts is None


def test_a_scale_tells_from_and_to() -> None:
    """A Scale is not a Deployment; a wish of zero is left out by Go and is zero all the same."""
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta("web", "shop")}
    request = decoded(
        operation="UPDATE",
        kind={"group": "autoscaling", "version": "v1", "kind": "Scale"},
        resource={"group": "apps", "version": "v1", "resource": "deployments"},
        subResource="scale",
        object={**scale, "spec": {}, "status": {"replicas": 3}},
        oldObject={**scale, "spec": {"replicas": 3}, "status": {"replicas": 3}},
    )
    assert (request.scale_from, request.scale_to) == (3, 0)
    assert request.object_uid == UID
    assert request.old is not None
    assert request.old.facts is None
    assert decoded().scale_to is None


def test_a_subresource_of_the_same_kind_shows_the_object() -> None:
    """A status update carries the whole object."""
    request = decoded(
        operation="UPDATE",
        kind={"group": "apps", "version": "v1", "kind": "Deployment"},
        resource={"group": "apps", "version": "v1", "resource": "deployments"},
        subResource="status",
        object=DEPLOYMENT,
        oldObject=DEPLOYMENT,
    )
    assert request.new is not None
    assert isinstance(request.new.facts, WorkloadFacts)
    assert request.scale_to is None


def test_a_connection_has_no_object() -> None:
    """What comes with a CONNECT are its options, not an object without a name."""
    request = decoded(
        operation="CONNECT",
        kind={"group": "", "version": "v1", "kind": "PodExecOptions"},
        resource={"group": "", "version": "v1", "resource": "pods"},
        subResource="exec",
        object={"kind": "PodExecOptions", "apiVersion": "v1", "command": ["sh"]},
        oldObject=None,
        name="web-7c9-abcde",
    )
    assert request.new is None
    assert request.new_body
    assert request.key.name == "web-7c9-abcde"


def test_a_dry_run_is_known_as_one() -> None:
    """The flag reaches the request; absent is false."""
    assert decoded(dryRun=True).dry_run
    assert not decoded(dryRun=None).dry_run


@pytest.mark.parametrize(
    ("options", "propagation"),
    [
        ({"propagationPolicy": "Orphan"}, Propagation.ORPHAN),
        ({"orphanDependents": True}, Propagation.ORPHAN),
        ({"orphanDependents": False}, Propagation.BACKGROUND),
        ({"propagationPolicy": "Sideways"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_propagation(options: object, propagation: Propagation | None) -> None:
    """Both spellings of what happens to dependents are read; nothing said stays nothing."""
    assert decoded(options=options).options.propagation is propagation


def test_an_odd_object_is_judged_by_what_can_be_read() -> None:
    """The API server let it pass; it is not for us to call it malformed."""
    service = {**SERVICE, "spec": {"selector": "web"}}
    request = decoded(oldObject=service)
    assert request.old is not None
    assert request.old.facts is None
    assert request.old.uid == UID


def test_an_update_that_changes_nothing_is_read_once() -> None:
    """The API server reuses the old managed fields then: both bodies are the same."""
    request = decoded(operation="UPDATE", object=SERVICE)
    assert request.new is request.old is not None
    assert request.parts_changed == ()
    assert request.new == decoded().old


def test_an_identity_is_read_once() -> None:
    """Who asks again is the very same value, by which it is known without being looked at."""
    trimmer = Trimmer()
    first, again = (decode_review(review(uid=uid), trimmer) for uid in ("1", "2"))
    assert first.user is again.user
    other = decode_review(review(userInfo={"username": "someone"}), trimmer)
    assert other.user == UserInfo("someone")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"uid": ""}, "request.uid"),
        ({"uid": 7}, "request.uid"),
        ({"operation": "PATCH"}, "request.operation"),
        ({"resource": {}}, "request.resource"),
        ({"userInfo": None}, "request.userInfo"),
        ({"userInfo": "me"}, "request.userInfo"),
        ({"userInfo": {"username": 7}}, "request.userInfo.username"),
        ({"options": {"gracePeriodSeconds": "soon"}}, "request.options"),
    ],
)
def test_a_malformed_field_is_named(change: dict[str, Any], field: str) -> None:
    """Who sent it reads in the error which field to mend."""
    with pytest.raises(ReviewError) as caught:
        decoded(**change)
    assert caught.value.field == field
    assert field in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"request":{}}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"request":' + b"{" * 5000,
        dumps({**DELETE_SERVICE, "apiVersion": "admission.k8s.io/v1beta1"}),
        dumps({**DELETE_SERVICE, "kind": "Pod"}),
        review(oldObject={"metadata": "x" * 9}).replace(b"xxxxxxxxx", b"\xff"),
    ],
)
def test_what_is_no_review_is_a_review_error(body: bytes) -> None:
    """Nothing else is ever raised at whoever posts."""
    with pytest.raises(ReviewError):
        decode_review(body)


@given(body=st.binary(max_size=200))
def test_bytes_are_a_request_or_a_review_error(body: bytes) -> None:
    """No bytes make anything else."""
    with pytest.raises(ReviewError):
        decode_review(body)


LEAVES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.just({}) | st.just([])
)


@given(steps=st.lists(st.integers(0, 12), min_size=1, max_size=5), value=LEAVES)
def test_a_damaged_review_is_a_request_or_a_review_error(steps: list[int], value: object) -> None:
    """Any part of a real review may be anything else."""
    damaged = copy.deepcopy(DELETE_SERVICE)
    place: Any = damaged
    for step in steps:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = keys[step % len(keys)]
        if not isinstance(place[key], dict | list) or step == steps[-1]:
            place[key] = value
            break
        place = place[key]
    try:
        request = decode_review(json.dumps(damaged).encode())
    except ReviewError:
        return
    assert isinstance(request.key, ObjectKey)


@given(cut=st.integers(0, len(review())))
def test_a_truncated_review_is_a_review_error(cut: int) -> None:
    """A body cut anywhere is malformed, never another request."""
    body = review()
    if cut < len(body):
        with pytest.raises(ReviewError):
            decode_review(body[:cut])


def answered(verdict: Verdict) -> dict[str, Any]:
    """Return what the API server reads in the answer to the review `u1`."""
    answer = msgspec.json.decode(encode_review("u1", verdict, "d-42"))
    assert answer.pop("apiVersion") == "admission.k8s.io/v1"
    assert answer.pop("kind") == "AdmissionReview"
    response = answer.pop("response")
    assert not answer
    assert response.pop("uid") == "u1"
    assert response.pop("auditAnnotations") == {"decision-id": "d-42"}
    return dict(response)


def test_an_allow_says_nothing_more() -> None:
    """Whoever may go on is not talked to."""
    assert answered(Verdict(answer=Answer.ALLOW, would=Answer.DENY)) == {"allowed": True}


def test_a_warning_goes_out_with_the_allow() -> None:
    """Warned is allowed, and told."""
    verdict = Verdict(answer=Answer.WARN, would=Answer.DENY, warnings=("mind the gap",))
    assert answered(verdict) == {"allowed": True, "warnings": ["mind the gap"]}


def test_a_refusal_for_good_is_forbidden() -> None:
    """The caller sees the message, the status and its reason."""
    verdict = Verdict(answer=Answer.DENY, would=Answer.DENY, message="no")
    assert answered(verdict) == {
        "allowed": False,
        "status": {"code": 403, "message": "no", "reason": "Forbidden"},
    }


def test_a_refusal_for_now_says_when_to_come_again() -> None:
    """A client that obeys Retry-After waits instead of hammering."""
    verdict = Verdict(
        answer=Answer.DENY, would=Answer.DENY, message="wait", status=429, retry_after_s=7
    )
    assert answered(verdict)["status"] == {
        "code": 429,
        "message": "wait",
        "reason": "TooManyRequests",
        "details": {"retryAfterSeconds": 7},
    }


def test_warnings_end_where_the_api_server_cuts() -> None:
    """Whole warnings up to 4,096 characters; none cut in the middle."""
    verdict = Verdict(answer=Answer.WARN, would=Answer.WARN, warnings=("a" * 3000, "b" * 3000))
    assert answered(verdict)["warnings"] == ["a" * 3000]


def test_a_pod_delete_keeps_what_the_pod_was() -> None:
    """The trimmed object before is what rules read."""
    request = decoded(
        kind={"group": "", "version": "v1", "kind": "Pod"},
        resource={"group": "", "version": "v1", "resource": "pods"},
        oldObject=POD,
    )
    assert request.old is not None
    assert request.old.facts == PodFacts(ready=True, node="node-1")


def test_a_review_of_a_secret_tells_its_keys() -> None:
    """Which entries it has, and had, is known without the right to list Secrets; no value is."""
    old, new = (
        {"metadata": {"name": "login", "namespace": "shop", "uid": "u"}, "data": data}
        for data in ({"password": "aGlkZGVu", "user": "eA=="}, {"user": "eA=="})
    )
    request = decoded(
        kind={"group": "", "version": "v1", "kind": "Secret"},
        resource={"group": "", "version": "v1", "resource": "secrets"},
        operation="UPDATE",
        name="login",
        object=new,
        oldObject=old,
        options=None,
    )
    assert request.old is not None
    assert request.new is not None
    assert request.old.facts == KeysFacts(("password", "user"))
    assert request.new.facts == KeysFacts(("user",))
    assert "aGlkZGVu" not in repr((request.old, request.new))
