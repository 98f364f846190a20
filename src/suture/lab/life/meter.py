"""What Suture costs those who live under it: time added to writes, and how far its model lags.

Lives apart from the run because it looks on while others act. The pairs of dry runs are those of
the scenarios: one guarded, one under an identity that no lane sees.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from suture.adapters.kube import KubeClient
from suture.errors import ApiError
from suture.lab.guard import Guard
from suture.lab.scenarios.latency import UNSEEN
from suture.lab.scenarios.refusals import refusal_in

PROBE = "suture-life"
MAPS = "/api/v1/namespaces/default/configmaps"
EVERY_S = 1.0

STALENESS = "suture_model_staleness_max_seconds"
LAG = "suture_model_lag_seconds"
DOUBTS = "suture_doubts_total"
DECISIONS = "suture_decisions_total"


class Spread(msgspec.Struct, frozen=True):
    """Many figures in three."""

    median: float
    p99: float
    most: float
    count: int


def spread(figures: list[float]) -> Spread | None:
    """Return the spread of figures; None where there are none."""
    if not figures:
        return None
    found = sorted(figures)
    at = min(len(found) - 1, int(len(found) * 0.99))
    return Spread(
        round(found[len(found) // 2], 3), round(found[at], 3), round(found[-1], 3), len(found)
    )


class Meter:
    """Measures for as long as it runs."""

    def __init__(self, guard: Guard, guarded: KubeClient, admin: KubeClient) -> None:
        """Measure a guard with the client of somebody whom it judges."""
        self._guard = guard
        self._guarded = guarded
        self._admin = admin
        self.added_ms: list[float] = []
        self.staleness_s: list[float] = []
        self.lag_s: list[float] = []
        self.doubts: dict[str, int] = {}
        self.decisions = 0

    async def run(self) -> None:
        """Measure until cancelled."""
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": PROBE}}
        await self._admin.create(MAPS, body)
        unseen = self._admin.impersonating(UNSEEN, ["system:masters", "system:authenticated"])
        number = 0
        while True:
            number += 1
            delete = bool(number % 2)
            with_guard = await _took_ms(self._guarded, delete=delete)
            self.added_ms.append(with_guard - await _took_ms(unseen, delete=delete))
            self.read(await asyncio.to_thread(lambda: self._guard.metrics))
            await asyncio.sleep(EVERY_S)

    def read(self, metrics: str) -> None:
        """Take the figures out of one scrape."""
        self.staleness_s += _values(metrics, STALENESS)
        self.lag_s += _values(metrics, LAG)
        self.doubts = {
            line.partition("{")[2].partition("}")[0]: int(float(line.rpartition(" ")[2]))
            for line in metrics.splitlines()
            if line.startswith(f"{DOUBTS}{{")
        }
        self.decisions = int(sum(_values(metrics, DECISIONS)))


def _values(metrics: str, name: str) -> list[float]:
    return [
        float(line.rpartition(" ")[2])
        for line in metrics.splitlines()
        if line.startswith((f"{name} ", f"{name}{{"))
    ]


async def _took_ms(client: KubeClient, *, delete: bool) -> float:
    began = time.perf_counter()
    try:
        if delete:
            await client.delete(f"{MAPS}/{PROBE}", dry_run=True)
        else:
            change = {"data": {"key": "value"}}
            await client.patch(f"{MAPS}/{PROBE}", change, type="merge", dry_run=True)
    except ApiError as error:
        # WHY: a refusal is an answer too, and what it took is what its actor waited.
        if refusal_in(error.message) is None:
            raise
    return (time.perf_counter() - began) * 1000.0
