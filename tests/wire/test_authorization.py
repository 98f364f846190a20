"""Access reviews become what is asked; decisions become answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.errors import ReviewError
from suture.model import names
from suture.model.names import Gvr, ObjectKey, Operation
from suture.model.request import Collection, One
from suture.model.selectors import Operator, Requirement, Selector
from suture.wire.authorization import Access, AccessAsked, decode_access, encode_access


def asked(attributes: dict[str, Any] | None = None, **spec: Any) -> AccessAsked:
    """Return what a review with these resource attributes is read as."""
    if attributes is not None:
        spec["resourceAttributes"] = attributes
    return decode_access(
        json.dumps(
            {
                "kind": "SubjectAccessReview",
                "apiVersion": "authorization.k8s.io/v1",
                "metadata": {"creationTimestamp": None},
                "spec": {
                    "user": "system:serviceaccount:balancer:operator",
                    "groups": ["system:serviceaccounts"],
                    "extra": {"scopes.example.com": ["a"]},
                    "uid": "0d7e",
                    **spec,
                },
                "status": {"allowed": False},
            }
        ).encode()
    )


SERVICES = {"namespace": "shop", "version": "v1", "resource": "services"}
ALL = {"verb": "deletecollection", **SERVICES}


def collection(**more: Any) -> Collection:
    """Return the extent of a collection of Services."""
    deletion = asked({**ALL, **more}).deletion
    assert deletion is not None
    assert isinstance(deletion.extent, Collection)
    return deletion.extent


def test_a_collection_without_a_selector_is_told_apart_from_an_empty_one() -> None:
    """None given, given and empty, given and readable: three different things."""
    assert collection() == Collection(None)
    assert collection(labelSelector={"requirements": []}) == Collection(Selector())
    requirements = [
        {"key": "app", "operator": "In", "values": ["web", "api"]},
        {"key": "keep", "operator": "DoesNotExist"},
    ]
    assert collection(labelSelector={"requirements": requirements}) == Collection(
        Selector(
            (
                Requirement("app", Operator.IN, ("api", "web")),
                Requirement("keep", Operator.DOES_NOT_EXIST),
            )
        )
    )


def test_a_requirement_that_is_not_understood_selects_more_never_less() -> None:
    """What a newer API server may say must not make a collection look smaller."""
    requirements = [{"key": "app", "operator": "Like", "values": ["w*"]}]
    assert collection(labelSelector={"requirements": requirements}) == Collection(Selector())
    assert collection(labelSelector={"rawSelector": "app in (("}) == Collection(Selector())
    assert collection(labelSelector={"rawSelector": "app=web"}) == Collection(
        Selector.of({"app": "web"})
    )


def test_a_field_selector_restricts_the_collection_too() -> None:
    """As requirements, or as the text alone; given and empty it restricts nothing."""
    fields = {"requirements": [{"key": "metadata.name", "operator": "In", "values": ["web"]}]}
    wanted = Collection(None, Selector.of({"metadata.name": "web"}))
    assert collection(fieldSelector=fields) == wanted
    assert collection(fieldSelector={"rawSelector": "metadata.name=web"}) == wanted
    assert collection(fieldSelector={"requirements": []}).everything


def test_a_delete_of_one_is_a_request_too() -> None:
    """The authorizer's question and admission's have the same key and user."""
    question = asked({"verb": "delete", "name": "web", **SERVICES})
    deletion = question.deletion
    assert deletion is not None
    assert deletion.operation is Operation.DELETE
    assert deletion.extent == One()
    assert deletion.key == ObjectKey(names.SERVICES, "shop", "web")
    assert deletion.user.username == "system:serviceaccount:balancer:operator"
    assert deletion.user.extra == {"scopes.example.com": ("a",)}


def test_a_namespace_is_not_in_itself() -> None:
    """The API server asks about a Namespace in its own namespace; its key has none."""
    question = asked(
        {
            "verb": "delete",
            "namespace": "shop",
            "name": "shop",
            "version": "v1",
            "resource": "namespaces",
        }
    )
    assert question.deletion is not None
    assert question.deletion.key == ObjectKey(names.NAMESPACES, "", "shop")


@pytest.mark.parametrize("verb", ["create", "update", "patch", "get", "impersonate", "*"])
def test_other_verbs_are_no_deletes(verb: str) -> None:
    """They are known by verb, resource and user, which is what quarantine needs."""
    question = asked({"verb": verb, "name": "web", "subresource": "status", **SERVICES})
    assert question.deletion is None
    assert question.verb == verb
    assert question.gvr == Gvr("", "v1", "services")
    assert question.subresource == "status"


def test_a_path_is_no_resource() -> None:
    """`/metrics` and its like are asked by path and verb."""
    question = asked(nonResourceAttributes={"path": "/metrics", "verb": "get"})
    assert (question.gvr, question.path, question.verb) == (None, "/metrics", "get")
    assert question.deletion is None


def test_a_review_about_nothing_is_malformed() -> None:
    """Neither a resource nor a path: there is no question."""
    with pytest.raises(ReviewError, match="neither"):
        asked()


@given(body=st.binary(max_size=200))
def test_bytes_are_a_question_or_a_review_error(body: bytes) -> None:
    """No bytes make anything else."""
    with pytest.raises(ReviewError):
        decode_access(body)


@pytest.mark.parametrize("body", [b"{}", b"[" * 100_000, b'{"spec":{"user":1}}'])
def test_what_is_no_review_is_a_review_error(body: bytes) -> None:
    """Nothing else is ever raised at whoever posts."""
    with pytest.raises(ReviewError):
        decode_access(body)


@pytest.mark.parametrize(
    ("access", "status"),
    [
        (Access.ALLOWED, {"allowed": True, "reason": "why"}),
        (Access.DENIED, {"allowed": False, "denied": True, "reason": "why"}),
        (Access.NO_OPINION, {"allowed": False, "reason": "why"}),
    ],
)
def test_answers(access: Access, status: dict[str, Any]) -> None:
    """Not allowed and not denied leaves the decision to the next authorizer."""
    assert json.loads(encode_access(access, "why")) == {
        "status": status,
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
    }
