"""What came of a life: writes, refusals with their reasons, and what it cost.

Lives apart from the run as its outcome, for people and for programs. A life passes when nobody was
refused, controllers included, and everybody did something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from suture.journal.entry import Entry
from suture.lab.life.hand import Tally, Word
from suture.lab.life.meter import Spread

FAILURES_SHOWN = 10
EFFECTS_SHOWN = 5


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """One false refusal, with all that is needed to look for its cause."""

    decision: str
    identity: str
    what: str
    message: str
    findings: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One life."""

    seed: int
    minutes: float
    writes: Mapping[str, int]
    verbs: Mapping[str, int]
    refused: tuple[Refused, ...]
    held: int
    """Evictions that Suture answered 429 and that passed later."""
    held_by: Mapping[str, int]
    held_by_budget: Mapping[str, int]
    """Evictions that a PodDisruptionBudget answered 429, by actor."""
    missed: Mapping[str, int]
    failures: tuple[str, ...]
    judged: int
    """Decisions that Suture counted."""
    doubts: Mapping[str, int]
    """Requests that the model did not decide, by lane and code."""
    added_ms: Spread | None
    staleness_s: Spread | None
    lag_s: Spread | None

    @property
    def idle(self) -> list[str]:
        """Who wrote nothing at all."""
        return [actor for actor, count in self.writes.items() if not count]

    @property
    def passed(self) -> bool:
        """Whether nobody was refused, and everybody lived."""
        return not self.refused and not self.idle


def false_refusals(tally: Tally, denials: Sequence[Entry]) -> list[Refused]:
    """Return every refusal that counts: those heard, and those that only the journal knows.

    An eviction that was held and passed later is none; a controller's denial always is one.
    """
    entries = {one.decision: one for one in denials}
    known = {word.decision for word in (*tally.refusals, *tally.held)}
    found = [_heard(word, entries.get(word.decision)) for word in tally.refusals]
    found += [_told(one) for one in denials if one.decision not in known]
    return found


def _heard(word: Word, entry: Entry | None) -> Refused:
    if entry is not None:
        return _told(entry, what=word.what)
    return Refused(
        decision=word.decision, identity=word.identity, what=word.what, message=word.message
    )


def _told(entry: Entry, what: str = "") -> Refused:
    asked = entry.asked
    about = f"{asked.operation.value} {asked.key}"
    about += f"/{asked.subresource}" if asked.subresource else ""
    return Refused(
        decision=entry.decision,
        identity=entry.identity,
        what=what or about,
        message=entry.message,
        findings=tuple(f"{one.constraint}: {one.message}" for one in entry.findings),
        effects=tuple(
            f"{one.effect} {one.subject}: {one.before} -> {one.after}, {one.count}"
            for one in entry.effects[:EFFECTS_SHOWN]
        ),
        claims=tuple(
            f"{one.budget} {one.key}: {one.used} + {one.amount} of {one.allowance}"
            f" in {one.window_s} s"
            for one in entry.claims
            if not one.granted
        ),
    )


def lines(report: Report) -> Iterator[str]:
    """Yield a report as lines for people."""
    yield f"seed {report.seed}, {report.minutes:.1f} minutes, {report.judged} decisions judged"
    for actor, count in report.writes.items():
        extra = [
            f"{word} {figures[actor]}"
            for word, figures in (
                ("held by suture", report.held_by),
                ("held by a disruption budget", report.held_by_budget),
                ("gone or changed meanwhile", report.missed),
            )
            if figures.get(actor)
        ]
        yield f"  {actor:14} {count:6} writes" + (f"; {', '.join(extra)}" if extra else "")
    for name, unit, figures in (
        ("added latency", "ms", report.added_ms),
        ("staleness of the model", "s", report.staleness_s),
        ("lag of the model", "s", report.lag_s),
    ):
        if figures is not None:
            yield (
                f"{name}: median {figures.median:g} {unit}, p99 {figures.p99:g} {unit}, "
                f"most {figures.most:g} {unit} ({figures.count})"
            )
    yield f"evictions held and passed later: {report.held}"
    yield from (f"doubts: {count} ({what})" for what, count in report.doubts.items())
    yield from _some("failures of the lab", report.failures)
    for one in report.refused:
        yield f"FALSE REFUSAL {one.decision}: {one.identity}: {one.what}"
        yield f"  {one.message}"
        yield from _indented(one.findings, one.claims, one.effects)
    if report.idle:
        yield f"IDLE: {', '.join(report.idle)}"
    total = sum(report.writes.values())
    yield f"{len(report.refused)} false refusals in {total} writes"


def _some(what: str, found: Sequence[str]) -> Iterator[str]:
    if found:
        yield f"{what}: {len(found)}"
        yield from (f"  {one[:300]}" for one in found[:FAILURES_SHOWN])


def _indented(*parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        yield from (f"    {line}" for line in part)
