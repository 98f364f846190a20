"""Where `suture model` gets its graph: a file, a folder, or the live cluster, with progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from suture.adapters.snapshots import clock, quiet_collector
from suture.adapters.sources import Opened, open_source
from suture.app.sources import Gathered
from suture.cli.options import CLUSTER
from suture.cli.terminal import Console
from suture.model.graph import Graph

if TYPE_CHECKING:
    from suture.adapters.kubeconfig import Login
    from suture.app.listing import Progress as Listing

Say = Callable[["Listing"], None]

MANY = 50_000
"""LIMIT: objects from which a live list takes so long that a snapshot is worth its name."""

NOTES = 5
"""LIMIT: notes shown; the rest is counted."""


class Loaded(msgspec.Struct, frozen=True):
    """A graph, where it is from, and when the cluster looked like that (None: files do not say)."""

    graph: Graph
    where: str
    taken: datetime | None
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """Where and when, as lines of a title."""
        when = f", {stamp(self.taken)}" if self.taken is not None else ""
        return (f"{self.where}{when}",)


def stamp(moment: datetime) -> str:
    """Return a time as people write it, in UTC."""
    return f"{moment.astimezone(UTC):%-d %B %Y, %H:%M} UTC"


def load(source: str | None, kubeconfig: Path | None, context: str | None) -> Loaded:
    """Return the graph of a source, or of the live cluster where none is named.

    What was left out, or rests on a guess, is said on standard error.
    """
    began = time.perf_counter()
    if source in (None, CLUSTER):
        from suture.adapters.kubeconfig import Login

        login = Login.from_kubeconfig(kubeconfig, context)
        listed = _listed(login)
        found = Loaded(
            listed.graph, login.name or login.server, datetime.now(UTC), 0.0, listed.notes
        )
    else:
        opened = _opened(source)
        found = Loaded(opened.graph, _where(source, opened), _taken(opened), 0.0, opened.notes)
    found = msgspec.structs.replace(found, seconds=time.perf_counter() - began)
    _tell(found.notes)
    return found


def _where(source: str, opened: Opened) -> str:
    if opened.header is None:
        return "standard input" if source == "-" else source
    name = Path(source).name
    return f"{opened.header.cluster}, from {name}" if opened.header.cluster else name


def _taken(opened: Opened) -> datetime | None:
    if opened.header is None:
        return None
    return datetime.fromtimestamp(opened.header.taken_s, UTC)


def _opened(source: str) -> Opened:
    with _progress() as bar:
        task = bar.add_task(f"reading {escape(source)}", total=None)

        def say(count: int, _place: str) -> None:
            bar.update(task, completed=count)

        return open_source(source, say=say)


def _listed(login: Login) -> Gathered:
    with _progress() as bar:
        task = bar.add_task("listing the cluster", total=None)
        warned = False

        def say(at: Listing) -> None:
            nonlocal warned
            done = at.kinds >= at.of_kinds
            bar.update(
                task,
                description=f"listing {escape(at.listing)}" if not done else "listed",
                completed=at.objects,
                total=max(at.expected, at.objects) or None,
            )
            if at.expected > MANY and not warned:
                warned = True
                bar.console.print(
                    f"{at.expected:,} objects take a while: `suture snapshot save FILE` once, "
                    "then `--from FILE`",
                    highlight=False,
                )

        return list_cluster(login, say)


def list_cluster(login: Login, say: Say) -> Gathered:
    """Return a graph of all that a cluster has, listed once; `say` is told how far it is."""
    # WHY here: a client takes 0.2 s to load, which a file does not need.
    from suture.adapters.kube import KubeClient
    from suture.app.listing import Lister

    async def run() -> Gathered:
        async with KubeClient(login) as client:
            return await Lister(client, clock, say).run()

    with quiet_collector():
        return asyncio.run(run())


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show progress on standard error, for people only; it leaves no trace."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("objects"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        yield bar


def _tell(notes: tuple[str, ...]) -> None:
    console = Console(stderr=True, soft_wrap=True)
    for note in notes[:NOTES]:
        console.print(Text(note, "yellow"))
    if len(notes) > NOTES:
        console.print(Text(f"and {len(notes) - NOTES:,} more notes", "yellow"))
