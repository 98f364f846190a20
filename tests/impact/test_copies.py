"""Copies in many namespaces of an original that lives: their loss counts."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, namespace, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    NAMESPACES,
    NETWORK_POLICIES,
    ROLE_BINDINGS,
    SECRETS,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject

NOW = START.plus_s(3600 * 48)
FROM = {"tree.example.com/inherited-from": "org"}
ORIGINAL = thing(ROLE_BINDINGS, "developers", "org")


def copied(
    labels: dict[str, str] = FROM, kind: Resource = ROLE_BINDINGS, place: str = "team"
) -> ClusterObject:
    return thing(kind, "developers", place, labels=labels)


def view_of(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(namespace("org"), namespace("team"), *things), History())


def counted(view: GraphView, one: ClusterObject, old: bytes = b"") -> int:
    request = msgspec.structs.replace(delete(one), old_body=old)
    (effect,) = effects(impact_of(request, view, now=NOW), ObjectsRemoved)
    return effect.counted


def test_a_copy_of_what_lives_counts() -> None:
    """Whoever copies says it by a label, or by an annotation with the name too."""
    assert counted(view_of(ORIGINAL, copied()), copied()) == 1
    body = b'{"metadata": {"annotations": {"copy.example.com/replicated-from": "org/pull"}}}'
    secret = copied({}, SECRETS)
    assert counted(view_of(thing(SECRETS, "pull", "org"), secret), secret, body) == 1


@pytest.mark.parametrize(
    ("original", "one"),
    [
        pytest.param((), copied(), id="the-original-is-gone"),
        pytest.param(
            (msgspec.structs.replace(ORIGINAL, deleted=1.0),), copied(), id="the-original-goes"
        ),
        pytest.param((ORIGINAL,), copied({}), id="no-copy"),
        pytest.param((ORIGINAL,), copied({"team": "org"}), id="no-mark-of-a-tool"),
        pytest.param((ORIGINAL,), copied({"a.example.com/platform": "org"}), id="another-word"),
        pytest.param((ORIGINAL,), copied(place="org"), id="the-original-itself"),
        pytest.param(
            (thing(SERVICE_ACCOUNTS, "developers", "org"),),
            copied(kind=SERVICE_ACCOUNTS),
            id="of-no-use-by-itself",
        ),
    ],
)
def test_what_is_no_copy_of_what_lives_does_not(
    original: tuple[ClusterObject, ...], one: ClusterObject
) -> None:
    """The twin: the original went first, and its copies follow."""
    assert counted(view_of(*original, one), one) == 0


@pytest.mark.parametrize("asked", [ORIGINAL.key, ObjectKey(NAMESPACES, "", "team")])
def test_whoever_was_asked_for_fewer_may_take_them(asked: ObjectKey) -> None:
    """The original says where it is copied to, and the labels of a namespace whether it is."""
    view = view_of(ORIGINAL, copied())
    view.history.writes.note(asked, Deed(What.WROTE, "human", 1), NOW)
    assert counted(view, copied()) == 0


def test_an_annotation_of_the_original_is_an_order_too() -> None:
    """It allows copies no more; the model reads none of it, and remembers that it was written."""
    view = view_of(ORIGINAL, copied())
    bodies = b'{"metadata": {}}', b'{"metadata": {"annotations": {"allowed": "false"}}}'
    request = update(ORIGINAL, ORIGINAL, bodies=bodies)
    remember(request, project(request, view), view, NOW)
    assert counted(view, copied()) == 0


@pytest.mark.parametrize("place", ["", "org"])
def test_copies_follow_the_policy_by_which_they_were_made(place: str) -> None:
    """Their label names it, and it was seen to go, or is going."""
    labels = FROM | {"tree.example.com/policy": "share"}
    policy = thing(Resource("tree.example.com", "policies"), "share", place)
    one = copied(labels)
    assert counted(view_of(ORIGINAL, one, policy), one) == 1
    assert counted(view_of(ORIGINAL, one, msgspec.structs.replace(policy, deleted=1.0)), one) == 0

    graph = graph_of(namespace("org"), namespace("team"), ORIGINAL, one)
    graph.replace(policy.key.resource, [])
    graph.heard(policy.key.resource, "1", START.mono_ns)
    view = GraphView(graph, History())
    view.history.note_removed(policy.uid, policy.key, NOW)
    assert counted(view, one) == 0


POLICIES = Resource("policies.guard.example.com", "generatingpolicies")
POLICY = thing(POLICIES, "defaults")
GENERATED = copied({"generate.guard.example.com/policy-name": "defaults"}, NETWORK_POLICIES)


@pytest.mark.parametrize(
    ("things", "one", "changed", "kept"),
    [
        pytest.param((POLICY,), GENERATED, None, 1, id="it asks for it"),
        pytest.param((), GENERATED, None, 0, id="it is gone"),
        pytest.param(
            (msgspec.structs.replace(POLICY, deleted=1.0),), GENERATED, None, 0, id="it goes"
        ),
        pytest.param((POLICY,), GENERATED, POLICY.key, 0, id="it was changed"),
        pytest.param(
            (POLICY,), GENERATED, ObjectKey(NAMESPACES, "", "team"), 0, id="so was the namespace"
        ),
        pytest.param(
            (POLICY,), copied({"other.example.org/policy-name": "defaults"}, NETWORK_POLICIES),
            None, 0, id="a label of others",
        ),
    ],
)  # fmt: skip
def test_what_a_policy_has_made(
    things: tuple[ClusterObject, ...], one: ClusterObject, changed: ObjectKey | None, kept: int
) -> None:
    view = view_of(*things, one)
    if changed is not None:
        for value in (1, 2):
            view.history.writes.note(changed, Deed(What.WROTE, "ann", value), NOW)
    assert counted(view, one) == kept
