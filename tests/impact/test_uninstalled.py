"""A release or application is taken apart, and what keeps it stays: what is believed of that."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import (
    START,
    delete,
    graph_of,
    namespace,
    operator,
    service,
    thing,
    webhook,
    workload,
)
from suture.impact.causes.causes import Causes
from suture.impact.causes.recent import remember
from suture.impact.effects import AdmissionPathBroken, ObjectsRemoved, ServiceEmptied
from suture.impact.ground.change import Change
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import (
    AUTOSCALERS,
    CLAIMS,
    DEPLOYMENTS,
    INGRESS_CLASSES,
    INGRESSES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICES,
    STORAGE_CLASSES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts, ServiceRef, WorkloadFacts

APPLICATIONS = Resource("gitops.example.com", "applications")
HANDLER = operator("system:serviceaccount:gitops:controller")
OTHER = operator("system:serviceaccount:ci:deployer")
KINDS = (APPLICATIONS, SECRETS, DEPLOYMENTS, REPLICA_SETS, PODS, SERVICES)
NOW = START.plus_s(3600 * 48)
SHOP = ObjectKey(APPLICATIONS, "gitops", "shop")
RELEASE = ObjectKey(RELEASES, "prod", "shop")


def marked(of: ClusterObject, *marks: ObjectKey) -> ClusterObject:
    needs = tuple(Need(Edge.MANAGED_BY, one) for one in marks)
    return msgspec.structs.replace(of, needs=(*of.needs, *needs))


def application(**more: object) -> ClusterObject:
    return msgspec.structs.replace(thing(APPLICATIONS, "shop", "gitops"), **more)


def record(status: str) -> ClusterObject:
    labels = {"owner": "helm", "name": "shop", "status": status}
    return thing(SECRETS, "sh.helm.release.v1.shop.v2", "prod", labels=labels)


def shop(parts: int, *marks: ObjectKey) -> Iterable[ClusterObject]:
    """Make Deployments and Services of an application, each with a pod that serves."""
    for number in range(parts):
        first, *others = workload(f"part-{number}")
        yield marked(first, *marks)
        yield from others
        yield marked(service(f"part-{number}"), *marks)


def cluster(*things: ClusterObject | Iterable[ClusterObject]) -> GraphView:
    return GraphView(graph_of(*things), History())


def retired(view: GraphView, parts: int) -> list[bool]:
    """Delete Deployments one by one; return of each whether its Service may be left empty."""
    found = []
    for number in range(parts):
        row = view.find(ObjectKey(DEPLOYMENTS, "prod", f"part-{number}"))
        assert row is not None
        request = delete(view.at(row), by=HANDLER)
        (emptied,) = effects(impact_of(request, view, now=NOW, by=HANDLER), ServiceEmptied)
        found.append(emptied.explained)
        if emptied.explained:
            remember(request, project(request, view), view, NOW)
            view = gone(view, request.key)
    return found


def gone(view: GraphView, *keys: ObjectKey) -> GraphView:
    """Return the same cluster without some objects, with the same past."""
    rows = [row for kind in KINDS for row in view.rows(kind)]
    things = [view.at(row) for row in rows if view.key(row) not in keys]
    return GraphView(graph_of(*things), view.history)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (6, [True, True, True, False, False, False]),
        (3, [True, True, False]),
        (2, [True, True]),
    ],
)
def test_a_part_is_pruned_and_the_rest_stays(parts: int, told: list[bool]) -> None:
    """Up to a half of what an application keeps, or two: who takes more takes it apart."""
    assert retired(cluster(application(), shop(parts, SHOP)), parts) == told


@pytest.mark.parametrize(
    ("ready", "ago_s", "told"),
    [
        pytest.param(True, 60, [True] * 5, id="they serve"),
        pytest.param(False, 60, [True, True, False, False, False], id="they never start"),
        pytest.param(False, 7200, [True] * 5, id="they are at rest since long"),
    ],
)
def test_parts_that_get_other_names(ready: bool, ago_s: int, told: list[bool]) -> None:
    """What stands for them was just made, and is a part that is left once a pod of it is Ready."""
    new = [
        msgspec.structs.replace(one, facts=PodFacts(ready=ready))
        if isinstance(one.facts, PodFacts)
        else one
        for number in range(5)
        for one in workload(f"next-{number}")
    ]
    new = [marked(one, SHOP) if one.key.resource == DEPLOYMENTS else one for one in new]
    view, by = cluster(application(), shop(5, SHOP), new), HANDLER.user.username
    for one in new:
        view.history.note_created(one.uid, by, by, one.key, NOW.plus_s(-ago_s))
    assert retired(view, 5) == told


def test_parts_that_are_made_anew_are_none_taken() -> None:
    """A selector cannot be changed: each is deleted and made again, however many there are."""
    view = cluster(application(), shop(4, SHOP))
    by = HANDLER.user.username
    for number in range(4):
        row = view.find(ObjectKey(DEPLOYMENTS, "prod", f"part-{number}"))
        assert row is not None
        one = view.at(row)
        request = delete(one, by=HANDLER)
        (emptied,) = effects(impact_of(request, view, now=NOW, by=HANDLER), ServiceEmptied)
        assert emptied.explained, number
        remember(request, project(request, view), view, NOW)
        next_life = msgspec.structs.replace(one, uid=f"next-{number}")
        view.history.note_removed(one.uid, one.key, NOW, by=by)
        view.history.note_created(next_life.uid, by, by, one.key, NOW)
        rest = [view.at(each) for kind in KINDS for each in view.rows(kind) if each != row]
        view = GraphView(graph_of(next_life, *rest), view.history)


@pytest.mark.parametrize("values", [(1, 1), (1, 2)], ids=["the same again", "another source"])
def test_a_write_of_the_application_is_no_wish_for_less(values: tuple[int, int]) -> None:
    """Its source may be that of a namesake by now; of what comes instead a part is left."""
    view = cluster(application(), shop(4, SHOP))
    for value in values:
        view.history.writes.note(SHOP, Deed(What.WROTE, "human", value), NOW)
    assert retired(view, 4) == [True, True, False, False]


def removed(view: GraphView, request_of: ClusterObject) -> dict[str, ObjectsRemoved]:
    impact = impact_of(delete(request_of, by=HANDLER), view, now=NOW, by=HANDLER)
    return {one.resource: one for one in effects(impact, ObjectsRemoved)}


@pytest.mark.parametrize(
    ("status", "marks", "wanted"),
    [
        pytest.param("uninstalling", (SHOP, RELEASE), 1, id="under what keeps it"),
        pytest.param("pending-upgrade", (SHOP, RELEASE), 0, id="an upgrade drops a part"),
        pytest.param("uninstalling", (RELEASE,), 0, id="nobody else stands for it"),
    ],
)
def test_a_release_is_uninstalled_and_its_parent_stays(
    status: str, marks: tuple[ObjectKey, ...], wanted: int
) -> None:
    """Who has a release made, lives and was not written still wants all of it."""
    view = cluster(application(), record(status), shop(2, *marks))
    target = marked(service("part-0"), *marks)
    assert removed(view, target)["services"].wanted == wanted


def test_a_release_that_its_parent_wants_no_more() -> None:
    """Written within the hour, it may want another in its place; made today, it is tried again."""
    target = marked(service("part-0"), SHOP, RELEASE)
    view = cluster(application(), record("uninstalling"), shop(2, SHOP, RELEASE))
    for value in (1, 2):
        view.history.writes.note(SHOP, Deed(What.WROTE, "human", value), NOW)
    assert removed(view, target)["services"].wanted == 0

    view = cluster(application(), record("uninstalling"), shop(2, SHOP, RELEASE))
    me = HANDLER.user.username
    view.history.note_created(target.uid, me, me, target.key, NOW)
    assert removed(view, target)["services"].wanted == 0


def test_what_keeps_a_release_goes() -> None:
    """The release's own mark names no object: it neither ends nor keeps the other from ending."""
    ends = application(deleted=1.0)
    view = cluster(ends, record("uninstalling"), shop(12, SHOP, RELEASE))
    services = removed(view, marked(service("part-0"), SHOP, RELEASE))["services"]
    assert (services.explained, services.wanted) == (1, 0)

    rows = view.rows(SERVICES, "prod")
    assert len(rows) == 12
    assert Causes(view, Change(tuple(rows))).unexplained(SERVICES, rows) == []


def at_rest(*, replicas: int = 0, reader: ObjectKey | None = None) -> GraphView:
    """Make a part of an application, with whoever names its Service, and a Service beside it."""
    first, *others = workload("part-0", replicas=replicas)
    front = thing(INGRESSES, "front", "prod")
    to_it = Need(Edge.ROUTES_TO, ObjectKey(SERVICES, "prod", "part-0"))
    marks = () if reader is None else (Need(Edge.MANAGED_BY, reader),)
    front = msgspec.structs.replace(front, needs=(to_it, *marks))
    return cluster(
        application(),
        marked(first, SHOP),
        others,
        marked(service("part-0"), SHOP),
        [front] if reader is not None else [],
        service("other"),
    )


@pytest.mark.parametrize(
    ("name", "view", "counted"),
    [
        pytest.param("part-0", at_rest(), 0, id="to have no pods, and read by nobody"),
        pytest.param("part-0", at_rest(reader=SHOP), 0, id="read by what the same keeps"),
        pytest.param("part-0", at_rest(reader=RELEASE), 1, id="read by what another keeps"),
        pytest.param("part-0", at_rest(replicas=1), 1, id="it serves"),
        pytest.param("other", at_rest(), 1, id="of no application"),
    ],
)
def test_what_is_at_rest_is_retired(name: str, view: GraphView, counted: int) -> None:
    """What keeps an application clears away what it has put to rest; no budget counts it."""
    target = view.at(view.find(ObjectKey(SERVICES, "prod", name)) or 0)
    services = removed(view, target)["services"]
    assert (services.lasting, services.counted) == (1, counted)


def test_a_workload_and_a_route_at_rest() -> None:
    """A workload that is to have no pods, and a route to nothing but such Services."""
    view = at_rest(reader=SHOP)
    for kind, name in ((DEPLOYMENTS, "part-0"), (INGRESSES, "front")):
        row = view.find(ObjectKey(kind, "prod", name))
        assert row is not None
        assert removed(view, view.at(row))[str(kind)].counted == 0


def test_what_is_at_rest_and_another_takes_away() -> None:
    """Whoever does not work for the application has no part of it to retire."""
    view = at_rest()
    other = operator("system:serviceaccount:ops:janitor")
    row = view.find(ObjectKey(SERVICES, "prod", "part-0"))
    assert row is not None
    impact = impact_of(delete(view.at(row), by=other), view, now=NOW, by=other)
    (services,) = effects(impact, ObjectsRemoved)
    assert services.counted == 1


@pytest.mark.parametrize(
    ("replicas", "counted"),
    [
        pytest.param(0, 0, id="at rest when it went"),
        pytest.param(2, 1, id="it served when it went"),
    ],
)
def test_a_service_whose_workload_went_before_it(replicas: int, counted: int) -> None:
    """That it selects no pod any more is no rest, where its pods went in the same sweep."""
    view = at_rest(replicas=replicas)
    row = view.find(ObjectKey(DEPLOYMENTS, "prod", "part-0"))
    assert row is not None
    request = delete(view.at(row), by=HANDLER)
    remember(request, project(request, view), view, NOW)
    view = GraphView(graph_of(application(), marked(service("part-0"), SHOP)), view.history)
    assert removed(view, service("part-0"))["services"].counted == counted


def test_a_workload_of_no_size_whose_pods_are_still_there() -> None:
    """Scaled to nothing a moment ago, it is on its way to rest, and not there yet."""
    first, *others = workload("part-0", replicas=2)
    first = msgspec.structs.replace(first, facts=WorkloadFacts(replicas=0))
    view = cluster(application(), marked(first, SHOP), others)
    assert removed(view, first)["deployments.apps"].counted == 1


@pytest.mark.parametrize(
    ("least", "counted"),
    [
        pytest.param(0, 1, id="it wakes it when there is work"),
        pytest.param(2, 0, id="it leaves alone what was scaled to nothing"),
    ],
)
def test_a_workload_that_an_autoscaler_has_at_nothing(least: int, counted: int) -> None:
    """It is idle, and not at rest; nor is the Service that leads to it."""
    scaler = thing(AUTOSCALERS, "part-0", "prod", facts=AutoscalerFacts(least, 9))
    to_it = Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", "part-0"))
    scaler = msgspec.structs.replace(scaler, needs=(to_it, Need(Edge.MANAGED_BY, SHOP)))
    first, *others = workload("part-0", replicas=0)
    front = marked(service("part-0"), SHOP)
    view = cluster(application(), marked(first, SHOP), others, front, scaler)
    assert removed(view, first)["deployments.apps"].counted == counted
    assert removed(view, front)["services"].counted == counted


# ---------------------------------------------------------------- a class that others name


@pytest.mark.parametrize(
    ("kind", "edge", "user"),
    [
        pytest.param(INGRESS_CLASSES, Edge.CLASS, thing(INGRESSES, "front", "web"), id="routes"),
        pytest.param(STORAGE_CLASSES, Edge.STORAGE_CLASS, thing(CLAIMS, "data", "web"), id="data"),
    ],
)
def test_who_does_the_work_for_a_class_that_others_name(
    kind: Resource, edge: Edge, user: ClusterObject
) -> None:
    """The class is of the release that is uninstalled; what names it stays, and would have nobody.

    Not where nothing but the release names it, nor where the release is upgraded.
    """
    of_it = marked(thing(kind, "fast"), RELEASE)
    naming = msgspec.structs.replace(user, needs=(Need(edge, of_it.key),))
    parts = [of_it, *shop(2, RELEASE)]
    target = marked(service("part-0"), RELEASE)

    def wanted(*things: ClusterObject) -> int:
        return removed(cluster(parts, *things), target)["services"].wanted

    assert wanted(record("uninstalling"), naming) == 1
    assert wanted(record("deployed"), naming) == 0
    assert wanted(record("uninstalling"), marked(naming, RELEASE)) == 0
    assert wanted(record("uninstalling")) == 0


# ---------------------------------------------------------------- a webhook that goes last


@pytest.mark.parametrize(
    ("status", "marks", "by", "broken"),
    [
        pytest.param("uninstalling", (RELEASE,), HANDLER, 0, id="uninstalled"),
        pytest.param("deployed", (RELEASE,), HANDLER, 1, id="upgraded"),
        pytest.param("uninstalling", (), HANDLER, 1, id="made-by-the-engine-itself"),
        pytest.param("uninstalling", (RELEASE,), OTHER, 1, id="by-another"),
    ],
)
def test_a_webhook_of_a_release_goes_after_its_backend(
    status: str, marks: tuple[ObjectKey, ...], by: Actor, broken: int
) -> None:
    """Helm has written that all of the release goes, and this comes last: nobody is left with it."""
    gate = marked(webhook("gate", ServiceRef("prod", "part-0")), *marks)
    view = cluster(namespace("prod"), shop(1, RELEASE), record(status), gate)
    view.history.habits.note(update(None, record(status), by=HANDLER))
    for name in (SERVICES, DEPLOYMENTS):
        row = view.find(ObjectKey(name, "prod", "part-0"))
        assert row is not None
        impact = impact_of(delete(view.at(row), by=by), view, now=NOW, by=by)
        assert len(effects(impact, AdmissionPathBroken)) == broken


# ---------------------------------------------------------------- another release

BETA = ObjectKey(RELEASES, "prod", "beta")


def deployed(view: GraphView, name: str, namespace: str = "prod") -> GraphView:
    """Let the handler write the record of a release, as who upgrades or uninstalls it does."""
    labels = {"owner": "helm", "name": name, "status": "pending-upgrade"}
    record = thing(SECRETS, f"sh.helm.release.v1.{name}.v2", namespace, labels=labels)
    view.history.habits.note(update(None, record, by=HANDLER))
    return view


def test_what_another_release_keeps_is_wanted() -> None:
    """The actor deploys releases of the namespace, and has not touched the record of this one."""
    target = marked(service("part-0"), BETA)
    view = deployed(cluster(namespace("prod"), shop(2, BETA)), "alpha")
    services = removed(view, target)["services"]
    assert (services.wanted, services.in_use) == (1, 1)


@pytest.mark.parametrize(
    ("names", "marks"),
    [
        pytest.param(("alpha", "beta"), (BETA,), id="it-deploys-both"),
        pytest.param(("beta",), (BETA,), id="its-own"),
        pytest.param((), (BETA,), id="who-deploys-nothing"),
        pytest.param(("alpha",), (), id="of-no-release"),
        pytest.param(("alpha",), (BETA, SHOP), id="of-an-application-too"),
    ],
)
def test_who_deploys_a_release_drops_of_it_what_it_likes(
    names: tuple[str, ...], marks: tuple[ObjectKey, ...]
) -> None:
    """The twin: an upgrade drops a part of its own release, an account deploys several."""
    target = marked(service("part-0"), *marks)
    view = cluster(namespace("prod"), application(), shop(2, *marks))
    for name in names:
        deployed(view, name)
    assert removed(view, target)["services"].wanted == 0


def test_releases_of_elsewhere_tell_nothing() -> None:
    """Who deploys one to another namespace may well clear up here, and nobody knows for whom."""
    target = marked(service("part-0"), BETA)
    view = deployed(cluster(namespace("prod"), shop(2, BETA)), "alpha", "infra")
    assert removed(view, target)["services"].wanted == 0


def installed(status: str, *, ago_s: int = 60, by: Actor = HANDLER) -> GraphView:
    """Make a Service that was there before, and a release that somebody installs beside it."""
    mine, since = record(status), NOW.plus_s(-ago_s)
    mine = msgspec.structs.replace(mine, created=since.utc_s)
    view = cluster(mine, workload("part-0"), service("part-0"))
    view.history.habits.note(update(None, mine, by=by))
    view.history.note_created(mine.uid, by.user.username, by.operator, mine.key, since)
    return view


@pytest.mark.parametrize(
    ("view", "wanted"),
    [
        pytest.param(installed("pending-install"), 1, id="an install fails"),
        pytest.param(installed("uninstalling"), 1, id="and is undone"),
        pytest.param(installed("deployed"), 0, id="it got further"),
        pytest.param(installed("failed", ago_s=7200), 0, id="long ago"),
        pytest.param(installed("failed", by=OTHER), 0, id="of another"),
    ],
)
def test_what_an_install_found_there(view: GraphView, wanted: int) -> None:
    """Its manifest names it too, and the undoing of it deletes what it names."""
    assert removed(view, service("part-0"))["services"].wanted == wanted


def test_an_install_that_nobody_saw_begin_tells_nothing() -> None:
    """Its record may be of another day: what was there before it is not known then."""
    mine = msgspec.structs.replace(record("failed"), created=NOW.utc_s - 60)
    view = cluster(mine, workload("part-0"), service("part-0"))
    view.history.habits.note(update(None, mine, by=HANDLER))
    assert removed(view, service("part-0"))["services"].wanted == 0


def test_what_a_failing_install_may_take_away() -> None:
    """What it made itself, later than its record; what is of a release or application."""
    made = msgspec.structs.replace(service("part-0"), created=NOW.utc_s - 30)
    mine = msgspec.structs.replace(record("uninstalling"), created=NOW.utc_s - 60)
    view = cluster(mine, workload("part-0"), made)
    view.history.habits.note(update(None, mine, by=HANDLER))
    assert removed(view, made)["services"].wanted == 0

    kept = marked(service("part-0"), RELEASE)
    view = cluster(mine, workload("part-0"), kept)
    view.history.habits.note(update(None, mine, by=HANDLER))
    assert removed(view, kept)["services"].wanted == 0


# ---------------------------------------------------------------- what an operator ends

CLUSTERS = Resource("compute.example.com", "clusters")


@pytest.mark.parametrize(
    ("marks", "status", "keeps", "wanted"),
    [
        pytest.param((RELEASE,), "deployed", True, 1, id="its own operator"),
        pytest.param((RELEASE,), "deployed", False, 0, id="somebody else"),
        pytest.param((), "deployed", True, 0, id="that nobody declares"),
        pytest.param((RELEASE,), "", True, 0, id="of a release that is gone"),
    ],
)
def test_what_a_release_declares_its_operator_does_not_end(
    marks: tuple[ObjectKey, ...], status: str, *, keeps: bool, wanted: int
) -> None:
    """It does what the resource says; who declared it takes it back."""
    target = marked(thing(CLUSTERS, "shared", "prod"), *marks)
    view = cluster(namespace("prod"), target, *([record(status)] if status else []))
    if keeps:
        request = update(target, target, by=HANDLER, subresource="status")
        view.history.habits.note(request)
    assert removed(view, target)["clusters.compute.example.com"].wanted == wanted
