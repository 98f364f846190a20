"""One list for everybody of which port leads where, which one of them writes anew."""

from __future__ import annotations

import pytest

from support.asking import effects, impact_of
from support.cluster import service, thing, view_of
from support.writes import Body, body, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.names import CONFIG_MAPS, PODS
from suture.model.objects import ClusterObject, PodFacts

MINE = {"1883": "iot/mqtt:1883"}
OTHERS = {"5432": "orders/db:5432", "6379": "cart/db:6379", "9092": "events/db:9092::PROXY"}


def ports(entries: Body) -> Body:
    return body("ConfigMap", "tcp-services", "ingress", data=entries)


def behind(space: str, name: str = "db") -> list[ClusterObject]:
    """Return a Service with a Ready pod."""
    pod = thing(PODS, name, space, labels={"app": name}, facts=PodFacts(ready=True, node="node-1"))
    return [service(name, namespace=space, app=name), pod]


WORLD = [*behind("iot", "mqtt"), *behind("orders"), *behind("cart"), *behind("events")]


def told(old: Body, new: Body, world: list[ClusterObject] = WORLD) -> list[tuple[int, int]]:
    view = view_of(trimmed(CONFIG_MAPS, ports(old)), world)
    found = effects(impact_of(write(CONFIG_MAPS, ports(old), ports(new)), view), EntriesDropped)
    return [(one.before, one.dropped) for one in found if one.critical]


def test_the_ports_of_others_go() -> None:
    """Three Services that serve are led to no more."""
    assert told({**MINE, **OTHERS}, MINE) == [(4, 3)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param({**MINE, **OTHERS}, {**OTHERS}, id="its own"),
        pytest.param(
            OTHERS, {str(at): to for at, to in enumerate(OTHERS.values())}, id="other ports"
        ),
        pytest.param(
            {str(at): f"orders/db:{at}" for at in range(5)}, MINE, id="all of one namespace"
        ),
        pytest.param({key: f"{key} {to}" for key, to in OTHERS.items()}, MINE, id="other words"),
    ],
)
def test_what_may_leave_it(old: Body, new: Body) -> None:
    """The twins."""
    assert told(old, new) == []


def test_what_serves_no_more() -> None:
    """The twin: their Services are gone, or have nothing behind them."""
    assert told({**MINE, **OTHERS}, MINE, behind("iot", "mqtt")) == []
    empty = [one for one in WORLD if one.key.resource != PODS]
    assert told({**MINE, **OTHERS}, MINE, empty) == []
