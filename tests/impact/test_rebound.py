"""Bindings that are deleted to be made again with another role, and those that only go."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, thing, workload
from support.cluster import view_of as cluster_of
from support.writes import body, trimmed
from suture.impact.causes.recent import remember
from suture.impact.effects import PrivilegeLost
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
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
APPLICATIONS = Resource("argoproj.io", "applications")
ARGO = operator("system:serviceaccount:argocd:argocd-application-controller")
ME = operator()
NOW = START.plus_s(48 * 3600)
APPLICATION = thing(APPLICATIONS, "rights", "argocd")
ROLE = trimmed(
    CLUSTER_ROLES,
    body(
        "ClusterRole",
        "reader",
        "",
        apiVersion=f"{API}/v1",
        rules=[{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
    ),
)


def binding(number: int, subject: dict[str, str] | None = None) -> ClusterObject:
    """Make a binding of an account as which a workload runs, or of somebody else."""
    account = {"kind": "ServiceAccount", "namespace": f"ops-{number}", "name": "web"}
    return trimmed(
        CLUSTER_ROLE_BINDINGS,
        body(
            "ClusterRoleBinding",
            f"ops-{number}",
            "",
            apiVersion=f"{API}/v1",
            roleRef={"apiGroup": API, "kind": "ClusterRole", "name": "reader"},
            subjects=[subject or account],
        ),
    )


def running(number: int) -> list[ClusterObject]:
    key = ObjectKey(SERVICE_ACCOUNTS, f"ops-{number}", "web")
    return [
        msgspec.structs.replace(one, needs=(Need(Edge.SERVICE_ACCOUNT, key),))
        for one in workload("web", f"ops-{number}")
    ]


def marked(one: ClusterObject) -> ClusterObject:
    return msgspec.structs.replace(one, needs=(*one.needs, Need(Edge.MANAGED_BY, APPLICATION.key)))


def cluster(*bindings: ClusterObject, made_by: Actor | None = ME) -> GraphView:
    view = cluster_of(
        ROLE, APPLICATION, *bindings, *(running(number) for number in range(len(bindings)))
    )
    for one in bindings:
        if made_by is not None:
            by = made_by.user.username
            view.history.note_created(one.uid, by, by, one.key, START)
    return view


def passes(view: GraphView, one: ClusterObject, by: Actor = ME) -> bool:
    impact = impact_of(delete(one, by=by), view, by=by, now=NOW)
    (lost,) = effects(impact, PrivilegeLost)
    return lost.explained


def test_who_made_a_binding_may_make_it_anew() -> None:
    """Its role cannot be changed in place; nobody else may take it."""
    one = binding(0)
    assert passes(cluster(one), one)
    assert not passes(cluster(one), one, ARGO)
    assert not passes(cluster(one, made_by=None), one)


def test_what_works_for_the_application_that_keeps_it_may() -> None:
    one = marked(binding(0))
    assert passes(cluster(one, made_by=None), one, ARGO)
    assert not passes(cluster(one, made_by=None), one)


@pytest.mark.parametrize(
    ("by", "explained"),
    [
        pytest.param("ann@example.com", True, id="somebody asked for another"),
        pytest.param(ME.user.username, False, id="it did itself"),
        pytest.param("", False, id="nobody did"),
    ],
)
def test_what_keeps_it_asks_for_another_role(by: str, *, explained: bool) -> None:
    """Its controller takes the one away and makes the next; a role cannot be changed in place."""
    kept = thing(Resource("rights.example.com", "definitions"), "team", "")
    one = msgspec.structs.replace(binding(0), owners=(owner(kept),))
    view = cluster_of(ROLE, kept, one, running(0))
    for value in (1, 2) if by else ():
        view.history.writes.note(kept.key, Deed(What.WROTE, by, value), NOW)
    assert passes(view, one) is explained


def test_nothing_of_the_control_plane_goes_so() -> None:
    one = binding(0, {"kind": "Group", "name": "system:nodes"})
    assert not passes(cluster(one), one)


@pytest.mark.parametrize(
    ("again", "told"), [(True, [True] * 5), (False, [True, True] + [False] * 3)]
)
def test_one_after_the_other(*, again: bool, told: list[bool]) -> None:
    """The incident: bindings that do not come back; the third is refused, and all that follow."""
    bindings = [binding(number) for number in range(5)]
    view = cluster(*bindings)
    found = []
    for one in bindings:
        found.append(passes(view, one))
        if found[-1]:
            request = delete(one, by=ME)
            remember(request, project(request, view), view, NOW)
        if again:
            made = update(None, one, by=ME)
            remember(made, project(made, view), view, NOW)
    assert found == told
