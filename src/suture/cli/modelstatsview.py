"""`suture model stats` for people: a table by kind, with a bar for each kind's share."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from suture.app.modelstats import KindStats, ModelStats

BAR = 12
"""Columns of the longest bar."""

KIND = 36
"""LIMIT: columns of a kind; what is longer loses its end, so that numbers never do."""

EIGHTHS = " ▏▎▍▌▋▊▉█"
KINDS = 40
"""LIMIT: lines unless all are asked for; the kinds with the most objects are most of a model."""


def show(found: ModelStats, console: Console, *, every: bool) -> None:
    """Print the numbers of a model."""
    console.print(Text.assemble((found.source, "bold")), highlight=False)
    console.print(Text(_totals(found)), highlight=False)
    if len(found.memory) > 1:
        parts = sorted(found.memory.items(), key=lambda part: -part[1])
        listed = ", ".join(f"{name} {size(size_bytes)}" for name, size_bytes in parts)
        console.print(Text(f"memory: {listed}", "dim"), highlight=False)
    console.print()
    console.print(_table(found, plain=console.options.ascii_only, every=every), highlight=False)
    console.print(*_notes(found, every=every), highlight=False)


def _totals(found: ModelStats) -> str:
    words = [f"{found.objects:,} objects of {len(found.kinds):,} kinds"]
    if found.size_bytes:
        words.append(f"{size(found.size_bytes)}, {found.bytes_per_object:,.0f} bytes an object")
    ages = [one.age_s for one in found.kinds if one.age_s is not None and not one.unknown]
    if ages:
        words.append(f"heard of {age(max(ages))} ago at the most")
    return "; ".join(words)


def _table(found: ModelStats, *, plain: bool, every: bool) -> Table:
    rows = list(_shown(found, every=every))
    doubts = any(one.unknown or not one.listed for one in rows)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("kind", no_wrap=True, overflow="ellipsis", max_width=KIND)
    table.add_column("objects", justify="right", no_wrap=True, min_width=7)
    table.add_column("share", justify="right", no_wrap=True, min_width=6)
    table.add_column("", no_wrap=True, min_width=BAR)
    table.add_column("heard of", justify="right", no_wrap=True, min_width=9)
    if doubts:
        table.add_column("")
    most = max((one.objects or 0 for one in found.kinds), default=0)
    for one in rows:
        counted = one.objects is not None
        share = (one.objects or 0) / found.objects if found.objects else 0.0
        table.add_row(
            escape(one.kind),
            f"{one.objects:,}" if counted else "?",
            f"{share:.1%}" if counted else "",
            Text(bar((one.objects or 0) / most if most else 0.0, plain=plain), "cyan"),
            "never" if one.age_s is None else f"{age(one.age_s)} ago",
            *([_known(one)] if doubts else []),
        )
    return table


def _shown(found: ModelStats, *, every: bool) -> Iterable[KindStats]:
    """Return the kinds with the most objects, and those that are not known whole."""
    for at, one in enumerate(found.kinds):
        if every or (at < KINDS and one.objects) or one.unknown or not one.listed:
            yield one


def _known(one: KindStats) -> Text:
    if one.unknown:
        return Text(f"unknown: {one.unknown}", "yellow")
    return Text("") if one.listed else Text("not listed", "yellow")


def _notes(found: ModelStats, *, every: bool) -> list[Text]:
    shown = {one.kind for one in _shown(found, every=every)}
    left = [one for one in found.kinds if one.kind not in shown]
    if not left:
        return []
    objects = sum(one.objects or 0 for one in left)
    return [Text(f"and {len(left):,} kinds with {objects:,} objects: --all shows them", "dim")]


def bar(share: float, *, plain: bool) -> str:
    """Return a bar for a share of the longest; anything but nothing can be seen."""
    eighths = max(round(share * BAR * 8), 1 if share else 0)
    if plain:
        return "#" * (-(-eighths // 8))
    return EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def size(size_bytes: float) -> str:
    """Return bytes as people read them."""
    for unit in ("bytes", "KiB", "MiB"):
        if size_bytes < 1024:
            return f"{size_bytes:,.0f} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:,.1f} GiB"


def age(seconds: float) -> str:
    """Return an age in its largest unit."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} s"
