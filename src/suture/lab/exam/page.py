"""The page that an examination writes: figures, then what was missed and why, then every file.

Lives apart from the marks, which are numbers. Markdown, made of results alone: the same results
make the same page. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suture.lab.exam.marks import FAMILIES, Paper, latencies, line
from suture.lab.exam.result import COLUMNS, SUTURE, TITLES, Column, Result

HEAD = """# The examination

Written by `make exam`; do not edit. Every file of `{folder}/` is run as it stands, with the safety
pack at its defaults and one configuration for all: every identity that acts is enforced, persons
and the controllers that originate deletes included.

An incident counts as stopped when nothing is lost (*before*), or, where only a number of writes can
tell it, when no more is lost than the constraint in force allows (*within its bound*). Ordinary
work counts as passed when none of its writes is refused and it comes to its end. *Managed* is what
every cluster can have; *full* has the authorization webhook too. A file is void, and the
examination failed, unless its harm is really done when nobody guards: more than half of what it is
about, and more than the constraint allows.
"""

BASELINES = """
The baselines run on the same files: nothing at all; the naive rate limiter (20 destructive writes
of an identity in 10 seconds, 60 in a minute, kube-system exempt); and plain
ValidatingAdmissionPolicies that protect listed and labelled kinds, as careful teams write them
(`src/suture/lab/exam/plain`). The last two are run on predicted controllers.
"""

MOVED = """
*(lab)* marks what was run on a real control plane. What a story there waits, ten hours or the
minutes between two writes, is lived until the cluster has come to rest; where a span is marked as
*moved*, the rest of the waiting was not lived: Suture was told that it is later by so much, so that
its budgets, its history and its grants are older, while API server and controllers lived on in
their own time. What controllers would do by themselves in those hours was not seen. An object that
was made after a move looks older to Suture by what had been moved before, never younger. Some
stories were played at two to six times their pace, the windows of budgets as much shorter
(`--speed`).
"""


def page(papers: Sequence[Paper], failed: Sequence[str], folder: str = "scenarios") -> str:
    """Return the page of the files of a folder."""
    ordered = sorted(papers, key=lambda one: (one.scenario.id or "~", one.name))
    parts = [
        HEAD.format(folder=folder),
        _places(ordered),
        "## Figures\n",
        _figures(ordered),
        BASELINES,
        "## By family\n",
        _families(ordered),
        _latency(ordered),
        _failed(failed),
        _missed(ordered),
        _disturbed(ordered),
        "## Incidents\n",
        _incidents(ordered),
        "## Ordinary work and twins\n",
        _benign(ordered),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _places(papers: Sequence[Paper]) -> str:
    full = sum(_on_lab(one, "full") for one in papers)
    incidents = [one for one in papers if one.incident]
    free = sum(_on_lab(one, "none") for one in incidents)
    moved = sum(any(r.moved_s for r in one.results.values()) for one in papers)
    stale = sum(bool(one.stale) for one in papers)
    old = f" Of {stale} a result is of an earlier pack or code." if stale else ""
    words = (
        f"{len(papers)} files: {len(incidents)} incidents, "
        f"{sum(bool(one.scenario.twin_of) for one in papers)} twins, "
        f"{sum(not one.incident and not one.scenario.twin_of for one in papers)} of ordinary work. "
        f"{full} were run under Suture (full) on a real control plane, and {free} of the incidents "
        f"without a guard; the others on predicted controllers.{old}\n"
    )
    return words + (MOVED if moved else "")


def _on_lab(paper: Paper, column: Column) -> bool:
    return column in paper.results and paper.results[column].place == "lab"


def _figures(papers: Sequence[Paper]) -> str:
    rows = []
    for column in COLUMNS:
        marks = line(papers, column)
        if not marks.incidents and not marks.benign:
            continue
        at = f" (write {marks.at:g}, {marks.share:.0%} lost)" if marks.within else ""
        rows.append(
            [
                TITLES[column],
                f"{marks.stopped} of {marks.incidents} ({marks.stopped_share:.0%})",
                str(marks.before),
                f"{marks.within}{at}",
                str(marks.missed),
                f"{marks.partial_stopped} of {marks.partial}",
                f"{marks.disturbed} of {marks.benign}",
                f"{marks.false_per_thousand:.2f}",
            ]
        )
    head = (
        "column",
        "incidents stopped",
        "before harm",
        "within its bound",
        "missed",
        "seen in part",
        "ordinary work disturbed",
        "false refusals per 1,000 benign writes",
    )
    return _table(head, rows)


def _families(papers: Sequence[Paper]) -> str:
    rows = []
    for family in FAMILIES:
        chosen = [one for one in papers if one.scenario.family == family and one.incident]
        if chosen:
            cells = [f"{m.stopped} of {m.incidents}" for m in (line(chosen, c) for c in COLUMNS)]
            rows.append([family, *cells])
    return _table(("family", *(TITLES[column] for column in COLUMNS)), rows)


def _latency(papers: Sequence[Paper]) -> str:
    found = latencies(papers)
    if found is None:
        return ""
    return (
        f"\nAdded to a write, over pairs of dry runs on the lab: {found[0]:.2f} ms at the median "
        f"of scenarios, {found[1]:.1f} ms at the worst p99.\n"
    )


def _failed(failed: Sequence[str]) -> str:
    if not failed:
        return ""
    return "## Not reached\n\n" + "".join(f"- {words}\n" for words in failed)


def _missed(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        columns = [c for c in SUTURE if paper.incident and paper.good(c) is False]
        if columns:
            reason = paper.scenario.expect.reason or _unbounded(paper, columns[-1])
            rows.append([_name(paper), ", ".join(columns), _outcome(paper, columns[-1]), reason])
    if not rows:
        return ""
    return "## Missed\n\n" + _table(("incident", "column", "came to", "why"), rows)


def _unbounded(paper: Paper, column: Column) -> str:
    """Return why an incident counts as missed whose file does not say so."""
    by = ", ".join(paper.results[column].stopped_by)
    return f"refused by {by}, and more was lost than is borne" if by else "no policy refuses it yet"


def _disturbed(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        for column in SUTURE:
            result = paper.results.get(column)
            if result is not None and (
                result.false_refusals or (not paper.incident and not paper.good(column))
            ):
                rows.append([_name(paper), column, str(result.false_refusals), result.words])
    if not rows:
        return ""
    return "## Wrongly refused\n\n" + _table(("file", "column", "writes", "first"), rows)


def _incidents(papers: Sequence[Paper]) -> str:
    rows = [
        [
            _name(paper),
            paper.scenario.title,
            paper.scenario.detectable or "",
            *(_outcome(paper, column) for column in COLUMNS),
            ", ".join(_by(paper)),
        ]
        for paper in papers
        if paper.incident
    ]
    head = ("file", "what happens", "told", *(TITLES[c] for c in COLUMNS), "stopped by")
    return _table(head, rows)


def _by(paper: Paper) -> list[str]:
    found = {p: None for c in SUTURE if c in paper.results for p in paper.results[c].stopped_by}
    return list(found)


def _outcome(paper: Paper, column: Column) -> str:
    result = paper.results.get(column)
    if result is None:
        return ""
    words: str = result.verdict
    if result.verdict in ("bounded", "missed"):
        lost = f"{result.lost} of {result.population}" if result.population else _probed(result)
        words += f": {lost}"
    if result.stopped_at is not None and result.stopped_at > 1:
        words += f", write {result.stopped_at}"
    if result.place == "offline":
        return words
    return f"{words} (lab, {_span(result.moved_s)} moved)" if result.moved_s else f"{words} (lab)"


def _span(span_s: float) -> str:
    """Return a span in hours and minutes, in seconds where it is shorter than one."""
    hours, minutes = divmod(round(span_s / 60), 60)
    if not hours:
        return f"{minutes} min" if span_s >= 60 else f"{span_s:.0f} s"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _probed(result: Result) -> str:
    return ", ".join(f"{found} {name}" for name, found in result.probes.items())


def _benign(papers: Sequence[Paper]) -> str:
    rows = []
    for paper in papers:
        if not paper.incident:
            twin = f"twin of {paper.scenario.twin_of}" if paper.scenario.twin_of else ""
            rows.append(
                [
                    _name(paper),
                    paper.scenario.title,
                    twin,
                    *(_outcome(paper, column) for column in COLUMNS[1:]),
                ]
            )
    head = ("file", "what happens", "", *(TITLES[column] for column in COLUMNS[1:]))
    return _table(head, rows)


def _name(paper: Paper) -> str:
    mark = f"{paper.scenario.id} " if paper.scenario.id else ""
    return f"{mark}`{paper.name}`"
