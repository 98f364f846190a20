"""The report of a replay: a table, JSON, and a page with a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape as html_escape
from pathlib import Path
from typing import Any, Literal

import msgspec
from rich import box
from rich.markup import escape
from rich.table import Table

from suture.adapters.auditlogs import Tally
from suture.app.auditfindings import Findings, Group, Refused, levels_told
from suture.cli.drawing.colours import DARK, LIGHT
from suture.cli.drawing.lettering import FAMILY
from suture.cli.terminal import Console

GROUPS = 15
"""LIMIT: groups shown to people; JSON and the page have them all."""

LISTED = 2_000
"""LIMIT: refusals listed one by one in a page: a megabyte."""

BINS = 120
"""LIMIT: bars of the timeline; a screen's width."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that is told of one replay; seconds of wall clock."""

    source: str
    taken: datetime | None
    files: tuple[str, ...]
    tally: Tally
    found: Findings
    seconds: float
    judging_s: float

    @property
    def rate(self) -> float:
        """Events a second over both passes, reads that are skipped included."""
        return self.tally.events / max(self.seconds, 1e-9)


def show(report: Report, output: Literal["table", "json"], html: Path | None) -> None:
    """Print a report, and write its page."""
    if output == "json":
        print(msgspec.json.encode(document(report)).decode())
    else:
        _print(report, Console())
    if html is not None:
        from suture.cli.model import write_drawing

        write_drawing(html, page(report))


# ---- JSON


def document(report: Report) -> dict[str, Any]:
    """Return a report as JSON has it."""
    found, tally = report.found, report.tally
    return {
        "source": report.source,
        "taken": None if report.taken is None else report.taken.isoformat(timespec="seconds"),
        "files": list(report.files),
        "from": _iso(found.first_s),
        "to": _iso(found.last_s),
        "seconds": round(report.seconds, 3),
        "events_per_s": round(report.rate),
        "events": msgspec.structs.asdict(tally),
        "writes": found.writes,
        "judged": found.judged,
        "not_persisted": found.not_persisted,
        "spared": found.spared,
        "consequences": found.consequences,
        "dry_runs": found.dry_runs,
        "levels": {level.value: count for level, count in found.levels.items()},
        "cannot_tell": levels_told(found.levels),
        "untold": {str(key.value if hasattr(key, "value") else key): count
                   for key, count in found.untold.items()},
        "rewound": msgspec.structs.asdict(found.rewound),
        "verdicts_on_rewound": found.verdicts_on_rewound,
        "refused": found.refused,
        "warned": found.warned,
        "groups": [_group(one) for one in found.ranked()],
        "refusals": [_refusal(one) for one in found.refusals],
    }  # fmt: skip


def _group(group: Group) -> dict[str, Any]:
    return {
        "operator": group.operator,
        "policy": group.constraint,
        "code": group.code,
        "count": group.count,
        "at_stake": group.stake,
        "on_rewound": group.rewound,
        "first": _iso(group.first_s),
        "last": _iso(group.last_s),
        "kinds": dict(group.kinds),
        "worst": None if group.worst is None else _refusal(group.worst),
    }


def _refusal(one: Refused) -> dict[str, Any]:
    return {
        "time": _iso(one.time_s),
        "audit_id": one.audit_id,
        "operator": one.operator,
        "verb": one.verb,
        "object": {
            "group": one.key.resource.group,
            "resource": one.key.resource.plural,
            "namespace": one.key.namespace,
            "name": one.key.name,
        },
        "policy": one.reason.constraint,
        "code": one.reason.code,
        "message": one.reason.message,
        "at_stake": one.stake,
        "victims": list(one.victims),
        "rewound": one.rewound,
    }


def _iso(time_s: float) -> str | None:
    return (
        datetime.fromtimestamp(time_s, UTC).isoformat(timespec="milliseconds") if time_s else None
    )


def _clock(time_s: float) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S}"


# ---- for people


def _print(report: Report, console: Console) -> None:
    found = report.found
    for line in _summary(report):
        console.print(line, highlight=False)
    if not found.refused:
        console.print("[green]nothing would have been refused[/]")
    else:
        console.print(_table(found.ranked()))
        hidden = len(found.groups) - GROUPS
        if hidden > 0:
            console.print(f"[dim]and {hidden:,} more groups; --output json has them all[/]")
    for line in _doubts(report):
        console.print(f"[dim]{escape(line)}[/]", highlight=False)
    for place in report.tally.where:
        console.print(f"[yellow]not read[/]: {escape(place)}", highlight=False)


def _summary(report: Report) -> list[str]:
    found, tally = report.found, report.tally
    when = "no writes"
    if found.first_s:
        when = f"{_clock(found.first_s)} to {_clock(found.last_s)} UTC"
    refused = f"{found.refused:,} of {found.judged:,} judged writes would have been refused"
    files = f"{len(report.files)} file{'' if len(report.files) == 1 else 's'}"
    read = f"{tally.events:,} events in {files}, {when}; {tally.reads:,} reads"
    return [
        f"[bold]{refused}[/], {found.warned:,} warned about",
        f"{read}; {report.rate:,.0f} events/s",
        f"against {escape(report.source)}",
    ]


def _doubts(report: Report) -> list[str]:
    found, tally = report.found, report.tally
    lines = levels_told(found.levels)
    rewound = found.rewound
    if rewound.whole or rewound.by_name or rewound.removed:
        lines.append(
            f"rewound: {rewound.whole + rewound.by_name:,} objects are there again "
            f"({rewound.by_name:,} by name only, their edges unknown), {rewound.removed:,} are not "
            f"there yet; {found.verdicts_on_rewound:,} verdicts rest on objects put back"
        )
    for why, count in found.untold.items():
        lines.append(f"not told ({why}): {count:,} writes")
    if found.not_persisted:
        lines.append(f"not persisted, so not judged: {found.not_persisted:,} writes")
    if tally.malformed:
        lines.append(f"malformed: {tally.malformed:,} lines")
    return lines


def _table(groups: Sequence[Group]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("who", "policy"):
        table.add_column(name, overflow="fold")
    table.add_column("refusals", justify="right")
    table.add_column("at stake", justify="right")
    for name in ("first", "worst of them"):
        table.add_column(name, overflow="fold")
    for group in groups[:GROUPS]:
        worst = group.worst
        told = "" if worst is None else f"{worst.verb} {worst.key}: {worst.reason.message}"
        table.add_row(
            escape(group.operator),
            f"{escape(group.constraint)}\n[dim]{escape(group.code)}[/]",
            f"{group.count:,}",
            f"{group.stake:,}",
            _clock(group.first_s),
            escape(told),
        )
    return table


# ---- a page


def page(report: Report) -> str:
    """Return a report as one HTML page; nothing is loaded from anywhere."""
    found = report.found
    rows = "".join(_group_row(one) for one in found.ranked())
    listed = "".join(_refusal_row(one) for one in found.refusals[:LISTED])
    more = found.refused - min(LISTED, len(found.refusals))
    summary = "".join(f"<p>{_bare(line)}</p>" for line in _summary(report))
    doubts = "".join(f"<li>{html_escape(line)}</li>" for line in _doubts(report))
    places = "".join(f"<li>{html_escape(place)}</li>" for place in report.tally.where)
    return _PAGE.format(
        style=_style(),
        summary=summary,
        timeline=_timeline(found),
        rows=rows or "<tr><td colspan=6>nothing would have been refused</td></tr>",
        listed=listed,
        more=f"<p>and {more:,} more</p>" if more > 0 else "",
        doubts=doubts + places,
    )


def _bare(line: str) -> str:
    from rich.text import Text

    return html_escape(Text.from_markup(line).plain)


def _group_row(group: Group) -> str:
    worst = group.worst
    told = "" if worst is None else f"{worst.verb} {worst.key}: {worst.reason.message}"
    cells = (group.operator, f"{group.constraint} ({group.code})", f"{group.count:,}",
             f"{group.stake:,}", _clock(group.first_s), told)  # fmt: skip
    return "<tr>" + "".join(f"<td>{html_escape(cell)}</td>" for cell in cells) + "</tr>"


def _refusal_row(one: Refused) -> str:
    mark = " (put back)" if one.rewound else ""
    cells = (_clock(one.time_s), one.operator, f"{one.verb} {one.key}{mark}",
             one.reason.constraint, one.reason.message, ", ".join(one.victims))  # fmt: skip
    return "<tr>" + "".join(f"<td>{html_escape(cell)}</td>" for cell in cells) + "</tr>"


def _timeline(found: Findings) -> str:
    """Return bars of refusals over time."""
    if not found.refusals:
        return ""
    span = max(found.last_s - found.first_s, 1.0)
    bins = [0] * BINS
    for one in found.refusals:
        bins[min(BINS - 1, int((one.time_s - found.first_s) / span * BINS))] += 1
    top = max(bins)
    bars = "".join(
        f'<rect x="{at * 8}" y="{80 - 76 * count / top:.1f}" width="6" '
        f'height="{76 * count / top:.1f}"><title>{count:,} refusals from '
        f"{_clock(found.first_s + at * span / BINS)}</title></rect>"
        for at, count in enumerate(bins)
        if count
    )
    return (
        f'<svg viewBox="0 0 {BINS * 8} 100" role="img" aria-label="refusals over time">'
        f'<line x1="0" y1="80" x2="{BINS * 8}" y2="80"/>{bars}'
        f'<text x="0" y="96">{_clock(found.first_s)}</text>'
        f'<text x="{BINS * 8}" y="96" text-anchor="end">{_clock(found.last_s)}</text>'
        f'<text x="{BINS * 4}" y="96" text-anchor="middle">most in a bar: {top:,}</text></svg>'
    )


def _style() -> str:
    names = ("paper", "card", "ink", "quiet", "rule")
    light = " ".join(f"--{name}: {LIGHT[name]};" for name in names)
    dark = " ".join(f"--{name}: {DARK[name]};" for name in names)
    return (
        f":root {{ {light} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"body {{ font: 14px {FAMILY}; background: var(--paper); color: var(--ink); margin: 32px;"
        " max-width: 1200px; }\n"
        "table { border-collapse: collapse; width: 100%; }\n"
        "td, th { text-align: left; padding: 6px 10px; vertical-align: top;"
        " border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }\n"
        "th, li, summary { color: var(--quiet); font-weight: 500; }\n"
        "svg { width: 100%; } svg rect { fill: #d1342b; } svg line { stroke: var(--rule); }\n"
        "svg text { font-size: 11px; fill: var(--quiet); }\n"
        "p:first-of-type { font-size: 20px; font-weight: 600; }\n"
    )


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Suture: what would have been refused</title>
<style>{style}</style>
</head>
<body>
{summary}
{timeline}
<table><thead><tr><th>who</th><th>policy</th><th>refusals</th><th>at stake</th><th>first</th>
<th>worst of them</th></tr></thead><tbody>{rows}</tbody></table>
<details><summary>every refusal</summary>
<table><thead><tr><th>when</th><th>who</th><th>what</th><th>policy</th><th>why</th>
<th>at stake</th></tr></thead><tbody>{listed}</tbody></table>{more}</details>
<h3>What the log cannot tell</h3><ul>{doubts}</ul>
</body>
</html>
"""
