"""Copies in many namespaces of an original that lives: their loss counts."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, namespace, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import (
    NAMESPACES,
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
