"""Jobs that are ended to be run anew, by what keeps them."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import JOBS, Resource
from suture.model.objects import CustomFacts, WorkloadFacts
from suture.model.request import Request

RUNNER = operator("system:serviceaccount:runs:runner")
DEPLOYER = operator("system:serviceaccount:ci:deployer")
RUNS = thing(Resource("runs.example.com", "runs"), "train", "ml", facts=CustomFacts())
JOB = thing(JOBS, "train-0", "ml", owners=[owner(RUNS)], facts=WorkloadFacts(1))


def seen() -> GraphView:
    return GraphView(graph_of(RUNS, JOB), History())


def lost(view: GraphView, minutes: int) -> int:
    """Return how many Jobs count that the runner deletes after a while."""
    request = msgspec.structs.replace(delete(JOB), user=RUNNER.user)
    impact = impact_of(request, view, by=RUNNER, now=START.plus_s(minutes * 60))
    return sum(one.counted for one in effects(impact, ObjectsRemoved))


@pytest.mark.parametrize(
    ("by", "minutes", "counted"),
    [
        pytest.param(DEPLOYER, 1, 0, id="changed by another"),
        pytest.param(DEPLOYER, 90, 1, id="long ago"),
        pytest.param(RUNNER, 1, 1, id="changed by itself"),
        pytest.param(None, 1, 1, id="as it was"),
    ],
)
def test_jobs_of_what_was_changed(by: Actor | None, minutes: int, counted: int) -> None:
    """Their template cannot be: they are ended, and made anew. Of what is as it was they count."""
    view = seen()
    if by is not None:
        bodies = (b'{"spec":{"lr":1}}', b'{"spec":{"lr":2}}')
        change = update(RUNS, RUNS, by=by, bodies=bodies)
        remember(change, project(change, view), view, START)

    assert lost(view, minutes) == counted


def status(before: str, after: str) -> Request:
    bodies = (f'{{"status":{before}}}'.encode(), f'{{"status":{after}}}'.encode())
    change = update(RUNS, RUNS, by=RUNNER, bodies=bodies)
    return msgspec.structs.replace(change, subresource="status")


@pytest.mark.parametrize(
    ("before", "after", "minutes", "counted"),
    [
        pytest.param('{"restarts":0}', '{"restarts":1}', 1, 0, id="once more"),
        pytest.param("{}", '{"retryCount": 2, "active": 3}', 1, 0, id="a first retry"),
        pytest.param('{"restarts":0}', '{"restarts":1}', 20, 1, id="long ago"),
        pytest.param('{"restarts":1}', '{"restarts":0}', 1, 1, id="fewer"),
        pytest.param('{"active":3}', '{"active":4}', 1, 1, id="of something else"),
        pytest.param('{"restartedAt":"1"}', '{"restartedAt":"2"}', 1, 1, id="no number"),
    ],
)
def test_jobs_that_are_run_once_more(before: str, after: str, minutes: int, counted: int) -> None:
    """Their keeper counts a round more of all of them; what only stops them counts none."""
    view, change = seen(), status(before, after)
    remember(change, project(change, view), view, START)

    assert lost(view, minutes) == counted
