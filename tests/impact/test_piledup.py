"""One child after the other under an owner that asks for no more: a loop that sees none of them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, owner, thing
from suture.impact.causes.counters import creator_like
from suture.impact.effects import Churn
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    CONFIG_MAPS,
    JOBS,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Resource,
)
from suture.model.objects import CustomFacts, PodFacts

CATALOGS = Resource("catalogs.example.com", "catalogsources")
ME = operator()
NOW = START.plus_s(600)


def told(
    of: Resource = PODS,
    *,
    under: Resource = CATALOGS,
    there: int = 30,
    lately: int = 30,
    facts: Any = None,
    made_s_ago: float | None = None,
    changed: bool = False,
    ended: bool = False,
) -> list[int]:
    """Make one more child; return how many times as many as there were it says were made."""
    parent = thing(under, "catalog", "olm", facts=facts)
    ready = PodFacts(ready=not ended, finished=ended, node="node-1")
    children = [
        thing(
            of, f"catalog-{at:05}", "olm", owners=[owner(parent)],
            facts=ready if of == PODS else None,
        )
        for at in range(there)
    ]  # fmt: skip
    history = History()
    made = thing(of, "catalog-99999", "olm", owners=[owner(parent)])
    history.writes.count(creator_like(ME.user.username, made.key), NOW.plus_s(-60), lately)
    if made_s_ago is not None:
        history.note_created(parent.uid, "ann", "", parent.key, NOW.plus_s(-made_s_ago))
    if changed:
        for value in (1, 2):
            history.writes.note(parent.key, Deed(What.WROTE, "ann", value), NOW)
    view = GraphView(graph_of(parent, children), history)
    impact = impact_of(update(None, replace(made, uid="")), view, now=NOW)
    return [one.times for one in effects(impact, Churn) if one.target.name == "catalog-*"]


@pytest.mark.parametrize(
    ("of", "under"),
    [(PODS, CATALOGS), (SECRETS, SERVICE_ACCOUNTS), (CONFIG_MAPS, CATALOGS)],
)
def test_ever_more_of_one_owner(of: Resource, under: Resource) -> None:
    """It had one at most before, and thirty were made since."""
    assert told(of, under=under) == [31]
    assert told(of, under=under, there=40) == [3]


REQUESTS = Resource("catalogs.example.com", "requests")


@pytest.mark.parametrize(
    ("there", "lately", "times"),
    [
        pytest.param(210, 210, [21], id="ever more"),
        pytest.param(190, 190, [], id="a burst"),
        pytest.param(10, 400, [], id="they are taken away as well"),
        pytest.param(400, 210, [], id="it always had many"),
    ],
)
def test_ever_more_that_is_asked_of_somebody(there: int, lately: int, times: list[int]) -> None:
    """Custom resources come in bursts: of those it takes twenty times ten."""
    assert told(REQUESTS, there=there, lately=lately) == times


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"of": JOBS}, id="work comes in bursts"),
        pytest.param({"of": REQUESTS}, id="so do custom resources"),
        pytest.param({"under": SERVICES}, id="under what says nothing of them"),
        pytest.param({"made_s_ago": 3600}, id="under what is of the day"),
        pytest.param({"changed": True}, id="under what was changed"),
        pytest.param({"facts": CustomFacts(wanted=50)}, id="it wants as many"),
        pytest.param({"ended": True}, id="they have ended"),
        pytest.param({"lately": 5}, id="a few"),
    ],
)
def test_what_is_made_as_it_is_meant(how: dict[str, Any]) -> None:
    """The twins."""
    assert told(**how) == []
