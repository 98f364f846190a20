"""The memory of recent writes: what counts as again, how much is kept, and over a restart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.model.bounded import SHARE
from suture.model.clock import Now
from suture.model.deeds import Deed, What, WritesError
from suture.model.names import SERVICES, STATEFUL_SETS, ObjectKey
from suture.model.writes import BUCKET_S, EVENTS, HOUR_S, TEN_MINUTES_S, TRACKS, Writes

NOW = Now(7_200_000_000_000, 1_700_000_000.0)
KEY = ObjectKey(STATEFUL_SETS, "prod", "db")


def deleted(life: int, by: str = "op") -> Deed:
    return Deed(What.DELETED, by, life)


def test_a_delete_counts_once_a_life() -> None:
    """The same delete reviewed again is the same; another life of the name is another time."""
    writes = Writes()
    writes.note(KEY, deleted(1), NOW)
    writes.note(KEY, deleted(1), NOW.plus_s(1))
    writes.note(KEY, deleted(2, "other"), NOW.plus_s(2))

    now = NOW.plus_s(3)
    assert writes.times(KEY, deleted(2), now, TEN_MINUTES_S) == (2, 2)
    assert writes.times(KEY, deleted(3, "third"), now, TEN_MINUTES_S) == (3, 3)
    assert writes.times(KEY, deleted(3), NOW.plus_s(601), TEN_MINUTES_S) == (2, 2)
    assert writes.times(KEY, deleted(3), NOW.plus_s(601), HOUR_S) == (3, 2)


def test_who_did_it_last() -> None:
    """Known within the window, by number; nobody after it."""
    writes = Writes()
    writes.note(KEY, deleted(1), NOW)
    other = Writes()
    other.note(KEY, deleted(9), NOW)
    assert writes.last(KEY, What.DELETED, NOW, 60) == other.last(KEY, What.DELETED, NOW, 60)
    assert writes.last(KEY, What.DELETED, NOW.plus_s(61), 60) is None
    assert writes.last(KEY, What.EVICTED, NOW, 60) is None


@given(values=st.lists(st.integers(0, 3), max_size=EVENTS - 1), new=st.integers(0, 3))
def test_a_value_that_comes_back_is_a_flip(values: list[int], new: int) -> None:
    """Counted as one who reads the values in their order would."""
    writes = Writes()
    for at, value in enumerate(values):
        writes.note(KEY, Deed(What.WROTE, "op", value), NOW.plus_s(at))

    found, _ = writes.flips(KEY, Deed(What.WROTE, "op", new), NOW.plus_s(20), HOUR_S)

    order = [value for at, value in enumerate([*values, new]) if at == 0 or value != values[at - 1]]
    assert found == sum(value in order[:at] for at, value in enumerate(order))


@given(counts=st.lists(st.tuples(st.integers(0, 400), st.integers(1, 5)), max_size=30))
def test_counters_are_exact_but_for_one_bucket(counts: list[tuple[int, int]]) -> None:
    """A window counts all that is in it, and nothing that is a bucket older."""
    writes, now = Writes(), NOW
    noted: list[tuple[Now, int]] = []
    for after_s, amount in counts:
        now = now.plus_s(after_s)
        writes.count("holder", now, amount)
        noted.append((now, amount))

    for window_s in (60, TEN_MINUTES_S, HOUR_S - BUCKET_S):
        found = writes.counted("holder", now, window_s)

        def within(seconds: int) -> int:
            limit_ns = seconds * 1_000_000_000
            return sum(amount for at, amount in noted if now.mono_ns - at.mono_ns <= limit_ns)

        assert within(window_s) <= found <= within(window_s + BUCKET_S)


def test_what_was_counted_is_taken_back() -> None:
    """All of the hour, whenever in it, and of nobody else; what is counted later holds again."""
    writes = Writes()
    for after_s in (0, 600, 1200):
        writes.count("holder", NOW.plus_s(after_s), 2)
    writes.count("other", NOW)
    writes.take_back("holder", NOW.plus_s(1800))
    assert writes.counted("holder", NOW.plus_s(1800), HOUR_S) == 0
    assert writes.counted("other", NOW.plus_s(1800), HOUR_S) == 1
    writes.take_back("nobody", NOW)
    writes.count("holder", NOW.plus_s(1900))
    assert writes.counted("holder", NOW.plus_s(1900), HOUR_S) == 1


def test_memory_is_bounded() -> None:
    """Of many objects the oldest is forgotten; of one, its oldest writes."""
    writes = Writes()
    for life in range(3 * EVENTS):
        writes.note(KEY, deleted(life), NOW)
    assert writes.times(KEY, deleted(99), NOW, HOUR_S) == (EVENTS + 1, 1)
    for at in range(TRACKS):
        writes.note(ObjectKey(SERVICES, "a", f"s{at}"), deleted(1), NOW)
    assert not writes.knows(KEY)
    assert writes.knows(ObjectKey(SERVICES, "a", f"s{TRACKS // SHARE}"))
    assert writes.knows(ObjectKey(SERVICES, "a", f"s{TRACKS - 1}"))


def test_nodes_closed_lately() -> None:
    """With how long ago; not those opened since, nor those of long ago."""
    writes = Writes()
    for at, node in enumerate(("a", "b", "c")):
        writes.note_closed(node, NOW.plus_s(300 * at))
    writes.note_opened("b")
    assert writes.closed(NOW.plus_s(700)) == {"c": 100}


def test_services_left_empty_lately() -> None:
    """By whom, with how long ago; not those that are filled again, nor those of long ago."""
    writes = Writes()
    for at, service in enumerate(("a", "b", "c", "d")):
        writes.note_vacant(
            service, f"pod-{at}", "other" if service == "d" else "op", NOW.plus_s(at)
        )
    writes.note_filled("b")

    assert writes.vacant("op", NOW.plus_s(10), 9) == [("c", "pod-2", 8)]
    assert writes.vacant("op", NOW.plus_s(10), 60) == [("c", "pod-2", 8), ("a", "pod-0", 10)]
    assert Writes().vacant("op", NOW, 60) == []


def test_it_survives_a_restart() -> None:
    """Another process with another clock knows the same, as long ago as it was."""
    writes = Writes()
    for at, life in enumerate((1, 2, 1)):
        writes.note(KEY, Deed(What.WROTE, "op", life), NOW.plus_s(at))
    writes.count("holder", NOW, 7)
    writes.note_closed("node-1", NOW)
    writes.note_fewer("uid", "sets", 3)
    writes.note_left_out("uid", frozenset({"proxy", "cache"}), frozenset())
    writes.note_vacant("service", "pod", "op", NOW)
    writes.note_lifted("marked")

    later = Now(5_000_000_000, NOW.utc_s + 120)
    read = Writes.decode(writes.encode(NOW.plus_s(20)), later)

    assert read.flips(KEY, Deed(What.WROTE, "op", 2), later, 130) == (2, 1)
    assert read.flips(KEY, Deed(What.WROTE, "op", 2), later, 60) == (0, 1)
    assert read.counted("holder", later, 60) == 0
    assert read.counted("holder", later, TEN_MINUTES_S) == 7
    assert read.closed(later) == {"node-1": 120}
    assert (read.sizes("uid"), read.sizes("other")) == ({"sets": 3}, {})
    assert read.vacant("op", later, HOUR_S) == [("service", "pod", 120)]
    assert (read.is_lifted("marked"), read.is_lifted("other")) == (True, False)
    read.note_unlifted("marked")
    assert not read.any_lifted
    read.note_raised("uid", 3)
    assert (read.sizes("uid"), read.lowered) == ({}, False)
    read.note_left_out("uid", frozenset(), frozenset({"cache"}))
    assert read.left_out("uid") == {"proxy"}
    assert not read.left_out("other")
    read.note_left_out("uid", frozenset(), frozenset({"proxy"}))
    assert not read.any_left_out


@pytest.mark.parametrize("damage", [lambda raw: b"", lambda raw: raw[:-3], lambda raw: b"\x01"])
def test_damaged_bytes_are_told(damage: object) -> None:
    """An error with a code, never a memory of something else."""
    writes = Writes()
    writes.note(KEY, deleted(1), NOW)
    assert callable(damage)
    with pytest.raises(WritesError) as caught:
        Writes.decode(damage(writes.encode(NOW)), NOW)
    assert caught.value.code == "writes_unreadable"
