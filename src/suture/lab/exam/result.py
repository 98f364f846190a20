"""What one scenario came to in one column, as it is kept in a file and printed in a table.

Lives apart from the sitting, which needs a cluster, and from the marks, which need all results.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from suture.lab.scenarios.format import Detectable, Scenario, Verdict
from suture.lab.scenarios.report import Latency, Outcome, PlaceName, Report
from suture.lab.scenarios.written import Written

Column = Literal["none", "limiter", "plain", "managed", "full"]
"""Under what a scenario runs: nothing, two ways that need no Suture, and Suture in two clusters."""

COLUMNS: tuple[Column, ...] = ("none", "limiter", "plain", "managed", "full")
BASELINES: frozenset[Column] = frozenset({"none", "limiter", "plain"})
SUTURE: tuple[Column, ...] = ("managed", "full")

TITLES: dict[Column, str] = {
    "none": "no guard",
    "limiter": "rate limiter",
    "plain": "admission policies",
    "managed": "Suture, managed",
    "full": "Suture, full",
}

WORDS = 300
"""LIMIT: characters of a message that are kept: as long as a refusal may be."""


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scenario in one column."""

    scenario: str
    column: Column
    key: str
    """Of what it depends on: as long as that is the same, it need not run again."""
    place: PlaceName
    verdict: Outcome
    writes: int = 0
    refused: int = 0
    false_refusals: int = 0
    guilty_writes: int = 0
    """How many guilty writes were sent, refused ones included."""
    stopped_at: int | None = None
    """The number of the first guilty write that was refused, from 1."""
    lost: int = 0
    population: int = 0
    bound: int | None = None
    probes: dict[str, int] = {}
    stopped_by: tuple[str, ...] = ()
    words: str = ""
    """The first refusal, or what else is to be known of an outcome that was not wanted."""
    latency: Latency | None = None
    seconds: float = 0.0
    moved_s: float = 0.0
    """How much of the story's time was moved and not lived."""

    @property
    def share(self) -> float:
        """The part of the population that was lost, 0 where nothing is counted."""
        return self.lost / self.population if self.population else 0.0


def result_of(report: Report, writes: Sequence[Written], *, column: Column, key: str) -> Result:
    """Return what is kept of a run."""
    guilty = [one for one in writes if one.guilty]
    stopped = next((n for n, one in enumerate(guilty, 1) if one.outcome == "refused"), None)
    told = (report.void_reason, *report.reasons, *report.unreached, *report.idle)
    words = next(filter(None, told), "")
    return Result(
        scenario=report.scenario,
        column=column,
        key=key,
        place=report.place,
        verdict=report.verdict,
        writes=report.writes,
        refused=report.refused,
        false_refusals=report.false_refusals,
        guilty_writes=len(guilty),
        stopped_at=stopped,
        lost=report.harm.lost,
        population=report.harm.population,
        bound=report.bound,
        probes=report.harm.probes,
        stopped_by=report.stopped_by,
        words=words[:WORDS],
        latency=report.added_latency_ms,
        seconds=report.duration_s,
        moved_s=report.moved_s,
    )


def beyond(scenario: Scenario, result: Result) -> bool:
    """Whether a probe found more than the file bears."""
    return any(found > scenario.harm.probes.get(name, 0) for name, found in result.probes.items())


def harms(scenario: Scenario, result: Result) -> bool:
    """Whether an unguarded run does what its incident tells.

    More than half of what is counted is lost, and more than the constraints allow (nothing, where
    a single write tells it), or a probe finds more than the file bears.
    """
    lost = result.lost * 2 > result.population and result.lost > allowed(scenario, result)
    return result.verdict == "missed" and (lost or beyond(scenario, result))


def allowed(scenario: Scenario, result: Result) -> int:
    """Return how much may be lost of what an incident counts: nothing where one write tells it."""
    return 0 if scenario.detectable == "before" else result.bound or 0


def stopped(scenario: Scenario, result: Result) -> bool:
    """Whether an incident counts as stopped.

    One that a single write tells must be stopped with nothing lost; one that a budget tells,
    within what the constraint allows.
    """
    wanted: tuple[Verdict, ...] = ("stopped", "bounded")
    detectable: Detectable | None = scenario.detectable
    return result.verdict in (wanted[:1] if detectable == "before" else wanted)


def came_out_well(scenario: Scenario, result: Result) -> bool:
    """Whether an incident was stopped, or ordinary work passed."""
    if scenario.kind == "incident":
        return stopped(scenario, result)
    return result.verdict == "passed"
