"""Children that only their names tie to a living parent, which the actor runs."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, service, thing
from suture.impact.causes.counters import back_again, removals
from suture.impact.effects import ObjectsRemoved
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.facts import DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CRDS,
    DISRUPTION_BUDGETS,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from suture.model.objects import ClusterObject, CrdFacts, PodFacts, WorkloadFacts
from suture.model.selectors import Selector

BROKERS = Resource("mq.example.com", "brokers")
RUNS = operator("system:serviceaccount:mq-system:mq-operator")
OTHER = operator("system:serviceaccount:tools:cleaner")
NOW = START.plus_s(3600 * 48)


def parent(created: float = 100.0, **more: object) -> ClusterObject:
    return msgspec.structs.replace(thing(BROKERS, "main", "queue"), created=created, **more)


def child(name: str = "main-nodes", created: float = 110.0, **more: object) -> ClusterObject:
    return msgspec.structs.replace(service(name, "queue", app="main"), created=created, **more)


POD = thing(PODS, "main-0", "queue", labels={"app": "main"}, facts=PodFacts(ready=True))


KIND = thing(CRDS, str(BROKERS), facts=CrdFacts(BROKERS, "Broker", namespaced=True))


def view_of(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(POD, KIND, *things), History())


def told(view: GraphView, one: ClusterObject, by: Actor = RUNS) -> tuple[int, int]:
    """Return how many are wanted and in use when a child is deleted."""
    (effect,) = effects(impact_of(delete(one, by=by), view, now=NOW, by=by), ObjectsRemoved)
    assert effect.resource == str(SERVICES)
    return effect.wanted, effect.in_use


def test_a_child_of_the_life_that_is_there_is_wanted() -> None:
    """It is called after it, or bears its name, and is no older."""
    assert told(view_of(parent(), child()), child()) == (1, 1)
    bare = child("main", labels={"cluster-name": "main"})
    assert told(view_of(parent(), bare), bare) == (1, 1)


@pytest.mark.parametrize(
    ("of", "one", "by"),
    [
        pytest.param((), child(), RUNS, id="the-parent-is-gone"),
        pytest.param((parent(deleted=1.0),), child(), RUNS, id="the-parent-goes"),
        pytest.param((parent(created=120.0),), child(), RUNS, id="of-an-earlier-life"),
        pytest.param((parent(),), child(), OTHER, id="who-does-not-run-such"),
        pytest.param((parent(),), child("mainframe"), RUNS, id="a-part-of-a-word"),
        pytest.param((parent(),), child("main"), RUNS, id="its-name-and-no-label"),
    ],
)
def test_what_no_living_parent_is_known_to_want_is_not(
    of: tuple[ClusterObject, ...], one: ClusterObject, by: Actor
) -> None:
    """The twin: who clears away what the last life has left."""
    assert told(view_of(*of, one), one, by) == (0, 1)


def test_an_owner_says_whose_it_is() -> None:
    """A guess by names is for what has no owner."""
    above = service("above", "queue")
    one = child(owners=(owner(above, controller=False),))
    assert told(view_of(parent(), above, one), one) == (0, 1)


def test_a_parent_that_was_changed_may_want_less() -> None:
    """Its part was switched off a moment ago; to write the same again is no change."""
    view = view_of(parent(), child())
    for value in (1, 1):
        view.history.writes.note(parent().key, Deed(What.WROTE, "human", value), NOW)
    view.history.writes.note(parent().key, Deed(What.WROTE, "human", 2), NOW)
    assert told(view, child()) == (0, 1)


OF_MAIN = {"cluster-name": "main"}


def secret(
    name: str = "main-admin", created: float = 110.0, labels: dict[str, str] = OF_MAIN
) -> ClusterObject:
    return msgspec.structs.replace(thing(SECRETS, name, "queue", labels=labels), created=created)


def members(*, ready: bool = True) -> list[ClusterObject]:
    """Return a set called after the parent, and its pod."""
    of_it = thing(STATEFUL_SETS, "main-server", "queue", facts=WorkloadFacts(1))
    pod = thing(PODS, "main-server-0", "queue", owners=[owner(of_it)], facts=PodFacts(ready=ready))
    return [of_it, pod]


def kept(view: GraphView, one: ClusterObject, by: Actor = RUNS) -> tuple[int, int]:
    """Return how many Secrets are wanted and in use when one is deleted."""
    (effect,) = effects(impact_of(delete(one, by=by), view, now=NOW, by=by), ObjectsRemoved)
    return effect.wanted, effect.in_use


def test_a_secret_of_what_runs_is_in_use_whoever_reads_it() -> None:
    """By its name and a label; by its name alone, and of what does not run, it is only wanted."""
    assert kept(view_of(parent(), secret(), *members()), secret()) == (1, 1)
    other = secret("admin.main.credentials")
    assert kept(view_of(parent(), other, *members()), other) == (1, 1)
    after = parent(created=113.0)
    assert kept(view_of(after, secret(), *members()), secret()) == (1, 1), "of one manifest"
    assert kept(view_of(parent(), secret()), secret()) == (1, 0)
    bare = secret(labels={})
    assert kept(view_of(parent(), bare, *members()), bare) == (1, 0)
    assert kept(view_of(parent(), secret(), *members(ready=False)), secret()) == (1, 0)


@pytest.mark.parametrize(
    ("of", "one", "by"),
    [
        pytest.param((), secret(), RUNS, id="the-parent-is-gone"),
        pytest.param((parent(deleted=1.0),), secret(), RUNS, id="the-parent-goes"),
        pytest.param((parent(created=120.0),), secret(), RUNS, id="of-an-earlier-life"),
        pytest.param((parent(),), secret(), OTHER, id="who-does-not-run-such"),
        pytest.param((parent(),), secret("admin.main.credentials", labels={}), RUNS, id="no-label"),
        pytest.param(
            (parent(),),
            secret("mainframe-admin", labels={"of": "main"}),
            RUNS,
            id="a-part-of-a-word",
        ),
    ],
)
def test_a_secret_that_no_living_parent_is_known_to_want(
    of: tuple[ClusterObject, ...], one: ClusterObject, by: Actor
) -> None:
    """The twin: the operator clears away what the last life has left."""
    assert kept(view_of(*of, one, *members()), one, by) == (0, 0)


@pytest.mark.parametrize(
    ("status", "wanted"), [("superseded", (0, 0)), ("failed", (0, 0)), ("deployed", (1, 1))]
)
def test_a_record_of_the_past_is_nobodys(status: str, wanted: tuple[int, int]) -> None:
    """Whoever upgrades a release trims what it was; the record in force stays."""
    labels = {"owner": "helm", "name": "main", "status": status}
    one = secret("sh.helm.release.v1.main.v3", labels=labels)
    assert kept(view_of(parent(), one, *members()), one) == wanted


@pytest.mark.parametrize("name", ["main-bootstrap-token", "main-certs-7f9c2d"])
def test_a_secret_for_a_while_or_of_one_content_may_go(name: str) -> None:
    """Its operator made it for the start, or has made the next of it."""
    one = secret(name)
    assert kept(view_of(parent(), one, *members()), one) == (1, 0)


@pytest.mark.parametrize(("later", "used"), [(3600.0, 0), (5.0, 1)])
def test_a_secret_that_was_renewed_may_go(later: float, used: int) -> None:
    """The actor made another for the same parent since; what came with it is no other one."""
    one, other = secret("main-key-one"), secret("main-key-two", created=110.0 + later)
    view = view_of(parent(), one, other, *members())
    view.history.note_created(other.uid, RUNS.user.username, "", other.key, NOW)
    assert kept(view, one) == (1, used)


@pytest.mark.parametrize(
    ("left_out", "wanted"),
    [pytest.param([], True, id="again"), pytest.param(["ui"], False, id="another-is-not")],
)
def test_a_parent_that_has_again_what_it_left_out_asks_as_before(
    left_out: list[str], *, wanted: bool
) -> None:
    """Its operator may have seen the first of two writes only."""
    view = view_of(parent(), child())
    writes = view.history.writes
    for value in (1, 2):
        writes.note(parent().key, Deed(What.WROTE, "human", value), NOW)
    writes.count(back_again(parent().uid), NOW)
    writes.note_left_out(parent().uid, frozenset(left_out), frozenset())
    assert told(view, child()) == (wanted, 1)


GUARDS = DisruptionBudgetFacts(Selector.of({"app": "main"}), 1)
BUDGET = thing(DISRUPTION_BUDGETS, "main-budget", "queue", labels={"app": "main"})
OF_IT = child(labels=OF_MAIN)


def gone(*things: ClusterObject, by: str = "human") -> GraphView:
    """Return a world in which the parent went, as somebody asked."""
    view = view_of(*things)
    view.history.note_removed(parent().uid, parent().key, NOW)
    view.history.writes.note(parent().key, Deed(What.DELETED, by, 1), NOW)
    return view


def explained(view: GraphView, one: ClusterObject, by: Actor = RUNS) -> int:
    """Return for how many a cause accounts when a child is deleted, a minute later."""
    now = NOW.plus_s(60)
    (effect,) = effects(impact_of(delete(one, by=by), view, now=now, by=by), ObjectsRemoved)
    return effect.explained


@pytest.mark.parametrize("one", [OF_IT, child("main", labels=OF_MAIN), BUDGET])
def test_what_was_made_for_a_parent_goes_after_it(one: ClusterObject) -> None:
    """Under a finalizer, or gone: an operator without owners clears away what it made."""
    assert explained(view_of(parent(deleted=1.0), one), one) == 1
    assert explained(gone(one), one) == 1
    assert explained(view_of(parent(), one), one) == 0, "it lives"


@pytest.mark.parametrize(
    ("more", "one", "by", "deleted_by"),
    [
        pytest.param((parent(),), OF_IT, RUNS, "human", id="the-next-life"),
        pytest.param((), OF_IT, OTHER, "human", id="who-does-not-run-such"),
        pytest.param((), OF_IT, RUNS, RUNS.user.username, id="the-actor-ended-it"),
        pytest.param((), child("other", labels=OF_MAIN), RUNS, "human", id="a-label-and-no-name"),
        pytest.param((), child(), RUNS, "human", id="a-name-and-no-label"),
    ],
)
def test_what_is_not_known_to_be_of_the_parent_that_went_stays(
    more: tuple[ClusterObject, ...], one: ClusterObject, by: Actor, deleted_by: str
) -> None:
    """The incident: a child of the life that is there, deleted for the end of the last."""
    assert explained(gone(*more, one, by=deleted_by), one, by) == 0


@pytest.mark.parametrize("word", ["instance", "part-of", "component"])
def test_a_recommended_label_says_whose_it_is_whatever_it_is_called(word: str) -> None:
    """The twin: what an operator made for its product goes with that. And not while that lives."""
    part = child("other", labels={f"app.kubernetes.io/{word}": "main"})
    assert explained(gone(part), part, RUNS) == 1
    assert explained(gone(part), part, OTHER) == 0
    assert explained(gone(part, by=RUNS.user.username), part, RUNS) == 0
    assert explained(view_of(parent(), part), part, RUNS) == 0


def test_what_was_made_after_the_end_is_not_of_the_parent() -> None:
    """Somebody made it by hand under the name that was free."""
    view = gone(OF_IT)
    assert explained(view, OF_IT) == 1
    view.history.note_created(OF_IT.uid, "human", "", OF_IT.key, NOW.plus_s(30))
    assert explained(view, OF_IT) == 0


def test_what_many_ends_leave_stays() -> None:
    """The incident: a type pruned by mistake. Nothing seemed to hang on any of it."""
    view = gone(OF_IT)
    view.history.writes.count(removals(BROKERS), NOW, 5)
    assert explained(view, OF_IT) == 1
    view.history.writes.count(removals(BROKERS), NOW)
    assert explained(view, OF_IT) == 0


def test_a_budget_of_a_living_parent_holds_what_runs() -> None:
    """Deleted under members that run; its operator alone knows whose it is."""
    guard = msgspec.structs.replace(BUDGET, created=110.0, facts=GUARDS)
    second = thing(PODS, "main-1", "queue", labels={"app": "main"}, facts=PodFacts(ready=True))
    for by, wanted in ((RUNS, 1), (OTHER, 0)):
        view = view_of(parent(), guard, second)
        (effect,) = effects(impact_of(delete(guard, by=by), view, now=NOW, by=by), ObjectsRemoved)
        assert (effect.wanted, effect.in_use) == (wanted, 1)


SAID = child(labels={"broker": "main"})


def run_by_another(view: GraphView) -> GraphView:
    """Have the status of such a parent written by an account that neither is called like it."""
    status = parent()
    view.history.habits.note(
        update(status, status, subresource="status", by=operator("system:serviceaccount:q:runs-it"))
    )
    return view


def test_a_label_called_like_a_kind_says_whose_it_is_where_nobody_is_known_to_run_it() -> None:
    """The incident: an operator of another name takes what its living resource is kept by."""
    assert told(view_of(parent(), SAID), SAID, OTHER) == (1, 1)
    assert told(run_by_another(view_of(parent(), SAID)), SAID, OTHER) == (0, 1)
    elsewhere = child(labels={"broker": "other", "app": "main"})
    assert told(view_of(parent(), elsewhere), elsewhere, OTHER) == (0, 1)


def test_what_such_a_label_names_goes_after_it() -> None:
    """The twin: the resource was given up, and its operator clears away what it made for it."""
    assert explained(gone(SAID), SAID, OTHER) == 1
    assert explained(run_by_another(gone(SAID)), SAID, OTHER) == 0
    assert explained(gone(SAID, by=OTHER.user.username), SAID, OTHER) == 0
