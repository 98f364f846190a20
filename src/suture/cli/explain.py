"""`suture explain`: why a write was refused, or would have been, from the journal's own words."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
import msgspec
from rich.markup import escape
from rich.table import Table

from suture.cli.terminal import Console
from suture.errors import InputError
from suture.journal.entry import Entry, read_decision_id


def explain(
    decision: str,
    /,
    *,
    journal: Annotated[Path | None, cyclopts.Parameter(env_var="SUTURE_JOURNAL")] = None,
    output: Literal["text", "json"] = "text",
) -> int:
    """Explain a DECISION: what was asked, what would have broken, which rule said so, what to do.

    The decision's id stands in the refusal that the operator read. On a cluster, ask where the
    journal is: `kubectl exec -n suture-system deploy/suture -- suture explain DECISION`.
    Exit status: 0 explained, 1 no such decision, 2 the input cannot be read.

    Parameters
    ----------
    decision:
        The id, as in `(decision 06g1w2k3m4n5p; ...)`.
    journal:
        The journal's file; else SUTURE_JOURNAL.
    output:
        `text` for people, `json` for programs.
    """
    if journal is None:
        raise InputError("no journal named: give --journal FILE or set SUTURE_JOURNAL")
    if not journal.exists():
        raise InputError(f"journal `{journal}` does not exist; is it the one that serve was given?")
    entries, followed = asyncio.run(_find(journal, read_decision_id(decision)))
    console = Console()
    if not entries:
        Console(stderr=True).print(
            f"no decision `{escape(decision)}` in {escape(str(journal))}; it may be too old"
        )
        return 1
    if output == "json":
        told = [
            {**msgspec.to_builtins(entry), "consequences": msgspec.to_builtins(followed)}
            for entry in entries
        ]
        print(msgspec.json.encode(told).decode())
        return 0
    for entry in entries:
        show(entry, console)
    for line in story(followed):
        console.print(line, highlight=False)
    return 0


async def _find(path: Path, decision: str) -> tuple[list[Entry], list[Entry]]:
    """Return a decision's lines, and those of what followed from it."""
    from suture.adapters.sqlite import SqliteJournal

    journal = SqliteJournal(path)
    try:
        return list(await journal.find(decision)), list(await journal.consequences(decision))
    finally:
        await journal.close()


def story(followed: Sequence[Entry]) -> Iterator[str]:
    """Yield what controllers did in consequence of a decision: how many of what, by whom."""
    if not followed:
        return
    counts: Counter[tuple[str, str]] = Counter(
        (entry.identity.rpartition(":")[2], str(entry.asked.key.resource)) for entry in followed
    )
    first, last = followed[0].utc_s, followed[-1].utc_s
    yield f"[bold]what followed[/]: {len(followed):,} removals within {last - first:.1f} s"
    for (controller, resource), count in counts.most_common():
        yield f"  {count:,} {escape(resource)} by {escape(controller)}"


def show(entry: Entry, console: Console) -> None:
    """Print one decision for people: the answer first, then what it rests on."""
    colour = {"deny": "red", "warn": "yellow", "allow": "green"}[entry.answer.value]
    asked = entry.asked
    part = f"/{asked.subresource}" if asked.subresource else ""
    console.print(f"[bold {colour}]{entry.answer.value}[/]  decision {escape(entry.decision)}")
    if entry.would != entry.answer:
        console.print(
            f"  in stage enforce: [red]{entry.would.value}[/] (stage is {escape(entry.stage)})"
        )
    console.print(escape(f"  who      {entry.operator}  ({entry.identity}{_pod(entry)})"))
    console.print(escape(f"  asked    {asked.operation.value} {asked.key}{part}{_manner(entry)}"))
    for reason in entry.reasons:
        rule = escape(f"{reason.constraint}, {reason.code}")
        console.print(f"  because  {escape(reason.message)}  [dim]{rule}[/]")
    if entry.cause:
        console.print(f"  follows  decision {entry.cause} of {escape(entry.cause_operator)}")
    for grant in entry.grants:
        console.print(f"  granted  {escape(grant)}")
    for doubt in entry.doubt:
        console.print(f"  unknown  {escape(doubt)}")
    if entry.effects:
        console.print(_effects(entry))
    if entry.claims:
        console.print(_claims(entry))
    if entry.evidence:
        console.print(
            f"  read live before the refusal: {escape(', '.join(map(str, entry.evidence)))}"
        )
    if entry.digest:
        console.print(f"  digest   {entry.digest}")
    console.print(f"  decided in {entry.latency_us} µs, lane {entry.lane}")


def _pod(entry: Entry) -> str:
    return f", pod {entry.pod}" if entry.pod else ""


def _manner(entry: Entry) -> str:
    words = []
    if entry.asked.collection:
        words.append(f"as a collection, selector {entry.asked.selector or 'not seen or none'}")
    if entry.asked.dry_run:
        words.append("dry run")
    return f"  ({'; '.join(words)})" if words else ""


def _effects(entry: Entry) -> Table:
    table = Table(title="what would follow", title_justify="left", show_edge=False, pad_edge=False)
    for column in ("effect", "of", "before", "after", "counted", "some of them"):
        table.add_column(column, justify="right" if column in ("before", "after") else "left")
    for effect in entry.effects:
        table.add_row(
            escape(effect.effect), escape(effect.subject), str(effect.before), str(effect.after),
            str(effect.counted or ""), escape(", ".join(effect.victims[:3])),
        )  # fmt: skip
    return table


def _claims(entry: Entry) -> Table:
    table = Table(title="budgets asked", title_justify="left", show_edge=False, pad_edge=False)
    for column in ("budget", "of", "asked", "used", "allowed", "window"):
        table.add_column(column)
    for claim in entry.claims:
        table.add_row(
            escape(claim.budget), escape(claim.key), str(claim.amount), str(claim.used),
            str(claim.allowance),
            f"{claim.window_s}s" if claim.window_s else "",
        )  # fmt: skip
    return table
