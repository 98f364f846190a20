"""`suture scenario`: written worlds with writes, run and measured; and the format of their files.

Thin: everything is done by `suture.lab.scenarios`; here are words, tables and exit statuses.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts
from rich.markup import escape

from suture.cli.terminal import Console, plain
from suture.errors import InputError

if TYPE_CHECKING:
    from suture.lab.plane import Plane
    from suture.lab.scenarios.guard import Guard
    from suture.lab.scenarios.report import Report

app = cyclopts.App(
    name="scenario",
    help="Run written incidents and ordinary work, offline or on a lab, and count the harm.",
    help_epilogue=(
        "Exit status of `run`: 0 it came out as its file expects, 1 it did not, 2 the file or an "
        "option cannot be read, 3 the run is void or something needed is away."
    ),
)

Output = Literal["table", "json"]
GuardMode = Literal["off", "observe", "enforce"]

EXIT_UNEXPECTED = 1
EXIT_VOID = 3


@app.command
def run(
    file: str,
    /,
    *,
    lab: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    lab_name: str | None = None,
    guard: GuardMode = "enforce",
    authorizer: bool = True,
    policies: Annotated[list[Path] | None, cyclopts.Parameter(negative=())] = None,
    speed: float = 1.0,
    keep: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    reuse: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    record: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    quiet: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    output: Output = "table",
) -> int:
    """Run the scenario FILE: build its world, write as its actors, count the harm.

    FILE is a path, or the name of a bundled scenario: see `suture scenario list`. With
    `--guard enforce` the outcome is compared with the file's `expect`; without enforcement an
    incident must do its harm, and what is benign must come to its end.

    Parameters
    ----------
    lab:
        Run on a real control plane: the one called `default` where it runs, else one of its own
        that ends with the run. Without it the scenario is judged offline: on a cluster in memory,
        where controllers are predicted, or played from a recording where one lies beside FILE.
    lab_name:
        Run on the lab of this name, which `suture lab up --name` started.
    guard:
        Whether Suture watches, and whether it refuses.
    authorizer:
        Whether the API server asks Suture at authorization too.
    policies:
        Files or folders of templates and constraints; without any, the safety pack.
    speed:
        Divide all paces and the windows of budgets by this; deadlines stay.
    keep:
        Leave the world standing afterwards, to look at it.
    reuse:
        Use a world that `--keep` left, if it is of the same manifests; what it lacks is put back.
    record:
        Keep what real controllers did in a file beside FILE, for playing it again offline.
    quiet:
        Do not say on standard error what is being done.
    output:
        A table for people or JSON for programs.
    """
    from suture.lab.scenarios.reading import find, load

    if not speed > 0:
        raise InputError(f"`--speed {speed:g}` must be more than 0")
    loaded = load(find(file))
    if not lab and lab_name is None:
        if record or keep or reuse:
            raise InputError("`--record`, `--keep` and `--reuse` need a lab; add `--lab`")
        from suture.lab.scenarios.offline.place import judge_offline

        report = judge_offline(
            loaded,
            guard,
            authorizer=authorizer,
            policies=policies or (),
            speed=speed,
            say=_say if not quiet else lambda _: None,
        )
        return _told(report, output)
    with _plane(lab_name) as plane:
        from suture.lab.scenarios.place import Lab
        from suture.lab.scenarios.recording import Recorder, beside, header_of, write
        from suture.lab.scenarios.run import Runner

        recorder = Recorder() if record else None
        runner = Runner(
            loaded,
            Lab(plane, recorder),
            _guard(plane, guard, speed=speed, authorizer=authorizer, policies=policies or ()),
            speed=speed,
            keep=keep,
            reuse=reuse,
            say=_say if not quiet else lambda _: None,
        )
        report = asyncio.run(runner.run())
        if recorder is not None and report.verdict != "void":
            version = plane.folder.read_spec().kubernetes_version
            path = beside(loaded.path, guard)
            size = write(path, recorder.recording(header_of(loaded, guard, version), runner.writes))
            _say(f"recorded in {path}, {size} bytes")
    return _told(report, output)


@app.command
def check(
    *files: str,
    policies: Annotated[list[Path] | None, cyclopts.Parameter(negative=())] = None,
) -> int:
    """Read scenario FILES and everything that they name, and run nothing.

    Exit status: 0 all can be read, 2 one cannot; each error has file, line and field.

    Parameters
    ----------
    policies:
        Files or folders of the policies that `expect.stopped_by` may name; without any, those of
        the safety pack.
    """
    from suture.adapters.files import load_policies
    from suture.lab.scenarios.reading import check_policies, find, load
    from suture.lab.scenarios.refusals import BESIDE_POLICIES

    names = {one.name for one in load_policies(policies or (), pack=not policies).constraints}
    known = names.union(BESIDE_POLICIES)
    status = 0
    for name in files:
        try:
            loaded = load(find(name))
            check_policies(loaded, known)
        except InputError as error:
            _say(f"error: {error}")
            status = 2
        else:
            scenario = loaded.scenario
            print(
                f"{loaded.path}: {scenario.kind}, {len(loaded.objects)} objects, "
                f"{len(scenario.actors)} actors, {len(scenario.steps)} steps"
            )
    return status


@app.command(name="list")
def list_(*, output: Output = "table") -> int:
    """List the bundled scenarios."""
    from suture.lab.scenarios.reading import BUNDLED, load

    found = [load(path) for path in sorted(BUNDLED.glob("*.yaml"))]
    if output == "json":
        print(
            json.dumps(
                [
                    {
                        "name": one.name,
                        "kind": one.scenario.kind,
                        "title": one.scenario.title,
                        "file": str(one.path),
                    }
                    for one in found
                ]
            )
        )
        return 0
    rows = [(one.name, one.scenario.kind, one.scenario.title) for one in found]
    _table(("scenario", "kind", "what happens"), rows)
    return 0


@app.command
def schema() -> int:
    """Print the JSON Schema of scenario files (draft 2020-12)."""
    from suture.lab.scenarios.schema import schema as made
    from suture.lab.scenarios.shapes import SHAPES

    print(json.dumps(made(SHAPES), indent=2))
    return 0


@app.command
def shapes(*, output: Output = "table") -> int:
    """List the populations that a scenario's `cluster.shapes` may use, with their parameters."""
    from suture.lab.scenarios.shapes import SHAPES
    from suture.lab.scenarios.shapes.help import described

    found = [described(name, shape) for name, shape in SHAPES.items()]
    if output == "json":
        import msgspec

        print(msgspec.json.encode(found).decode())
        return 0
    console = Console(soft_wrap=True)
    for one in found:
        console.print(f"[bold]{one.name}[/bold]  {one.help}", highlight=False)
        for parameter in one.parameters:
            words = f"    {parameter.name}: {parameter.type} = {parameter.default}"
            console.print(words, highlight=False, markup=False)
            if parameter.help:
                console.print(f"        {parameter.help}", highlight=False, markup=False)
    return 0


@app.command
def probes(*, output: Output = "table") -> int:
    """List the probes that a scenario's `harm.probes` may name, and what each counts."""
    from suture.lab.scenarios.probes import PROBES

    if output == "json":
        print(json.dumps({name: probe.help for name, probe in PROBES.items()}))
        return 0
    _table(("probe", "counts"), [(name, probe.help) for name, probe in PROBES.items()])
    return 0


# ------------------------------------------------------------------------------- behind the verbs


@contextlib.contextmanager
def _plane(name: str | None) -> Iterator[Plane]:
    """Return the lab of that name, or the default one where it runs, or one for this run."""
    from suture.lab.folder import named_folder
    from suture.lab.plane import Plane

    if name is not None:
        yield Plane.attach(name)
        return
    if named_folder("default").spec.exists():
        standing = Plane.attach()
        if standing.is_running():
            yield standing
            return
    with Plane.up("scenario", report=_progress) as plane:
        yield plane


def _guard(
    plane: Plane, mode: GuardMode, *, speed: float, authorizer: bool, policies: Sequence[Path]
) -> Guard:
    from suture.lab.scenarios.guard import NoGuard
    from suture.lab.scenarios.suture import SutureGuard

    if mode == "off":
        return NoGuard()
    return SutureGuard(plane, mode, speed=speed, authorizer=authorizer, policies=policies)


def _say(words: str) -> None:
    print(plain(words), file=sys.stderr, flush=True)


def _progress(progress: Any) -> None:
    _say(str(progress))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    table = Table(*head, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table)


def _told(report: Report, output: Output) -> int:
    """Show a report, and return the exit status that it means."""
    _show(report, output)
    if report.verdict == "void":
        return EXIT_VOID
    return 0 if report.expected else EXIT_UNEXPECTED


def _show(report: Report, output: Output) -> None:
    if output == "json":
        import msgspec

        print(msgspec.json.encode(report).decode())
        return
    console = Console(soft_wrap=True)
    colour = "green" if report.expected else "red"
    expected = "as expected" if report.expected else "not as expected"
    console.print(
        f"[bold]{escape(report.scenario)}[/bold], guard {report.guard}: "
        f"[{colour}]{report.verdict}[/{colour}] ({expected}; "
        f"{escape(f'{report.place}, controllers: {report.controllers}')})",
        highlight=False,
    )
    if report.unexpected and not report.void_reason:
        console.print(f"  not as expected: {report.unexpected}", highlight=False, markup=False)
    if report.void_reason:
        console.print(f"  void: {report.void_reason}", highlight=False, markup=False)
    first = report.first_refused_write
    refused = f"{report.refused} refused" + (f", the first at write {first}" if first else "")
    console.print(f"  {report.writes} writes, {refused}", highlight=False)
    bound = "" if report.bound is None else f"; the policy in force allows {report.bound}"
    for kind, loss in report.harm.by_kind.items():
        named = f" ({', '.join(loss.examples[:3])}, …)" if loss.examples else ""
        console.print(
            f"  {kind}: {loss.lost} of {loss.population} lost{bound}{named}",
            highlight=False,
            markup=False,
        )
    for name, found in report.harm.probes.items():
        console.print(f"  {name}: {found}", highlight=False, markup=False)
    refusals = [
        f"step {one.step} ({one.by} {one.verb} {one.resource}), {one.refused} refused: {reason}"
        for one in report.steps
        for reason in one.reasons[:1]
    ]
    for words in (*refusals[:5], *report.unreached[:3], *report.idle[:3], *report.notes[:5]):
        console.print(f"  {words}", highlight=False, markup=False)
    if report.added_latency_ms is not None:
        added = report.added_latency_ms
        console.print(
            f"  added latency: {added.median:.2f} ms median, {added.p99:.2f} ms p99",
            highlight=False,
        )
    spent = ", ".join(f"{name} {span:.0f} s" for name, span in report.phases_s.items())
    console.print(f"  {report.duration_s:.0f} s: {spent}", highlight=False)
