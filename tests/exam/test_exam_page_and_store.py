"""Results are kept by scenario and column, and make the same page each time."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from support.exam import paper, result
from suture.errors import InputError
from suture.lab.exam.page import page
from suture.lab.exam.store import Results


def test_results_are_read_back(tmp_path: Path) -> None:
    """As they were put, and those of files that are gone are forgotten."""
    kept = Results(tmp_path, "offline")
    kept.put(result(lost=3))

    again = Results(tmp_path, "offline")

    assert again.get("x", "full") == result(lost=3)
    assert again.get("x", "managed") is None
    again.keep(frozenset())
    assert Results(tmp_path, "offline").get("x", "full") is None


def test_results_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    """With the file's name."""
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts" / "lab.json").write_text("[]")

    with pytest.raises(InputError, match=r"lab\.json"):
        Results(tmp_path, "lab")


@pytest.mark.parametrize(
    ("moved_s", "words"),
    [
        (0.0, "passed (lab) |"),
        (42.4, "passed (lab, 42 s moved) |"),
        (1190.0, "passed (lab, 20 min moved) |"),
        (7200.0, "passed (lab, 2 h moved) |"),
        (36510.0, "passed (lab, 10 h 8 min moved) |"),
    ],
)
def test_the_page_tells_what_of_a_story_was_moved(moved_s: float, words: str) -> None:
    """And what that means, where there is any."""
    real = msgspec.structs.replace(result(verdict="passed", moved_s=moved_s), place="lab")

    text = page([paper("a-story", real, kind="benign")], [])

    assert words in text
    assert ("was not lived" in text) == bool(moved_s)
    assert "1 were run under Suture (full) on a real control plane, and 0 of the inc" in text


def test_the_page_tells_what_was_missed_and_why() -> None:
    """The reason is the file's own; what went well is in the tables."""
    papers = [
        paper(
            "missed-one",
            result(verdict="missed", stopped_at=None, lost=9, population=10),
            id="Z1",
            detectable="before",
            family="pace",
            expect={"reason": "nothing is written to the API"},
        ),
        paper("good-one", result(), id="Z2", detectable="before", family="pace"),
    ]

    text = page(papers, ["full: 1 of 2 incidents stopped"])

    assert "nothing is written to the API" in text
    assert "missed: 9 of 10" in text
    assert "| pace |" in text
    assert "full: 1 of 2 incidents stopped" in text
    assert text == page(list(reversed(papers)), ["full: 1 of 2 incidents stopped"])
    assert "Every file of `scenarios/` is run" in text
    assert "Every file of `mine/` is run" in page(papers, [], "mine")
