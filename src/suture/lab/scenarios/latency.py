"""What the guard adds to a write: pairs of dry runs, one guarded, one that no lane sees.

Lives in the scenarios because only on a lab may anybody write as the API server itself. Dry runs
leave no trace, in the cluster as in Suture.
"""

from __future__ import annotations

import time

from suture.adapters.kube import KubeClient
from suture.errors import ApiError
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.cluster import Cluster
from suture.lab.scenarios.refusals import refusal_in
from suture.lab.scenarios.report import Latency
from suture.lab.scenarios.world import World

UNSEEN = "system:apiserver"
"""An identity of lane 0: no webhook of Suture's is asked about it."""

# LIMIT: 100 pairs at about 5 ms a write are one second; a p99 of fewer would be a maximum.
PAIRS = 100
WARM_UP = 5
NAME = "suture-latency"


async def measure(cluster: Cluster, world: World, voice: Voice, pairs: int = PAIRS) -> Latency:
    """Return how much longer the actor's writes take than those of an identity of lane 0.

    Half of the pairs patch, half delete: the lanes of ordinary and of destructive requests.
    """
    path = "/api/v1/namespaces/default/configmaps"
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "labels": world.mark},
    }
    try:
        await cluster.client.create(path, body)
    except ApiError as error:
        if error.status != 409:
            raise
    # WHY by impersonation too: what impersonating costs must be on both sides.
    guarded = voice.stand_in or voice.client or cluster.client
    unseen = cluster.client.impersonating(UNSEEN, ["system:masters", "system:authenticated"])
    added: list[float] = []
    for number in range(WARM_UP + pairs):
        delete = bool(number % 2)
        with_guard = await _took_ms(guarded, f"{path}/{NAME}", delete=delete)
        without = await _took_ms(unseen, f"{path}/{NAME}", delete=delete)
        if number >= WARM_UP:
            added.append(with_guard - without)
    await cluster.client.delete(f"{path}/{NAME}")
    added.sort()
    return Latency(
        median=round(added[len(added) // 2], 3),
        p99=round(added[min(len(added) - 1, int(len(added) * 0.99))], 3),
        pairs=len(added),
    )


async def _took_ms(client: KubeClient, path: str, *, delete: bool) -> float:
    began = time.perf_counter()
    try:
        if delete:
            await client.delete(path, dry_run=True)
        else:
            await client.patch(path, {"data": {"key": "value"}}, type="merge", dry_run=True)
    except ApiError as error:
        # WHY: a refusal is an answer too, and what it took is what the operator waited.
        if refusal_in(error.message) is None:
            raise
    return (time.perf_counter() - began) * 1000.0
