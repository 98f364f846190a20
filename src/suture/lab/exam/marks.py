"""From results to figures, and to whether they are good enough.

Lives apart from the page that shows them: the arithmetic of an examination is one page. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from suture.lab.exam.result import BASELINES, SUTURE, Column, Result, allowed, came_out_well, harms
from suture.lab.scenarios.format import Scenario

WANTED: Mapping[Column, float] = {"managed": 0.85, "full": 0.95}
PARTIAL_SHARE = 0.5
"""What must be reached: of the incidents in each column, and of those marked partial."""

FAMILIES = ("closure", "justify", "floor", "pace", "tenure", "reach", "capacity")


class Paper(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario file with its results, by column."""

    name: str
    scenario: Scenario
    results: Mapping[Column, Result]
    stale: frozenset[Column] = frozenset()
    """Columns whose result is of another file, pack or code than today's."""

    @property
    def incident(self) -> bool:
        """Whether harm is to be stopped here."""
        return self.scenario.kind == "incident"

    @property
    def void(self) -> str:
        """Why this file proves nothing; empty where it does."""
        for column, result in self.results.items():
            if result.verdict == "void":
                return f"{column}: {result.words}"
        free = self.results.get("none")
        if free is None:
            return ""
        if self.incident and not harms(self.scenario, free):
            return (
                f"without a guard {free.lost} of {free.population} are lost, probes {free.probes}: "
                "not the harm that is told (more than half, and more than the constraint allows, "
                f"which is {allowed(self.scenario, free)}; or more than a probe bears)"
                + (f"; {free.words}" if free.words else "")
            )
        if not self.incident and free.verdict != "passed":
            return f"without a guard it does not come to its end: {free.words}"
        return ""

    def good(self, column: Column) -> bool | None:
        """Whether it came out well in a column; None where it was not run."""
        result = self.results.get(column)
        return None if result is None else came_out_well(self.scenario, result)


def prevailing(scenario: Scenario, column: Column, known: Sequence[Result]) -> Result:
    """Return which of some results of one column, of equal age, counts: the first, the lab's.

    But under Suture one that did not come out well before one that did: what was run on the lab may
    have been judged by earlier code, and what is broken since shows on predicted controllers first.
    """
    if column not in SUTURE:
        return known[0]
    return min(known, key=lambda one: came_out_well(scenario, one))


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one column over some papers."""

    incidents: int
    before: int
    """Stopped with nothing lost."""
    within: int
    """Stopped within what the constraint allows."""
    at: float
    """The median number of the guilty write that was refused first, of those `within`."""
    share: float
    """The median share lost of those `within`."""
    missed: int
    partial: int
    partial_stopped: int
    benign: int
    disturbed: int
    benign_writes: int
    false_refusals: int

    @property
    def stopped(self) -> int:
        """Incidents that count as stopped."""
        return self.incidents - self.missed

    @property
    def stopped_share(self) -> float:
        """Of the incidents, 1 where there are none."""
        return self.stopped / self.incidents if self.incidents else 1.0

    @property
    def false_per_thousand(self) -> float:
        """Refusals of benign writes, of a thousand."""
        return 1000 * self.false_refusals / self.benign_writes if self.benign_writes else 0.0


def line(papers: Iterable[Paper], column: Column) -> Line:
    """Return the figures of a column; papers that were not run in it are left out."""
    run = [one for one in papers if column in one.results]
    incidents = [one for one in run if one.incident]
    benign = [one for one in run if not one.incident]
    good = [one for one in incidents if one.good(column)]
    within = [one.results[column] for one in good if one.results[column].verdict == "bounded"]
    partial = [one for one in incidents if one.scenario.detectable == "partial"]
    return Line(
        incidents=len(incidents),
        before=len(good) - len(within),
        within=len(within),
        at=median([one.stopped_at or 0 for one in within]) if within else 0.0,
        share=median([one.share for one in within]) if within else 0.0,
        missed=len(incidents) - len(good),
        partial=len(partial),
        partial_stopped=sum(bool(one.good(column)) for one in partial),
        benign=len(benign),
        disturbed=sum(not one.good(column) for one in benign),
        benign_writes=sum(_benign_writes(one.results[column]) for one in run),
        false_refusals=sum(one.results[column].false_refusals for one in run),
    )


def _benign_writes(result: Result) -> int:
    return result.writes - result.guilty_writes


def latencies(papers: Iterable[Paper]) -> tuple[float, float] | None:
    """Return the median of medians and the worst p99 that Suture added, None where none is."""
    found = [
        result.latency
        for paper in papers
        for column, result in paper.results.items()
        if column not in BASELINES and result.latency is not None
    ]
    if not found:
        return None
    return median([one.median for one in found]), max(one.p99 for one in found)


def failures(papers: Sequence[Paper]) -> list[str]:
    """Return why the examination is not passed; empty where it is."""
    found = [f"{one.name} is void: {one.void}" for one in papers if one.void]
    for column, wanted in WANTED.items():
        marks = line(papers, column)
        unknown = [one.name for one in papers if column not in one.results or column in one.stale]
        if unknown:
            found.append(
                f"{column}: {len(unknown)} of {len(papers)} files have no result of the pack and "
                f"the code as they are, for instance {unknown[0]}"
            )
        if marks.stopped_share < wanted:
            found.append(
                f"{column}: {marks.stopped} of {marks.incidents} incidents stopped, "
                f"{wanted:.0%} are wanted"
            )
        if marks.false_refusals or marks.disturbed:
            found.append(
                f"{column}: {marks.false_refusals} false refusals, {marks.disturbed} benign "
                "scenarios did not pass"
            )
        if marks.partial_stopped < PARTIAL_SHARE * marks.partial:
            found.append(
                f"{column}: {marks.partial_stopped} of {marks.partial} incidents stopped that can "
                "be seen in part"
            )
    return found
