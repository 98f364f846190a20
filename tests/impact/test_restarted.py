"""A workload restarted over and over by ever new values, told from deliveries and from work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects
from support.cluster import START, graph_of, operator
from support.writes import Body, body, trimmed, write
from suture.adapters.files import load_policies
from suture.impact.causes.recent import remember
from suture.impact.effects import Churn, Impact
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.judge import World, judge
from suture.model.actor import Actor
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, Resource
from suture.model.request import Request
from suture.model.writes import Writes

KINDS = {DEPLOYMENTS: "Deployment", STATEFUL_SETS: "StatefulSet", DAEMON_SETS: "DaemonSet"}
OTHER = operator("system:serviceaccount:ops:other")


def stamped(
    value: int,
    *,
    image: str = "web:1",
    settings: str = "web",
    of: Resource = DEPLOYMENTS,
    life: str = "1",
    **spec: Any,
) -> Body:
    """Write a workload whose pods carry a value in an annotation."""
    reads = [{"configMapRef": {"name": settings}}]
    pods = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"hash": f"sha-{value}"}},
        "spec": {"containers": [{"name": "main", "image": image, "envFrom": reads}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": pods, **spec}
    return body(KINDS[of], "web", apiVersion="apps/v1", metadata={"uid": life}, spec=spec)


def turn(value: int, **how: Any) -> Request:
    return write(how.get("of", DEPLOYMENTS), stamped(value, **how), stamped(value + 1, **how))


class Lately:
    """A cluster in which requests follow each other; all of them are let through."""

    def __init__(self) -> None:
        self.history = History()
        self.now = START

    def ask(self, request: Request, by: Actor | None = None, after_s: float = 60) -> Impact:
        self.now = self.now.plus_s(after_s)
        actor = by or operator()
        request = replace(request, user=actor.user)
        assert request.old is not None
        view = GraphView(graph_of([request.old]), self.history)
        change = project(request, view)
        impact = estimate(request, change, view, actor, now=self.now)
        remember(request, change, view, self.now)
        return impact

    def told(self, request: Request, **how: Any) -> list[tuple[str, int, int]]:
        found = [one for one in effects(self.ask(request, **how), Churn) if one.rounds]
        return [(one.what, one.times, one.window_s) for one in found]


@pytest.mark.parametrize("of", KINDS)
def test_pods_made_anew_by_ever_new_values_are_told(of: Resource) -> None:
    """Each restart by the same actor is a round of the workload's pods, from the second on."""
    lately = Lately()
    told = [lately.told(turn(at, of=of)) for at in range(21)]
    assert told[:3] == [
        [], [("recreated", 2, 600)], [("recreated", 3, 600)]
    ]  # fmt: skip
    assert told[20][-1] == ("recreated", 21, 3600)


def other_image(at: int) -> Request:
    return write(
        DEPLOYMENTS, stamped(at, image=f"web:{at}"), stamped(at + 1, image=f"web:{at + 1}")
    )


def other_settings(at: int) -> Request:
    return write(
        DEPLOYMENTS, stamped(at, settings=f"web-{at}"), stamped(at + 1, settings=f"web-{at + 1}")
    )


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(other_image, id="a-delivery"),
        pytest.param(other_settings, id="a-delivery-of-settings"),
        pytest.param(lambda at: turn(at, paused=True), id="paused"),
        pytest.param(lambda at: turn(at, replicas=0), id="of-no-size"),
        pytest.param(
            lambda at: turn(at, of=STATEFUL_SETS, updateStrategy={"type": "OnDelete"}),
            id="on-delete",
        ),
        pytest.param(
            lambda at: turn(
                at,
                of=STATEFUL_SETS,
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
            ),
            id="from-a-partition-on",
        ),
        pytest.param(
            lambda at: write(
                DEPLOYMENTS,
                stamped(1, minReadySeconds=at),
                stamped(1, minReadySeconds=at + 1),
            ),
            id="the-same-template",
        ),
        pytest.param(lambda at: turn(at, life=str(at)), id="another-life-each-time"),
    ],
)
def test_what_restarts_nothing_again_is_not_told(ask: Callable[[int], Request]) -> None:
    """New images and settings are work, however many; what leaves the pods is no restart of them."""
    lately = Lately()
    assert [lately.told(ask(at)) for at in range(30)] == [[]] * 30


def test_each_actor_and_each_workload_has_its_own_count() -> None:
    """Four workloads restarted once, or one by several actors, are not one restarted again."""
    lately = Lately()
    assert lately.told(turn(1)) == []
    assert lately.told(turn(2), by=OTHER) == []
    assert lately.told(turn(1, of=DAEMON_SETS)) == []
    assert lately.told(turn(3)) == [("recreated", 2, 600)]


def test_a_write_reviewed_twice_is_one_restart() -> None:
    """A patch that conflicts with a status is tried again with the same outcome."""
    lately = Lately()
    lately.ask(turn(1))
    assert lately.told(turn(1), after_s=1) == []
    assert lately.told(turn(2)) == [("recreated", 2, 600)]
    assert lately.told(turn(2), after_s=1) == []
    assert lately.told(turn(3)) == [("recreated", 3, 600)]


def test_an_hour_later_and_over_a_restart_of_suture() -> None:
    """What is an hour ago no longer counts; what is not survives in the file."""
    lately = Lately()
    for at in range(5):
        lately.ask(turn(at))
    writes = lately.history.writes
    lately.history.writes = Writes.decode(writes.encode(lately.now), lately.now)
    assert lately.told(turn(5)) == [("recreated", 6, 600)]
    assert lately.told(turn(6), after_s=4000) == []


def test_the_pack_stops_it_after_twenty_in_an_hour() -> None:
    """Twenty restarts pass, the next are refused until the first are an hour ago."""
    verdicts, now = [], START
    world = World(load_policies(), graph_of([trimmed(DEPLOYMENTS, stamped(0))]))
    for at in range(23):
        now = now.plus_s(60)
        verdicts.append(judge(turn(at), operator(), world, now).verdict.denies)
        world.graph.put(trimmed(DEPLOYMENTS, stamped(at + 1)))
    assert verdicts == [False] * 20 + [True] * 3
    assert not judge(turn(23), operator(), world, now.plus_s(3000)).verdict.denies
