"""Generated ConfigMaps that go a moment before the Deployment names the next of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.causes.records import follows
from suture.impact.effects import ReferenceBroken
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import KeysFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CONFIG_MAPS, ObjectKey, Resource
from suture.model.objects import ClusterObject

APPLICATIONS = Resource("gitops.example.com", "applications")
SHOP, OTHER = ObjectKey(APPLICATIONS, "gitops", "shop"), ObjectKey(APPLICATIONS, "gitops", "other")
HANDLER = operator("system:serviceaccount:gitops:controller")
STRANGER = operator("system:serviceaccount:tidy:controller")
OLD, NEXT, WORDS = "web-5dm2b7kf4t", "web-8hg74tcm2k", "web-settings"


def kept(one: ClusterObject, keeper: ObjectKey | None, *needs: Need) -> ClusterObject:
    marks = (Need(Edge.MANAGED_BY, keeper),) if keeper is not None else ()
    return msgspec.structs.replace(one, needs=(*marks, *needs))


def config(name: str, *keys: str) -> ClusterObject:
    return thing(CONFIG_MAPS, name, "prod", facts=KeysFacts(keys=keys or ("a",)))


class Cluster:
    """A Deployment that reads one entry of a generated ConfigMap, and maybe the next of it."""

    def __init__(
        self,
        *beside: ClusterObject,
        keeper: ObjectKey | None = SHOP,
        user: ObjectKey | None = SHOP,
        made: Iterable[tuple[str, int]] = (),
    ) -> None:
        root, *pods = workload("web")
        old = config(OLD)
        need = Need(Edge.CONFIG_MAP, old.key, "a")
        apps = thing(APPLICATIONS, "shop", "gitops"), thing(APPLICATIONS, "other", "gitops")
        parts = [kept(one, keeper) for one in (old, *beside)]
        graph = graph_of(apps, parts, kept(root, user, need), pods)
        graph.declare("", "ConfigMap", CONFIG_MAPS)
        self.view = GraphView(graph, History())
        by = HANDLER.user.username
        self.view.history.habits.recall((), (), [(SHOP, (by,)), (OTHER, (by,))])
        for uid, ago_s in made:
            key = next(one.key for one in (old, root, *beside) if one.uid == uid)
            self.view.history.note_created(uid, by, by, key, START.plus_s(-ago_s))

    def say(self, *resources: dict[str, object]) -> None:
        """Let the application say what it found, and before that nothing."""
        app = thing(APPLICATIONS, "shop", "gitops")
        bodies = b"{}", msgspec.json.encode({"status": {"resources": resources}})
        request = update(app, app, by=HANDLER, bodies=bodies)
        remember(request, project(request, self.view), self.view, START)

    def broken(self, *, by: Actor = HANDLER, now: Now = START) -> ReferenceBroken:
        """Return what is told of the delete of the ConfigMap that is named today."""
        row = self.view.find(ObjectKey(CONFIG_MAPS, "prod", OLD))
        assert row is not None
        (one,) = effects(
            impact_of(delete(self.view.at(row), by=by), self.view, by=by, now=now), ReferenceBroken
        )
        return one


def said(kind: str, name: str, **more: object) -> dict[str, object]:
    group = "apps" if kind == "Deployment" else ""
    return {
        "group": group,
        "version": "v1",
        "kind": kind,
        "namespace": "prod",
        "name": name,
        **more,
    }


GOES = said("ConfigMap", OLD, requiresPruning=True, status="OutOfSync")
COMES = said("ConfigMap", NEXT, status="OutOfSync")
CHANGES = said("Deployment", "web", status="OutOfSync")


def test_an_application_that_prunes_before_it_applies() -> None:
    """It has said that the next one comes and that the Deployment changes: warned about only."""
    cluster = Cluster()
    assert cluster.broken().current == 1
    cluster.say(GOES, COMES, CHANGES)
    told = cluster.broken()
    assert (told.current, told.explained) == (0, False)
    assert told.past > 0
    assert cluster.broken(by=STRANGER).current == 1
    assert cluster.broken(now=START.plus_s(2 * 3600)).current == 1


@pytest.mark.parametrize(
    "resources",
    [
        pytest.param((GOES, CHANGES), id="no-next"),
        pytest.param((GOES, COMES, said("Deployment", "web", status="Synced")), id="user-stays"),
        pytest.param((GOES, COMES), id="user-not-said"),
        pytest.param((GOES, said("ConfigMap", WORDS), CHANGES), id="next-without-a-hash"),
        pytest.param((GOES, said("Secret", NEXT), CHANGES), id="next-of-another-kind"),
        pytest.param(
            (GOES, said("ConfigMap", NEXT, requiresPruning=True), CHANGES), id="both-pruned"
        ),
        pytest.param((said("ConfigMap", OLD), COMES, CHANGES), id="not-pruned"),
    ],
)
def test_an_application_that_says_less(resources: tuple[dict[str, object], ...]) -> None:
    """The incident: the same delete, and nothing says that the Deployment leaves what goes."""
    cluster = Cluster()
    cluster.say(*resources)
    assert cluster.broken().current == 1


def test_a_user_of_another_application() -> None:
    """What one application says of the next does not move what another keeps."""
    cluster = Cluster(user=OTHER)
    cluster.say(GOES, COMES, CHANGES)
    assert cluster.broken().current == 1


def test_an_application_that_thinks_again() -> None:
    """Its source names the old one once more before anything went."""
    cluster = Cluster()
    cluster.say(GOES, COMES, CHANGES)
    app = thing(APPLICATIONS, "shop", "gitops")
    bodies = tuple(
        msgspec.json.encode({"status": {"resources": each}})
        for each in ((GOES, COMES, CHANGES), (said("ConfigMap", OLD),))
    )
    request = update(app, app, by=HANDLER, bodies=(bodies[0], bodies[1]))
    remember(request, project(request, cluster.view), cluster.view, START)
    assert cluster.broken().current == 1


def made(*names: tuple[str, int]) -> list[tuple[str, int]]:
    return [(config(name).uid, ago_s) for name, ago_s in names]


def test_a_next_one_made_a_moment_ago() -> None:
    """By who keeps all three, with what is read: who applies the Deployment last may prune first."""
    assert Cluster(config(NEXT, "a", "b"), made=made((NEXT, 60))).broken().current == 0
    user = (workload("web")[0].uid, 9_000)
    own = Cluster(
        config(NEXT), keeper=None, user=None, made=[*made((OLD, 9_000), (NEXT, 60)), user]
    )
    assert own.broken().current == 0


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param(lambda: Cluster(config(NEXT)), id="made-by-nobody-known"),
        pytest.param(lambda: Cluster(config(NEXT), made=made((NEXT, 900))), id="long-ago"),
        pytest.param(
            lambda: Cluster(config(NEXT, "b"), made=made((NEXT, 60))), id="without-the-key"
        ),
        pytest.param(lambda: Cluster(config(WORDS), made=made((WORDS, 60))), id="a-word"),
        pytest.param(
            lambda: Cluster(config(NEXT), user=OTHER, made=made((NEXT, 60))), id="others-workload"
        ),
        pytest.param(
            lambda: Cluster(config(NEXT), keeper=None, user=None, made=made((NEXT, 60))),
            id="nobodys",
        ),
    ],
)
def test_a_next_one_that_is_none(cluster: Callable[[], Cluster]) -> None:
    """What stands beside it does not say that the Deployment will name it."""
    assert cluster().broken().current == 1


@pytest.mark.parametrize(
    ("new", "old", "is_next"),
    [
        ("web-8hg74tcm2k", "web-5dm2b7kf4t", True),
        ("web-8hg74tcm2k", "shop-5dm2b7kf4t", False),
        ("web-5dm2b7kf4t", "web-5dm2b7kf4t", False),
        ("web-green", "web-black", False),
        ("web-8hg74", "web-5dm2b7kf4t", False),
        ("web", "web-5dm2b7kf4t", False),
    ],
)
def test_names_of_one_generator(new: str, old: str, *, is_next: bool) -> None:
    assert follows(new, old) is is_next
