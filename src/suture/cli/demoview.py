"""How the demo looks: two curves, one table, the refusal itself, and what to try next.

Drawn for 80 columns, and readable without colour: what colour says, words and shapes say too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from suture.lab.demo import BrokenPath, Demo, FirstRefusal, Run, Variant
from suture.lab.demolab import LabDemo
from suture.lab.scenarios.report import Report

WIDTH = 92
"""LIMIT: columns used; longer lines are hard to read, shorter terminals get their own width."""

ROWS = 6
"""Lines of a curve: with eighths of a block, 48 steps."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
LOST, KEPT, QUIET, HEAD = "red", "green", "dim", "bold"


def show(played: Demo, console: Console) -> None:
    """Write the whole demo."""
    width = min(console.width, WIDTH)
    plain = console.options.ascii_only
    parts = [
        *above_the_fold(played, width, plain=plain),
        *_second_wave(played, width, plain=plain),
        _head("Its relatives, with Suture"),
        _relatives(played, plain=plain),
        _head("What to try next"),
        _next(),
    ]
    console.print(Group(*parts), width=width, highlight=False)


def above_the_fold(played: Demo, width: int, *, plain: bool) -> list[RenderableType]:
    """Return what is seen first: the story, the picture, the numbers, the refusal."""
    return [
        _opening(played, plain=plain),
        _head("Services alive"),
        _curves(played, width, plain=plain),
        _head("What was lost"),
        _table(played),
        *_refusal(played.guarded, plain=plain),
    ]


def _head(words: str) -> RenderableType:
    return Group(Text(""), Text(words, HEAD))


def _opening(played: Demo, *, plain: bool) -> RenderableType:
    length = len(played.trigger.rpartition("/")[2])
    return Group(
        _head("A load-balancer operator deletes every Service of a cluster"),
        Text(
            f"{played.nodes:,} nodes, {played.pods:,} pods, {played.services:,} Services in "
            f"{played.namespaces} namespaces: {played.objects:,} objects, loaded in "
            f"{played.load_s:.1f} s. All decisions are made by the code that serves a cluster.",
            QUIET,
        ),
        Text(""),
        Text.assemble(
            f"Somebody deletes a Balancer whose name has {length} characters; a label's value may "
            "have 63. So the operator's selector for the Balancer's Services, ",
            (_short(played.selector_asked, _more(plain=plain)), "cyan"),
            ", comes out empty, and ",
            ("empty means everything", HEAD),
            f". It lists all {played.services:,} Services and deletes one after the other, "
            f"{played.writes_per_s} a second.",
        ),
    )


def _short(selector: str, more: str) -> str:
    label, _, value = selector.partition("=")
    return f"{label}={value[:12]}{more}"


def _more(*, plain: bool) -> str:
    return "..." if plain else "…"


# ---- the picture


def _curves(played: Demo, width: int, *, plain: bool) -> RenderableType:
    """Draw both curves side by side, on one scale."""
    top = max(played.services, 1)
    label = f"{top:,}"
    columns = (width - 2 - len(label) - 7) // 2
    grid = Table.grid(padding=(0, 1))
    for _ in range(3):
        grid.add_column(no_wrap=True)
    left = curve(played.without.alive, top, columns, plain=plain)
    right = curve(played.guarded.alive, top, columns, plain=plain)
    bar = "|" if plain else "│"
    grid.add_row("", Text("  without Suture", LOST), Text("  with Suture", KEPT))
    for line, (lost, kept) in enumerate(zip(left, right, strict=True)):
        mark = label if line == 0 else ("0" if line == ROWS - 1 else "")
        grid.add_row(
            Text(f"{mark:>{len(label)}}", QUIET),
            Text.assemble((f"{bar} ", QUIET), (lost, LOST)),
            Text.assemble((f"{bar} ", QUIET), (kept, KEPT)),
        )
    seconds = played.without.writes / played.writes_per_s
    axis = f"  0 s{f'{seconds:.0f} s':>{max(columns - 3, 1)}}"
    grid.add_row("", Text(axis, QUIET), Text(axis, QUIET))
    return grid


def curve(values: Sequence[int], top: int, columns: int, *, plain: bool) -> list[str]:
    """Return the lines of an area chart, the highest first."""
    if not values:
        return [""] * ROWS
    picked = [values[(at + 1) * len(values) // columns - 1] for at in range(columns)]
    heights = [round(value * ROWS * 8 / top) for value in picked]
    return [
        "".join(_cell(height - line * 8, plain=plain) for height in heights).rstrip()
        for line in reversed(range(ROWS))
    ]


def _cell(eighths: int, *, plain: bool) -> str:
    if plain:
        return "#" if eighths >= 4 else " "
    return EIGHTHS[min(max(eighths, 0), 8)]


# ---- the numbers


def _table(played: Demo) -> RenderableType:
    without, guarded = played.without, played.guarded
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("without Suture", justify="right", header_style=LOST)
    table.add_column("with Suture", justify="right", header_style=KEPT)

    def row(words: str, one: str, other: str, *, part: bool = False) -> None:
        table.add_row(Text(words, QUIET if part else ""), one, other)

    row(
        "Services lost",
        _of(without.lost, without.population),
        _of(guarded.lost, guarded.population),
    )
    row("  of these idle", f"{without.lost_idle:,}", f"{guarded.lost_idle:,}", part=True)
    row(
        "Ready endpoints lost",
        _of(without.endpoints_lost, without.endpoints),
        _of(guarded.endpoints_lost, guarded.endpoints),
    )
    row(
        "Fail-closed webhooks without backend",
        _of(without.fail_closed_broken, without.fail_closed),
        _of(guarded.fail_closed_broken, guarded.fail_closed),
    )
    row("Namespaces where no pod can be created", _blocked(without), _blocked(guarded))
    row("Pods that could not come back", f"{without.pods_stranded:,}", f"{guarded.pods_stranded:,}")
    row(
        "Writes refused", _of(without.refused, without.writes), _of(guarded.refused, guarded.writes)
    )
    for name, count in guarded.refused_by.items():
        row(f"  by {name}", "", f"{count:,}", part=True)
    row("First refusal", "", _when(guarded.first_refusal))
    row("Median time of a decision", _time(without.median_us), _time(guarded.median_us))
    return table


def _of(some: int, all_of: int) -> str:
    return f"{some:,} of {all_of:,}"


def _blocked(run: Run) -> str:
    return _of(run.namespaces_blocked, run.namespaces)


def _when(refusal: FirstRefusal | None) -> str:
    return "" if refusal is None else f"write {refusal.write}, {refusal.after_s:.1f} s"


def _time(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms"


# ---- the second wave, and the words


def _second_wave(played: Demo, width: int, *, plain: bool) -> Iterable[RenderableType]:
    run = played.without
    if not run.broken:
        return
    yield _head("The second wave, without Suture")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("after", justify="right", style=QUIET, no_wrap=True)
    table.add_column("this Service is gone", no_wrap=True)
    table.add_column("and these API calls fail", no_wrap=True)
    services = _by_service(run.broken)
    room = width - 9 - max(len(service) for _, service in services)
    for (after_s, service), paths in services.items():
        words = Text("; ".join(dict.fromkeys(map(_calls, paths))))
        if any(path.blocks_pods for path in paths):
            words.stylize(LOST)
        words.truncate(room, overflow="crop" if plain else "ellipsis")
        table.add_row(f"{after_s:.0f} s", service, words)
    yield table
    if run.blocked_after_s is not None:
        yield Text(
            f"From {run.blocked_after_s:.0f} s on pods are no longer created, in the end in "
            f"{run.namespaces_blocked} of {run.namespaces} namespaces: after a failed node, a "
            "rollout or a restart, what stopped stays down. In life it took five hours to mend."
        )


def _by_service(broken: Iterable[BrokenPath]) -> dict[tuple[float, str], list[BrokenPath]]:
    found: dict[tuple[float, str], list[BrokenPath]] = {}
    for path in broken:
        found.setdefault((path.after_s, path.service.rpartition("/")[2]), []).append(path)
    return found


def _calls(path: BrokenPath) -> str:
    """Say which calls fail; that of pods first, since it is what the cluster lives by."""
    return f"CREATE of pods; {path.calls}" if path.blocks_pods and ";" in path.calls else path.calls


def _refusal(run: Run, *, plain: bool) -> Iterable[RenderableType]:
    refusal = run.first_refusal
    if refusal is None:
        return
    yield _head(
        f"What the operator reads in its own error, at write {refusal.write}, "
        f"after {refusal.after_s:.1f} s"
    )
    message = refusal.message.replace("…", _more(plain=plain))
    yield Panel(Text(message), title=refusal.service, title_align="left", style="yellow")


def _relatives(played: Demo, *, plain: bool) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    one, two, twin = played.collection_authorized, played.collection_admitted, played.twin
    collections = (
        "The same by deletecollection without a selector, one a namespace: "
        f"{_lost(one)} with the authorizer, {_lost(two)} without it."
    )
    benign = (
        f"Its benign twin: {played.twin_balancer} is being deleted, and the operator removes "
        f"its {twin.population} Services: {twin.refused} refusals."
    )
    rows = [(one.lost == two.lost == 0, collections), (twin.refused == 0, benign)]
    for good, words in rows:
        mark = ("ok" if good else "!!") if plain else ("✓" if good else "✗")
        table.add_row(Text(mark, KEPT if good else LOST), words)
    return table


def _lost(variant: Variant) -> str:
    return f"{variant.lost} of {variant.population:,} lost"


def _next() -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for command, words in (
        ("suture demo --lab", "the same on a real control plane, on this machine"),
        ("suture scenario list", "other incidents and their twins; write your own"),
        ("suture install --help", "put it on a cluster; at first it only observes"),
        ("suture bench decision", "how long decisions take here"),
    ):
        table.add_row(command, words)
    return table


# ---- the same on a real control plane


def show_lab(played: LabDemo, console: Console) -> None:
    """Write both runs on a real control plane side by side."""
    without, guarded = played.without, played.guarded
    parts: list[RenderableType] = [
        _head(f"{without.scenario}, on a real control plane"),
        _lab_table(without, guarded),
    ]
    for report in (without, guarded):
        parts += [Text(f"void: {report.void_reason}", LOST)] if report.void_reason else []
    if guarded.reasons:
        parts.append(
            _head(f"What the operator reads, first at write {guarded.first_refused_write}")
        )
        parts.append(Panel(Text(guarded.reasons[0]), style="yellow"))
    console.print(Group(*parts), width=min(console.width, WIDTH), highlight=False)


def _lab_table(without: Report, guarded: Report) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("without Suture", justify="right", header_style=LOST)
    table.add_column("with Suture", justify="right", header_style=KEPT)
    both = (without, guarded)
    table.add_row("Objects lost", *(_of(one.harm.lost, one.harm.population) for one in both))
    for name in without.harm.probes | guarded.harm.probes:
        words = name.replace("_", " ").capitalize()
        table.add_row(words, *(f"{one.harm.probes.get(name, 0):,}" for one in both))
    table.add_row("Writes refused", *(_of(one.refused, one.writes) for one in both))
    table.add_row("Verdict", *(one.verdict for one in both))
    table.add_row("Seconds", *(f"{one.duration_s:.0f}" for one in both))
    return table
