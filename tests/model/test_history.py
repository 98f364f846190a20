"""What history remembers, and that forgetting is bounded and safe."""

from __future__ import annotations

from suture.model.bounded import SHARE
from suture.model.clock import Now
from suture.model.history import (
    COLLECTION_VALID_S,
    CREATED_KEPT,
    LATELY_LOOKED,
    LATELY_S,
    REMOVED_KEPT,
    History,
)
from suture.model.names import SERVICES, Gvk, ObjectKey
from suture.model.objects import OwnerReference
from suture.model.request import Collection
from suture.model.selectors import Selector

NOW = Now(10**9, 0.0)
KEY = ObjectKey(SERVICES, "shop", "web")
OWNER = OwnerReference(Gvk("apps", "v1", "Deployment"), "web", "owner-uid")


def test_a_removed_parent_is_known_after_the_fact() -> None:
    """Who removed it and who owned it stay known; a later sighting adds, never takes away."""
    history = History()
    history.note_removed("u", KEY, NOW, by="operator", owners=[OWNER])
    history.note_removed("u", KEY, NOW.plus_s(5))
    gone = history.removed("u")
    assert gone is not None
    assert (gone.by, gone.owners, gone.at_ns) == ("operator", (OWNER,), NOW.mono_ns)
    assert history.removed("other") is None


def test_creators_are_known_by_uid() -> None:
    """A creation is of one life; under a key only the latest admitted one is told."""
    history = History()
    history.note_created("u1", "sa", "operator", KEY, NOW)
    history.note_created("u2", "other", "other", KEY, NOW)
    assert (history.created_by("u1"), history.created_by("u2")) == ("sa", "other")
    latest = history.created_at(KEY)
    assert latest is not None
    assert latest.uid == "u2"
    history.note_removed("u2", KEY, NOW)
    assert history.created_at(KEY) is None
    assert history.created_by("u2") == "other", "still known of the removed one"
    history.note_created("", "sa", "operator", KEY, NOW)
    assert history.created_by("") == ""


def test_a_collection_is_valid_for_its_request() -> None:
    """The selector that authorization saw holds for the objects that follow within a minute."""
    history, asked = History(), Collection(Selector.of({"app": "web"}))
    history.note_collection("sa", SERVICES, "shop", asked, NOW)
    assert history.collection("sa", SERVICES, "shop", NOW.plus_s(COLLECTION_VALID_S)) == asked
    assert history.collection("sa", SERVICES, "shop", NOW.plus_s(COLLECTION_VALID_S + 1)) is None
    assert history.collection("sa", SERVICES, "other", NOW) is None
    history.note_collection("sa", SERVICES, "shop", Collection(), NOW)
    assert history.collection("sa", SERVICES, "shop", NOW) == Collection(), "the latest"


def test_memory_is_bounded() -> None:
    """The oldest is forgotten first, under every index."""
    history = History()
    for number in range(CREATED_KEPT + 10):
        history.note_created(f"u{number}", "sa", "op", ObjectKey(SERVICES, "a", f"s{number}"), NOW)
    assert history.created_by("u9") == ""
    assert history.created_at(ObjectKey(SERVICES, "a", "s9")) is None
    assert history.created_by(f"u{CREATED_KEPT // SHARE + 10}") == "sa"
    assert history.created_by(f"u{CREATED_KEPT + 9}") == "sa"
    for number in range(REMOVED_KEPT + 10):
        history.note_removed(f"r{number}", ObjectKey(SERVICES, "a", f"s{number}"), NOW)
    assert history.removed("r9") is None
    assert history.removed(f"r{REMOVED_KEPT // SHARE + 10}") is not None
    assert history.removed(f"r{REMOVED_KEPT + 9}") is not None


def test_what_was_made_lately_in_a_namespace_newest_first() -> None:
    """What is older, elsewhere, nameless or too far back among others is not told."""
    history = History()
    keys = [ObjectKey(SERVICES, "shop", f"s{number}") for number in range(3)]
    history.note_created("old", "sa", "operator", KEY, NOW)
    late = NOW.plus_s(LATELY_S + 1)
    for number, key in enumerate(keys):
        history.note_created(f"u{number}", "sa", "operator", key, late)
    history.note_created("drawn", "sa", "operator", ObjectKey(SERVICES, "shop", ""), late)
    history.note_created("far", "sa", "operator", ObjectKey(SERVICES, "other", "x"), late)
    assert history.created_lately("shop", late) == keys[::-1]
    assert history.created_lately("shop", late.plus_s(LATELY_S + 1)) == []
    for number in range(LATELY_LOOKED):
        other = ObjectKey(SERVICES, "other", f"o{number}")
        history.note_created(f"o{number}", "sa", "operator", other, late)
    assert history.created_lately("shop", late) == []
