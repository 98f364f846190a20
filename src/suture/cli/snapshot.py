"""`suture snapshot`: a cluster's model as a file, taken, looked at, and tried."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import cyclopts
import msgspec
from rich.markup import escape
from rich.table import Table

from suture.cli.options import CLUSTER, From
from suture.cli.terminal import Console, plain

if TYPE_CHECKING:
    from suture.adapters.sources import Opened
    from suture.app.listing import Progress
    from suture.wire.snapshot import Header

app = cyclopts.App(
    name="snapshot", help="Save a cluster's model to a file, look into it, load it again."
)

SHOWN = 20
"""LIMIT: notes and kinds shown to people; JSON has them all."""

NAMED = 5
"""LIMIT: kinds named of those that are unknown for one reason."""

SAY_EVERY_S = 5.0
"""LIMIT: between two lines of progress where nobody looks at a terminal."""

Output = Literal["table", "json"]


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What `save --output json` says; `header` is the file's own, without its sections."""

    file: str
    size_bytes: int
    seconds: float
    whole: bool
    header: Header


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What `load --output json` says; times are wall clock, `resident_bytes` what loading added."""

    file: str
    size_bytes: int
    raw_bytes: int
    objects: int
    seconds: float
    resident_bytes: int
    bytes_per_object: float


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What `show --output json` says."""

    file: str
    size_bytes: int
    age_s: float
    header: Header


@app.command
def save(
    file: Path,
    /,
    *,
    source: From = CLUSTER,
    kubeconfig: Path | None = None,
    context: str | None = None,
    name: str = "",
    portable: bool = False,
    output: Output = "table",
) -> int:
    """Save the model of a cluster, or of manifests, to FILE, in place of what is there.

    A cluster is listed once, read only; of Secrets the metadata alone is asked for, and from
    files their values are dropped as they are read. The file is readable by its owner only.

    Exit status: 0 saved, 1 saved but not everything could be read (what not is said), 2 the
    source makes no sense, 3 the cluster is away.

    Parameters
    ----------
    file:
        Where to.
    source:
        `cluster`; a folder of manifests; a file of manifests, of `kubectl get -A -o json` output,
        or of an earlier snapshot; `-` for standard input.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    name:
        What to call the cluster; the context's name unless given.
    portable:
        Write every object by itself, for other versions of Suture to read too: a smaller file
        that takes a hundred times as long to load.
    output:
        `table` for people, `json` for programs.
    """
    from suture.adapters.snapshots import save_graph

    began = time.monotonic()
    if source in (None, CLUSTER):
        opened, called = _listed(kubeconfig, context)
        name = name or called
    else:
        opened = _opened(source)
        if opened.header is not None:
            name = name or opened.header.cluster
    header = save_graph(
        opened.graph,
        file,
        source=opened.kind,
        cluster=name,
        notes=opened.notes,
        layout="objects" if portable else "columns",
    )
    seconds = time.monotonic() - began
    size = file.stat().st_size
    if output == "json":
        told = msgspec.structs.replace(header, sections=())
        _print_json(
            Saved(file=str(file), size_bytes=size, seconds=seconds, whole=opened.whole, header=told)
        )
    else:
        console = Console(soft_wrap=True, highlight=False)
        console.print(
            f"{escape(str(file))}: [bold]{header.objects:,}[/] objects of "
            f"{sum(1 for kind in header.kinds if kind.objects)} kinds, {_size(size)}, "
            f"in {seconds:.1f} s"
        )
        _print_doubts(header, console)
    return 0 if opened.whole else 1


@app.command
def show(file: Path, /, *, output: Output = "table") -> int:
    """Show what FILE holds: of which cluster, when, how many of each kind, what is unknown.

    Reads its header only; `suture snapshot load` reads all of it.

    Exit status: 0, or 2 when it is no snapshot that can be read.

    Parameters
    ----------
    file:
        The snapshot.
    output:
        `table` for people, `json` for programs.
    """
    from suture.adapters.snapshots import read_snapshot_header

    header = read_snapshot_header(file)
    size, age_s = file.stat().st_size, time.time() - header.taken_s
    if output == "json":
        _print_json(Shown(file=str(file), size_bytes=size, age_s=age_s, header=header))
        return 0
    console = Console(soft_wrap=True, highlight=False)
    about = Table.grid(padding=(0, 2))
    about.add_row("cluster", escape(header.cluster) or "[dim]not named[/]")
    about.add_row("kube-system", escape(header.cluster_uid) or "[dim]not in it[/]")
    taken = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(header.taken_s))
    about.add_row("taken", f"{taken}, {_age(age_s)} ago, from {escape(header.source) or 'memory'}")
    about.add_row("written by", f"Suture {escape(header.suture)}")
    about.add_row(
        "size",
        f"{_size(size)} for {_size(header.raw_bytes)} in {len(header.sections)} sections, "
        f"layout {escape(header.layout)} {header.layout_version}",
    )
    about.add_row("objects", f"{header.objects:,}")
    console.print(about)
    console.print()
    _print_kinds(header, console)
    _print_doubts(header, console)
    return 0


@app.command
def load(file: Path, /, *, output: Output = "table") -> int:
    """Load FILE whole, check every byte of it, and say how long that took and what it weighs.

    Exit status: 0 all of it is sound, 2 it is damaged, cut off, newer, or no snapshot.

    Parameters
    ----------
    file:
        The snapshot.
    output:
        `table` for people, `json` for programs.
    """
    from suture.adapters.snapshots import open_snapshot
    from suture.wiring import resident_bytes

    before, began = resident_bytes(), time.perf_counter()
    header, graph = open_snapshot(file)
    seconds, resident = time.perf_counter() - began, resident_bytes() - before
    found = Loaded(
        file=str(file),
        size_bytes=file.stat().st_size,
        raw_bytes=header.raw_bytes,
        objects=len(graph),
        seconds=seconds,
        resident_bytes=resident,
        bytes_per_object=resident / max(len(graph), 1),
    )
    if output == "json":
        _print_json(found)
        return 0
    Console(soft_wrap=True, highlight=False).print(
        f"{escape(str(file))}: sound; [bold]{found.objects:,}[/] objects in {seconds:.2f} s, "
        f"{_size(resident)} resident, {found.bytes_per_object:.0f} bytes an object"
    )
    return 0


# ---- where it comes from


def _listed(kubeconfig: Path | None, context: str | None) -> tuple[Opened, str]:
    """List a cluster; return it, and what its context is called."""
    from suture.adapters.kubeconfig import Login
    from suture.adapters.sources import Opened
    from suture.cli.modelsources import list_cluster

    login = Login.from_kubeconfig(kubeconfig, context)
    with _progress() as say:
        found = list_cluster(login, _words(say))
    return Opened(found.graph, CLUSTER, found.notes, found.whole), login.name


def _opened(source: str) -> Opened:
    """Read a file, a folder or standard input."""
    from suture.adapters.sources import open_source

    with _progress() as say:
        return open_source(source, say=lambda count, place: say(f"{count:,} objects, {place}"))


def _words(say: Callable[[str], None]) -> Callable[[Progress], None]:
    """Put the progress of a list into words, with an estimate of what is left."""
    began = time.monotonic()

    def told(progress: Progress) -> None:
        spent = time.monotonic() - began
        left = progress.expected - progress.objects
        words = (
            f"{progress.kinds}/{progress.of_kinds} kinds, {progress.objects:,} objects, "
            f"{_size(progress.size_bytes)}"
        )
        if left > 0 and progress.objects:
            words += f", {left:,} to go, {_age(spent * left / progress.objects)} left"
        say(f"{words}  {progress.listing}")

    return told


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show progress on standard error: live for people, a line now and then for logs."""
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        with console.status("reading") as live:
            yield lambda words: live.update(escape(words))
        return
    last = time.monotonic()

    def line(words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SAY_EVERY_S:
            last = time.monotonic()
            print(plain(words), file=sys.stderr, flush=True)

    yield line


# ---- how it is shown


def _print_json(said: msgspec.Struct) -> None:
    print(msgspec.json.encode(said).decode())


def _print_kinds(header: Header, console: Console) -> None:
    held = sorted((kind for kind in header.kinds if kind.objects), key=lambda one: -one.objects)
    table = Table("kind", box=None, pad_edge=False)
    table.add_column("objects", justify="right")
    table.add_column("at version")
    for kind in held[:SHOWN]:
        table.add_row(
            escape(kind.resource),
            f"{kind.objects:,}",
            escape(kind.resource_version) or "[dim]none[/]",
        )
    console.print(table)
    rest = held[SHOWN:]
    if rest:
        count = sum(kind.objects for kind in rest)
        console.print(f"[dim]and {len(rest)} kinds more, {count:,} objects[/]")


def _print_doubts(header: Header, console: Console) -> None:
    """Say what could not be read or known; all of it is in the JSON."""
    for note in header.notes[:SHOWN]:
        console.print(f"[yellow]note[/]  {escape(note)}")
    if len(header.notes) > SHOWN:
        more = len(header.notes) - SHOWN
        console.print(f"[dim]and {more:,} notes more: `suture snapshot show --output json`[/]")
    by_reason: dict[str, list[str]] = {}
    for kind, why in header.unknown.items():
        by_reason.setdefault(_of_any(kind, why), []).append(kind)
    for reason, kinds in by_reason.items():
        why = header.unknown[kinds[0]] if len(kinds) == 1 else reason
        more_kinds = f" and {len(kinds) - NAMED} more" if len(kinds) > NAMED else ""
        words = f"{', '.join(kinds[:NAMED])}{more_kinds}: {why}"
        console.print(f"[yellow]unknown[/]  {escape(words)}")


def _of_any(kind: str, why: str) -> str:
    """Return a reason without the kind that an API server names in it when it refuses a list."""
    plural, _, group = kind.partition(".")
    why = why.replace(f"{kind} is", "… is").replace(f'resource "{plural}"', 'resource "…"')
    return why.replace(f'group "{group}"', 'group "…"')


def _size(size_bytes: int) -> str:
    if size_bytes < 10_000_000:
        return f"{size_bytes / 1e3:,.0f} kB"
    return f"{size_bytes / 1e6:,.0f} MB"


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
