"""Custom resources that a person stopped before deleting them, or that were made for the day."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import DataLost
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, PODS, STATEFUL_SETS, VOLUMES, Resource
from suture.model.objects import ClaimFacts, ClusterObject, PodFacts, WorkloadFacts

DATABASES = Resource("db.example.com", "databases")
DATABASE = thing(DATABASES, "orders", "prod")
PERSON, MACHINE = "owner@example.com", "system:serviceaccount:cd:deployer"
OPERATOR = operator("system:serviceaccount:db:operator")
VOLUME = thing(VOLUMES, "pv", "", facts=VolumeFacts("Delete", "Bound"))
CLAIM = thing(CLAIMS, "db-data-orders-rs0-0", "prod", facts=ClaimFacts(bound=True, volume="pv"))


class Database:
    """A custom resource with a set of one, whose claim has no owner; one moment goes on."""

    def __init__(self, *, size: int = 0, owned: bool = True) -> None:
        owners = [owner(DATABASE)] if owned else []
        members = thing(
            STATEFUL_SETS, "orders-rs0", "prod", owners=owners, facts=WorkloadFacts(size)
        )
        pod = thing(
            PODS, "orders-rs0-0", "prod", owners=[owner(members)],
            facts=PodFacts(ready=True, node="node-1"),
        )  # fmt: skip
        pods = [replace(pod, needs=(Need(Edge.CLAIM, CLAIM.key),))] if size else []
        things = [DATABASE, members, CLAIM, VOLUME, *pods]
        self.view, self.now = GraphView(graph_of(things), History()), START

    def stop(self) -> None:
        bodies = tuple(msgspec.json.encode({"spec": {"pause": off}}) for off in (False, True))
        request = update(DATABASE, DATABASE, by=OPERATOR, bodies=(bodies[0], bodies[1]))
        remember(request, project(request, self.view), self.view, self.now)

    def create(self, by: str) -> None:
        request = update(None, DATABASE, by=operator(by))
        remember(request, project(request, self.view), self.view, self.now)
        self.view.history.note_created(DATABASE.uid, by, "", DATABASE.key, self.now)

    def delete(self, by: str) -> None:
        request = delete(DATABASE, by=operator(by))
        remember(request, project(request, self.view), self.view, self.now)

    def wait(self, seconds: float) -> None:
        self.now = Now(self.now.mono_ns + int(seconds * 1e9), self.now.utc_s + seconds)

    def explained(self, going: ClusterObject = CLAIM) -> bool:
        """Return whether a cause accounts for the data that goes with an object."""
        impact = impact_of(delete(going, by=OPERATOR), self.view, now=self.now, by=OPERATOR)
        return all(one.explained for one in effects(impact, DataLost))


def test_what_was_stopped_and_then_deleted_is_given_up() -> None:
    """A person said so twice: what its operator clears away then is no loss."""
    database = Database()
    database.stop()
    database.wait(300)
    assert not database.explained()
    database.delete(PERSON)
    assert database.explained()
    database.wait(3700)
    assert not database.explained()


@pytest.mark.parametrize(
    ("database", "stopped", "by"),
    [
        pytest.param(Database(), False, PERSON, id="nobody told it to stop"),
        pytest.param(Database(), True, MACHINE, id="a machine"),
        pytest.param(Database(), True, "system:admin", id="no person"),
        pytest.param(Database(size=1), True, PERSON, id="it runs still"),
        pytest.param(Database(owned=False), True, PERSON, id="what it runs is not known"),
    ],
)
def test_what_is_not_given_up(database: Database, stopped: bool, by: str) -> None:
    """Its data is nobody's to clear away: the twin."""
    if stopped:
        database.stop()
    database.delete(by)
    assert not database.explained()


def test_what_was_given_up_and_is_there_again() -> None:
    """The next life of that name has a claim in use, which an operator finds by the old name."""
    database = Database()
    database.stop()
    database.delete(PERSON)
    next_life = Database(size=1)
    next_life.view.history.writes = database.view.history.writes
    next_life.create(PERSON)
    assert not next_life.explained()


@pytest.mark.parametrize(
    ("maker", "by", "after_s", "explained"),
    [
        pytest.param(MACHINE, MACHINE, 600, True, id="its maker"),
        pytest.param(PERSON, MACHINE, 600, False, id="another"),
        pytest.param(MACHINE, MACHINE, 25 * 3600, False, id="it was there for longer"),
    ],
)
def test_what_was_made_for_the_day(maker: str, by: str, after_s: float, *, explained: bool) -> None:
    """Who made it takes it away, and its operator the claims that were made for it."""
    database = Database()
    database.create(maker)
    database.wait(after_s)
    database.delete(by)
    assert database.explained() is explained


def test_a_claim_in_use_is_not_cleared_away_with_what_was_made_for_the_day() -> None:
    """The twin: pods work with it, of this life or of the next."""
    database = Database(size=1)
    database.create(MACHINE)
    database.delete(MACHINE)
    assert not database.explained()
