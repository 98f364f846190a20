"""An add-on that nobody is known to have made, and that a person deletes from the top of its file."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, service, thing, workload
from support.writes import body, trimmed
from suture.impact.causes.recent import remember
from suture.impact.effects import PrivilegeLost, ReferenceBroken
from suture.impact.ordinary.onefile import OF_ONE_FILE
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import (
    AUTOSCALERS,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    PRIORITY_CLASSES,
    SECRETS,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, WorkloadFacts
from suture.model.placement import Placement

LATER = START.plus_s(48 * 3600)
LONG_AGO = START.utc_s - 400 * 24 * 3600
PERSON, PIPELINE = "admin@example.com", "system:serviceaccount:ci:deployer"
FILE = "kubectl-client-side-apply"
RBAC = "rbac.authorization.k8s.io"
RIGHTS = (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
MOUNTS = (SERVICE_ACCOUNTS, CONFIG_MAPS)


def actor(name: str) -> Actor:
    return Actor(UserInfo(name), name, IdentityKind.OPERATOR, Stage.ENFORCE)


def applied(things: Iterable[ClusterObject], by: str = FILE) -> list[ClusterObject]:
    return [msgspec.structs.replace(one, created=LONG_AGO, managers=(by,)) for one in things]


def add_on(name: str = "exporter", *needs: Need) -> list[ClusterObject]:
    """Make what one file holds: account, role, binding, settings and Deployment, and its pods."""
    account, config, secret = (
        thing(kind, name, "ops") for kind in (SERVICE_ACCOUNTS, CONFIG_MAPS, SECRETS)
    )
    rules = [{"verbs": ["list"], "apiGroups": [""], "resources": ["services"]}]
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
    subject = {"kind": "ServiceAccount", "namespace": "ops", "name": name}
    role = trimmed(CLUSTER_ROLES, body("ClusterRole", name, "", rules=rules))
    binding = trimmed(
        CLUSTER_ROLE_BINDINGS,
        body("ClusterRoleBinding", name, "", roleRef=ref, subjects=[subject]),
    )
    runs = (
        Need(Edge.SERVICE_ACCOUNT, account.key),
        Need(Edge.CONFIG_MAP, config.key),
        Need(Edge.SECRET, secret.key),
        *needs,
    )
    made = [msgspec.structs.replace(one, needs=runs) for one in workload(name, "ops")]
    return applied([account, config, secret, role, binding, *made])


def but(resource: Resource, **parts: object) -> list[ClusterObject]:
    """Make an add-on of which one part is another."""
    return [
        msgspec.structs.replace(one, **parts) if one.key.resource == resource else one
        for one in add_on()
    ]


def seen(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(list(things)), History())


def lost(view: GraphView, resource: Resource, by: str = PERSON, name: str = "exporter") -> int:
    """Return how much at work would miss a part that is deleted."""
    row = view.find(ObjectKey(resource, "" if resource in RIGHTS else "ops", name))
    assert row is not None
    impact = impact_of(delete(view.at(row), by=actor(by)), view, now=LATER, by=actor(by))
    rights = sum(one.running for one in effects(impact, PrivilegeLost))
    return rights + sum(one.current for one in effects(impact, ReferenceBroken))


def take(view: GraphView, resource: Resource, name: str = "exporter") -> None:
    row = view.find(ObjectKey(resource, "" if resource in RIGHTS else "ops", name))
    assert row is not None
    request = delete(view.at(row), by=actor(PERSON))
    remember(request, project(request, view), view, LATER)


@pytest.mark.parametrize("resource", [*MOUNTS, *RIGHTS], ids=str)
def test_the_parts_of_an_add_on_go_before_it(resource: Resource) -> None:
    """They came in one minute, by one hand, are called after it, and it alone has them."""
    assert lost(seen(*add_on()), resource) == 0


def test_an_account_that_says_nothing_has_no_writer() -> None:
    """The API server keeps no manager of it, where nothing but its name was given."""
    assert lost(seen(*but(SERVICE_ACCOUNTS, managers=())), SERVICE_ACCOUNTS) == 0
    assert lost(seen(*but(SERVICE_ACCOUNTS, managers=("terraform",))), SERVICE_ACCOUNTS) > 0


def test_not_by_a_machine_and_not_what_is_in_no_file() -> None:
    """The incidents: an operator errs everywhere; a password is not had again."""
    view = seen(*add_on())
    assert all(lost(view, resource, PIPELINE) for resource in (*MOUNTS, *RIGHTS))
    assert lost(view, SECRETS) == 1


RELEASE = Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "ops", "exporter"))
OF_SYSTEM = Need(Edge.PRIORITY_CLASS, ObjectKey(PRIORITY_CLASSES, "", "system-node-critical"))
OF_A_NODE = WorkloadFacts(1, placement=Placement(host_network=True))
KEEPER = thing(Resource("example.com", "exporters"), "exporter", "ops")
SCALER = msgspec.structs.replace(
    thing(AUTOSCALERS, "exporter", "ops", facts=AutoscalerFacts(least=0, most=5)),
    needs=(Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "ops", "exporter")),),
)


@pytest.mark.parametrize(
    "things",
    [
        pytest.param(but(CONFIG_MAPS, created=LONG_AGO + 600), id="it came later"),
        pytest.param(but(CONFIG_MAPS, managers=("editor", FILE)), id="another wrote it"),
        pytest.param(but(CONFIG_MAPS, managers=()), id="nobody knows who wrote it"),
        pytest.param(but(DEPLOYMENTS, managers=("terraform",)), id="of another hand"),
        pytest.param(but(CONFIG_MAPS, needs=(RELEASE,)), id="a release keeps it"),
        pytest.param([KEEPER, *but(DEPLOYMENTS, owners=(owner(KEEPER),))], id="a resource keeps it"),
        pytest.param([SCALER, *add_on()], id="a scaler wakes it"),
        pytest.param([service("exporter", "ops"), *add_on()], id="it is reached"),
        pytest.param(add_on("exporter", OF_SYSTEM), id="the cluster stands on it"),
        pytest.param(but(DEPLOYMENTS, facts=OF_A_NODE), id="it has its node's network"),
        pytest.param(
            [*add_on(), *applied(msgspec.structs.replace(one, needs=(
                Need(Edge.CONFIG_MAP, ObjectKey(CONFIG_MAPS, "ops", "exporter")),))
                for one in workload("reader", "ops"))],
            id="another reads it",
        ),
    ],
)  # fmt: skip
def test_what_others_have_a_part_in_is_in_use(things: list[ClusterObject]) -> None:
    """The incidents: the same delete, by the same person, of what is not theirs alone."""
    assert lost(seen(*things), CONFIG_MAPS) > 0


def test_what_somebody_is_known_to_have_made() -> None:
    """Then who did decides, and not what the cluster tells."""
    view = seen(*add_on())
    made = view.at(view.find(ObjectKey(CONFIG_MAPS, "ops", "exporter")) or 0)
    view.history.note_created(made.uid, PIPELINE, PIPELINE, made.key, START)
    assert lost(view, CONFIG_MAPS) == 1


def test_who_runs_what_is_there_is_depended_on() -> None:
    view = seen(KEEPER, *add_on())
    assert lost(view, CLUSTER_ROLES) == 0
    account = actor("system:serviceaccount:ops:exporter")
    view.history.habits.note(update(KEEPER, KEEPER, by=account, subresource="status"))
    assert lost(view, CLUSTER_ROLES) == 1


def test_a_part_is_called_after_its_workload() -> None:
    """The incident: settings that only this workload reads today, and that are for all."""
    things = add_on("exporter-a")
    shared = msgspec.structs.replace(things[1], key=ObjectKey(CONFIG_MAPS, "ops", "exporter"))
    need = Need(Edge.CONFIG_MAP, shared.key)
    things = [
        msgspec.structs.replace(one, needs=(need,)) if one.key.resource in (DEPLOYMENTS, PODS)
        else one
        for one in things
    ]  # fmt: skip
    assert lost(seen(*things, shared), CONFIG_MAPS) == 1


def test_one_add_on_within_the_hour() -> None:
    """The incident: whoever goes through them takes the settings of one after the other."""
    view = seen(*add_on("first"), *add_on("second"))
    take(view, SERVICE_ACCOUNTS, "first")
    assert lost(view, CONFIG_MAPS, name="second") == 1
    assert lost(view, CLUSTER_ROLES, name="second") == 1


def test_so_many_rights_within_the_hour() -> None:
    view = seen(*add_on())
    for number in range(OF_ONE_FILE):
        assert lost(view, CLUSTER_ROLES) == 0, number
        take(view, CLUSTER_ROLES)
    assert lost(view, CLUSTER_ROLES) == 1
