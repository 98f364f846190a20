"""How long a quarantined operator goes on writing: on a real control plane, Suture itself away.

Counted from the first byte of the order to the last write that still went through. Admission lies
between a write's sending and its answer, so both are told: the answer is an upper bound.
"""

from __future__ import annotations

import asyncio
import subprocess
import time

from suture.adapters.kube import KubeClient
from suture.app import quarantine as steps
from suture.app.apply import apply_documents
from suture.bench import child
from suture.bench.measure import Measured, Sample, Say, Setting, quantile
from suture.bench.writing import WRITERS, Admitted
from suture.errors import UnavailableError
from suture.install.guards import guards
from suture.install.manifests import base_manifests
from suture.install.settings import Installation
from suture.lab.identities import ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rights import give_all_rights, service_account

TRIALS = 100

NAMESPACE = "quarantine-bench"
ACCOUNT = ServiceAccount(NAMESPACE, "operator")

WRITING_S = 30.0
"""LIMIT: until the operator's first writes go through."""

AFTER_S = 0.1
"""How long writes are watched for after the acknowledgement: none must go through."""


def measure(setting: Setting, say: Say) -> Sample:
    """Return percentiles over all trials; a run with fewer calls than trials makes fewer."""
    trials = min(TRIALS, setting.calls)
    say("starting a control plane")
    with Plane.up("bench-quarantine") as plane:
        say("installing the in-process policies")
        asyncio.run(_prepare(plane))
        kubeconfig = str(plane.kubeconfig(ACCOUNT))
        with child.start("suture.bench.writing", setting, kubeconfig, NAMESPACE) as process:
            try:
                writer = _Writer(process)
                found = []
                for trial in range(trials):
                    say(f"trial {trial + 1} of {trials}")
                    found.append(asyncio.run(_trial(plane, writer)))
            finally:
                child.end(process)
    return _figures(found)


class _Trial:
    """One quarantine: in ms since the order, and how many writes came after the word."""

    def __init__(self, began: float, said: float, writes: list[tuple[float, float]]) -> None:
        # 0: the last one was sent, or answered, before the order was.
        self.sent_ms = max((0.0, *(sent - began for sent, _ in writes))) * 1e3
        self.answered_ms = max((0.0, *(answered - began for _, answered in writes))) * 1e3
        self.said_ms = (said - began) * 1e3
        self.late = sum(1 for sent, _ in writes if sent > said)


class _Writer:
    """The writing child, as seen from here."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._input, self._output = child.pipes(process)

    def writes(self) -> list[tuple[float, float]]:
        """Return the writes that went through since this was asked last."""
        self._input.write(b"\n")
        self._input.flush()
        return child.heard(self._output.readline(), Admitted, "writer").writes

    def await_writes(self) -> None:
        """Wait until writes go through. Errors: UnavailableError when they do not."""
        deadline = time.monotonic() + WRITING_S
        while len(self.writes()) < WRITERS:
            if time.monotonic() > deadline:
                raise UnavailableError("the benchmark's operator cannot write")
            time.sleep(0.02)


async def _trial(plane: Plane, writer: _Writer) -> _Trial:
    """Quarantine and release once."""
    operator = f"{NAMESPACE}/{ACCOUNT.name}"
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        await client.get_raw("/version")  # the connection stands, as that of a person's tool would
        endpoint = steps.Endpoint(plane.endpoint, client)
        writer.await_writes()
        began = time.monotonic()
        await steps.quarantine(
            endpoint, operator, "a benchmark", namespace="suture-system", when="now"
        )
        said = time.monotonic()
        await asyncio.sleep(AFTER_S)
        trial = _Trial(began, said, writer.writes())
        await steps.release(endpoint, operator, namespace="suture-system")
    return trial


def _figures(found: list[_Trial]) -> Sample:
    figures: dict[str, Measured] = {}
    series = {
        "last admitted write, sent": [trial.sent_ms for trial in found],
        "last admitted write, answered": [trial.answered_ms for trial in found],
        "acknowledged": [trial.said_ms for trial in found],
    }
    for name, values in series.items():
        for part, label in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
            figures[f"{name}: {label}"] = Measured(quantile(values, part), "ms")
    late = sum(trial.late for trial in found)
    figures["writes after the acknowledgement"] = Measured(late, "")
    figures["trials"] = Measured(len(found), "")
    return figures


async def _prepare(plane: Plane) -> None:
    """Install the list and its policy, and an operator that may write everything."""
    installation = Installation(ca_bundle=plane.webhook_server_ca.read_bytes())
    documents = [
        *(one for one in base_manifests(installation) if one["kind"] != "Deployment"),
        *guards(installation),
    ]
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        await apply_documents(client, documents)
        accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
        await client.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        await client.create(accounts, {"metadata": {"name": ACCOUNT.name}})
        await give_all_rights(client, NAMESPACE, [service_account(NAMESPACE, ACCOUNT.name)])
