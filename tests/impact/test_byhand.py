"""An application that a person made by hand, all of it, and deletes from the top of its file."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, owner, service, thing, workload
from support.writes import body, trimmed
from suture.impact.causes.recent import remember
from suture.impact.effects import PrivilegeLost, ReferenceBroken, RouteBroken
from suture.impact.ordinary.byhand import RETIRED
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
    INGRESSES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, ServiceFacts
from suture.model.request import CollectionItem

LATER = START.plus_s(48 * 3600)
PERSON, PIPELINE = "developer@example.com", "system:serviceaccount:ci:deployer"
RELEASE = ObjectKey(RELEASES, "prod", "wiki")


def actor(name: str) -> Actor:
    return Actor(UserInfo(name), name, IdentityKind.OPERATOR, Stage.ENFORCE)


def application(*, face: str = "ClusterIP", mark: bool = False) -> list[ClusterObject]:
    """Make what one file holds: account, Secret, ConfigMap, Service, Deployment and Ingress."""
    account, secret, config = (
        thing(kind, "wiki", "prod") for kind in (SERVICE_ACCOUNTS, SECRETS, CONFIG_MAPS)
    )
    root, *others = workload("wiki", replicas=2)
    needs = (
        Need(Edge.SERVICE_ACCOUNT, account.key),
        Need(Edge.SECRET, secret.key),
        Need(Edge.CONFIG_MAP, config.key),
    )
    front = service("wiki")
    assert isinstance(front.facts, ServiceFacts)
    front = msgspec.structs.replace(front, facts=msgspec.structs.replace(front.facts, type=face))
    route = msgspec.structs.replace(
        thing(INGRESSES, "wiki", "prod"), needs=(Need(Edge.ROUTES_TO, front.key),)
    )
    marks = (Need(Edge.MANAGED_BY, RELEASE),) if mark else ()
    root = msgspec.structs.replace(root, needs=(*needs, *marks))
    return [account, secret, config, front, root, *others, route]


def cluster(
    things: Iterable[ClusterObject], by: str = PERSON, *, but: Resource | None = None
) -> GraphView:
    """Make a cluster in which somebody made all that has no owner, but for one type."""
    listed, history = list(things), History()
    for one in listed:
        if not one.owners:
            who = "somebody@example.com" if one.key.resource == but else by
            history.note_created(one.uid, who, who, one.key, START)
    return GraphView(graph_of(listed), history)


def in_use(view: GraphView, resource: Resource, by: str = PERSON) -> bool:
    """Whether an object of the application that is deleted is told to be in use, or led to."""
    row = view.find(ObjectKey(resource, "prod", "wiki"))
    assert row is not None
    impact = impact_of(delete(view.at(row), by=actor(by)), view, now=LATER, by=actor(by))
    return any(one.current for one in effects(impact, ReferenceBroken)) or any(
        not one.explained for one in effects(impact, RouteBroken)
    )


PARTS = (SERVICE_ACCOUNTS, SECRETS, CONFIG_MAPS, SERVICES)


@pytest.mark.parametrize("resource", PARTS, ids=str)
def test_what_a_person_made_goes_in_the_order_of_its_file(resource: Resource) -> None:
    """The account first, the Deployment and its route last; what is named is warned about."""
    view = cluster(application())
    assert not in_use(view, resource)
    if resource != SERVICES:
        row = view.find(ObjectKey(resource, "prod", "wiki"))
        assert row is not None
        request = delete(view.at(row), by=actor(PERSON))
        impact = impact_of(request, view, now=LATER, by=actor(PERSON))
        (told,) = effects(impact, ReferenceBroken)
        assert told.past > 0
        assert not told.explained


@pytest.mark.parametrize("resource", PARTS, ids=str)
@pytest.mark.parametrize("but", [*PARTS, INGRESSES], ids=str)
def test_what_others_have_a_part_in_is_in_use(resource: Resource, but: Resource) -> None:
    """The twin: the same delete of an application of which somebody else made what counts."""
    view = cluster(application(), but=but)
    counts = but in (resource, SERVICES, INGRESSES)
    assert in_use(view, resource) is counts


def test_a_machine_is_not_believed() -> None:
    """The incident: what an operator made, and takes away by mistake, in every namespace."""
    view = cluster(application(), PIPELINE)
    assert all(in_use(view, resource, PIPELINE) for resource in PARTS)


def test_what_a_release_keeps_or_the_world_reads() -> None:
    """A release says itself what it drops; from outside somebody may read what nothing names."""
    assert in_use(cluster(application(mark=True)), SECRETS)
    assert in_use(cluster(application(face="LoadBalancer")), SECRETS)


def test_a_collection_is_not_an_application() -> None:
    view = cluster(application())
    row = view.find(ObjectKey(SECRETS, "prod", "wiki"))
    assert row is not None
    request = delete(view.at(row), by=actor(PERSON), extent=CollectionItem())
    request = msgspec.structs.replace(request, name="")
    impact = impact_of(request, view, now=LATER, by=actor(PERSON))
    assert [one.current for one in effects(impact, ReferenceBroken)] == [1]


def test_so_many_within_the_hour() -> None:
    """A person, or a program of theirs, that does it over and over sweeps."""
    view = cluster(application())
    for number in range(RETIRED):
        assert not in_use(view, SECRETS), number
        row = view.find(ObjectKey(CONFIG_MAPS, "prod", "wiki"))
        assert row is not None
        request = delete(view.at(row), by=actor(PERSON))
        remember(request, project(request, view), view, LATER)
    assert in_use(view, SECRETS)


def at_rest(*others: ClusterObject, size: int = 0) -> list[ClusterObject]:
    """Make an application that a release keeps, the size of which is as given."""
    account, secret, config, _, root, *_ = application(mark=True)
    (workload_, *pods) = workload("wiki", replicas=size)
    root = msgspec.structs.replace(root, facts=workload_.facts)
    return [account, secret, config, root, *(pods if size else pods[:1]), *others]


def test_what_a_workload_at_rest_names_goes_before_it() -> None:
    """Whoever made both; a pipeline may take what wakes in the morning for what nobody uses."""
    view = cluster(at_rest(), but=CONFIG_MAPS)
    assert not any(in_use(view, resource) for resource in (SECRETS, CONFIG_MAPS))
    assert in_use(view, SECRETS, PIPELINE)


SCALER = thing(AUTOSCALERS, "wiki", "prod", facts=AutoscalerFacts(least=0, most=5))
KEEPER = thing(Resource("example.com", "wikis"), "wiki", "prod")


@pytest.mark.parametrize(
    "things",
    [
        pytest.param(at_rest(size=1), id="it runs"),
        pytest.param(
            at_rest(
                msgspec.structs.replace(
                    SCALER, needs=(Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", "wiki")),)
                )
            ),
            id="an autoscaler wakes it",
        ),
        pytest.param(
            [
                msgspec.structs.replace(one, owners=(owner(KEEPER),))
                if one.key.resource == DEPLOYMENTS
                else one
                for one in at_rest(KEEPER)
            ],
            id="a resource keeps it",
        ),
    ],
)
def test_what_may_wake_needs_what_it_names(things: list[ClusterObject]) -> None:
    """The twins: the same delete, by the same person."""
    assert in_use(cluster(things, but=CONFIG_MAPS), SECRETS)


RBAC = "rbac.authorization.k8s.io"
OF_CLUSTER = {CLUSTER_ROLES: "ClusterRole", CLUSTER_ROLE_BINDINGS: "ClusterRoleBinding"}


def with_rights() -> list[ClusterObject]:
    """Make such an application whose pods may read the Services of the whole cluster."""
    rules = [{"verbs": ["list"], "apiGroups": [""], "resources": ["services"]}]
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "wiki"}
    subject = {"kind": "ServiceAccount", "namespace": "prod", "name": "wiki"}
    parts: list[dict[str, object]] = [{"rules": rules}, {"roleRef": ref, "subjects": [subject]}]
    need = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "prod", "wiki"))
    return [
        *(
            trimmed(resource, body(kind, "wiki", "", apiVersion=f"{RBAC}/v1", **more))
            for (resource, kind), more in zip(OF_CLUSTER.items(), parts, strict=True)
        ),
        *(
            msgspec.structs.replace(one, needs=(need,)) if one.key.resource == PODS else one
            for one in application()
        ),
    ]


def missed(view: GraphView, resource: Resource, by: str = PERSON) -> int:
    """Return how many running pods would miss the rights that go with a role, or its binding."""
    row = view.find(ObjectKey(resource, "", "wiki"))
    assert row is not None
    impact = impact_of(delete(view.at(row), by=actor(by)), view, now=LATER, by=actor(by))
    return sum(one.running for one in effects(impact, PrivilegeLost))


@pytest.mark.parametrize("resource", OF_CLUSTER, ids=str)
def test_rights_in_the_whole_cluster_go_in_the_order_of_the_file(resource: Resource) -> None:
    """A file begins with them; who took over a part of it, or a machine, is not believed."""
    assert missed(cluster(with_rights()), resource) == 0
    assert missed(cluster(with_rights(), but=resource), resource) == 2
    assert missed(cluster(with_rights(), but=DEPLOYMENTS), resource) == 2
    assert missed(cluster(with_rights(), PIPELINE), resource, PIPELINE) == 2


@pytest.mark.parametrize("resource", OF_CLUSTER, ids=str)
def test_who_takes_the_rights_of_one_after_the_other(resource: Resource) -> None:
    """The incident: all that somebody ever bound, by a label, the applications running on."""
    view = cluster(with_rights())
    row = view.find(ObjectKey(resource, "", "wiki"))
    assert row is not None
    for number in range(RETIRED):
        assert missed(view, resource) == 0, number
        request = delete(view.at(row), by=actor(PERSON))
        remember(request, project(request, view), view, LATER)
    assert missed(view, resource) == 2
