"""Sliding sums and peaks against the obvious list of events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suture.budget.sliding import EXACT_ENTRIES, NS, Peak, SlidingSum, grid_up
from suture.model.clock import LONGEST_WINDOW_S

WINDOWS = (1, 60, 3600, 86_400, LONGEST_WINDOW_S)
STEPS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 5 * NS), st.integers(0, 2 * 86_400 * NS)), st.integers(1, 50)
    ),
    max_size=60,
)


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.integers(0, 10**14))
def test_grid_up(at_ns: int, age_ns: int, later_ns: int) -> None:
    """A time is raised by at most a sixty-fourth of its age, however often it is raised."""
    now_ns = at_ns + age_ns
    once = grid_up(at_ns, now_ns)
    assert at_ns <= once <= at_ns + age_ns // 64
    assert grid_up(once, now_ns + later_ns) >= once
    assert grid_up(once, now_ns + later_ns) - at_ns <= (age_ns + later_ns) // 64 + 1


@given(STEPS)
def test_sum_is_exact(steps: list[tuple[int, int]]) -> None:
    """Before it is compacted, a sum is the sum of what the window holds."""
    total, events, now_ns = SlidingSum(), [], 0
    for gap_ns, amount in steps:
        now_ns += gap_ns
        total.add(now_ns, amount)
        events.append((now_ns, amount))
        for seconds in WINDOWS:
            want = sum(a for at, a in events if at > now_ns - seconds * NS)
            assert total.within(seconds, now_ns) == want


@given(STEPS, st.data())
def test_sum_never_counts_less(steps: list[tuple[int, int]], data: st.DataObject) -> None:
    """A compacted sum counts an entry at most W/60 longer than the window, never shorter."""
    total, events, now_ns = SlidingSum(), [], 0
    for gap_ns, amount in steps:
        now_ns += gap_ns
        total.add(now_ns, amount)
        events.append((now_ns, amount))
        if data.draw(st.booleans()):
            total.compact(now_ns)
        for seconds in WINDOWS:
            least = sum(a for at, a in events if at > now_ns - seconds * NS)
            longer_ns = seconds * NS * 61 // 60
            most = sum(a for at, a in events if at > now_ns - longer_ns)
            assert least <= total.within(seconds, now_ns) <= most


@given(STEPS, st.data())
def test_sum_gives_back_what_was_added(steps: list[tuple[int, int]], data: st.DataObject) -> None:
    """Each entry can be taken back whole, wherever compaction has put it."""
    total, added, now_ns = SlidingSum(), [], 0
    for gap_ns, amount in steps:
        now_ns += gap_ns
        added.append((total.add(now_ns, amount), amount))
        if data.draw(st.booleans()):
            total.compact(now_ns)
    live = [(at, amount) for at, amount in added if at > now_ns - LONGEST_WINDOW_S * NS]
    for at_ns, amount in data.draw(st.permutations(live)):
        assert total.give_back(at_ns, amount) == amount
    assert total.within(LONGEST_WINDOW_S // 2, now_ns) == 0


def test_sum_is_bounded() -> None:
    """A month of spending at any pace stays under the limit."""
    total = SlidingSum()
    for second in range(0, LONGEST_WINDOW_S, 20):
        total.add(second * NS, 1)
        assert len(total) <= EXACT_ENTRIES


@given(st.lists(st.tuples(st.integers(0, 86_400 * NS), st.integers(0, 30)), max_size=80))
def test_peak_is_exact(steps: list[tuple[int, int]]) -> None:
    """The peak of a window is the highest count in force at any moment of it."""
    peak, events, now_ns = Peak(), [(0, 0)], 0
    for gap_ns, count in steps:
        now_ns += gap_ns
        peak.observe(now_ns, count)
        events.append((now_ns, count))
        for seconds in WINDOWS:
            start_ns = now_ns - seconds * NS
            ends = [at for at, _ in events[1:]] + [now_ns + 1]
            alive = [c for (_, c), end in zip(events, ends, strict=True) if end > start_ns]
            # a count that was replaced at the very moment it came was in force for no time
            assert peak.within(seconds, now_ns) == max(alive)


@given(st.lists(st.tuples(st.integers(1, 86_400 * NS), st.integers(0, 30)), max_size=60), st.data())
def test_peak_is_remembered_a_little_longer(
    steps: list[tuple[int, int]], data: st.DataObject
) -> None:
    """A compacted peak is forgotten up to W/60 late, never early."""
    peak, exact, now_ns = Peak(), Peak(), 0
    for gap_ns, count in steps:
        now_ns += gap_ns
        peak.observe(now_ns, count)
        exact.observe(now_ns, count)
        if data.draw(st.booleans()):
            peak.compact(now_ns)
        for seconds in WINDOWS[:-1]:
            found = peak.within(seconds, now_ns)
            assert exact.within(seconds, now_ns) <= found
            assert found <= exact.within(seconds * 61 // 60 + 1, now_ns)


def test_peak_is_bounded() -> None:
    """A population that falls one by one for days stays under the limit."""
    peak = Peak()
    for step in range(20_000):
        peak.observe(step * NS, 100_000 - step)
        assert len(peak) <= EXACT_ENTRIES
