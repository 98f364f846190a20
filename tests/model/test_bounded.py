"""A bounded memory keeps the latest, and never more than its limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suture.model.bounded import SHARE, oldest


@given(st.integers(1, 200), st.lists(st.integers(0, 300), max_size=600))
def test_what_came_first_is_forgotten_first(limit: int, keys: list[int]) -> None:
    """At most the limit is kept, all but a share of it at least, and the latest of all."""
    kept: dict[int, None] = {}
    for key in keys:
        kept.pop(key, None)
        kept[key] = None
        for one in oldest(kept, limit):
            del kept[one]
    latest = list(dict.fromkeys(reversed(keys)))
    assert list(reversed(kept)) == latest[: len(kept)]
    assert min(len(latest), limit - limit // SHARE) <= len(kept) <= limit


def test_of_what_is_far_past_its_limit_all_is_forgotten_that_is_too_much() -> None:
    """As where a smaller limit is set for what was remembered."""
    assert oldest(dict.fromkeys(range(10)), 4) == [0, 1, 2, 3, 4, 5]
    assert oldest(dict.fromkeys(range(4)), 4) == []
