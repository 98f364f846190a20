"""Which requests a constraint applies to."""

from __future__ import annotations

import msgspec
import pytest

from support.cases import OPERATOR, case, request
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import Gvk, ObjectKey, Operation, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Collection, Request
from suture.policy.compile import compile_policies
from suture.policy.matching import Match, Reach
from suture.wire.yaml import read_documents

DOCUMENTS = """\
apiVersion: policies.suture.dev/v1alpha1
kind: PolicyTemplate
metadata: {{name: anything}}
spec:
  constraintKind: Anything
  violations: [{{when: "true", message: "'any'"}}]
---
apiVersion: policies.suture.dev/v1alpha1
kind: Anything
metadata: {{name: anything}}
spec:
  match: {match}
"""


def match_of(text: str) -> Match:
    [bound] = compile_policies(read_documents(DOCUMENTS.format(match=text), "t.yaml")).constraints
    return bound.match


def labelled(**labels: str) -> ClusterObject:
    key = ObjectKey(Resource("", "services"), "shop", "web")
    return ClusterObject(key, "uid", Gvk("", "v1", "Service"), labels=labels)


EVICTION = request("pods", "web-1", operation=Operation.CREATE, subresource="eviction")
NAMESPACE = request("namespaces", "shop", namespace="")
NODE = request("nodes", "node-1", namespace="")


@pytest.mark.parametrize(
    ("match", "asked", "applies"),
    [
        pytest.param("{}", request(), True, id="nothing-said-excludes-nothing"),
        pytest.param(f"{{operators: ['{OPERATOR}']}}", request(), True, id="operator"),
        pytest.param("{operators: ['system:serviceaccount:balancers:*']}", request(), True, id="operator-glob"),
        pytest.param("{operators: [other]}", request(), False, id="another-operator"),
        pytest.param("{excludedOperators: ['*:load-*']}", request(), False, id="operator-excluded"),
        pytest.param("{operations: [DELETE]}", request(), True, id="operation"),
        pytest.param("{operations: [UPDATE]}", request(), False, id="another-operation"),
        pytest.param("{operations: ['*']}", request(), True, id="any-operation"),
        pytest.param("{kinds: [{groups: [''], resources: [services]}]}", request(), True, id="kind"),
        pytest.param("{kinds: [{groups: [apps], resources: [services]}]}", request(), False, id="another-group"),
        pytest.param("{kinds: [{groups: ['*'], resources: [services]}]}", request(), True, id="any-group"),
        pytest.param("{kinds: [{groups: [''], resources: ['*']}]}", request(), True, id="any-resource"),
        pytest.param("{kinds: [{groups: [''], resources: [pods]}]}", EVICTION, False, id="not-its-subresource"),
        pytest.param("{kinds: [{groups: [''], resources: [pods/eviction]}]}", EVICTION, True, id="subresource"),
        pytest.param("{kinds: [{groups: [''], resources: [pods]}, {groups: [''], resources: [services]}]}", request(), True, id="one-of-several"),
        pytest.param("{namespaces: [shop]}", request(), True, id="namespace"),
        pytest.param("{namespaces: ['team-*', 'sh*p']}", request(), True, id="namespace-glob"),
        pytest.param("{namespaces: ['sho']}", request(), False, id="not-a-prefix"),
        pytest.param("{namespaces: [shop]}", NAMESPACE, True, id="a-namespace-happens-in-itself"),
        pytest.param("{namespaces: ['*']}", NODE, False, id="nowhere-is-in-no-namespace"),
        pytest.param("{excludedNamespaces: [kube-*, shop]}", request(), False, id="namespace-excluded"),
        pytest.param("{excludedNamespaces: [kube-*]}", NODE, True, id="nowhere-is-not-excluded"),
        pytest.param("{names: ['we*']}", request(), True, id="name"),
        pytest.param("{names: [api]}", request(), False, id="another-name"),
        pytest.param("{names: ['web.1']}", request(name="webx1"), False, id="a-dot-is-a-dot"),
        pytest.param("{names: [api]}", request(name="", extent=Collection()), True, id="a-whole-collection-may-hold-it"),
    ],
)  # fmt: skip
def test_matching(match: str, asked: Request, applies: bool) -> None:
    assert match_of(match).matches(case(asked=asked)) is applies


@pytest.mark.parametrize(
    ("match", "applies"),
    [
        pytest.param("{operators: [balancer]}", True, id="profile"),
        pytest.param(f"{{operators: ['{OPERATOR}']}}", True, id="user"),
        pytest.param("{operators: ['system:serviceaccount:balancers:*']}", True, id="user-glob"),
        pytest.param("{operators: [other]}", False, id="another"),
        pytest.param("{excludedOperators: [balancer]}", False, id="profile-excluded"),
        pytest.param(f"{{excludedOperators: ['{OPERATOR}']}}", False, id="user-excluded"),
        pytest.param("{excludedOperators: [other]}", True, id="another-excluded"),
    ],
)
def test_an_enrolled_operator_has_two_names(match: str, applies: bool) -> None:
    """Its profile's, and the user name of whoever asks."""
    enrolled = Actor(UserInfo(OPERATOR), "balancer", IdentityKind.OPERATOR, Stage.ENFORCE)
    assert match_of(match).matches(case(by=enrolled)) is applies


@pytest.mark.parametrize(
    ("old", "new", "applies"),
    [
        pytest.param(labelled(app="web"), None, True, id="deleted"),
        pytest.param(None, labelled(app="web"), True, id="created"),
        pytest.param(labelled(app="web"), labelled(app="api"), True, id="label-taken-away"),
        pytest.param(labelled(app="api"), labelled(app="api"), False, id="never-had-it"),
        pytest.param(None, None, False, id="unseen"),
    ],
)
def test_labels_of_before_or_after(
    old: ClusterObject | None, new: ClusterObject | None, applies: bool
) -> None:
    """A change that takes the label away is still seen."""
    match = match_of("{labelSelector: {matchLabels: {app: web}}}")
    asked = msgspec.structs.replace(request(), old=old, new=new)
    assert match.matches(case(asked=asked)) is applies


def test_reach() -> None:
    reach = Reach("UPDATE", "*", "pods/eviction")
    assert reach.covers("UPDATE", "policy", "pods/eviction")
    assert not reach.covers("UPDATE", "policy", "pods")
    assert not reach.covers("CREATE", "", "pods/eviction")
