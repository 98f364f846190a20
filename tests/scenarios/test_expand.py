"""Names that stand for many are written out, and counters filled in."""

from __future__ import annotations

import pytest

from suture.errors import InputError
from suture.lab.scenarios.expand import counts, expand, fill


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", ["plain"]),
        ("a-{0..3}", ["a-0", "a-1", "a-2", "a-3"]),
        ("a-{08..10}", ["a-08", "a-09", "a-10"]),
        ("{c..e}", ["c", "d", "e"]),
        ("{2..0}", ["2", "1", "0"]),
        ("x-{red,blue}", ["x-red", "x-blue"]),
        ("{a,b}-{0..1}", ["a-0", "a-1", "b-0", "b-1"]),
        ("keep-{i}", ["keep-{i}"]),
        ("keep-{run}", ["keep-{run}"]),
    ],
)
def test_ranges_and_choices(text: str, wanted: list[str]) -> None:
    """Numbers, padded numbers, letters and lists; the counter is left for later."""
    assert expand([text]) == wanted


@pytest.mark.parametrize("text", ["{a..9}", "{0..20000}", "{0..999}{0..999}"])
def test_what_cannot_be_written_out_is_refused(text: str) -> None:
    """Mixed ends, and more names than any scenario should have."""
    with pytest.raises(InputError):
        expand([text])


@pytest.mark.parametrize(
    ("text", "i", "wanted"),
    [
        ("pod-{i}", 7, "pod-7"),
        ("pod-{i+1}", 7, "pod-8"),
        ("pod-{i-1}", 7, "pod-6"),
        ("pod-{i:03}", 7, "pod-007"),
        ("{i}/{i}", 2, "2/2"),
        ("{j} {} {{i}}", 2, "{j} {} {2}"),
    ],
)
def test_the_counter(text: str, i: int, wanted: str) -> None:
    """Plain, shifted and padded; other braces are nobody's business."""
    assert fill(text, i) == wanted


def test_the_counter_goes_everywhere() -> None:
    """Into keys, values, lists and depths; numbers stay numbers."""
    body = {"a-{i}": ["{i}", {"b": "{i}"}], "n": 3, "run": "{run}"}

    assert fill(body, 4, "abc") == {"a-4": ["4", {"b": "4"}], "n": 3, "run": "abc"}
    assert counts(body)
    assert not counts({"a": ["b", 1]})
