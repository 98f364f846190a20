"""Roles that give less: by whom they are written, and through the parts that they are made of."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, update
from support.cluster import delete, graph_of, operator, workload
from support.writes import body, trimmed
from suture.impact.effects import PrivilegeLost
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject

API = "rbac.authorization.k8s.io"
PERSON = Actor(UserInfo("jo@example.com"), "jo@example.com", IdentityKind.PERSON, Stage.ENFORCE)
HELM = {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}
PODS_RULE = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}
LEASES_RULE = {"verbs": ["update"], "apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
BOTH = (PODS_RULE, LEASES_RULE)


def read(resource: Resource, kind: str, name: str, **parts: Any) -> ClusterObject:
    return trimmed(resource, body(kind, name, "", apiVersion=f"{API}/v1", **parts))


def role(
    *rules: dict[str, Any],
    by: tuple[str, ...] = ("install",),
    name: str = "web",
    marks: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    **parts: Any,
) -> ClusterObject:
    metadata: dict[str, Any] = {"managedFields": [{"manager": one} for one in by]}
    if marks:
        labels = {"app.kubernetes.io/managed-by": "Helm", **(labels or {})}
        metadata["annotations"] = marks
    metadata["labels"] = labels or {}
    return read(CLUSTER_ROLES, "ClusterRole", name, rules=list(rules), metadata=metadata, **parts)


def binding(of: str = "web") -> ClusterObject:
    return read(
        CLUSTER_ROLE_BINDINGS, "ClusterRoleBinding", "web",
        roleRef={"apiGroup": API, "kind": "ClusterRole", "name": of},
        subjects=[{"kind": "ServiceAccount", "namespace": "prod", "name": "web"}],
    )  # fmt: skip


def running() -> list[ClusterObject]:
    need = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "prod", "web"))
    return [replace(one, needs=(need,)) for one in workload("web", replicas=2)]


def lost(
    before: ClusterObject, after: ClusterObject, *rest: ClusterObject, by: Actor | None = None
) -> list[tuple[int, bool]]:
    """Return how many rights are lost, and whether that is taken for a wipe."""
    view = GraphView(graph_of(before, rest, running()))
    actor = by or operator()
    request = replace(update(before, after), user=actor.user)
    impact = estimate(request, project(request, view), view, actor)
    return [(one.rights, one.wiped) for one in effects(impact, PrivilegeLost)]


def test_who_never_wrote_a_role_takes_rights_out_under_those_at_work() -> None:
    """Two versions of a product share a role, and the older one writes its own rules into it."""
    old, new = role(*BOTH), role(PODS_RULE, by=("install", "other"))
    assert lost(old, new, binding()) == [(1, True)]


@pytest.mark.parametrize(
    ("old", "new", "by"),
    [
        pytest.param(role(*BOTH), role(PODS_RULE), None, id="by-who-wrote-it-before"),
        pytest.param(role(*BOTH), role(PODS_RULE, by=("kubectl",)), PERSON, id="by-hand"),
        pytest.param(
            role(*BOTH, marks=HELM), role(PODS_RULE, by=("helm",), marks=HELM), None,
            id="the-next-version-of-its-release",
        ),
        pytest.param(
            role(*BOTH), role(PODS_RULE, by=("helm",), marks=HELM), None, id="taken-over-by-one"
        ),
        pytest.param(
            role(*BOTH),
            role(PODS_RULE, {**LEASES_RULE, "verbs": ["get"]}, by=("other",)),
            None,
            id="others-in-their-place",
        ),
    ],
)  # fmt: skip
def test_a_role_that_is_narrowed_on_purpose_is_told_as_before(
    old: ClusterObject, new: ClusterObject, by: Actor | None
) -> None:
    """Less is given, and nobody takes it for a slip."""
    assert lost(old, new, binding(), by=by) == [(1, False)]


def test_who_adds_rights_or_writes_them_otherwise_takes_none() -> None:
    """A role that gives as much, by whatever rules, is no narrower."""
    split = [{**PODS_RULE, "verbs": [verb]} for verb in PODS_RULE["verbs"]]
    assert lost(role(*BOTH), role(*split, LEASES_RULE, by=("other",)), binding()) == []


def total(*rules: dict[str, Any]) -> ClusterObject:
    chosen = {"clusterRoleSelectors": [{"matchLabels": {"to-web": "true"}}]}
    return role(*rules, name="total", aggregationRule=chosen)


MARKED = {"to-web": "true"}


@pytest.mark.parametrize(
    ("after", "found"),
    [
        pytest.param(role(*BOTH, name="part"), [(3, True)], id="its-label-goes"),
        pytest.param(role(PODS_RULE, name="part", labels=MARKED), [(1, False)], id="a-rule-goes"),
        pytest.param(role(*BOTH, name="part", labels={**MARKED, "a": "b"}), [], id="a-label-more"),
    ],
)
def test_what_a_part_gives_no_more_the_whole_gives_no_more(
    after: ClusterObject, found: list[tuple[int, bool]]
) -> None:
    """The accounts that are bound to the whole lose it, though nobody has written that."""
    part = role(*BOTH, name="part", labels=MARKED)
    assert lost(part, after, total(*BOTH), binding("total")) == found


def test_what_another_part_gives_too_is_kept() -> None:
    """Two parts with the same rules: one may go."""
    part, other = (role(PODS_RULE, name=name, labels=MARKED) for name in ("part", "other"))
    after = role(PODS_RULE, name="part")
    assert lost(part, after, other, total(PODS_RULE), binding("total")) == []


def test_the_control_plane_fills_what_is_made_of_parts() -> None:
    """Its first write of such a role is no stranger's."""
    filled = replace(total(PODS_RULE), managers=("install", "controller"))
    assert lost(total(*BOTH), filled, binding("total")) == [(1, False)]


def missed(*parts: ClusterObject, whole: ClusterObject) -> list[int]:
    """Return how many rights those bound to the whole lose with the first part."""
    view = GraphView(graph_of(parts, whole, binding("total"), running()))
    impact = estimate(request := delete(parts[0]), project(request, view), view, operator())
    return [one.rights for one in effects(impact, PrivilegeLost)]


def test_a_role_that_is_made_of_a_part_that_goes() -> None:
    """Nothing is bound to the part itself, and those at work by the whole have nothing left."""
    part = role(*BOTH, name="part", labels=MARKED)
    assert missed(part, whole=total(*BOTH)) == [3]


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        pytest.param(
            (role(LEASES_RULE, name="addon", labels=MARKED),
             role(PODS_RULE, name="main", labels=MARKED)),
            total(*BOTH), id="an-addons-in-the-roles-of-all-users",
        ),
        pytest.param(
            (role(*BOTH, name="part", labels=MARKED),
             role(*BOTH, {**PODS_RULE, "verbs": ["watch"]}, name="next", labels=MARKED)),
            total(*BOTH), id="the-next-gives-as-much",
        ),
        pytest.param((role(*BOTH, name="former"),), total(*BOTH), id="of-no-whole"),
        pytest.param((role(*BOTH, name="part", labels=MARKED),), total(), id="not-filled-yet"),
    ],
)  # fmt: skip
def test_a_part_that_goes_and_is_hardly_missed(
    parts: tuple[ClusterObject, ...], whole: ClusterObject
) -> None:
    """What an add-on gave goes with it, and what another part gives stays."""
    assert missed(*parts, whole=whole) == []
