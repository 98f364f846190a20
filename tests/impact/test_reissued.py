"""ConfigMaps that are deleted and made again, and those that are only deleted."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, thing, view_of, workload
from suture.impact.causes.counters import before_users, not_back
from suture.impact.causes.recent import remember
from suture.impact.effects import ForeignWrite, ReferenceBroken
from suture.impact.ordinary.reissued import GAPS
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, SECRETS, Resource
from suture.model.objects import CustomFacts
from suture.model.request import Request

MONITORS = Resource("monitoring.example.com", "monitors")
MAIN = thing(MONITORS, "main", "prod", facts=CustomFacts())
BY = operator("system:serviceaccount:monitoring:monitors-operator")
STRANGER = operator("system:serviceaccount:tidy:cleaner")
RULES = thing(CONFIG_MAPS, "main-rules-0", "prod", owners=[owner(MAIN)])
LATER = START.plus_s(9 * 24 * 3600)


def cluster(
    *, maker: Actor = BY, remover: Actor = BY, after_s: int = 1, again: bool = True
) -> GraphView:
    """Make a workload that mounts a ConfigMap, and the past of that."""
    root, *pods = workload("main")
    root = msgspec.structs.replace(root, needs=(Need(Edge.CONFIG_MAP, RULES.key),))
    view = view_of(MAIN, RULES, root, pods)
    history, made, removed = view.history, maker.user.username, remover.user.username
    if again:
        history.note_removed("uid-before", RULES.key, START, by=removed)
    history.note_created(RULES.uid, made, made, RULES.key, START.plus_s(after_s))
    return view


def in_use(view: GraphView, by: Actor = BY) -> bool:
    impact = impact_of(delete(RULES, by=by), view, by=by, now=LATER)
    (told,) = effects(impact, ReferenceBroken)
    assert told.current or told.past
    return told.current > 0


def test_what_was_made_again_before_may_go_to_be_made_again() -> None:
    """Seen once, however long ago, and in whatever order the two were heard of."""
    assert not in_use(cluster())
    assert not in_use(cluster(after_s=-1))


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda: cluster(again=False), id="never-replaced"),
        pytest.param(lambda: cluster(after_s=600), id="not-at-once"),
        pytest.param(lambda: cluster(remover=STRANGER), id="mended-after-another"),
        pytest.param(lambda: cluster(maker=STRANGER), id="made-by-another"),
    ],
)
def test_a_past_that_says_nothing(view: Callable[[], GraphView]) -> None:
    """The incident: the same delete, and nothing was ever made in its place by who deletes it."""
    assert in_use(view())


def test_a_stranger_is_not_believed_for_it() -> None:
    assert in_use(cluster(), STRANGER)


def test_who_does_not_make_it_again() -> None:
    """After so many that did not come back the operator is not replacing anything."""
    view = cluster()
    request = delete(RULES, by=BY)
    for number in range(GAPS):
        assert not in_use(view), number
        remember(request, project(request, view), view, LATER)
    assert in_use(view)


def test_who_makes_it_again_each_time() -> None:
    """A replacement is none away, however often it is done."""
    view = cluster()
    gone = view_of(*(view.at(row) for row in view.rows(MONITORS)))
    for _ in range(2 * GAPS):
        request = delete(RULES, by=BY)
        remember(request, project(request, view), view, LATER)
        made = update(None, RULES, by=BY)
        remember(made, project(made, gone), view, LATER)
    assert view.history.writes.counted(not_back(BY.user.username, CONFIG_MAPS), LATER, 3600) == 0
    assert not in_use(view)


def of_one(
    *, readers: int = 1, owned: bool = True, fresh: bool = False, secret: bool = False
) -> bool:
    """Whether what workloads of one custom resource read is in use as its operator deletes it."""
    what = thing(SECRETS if secret else CONFIG_MAPS, "main-0", "prod", owners=[owner(MAIN)])
    need = Need(Edge.SECRET if secret else Edge.CONFIG_MAP, what.key)
    things = []
    for number in range(readers):
        root, *pods = workload(f"main-{number}")
        owners = (owner(MAIN),) if owned or number else ()
        things += [msgspec.structs.replace(root, needs=(need,), owners=owners), *pods]
    view = view_of(MAIN, what, things)
    if fresh:
        view.history.note_created(MAIN.uid, "a", "a", MAIN.key, LATER.plus_s(-600))
    impact = impact_of(delete(what, by=BY), view, by=BY, now=LATER)
    (told,) = effects(impact, ReferenceBroken)
    return told.current > 0


def test_what_is_written_out_of_one_custom_resource_is_written_again() -> None:
    """Nobody reads the ConfigMap but what its operator keeps of the same custom resource."""
    assert not of_one()
    assert not of_one(readers=3)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(lambda: of_one(owned=False), id="read-by-another"),
        pytest.param(lambda: of_one(readers=3, owned=False), id="read-by-another-too"),
        pytest.param(lambda: of_one(fresh=True), id="of-the-next-life"),
        pytest.param(lambda: of_one(secret=True), id="a-secret"),
    ],
)
def test_what_may_not_be_written_again(asked: Callable[[], bool]) -> None:
    """The incident: what others read, or what was there before, is gone and stays so."""
    assert asked()


HOOK = "meta.example.com/hook"
POLICY = "meta.example.com/hook-delete-policy"
DEPLOYER = operator("system:serviceaccount:delivery:deployer")


def of_a_hook(by: Actor, annotations: dict[str, str]) -> Request:
    """Ask to delete the ConfigMap, which says what these annotations do."""
    body = msgspec.json.encode({"metadata": {"name": RULES.key.name, "annotations": annotations}})
    return msgspec.structs.replace(delete(RULES, by=by), old_body=body)


def hook_in_use(annotations: dict[str, str], *, by: Actor, maker: Actor = DEPLOYER) -> bool:
    free = msgspec.structs.replace(RULES, owners=())
    root, *pods = workload("main")
    root = msgspec.structs.replace(root, needs=(Need(Edge.CONFIG_MAP, RULES.key),))
    view = view_of(free, root, pods)
    name = maker.user.username
    view.history.note_created(RULES.uid, name, name, RULES.key, START)
    (told,) = effects(
        impact_of(of_a_hook(by, annotations), view, by=by, now=LATER), ReferenceBroken
    )
    return told.current > 0


@pytest.mark.parametrize(
    "policy", ["before-hook-creation", "HookSucceeded, BeforeHookCreation", ""]
)
def test_a_hook_goes_before_it_is_made_again(policy: str) -> None:
    said = {HOOK: "pre-upgrade"} | ({POLICY: policy} if policy else {})
    assert not hook_in_use(said, by=DEPLOYER)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({}, id="no-hook"),
        pytest.param({POLICY: "before-hook-creation"}, id="only-a-policy"),
        pytest.param({"hook": "pre-upgrade"}, id="nobody-s-hook"),
        pytest.param({HOOK: "pre-upgrade", POLICY: "hook-succeeded"}, id="gone-after-it-ran"),
    ],
)
def test_what_does_not_say_that_it_is_made_again(said: dict[str, str]) -> None:
    assert hook_in_use(said, by=DEPLOYER)


def test_whoever_clears_hooks_away_does_not_make_them_again() -> None:
    assert hook_in_use({HOOK: "pre-upgrade"}, by=STRANGER)


def test_who_deploys_in_the_namespace_makes_hooks_again_that_are_older_than_we_remember() -> None:
    free = msgspec.structs.replace(RULES, owners=())
    root, *pods = workload("main")
    root = msgspec.structs.replace(root, needs=(Need(Edge.CONFIG_MAP, RULES.key),))
    view = view_of(free, root, pods)
    record = thing(SECRETS, "release.main.v2", "prod", labels={"owner": "helm", "name": "main"})
    view.history.habits.note(update(None, record, by=DEPLOYER))
    request = of_a_hook(DEPLOYER, {HOOK: "pre-upgrade"})
    (told,) = effects(impact_of(request, view, by=DEPLOYER, now=LATER), ReferenceBroken)
    assert not told.current


def fixed_in_use(
    *, by: Actor = DEPLOYER, immutable: bool = True, name: str = "main-env", kept: bool = False
) -> bool:
    """Whether settings that the deployer made are in use when somebody deletes them."""
    free = thing(CONFIG_MAPS, name, "prod")
    if kept:
        free = msgspec.structs.replace(free, needs=(Need(Edge.MANAGED_BY, MAIN.key),))
    root, *pods = workload("main")
    root = msgspec.structs.replace(root, needs=(Need(Edge.CONFIG_MAP, free.key),))
    view = view_of(MAIN, free, root, pods)
    maker = DEPLOYER.user.username
    view.history.note_created(free.uid, maker, maker, free.key, START)
    body = msgspec.json.encode({"immutable": immutable, "data": {"a": "1"}})
    request = msgspec.structs.replace(delete(free, by=by), old_body=body)
    (told,) = effects(impact_of(request, view, by=by, now=LATER), ReferenceBroken)
    return told.current > 0


def test_what_nobody_can_change_is_made_anew_by_who_made_it() -> None:
    """Once it is to hold something else, it can only be deleted first."""
    assert not fixed_in_use()


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(lambda: fixed_in_use(immutable=False), id="which-could-be-changed"),
        pytest.param(lambda: fixed_in_use(by=STRANGER), id="by-a-stranger"),
        pytest.param(lambda: fixed_in_use(name="main-env-7b9fk2m8d4"), id="generated"),
        pytest.param(lambda: fixed_in_use(kept=True), id="of-an-application"),
    ],
)
def test_what_is_not_made_anew_though_it_is_fixed(asked: Callable[[], bool]) -> None:
    """The incident: settings in use are cleared away, or left out by mistake."""
    assert asked()


CERTIFICATES = Resource("cert.example.com", "certificates")
ISSUERS = Resource("cert.example.com", "issuers")
ISSUER = operator("system:serviceaccount:cert:issuer")
PAIR = thing(SECRETS, "web-tls", "prod")
NAMES = Need(Edge.RULE, PAIR.key, optional=True)


def issued(*, maker: Actor = ISSUER, authority: bool = False, kept: bool = True) -> GraphView:
    """Make a workload that mounts a Secret, and the custom resource for which it was issued."""
    root, *pods = workload("web")
    root = msgspec.structs.replace(root, needs=(Need(Edge.SECRET, PAIR.key),))
    asked = thing(CERTIFICATES, "web", "prod", facts=CustomFacts())
    asked = msgspec.structs.replace(asked, needs=(NAMES,))
    signer = thing(ISSUERS, "web", "prod", facts=CustomFacts())
    signer = msgspec.structs.replace(signer, needs=(NAMES,))
    view = view_of(PAIR, root, pods, asked, *([signer] if authority else []))
    name = maker.user.username
    view.history.note_created(PAIR.uid, name, name, PAIR.key, START)
    if kept:
        status = msgspec.structs.replace(update(asked, asked, by=ISSUER), subresource="status")
        view.history.habits.note(status)
    return view


def pair_in_use(view: GraphView, by: Actor = STRANGER) -> bool:
    told = effects(impact_of(delete(PAIR, by=by), view, by=by, now=LATER), ReferenceBroken)
    return any(one.current for one in told if one.edge is Edge.SECRET)


def test_a_secret_that_its_operator_issues_anew_may_go() -> None:
    assert not pair_in_use(issued())


@pytest.mark.parametrize(
    ("view", "by"),
    [
        pytest.param(lambda: issued(kept=False), STRANGER, id="whose-resource-is-not-known"),
        pytest.param(lambda: issued(maker=BY), STRANGER, id="made-by-another"),
        pytest.param(lambda: issued(authority=True), STRANGER, id="others-are-made-of-it"),
        pytest.param(issued, ISSUER, id="deleted-by-who-issues-it"),
    ],
)
def test_a_secret_that_is_not_issued_anew(view: Callable[[], GraphView], by: Actor) -> None:
    assert pair_in_use(view(), by)


PASSWORD = thing(SECRETS, "main-user", "prod", owners=[owner(MAIN)])
PERSON = Actor(UserInfo("jo@example.com"), "jo@example.com", IdentityKind.PERSON, Stage.ENFORCE)


def given(*, maker: Actor | None = BY, kept: bool = True, ends: bool = False) -> GraphView:
    """Make a workload that mounts a Secret of a custom resource, made by its operator."""
    root, *pods = workload("web")
    root = msgspec.structs.replace(root, needs=(Need(Edge.SECRET, PASSWORD.key),))
    view = view_of(
        msgspec.structs.replace(MAIN, deleted=1.0 if ends else 0.0), PASSWORD, root, pods
    )
    if maker is not None:
        name = maker.user.username
        view.history.note_created(PASSWORD.uid, name, name, PASSWORD.key, START)
    if kept:
        status = msgspec.structs.replace(update(MAIN, MAIN, by=BY), subresource="status")
        view.history.habits.note(status)
    return view


def missed(view: GraphView, by: Actor = PERSON) -> tuple[bool, bool]:
    """Whether a Secret is in use as somebody deletes it, and another's."""
    impact = impact_of(delete(PASSWORD, by=by), view, by=by, now=LATER)
    used = any(one.current for one in effects(impact, ReferenceBroken))
    return used, any(one.manager_lives for one in effects(impact, ForeignWrite))


def test_a_person_has_a_password_made_anew_by_deleting_it() -> None:
    assert missed(given()) == (False, False)


@pytest.mark.parametrize(
    ("view", "by"),
    [
        pytest.param(given, STRANGER, id="swept-by-a-machine"),
        pytest.param(lambda: given(maker=STRANGER), PERSON, id="made-by-another"),
        pytest.param(lambda: given(maker=None), PERSON, id="made-by-nobody-known"),
        pytest.param(lambda: given(kept=False), PERSON, id="of-what-nobody-runs"),
        pytest.param(lambda: given(ends=True), PERSON, id="of-what-ends"),
    ],
)
def test_a_password_that_nobody_makes_anew(view: Callable[[], GraphView], by: Actor) -> None:
    """The incident: what pods mount goes by who has nothing to do with it, or for good."""
    used, _ = missed(view(), by)
    assert used


@pytest.mark.parametrize(
    ("name", "names", "kept", "used"),
    [
        pytest.param("main", False, True, False, id="of-its-name"),
        pytest.param("web-tls", True, True, False, id="named-by-it"),
        pytest.param("web-tls", False, True, True, id="of-another-name"),
        pytest.param("main", False, False, True, id="of-what-nobody-runs"),
    ],
)
def test_what_a_custom_resource_stands_for_is_older_than_we_remember(
    name: str, names: bool, kept: bool, used: bool
) -> None:
    """Nobody saw who made the Secret of a certificate, or of an entry of a store."""
    secret = thing(SECRETS, name, "prod", owners=[owner(MAIN)])
    needs = (Need(Edge.RULE, secret.key),) if names else ()
    root, *pods = workload("web")
    root = msgspec.structs.replace(root, needs=(Need(Edge.SECRET, secret.key),))
    view = view_of(msgspec.structs.replace(MAIN, needs=needs), secret, root, pods)
    if kept:
        status = msgspec.structs.replace(update(MAIN, MAIN, by=BY), subresource="status")
        view.history.habits.note(status)
    impact = impact_of(delete(secret, by=PERSON), view, by=PERSON, now=LATER)
    assert any(one.current for one in effects(impact, ReferenceBroken)) == used
    assert any(one.manager_lives for one in effects(impact, ForeignWrite)) == used


def test_a_person_does_not_have_everything_made_anew() -> None:
    view = given()
    view.history.writes.count(before_users(PERSON.user.username), LATER, GAPS)
    assert missed(view) == (True, True)


TOKEN = thing(SECRETS, "pull", "prod")


@pytest.mark.parametrize(
    ("edges", "gaps", "labels", "kept"),
    [
        pytest.param([Edge.PULL_SECRET], 0, {}, False, id="renewed"),
        pytest.param([Edge.PULL_SECRET], 1, {}, True, id="the-last-did-not-come-back"),
        pytest.param([Edge.PULL_SECRET, Edge.SECRET], 0, {}, True, id="mounted-too"),
        pytest.param([Edge.PULL_SECRET], 0, {"copy.example.com/of": "pull"}, True, id="a-copy"),
    ],
)
def test_a_token_with_which_images_are_pulled_is_renewed(
    edges: list[Edge], gaps: int, labels: dict[str, str], *, kept: bool
) -> None:
    """Pods start without it where their image is there; whoever sweeps them is stopped."""
    root, *pods = workload("web")
    root = msgspec.structs.replace(root, needs=tuple(Need(edge, TOKEN.key) for edge in edges))
    view = view_of(msgspec.structs.replace(TOKEN, labels=labels), root, pods)
    if gaps:
        view.history.writes.count(not_back(STRANGER.user.username, SECRETS), LATER, gaps)
    told = effects(
        impact_of(delete(TOKEN, by=STRANGER), view, by=STRANGER, now=LATER), ReferenceBroken
    )
    assert any(one.current for one in told) is kept


def test_a_person_who_renews_tokens_makes_each_again() -> None:
    """The next goes once the last is back; a reaper of what it calls unused makes none."""
    root, *pods = workload("web")
    root = msgspec.structs.replace(root, needs=(Need(Edge.PULL_SECRET, TOKEN.key),))
    view, gone = view_of(TOKEN, root, pods), view_of(root, pods)
    request, made = delete(TOKEN, by=PERSON), update(None, TOKEN, by=PERSON)

    def kept() -> bool:
        told = impact_of(request, view, by=PERSON, now=LATER)
        return any(one.current for one in effects(told, ReferenceBroken))

    for _ in range(2 * GAPS):
        assert not kept()
        remember(request, project(request, view), view, LATER)
        assert kept()
        remember(made, project(made, gone), view, LATER)
