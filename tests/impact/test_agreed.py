"""Custom resources that a person let go of in their own words, and what goes with them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import DataLost, ObjectsRemoved
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CLAIMS,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    VOLUMES,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)

DATABASES = Resource("db.example.com", "databases")
DATABASE = thing(DATABASES, "orders", "prod")
SET = thing(STATEFUL_SETS, "orders", "prod", facts=WorkloadFacts(3))
OWNED = thing(STATEFUL_SETS, "owned", "prod", owners=[owner(DATABASE)], facts=WorkloadFacts(3))
OTHER = thing(STATEFUL_SETS, "orders2", "prod", facts=WorkloadFacts(3))
SECRET = thing(SECRETS, "orders.credentials", "prod")
CLAIM = thing(CLAIMS, "data-orders-0", "prod", facts=ClaimFacts(bound=True, volume="pv"))
VOLUME = thing(VOLUMES, "pv", "", facts=VolumeFacts("Delete", "Bound"))
PERSON, MACHINE = "owner@example.com", "system:serviceaccount:cd:deployer"
YES = {"example.com/confirm-deletion": "true"}


class Database:
    """A custom resource, what it owns, and what is called after it; one moment goes on."""

    def __init__(self) -> None:
        things = [DATABASE, SET, OWNED, OTHER, SECRET, CLAIM, VOLUME]
        self.view, self.now = GraphView(graph_of(things), History()), START

    def annotate(self, by: str) -> None:
        bodies = tuple(
            msgspec.json.encode({"metadata": {"annotations": one}, "spec": {}}) for one in ({}, YES)
        )
        request = update(DATABASE, DATABASE, by=operator(by), bodies=(bodies[0], bodies[1]))
        remember(request, project(request, self.view), self.view, self.now)

    def delete(self) -> None:
        request = delete(DATABASE)
        remember(request, project(request, self.view), self.view, self.now)

    def wait(self, seconds: float) -> None:
        self.now = Now(self.now.mono_ns + int(seconds * 1e9), self.now.utc_s + seconds)

    def explained(self, going: ClusterObject) -> list[int]:
        """Return of each type that goes how many are explained."""
        impact = impact_of(delete(going), self.view, now=self.now)
        return [one.explained for one in effects(impact, ObjectsRemoved)]


@pytest.mark.parametrize(
    ("by", "ago_s", "explained"),
    [(PERSON, 60, 1), (PERSON, 3700, 0), (MACHINE, 60, 0), ("system:admin", 60, 0)],
)
def test_what_a_person_let_go_of(by: str, ago_s: float, explained: int) -> None:
    """It goes with all that it owns, within the hour, whoever deletes it then."""
    database = Database()
    database.annotate(by)
    database.wait(ago_s)
    assert database.explained(DATABASE) == [explained, explained]


def test_without_a_word_nothing_is_explained() -> None:
    """So it is of every other custom resource that somebody deletes."""
    assert Database().explained(DATABASE) == [0, 0]


def test_what_is_called_after_it_goes_once_it_is_deleted() -> None:
    """Its operator takes away what no owner tells of; what has another name stays."""
    database = Database()
    database.annotate(PERSON)
    assert [database.explained(one) for one in (SET, SECRET)] == [[0], [0]]
    database.delete()
    assert [database.explained(one) for one in (SET, SECRET, CLAIM)] == [[1], [1], [1]]
    assert database.explained(OTHER) == [0]
    database.wait(3700)
    assert database.explained(SET) == [0]


def test_one_that_was_deleted_without_a_word_takes_nothing_by_its_name() -> None:
    """The twin: its operator goes by the same names, and is asked what for."""
    database = Database()
    database.delete()
    assert [database.explained(one) for one in (SET, SECRET, CLAIM)] == [[0], [0], [0]]


def test_its_data_goes_with_it() -> None:
    """What was let go of is no loss of data that nobody meant."""
    database = Database()
    database.annotate(PERSON)
    database.delete()
    (lost,) = effects(impact_of(delete(CLAIM), database.view), DataLost)
    assert lost.explained


# ---------------------------------------------------------------- a member that is marked


POD = msgspec.structs.replace(
    thing(PODS, "orders-0", "prod", facts=PodFacts(ready=True, node="n"), owners=[owner(SET)]),
    needs=(Need(Edge.CLAIM, CLAIM.key),),
)
MARK = "example.com/delete-pod-and-pvc"


def marked(
    annotation: str = MARK,
    value: str = "true",
    *,
    by: str = PERSON,
    beside: str = "",
    after_s: float = 60.0,
) -> bool:
    """Whether the claim of a member is explained, whose pod somebody annotated a while ago."""
    others = [msgspec.structs.replace(POD, key=ObjectKey(PODS, "prod", beside), uid=beside)]
    things = [SET, CLAIM, VOLUME, POD, *(others if beside else ())]
    view = GraphView(graph_of(things), History())
    bodies = tuple(
        msgspec.json.encode({"metadata": {"annotations": one}}) for one in ({}, {annotation: value})
    )
    request = update(POD, POD, by=operator(by), bodies=(bodies[0], bodies[1]))
    remember(request, project(request, view), view, START)
    now = Now(START.mono_ns + int(after_s * 1e9), START.utc_s + after_s)
    (lost,) = effects(impact_of(delete(CLAIM), view, now=now), DataLost)
    return lost.explained


def test_a_member_that_a_person_marked_goes_with_its_claim() -> None:
    """Its operator does what it was asked for, though its pod runs."""
    assert marked()


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"by": MACHINE}, id="by a machine"),
        pytest.param({"value": "false"}, id="not meant"),
        pytest.param({"annotation": "example.com/manual-rolling-update"}, id="only restarted"),
        pytest.param({"annotation": "example.com/pvc"}, id="another word"),
        pytest.param({"beside": "orders-1"}, id="used by another, too"),
        pytest.param({"after_s": 3700.0}, id="some time ago"),
    ],
)
def test_a_member_that_nobody_gave_up(parts: dict[str, Any]) -> None:
    assert not marked(**parts)


# ---------------------------------------------------------------- members to be replaced

RING = msgspec.structs.replace(SET, owners=(owner(DATABASE),))
NAMES = [CLAIM.key, *(ObjectKey(CLAIMS, "prod", f"data-orders-{at}") for at in (1, 2))]
MEMBERS = [
    msgspec.structs.replace(
        thing(
            PODS, f"orders-{at}", "prod", facts=PodFacts(ready=True, node="n"), owners=[owner(RING)]
        ),
        needs=(Need(Edge.CLAIM, key),),
    )
    for at, key in enumerate(NAMES)
]  # fmt: skip


def named_to_be_replaced(
    spec: dict[str, Any], *, by: str = PERSON, created: bool = False, was: Any = None
) -> bool:
    """Whether the claim of the first of three members is explained, once somebody wrote so."""
    view = GraphView(graph_of([DATABASE, RING, CLAIM, VOLUME, *MEMBERS]), History())
    old, new = (msgspec.json.encode({"spec": one or {}}) for one in (was, spec))
    after = thing(Resource("control.example.com", "tasks"), "t", "prod") if created else DATABASE
    request = update(
        None if created else DATABASE, after, by=operator(by),
        bodies=(b"" if created else old, new),
    )  # fmt: skip
    remember(request, project(request, view), view, START)
    now = Now(START.mono_ns + 60 * 10**9, START.utc_s + 60)
    (lost,) = effects(impact_of(delete(CLAIM), view, now=now), DataLost)
    return lost.explained


TASK = {"jobs": [{"command": "replacenode", "args": {"pod_name": "orders-0"}}]}


@pytest.mark.parametrize(
    ("parts", "explained"),
    [
        pytest.param({"spec": {"replaceNodes": ["orders-0"]}}, True, id="in a list"),
        pytest.param({"spec": TASK, "created": True}, True, id="in a task"),
        pytest.param({"spec": {"replaceNodes": ["orders-0"]}, "by": MACHINE}, False, id="a machine"),
        pytest.param({"spec": {"replaceNodes": ["orders-1"]}}, False, id="another member"),
        pytest.param({"spec": {"restartNodes": ["orders-0"]}}, False, id="another word"),
        pytest.param(
            {"spec": {"replaceNodes": ["orders-0"]}, "was": {"replaceNodes": ["orders-0"]}},
            False, id="as it was",
        ),
        pytest.param(
            {"spec": {"replaceNodes": ["orders-0", "orders-1"]}}, False, id="most of them at once"
        ),
    ],
)  # fmt: skip
def test_members_that_a_person_named_to_be_replaced(
    parts: dict[str, Any], *, explained: bool
) -> None:
    """Their operator deletes the claim and the pod, and the next fills itself from the others."""
    assert named_to_be_replaced(**parts) is explained


def test_a_member_that_a_person_calls_lost_goes_with_its_claim() -> None:
    """Its operator erases what it held, and makes another from the members that are left."""
    assert marked("postgres.example.com/unrecoverable")
    assert not marked("postgres.example.com/unrecoverable", "false")
    assert not marked("postgres.example.com/unrecoverable", by=MACHINE)


# ---------------------------------------------------------------- a member's Service that is marked


def marked_by_service(
    label: str = "example.com/replace",
    *,
    by: str = PERSON,
    name: str = "orders-0",
    ready: bool = False,
) -> tuple[int, int]:
    """Return how much of a member's claim, and of its Service, is explained once that is marked."""
    facts = PodFacts(ready=ready, node="n")
    pod = msgspec.structs.replace(POD, facts=facts)
    its = thing(SERVICES, name, "prod", owners=[owner(DATABASE)], facts=ServiceFacts(None))
    view = GraphView(graph_of([DATABASE, SET, CLAIM, VOLUME, pod, its]), History())
    bodies = tuple(msgspec.json.encode({"metadata": {"labels": one}}) for one in ({}, {label: ""}))
    request = update(its, its, by=operator(by), bodies=(bodies[0], bodies[1]))
    remember(request, project(request, view), view, START)
    now = Now(START.mono_ns + 60 * 10**9, START.utc_s + 60)
    (lost,) = effects(impact_of(delete(CLAIM), view, now=now), DataLost)
    (gone, *_) = effects(impact_of(delete(its), view, now=now), ObjectsRemoved)
    return int(lost.explained), gone.explained


def test_a_member_is_replaced_that_a_person_marked_on_its_service() -> None:
    """Claim and Service go, and both are made anew for the one that takes its place."""
    assert marked_by_service() == (1, 1)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"by": MACHINE}, id="by a machine"),
        pytest.param({"label": "example.com/rack"}, id="another word"),
        pytest.param({"name": "orders-1"}, id="of another member"),
        pytest.param({"ready": True}, id="of one that serves"),
    ],
)
def test_a_service_by_which_nobody_gave_a_member_up(parts: dict[str, Any]) -> None:
    assert marked_by_service(**parts) == (0, 0)
