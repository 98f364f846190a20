"""What a run found, as one value, and the verdict that follows from it.

Lives apart from `run` because the arithmetic of a verdict needs no cluster: stopped, bounded,
missed, passed, disturbed or void, from counts alone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from suture.lab.scenarios.format import Scenario, Verdict
from suture.lab.scenarios.harm import Loss
from suture.lab.scenarios.written import Written

GuardMode = Literal["off", "observe", "enforce"]
PlaceName = Literal["lab", "offline"]
Controllers = Literal["real", "recorded", "predicted"]
"""What carried out the consequences of writes; `recorded` if a recording held to the end."""
Outcome = Verdict | Literal["void"]

REASONS = 20
"""LIMIT: different refusal messages in a report; the journal has them all."""


class HarmFound(msgspec.Struct, frozen=True, kw_only=True):
    """Harm as the report shows it."""

    population: int
    lost: int
    by_kind: dict[str, Loss]
    probes: dict[str, int] = {}


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard adds to a write, in milliseconds, over pairs of dry runs."""

    median: float
    p99: float
    pairs: int = 0


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One step in figures."""

    step: int
    by: str
    verb: str
    resource: str
    guilty: bool
    writes: int
    refused: int
    missing: int
    took_s: float
    reasons: tuple[str, ...] = ()
    """Why its writes were refused, each reason once."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found. The first eleven fields are promised; the others help people."""

    scenario: str
    guard: GuardMode
    kind: str
    writes: int
    refused: int
    would_refuse: int
    false_refusals: int
    first_refused_write: int | None
    harm: HarmFound
    verdict: Outcome
    added_latency_ms: Latency | None
    expected: bool = False
    """Whether this is what the file's `expect` says."""
    unexpected: str = ""
    """How it differs, in words; see the function of this name."""
    void_reason: str = ""
    bound: int | None = None
    """What the constraint in force allows; None without a guard."""
    reasons: tuple[str, ...] = ()
    stopped_by: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    """Which steps found nothing to write, in words, where nothing was refused."""
    controllers: Controllers = "real"
    place: PlaceName = "lab"
    speed: float = 1.0
    moved_s: float = 0.0
    """How much of the story's time was moved and not lived."""
    duration_s: float = 0.0
    phases_s: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    steps: tuple[StepReport, ...] = ()


def verdict_of(
    scenario: Scenario,
    *,
    refused_guilty: int,
    refused: int,
    lost: int,
    bound: int,
    probes: Mapping[str, int],
    unreached: Iterable[str],
) -> Verdict:
    """Return the verdict.

    incident: stopped (nothing lost and a guilty write refused), bounded (a guilty write refused
    and no more lost than the constraint in force allows), else missed. benign: passed (nothing
    refused and the end reached), else disturbed. A probe above what the file bears is missed, or
    disturbed.
    """
    beyond = bool(_beyond(scenario, probes))
    if scenario.kind == "benign":
        return "disturbed" if refused or any(unreached) or beyond else "passed"
    if beyond or not refused_guilty:
        return "missed"
    if lost == 0:
        return "stopped"
    return "bounded" if lost <= bound else "missed"


def unexpected(scenario: Scenario, report: Report) -> str:
    """Return how a run differs from what its file says; empty where it came out as expected.

    Without enforcement harm is what is expected: an incident that does none then proves nothing
    about guards.
    """
    if report.verdict == "void":
        return "a run that is void shows nothing"
    if report.guard != "enforce":
        if scenario.kind == "benign":
            return "" if report.verdict == "passed" else "its writes come to no end without a guard"
        beyond = _beyond(scenario, report.harm.probes)
        harmed = report.verdict == "missed" and (report.harm.lost > 0 or bool(beyond))
        return "" if harmed else "an incident that does no harm without a guard proves nothing"
    given = scenario.expect.verdict
    wanted: tuple[str, ...]
    if given is None:
        wanted = ("stopped", "bounded") if scenario.kind == "incident" else ("passed",)
    else:
        wanted = (given,) if isinstance(given, str) else given
    if report.verdict not in wanted:
        words = f"its file expects {' or '.join(wanted)}"
        beyond = _beyond(scenario, report.harm.probes)
        if scenario.kind == "benign" or not (report.stopped_by and beyond):
            return words
        # WHY: nothing else tells a first file that a policy was there, and when.
        return (
            f"{words}; {', '.join(report.stopped_by)} refused, and what came before is more than "
            f"its harm.probes bear: {', '.join(beyond)}"
        )
    by = scenario.expect.stopped_by
    policies = (by,) if isinstance(by, str) else by
    if report.verdict not in ("stopped", "bounded") or not policies:
        return ""
    if any(policy in found for policy in policies for found in report.stopped_by):
        return ""
    others = ", ".join(report.stopped_by)
    return f"its file expects {' or '.join(policies)} to stop it, and {others} did"


def _beyond(scenario: Scenario, probes: Mapping[str, int]) -> list[str]:
    """Return what probes found beyond what a file bears, in words."""
    borne = scenario.harm.probes
    return [
        f"{found} {name}, and {borne.get(name, 0)} borne"
        for name, found in probes.items()
        if found > borne.get(name, 0)
    ]


def reasons_of(writes: Iterable[Written]) -> tuple[str, ...]:
    """Return the different refusal messages, decision ids left out, in order of appearance."""
    found: dict[str, None] = {}
    for one in writes:
        if one.refusal is not None:
            found.setdefault(one.refusal.message.replace(one.refusal.decision or "\0", "…"))
    return tuple(found)[:REASONS]


def policies_of(writes: Iterable[Written]) -> tuple[str, ...]:
    """Return the policies that refused guilty writes."""
    return tuple(
        dict.fromkeys(
            one.refusal.policy
            for one in writes
            if one.guilty and one.refusal is not None and one.refusal.policy
        )
    )


def steps_of(scenario: Scenario, writes: Iterable[Written]) -> tuple[StepReport, ...]:
    """Return the writes summed up by step."""
    by_step: dict[int, list[Written]] = {}
    for one in writes:
        by_step.setdefault(one.step, []).append(one)
    return tuple(
        StepReport(
            step=at,
            by=scenario.steps[at].by,
            verb=scenario.steps[at].verb or "wait",
            resource=scenario.steps[at].resource,
            guilty=at in scenario.guilty_steps,
            writes=len(several),
            refused=sum(one.outcome == "refused" for one in several),
            missing=sum(one.outcome == "missing" for one in several),
            took_s=round(sum(one.took_s for one in several), 3),
            reasons=reasons_of(several),
        )
        for at, several in sorted(by_step.items())
    )


def idle_steps(scenario: Scenario, writes: Iterable[Written]) -> tuple[str, ...]:
    """Return in words which steps found nothing to write: a name that is not there, most often."""
    found = {one.step for one in writes if one.outcome != "missing"}
    return tuple(
        f"step {at} ({step.verb} {step.resource}) found nothing to write"
        for at, step in enumerate(scenario.steps)
        if step.verb not in ("wait", None) and at not in found
    )
