"""Whether a cluster has come to rest, and what happened on it: one watch of every kind.

Lives in the scenarios because only they must know when real controllers are done. Watches are
metadata only, or whole objects when the run is being recorded. Leases, Events, the status of
nodes and what is Suture's own do not count as writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from suture.adapters.kube import KubeClient
from suture.errors import ApiError, GoneError, UnavailableError
from suture.lab.scenarios.cluster import Cluster, Kinds, path_of, whole
from suture.wire.discovery import ApiResource

QUIET_S = 3.0
"""Rest is this long without a write."""
MOST_S = 60.0
"""LIMIT: and waited for at most this long."""
SETTLED_S = 1.5
"""Rest before the first step: what a population's controllers do comes in bursts under a second."""
POLL_S = 0.1
# LIMIT: a watch that breaks comes back after this; the API server restarts in two seconds.
RETRY_S = 0.2

PENDING_S = {"namespaces": 5.0, "nodes": 45.0}
"""What real controllers put off: the namespace controller begins 5 s after a namespace was told to
go, and the pods of a node that is gone are collected 40 s later. Until then it is no rest.
SOURCE: kube-controller-manager, namespaceDeletionGracePeriod and podgc's quarantineTime."""

OWN_SPACE = "suture-system"
OWN_GROUPS = ("suture.dev",)

Event = Callable[[ApiResource, str, dict[str, Any]], None]
"""Told of each write that counts: kind, ADDED, MODIFIED or DELETED, and the object."""


class _Line(msgspec.Struct):
    type: str = ""
    object: dict[str, Any] = msgspec.field(default_factory=dict)


_lines = msgspec.json.Decoder(_Line)


class Rest:
    """Follows every kind from now on, and knows when the last write was."""

    def __init__(
        self, cluster: Cluster, *, whole: bool = False, on_event: Event | None = None
    ) -> None:
        """Take the cluster; `whole` asks for whole objects, which recordings need."""
        self._cluster = cluster
        self._bodies = whole
        self._on_event = on_event
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._nodes: dict[str, Any] = {}
        self._learn: asyncio.Task[None] | None = None
        self.last_write = time.monotonic()
        self.writes = 0

    @classmethod
    @contextlib.asynccontextmanager
    async def watching(
        cls, cluster: Cluster, *, whole: bool = False, on_event: Event | None = None
    ) -> AsyncIterator[Rest]:
        """Follow for the length of a block."""
        rest = cls(cluster, whole=whole, on_event=on_event)
        try:
            await rest._start()
            yield rest
        finally:
            await rest._stop()

    async def quiet(self, quiet_s: float = QUIET_S, most_s: float = MOST_S) -> bool:
        """Wait until nothing was written for `quiet_s`; False when `most_s` passed first."""
        began = time.monotonic()
        while True:
            now = time.monotonic()
            if now - max(self.last_write, began) >= quiet_s:
                return True
            if now - began >= most_s:
                return False
            await asyncio.sleep(POLL_S)

    async def _start(self) -> None:
        version = await self._version()
        nodes = await whole(self._cluster.client, self._cluster.kinds.find("nodes"))
        self._nodes = {one["metadata"]["uid"]: _matters(one) for one in nodes}
        spaces = await whole(self._cluster.client, self._cluster.kinds.find("namespaces"))
        self.last_write += max(pending_s(one, time.time()) for one in spaces)
        for api in self._cluster.kinds.all:
            self._follow(api, version)

    async def _version(self) -> str:
        """Return where the store is now; all kinds count in one sequence."""
        api = self._cluster.kinds.find("namespaces")
        answer = await self._cluster.client.get(path_of(api), query={"limit": "1"})
        return str(answer["metadata"]["resourceVersion"])

    def _follow(self, api: ApiResource, version: str) -> None:
        if not _watchable(api) or (api.group, api.plural) in self._tasks:
            return
        task = asyncio.create_task(self._watch(api, version))
        self._tasks[api.group, api.plural] = task

    async def _watch(self, api: ApiResource, version: str) -> None:
        while True:
            try:
                async with contextlib.aclosing(self._lines(api, version)) as blocks:
                    async for block in blocks:
                        for line in block.splitlines():
                            version = self._take(api, line) or version
            except GoneError:
                version = await self._version()
            except (ApiError, UnavailableError) as error:
                if isinstance(error, ApiError) and error.status == 404:
                    del self._tasks[api.group, api.plural]
                    return
                await asyncio.sleep(RETRY_S)

    def _lines(self, api: ApiResource, version: str) -> Any:
        client: KubeClient = self._cluster.client
        # WHY whole nodes: only then is a status told from a cordon.
        bare = not self._bodies and api.plural != "nodes"
        return client.watch_lines(path_of(api), version, metadata_only=bare)

    def _take(self, api: ApiResource, line: bytes) -> str | None:
        event = _lines.decode(line)
        if event.type == "ERROR":
            raise GoneError(410, "Expired", "the watch is too old")
        metadata = event.object.get("metadata") or {}
        if event.type != "BOOKMARK" and not self._is_noise(api, event.type, event.object):
            self.last_write = max(
                self.last_write, time.monotonic() + put_off_s(api, event.type, event.object)
            )
            self.writes += 1
            if self._on_event is not None:
                self._on_event(api, event.type, event.object)
            if api.kind == "CustomResourceDefinition":
                self._learn = asyncio.create_task(self._learn_kinds())
        found = metadata.get("resourceVersion")
        return str(found) if found else None

    def _is_noise(self, api: ApiResource, kind: str, thing: dict[str, Any]) -> bool:
        if is_own(api, thing):
            return True
        metadata = thing.get("metadata") or {}
        if api.plural != "nodes" or api.group:
            return False
        uid = metadata.get("uid", "")
        known, self._nodes[uid] = self._nodes.get(uid), _matters(thing)
        return kind == "MODIFIED" and known == self._nodes[uid]

    async def _learn_kinds(self) -> None:
        """Follow kinds that came since the start; a CRD is served a moment after it is written."""
        await asyncio.sleep(SETTLED_S / 3)
        with contextlib.suppress(ApiError, UnavailableError):
            kinds = Kinds(await self._cluster.client.discover())
            version = await self._version()
            for api in kinds.all:
                self._follow(api, version)

    async def _stop(self) -> None:
        tasks = [*self._tasks.values(), *([self._learn] if self._learn else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def is_own(api: ApiResource, thing: Mapping[str, Any]) -> bool:
    """Whether an object is Suture's own."""
    metadata = thing.get("metadata") or {}
    return metadata.get("namespace") == OWN_SPACE or api.group.endswith(OWN_GROUPS)


def put_off_s(api: ApiResource, change: str, thing: Mapping[str, Any]) -> float:
    """Return how long controllers wait before they act on a removal."""
    if api.group:
        return 0.0
    if api.plural == "namespaces":
        going = change == "MODIFIED" and "deletionTimestamp" in thing["metadata"]
        return PENDING_S["namespaces"] if going else 0.0
    return PENDING_S["nodes"] if api.plural == "nodes" and change == "DELETED" else 0.0


def pending_s(namespace: Mapping[str, Any], now_utc_s: float) -> float:
    """Return how long the namespace controller still waits before it empties a namespace."""
    told = namespace["metadata"].get("deletionTimestamp")
    if told is None:
        return 0.0
    began_s = datetime.fromisoformat(str(told)).timestamp()
    return max(0.0, began_s + PENDING_S["namespaces"] - now_utc_s)


def _matters(node: dict[str, Any]) -> Any:
    """Return what of a node is no heartbeat."""
    metadata = node.get("metadata") or {}
    return node.get("spec"), metadata.get("labels"), metadata.get("deletionTimestamp")


def _watchable(api: ApiResource) -> bool:
    if "watch" not in api.verbs or api.kind in ("Event", "Lease"):
        return False
    # WHY: the older Endpoints are written beside every EndpointSlice, and tell nothing more.
    return not (api.group == "" and api.plural == "endpoints")
