"""`suture bench`: how fast, how large, measured here and now.

Thin: `suture.bench` measures; here are flags, progress and the printing of figures.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from suture.cli.terminal import Console

if TYPE_CHECKING:
    from suture.bench.measure import Report
    from suture.lab.clusters import Size

Name = Literal["policies", "impact", "decision", "replay", "model", "serve", "quarantine", "all"]
Say = Callable[[str], None]


def bench(
    name: Name,
    /,
    *,
    scale: str = "S",
    repeat: int = 3,
    seed: int | None = None,
    baselines: bool = True,
    output: Literal["table", "json"] = "table",
) -> int:
    """Measure one part of Suture, or all of them, on this machine.

    policies: what weighing one case costs. impact: how long it takes to say what a change would
    do, every effect of it. decision: the time of a decision alone. replay: how many events of a
    recorded audit log `suture replay` judges a second, the whole command, at each level. model:
    what the model of a cluster weighs, how fast it starts, follows and answers, how long it ever
    stalls, and the same of plain dicts and networkx. serve: requests a second over HTTPS with
    mutual TLS, and what each costs. quarantine: from the order to the last write that still went
    through, on a real control plane.

    Parameters
    ----------
    name:
        Which benchmark.
    scale:
        S: 2,000 nodes, 30,000 pods. M: 5,000 nodes, 150,000 pods. L: 17,000 nodes, 620,000 pods.
        Several, as `S,M,L`, or `all`, one after the other; then side by side.
    repeat:
        Run it this often; the median is shown, with the lowest and the highest run.
    seed:
        Measure on another cluster of the same size.
    baselines:
        Of `model`: measure plain dicts and networkx beside it, and hold their answers against it.
    output:
        A table for people or JSON for programs: one document a line for each benchmark and scale.
    """
    from suture.bench.growth import grown
    from suture.bench.measure import Setting
    from suture.bench.run import BENCHMARKS, run
    from suture.lab.clusters.cluster import SEED

    sizes = _sizes(scale)
    for one in BENCHMARKS if name == "all" else (name,):
        reports: list[Report] = []
        for scaled, size in sizes.items():
            setting = Setting(
                scale=scaled, size=size, seed=SEED if seed is None else seed, baselines=baselines
            )
            with _progress() as say:
                report = run(one, setting, repeat=repeat, say=say)
            reports.append(grown(reports, report))
            if output == "json":
                _print_json(reports[-1])
        if output == "table":
            _show(reports)
    return 0


def _sizes(scale: str) -> dict[str, Size]:
    """Return the sizes that `--scale` names. Errors: InputError."""
    from suture.lab.clusters import SIZES
    from suture.lab.clusters.store import size_of

    names = list(SIZES) if scale == "all" else scale.split(",")
    return {one: size_of(one) for one in names}


@contextmanager
def _progress() -> Iterator[Say]:
    """Show on standard error what is being measured: live for people, a line each for logs."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("starting") as live:
            yield live.update
    else:
        yield lambda words: print(words, file=sys.stderr, flush=True)


def _print_json(report: Report) -> None:
    import msgspec

    from suture.bench.measure import by_name

    document = {**by_name(report), **msgspec.to_builtins(report)}
    print(msgspec.json.encode(document).decode(), flush=True)


def _show(reports: list[Report]) -> None:
    """Print a table: one scale with its spread, several side by side."""
    from rich.table import Table

    last = reports[-1]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title_justify="left")
    scales = ", ".join(one.scale for one in reports)
    table.add_column(f"{last.bench}, scale {scales}")
    alone = len(reports) == 1
    for title in ("median", "lowest", "highest") if alone else [one.scale for one in reports]:
        table.add_column(title, justify="right")
    table.add_column("")
    found = [{figure.name: figure for figure in one.figures} for one in reports]
    for figure in {name: one for figures in found for name, one in figures.items()}.values():
        if alone:
            cells = [_number(one) for one in (figure.median, figure.low, figure.high)]
        else:
            cells = [
                _number(figures[figure.name].median) if figure.name in figures else "-"
                for figures in found
            ]
        table.add_row(figure.name, *cells, figure.unit)
    console = Console()
    console.print(table)
    for report in reports:
        where, size = report.environment, report.size
        console.print(
            f"{report.scale}: {size.nodes:,} nodes, {size.pods:,} pods, {size.services:,} "
            f"Services; {report.repeat} runs; {where.python} on {where.cores} cores, "
            f"{where.machine}, load {where.load:.1f}; suture {where.suture} {where.commit}"
            f"{', compiled' if where.compiled else ', plain Python'}",
            style="dim",
            highlight=False,
        )
    console.print()


def _number(value: float) -> str:
    """Return a figure with as many digits as mean something."""
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if value >= 10 else f"{value:.2f}"
