"""Roles that labels tell: a failover by a stranger, and what only looks like one."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, owner, service, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import SelectionChanged, ServiceEmptied
from suture.impact.ordinary.roles import VACANCIES
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.facts import DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import DISRUPTION_BUDGETS, PODS, SERVICE_ACCOUNTS, SERVICES, STATEFUL_SETS
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector

STRANGER = operator("system:serviceaccount:ops:failover")
FIRST = thing(SERVICES, "db-rw", "prod", facts=ServiceFacts(Selector.of({"role": "primary"})))


def member(pod: ClusterObject, role: str, *, ready: bool = True) -> ClusterObject:
    labels = {"app": "db", "role": role} if role else {"app": "db"}
    return msgspec.structs.replace(pod, labels=labels, facts=PodFacts(ready=ready))


def moved(
    role: str, beside: str, *, ready: bool = True, ago_s: float | None = None
) -> tuple[str, bool]:
    """Give the first of two members a `role`; return what it is told to be, and if explained."""
    deployment, replica_set, one, two = workload("db", replicas=2)
    first, second = member(one, "primary"), member(two, beside, ready=ready)
    history = History()
    if ago_s is not None:
        deed = Deed(What.WROTE, STRANGER.user.username, 1)
        history.writes.note(second.key, deed, START.plus_s(-ago_s))
    graph = graph_of(deployment, replica_set, first, second, FIRST, service("db"))
    impact = impact_of(
        update(first, member(first, role), by=STRANGER), GraphView(graph, history), by=STRANGER
    )
    (changed,) = effects(impact, SelectionChanged)
    (emptied,) = effects(impact, ServiceEmptied)
    return changed.cause, emptied.explained


def test_a_leader_steps_back_before_the_next_steps_up() -> None:
    """It becomes what the member beside it has long been."""
    assert moved("replica", "replica") == ("role", True)
    assert moved("replica", "replica", ago_s=4000) == ("role", True)


@pytest.mark.parametrize(
    ("role", "beside", "ready", "ago_s"),
    [
        pytest.param("", "", True, None, id="the label is taken off"),
        pytest.param("retired", "replica", True, None, id="nobody has such a role"),
        pytest.param("replica", "replica", False, None, id="nobody could step up"),
        pytest.param("replica", "replica", True, 60.0, id="all are relabelled one by one"),
    ],
)
def test_what_is_no_failover(role: str, beside: str, *, ready: bool, ago_s: float | None) -> None:
    """A stranger who leaves a Service without pods is told to."""
    assert moved(role, beside, ready=ready, ago_s=ago_s) == ("labels", False)


MEMBERS = thing(SERVICE_ACCOUNTS, "db-pod", "prod")
SHARED = thing(SERVICE_ACCOUNTS, "default", "prod")
BUDGET = thing(
    DISRUPTION_BUDGETS, "db", "prod", facts=DisruptionBudgetFacts(Selector.of({"role": "primary"}))
)


@pytest.mark.parametrize(
    ("account", "by", "cause"),
    [
        pytest.param(MEMBERS, "prod:db-pod", "role", id="as the members do"),
        pytest.param(MEMBERS, "prod:other", "labels", id="as others do"),
        pytest.param(MEMBERS, "ops:db-pod", "labels", id="of another namespace"),
        pytest.param(SHARED, "prod:default", "labels", id="as everybody does"),
    ],
)
def test_who_writes_as_the_account_of_the_members(
    account: ClusterObject, by: str, cause: str
) -> None:
    """A member steps back before the next steps up: its own account moves its role."""
    member_ = operator(f"system:serviceaccount:{by}")
    deployment, replica_set, one, two = workload("db", replicas=2)
    runs = (Need(Edge.SERVICE_ACCOUNT, account.key),)
    first, second = (
        msgspec.structs.replace(member(pod, role), needs=runs)
        for pod, role in ((one, "primary"), (two, "standby"))
    )
    graph = graph_of(deployment, replica_set, account, first, second, BUDGET)
    request = update(first, member(first, "replica"), by=member_)
    (told,) = effects(impact_of(request, GraphView(graph, History()), by=member_), SelectionChanged)
    assert told.cause == cause


# ---------------------------------------------------------------- one set after the other

KEEPER = operator("system:serviceaccount:ops:databases")


class Databases:
    """Sets of `size` members that one operator made, each with a Service that selects the first."""

    def __init__(self, size: int = 2) -> None:
        self.history = History()
        self.now = START
        self.things: dict[str, ClusterObject] = {}
        for at in range(VACANCIES + 2):
            name = f"db-{at}"
            labels = {"app": name}
            facts = WorkloadFacts(replicas=size, selector=Selector.of(labels))
            made = thing(STATEFUL_SETS, name, "prod", facts=facts)
            self.history.note_created(
                made.uid, KEEPER.user.username, "lb-operator", made.key, START
            )
            for role in ("primary", "replica"):
                selector = Selector.of({**labels, "role": role})
                self._put(thing(SERVICES, f"{name}-{role}", "prod", facts=ServiceFacts(selector)))
            self._put(made)
            for member in range(size):
                role = "replica" if member else "primary"
                self._put(
                    thing(
                        PODS, f"{name}-{member}", "prod", labels={**labels, "role": role},
                        owners=[owner(made)], facts=PodFacts(ready=True),
                    )
                )  # fmt: skip

    def _put(self, one: ClusterObject) -> None:
        self.things[one.key.name] = one

    @property
    def view(self) -> GraphView:
        return GraphView(graph_of(self.things.values()), self.history)

    def lose(self, name: str) -> None:
        """Say of a pod that it is not Ready any more."""
        self._put(msgspec.structs.replace(self.things[name], facts=PodFacts(ready=False)))

    def give(self, name: str, role: str, *, seen: bool = True, after_s: float = 6) -> str:
        """Give a pod a role; return why its Service would be empty, empty where none would be.

        What is not refused is done; `seen` False: and the model does not show it yet.
        """
        self.now = Now(self.now.mono_ns + int(after_s * 1e9), self.now.utc_s + after_s)
        before, view = self.things[name], self.view
        labels = {**before.labels, "role": role}
        if not role:
            del labels["role"]
        after = msgspec.structs.replace(before, labels=labels)
        request = update(before, after, by=KEEPER)
        impact = impact_of(request, view, now=self.now, by=KEEPER)
        if not any(one.explained is False for one in effects(impact, ServiceEmptied)):
            remember(request, project(request, view), view, self.now)
            if seen:
                self._put(after)
        changed = [one for one in effects(impact, SelectionChanged) if not one.after]
        return changed[0].cause if changed else ""


SETS = range(VACANCIES + 2)
SOME = ["role"] * VACANCIES


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("role", ["", "replica", "unknown"])
def test_roles_taken_from_one_set_after_the_other_and_given_to_nobody(role: str, size: int) -> None:
    """The first few pass, as any failover begins so; no more than these, however it is labelled."""
    databases = Databases(size)

    assert [databases.give(f"db-{at}-0", role) for at in SETS] == [*SOME, "labels", "labels"]


def test_a_sweep_that_the_model_is_yet_to_see() -> None:
    """What was let through a moment ago counts before the watch tells of it."""
    databases = Databases()

    told = [databases.give(f"db-{at}-0", "", seen=False, after_s=0.1) for at in SETS]

    assert told == [*SOME, "labels", "labels"]


@pytest.mark.parametrize("seen", [True, False])
def test_sets_that_fail_over_one_after_the_other(seen: bool) -> None:
    """Each has a primary again before the next: it does not matter how many there are."""
    databases = Databases(3)

    for at in SETS:
        assert databases.give(f"db-{at}-0", "replica", seen=seen, after_s=0.1) == "role"
        assert databases.give(f"db-{at}-1", "primary", seen=seen, after_s=0.1) == ""


def test_the_next_takes_over_before_the_first_steps_back() -> None:
    """For a moment nobody is a replica, and then the former primary is."""
    databases = Databases()

    for at in SETS:
        assert databases.give(f"db-{at}-1", "primary") == "role"
        assert databases.give(f"db-{at}-0", "replica") == ""


def test_the_last_members_take_over_when_a_node_goes_down() -> None:
    """There is nobody who could be a replica in their place."""
    databases = Databases()
    for at in SETS:
        databases.lose(f"db-{at}-0")

    assert [databases.give(f"db-{at}-1", "primary") for at in SETS] == ["role"] * len(SETS)


def test_what_left_roles_open_is_over() -> None:
    """Who gives one of them to another may always; then the next may go, or after an hour."""
    databases = Databases()
    for at in range(VACANCIES):
        databases.give(f"db-{at}-0", "")

    assert databases.give(f"db-{VACANCIES}-0", "") == "labels"
    assert databases.give("db-0-1", "primary") == "role"
    assert databases.give("db-0-0", "replica") == ""
    assert databases.give(f"db-{VACANCIES}-0", "") == "role"
    assert databases.give(f"db-{VACANCIES + 1}-0", "") == "labels"
    assert databases.give(f"db-{VACANCIES + 1}-0", "", after_s=3700) == "role"
