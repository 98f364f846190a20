"""Answers of `suture impact` as a table, JSON, Markdown, and drawings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from suture.app.whatif import Answer
from suture.cli.terminal import Console, plain
from suture.impact.effects import Confidence, Effect, Victim
from suture.impact.effects.severity import Severity
from suture.impact.words.graded import severity
from suture.impact.words.telling import phrase, told, words_of
from suture.impact.words.told import Told
from suture.model.kindnames import ABBREVIATED
from suture.model.names import ObjectKey, Resource

if TYPE_CHECKING:
    from suture.cli.impact import Common
    from suture.cli.modelsources import Loaded
    from suture.model.graph import Graph

ROWS = 15
"""LIMIT: lines shown of one change to people; JSON has every effect."""

ALIKE = 3
"""LIMIT: effects of one type and gravity that have a line each."""

COLOURS = {
    Severity.NONE: "dim",
    Severity.MINOR: "dim",
    Severity.NOTABLE: "yellow",
    Severity.SEVERE: "bold red",
}
SURE = {Confidence.EXACT: "", Confidence.BOUNDED: "at least", Confidence.UNKNOWN: "not known"}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of what, and all answers. `problems` are what could not be asked."""

    source: str
    taken: datetime | None
    asked_as: str
    answers: tuple[Answer, ...]
    problems: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        """The worst of all answers."""
        return max((one.severity for one in self.answers), default=Severity.NONE)


def show(report: Report, common: Common, loaded: Loaded) -> None:
    """Print a report as it was asked for, and draw it."""
    match common.output:
        case "json":
            print(msgspec.json.encode(document(report, loaded.graph)).decode())
        case "markdown":
            print(plain(markdown(report)))
        case "table":
            console = Console()
            for answer in report.answers:
                console.print(_told(answer, report.asked_as), highlight=False)
    stderr = Console(stderr=True, soft_wrap=True)
    for problem in report.problems:
        stderr.print(Text.assemble(("not answered", "red"), f": {problem}"), highlight=False)
    _draw(report, common, loaded)


# ---- JSON


def document(report: Report, graph: Graph) -> dict[str, Any]:
    """Return a report as JSON has it. `effects` are those of all changes, worst first."""
    changes = [_change(answer, graph) for answer in report.answers]
    effects = [effect for change in changes for effect in change["effects"]]
    return {
        "source": report.source,
        "taken": None if report.taken is None else report.taken.isoformat(timespec="seconds"),
        "asked_as": report.asked_as,
        "severity": report.severity.word,
        "refused": any(answer.refusal is not None for answer in report.answers),
        "effects": sorted(effects, key=lambda one: -Severity[one["severity"].upper()]),
        "changes": changes,
        "problems": list(report.problems),
    }


def _change(answer: Answer, graph: Graph) -> dict[str, Any]:
    refusal = answer.refusal
    return {
        "title": answer.question.title,
        "place": answer.question.place,
        "severity": answer.severity.word,
        "objects_removed": answer.removed,
        "requests": len(answer.question.requests),
        "judged": answer.judged,
        "refusal": None
        if refusal is None
        else {
            "request": refusal.number,
            "of": refusal.of,
            "object": str(refusal.key),
            "message": refusal.verdict.message,
            "reasons": msgspec.to_builtins(refusal.verdict.reasons),
            "status": refusal.verdict.status,
            "retry_after_s": refusal.verdict.retry_after_s,
        },
        "warnings": list(answer.warnings),
        "doubt": list(answer.impact.doubt),
        "effects": [_effect(effect, answer, graph) for effect in answer.effects],
    }


def _effect(effect: Effect, answer: Answer, graph: Graph) -> dict[str, Any]:
    line = told(effect)
    return {
        "type": line.effect,
        "severity": severity(effect).word,
        "subject": line.subject,
        "words": phrase(line),
        "count": line.count,
        "before": line.before,
        "after": line.after,
        "confidence": line.confidence.value,
        "reversible": line.reversible,
        "victims": [_victim(victim, answer, graph) for victim in line.victims],
        "fields": {
            name: value
            for name, value in msgspec.to_builtins(effect).items()
            if name not in ("victims", "confidence", "reversible")
        },
    }


def _victim(victim: Victim, answer: Answer, graph: Graph) -> dict[str, str]:
    resource = Resource(victim.group, victim.resource)
    version = answer.versions.get(resource, "")
    if not version:
        row = graph.row(ObjectKey(resource, victim.namespace, victim.name))
        version = "" if row is None else graph.at(row).gvk.version
    return {
        "group": victim.group,
        "version": version,
        "resource": victim.resource,
        "namespace": victim.namespace,
        "name": victim.name,
        "uid": victim.uid,
    }


# ---- for people


def _told(answer: Answer, asked_as: str) -> RenderableType:
    parts: list[RenderableType] = []
    head = Text()
    if answer.question.place:
        head.append(f"{answer.question.place}  ", "dim")
    head.append(answer.question.title, "bold")
    if answer.removed:
        things = "object" if answer.removed == 1 else "objects"
        head.append(f"   {answer.removed:,} {things} would be gone", "dim")
    parts.append(head)
    if answer.effects:
        parts.append(_table(answer))
    else:
        parts.append(Text("  nothing of consequence", "green"))
    hidden = len(rows(answer.effects)) - ROWS
    if hidden > 0:
        parts.append(Text(f"  and {hidden:,} more lines; --output json has them all", "dim"))
    parts += [Text(f"  not known: {doubt}", "yellow") for doubt in answer.impact.doubt]
    parts.append(_verdict(answer, asked_as))
    return Group(*parts, Text())


def _table(answer: Answer) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("")
    table.add_column("what", overflow="fold")
    table.add_column("would happen", overflow="fold")
    table.add_column("who", overflow="fold")
    table.add_column("undo")
    for row in rows(answer.effects)[:ROWS]:
        table.add_row(
            Text(row.severity.word, COLOURS[row.severity]),
            escape(row.what),
            escape(row.words),
            escape(row.who),
            "yes" if row.reversible else "[red]no[/]",
        )
    return table


class Row(msgspec.Struct, frozen=True):
    """Effects of one type and gravity, as one line for people."""

    severity: Severity
    what: str
    words: str
    who: str
    reversible: bool


def rows(effects: Sequence[Effect]) -> list[Row]:
    """Return effects for people: many of one type and gravity are one line, with their sum."""
    alike: dict[tuple[str, Severity], list[Told]] = {}
    for effect in effects:
        line = told(effect)
        alike.setdefault((line.effect, severity(effect)), []).append(line)
    found = []
    for (_, grave), lines in alike.items():
        if len(lines) <= ALIKE:
            found += [_row(line, grave) for line in lines]
        else:
            found.append(_sum(lines, grave))
    return found


def _row(line: Told, grave: Severity) -> Row:
    words = f"{SURE[line.confidence]} {phrase(line)}".strip()
    return Row(grave, line.subject, words, _who(line), line.reversible)


def _sum(lines: Sequence[Told], grave: Severity) -> Row:
    kinds = sorted({line.subject.partition(" ")[0] for line in lines})
    sure = next((one.confidence for one in lines if one.confidence is not Confidence.EXACT), None)
    whole = msgspec.structs.replace(
        lines[0],
        before=sum(line.before for line in lines),
        after=sum(line.after for line in lines),
        count=sum(line.count for line in lines),
        confidence=sure or Confidence.EXACT,
    )
    what = f"{len(lines):,} {', '.join(kinds[:3])}" + (" and others" if len(kinds) > 3 else "")
    first = [line.subject.partition(" ")[2] or line.subject for line in lines[:3]]
    who = ", ".join(first) + f" and {len(lines) - 3:,} more"
    words = f"{SURE[whole.confidence]} {phrase(whole)}".strip()
    if phrase(whole) != phrase(lines[0]):
        words += ", in all"
    return Row(grave, what, words, who, all(line.reversible for line in lines))


def _who(line: Told) -> str:
    """Return the first victims, unless the subject says it already."""
    names = [_short(victim) for victim in line.victims if words_of(victim) != line.subject]
    more = max(0, line.count - len(names)) if len(names) > 1 else 0
    shown = ", ".join(names[:3])
    rest = len(names[3:]) + more
    return f"{shown} and {rest:,} more" if rest and shown else shown


def _short(victim: Victim) -> str:
    kind = ABBREVIATED.get(victim.resource, victim.resource)
    place = f"{victim.namespace}/" if victim.namespace else ""
    return f"{kind} {place}{victim.name}"


def _verdict(answer: Answer, asked_as: str) -> Text:
    refusal = answer.refusal
    if refusal is None:
        text = Text("  the policies let it pass", "green")
        for warning in answer.warnings:
            text.append(f"\n  warning: {warning}", "yellow")
        return text
    text = Text("  refused", "bold red")
    if refusal.of > 1:
        text.append(f" at request {refusal.number:,} of {refusal.of:,}", "red")
    text.append(f" for {asked_as}, if it were enforced", "red")
    for reason in refusal.verdict.reasons:
        text.append(f"\n    {reason.constraint}: {reason.message}")
    if refusal.verdict.retry_after_s is not None:
        text.append(f"\n    it would pass later: try again in {refusal.verdict.retry_after_s} s")
    return text


# ---- Markdown


def markdown(report: Report) -> str:
    """Return a report for a pull request's comment."""
    marks = {
        Severity.NONE: "✅", Severity.MINOR: "✅", Severity.NOTABLE: "⚠️", Severity.SEVERE: "🛑",
    }  # fmt: skip
    lines = [f"### {marks[report.severity]} Impact: {report.severity.word}", ""]
    when = "" if report.taken is None else f", as of {report.taken:%Y-%m-%d %H:%M} UTC"
    lines += [f"{len(report.answers)} changes against `{report.source}`{when}.", ""]
    for answer in report.answers:
        lines += [f"#### {marks[answer.severity]} {_code(answer.question.title)}", ""]
        if answer.question.place:
            lines += [f"<sub>{answer.question.place}</sub>", ""]
        if not answer.effects:
            lines += ["Nothing of consequence.", ""]
        else:
            lines += ["| | what | would happen | who | undo |", "|---|---|---|---|---|"]
            told_rows = rows(answer.effects)
            for row in told_rows[:ROWS]:
                undo = "yes" if row.reversible else "**no**"
                lines.append(
                    f"| {row.severity.word} | {_code(row.what)} | {row.words} | {_cell(row.who)} "
                    f"| {undo} |"
                )
            if len(told_rows) > ROWS:
                lines.append(f"\nand {len(told_rows) - ROWS:,} more lines.")
            lines.append("")
        if answer.refusal is not None:
            reasons = answer.refusal.verdict.reasons
            lines += [f"> **Refused** by {_code(one.constraint)}: {one.message}" for one in reasons]
            lines.append("")
    if report.problems:
        lines += ["**Not answered:**", "", *(f"- {one}" for one in report.problems), ""]
    return "\n".join(lines).rstrip()


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# ---- drawings


def _draw(report: Report, common: Common, loaded: Loaded) -> None:
    """Draw the gravest change that can be drawn."""
    if common.svg is None and common.html is None:
        return
    from suture.cli.drawing.page import page
    from suture.cli.drawing.placing import draw
    from suture.cli.drawing.svg import Titles
    from suture.cli.drawing.svg import svg as as_svg
    from suture.cli.model import write_drawing

    drawn = [(one, one.picture) for one in report.answers if one.picture is not None]
    stderr = Console(stderr=True, soft_wrap=True)
    if not drawn:
        stderr.print("nothing to draw: no change touches an object that is there", highlight=False)
        return
    worst, found = max(drawn, key=lambda pair: pair[0].severity)
    lines = (*loaded.titles, f"severity: {worst.severity.word}")
    titles = Titles(worst.question.title, lines, left="what goes with it, and who is hit")
    drawing = draw(found)
    for path, text in ((common.html, page), (common.svg, as_svg)):
        if path is not None:
            write_drawing(path, text(drawing, titles))
