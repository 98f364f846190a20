"""Entries that go from what pods read whole, and whether who reads it is written next."""

from __future__ import annotations

from base64 import b64encode

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, graph_of, operator, owner, thing, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CONFIG_MAPS, SECRETS, ObjectKey, Resource
from suture.model.objects import ClusterObject

APPLICATIONS = Resource("gitops.example.com", "applications")
WISHES = Resource("secrets.example.com", "wishes")
SHOP, OTHER = ObjectKey(APPLICATIONS, "gitops", "shop"), ObjectKey(APPLICATIONS, "gitops", "other")
HANDLER = operator("system:serviceaccount:gitops:controller")
SYNC = operator("system:serviceaccount:sync:synchronizer")
STRANGER = operator("system:serviceaccount:tidy:controller")
NOW = START.plus_s(7200)


def kept(one: ClusterObject, keeper: ObjectKey | None) -> ClusterObject:
    marks = (Need(Edge.MANAGED_BY, keeper),) if keeper is not None else ()
    return replace(one, needs=(*one.needs, *marks))


def readers(read: ClusterObject, keeper: ObjectKey | None) -> list[ClusterObject]:
    """Make a Deployment of two pods that read an object whole."""
    root, below, *pods = workload("web", replicas=2)
    edge = Edge.SECRET if read.key.resource == SECRETS else Edge.CONFIG_MAP
    need = Need(edge, read.key)
    return [kept(root, keeper), below, *(replace(pod, needs=(need,)) for pod in pods)]


def view_with(*things: ClusterObject) -> GraphView:
    view = GraphView(graph_of(things), History())
    by, sync = HANDLER.user.username, SYNC.user.username
    view.history.habits.recall((), [(WISHES, (sync,))], [(SHOP, (by,)), (OTHER, (by,))])
    return view


def told(view: GraphView, resource: Resource, old: Body, new: Body, by: Actor) -> int:
    """Return how many pods are told to read what goes and not to be written next."""
    request = write(resource, old, new, by=by)
    (found,) = effects(impact_of(request, view, now=NOW, by=by), EntriesDropped)
    return found.readers


SETTINGS = body("ConfigMap", "settings", data={"a.conf": "1", "b.conf": "2", "c.conf": "3"})
JOINED = changed(SETTINGS, data={"all.conf": "1\n2\n3\n"})


@pytest.mark.parametrize(
    ("keeper", "user", "by", "left"),
    [
        pytest.param(SHOP, SHOP, HANDLER, 0, id="of-one-hand"),
        pytest.param(SHOP, SHOP, STRANGER, 2, id="by-a-stranger"),
        pytest.param(SHOP, OTHER, HANDLER, 2, id="of-two-applications"),
        pytest.param(None, None, HANDLER, 2, id="kept-by-nobody"),
    ],
)
def test_who_keeps_what_is_read_and_its_readers(
    keeper: ObjectKey | None, user: ObjectKey | None, by: Actor, left: int
) -> None:
    """Files that become one are followed by the workload; the incident is a stranger's hand."""
    settings = kept(trimmed(CONFIG_MAPS, SETTINGS), keeper)
    view = view_with(thing(APPLICATIONS, "shop", "gitops"), settings, *readers(settings, user))
    assert told(view, CONFIG_MAPS, SETTINGS, JOINED, by) == left


@pytest.mark.parametrize(
    ("data", "left"),
    [
        pytest.param({"a.conf": "1"}, 2, id="only-less"),
        pytest.param({}, 2, id="nothing"),
        pytest.param({"a.conf": "1", "d.conf": "4"}, 0, id="another-key"),
    ],
)
def test_what_is_only_emptied_is_replaced_by_nothing(data: dict[str, str], left: int) -> None:
    """Values that came out empty are no other names of them, whoever keeps both."""
    settings = kept(trimmed(CONFIG_MAPS, SETTINGS), SHOP)
    view = view_with(thing(APPLICATIONS, "shop", "gitops"), settings, *readers(settings, SHOP))
    assert told(view, CONFIG_MAPS, SETTINGS, changed(SETTINGS, data=data), HANDLER) == left


def test_lines_of_one_value_written_anew() -> None:
    """A file that is written anew by who keeps its readers; one that only loses lines is not."""
    old = body("ConfigMap", "settings", data={"app": "a\nb\nc\n"})
    settings = kept(trimmed(CONFIG_MAPS, old), SHOP)
    view = view_with(thing(APPLICATIONS, "shop", "gitops"), settings, *readers(settings, SHOP))
    assert told(view, CONFIG_MAPS, old, changed(old, data={"app": "x\ny\n"}), HANDLER) == 0
    assert told(view, CONFIG_MAPS, old, changed(old, data={"app": "a\n"}), HANDLER) == 2


def secret(**data: str) -> Body:
    return body(
        "Secret", "login", data={key: b64encode(data[key].encode()).decode() for key in data}
    )


@pytest.mark.parametrize(
    ("asked_by", "ago_s", "user", "left"),
    [
        pytest.param(HANDLER, 60, SHOP, 0, id="asked-for-by-who-keeps-the-readers"),
        pytest.param(HANDLER, 60, OTHER, 2, id="read-by-another"),
        pytest.param(HANDLER, 4000, SHOP, 2, id="long-ago"),
        pytest.param(SYNC, 60, SHOP, 2, id="by-itself"),
        pytest.param(None, 0, SHOP, 2, id="nobody-asked"),
    ],
)
def test_who_asked_an_operator_for_other_entries(
    asked_by: Actor | None, ago_s: int, user: ObjectKey, left: int
) -> None:
    """A wish for one entry in the place of two; the incident: its source found nothing."""
    wish = kept(thing(WISHES, "login", "prod"), SHOP)
    login = replace(trimmed(SECRETS, secret(user="a", password="b")), owners=(owner(wish),))
    view = view_with(thing(APPLICATIONS, "shop", "gitops"), wish, login, *readers(login, user))
    if asked_by is not None:
        at = NOW.plus_s(-ago_s)
        for value in (1, 2):
            deed = Deed(What.WROTE, asked_by.user.username, value)
            view.history.writes.note(wish.key, deed, at)
    old, new = secret(user="a", password="b"), secret(url="c")
    assert told(view, SECRETS, old, new, SYNC) == left


PEM = body("ConfigMap", "roots", data={"ca.pem": "old\nnew\n", "note": "x"})


@pytest.mark.parametrize(
    ("new", "asked_by", "by", "left"),
    [
        pytest.param({"ca.pem": "new\n", "note": "x"}, HANDLER, SYNC, 0, id="it was asked for"),
        pytest.param({"ca.pem": "new\n", "note": "x"}, None, SYNC, 2, id="nobody asked"),
        pytest.param({"ca.pem": "new\n", "note": "x"}, SYNC, SYNC, 2, id="by itself"),
        pytest.param({"ca.pem": "new\n", "note": "x"}, HANDLER, STRANGER, 2, id="a stranger"),
        pytest.param({"note": "x"}, HANDLER, SYNC, 2, id="an entry goes"),
    ],
)
def test_lines_that_what_keeps_them_says_no_more(
    new: dict[str, str], asked_by: Actor | None, by: Actor, left: int
) -> None:
    """An authority leaves a bundle: its lines go from the ConfigMaps of all namespaces."""
    bundle = thing(WISHES, "roots", "prod")
    roots = replace(trimmed(CONFIG_MAPS, PEM), owners=(owner(bundle),))
    view = view_with(bundle, roots, *readers(roots, None))
    if asked_by is not None:
        for value in (1, 2):
            deed = Deed(What.WROTE, asked_by.user.username, value)
            view.history.writes.note(bundle.key, deed, NOW.plus_s(-60))
    assert told(view, CONFIG_MAPS, PEM, changed(PEM, data=new), by) == left
