"""Records that a machine deletes while what they are of lives, and those that are left over."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.actor import Actor, IdentityKind, UserInfo
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import PODS, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, PodFacts
from suture.model.writes import DAY_S

RESERVATIONS = Resource("addresses.example.com", "reservations")
SCALERS = Resource("sizes.example.com", "scalers")
CHECKPOINTS = Resource("sizes.example.com", "checkpoints")
COLLECTOR = operator("system:serviceaccount:kube-system:collector")
PERSON = Actor(UserInfo("ops@example.com"), "ops", IdentityKind.PERSON, COLLECTOR.stage)
NOW = START.plus_s(3 * DAY_S)
OLD = START.utc_s
OF_POD = b'{"spec":{"ifname":"net1","podref":"core/store-0"}}'
OF_SCALER = b'{"spec":{"scalerName":"web","containerName":"main"}}'


def pod(*, ready: bool = True, born: float = OLD, deleted: float = 0.0) -> ClusterObject:
    one = thing(PODS, "store-0", "core", facts=PodFacts(ready=ready), deleted=deleted)
    return msgspec.structs.replace(one, created=born)


def scaler(*, born: float = OLD, deleted: float = 0.0) -> ClusterObject:
    one = thing(SCALERS, "web", "shop", facts=CustomFacts(), deleted=deleted)
    return msgspec.structs.replace(one, created=born)


def record(
    kind: Resource, *, name: str = "", born: float = OLD + 5, **more: object
) -> ClusterObject:
    if kind == RESERVATIONS:
        one = thing(kind, name or "10.3.8.145", "kube-system", facts=CustomFacts())
    else:
        one = thing(kind, name or "web-main", "shop", facts=CustomFacts())
    return msgspec.structs.replace(one, created=born, **more)


def counted(
    one: ClusterObject,
    *others: ClusterObject,
    body: bytes = b"",
    by: Actor = COLLECTOR,
    history: History | None = None,
) -> int:
    view = GraphView(graph_of(one, *others), history or History())
    body = body or (OF_POD if one.key.resource == RESERVATIONS else OF_SCALER)
    request = msgspec.structs.replace(delete(one, by=by), old_body=body)
    (effect,) = effects(impact_of(request, view, now=NOW, by=by), ObjectsRemoved)
    return effect.counted


def test_a_record_of_a_pod_that_runs_counts() -> None:
    """A reconciler takes the addresses of running pods for left over, and gives them out twice."""
    assert counted(record(RESERVATIONS), pod()) == 1


def test_a_record_that_another_part_keeps_of_what_is_there_counts() -> None:
    """A second recommender collects the checkpoints of autoscalers that are not its own."""
    assert counted(record(CHECKPOINTS), scaler()) == 1


@pytest.mark.parametrize(
    "others",
    [
        pytest.param((), id="gone"),
        pytest.param((pod(deleted=OLD + 60),), id="going"),
        pytest.param((pod(ready=False),), id="ended"),
        pytest.param((pod(born=OLD + 60),), id="made-anew-under-its-name"),
    ],
)
def test_what_is_left_over_of_a_pod_does_not(others: tuple[ClusterObject, ...]) -> None:
    """The twin: the addresses of pods that are gone, and of those before them of the same name."""
    assert counted(record(RESERVATIONS), *others) == 0


@pytest.mark.parametrize(
    "others",
    [
        pytest.param((), id="gone"),
        pytest.param((scaler(deleted=OLD + 60),), id="going"),
        pytest.param((scaler(born=OLD + 60),), id="made-anew-under-its-name"),
    ],
)
def test_what_is_left_over_of_another_does_not(others: tuple[ClusterObject, ...]) -> None:
    """The twin: autoscalers are given up, and their checkpoints are collected after them."""
    assert counted(record(CHECKPOINTS), *others) == 0


def test_what_was_asked_of_another_is_cleared_away_when_it_is_done() -> None:
    """Requests are called after what they are about; they are of this day, or over."""
    assert counted(record(CHECKPOINTS, born=NOW.utc_s - 3_600), scaler()) == 0
    assert counted(record(CHECKPOINTS, facts=CustomFacts(ended=Ended.SURE)), scaler()) == 0


def test_what_is_called_otherwise_or_names_no_other_is_no_record() -> None:
    """Both have to say it: many name their cluster, and many are called after another."""
    assert counted(record(CHECKPOINTS, name="nightly-web"), scaler()) == 0
    assert counted(record(CHECKPOINTS), scaler(), body=b'{"spec":{"other":"api"}}') == 0
    assert counted(record(CHECKPOINTS), scaler(), body=b'{"spec":["web"]}') == 0


def test_who_wrote_the_other_may_be_the_cause() -> None:
    """What an autoscaler is about was changed within the hour."""
    history = History()
    history.writes.note(scaler().key, Deed(What.WROTE, "dev@example.com", 1), NOW.plus_s(-60))
    assert counted(record(CHECKPOINTS), scaler(), history=history) == 0


def test_an_owner_answers_for_its_own_and_a_person_knows_what_for() -> None:
    """Whoever resets what was measured deletes it by hand."""
    owned = record(CHECKPOINTS, owners=(owner(scaler()),))
    assert counted(owned, scaler()) == 0
    assert counted(record(CHECKPOINTS), scaler(), by=PERSON) == 0
