"""What the record of a release, or an application, leaves out: whose Secret may go before it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable
from itertools import pairwise

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, service, thing, workload
from support.writes import body, trimmed
from suture.impact.causes.recent import remember
from suture.impact.causes.records import Named, objects_of
from suture.impact.effects import PrivilegeLost, ReferenceBroken, RouteBroken
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import (
    INGRESSES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Gvk,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject

APPLICATIONS = Resource("gitops.example.com", "applications")
HANDLER = operator("system:serviceaccount:gitops:controller")
STRANGER = operator("system:serviceaccount:tidy:controller")
RELEASE = ObjectKey(RELEASES, "prod", "shop")
SHOP = ObjectKey(APPLICATIONS, "gitops", "shop")
BOTH = "web", "cache"
RBAC = "rbac.authorization.k8s.io"


def component(name: str, keeper: ObjectKey) -> Iterable[ClusterObject]:
    """Make a Deployment that runs as an account and names a Secret, and what leads to it."""
    secret, account = thing(SECRETS, name, "prod"), thing(SERVICE_ACCOUNTS, name, "prod")
    face = service(name)
    route = msgspec.structs.replace(
        thing(INGRESSES, name, "prod"), gvk=Gvk(INGRESSES.group, "v1", "Ingress")
    )
    root, *others = workload(name)
    bodies = rights(name)
    parts = [
        (secret, ()),
        (account, ()),
        (root, (Need(Edge.SECRET, secret.key), Need(Edge.SERVICE_ACCOUNT, account.key))),
        (face, ()),
        (route, (Need(Edge.ROUTES_TO, face.key),)),
        *((one, one.needs) for one in bodies),
    ]
    for one, needs in parts:
        yield msgspec.structs.replace(one, needs=(Need(Edge.MANAGED_BY, keeper), *needs))
    for one in others:
        needs = (Need(Edge.SERVICE_ACCOUNT, account.key),) if one.key.resource == PODS else ()
        yield msgspec.structs.replace(one, needs=needs)


def rights(name: str) -> Iterable[ClusterObject]:
    """Make a role and its binding to the account of a component."""
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    yield trimmed(ROLES, body("Role", name, apiVersion=f"{RBAC}/v1", rules=[rule]))
    whom = {"kind": "ServiceAccount", "namespace": "prod", "name": name}
    of = {"apiGroup": RBAC, "kind": "Role", "name": name}
    bound = body("RoleBinding", name, apiVersion=f"{RBAC}/v1", roleRef=of, subjects=[whom])
    yield trimmed(ROLE_BINDINGS, bound)


class Cluster:
    """Two components of one keeper, and what was written of it."""

    def __init__(self, keeper: ObjectKey = RELEASE) -> None:
        shop = thing(APPLICATIONS, "shop", "gitops")
        parts = [one for name in BOTH for one in component(name, keeper)]
        self._things = [shop, *parts]
        self.view = GraphView(graph_of(self._things), History())
        self.view.history.habits.recall((), (), [(keeper, (HANDLER.user.username,))])

    def write(self, body: object, *, status: str = "pending-upgrade", name: str = "shop") -> None:
        """Let the record of a release be made."""
        labels = {"owner": "helm", "name": name, "status": status}
        record = thing(SECRETS, f"sh.helm.release.v1.{name}.v2", "prod", labels=labels)
        raw = b64encode(b64encode(gzip.compress(msgspec.json.encode(body)))).decode()
        made = msgspec.json.encode({"data": {"release": raw}})
        request = update(None, record, by=HANDLER, bodies=(b"", made))
        remember(request, project(request, self.view), self.view, START)

    def render(self, *parts: str, status: str = "pending-upgrade") -> None:
        self.write({"chart": {"name": "shop"}, "manifest": manifest(*parts)}, status=status)

    def refused(self, name: str, *, by: Actor = HANDLER, now: Now = START) -> bool:
        """Whether a Secret that goes is said to be in use by a workload of today."""
        row = self.view.find(ObjectKey(SECRETS, "prod", name))
        assert row is not None
        impact = impact_of(delete(self.view.at(row), by=by), self.view, by=by, now=now)
        (broken,) = effects(impact, ReferenceBroken)
        return broken.current > 0

    def at_work(
        self, resource: Resource, name: str, kind: type[PrivilegeLost | RouteBroken]
    ) -> bool:
        """Whether it is told that something runs on, or leads, without what goes."""
        row = self.view.find(ObjectKey(resource, "prod", name))
        assert row is not None
        request = delete(self.view.at(row), by=HANDLER)
        found = effects(impact_of(request, self.view, by=HANDLER), kind)
        return any(isinstance(one, RouteBroken) or one.running for one in found)

    def put(self, one: ClusterObject) -> None:
        """Let an object be there as well."""
        self.view = GraphView(graph_of(self._things, one), self.view.history)

    def stripped(self, name: str) -> bool:
        """Whether the loss of rights by a binding that goes is told without a cause."""
        row = self.view.find(ObjectKey(ROLE_BINDINGS, "prod", name))
        assert row is not None
        request = delete(self.view.at(row), by=HANDLER)
        found = effects(impact_of(request, self.view, by=HANDLER), PrivilegeLost)
        return any(not one.explained for one in found)


KINDS = (
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("networking.k8s.io/v1", "Ingress"),
    (f"{RBAC}/v1", "Role"),
    (f"{RBAC}/v1", "RoleBinding"),
)


def manifest(*parts: str) -> str:
    """Render some components as Helm does."""
    return "".join(
        f"---\n# Source: shop/{name}.yaml\napiVersion: {version}\nkind: {kind}\nmetadata:\n"
        f"  labels:\n    name: other\n  name: {name}\n  namespace: prod\nspec: {{}}\n"
        for name in parts
        for version, kind in KINDS
    )


def test_a_component_that_a_release_drops() -> None:
    """Helm deletes its Secret before the Deployment that names it; that of another stays in use."""
    cluster = Cluster()
    assert cluster.refused("cache")
    cluster.render("web")
    assert [cluster.refused(name) for name in BOTH] == [True, False]
    assert cluster.refused("cache", by=STRANGER)
    assert cluster.refused("cache", now=START.plus_s(2 * 3600))


LOSSES = [
    pytest.param(SERVICE_ACCOUNTS, PrivilegeLost, id="account"),
    pytest.param(ROLES, PrivilegeLost, id="role"),
    pytest.param(ROLE_BINDINGS, PrivilegeLost, id="binding"),
    pytest.param(SERVICES, RouteBroken, id="service"),
]


@pytest.mark.parametrize(("resource", "kind"), LOSSES)
def test_what_goes_before_its_users(
    resource: Resource, kind: type[PrivilegeLost | RouteBroken]
) -> None:
    """Pods lose nothing whose workload goes next, nor does a route that goes."""
    cluster = Cluster()
    assert cluster.at_work(resource, "cache", kind)
    cluster.render("web")
    assert [cluster.at_work(resource, name, kind) for name in BOTH] == [True, False]


def test_a_secret_alone_that_a_release_drops() -> None:
    """The incident: the chart names the Deployment still, and its Secret no more."""
    cluster = Cluster()
    documents = manifest(*BOTH).split("---\n")
    kept = [one for one in documents if not ("kind: Secret" in one and "name: cache" in one)]
    assert len(kept) == len(documents) - 1
    cluster.write({"manifest": "---\n".join(kept)})
    assert cluster.refused("cache")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"manifest": manifest("web") + "---\nkind: List\nitems: []\n"}, id="a list"),
        pytest.param({"manifest": ""}, id="nothing at all"),
        pytest.param({"manifest": "---\n# only words\n"}, id="no object"),
        pytest.param({}, id="no manifest"),
        pytest.param([], id="no release"),
        pytest.param({"manifest": manifest("web") + " " * (17 << 20)}, id="too long"),
    ],
)
def test_a_record_that_is_not_understood(body: object) -> None:
    """It says nothing of any object."""
    cluster = Cluster()
    cluster.write(body)
    assert cluster.refused("cache")


def test_a_record_that_is_no_base64() -> None:
    cluster = Cluster()
    labels = {"owner": "helm", "name": "shop", "status": "pending-upgrade"}
    record = thing(SECRETS, "sh.helm.release.v1.shop.v2", "prod", labels=labels)
    for data in ('{"release":"eQ=="}', '{"release":"*"}', '{"release":7}', "null"):
        request = update(None, record, by=HANDLER, bodies=(b"", b'{"data":%s}' % data.encode()))
        remember(request, project(request, cluster.view), cluster.view, START)
    assert cluster.refused("cache")


@pytest.mark.parametrize("status", ["deployed", "pending-install", "uninstalling"])
def test_a_record_of_something_else(status: str) -> None:
    """Only one that stands before a change says what goes next."""
    cluster = Cluster()
    cluster.render("web", status=status)
    assert cluster.refused("cache")


def test_a_component_that_is_wanted_again() -> None:
    """The upgrade failed, and the record of the rollback names it."""
    cluster = Cluster()
    cluster.render("web")
    cluster.render("web")
    assert not cluster.refused("cache")
    cluster.render(*BOTH, status="pending-rollback")
    assert cluster.refused("cache")


def test_another_release() -> None:
    """What a release leaves out of its own says nothing of the objects of another."""
    cluster = Cluster()
    cluster.write({"manifest": manifest("web")}, name="other")
    assert cluster.refused("cache")


@pytest.mark.parametrize("pruned", [True, False])
def test_what_an_application_says_that_it_prunes(*, pruned: bool) -> None:
    """All of it goes at once, in whatever order."""
    cluster = Cluster(SHOP)
    resources = [
        {"version": "v1", "kind": "Secret", "namespace": "prod", "name": "cache"},
        {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "prod"},
    ]
    resources[1]["name"] = "cache"
    application = thing(APPLICATIONS, "shop", "gitops")
    said = [{**one, "requiresPruning": True} if pruned else one for one in resources]
    before, after = (
        msgspec.json.encode({"status": {"resources": one}}) for one in (resources, said)
    )
    request = update(application, application, by=HANDLER, bodies=(before, after))
    remember(request, project(request, cluster.view), cluster.view, START)
    assert cluster.refused("cache") is not pruned
    assert cluster.refused("web")


def test_what_an_application_prunes_no_more() -> None:
    """It is in its source again before anything went."""
    cluster = Cluster(SHOP)
    application = thing(APPLICATIONS, "shop", "gitops")
    kept = {"group": "apps", "kind": "Deployment", "namespace": "prod", "name": "cache"}
    bodies = [
        msgspec.json.encode({"status": {"resources": [one]}})
        for one in (kept, {**kept, "requiresPruning": True}, kept)
    ]
    for before, after in pairwise(bodies):
        request = update(application, application, by=HANDLER, bodies=(before, after))
        remember(request, project(request, cluster.view), cluster.view, START)
    assert cluster.refused("cache")


NAMES = st.from_regex(r"[a-z]([a-z0-9.-]{0,8}[a-z0-9])?", fullmatch=True)
TEXTS = st.text("abc:#-'\" \n{}|", max_size=30)


@given(st.lists(st.tuples(NAMES, NAMES, TEXTS), max_size=6), st.data())
def test_it_reads_as_a_yaml_reader_does(
    objects: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    """Whatever texts, comments and orders of keys stand in a manifest; or it says nothing."""
    styles = st.sampled_from([None, None, "'", '"', "|"])
    documents = []
    for name, namespace, text in objects:
        metadata = {"annotations": {"name": text}, "name": name, "namespace": namespace}
        whole = {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "data": {"kind": text, "metadata": {"name": text}, "x": f"kind: Other\nname: {text}"},
        }  # fmt: skip
        whole["metadata"] = {key: metadata[key] for key in data.draw(st.permutations([*metadata]))}
        ordered = {key: whole[key] for key in data.draw(st.permutations([*whole]))}
        documents.append((ordered, data.draw(styles)))
    rendered = "---\n" + "---\n# Source: x\n".join(
        yaml.safe_dump(one, sort_keys=False, default_style=style) for one, style in documents
    )
    found = objects_of(rendered)
    if found or all(style is None for _, style in documents):
        named = ((name, namespace) for name, namespace, _ in objects)
        assert found == frozenset(Named("apps", "Deployment", space, name) for name, space in named)


def test_a_release_that_keeps_what_runs_takes_no_rights_from_it() -> None:
    """Its manifest has the workload and its account still, and has lost their only binding."""
    cluster = Cluster()
    kept = manifest("web").replace("kind: RoleBinding", "kind: Nothing")
    cluster.write({"chart": {"name": "shop"}, "manifest": kept})
    assert cluster.stripped("web")


def test_a_release_that_binds_otherwise_takes_nothing() -> None:
    """The twin: a binding of another name is there before the former one goes."""
    cluster = Cluster()
    whom = {"kind": "ServiceAccount", "namespace": "prod", "name": "web"}
    of = {"apiGroup": RBAC, "kind": "Role", "name": "cache"}
    other = body("RoleBinding", "web-v2", apiVersion=f"{RBAC}/v1", roleRef=of, subjects=[whom])
    kept = manifest("web").replace("kind: RoleBinding", "kind: Nothing")
    cluster.put(trimmed(ROLE_BINDINGS, other))
    cluster.write({"chart": {"name": "shop"}, "manifest": kept})
    assert not cluster.stripped("web")
