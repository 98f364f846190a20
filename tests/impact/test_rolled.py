"""Workloads that one actor takes down one after the other, of which none comes back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from support.asking import effects, impact_of
from support.cluster import START, graph_of, operator, owner, service, thing
from support.writes import Body, body, trimmed, write
from suture.impact.causes.recent import remember
from suture.impact.effects import EndpointsLost, ServiceEmptied
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import DEPLOYMENTS, PODS, REPLICA_SETS, STATEFUL_SETS
from suture.model.objects import ClusterObject, PodFacts

DELIVERY = operator("system:serviceaccount:ci:delivery")
OTHER = operator("system:serviceaccount:ci:other")
SHOPS = tuple(f"shop-{at}" for at in range(6))
MINUTE_S = 60


ONE_AT_A_TIME: Body = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


def stamped(
    name: str,
    image: str = "shop:1",
    *,
    kind: str = "Deployment",
    strategy: str = "Recreate",
    surges: bool = True,
) -> Body:
    """Write a workload of one pod."""
    labels = {"app": name}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "x", "image": image}]}}
    spec: Body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pods}
    if kind == "Deployment":
        spec["strategy"] = {"type": strategy, **({} if surges else ONE_AT_A_TIME)}
    return body(kind, name, apiVersion="apps/v1", spec=spec)


class Shops:
    """Some workloads, each before a Service of its own, into which somebody delivers."""

    def __init__(self, **form: Any) -> None:
        self.form = form
        self.resource = STATEFUL_SETS if form.get("kind") == "StatefulSet" else DEPLOYMENTS
        self.history, self.now = History(), START
        self.look()

    def look(self, *, away: Collection[str] = ()) -> None:
        """See the cluster anew; the pods of those `away` are not Ready."""
        things: list[ClusterObject] = []
        for name in SHOPS:
            above = made = trimmed(self.resource, stamped(name, **self.form))
            if self.resource == DEPLOYMENTS:
                above = thing(REPLICA_SETS, f"{name}-1", "prod", owners=[owner(made)])
                things.append(above)
            facts = PodFacts(ready=name not in away, node="node-1")
            pod = thing(
                PODS,
                f"{name}-1-x",
                "prod",
                labels={"app": name},
                owners=[owner(above)],
                facts=facts,
            )
            things += [made, pod, service(name)]
        self.view = GraphView(graph_of(things), self.history)

    def delivers(self, name: str, image: str = "shop:2", by: Actor = DELIVERY) -> bool:
        """Deliver to one, a moment after the last; return whether its Service would be empty."""
        self.now = Now(self.now.mono_ns + 10**9, self.now.utc_s + 1)
        old, new = stamped(name, **self.form), stamped(name, image, **self.form)
        request = write(self.resource, old, new, by=by)
        impact = impact_of(request, self.view, now=self.now, by=by)
        remember(request, project(request, self.view), self.view, self.now)
        return bool(effects(impact, ServiceEmptied) or effects(impact, EndpointsLost))

    def wait(self, seconds: float) -> None:
        self.now = self.now.plus_s(seconds)


def after(number: int, *, back: Collection[str] = (), **form: Any) -> Shops:
    """Deliver to the first of them, and see three minutes later who is `back`."""
    shops = Shops(**form)
    for name in SHOPS[:number]:
        assert not shops.delivers(name)
    shops.wait(3 * MINUTE_S)
    shops.look(away=set(SHOPS[:number]) - set(back))
    return shops


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "Deployment"},
        {"kind": "StatefulSet"},
        {"strategy": "RollingUpdate", "surges": False},
    ],
)
def test_none_of_those_before_is_back(form: dict[str, Any]) -> None:
    """An image that is nowhere: the next would be gone as well."""
    assert after(3, **form).delivers(SHOPS[3])


@pytest.mark.parametrize(
    "shops",
    [
        pytest.param(lambda: after(2), id="too few to tell"),
        pytest.param(lambda: after(3, back=[SHOPS[1]]), id="one is back"),
        pytest.param(lambda: after(3, strategy="RollingUpdate"), id="the old ones stay"),
    ],
)
def test_others_say_nothing(shops: object) -> None:
    assert callable(shops)
    assert not shops().delivers(SHOPS[3])


def test_of_a_moment_ago_nothing_is_known() -> None:
    """All of a release are written at once."""
    shops = Shops()
    assert not any(shops.delivers(name) for name in SHOPS)
    shops.look(away=SHOPS[:5])
    assert not shops.delivers(SHOPS[5], "shop:3")


def test_whoever_else_delivers_is_not_held_up() -> None:
    assert not after(3).delivers(SHOPS[3], by=OTHER)


def test_after_a_day_it_may_be_tried_again() -> None:
    shops = after(3)
    shops.wait(24 * 3600)
    assert not shops.delivers(SHOPS[3])


def test_those_that_did_not_run_before_are_not_counted() -> None:
    """Who mends what is broken finds it broken."""
    shops = Shops()
    shops.look(away=SHOPS[:3])
    assert not any(shops.delivers(name) for name in SHOPS[:3])
    shops.wait(3 * MINUTE_S)
    assert not shops.delivers(SHOPS[3])


def test_the_one_that_is_mended_is_down_already() -> None:
    assert not after(4).delivers(SHOPS[0], "shop:3")
