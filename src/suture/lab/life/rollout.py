"""What several actors do to workloads and pods: roll out, wait until it is through, empty a node.

Lives apart from the actors because people, pipelines and controllers all do it, each at its pace.
"""

from __future__ import annotations

from typing import Any

from suture.lab.life.hand import Hand, Object

ROLLED_S = 90.0
"""LIMIT: a rollout of a few pods takes seconds; nobody of them waits longer than this."""


def image_change(number: int) -> Object:
    """Return the strategic patch that puts another image into a workload of `parts.template`."""
    return _template(
        {"spec": {"containers": [{"name": "app", "image": f"registry.example/app:{number}"}]}}
    )


def restart_change(stamp: str) -> Object:
    """Return the patch of `kubectl rollout restart`."""
    key = "kubectl.kubernetes.io/restartedAt"
    return _template({"metadata": {"annotations": {key: stamp}}})


def _template(change: dict[str, Any]) -> Object:
    return {"spec": {"template": change}}


async def rolled(hand: Hand, kind: str, space: str, name: str) -> bool:
    """Wait until a rollout is through, as `kubectl rollout status` does."""

    async def through() -> bool:
        one = await hand.get(kind, space, name)
        return one is None or _through(one)

    return await hand.until(through, ROLLED_S)


def _through(one: Object) -> bool:
    status = one["status"]
    if status.get("observedGeneration", 0) < one["metadata"]["generation"]:
        return False
    if one["kind"] == "DaemonSet":
        wanted = status["desiredNumberScheduled"]
        return bool(
            status.get("updatedNumberScheduled", 0) == wanted
            and status.get("numberAvailable", 0) == wanted
        )
    wanted = one["spec"].get("replicas", 1)
    return bool(
        status.get("updatedReplicas", 0) >= wanted
        and status.get("readyReplicas", 0) >= wanted
        and status.get("replicas", 0) == wanted
    )


async def movable(hand: Hand, node: str) -> list[tuple[str, str]]:
    """Return the pods of a node that a drain evicts: no agents, nothing finished or going."""
    pods = await hand.listed("Pod", fieldSelector=f"spec.nodeName={node}")
    return [
        (one["metadata"]["namespace"], one["metadata"]["name"])
        for one in pods
        if "deletionTimestamp" not in one["metadata"]
        and one["status"].get("phase") not in ("Succeeded", "Failed")
        and not any(
            owner["kind"] == "DaemonSet" for owner in one["metadata"].get("ownerReferences", ())
        )
    ]


async def emptied(hand: Hand, node: str) -> bool:
    """Evict what can move from a node until nothing is left; False when something stays."""
    for space, name in await movable(hand, node):
        if hand.over:
            return False
        await hand.evict(space, name)

    async def nothing() -> bool:
        return not await movable(hand, node)

    return await hand.until(nothing, ROLLED_S)
