"""The page that an examination writes: figures, then what was missed and why, then every file.

Lives apart from the marks, which are numbers. Markdown, made of results alone: the same results
make the same page. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suture.lab.exam.marks import FAMILIES, Paper, latencies, line
from suture.lab.exam.result import COLUMNS, SUTURE, TITLES, Column, Result

HEAD = """# The examination

Written by `make exam`; do not edit. Every file of `scenarios/` is run as it stands, with the safety
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
(`src/suture/lab/exam/plain`). They are run on predicted controllers.
"""


def page(papers: Sequence[Paper], failed: Sequence[str]) -> str:
    """Return the page."""
    ordered = sorted(papers, key=lambda one: (one.scenario.id or "~", one.name))
    parts = [
        HEAD,
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
    lab = sum(any(r.place == "lab" for r in one.results.values()) for one in papers)
    stale = sum(bool(one.stale) for one in papers)
    old = f" Of {stale} a result is of an earlier pack or code." if stale else ""
    return (
        f"{len(papers)} files: {sum(one.incident for one in papers)} incidents, "
        f"{sum(bool(one.scenario.twin_of) for one in papers)} twins, "
        f"{sum(not one.incident and not one.scenario.twin_of for one in papers)} of ordinary work. "
        f"{lab} were run on a real control plane, the others on predicted controllers.{old}\n"
    )


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
            reason = paper.scenario.expect.reason or "no policy of the pack stops it yet"
            rows.append([_name(paper), ", ".join(columns), _outcome(paper, columns[-1]), reason])
    if not rows:
        return ""
    return "## Missed\n\n" + _table(("incident", "column", "came to", "why"), rows)


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
    return words if result.place == "offline" else f"{words} (lab)"


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
