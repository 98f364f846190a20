"""`suture generate`: clusters that are made, of any size, into files, a lab, or a server.

Thin: `suture.lab.clusters` makes them and `suture.lab.replay` serves them; here are flags,
progress, and what is said at the end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts
import msgspec
from rich.markup import escape

from suture.cli.terminal import Console
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.lab.clusters import Cluster
    from suture.lab.clusters.settling import Settled
    from suture.model.names import Resource

Told = Callable[["Resource", int, int], None]

Scale = Literal["tiny", "S", "M", "L"]
Output = Literal["table", "json"]

LAB_SCALES = ("tiny", "S")
"""What a lab can hold: 30,000 pods are an hour's work for its scheduler, more is too much."""

SAY_EVERY_S = 5.0
"""LIMIT: between two lines of progress where nobody looks at a terminal."""

POLL_S = 1.0


class Made(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `--output json` says."""

    scale: str
    seed: int
    objects: int
    size_bytes: int
    seconds: float
    kinds: dict[str, int]
    pages: str = ""
    ndjson: str = ""
    snapshot: str = ""
    lab: str = ""
    settled: Settled | None = None


class TargetError(InputError):
    """Where a cluster is to go was not said, or makes no sense."""

    code = "generate_target"


def generate(
    *,
    scale: Scale,
    seed: int | None = None,
    pages: Path | None = None,
    ndjson: Path | None = None,
    snapshot: Path | None = None,
    lab: str | None = None,
    serve: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    output: Output = "table",
) -> int:
    """Make a cluster that is like a real one: the same for the same scale and seed, everywhere.

    Exit status: 0 made, 1 the lab refused some objects, 2 the input makes no sense, 3 the disk is
    too small or something needed is away.

    Parameters
    ----------
    scale:
        tiny: 24 nodes, 900 pods. S: 2,000 nodes, 30,000 pods. M: 5,000 nodes, 150,000 pods. L:
        17,000 nodes, 620,000 pods, 2 million objects in all, 10 GB as pages.
    seed:
        Make another cluster of the same size.
    pages:
        Write list pages into this new folder as an API server gives them, with the discovery.
    ndjson:
        Write a file a kind into this new folder, an object a line.
    snapshot:
        Write a snapshot to this new file, which `--from` of other commands takes.
    lab:
        Write it into this running lab (see `suture lab up`), whose controllers bring it to life;
        tiny and S only. What is there already is left as it is: run it again to go on.
    serve:
        Serve it as an API server would, over HTTPS on this machine, until Ctrl-C. Its pages are
        made once and kept in the cache.
    output:
        A table for people or JSON for programs.
    """
    if not (pages or ndjson or snapshot or lab or serve):
        raise TargetError("say where it is to go: --pages, --ndjson, --snapshot, --lab or --serve")
    if serve and (pages or ndjson or snapshot or lab):
        raise TargetError("--serve goes alone; it keeps its pages in the cache")
    if lab and scale not in LAB_SCALES:
        raise TargetError(f"a lab cannot hold scale {scale}; take one of {', '.join(LAB_SCALES)}")
    if snapshot is not None and snapshot.exists():
        raise TargetError(f"`{snapshot}` exists already; remove it or name another")
    from suture.lab.clusters.cluster import SEED

    chosen = SEED if seed is None else seed
    if serve:
        return _serve(scale, chosen, output)
    made = _make(scale, chosen, pages=pages, ndjson=ndjson, snapshot=snapshot, lab=lab)
    _show(made, output)
    return 1 if made.settled is not None and made.settled.refused else 0


def _make(
    scale: Scale,
    seed: int,
    *,
    pages: Path | None,
    ndjson: Path | None,
    snapshot: Path | None,
    lab: str | None,
) -> Made:
    from suture.lab.clusters import Cluster
    from suture.lab.clusters.ndjson import write_ndjson
    from suture.lab.clusters.pages import write_pages
    from suture.lab.clusters.store import size_of

    began, cluster = time.monotonic(), Cluster(size_of(scale), seed=seed)
    counts: dict[str, int] = {}
    size_bytes, settled = 0, None
    with _progress(cluster) as told:
        if pages is not None:
            index = write_pages(cluster, pages, told=told)
            counts = {str(one.resource): one.count for one in index.kinds}
            size_bytes += index.size_bytes
        if ndjson is not None:
            files = write_ndjson(cluster, ndjson, told=told)
            counts = {str(resource): one.count for resource, one in files.items()}
            size_bytes += sum(one.size_bytes for one in files.values())
        if snapshot is not None:
            counts = _save(cluster, snapshot, scale, told)
            size_bytes += snapshot.stat().st_size
        if lab is not None:
            settled = _settle(cluster, lab, told)
            counts = counts or _sum(settled.created, settled.there)
    return Made(
        scale=scale,
        seed=seed,
        objects=sum(counts.values()),
        size_bytes=size_bytes,
        seconds=round(time.monotonic() - began, 1),
        kinds=counts,
        pages=str(pages or ""),
        ndjson=str(ndjson or ""),
        snapshot=str(snapshot or ""),
        lab=lab or "",
        settled=settled,
    )


def _save(cluster: Cluster, path: Path, scale: str, told: Told) -> dict[str, int]:
    from suture.adapters.snapshots import clock, save_graph

    now = clock()
    graph = cluster.graph(now, on_kind=lambda resource: told(resource, 0, 0))
    save_graph(
        graph, path, now=now, source="suture generate", cluster=f"made {scale} {cluster.seed}"
    )
    return {str(resource): graph.count(resource) for resource in cluster.kinds}


def _settle(cluster: Cluster, lab: str, told: Told) -> Settled:
    import asyncio

    from suture.adapters.kube import KubeClient
    from suture.lab.clusters.settling import Settler
    from suture.lab.plane import Plane

    kubeconfig = Plane.attach(lab).kubeconfig()

    async def run() -> Settled:
        async with KubeClient.from_kubeconfig(kubeconfig) as client:
            told_of = lambda resource, count: told(resource, count, 0)  # noqa: E731 two words
            return await Settler(cluster, client, told_of).settle()

    return asyncio.run(run())


def _sum(*parts: dict[str, int]) -> dict[str, int]:
    return {key: sum(one.get(key, 0) for one in parts) for part in parts for key in part}


def _serve(scale: Scale, seed: int, output: Output) -> int:
    from suture.lab.clusters import Cluster
    from suture.lab.clusters.store import cluster_pages, size_of
    from suture.lab.replay import ReplayServer

    with _progress(Cluster(size_of(scale), seed=seed)) as told:
        folder = cluster_pages(scale, seed, told=told)
    with ReplayServer(folder=folder, idle_s=None) as server:
        said = {
            "url": server.url,
            "kubeconfig": str(server.kubeconfig),
            "pid": server.pid,
            "objects": server.index.objects,
        }
        if output == "json":
            print(msgspec.json.encode(said).decode(), flush=True)
        else:
            print(f"{server.index.objects:,} objects are served at {server.url}, until Ctrl-C")
            print(f"export KUBECONFIG={server.kubeconfig}", flush=True)
        try:
            while server.running:
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            return 0
    return 1


@contextmanager
def _progress(cluster: Cluster) -> Iterator[Told]:
    """Show on standard error how far it is: a bar for people, a line now and then for logs."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    kinds = list(cluster.kinds)
    if not console.is_terminal:
        yield _lines(len(kinds))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("{task.fields[now]}"), console=console) as bar:
        task = bar.add_task("kinds", total=len(kinds), now="")

        def told(resource: Resource, count: int, _size_bytes: int) -> None:
            bar.update(task, completed=kinds.index(resource), now=f"{resource}: {count:,}")

        yield told
        bar.update(task, completed=len(kinds), now="")


def _lines(kinds: int) -> Told:
    last, seen = time.monotonic(), set[str]()

    def told(resource: Resource, count: int, _size_bytes: int) -> None:
        nonlocal last
        seen.add(str(resource))
        if time.monotonic() - last >= SAY_EVERY_S:
            last = time.monotonic()
            words = f"kind {len(seen)} of {kinds}, {resource}: {count:,}"
            print(words, file=sys.stderr, flush=True)

    return told


def _show(made: Made, output: Output) -> None:
    if output == "json":
        print(msgspec.json.encode(made).decode(), flush=True)
        return
    from rich.table import Table

    console = Console()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"scale {made.scale}, seed {made.seed}")
    table.add_column("objects", justify="right")
    for kind, count in sorted(made.kinds.items(), key=lambda one: (-one[1], one[0])):
        table.add_row(kind, f"{count:,}")
    console.print(table)
    size = f", {made.size_bytes / 1e6:,.1f} MB" if made.size_bytes else ""
    console.print(f"{made.objects:,} objects{size}, in {made.seconds:,.0f} s", highlight=False)
    if made.settled is not None:
        _show_settled(console.print, made.settled)


def _show_settled(say: Callable[[str], None], settled: Settled) -> None:
    created, there = sum(settled.created.values()), sum(settled.there.values())
    say(f"{created:,} created, {there:,} were there, {settled.refused:,} refused")
    say(f"made by controllers: {', '.join(settled.left_to_controllers)}")
    say(f"left out, nobody would answer: {', '.join(settled.left_out)}")
    for problem in settled.problems:
        say(f"refused: {escape(problem)}")
