"""`suture quarantine` and `suture release`: one command stops an operator, and one lets it go."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from rich.markup import escape

from suture.cli.terminal import Console
from suture.errors import SutureError

if TYPE_CHECKING:
    from suture.adapters.kube import KubeClient
    from suture.app.quarantine import Endpoint, Report

_SLICES = "kubernetes.io/service-name=kubernetes"

ENDPOINT_S = 2.0
"""LIMIT: an API server's own address answers in milliseconds, or is not reachable from here."""


def quarantine(
    operator: str,
    /,
    *,
    reason: str,
    namespace: str = "suture-system",
    kubeconfig: Path | None = None,
    context: str | None = None,
    output: Literal["text", "json"] = "text",
) -> int:
    """Stop every write of OPERATOR, with Suture running or dead; return when it is proven.

    OPERATOR is a profile's name, NAMESPACE/ACCOUNT, a user name, or group:NAME. Needs the right to
    edit the list in Suture's namespace and to impersonate the operator for the proof.
    Exit status: 0 stopped and proven, 1 stopped where it could be asked, 2 it makes no sense,
    3 on the list but not proven.

    Parameters
    ----------
    reason:
        Why; it is in every refusal that the operator and its owners read.
    namespace:
        Suture's own namespace.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    output:
        `text` for people, `json` for programs.
    """
    report = asyncio.run(_run(operator, reason, namespace, kubeconfig, context))
    return _show(report, output, f"[bold]{escape(operator)}[/] is stopped: its writes are refused")


def release(
    operator: str,
    /,
    *,
    namespace: str = "suture-system",
    kubeconfig: Path | None = None,
    context: str | None = None,
    output: Literal["text", "json"] = "text",
) -> int:
    """Let a quarantined OPERATOR write again; return when it is no longer refused.

    Exit status: 0 released, 1 released where it could be asked, 2 it is not quarantined,
    3 still refused.

    Parameters
    ----------
    namespace:
        Suture's own namespace.
    kubeconfig, context:
        Which cluster, as kubectl would choose it.
    output:
        `text` for people, `json` for programs.
    """
    report = asyncio.run(_run(operator, None, namespace, kubeconfig, context))
    return _show(report, output, f"[bold]{escape(operator)}[/] may write again")


async def _run(
    operator: str,
    reason: str | None,
    namespace: str,
    kubeconfig: Path | None,
    context: str | None,
) -> Report:
    from suture.adapters.kube import KubeClient
    from suture.adapters.kubeconfig import Login
    from suture.app import quarantine as steps

    async with contextlib.AsyncExitStack() as clients:
        login = Login.from_kubeconfig(kubeconfig, context)
        client = await clients.enter_async_context(KubeClient(login))

        async def others() -> list[Endpoint]:
            """Find each API server by its own address, where that answers from here.

            WHY each: behind a load balancer every API server has its own view of the list.
            """
            found = []
            for address in await _addresses(client):
                there = Login.from_kubeconfig(kubeconfig, context)
                there.server = address
                other = await clients.enter_async_context(KubeClient(there))
                with contextlib.suppress(SutureError):
                    await other.get_raw("/readyz", timeout_s=ENDPOINT_S)
                    found.append(steps.Endpoint(address, other, required=False))
            return found

        here = steps.Endpoint(login.server, client)
        if reason is None:
            return await steps.release(here, operator, namespace=namespace, others=others)
        when = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
        return await steps.quarantine(
            here, operator, reason, namespace=namespace, when=when, others=others
        )


async def _addresses(client: KubeClient) -> list[str]:
    """Return the API servers that the cluster names, other than by the kubeconfig's address."""
    path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    try:
        slices = await client.get(
            path, query={"labelSelector": "kubernetes.io/service-name=kubernetes"}
        )
    except SutureError:
        return []
    return [
        f"https://{f'[{address}]' if ':' in address else address}:{port['port']}"
        for one in slices.get("items", ())
        for port in one.get("ports") or ()
        for endpoint in one.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    ]


def _show(report: Report, output: str, headline: str) -> int:
    if output == "json":
        print(msgspec.json.encode(report).decode())
        return 0 if report.proven else 1
    console = Console(soft_wrap=True, highlight=False)
    console.print(headline)
    for subject in report.subjects:
        console.print(f"  {escape(str(subject))}")
    for proof in report.proofs:
        mark = "[green]proven[/]" if proof.holds else "[yellow]not proven[/]"
        told = escape(f"{proof.address} {proof.detail}".rstrip())
        console.print(f"  {mark} by dry run at {told}")
    if report.not_covered:
        console.print("Not covered:")
        for line in report.not_covered:
            console.print(f"  {escape(line)}")
        edits = "edits of the in-process policies themselves"
        if report.policy_edits:
            console.print(f"Refused by {escape(report.policy_edits)}: its {edits}.")
        else:
            console.print(
                f"  its {edits}: nothing here refuses them, they only raise an alarm; "
                "an authorizer or a static manifest would (`suture install --help`)"
            )
    return 0 if report.proven else 1
