"""What history remembers is the same in the next process, as long ago as the wall clock says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cluster import START
from suture.model.clock import Now
from suture.model.history import REMOVED_KEPT, History
from suture.model.names import SERVICES, Gvk, ObjectKey
from suture.model.objects import OwnerReference
from suture.model.remembered import PART, HistoryError, parts_of, recall

OWNERS = (OwnerReference(Gvk("apps", "v1", "Deployment"), "web", "u0", controller=True),)
AWAY_S = 30

names = st.sampled_from("abcdefgh")
deeds = st.lists(
    st.tuples(
        st.sampled_from(["removed", "created", "remover", "renamed", "attempt"]), names, names
    ),
    max_size=40,
)


def acted(what: list[tuple[str, str, str]]) -> History:
    """Return a history in which each deed came a second after the one before."""
    history = History()
    for second, (deed, uid, who) in enumerate(what):
        now, key = START.plus_s(second), ObjectKey(SERVICES, "shop", uid)
        match deed:
            case "removed":
                history.note_removed(uid, key, now, by=who, owners=OWNERS)
            case "created":
                history.note_created(uid, who, who, key, now)
            case "remover":
                history.note_remover(uid, who)
            case "renamed":
                history.note_renamed(who, [uid], now)
            case _:
                history.note_attempt(who, uid, now)
    return history


def restarted(history: History, saved: Now, loaded: Now) -> History:
    """Return what another process makes of a history."""
    found = History()
    recall(b"".join(parts_of(history, saved)), found, loaded)
    return found


@settings(max_examples=60)
@given(deeds)
def test_everything_is_known_as_before(what: list[tuple[str, str, str]]) -> None:
    """By uid and by key; only times differ, by how long nobody was there."""
    before = acted(what)
    saved = START.plus_s(100)
    # Another process counts from elsewhere; the wall clock says how long it took.
    loaded = Now(7, saved.utc_s + AWAY_S)

    after = restarted(before, saved, loaded)

    shift = loaded.mono_ns - saved.mono_ns - AWAY_S * 1_000_000_000
    for uid in "abcdefgh":
        key = ObjectKey(SERVICES, "shop", uid)
        assert after.created_by(uid) == before.created_by(uid)
        for one, other in (
            (before.removed(uid), after.removed(uid)),
            (before.removed_at(key), after.removed_at(key)),
        ):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert (other.uid, other.by, other.owners) == (one.uid, one.by, one.owners)
                assert other.at_ns == pytest.approx(one.at_ns + shift, abs=1000)
        assert (before.created_at(key) is None) == (after.created_at(key) is None)
        assert before.believes_renames(uid, saved) == after.believes_renames(uid, loaded)


def test_habits_are_kept() -> None:
    """Whose finalizer it is, whose kind, whose release."""
    before = History()
    before.habits.recall(
        [("example.com/f", ("op",))], [(SERVICES, ("a", "b"))], [(ObjectKey(SERVICES, "x", "y"), ("w",))]
    )  # fmt: skip
    after = restarted(before, START, START)
    assert after.habits.lifters("example.com/f") == {"op"}
    assert after.habits.keepers(SERVICES) == {"a", "b"}
    assert after.habits.workers(ObjectKey(SERVICES, "x", "y")) == {"w"}


def test_a_full_memory_comes_in_parts() -> None:
    """None of them with more entries than are encoded at once."""
    history = History()
    for number in range(3 * PART):
        key = ObjectKey(SERVICES, "shop", f"s{number}")
        history.note_removed(f"u{number}", key, START)
    assert 3 * PART < REMOVED_KEPT
    parts = list(parts_of(history, START))
    assert len(parts) == 3 + 3
    assert max(map(len, parts)) < 1_000_000


@pytest.mark.parametrize("raw", [b"\x00", b"\x00\x00\x00\x09abc", b"\x00\x00\x00\x03abc"])
def test_what_is_no_history_is_told(raw: bytes) -> None:
    """Cut short, or something else."""
    with pytest.raises(HistoryError, match="history"):
        recall(raw, History(), START)


def test_a_cut_file_is_told() -> None:
    """At whatever byte."""
    whole = b"".join(parts_of(acted([("removed", "a", "b")]), START))
    with pytest.raises(HistoryError, match="cut short"):
        recall(whole[:-1], History(), START)
    second = len(next(parts_of(History(), START)))
    with pytest.raises(HistoryError, match="middle"):
        recall(whole[second:], History(), START)
