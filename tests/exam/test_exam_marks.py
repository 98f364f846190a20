"""The arithmetic of an examination, on made results."""

from __future__ import annotations

import msgspec
import pytest

from support.exam import paper, result, scenario
from suture.lab.exam.marks import failures, line, prevailing
from suture.lab.exam.result import Column, harms, stopped


@pytest.mark.parametrize(
    ("told", "verdict", "counts"),
    [
        pytest.param("before", "stopped", True, id="before-and-nothing-lost"),
        pytest.param("before", "bounded", False, id="before-and-something-lost"),
        pytest.param("nth", "bounded", True, id="nth-within-its-bound"),
        pytest.param("partial", "bounded", True, id="partial-within-its-bound"),
        pytest.param("nth", "missed", False, id="missed"),
    ],
)
def test_stopped(told: str, verdict: str, counts: bool) -> None:
    """What one write tells is to be stopped with nothing lost; what a budget tells, within it."""
    assert stopped(scenario(detectable=told), result(verdict=verdict)) is counts


@pytest.mark.parametrize(
    ("lost", "bound", "does"),
    [
        pytest.param(6, 5, True, id="more-than-half-and-than-the-bound"),
        pytest.param(5, 1, False, id="half"),
        pytest.param(6, 6, False, id="no-more-than-the-bound"),
    ],
)
def test_an_incident_must_do_its_harm(lost: int, bound: int, does: bool) -> None:
    """More than half of what it is about, and more than the constraint would allow."""
    free = result("none", verdict="missed", lost=lost, population=10, bound=bound)

    assert harms(scenario(detectable="nth"), free) is does


def test_a_probe_beyond_what_a_file_bears_is_harm() -> None:
    """Where nothing is counted, the probe alone says it."""
    found = result("none", verdict="missed", probes={"nodes_cordoned": 4})

    assert harms(scenario(harm={"probes": {"nodes_cordoned": 3}}), found)
    assert not harms(scenario(harm={"probes": {"nodes_cordoned": 4}}), found)


@pytest.mark.parametrize(
    ("column", "lab", "predicted", "place"),
    [
        pytest.param("full", "stopped", "stopped", "lab", id="alike"),
        pytest.param("full", "stopped", "missed", "offline", id="broken-since"),
        pytest.param("full", "missed", "stopped", "lab", id="seen-on-the-lab-only"),
        pytest.param("none", "missed", "stopped", "lab", id="without-a-guard"),
    ],
)
def test_which_result_counts(column: Column, lab: str, predicted: str, place: str) -> None:
    """The lab's, but under Suture what is broken since shows on predicted controllers first."""
    known = [
        result(column, verdict=lab, place="lab"),
        result(column, verdict=predicted, place="offline"),
    ]

    assert prevailing(scenario(detectable="nth"), column, known).place == place


def test_figures_of_a_column() -> None:
    """Stopped before, stopped within, missed; refusals of benign writes by the thousand."""
    papers = [
        paper("a", result(), detectable="before"),
        paper(
            "b",
            result(verdict="bounded", stopped_at=6, lost=5, population=50, writes=60),
            detectable="nth",
        ),
        paper("c", result(verdict="missed", stopped_at=None), detectable="partial"),
        paper(
            "d",
            result(verdict="disturbed", writes=500, guilty_writes=0, false_refusals=1),
            kind="benign",
        ),
        paper("e", result("managed"), detectable="before"),
    ]

    marks = line(papers, "full")

    assert (marks.incidents, marks.before, marks.within, marks.missed) == (3, 1, 1, 1)
    assert (marks.at, marks.share) == (6, 0.1)
    assert (marks.partial, marks.partial_stopped) == (1, 0)
    assert (marks.benign, marks.disturbed) == (1, 1)
    assert marks.benign_writes == 500 + 59
    assert marks.false_per_thousand == pytest.approx(1000 / 559)


def test_failures_are_told() -> None:
    """A void file, too few stopped, and work that is in the way each end an examination."""
    told = failures(
        [
            paper("empty", result("none", verdict="missed", population=10, lost=0)),
            paper("a", result(verdict="missed"), detectable="before"),
            paper("b", result(verdict="disturbed", false_refusals=2), kind="benign"),
        ]
    )

    assert any("empty is void" in words for words in told)
    assert any("managed: 3 of 3 files have no result" in words for words in told)
    assert any("0 of 1 incidents stopped" in words for words in told)
    assert any("2 false refusals" in words for words in told)
    assert failures([paper("a", result(), result("managed"), detectable="before")]) == []


def test_a_void_file_tells_which_of_its_steps_found_nothing() -> None:
    """Most often that is why no harm is done."""
    idle = "step 2 (delete services) found nothing to write"
    free = result("none", verdict="missed", population=6, lost=0, words=idle)
    assert paper("far", free).void.endswith(f"; {idle}")


def test_what_is_of_an_earlier_pack_does_not_pass_an_examination() -> None:
    """It is shown, and does not count as run."""
    old = paper("a", result(), result("managed"), detectable="before")
    stale = msgspec.structs.replace(old, stale=frozenset({"full"}))

    assert failures([old]) == []
    assert any("full: 1 of 1 files have no result" in words for words in failures([stale]))
