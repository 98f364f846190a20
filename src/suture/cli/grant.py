"""`suture grant`: a person allows one refused change, or lifts a policy for a while."""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
import msgspec
from rich.markup import escape
from rich.table import Table

from suture.cli.terminal import Console
from suture.errors import InputError
from suture.journal.entry import Entry, read_decision_id
from suture.model.clock import Now
from suture.model.grants import Grant, Scope

app = cyclopts.App(
    name="grant",
    help="Allow one thing that policies refuse, once, for a while, with a reason.",
)

Names = Annotated[list[str] | None, cyclopts.Parameter(negative=())]


@app.default
def grant(
    decision: str | None = None,
    /,
    *,
    reason: str,
    for_: Annotated[str, cyclopts.Parameter(name="--for")] = "10m",
    uses: int | None = None,
    policy: Names = None,
    operator: str = "",
    resource: Names = None,
    namespace: Names = None,
    name: Names = None,
    force: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    journal: Annotated[Path | None, cyclopts.Parameter(env_var="SUTURE_JOURNAL")] = None,
    explained: Annotated[Path | None, cyclopts.Parameter(allow_leading_hyphen=True)] = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
    output: Literal["text", "json"] = "text",
) -> int:
    """Allow what DECISION refused: the same change of the same operator, and nothing beside it.

    Examples: `suture grant 06g1w2k3m4n5p --for 10m --reason "agreed with the team"`;
    `suture grant --policy live-data --operator backup --namespace stage --uses 3 --reason ...`.
    It is given with your own rights and in your own name. Of a whole collection the policies that
    refused it are lifted, in its place, for any number of writes until the time is over.

    Exit status: 0 granted, 1 no such decision, 2 it makes no sense, 3 the cluster is away.

    Parameters
    ----------
    decision:
        The id, as the refusal has it: `(decision 06g1w2k3m4n5p; ...)`.
    reason:
        Why; it is in the journal of every write that it lets through.
    for_:
        How long it lasts: 90s, 10m, 2h, 1d.
    uses:
        How many writes it allows, 0 for any number until then; else one.
    policy:
        Instead of a decision: a constraint or template to lift, * for all. May be repeated.
    operator:
        With --policy, for whom: a profile's name, or a user name.
    resource, namespace, name:
        With --policy, of which objects: `services`, `deployments.apps`. May be repeated.
    force:
        With --policy, also for a policy, profile or resource that the cluster does not have: a
        policy that `suture serve` has of a file, a user without a profile.
    journal:
        The journal's file, where a decision is looked up; else SUTURE_JOURNAL.
    explained:
        What `suture explain DECISION --output json` printed, where the journal is elsewhere; - for
        standard input.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    output:
        `text` for people, `json` for programs.
    """
    from suture.app.grantsmade import Terms, for_decision, for_policies, span_s

    if uses is not None and uses < 0:
        raise InputError(f"`{uses}` uses make no sense: at least one, or 0 for any number")
    terms = Terms(reason=reason, seconds=span_s(for_), uses=uses)
    now = _now()
    if bool(decision) == bool(policy):
        raise InputError("give a DECISION to allow, or --policy to lift, and not both")
    if decision is None:
        scope = Scope(tuple(resource or ()), tuple(namespace or ()), tuple(name or ()))
        wanted = for_policies(operator, tuple(policy or ()), scope, terms, now)
        return _given(wanted, "", kubeconfig, context, output, check=not force)
    if operator or resource or namespace or name or force:
        raise InputError("a decision has its own operator and object; leave these options out")
    known = read_decision_id(decision)
    entries = _read(explained) if explained is not None else _find(journal, known)
    refused = [entry for entry in entries if entry.decision == known]
    if not refused:
        Console(stderr=True).print(f"no decision `{escape(decision)}` there; it may be too old")
        return 1
    return _given(for_decision(refused[0], terms, now), known, kubeconfig, context, output)


@app.command(name="list")
def list_(
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    output: Literal["table", "json"] = "table",
) -> int:
    """List the grants of the cluster, those used up or expired too.

    Parameters
    ----------
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    output:
        `table` for people, `json` for programs.
    """
    from suture.app.grantsmade import state_of

    now = _now()
    grants = asyncio.run(_all(kubeconfig, context))
    if output == "json":
        told = [{**msgspec.to_builtins(one), "state": state_of(one, now)} for one in grants]
        print(msgspec.json.encode(told).decode())
        return 0
    columns = ("grant", "operator", "allows", "used", "expires", "approver", "reason", "state")
    table = Table(*columns, box=None, pad_edge=False)
    for one in grants:
        used = f"{one.used} of {one.uses}" if one.uses else str(one.used)
        texts = (
            one.name, one.operator, _allows(one), used, _when(one.expires_utc_s), one.approver,
            one.reason, state_of(one, now),
        )  # fmt: skip
        table.add_row(*map(escape, texts))
    Console().print(table if grants else "no grants")
    return 0


@app.command
def revoke(name: str, /, *, kubeconfig: Path | None = None, context: str | None = None) -> int:
    """Take grant NAME back.

    Exit status: 0 taken back, 2 there is none of this name, 3 the cluster is away.

    Parameters
    ----------
    name:
        As `suture grant list` shows it.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    """
    asyncio.run(_revoke(name, kubeconfig, context))
    Console(soft_wrap=True, highlight=False).print(f"grant [bold]{escape(name)}[/] is taken back")
    return 0


def _given(
    wanted: Grant,
    decision: str,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    *,
    check: bool = False,
) -> int:
    found = asyncio.run(_give(wanted, decision, kubeconfig, context, check=check))
    if output == "json":
        print(msgspec.json.encode(found).decode())
        return 0
    console = Console(soft_wrap=True, highlight=False)
    uses = "once" if found.uses == 1 else f"{found.uses} times" if found.uses else "any number"
    console.print(f"grant [bold]{escape(found.name)}[/] by {escape(found.approver)}")
    console.print(f"  {escape(found.operator)} may: {escape(_allows(found))}, {uses}")
    console.print(
        f"  until {_when(found.expires_utc_s)}; `suture grant revoke {found.name}` ends it"
    )
    return 0


def _allows(one: Grant) -> str:
    if one.digest:
        return f"the change {one.digest[:12]}"
    scope = (*one.scope.resources, *one.scope.namespaces, *one.scope.names)
    return f"what {', '.join(one.policies)} refuse" + (f" of {' '.join(scope)}" if scope else "")


def _when(utc_s: float) -> str:
    return dt.datetime.fromtimestamp(utc_s, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _now() -> Now:
    return Now(time.monotonic_ns(), time.time())


def _find(journal: Path | None, decision: str) -> list[Entry]:
    if journal is None:
        raise InputError(
            "no journal named: give --journal FILE, or pipe `suture explain DECISION --output "
            "json` from where it is into --explained -"
        )
    if not journal.exists():
        raise InputError(f"journal `{journal}` does not exist; is it the one that serve was given?")
    return asyncio.run(_entries(journal, decision))


async def _entries(path: Path, decision: str) -> list[Entry]:
    from suture.adapters.sqlite import SqliteJournal

    journal = SqliteJournal(path)
    try:
        return list(await journal.find(decision))
    finally:
        await journal.close()


def _read(path: Path) -> list[Entry]:
    try:
        body = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InputError(f"file `{path}` cannot be read: {error.strerror}") from error
    try:
        return msgspec.json.decode(body, type=list[Entry])
    except msgspec.DecodeError as error:
        raise InputError(
            f"`{path}` is not what `suture explain --output json` prints: {error}"
        ) from error


async def _give(
    wanted: Grant, decision: str, kubeconfig: Path | None, context: str | None, *, check: bool
) -> Grant:
    from suture.adapters.files import read_pack
    from suture.adapters.kube import KubeClient
    from suture.app.grantnames import check_names
    from suture.app.grantsmade import give

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        if check:
            await check_names(client, read_pack(), wanted)
        return await give(client, wanted, decision=decision)


async def _all(kubeconfig: Path | None, context: str | None) -> tuple[Grant, ...]:
    from suture.adapters.kube import KubeClient
    from suture.app.grantsmade import all_grants

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        return await all_grants(client)


async def _revoke(name: str, kubeconfig: Path | None, context: str | None) -> None:
    from suture.adapters.kube import KubeClient
    from suture.app.grantsmade import revoke as taken_back

    async with KubeClient.from_kubeconfig(kubeconfig, context) as client:
        await taken_back(client, name)
