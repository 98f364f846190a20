"""Releases that a custom resource asked for: what its delete by a person accounts for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, thing, view_of
from support.writes import body, trimmed, write
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.names import SECRETS, SERVICES, ObjectKey, Resource
from suture.model.objects import ServiceFacts
from suture.model.selectors import Selector

BUNDLES = Resource("fleet.example.com", "bundledeployments")
CHARTS = Resource("helm.example.com", "helmcharts")
PERSON, MACHINE = operator("anna@example.com"), operator("system:serviceaccount:fleet:agent")
OPTIONS = {"options": {"namespace": "shop", "helm": {"releaseName": "shop"}}}
RECORD = trimmed(
    SECRETS,
    body(
        "Secret", "sh.helm.release.v1.shop.v1", "shop",
        metadata={"labels": {"owner": "helm", "name": "shop", "status": "deployed"}},
    ),
)  # fmt: skip


def marked(*releases: str) -> Any:
    one = thing(SERVICES, "web", "shop", facts=ServiceFacts(Selector.of({"app": "web"})))
    needs = [Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "shop", name)) for name in releases]
    return replace(one, needs=tuple(needs))


def explained(
    of: Resource = BUNDLES,
    *,
    by: Any = PERSON,
    spec: Any = OPTIONS,
    going: Any = None,
    after_s: float = 60,
    again: bool = False,
    runs: bool = True,
) -> bool:
    """Delete a custom resource called `shop`, and then what is of the release of that name."""
    going = going or marked("shop")
    kind = {BUNDLES: "BundleDeployment", CHARTS: "HelmChart"}[of]
    shown = body(kind, "shop", "fleet", apiVersion=f"{of.group}/v1", spec=spec)
    view: GraphView = view_of(trimmed(of, shown), going)
    if runs:
        view.history.habits.recall((), [(of, (MACHINE.user.username,))], [])
    requests = [write(of, shown, None, by=by)]
    requests += [write(of, None, shown, by=by)] if again else []
    for request in requests:
        remember(request, project(request, view), view, START)
    impact = impact_of(delete(going, by=MACHINE), view, by=MACHINE, now=START.plus_s(after_s))
    return all(one.explained == one.count for one in effects(impact, ObjectsRemoved))


def test_a_person_took_away_what_asked_for_the_release() -> None:
    """Its parts go, and its record last."""
    assert explained()
    assert explained(going=RECORD)
    assert explained(CHARTS, spec={"targetNamespace": "shop"})


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"by": MACHINE}, id="a controller did"),
        pytest.param({"runs": False}, id="who takes it apart does not run the type"),
        pytest.param({"again": True}, id="it is asked for again"),
        pytest.param({"after_s": 3700}, id="hours ago"),
        pytest.param({"spec": {"options": {"namespace": "shop"}}}, id="it names no release"),
        pytest.param(
            {"spec": {"options": {"namespace": "else", "helm": {"releaseName": "shop"}}}},
            id="of that name elsewhere",
        ),
        pytest.param({"going": marked("shop", "base")}, id="another release keeps it too"),
        pytest.param({"going": marked()}, id="of no release"),
    ],
)
def test_what_does_not_end_with_it(how: dict[str, Any]) -> None:
    assert not explained(**how)
