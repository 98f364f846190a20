"""`suture replay`: what would have been refused last month, with nothing installed anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from suture.cli.terminal import Console
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.adapters.auditlogs import Say

EXIT_REFUSALS = 12


def replay(
    *logs: Annotated[str, cyclopts.Parameter(allow_leading_hyphen=True)],
    snapshot: Annotated[
        str | None, cyclopts.Parameter(name=["--snapshot", "--from"], allow_leading_hyphen=True)
    ] = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
    policies: Annotated[tuple[Path, ...], cyclopts.Parameter(name="--policies")] = (),
    pack: bool = True,
    html: Path | None = None,
    output: Annotated[
        Literal["table", "json"], cyclopts.Parameter(name=["--output", "-o"])
    ] = "table",
) -> int:
    """Judge recorded writes: what would have been refused here, for whom, when and why.

    Nothing is installed anywhere, and nothing is written to any cluster. The snapshot may be newer
    than the log: the model is rewound to the log's beginning first, and the report says how many
    verdicts rest on objects that were put back.
    Exit status: 0 nothing would have been refused, 12 something would have, 2 bad input, 3 the
    cluster cannot be reached. Lines that are no audit events are counted and located; the rest is
    judged.

    Parameters
    ----------
    logs:
        Audit logs: JSON lines, also gzip or zstd, folders of them, or `-` for stdin. Those of
        several API servers are merged by time. At level Metadata deletes are judged, at Request
        and RequestResponse updates too.
    snapshot:
        What the cluster is or was like: a snapshot, manifests, `kubectl get -A -o json` output, or
        `-` for stdin; without it the live cluster is listed once.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    policies:
        Files or folders of policies to judge by, beside the safety pack.
    pack:
        Whether the safety pack is in force; `--no-pack` judges by --policies alone.
    html:
        Write the report to this file, as a page with a timeline; it needs no network.
    output:
        `table` for people, `json` for programs: every refusal one by one.
    """
    from suture.adapters.auditlogs import Recorded, files_of
    from suture.adapters.files import load_policies
    from suture.adapters.memory import NoSignals
    from suture.adapters.snapshots import quiet_collector
    from suture.app.auditreplay import Replayer
    from suture.cli.modelsources import load
    from suture.cli.replayview import Report, show

    if not logs:
        raise InputError("no audit log named: give files, folders, or `-`; see --help")
    files = files_of(logs)
    sizes = sum(one.stat().st_size for one in files)
    loaded = load(snapshot, kubeconfig, context)
    replayer = Replayer(loaded.graph, load_policies(policies, pack=pack), NoSignals())
    began = time.perf_counter()
    recorded = Recorded(files)
    with quiet_collector(), _progress("finding how it began", sizes) as say:
        for write in recorded.first(say):
            replayer.survey(write)
    replayer.begin()
    judging = time.perf_counter()
    with quiet_collector(), _progress("judging", sizes) as say:
        for write in recorded.again(say):
            replayer.judge(write)
    ended = time.perf_counter()
    report = Report(
        source=loaded.where,
        taken=loaded.taken,
        files=tuple(map(str, files)),
        tally=recorded.tally,
        found=replayer.found,
        seconds=ended - began,
        judging_s=ended - judging,
    )
    show(report, output, html)
    return EXIT_REFUSALS if replayer.found.refused else 0


@contextmanager
def _progress(what: str, size_bytes: int) -> Iterator[Say]:
    """Show how far the logs were read and how fast, for people only; it leaves no trace."""
    console = Console(stderr=True)
    began = time.perf_counter()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        # Compressed files are smaller than what is read of them: the bar is of their lines then.
        task = bar.add_task(what, total=size_bytes or None, rate="")

        def say(events: int, done_bytes: int) -> None:
            rate = events / max(time.perf_counter() - began, 1e-9)
            bar.update(
                task,
                completed=done_bytes,
                total=max(size_bytes, done_bytes),
                rate=f"{events:,} events, {rate:,.0f}/s",
            )

        yield say
