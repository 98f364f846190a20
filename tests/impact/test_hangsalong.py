"""What hangs on something that may go itself, and is needed by what stays."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.effects import ObjectsRemoved, ReferenceBroken
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    SECRETS,
    VOLUMES,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

LABELS = Selector.of({"app": "web"})
WEB = thing(DEPLOYMENTS, "web", "prod", facts=WorkloadFacts(2, LABELS, template_hash=2))


def revision(name: str, replicas: int) -> ClusterObject:
    facts = WorkloadFacts(replicas, LABELS, template_hash=1 + (replicas > 0))
    return thing(REPLICA_SETS, name, "prod", owners=[owner(WEB)], facts=facts)


OLD, NEW = revision("web-1", 0), revision("web-2", 2)


@pytest.mark.parametrize(
    ("of", "named", "told"),
    [
        pytest.param(OLD, True, [False], id="read-by-the-next"),
        pytest.param(OLD, False, [], id="read-by-nobody"),
    ],
)
def test_a_secret_that_hangs_on_the_revision_of_before(
    of: ClusterObject, named: bool, told: list[bool]
) -> None:
    """A driver gave it to whose pods asked first; that revision is of no more use, the Secret is."""
    secret = thing(SECRETS, "web-kv", "prod", owners=[owner(of, controller=False)])
    needs = (Need(Edge.SECRET, secret.key),) if named else ()
    current = [msgspec.structs.replace(one, needs=needs) for one in (WEB, NEW)]
    impact = impact_of(delete(OLD), view_of(current, OLD, secret), now=START)
    assert [one.explained for one in effects(impact, ReferenceBroken)] == told


RUNS = Resource("runs.example.com", "runs")


@pytest.mark.parametrize(
    ("named", "told"),
    [
        pytest.param(True, [False], id="read-by-what-runs"),
        pytest.param(False, [], id="read-by-nobody"),
    ],
)
@pytest.mark.parametrize("kept", ["", "stays", "goes"])
def test_a_secret_that_hangs_on_a_run_that_has_ended(
    named: bool, told: list[bool], kept: str
) -> None:
    """A driver gave it to the run that asked first; nobody needs the run, the Secret somebody does.

    Where the run's maker goes, what reads the Secret may go with that.
    """
    top = thing(RUNS, "sync", "prod", facts=CustomFacts())
    by = [owner(top)] if kept else []
    run = thing(PODS, "sync-1", "prod", owners=by, facts=PodFacts(finished=True))
    secret = thing(SECRETS, "web-kv", "prod", owners=[owner(run, controller=False)])
    needs = (Need(Edge.SECRET, secret.key),) if named else ()
    current = [msgspec.structs.replace(one, needs=needs) for one in (WEB, NEW)]
    tops = [msgspec.structs.replace(top, deleted=float(kept == "goes"))] if kept else []
    impact = impact_of(delete(run), view_of(tops, current, run, secret), now=START)
    found = [one.explained for one in effects(impact, ReferenceBroken)]
    assert found == ([True] * len(told) if kept == "goes" else told)


HUBS = Resource("hub.example.com", "hubs")
SETS = Resource("hub.example.com", "installersets")
HUB = thing(HUBS, "hub", facts=CustomFacts())
SET = thing(SETS, "hub-db", owners=[owner(HUB)], facts=CustomFacts())
BY = operator()


def installed(*, asked_by: str, hub: bool = True, ends: bool = False) -> GraphView:
    """Make what an operator installed for a resource: a claim, its volume and a pod."""
    claim = thing(
        CLAIMS, "db", "tools", owners=[owner(SET)], facts=ClaimFacts(bound=True, volume="pv")
    )
    volume = thing(VOLUMES, "pv", facts=VolumeFacts("Delete", "Bound"))
    volume = msgspec.structs.replace(volume, needs=(Need(Edge.BOUND_CLAIM, claim.key),))
    pod = thing(PODS, "db-0", "tools", owners=[owner(SET)], facts=PodFacts(ready=True, node="n"))
    pod = msgspec.structs.replace(pod, needs=(Need(Edge.CLAIM, claim.key),))
    top = [msgspec.structs.replace(HUB, deleted=float(ends))] if hub else []
    view = view_of(top, SET, claim, volume, pod)
    me = BY.user.username
    for one in (SET, claim):
        view.history.note_created(one.uid, me, me, one.key, START)
    if asked_by:
        view.history.note_created(HUB.uid, asked_by, asked_by, HUB.key, START)
    return view


@pytest.mark.parametrize(
    ("asked_by", "hub", "ends", "strange"),
    [
        pytest.param("", True, False, 1, id="for-what-was-there"),
        pytest.param("jo@example.com", True, False, 1, id="for-what-another-made"),
        pytest.param(BY.user.username, True, False, 0, id="for-what-it-made-itself"),
        pytest.param("", False, False, 0, id="for-what-is-gone"),
        pytest.param("", True, True, 0, id="for-what-ends"),
    ],
)
def test_a_claim_is_not_its_makers_own_that_somebody_else_asked_for(
    asked_by: str, hub: bool, ends: bool, strange: int
) -> None:
    """It goes with what the actor made for a resource that stays, and asks for no less."""
    view = installed(asked_by=asked_by, hub=hub, ends=ends)
    later = START.plus_s(3 * 24 * 3600)
    found = effects(impact_of(delete(SET, by=BY), view, by=BY, now=later), ObjectsRemoved)
    assert sum(one.foreign for one in found if one.resource == str(CLAIMS)) == strange
