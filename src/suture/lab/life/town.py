"""What stands before anybody begins: the teams' applications, and what the platform keeps running.

Lives apart from the actors because nobody of them made it: in life most of a cluster is older than
whoever touches it today, and older than Suture.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from suture.adapters.kube import KubeClient
from suture.errors import AlreadyExistsError, UnavailableError
from suture.lab.life.hand import Object, at
from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.serving import ServicesWithDeployments
from suture.lab.scenarios.shapes.workloads import DaemonSets, StatefulSets

TEAMS = tuple(f"team-{number}" for number in range(5))
AGENTS = "agents"
NODES = 12
AT_ONCE = 8
READY_S = 240.0
"""LIMIT: 250 pods are Ready within 20 s on two idle cores; a crowded machine is given four
minutes."""


def population() -> list[Object]:
    """Return all that stands before life begins, each after what it needs."""
    shapes = (
        ServicesWithDeployments(
            prefix="web", count=40, namespaces=TEAMS, replicas=3, disruption_budget=1
        ),
        # WHY without a budget of disruptions: half of the applications of the world have none.
        ServicesWithDeployments(prefix="api", count=20, namespaces=TEAMS, replicas=2),
        ServicesWithDeployments(prefix="solo", count=10, namespaces=TEAMS, replicas=1),
        StatefulSets(prefix="db", count=5, namespaces=TEAMS, replicas=3, claims=True),
        DaemonSets(prefix="agent", count=2, namespaces=(AGENTS,)),
    )
    found = [one for shape in shapes for one in shape.dressed()]
    found += [scaler(TEAMS[number], f"web-{number}", 2, 6) for number in range(len(TEAMS))]
    return found


def scaler(space: str, name: str, least: int, most: int) -> Object:
    """Return an autoscaler of a Deployment of the same name."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return parts.thing(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        name,
        space,
        spec={"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most},
    )


async def settle(client: KubeClient, bodies: Sequence[Object]) -> None:
    """Create objects, namespaces first, and wait until every workload is up.

    Errors: UnavailableError when they are not up in time.
    """
    spaces = [one for one in bodies if one["kind"] == "Namespace"]
    for batch in (spaces, [one for one in bodies if one["kind"] != "Namespace"]):
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for body in batch:
                group.create_task(_make(client, body, slots))
    deadline = time.monotonic() + READY_S
    while missing := await _not_ready(client):
        if time.monotonic() > deadline:
            raise UnavailableError(f"not up after {READY_S:.0f} s: {', '.join(missing[:5])}")
        await asyncio.sleep(1.0)


async def _make(client: KubeClient, body: Object, slots: asyncio.Semaphore) -> None:
    async with slots:
        try:
            path = at(body["kind"], body["metadata"].get("namespace", ""))
            await client.create(path, body)
        except AlreadyExistsError:
            # Shapes of several populations name the same namespaces.
            return


async def _not_ready(client: KubeClient) -> list[str]:
    return [
        f"{kind} {one['metadata']['namespace']}/{one['metadata']['name']}"
        for kind in ("Deployment", "StatefulSet")
        for one in (await client.get(at(kind))).get("items") or []
        if one["status"].get("readyReplicas", 0) < one["spec"].get("replicas", 1)
    ]
