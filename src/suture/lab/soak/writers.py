"""Several writers at once, each through its script: every step is answered, one way or another.

A refusal is an answer; silence is not: while the API server is away a step is tried again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, assert_never

from suture.adapters.kube import KubeClient
from suture.errors import ApiError, NotFoundError, UnavailableError
from suture.lab.soak import script
from suture.lab.soak.bodies import DEFINITIONS, Kind, custom_kinds, definition, kinds_of

ATTEMPTS = 120
"""LIMIT: tries of one step, with the waits between them 30 s: ten restarts of the API server."""

AGAIN_S = 0.25
NAMESPACES = "/api/v1/namespaces"


class Writers:
    """Writes, and knows the uids that it was told, so that owners can be named.

    `told` is called after each step.
    """

    def __init__(self, client: KubeClient, seed: int, told: Callable[[], None]) -> None:
        self._client = client
        self._seed = seed
        self._told = told
        self._uids: dict[tuple[str, str, str], str] = {}
        self.answers: Counter[str] = Counter()
        """How steps were answered: `ok`, or the reason of the refusal."""

    async def begin(self) -> None:
        """Make the namespaces and definitions that all start with."""
        for space in script.spaces_of(self._seed):
            await self._answered(script.MakeSpace(space, {}))
        for kind in custom_kinds(self._seed):
            await self._answered(script.MakeKind(kind))

    async def write(self, writer: int, steps: int) -> None:
        """Go through one writer's script."""
        for step in script.script(self._seed, writer, steps):
            await self._answered(step)
            self._told()

    async def _answered(self, step: script.Step) -> None:
        for attempt in range(ATTEMPTS):
            try:
                await self._take(step)
            except UnavailableError:
                if attempt == ATTEMPTS - 1:
                    raise
                await asyncio.sleep(AGAIN_S)
            except ApiError as error:
                self.answers[error.reason or str(error.status)] += 1
                return
            else:
                self.answers["ok"] += 1
                return

    async def _take(self, step: script.Step) -> None:
        client = self._client
        match step:
            case script.Apply():
                await self._apply(step)
            case script.Delete(kind, namespace, name, propagation):
                await client.delete(kind.path(namespace, name), propagation_policy=propagation)
            case script.DeleteAll(kind, namespace, selector):
                await client.delete_collection(kind.path(namespace), label_selector=selector)
            case script.Release(kind, namespace, name):
                await self._release(kind, namespace, name)
            case script.Scale(namespace, name, replicas):
                path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"
                await client.patch(path, {"spec": {"replicas": replicas}}, type="merge")
            case script.DropSpace(namespace):
                await client.delete(f"{NAMESPACES}/{namespace}")
                await self._release_all(namespace)
            case script.MakeSpace(namespace, labels):
                body = {"metadata": {"name": namespace, "labels": labels}}
                await client.create(NAMESPACES, body)
            case script.DropKind(kind):
                await client.delete(DEFINITIONS.path(name=f"{kind.plural}.{kind.group}"))
            case script.MakeKind(kind):
                body = definition(kind.group, kind.plural, kind.kind, namespaced=kind.namespaced)
                await client.create(DEFINITIONS.path(), body)
            case _:
                assert_never(step)

    async def _apply(self, step: script.Apply) -> None:
        # By uid: the API server takes no owner twice.
        owners = {
            uid: (kind, name)
            for kind, name in step.owners
            if (uid := self._uids.get((kind.kind, step.namespace, name)))
        }
        if step.stranger:
            owners[step.stranger] = (step.kind, "nobody")
        body = step.body
        if owners:
            references = [_reference(kind, name, uid) for uid, (kind, name) in owners.items()]
            body = {**body, "metadata": {**body["metadata"], "ownerReferences": references}}
        path = step.kind.path(step.namespace, step.name)
        made = await self._client.patch(path, body, type="apply", force=True)
        self._uids[step.kind.kind, step.namespace, step.name] = made["metadata"]["uid"]

    async def _release(self, kind: Kind, namespace: str, name: str) -> None:
        body: dict[str, Any] = {"metadata": {"finalizers": None}}
        await self._client.patch(kind.path(namespace, name), body, type="merge")

    async def _release_all(self, namespace: str = "") -> None:
        """Take off the finalizers that are ours, in one namespace or everywhere."""
        for kind in kinds_of(self._seed).values():
            if namespace and not kind.namespaced:
                continue
            for meta in await self._ours(kind, namespace):
                if script.FINALIZER in meta.get("finalizers", ()):
                    space, name = meta.get("namespace", ""), meta["name"]
                    await self._answered(script.Release(kind, space, name))

    async def _ours(self, kind: Kind, namespace: str = "") -> list[dict[str, Any]]:
        """Return the metadata of what we wrote of a kind; nothing of one that is not served."""
        query = {"labelSelector": f"soak={self._seed}"}
        try:
            listed = await self._client.get(kind.path(namespace), query=query)
        except NotFoundError:
            return []
        return [item["metadata"] for item in listed["items"]]

    # ---- the end

    async def tidy(self) -> None:
        """Delete everything, without waiting until it is gone."""
        for space in script.spaces_of(self._seed):
            await self._answered(script.DropSpace(space))
        await self._release_all()
        for kind in kinds_of(self._seed).values():
            if not kind.namespaced:
                for meta in await self._ours(kind):
                    await self._answered(script.Delete(kind, "", meta["name"]))
        for kind in custom_kinds(self._seed):
            await self._answered(script.DropKind(kind))


def _reference(kind: Kind, name: str, uid: str) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": uid}
