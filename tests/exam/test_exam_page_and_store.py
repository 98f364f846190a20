"""Results are kept by scenario and column, and make the same page each time."""

from __future__ import annotations

from pathlib import Path

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
