"""`suture status`: what holds on this cluster, and what it cannot have."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from rich.markup import escape
from rich.table import Table

from suture.app.status import Holds, Standing, Status
from suture.cli.terminal import Console
from suture.model.clock import Now

COLOURS = {Holds.YES: "green", Holds.NO: "red", Holds.UNKNOWN: "yellow"}


def status(
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    namespace: str = "suture-system",
    output: Literal["table", "json"] = "table",
) -> int:
    """Show what Suture guarantees on this cluster, each with the probe that proves it.

    Probes are dry runs and access reviews: nothing is changed.
    Exit status: 0 all that every cluster can have is there, 1 something is not, 2 bad input,
    3 the cluster cannot be reached.

    Parameters
    ----------
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    namespace:
        Suture's own namespace.
    output:
        `table` for people, `json` for programs.
    """
    found = asyncio.run(_ask(kubeconfig, context, namespace))
    if output == "json":
        print(msgspec.json.encode(found).decode())
    else:
        show(found, Console())
    return 0 if found.sound else 1


async def _ask(kubeconfig: Path | None, context: str | None, namespace: str) -> Status:
    from suture.adapters.files import read_pack
    from suture.adapters.kube import KubeClient
    from suture.app.status import status as probe

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        return await probe(client, namespace, Now(time.monotonic_ns(), time.time()), read_pack())


def show(found: Status, console: Console) -> None:
    """Print a status for people."""
    table = Table("guarantee", "holds", "found out by", box=None, pad_edge=False)
    for one in found.guarantees:
        words = escape(one.probe) + (f"\n[dim]→ {escape(one.advice)}[/]" if one.advice else "")
        table.add_row(escape(one.name), f"[{COLOURS[one.holds]}]{one.holds.value}[/]", words)
    console.print(table)
    console.print()
    if not found.operators:
        console.print("no operator has a profile: everyone is observed")
        console.print("[dim]→ suture operators set NAME --stage warn --user IDENTITY[/]")
    else:
        operators = Table("operator", "stage", "whenDead", "identities", box=None, pad_edge=False)
        for line in found.operators:
            stage = escape(line.stage)
            if line.quarantined:
                stage = f"[red]quarantined[/]: {escape(line.quarantined)}"
            operators.add_row(
                escape(line.name), stage, line.when_dead, escape(", ".join(line.identities))
            )
        console.print(operators)
    for who, why in found.quarantined.items():
        console.print(f"[red]quarantined[/]  {escape(f'{who}: {why}')}")
    if found.exceptions:
        console.print()
        _show_exceptions(found.exceptions, console)


def _show_exceptions(exceptions: Sequence[Standing], console: Console) -> None:
    """Print what people allowed, and when machines take nothing away."""
    table = Table("exception", "for", "when", "left", "reason", box=None, pad_edge=False)
    for one in exceptions:
        when = f"until {_moment(one.until_utc_s)}"
        if one.from_utc_s:
            when = f"{_moment(one.from_utc_s)} {when}"
        left = "" if one.left is None else str(one.left)
        told = (f"{one.kind} {one.name}", one.who, when, left, one.reason)
        table.add_row(*map(escape, told))
    console.print(table)


def _moment(utc_s: float) -> str:
    return dt.datetime.fromtimestamp(utc_s, dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
