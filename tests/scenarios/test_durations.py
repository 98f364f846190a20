"""Spans of time are read as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.errors import InputError
from suture.lab.scenarios.durations import seconds, spoken


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("90s", 90),
        ("5m", 300),
        ("18m", 1080),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("250ms", 0.25),
        ("10 min", 600),
        ("20 seconds", 20),
        ("2 days", 172_800),
        ("1.5m", 90),
        ("7", 7),
        (7, 7),
        (0.5, 0.5),
        (0, 0),
    ],
)
def test_spans_are_read(text: str | float, wanted: float) -> None:
    """With units, in words, added up, or as bare seconds."""
    assert seconds(text) == pytest.approx(wanted)


@pytest.mark.parametrize("text", ["", "minutes", "5 bananas", "-3s", "s", "1h-", "5m5", -1, True])
def test_what_is_no_span_is_refused(text: str | float) -> None:
    """With an example of what would do."""
    with pytest.raises(InputError, match="90s"):
        seconds(text)


def test_an_absurd_span_is_refused() -> None:
    """Ten weeks are the most."""
    with pytest.raises(InputError, match="ten weeks"):
        seconds("80d")


@given(st.integers(0, 60 * 60 * 24 * 60))
def test_what_is_spoken_can_be_read(span_s: int) -> None:
    """A span said aloud comes back as itself, to a second."""
    text = spoken(span_s).replace(" s", "s").replace(" min", "m")
    assert seconds(text) == pytest.approx(span_s, rel=0.01)
