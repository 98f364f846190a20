"""A cluster in memory behind the Cluster port, with all the faults that a real one shows."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable
from typing import Any

from suture.errors import (
    ApiError,
    ApiUnavailableError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    UnavailableError,
)
from suture.model import names
from suture.model.names import Resource
from suture.wire.discovery import ApiResource, Discovery, StaleGroup

VERBS = frozenset({"get", "list", "watch", "create", "update", "delete"})
SECRETS = Resource("", "secrets")
EVENTS = Resource("", "events")
LEASES = Resource("coordination.k8s.io", "leases")


def api(
    resource: Resource, kind: str, *, namespaced: bool = True, version: str = "v1"
) -> ApiResource:
    """Return an endpoint that can be listed and watched."""
    return ApiResource(resource.group, version, resource.plural, kind, namespaced, VERBS)


BUILT_IN = (
    api(names.NAMESPACES, "Namespace", namespaced=False),
    api(names.PODS, "Pod"),
    api(names.SERVICES, "Service"),
    api(names.CONFIG_MAPS, "ConfigMap"),
    api(SECRETS, "Secret"),
    api(EVENTS, "Event"),
    api(LEASES, "Lease"),
    api(names.CRDS, "CustomResourceDefinition", namespaced=False),
    api(names.API_SERVICES, "APIService", namespaced=False),
)

Body = dict[str, Any]


class Faults:
    """What goes wrong, until the test takes it away again."""

    def __init__(self) -> None:
        self.down = False
        """Nothing answers; open watches break."""
        self.frozen: set[str] = set()
        """Watches of these paths stay open and say nothing, not even their end."""
        self.stuck: set[str] = set()
        """The server's cache of these paths stands still: watches open, end in time, tell nothing."""
        self.bookmarks = True
        """Watches end with the version that they have come to."""
        self.refused: dict[str, ApiError] = {}
        """Lists, watches and reads of these paths are refused."""
        self.no_streams = False
        """Lists as streams are refused, as where the feature is off."""
        self.repeat = 0.0
        """The chance that an event is sent again, with some before it."""
        self.swap = 0.0
        """The chance that an event changes places with the next."""
        self.drop = 0.0
        """The chance that an event is never sent."""
        self.cut = 0.0
        """The chance that a watch breaks after an event."""


SWAPPED = 64
"""How far back one event may be carried by swaps of neighbours, at the chances that tests give."""


class FakeCluster:
    """Objects with versions and a history; `second_s` is how long its seconds last."""

    def __init__(self, *, second_s: float = 0.02, seed: int = 1) -> None:
        self.apis: dict[str, ApiResource] = {one.path(): one for one in BUILT_IN}
        self.stale: tuple[StaleGroup, ...] = ()
        self.objects: dict[str, dict[tuple[str, str], Body]] = defaultdict(dict)
        self.asked: list[tuple[str, str, bool]] = []
        """(what, path, metadata only) of each call."""
        self.faults = Faults()
        self._version = 100
        self._compacted = 0
        self._history: dict[str, list[tuple[int, str, Body]]] = defaultdict(list)
        self._news: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._second_s = second_s
        self._dice = random.Random(seed)  # noqa: S311 a test's own chance, repeatable by its seed

    # ---- writing to it

    def path(self, resource: Resource) -> str:
        """Return where a kind is served."""
        return next(path for path, one in self.apis.items() if one.resource == resource)

    def write(self, resource: Resource, name: str, namespace: str = "", **body: Any) -> Body:
        """Create or replace an object; labels and other metadata under `metadata`."""
        path = self.path(resource)
        self._version += 1
        key = (namespace, name)
        known = self.objects[path].get(key)
        uid = known["metadata"]["uid"] if known else f"uid-{self._version}"
        meta: Body = {
            **body.pop("metadata", {}),
            "name": name,
            "uid": uid,
            "resourceVersion": str(self._version),
            "creationTimestamp": "2026-11-20T10:11:12Z",
        }
        if namespace:
            meta["namespace"] = namespace
        api = self.apis[path]
        version = f"{api.group}/{api.version}".removeprefix("/")
        found = {"kind": api.kind, "apiVersion": version, "metadata": meta, **body}
        self.objects[path][key] = found
        self._tell(path, "MODIFIED" if known else "ADDED", found)
        return found

    def delete(self, resource: Resource, name: str, namespace: str = "") -> None:
        """Delete an object."""
        path = self.path(resource)
        found = self.objects[path].pop((namespace, name))
        self._version += 1
        meta = {**found["metadata"], "resourceVersion": str(self._version)}
        self._tell(path, "DELETED", {**found, "metadata": meta})

    def compact(self) -> None:
        """Forget the history: whoever asks for an older version is told that it is gone."""
        self._version += 1
        self._compacted = self._version
        self._history.clear()

    def forget_events(self, resource: Resource) -> None:
        """Lose what was not sent yet, without a trace."""
        self._history[self.path(resource)].clear()

    def hang_up(self) -> None:
        """Let every watch notice what changed in the faults."""
        for event in self._news.values():
            event.set()

    def _tell(self, path: str, kind: str, found: Body) -> None:
        self._history[path].append((self._version, kind, found))
        self._news[path].set()

    # ---- the port

    async def discover(self) -> Discovery:
        """Return what is served."""
        await self._answer("")
        served = [one for one in self.apis.values() if one.path() not in self.faults.refused]
        listed = [*served, *(self.apis[path] for path in self.faults.refused if path in self.apis)]
        return Discovery(tuple(sorted(listed)), self.stale)

    async def list_pages(
        self, path: str, limit: int, *, metadata_only: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the list, `limit` objects a page."""
        self.asked.append(("list", path, metadata_only))
        await self._answer(path)
        base, inside = _collection(path)
        version = self._version
        items = [
            self._shown(one, metadata_only)
            for (namespace, _), one in self.objects[base].items()
            if not inside or namespace == inside
        ]
        for at in range(0, max(len(items), 1), limit):
            last = at + limit >= len(items)
            meta = {"resourceVersion": str(version)} | ({} if last else {"continue": str(at)})
            yield json.dumps({"metadata": meta, "items": items[at : at + limit]}).encode()
            await self._answer(path)

    async def watch_lines(
        self,
        path: str,
        resource_version: str | None,
        send_initial_events: bool,
        *,
        timeout_s: int,
        metadata_only: bool,
    ) -> AsyncGenerator[bytes, None]:
        """Yield events, with every fault that is switched on, until the time is over."""
        self.asked.append(("stream" if send_initial_events else "watch", path, metadata_only))
        await self._answer(path)
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout_s * self._second_s
        if send_initial_events:
            if self.faults.no_streams:
                raise ApiError(422, "Invalid", "sendInitialEvents is forbidden")
            version = self._version
            for one in list(self.objects[path].values()):
                yield self._line("ADDED", one, metadata_only)
            yield self._bookmark(version, initial=True)
        else:
            version = int(resource_version or 0)
            if version < self._compacted:
                yield self._error(410, "Expired")
                return
        told: list[bytes] = []
        while loop.time() < ends:
            # WHY here too: one that was opened while the path is frozen says nothing either.
            await self._thawed(path)
            if path in self.faults.stuck:
                await asyncio.sleep(0.005)
                continue
            for block, version_ in self._due(path, version, metadata_only, told):
                version = max(version, version_)
                yield block
                if self._dice.random() < self.faults.cut:
                    raise UnavailableError("cut")
            self._news[path].clear()
            try:
                async with asyncio.timeout(max(ends - loop.time(), 0.001)):
                    await self._news[path].wait()
            except TimeoutError:
                continue
            finally:
                await self._thawed(path)
            await self._answer(path)
        if self.faults.bookmarks and path not in self.faults.stuck:
            mark = self._version
            for block, _ in self._due(path, version, metadata_only, told):
                yield block
            yield self._bookmark(mark, initial=False)

    async def _thawed(self, path: str) -> None:
        while path in self.faults.frozen:
            await asyncio.sleep(0.005)

    def _due(
        self, path: str, version: int, metadata_only: bool, told: list[bytes]
    ) -> Iterable[tuple[bytes, int]]:
        due = [one for one in self._history[path] if one[0] > version]
        dice, faults = self._dice, self.faults
        for at in range(len(due) - 1):
            if dice.random() < faults.swap:
                due[at], due[at + 1] = due[at + 1], due[at]
        lines: list[bytes] = []
        top = version
        for at, (number, kind, found) in enumerate(due):
            top = max(top, number)
            if dice.random() >= faults.drop:
                lines.append(self._line(kind, found, metadata_only))
            # WHY together: a watch that is cut between two swapped events resumes behind both, and
            # then one of them is lost, which no server that keeps its order does.
            if not lines or any(later < top for later, _, _ in due[at + 1 : at + 1 + SWAPPED]):
                continue
            told += lines
            yield b"".join(lines), top
            lines = []
            if dice.random() < faults.repeat:
                yield b"".join(told[-3:]), top

    async def get_raw(self, path: str, *, accept: str, timeout_s: float) -> bytes:
        """Return one object."""
        metadata_only = "PartialObjectMetadata" in accept
        self.asked.append(("get", path, metadata_only))
        await self._answer(path)
        for base, objects in self.objects.items():
            for (namespace, name), found in objects.items():
                if self.apis[base].path(namespace, name) == path:
                    return json.dumps(self._shown(found, metadata_only)).encode()
        raise NotFoundError(404, "NotFound", f"no {path}")

    async def _answer(self, path: str) -> None:
        await asyncio.sleep(0)
        if self.faults.down:
            raise UnavailableError("connection refused")
        if path in self.faults.refused:
            raise self.faults.refused[path]
        if path and not any(path.startswith(one) or "/namespaces/" in path for one in self.apis):
            raise NotFoundError(404, "NotFound", "the server could not find the requested resource")

    def _shown(self, found: Body, metadata_only: bool) -> Body:
        if not metadata_only:
            return found
        return {"kind": "PartialObjectMetadata", "metadata": found["metadata"]}

    def _line(self, kind: str, found: Body, metadata_only: bool) -> bytes:
        shown = self._shown(found, metadata_only)
        return json.dumps({"type": kind, "object": shown}).encode() + b"\n"

    def _bookmark(self, version: int, *, initial: bool) -> bytes:
        meta: Body = {"resourceVersion": str(version)}
        if initial:
            meta["annotations"] = {"k8s.io/initial-events-end": "true"}
        return json.dumps({"type": "BOOKMARK", "object": {"metadata": meta}}).encode() + b"\n"

    def _error(self, status: int, reason: str) -> bytes:
        found = {"kind": "Status", "status": "Failure", "code": status, "reason": reason}
        return json.dumps({"type": "ERROR", "object": found}).encode() + b"\n"


def _collection(path: str) -> tuple[str, str]:
    """Return the path of all objects of a kind, and the namespace that is asked for."""
    found = re.fullmatch(r"(.*)/namespaces/([^/]+)/([^/]+)", path)
    return (f"{found[1]}/{found[3]}", found[2]) if found else (path, "")


def forbidden() -> ForbiddenError:
    """Return the refusal of rights."""
    return ForbiddenError(403, "Forbidden", "cannot list")


def broken() -> ApiUnavailableError:
    """Return the refusal of a backend that is away."""
    return ApiUnavailableError(503, "ServiceUnavailable", "backend is away")


def gone() -> GoneError:
    """Return the refusal of an old version."""
    return GoneError(410, "Expired", "too old")
