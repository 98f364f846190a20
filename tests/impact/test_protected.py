"""What people marked to stay: counted among what goes, by itself or along, less what comes back."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cluster import delete, namespace, operator, owner, service, thing, view_of, workload
from suture.adapters.files import load_policies
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.ordinary.protected import PROTECT, remember_mark
from suture.impact.project import project
from suture.judge import World, judge
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, DEPLOYMENTS, PODS, Operation, Resource
from suture.model.objects import ClusterObject

NOW = Now(0, 0.0)
MARK = {PROTECT: "true"}


def marked(one: ClusterObject, value: str = "true") -> ClusterObject:
    return msgspec.structs.replace(one, labels={**one.labels, PROTECT: value})


def protected(view: GraphView, target: ClusterObject) -> dict[str, int]:
    """Return how many protected objects a delete would take, by resource."""
    request = delete(target)
    impact = estimate(request, project(request, view), view, operator(), {"objects_removed"})
    return {
        one.resource: one.protected
        for one in impact.effects
        if isinstance(one, ObjectsRemoved) and one.protected
    }


def test_by_itself_and_along() -> None:
    """A namespace takes them along; a parent takes its child."""
    notes = marked(thing(CONFIG_MAPS, "notes", "prod"))
    parent = thing(CONFIG_MAPS, "parent", "prod")
    child = marked(service("child", owners=[owner(parent)]))
    view = view_of(namespace("prod"), notes, parent, child)

    assert protected(view, notes) == {"configmaps": 1}
    assert protected(view, parent) == {"services": 1}
    assert protected(view, namespace("prod")) == {"configmaps": 1, "services": 1}


def test_another_value_protects_nothing() -> None:
    """The label says so or it does not."""
    for value in ("false", "", "True"):
        one = marked(thing(CONFIG_MAPS, "notes", "prod"), value)
        assert protected(view_of(one), one) == {}


def test_pods_that_come_back_are_not_kept() -> None:
    """A label that a template hands on to its pods does not stop a node's drain; bare pods stay."""
    things = [marked(one) for one in workload("web")]
    bare = marked(thing(PODS, "bare", "prod"))
    view = view_of(*things, bare)

    assert protected(view, things[-1]) == {}
    assert protected(view, bare) == {"pods": 1}
    assert protected(view, things[0])[str(DEPLOYMENTS)] == 1


@pytest.mark.parametrize("kind", [CONFIG_MAPS, PODS])
def test_what_a_machine_lifts_stays(kind: Resource) -> None:
    """By itself and along, until a person writes the label; what a person lifts goes."""
    one = marked(thing(kind, "notes", "prod"))
    bare = msgspec.structs.replace(one, labels={})
    view = view_of(namespace("prod"), bare, thing(kind, "other", "prod"))

    def writes(old: ClusterObject, new: ClusterObject, *, person: bool) -> dict[str, int]:
        asked = msgspec.structs.replace(delete(old), operation=Operation.UPDATE, new=new)
        remember_mark(asked, view, person=person)
        found = protected(view, bare)
        assert protected(view, namespace("prod")) == found
        return found

    assert writes(one, bare, person=True) == {}
    assert writes(one, bare, person=False) == {str(kind): 1}
    assert writes(bare, marked(one, "false"), person=False) == {str(kind): 1}
    assert writes(bare, marked(one, "false"), person=True) == {}


def test_the_pack_remembers_who_lifts() -> None:
    """Only what was let through counts, and an operator is told as before; a person is believed."""
    one = marked(thing(CONFIG_MAPS, "notes", "prod"))
    bare = msgspec.structs.replace(one, labels={})
    lift = msgspec.structs.replace(delete(one), operation=Operation.UPDATE, new=bare)
    person = Actor(UserInfo("oncall"), "oncall", IdentityKind.PERSON, Stage.OBSERVE)
    for by, dry_run, kept in (
        (operator(), False, True),
        (operator(), True, False),
        (person, False, False),
    ):
        world = World(load_policies())
        world.graph.put(bare)
        judge(msgspec.structs.replace(lift, dry_run=dry_run), by, world, NOW)
        assert judge(delete(bare), operator(), world, NOW).verdict.denies is kept


@given(st.lists(st.sampled_from(("true", "false", None)), min_size=1, max_size=40))
def test_counted_as_one_would(values: list[str | None]) -> None:
    """By columns as by looking at each."""
    things = [
        thing(CONFIG_MAPS, f"c{at}", "prod", labels={} if value is None else {PROTECT: value})
        for at, value in enumerate(values)
    ]
    found = protected(view_of(namespace("prod"), things), namespace("prod"))
    assert found.get("configmaps", 0) == values.count("true")


def test_the_pack_keeps_what_is_marked() -> None:
    """An operator is told how many, and what to do; without the label the same delete passes."""
    pack = load_policies()
    for one, kept in (
        (marked(thing(CONFIG_MAPS, "notes", "prod")), True),
        (thing(CONFIG_MAPS, "notes", "prod"), False),
    ):
        view = view_of(one)
        world = World(pack)
        world.graph.put(view.at(view.rows(CONFIG_MAPS)[0]))
        verdict = judge(delete(one), operator(), world, NOW).verdict
        assert verdict.denies is kept
        assert ("suture.dev/protect" in verdict.message) is kept
