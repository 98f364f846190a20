"""A made cluster written into a real API server, where controllers then bring it to life.

Apart from the rest of this room, which knows no server. What a controller would make anyway is
left to it (ReplicaSets, pods, endpoints, attachments): written by hand it would be made twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

import msgspec

from suture.adapters.kube import KubeClient, resource_path
from suture.errors import AlreadyExistsError, ApiError, NotFoundError, UnavailableError
from suture.lab.clusters.bodies import KINDS, Object
from suture.lab.clusters.cluster import Cluster
from suture.lab.clusters.customs import CERTIFICATES
from suture.lab.clusters.plan import BALANCERS, DATABASES
from suture.model.names import (
    API_SERVICES,
    CRDS,
    CRON_JOBS,
    ENDPOINT_SLICES,
    JOBS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    VALIDATING_WEBHOOKS,
    VOLUME_ATTACHMENTS,
    VOLUMES,
    Gvk,
    Resource,
)

WRITERS = 32
"""LIMIT: writes in flight. A lab's API server takes 200, and one core of it is busy with 16."""

ESTABLISH_S = 30.0
"""LIMIT: for a definition to be served; the API server takes a second."""

TRIES = 5
"""LIMIT: of a write that meets an API server which has not caught up, at RETRY_S each."""

RETRY_S = 0.5

MADE_BY_CONTROLLERS = frozenset({PODS, REPLICA_SETS, ENDPOINT_SLICES, VOLUME_ATTACHMENTS})
LEFT_OUT = frozenset({VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS, API_SERVICES})
"""WHY: nobody answers behind them in a lab, and what is to fail closed would stop everything."""

OWNERS = frozenset({BALANCERS, DATABASES, CERTIFICATES, CRON_JOBS})
"""Kinds whose objects own others that are written: their real uids are to be known."""

FIRST = (NAMESPACES, CRDS)
LAST = (CRON_JOBS, JOBS)

SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
PROBLEMS = 20
"""LIMIT: refusals that are told in full; they are alike."""

Told = Callable[[Resource, int], None]
"""Told after each object: the kind, and how many of it are there."""


class Settled(msgspec.Struct, kw_only=True):
    """What came of writing a cluster into a server."""

    created: dict[str, int] = {}
    there: dict[str, int] = {}
    """Objects that were there already, from an earlier attempt or by the server's own doing."""
    left_to_controllers: list[str] = []
    left_out: list[str] = []
    refused: int = 0
    problems: list[str] = []


class Settler:
    """Writes the objects of a cluster, each kind after what it stands on; can be run again."""

    def __init__(self, cluster: Cluster, client: KubeClient, told: Told) -> None:
        self._cluster = cluster
        self._client = client
        self._told = told
        self._uids: dict[str, str] = {}
        self._settled = Settled(
            left_to_controllers=sorted(map(str, MADE_BY_CONTROLLERS)),
            left_out=sorted(map(str, LEFT_OUT)),
        )

    async def settle(self) -> Settled:
        """Write everything. Errors: UnavailableError when the API server goes away."""
        for resource in in_order(self._cluster.kinds):
            await self._settle_kind(resource, self._cluster.kinds[resource])
            if resource == CRDS:
                await self._established()
        return self._settled

    async def _settle_kind(self, resource: Resource, gvk: Gvk) -> None:
        documents = self._cluster.documents(resource)
        done = 0
        async with asyncio.TaskGroup() as group:

            async def work() -> None:
                nonlocal done
                # WHY a shared iterator: whoever is free takes the next, and none is made early.
                for body in documents:
                    await self._write(resource, gvk, msgspec.json.decode(body))
                    done += 1
                    self._told(resource, done)

            for _ in range(WRITERS):
                group.create_task(work())

    async def _write(self, resource: Resource, gvk: Gvk, thing: Object) -> None:
        was, namespace = thing["metadata"]["uid"], thing["metadata"].get("namespace")
        manager = thing["metadata"]["managedFields"][0]["manager"]
        name = thing["metadata"]["name"]
        path = resource_path(gvk.group, gvk.version, resource.plural, namespace)
        body = as_written(resource, thing, self._uids)
        try:
            made = await self._created(path, body, manager)
        except AlreadyExistsError:
            _count(self._settled.there, resource)
            if resource in OWNERS:
                found = await self._client.get(f"{path}/{name}", metadata_only=True)
                self._uids[was] = found["metadata"]["uid"]
        except UnavailableError:
            raise
        except ApiError as error:
            self._settled.refused += 1
            if len(self._settled.problems) < PROBLEMS:
                self._settled.problems.append(f"{resource} {namespace or ''}/{name}: {error}")
        else:
            _count(self._settled.created, resource)
            if resource in OWNERS:
                self._uids[was] = made["metadata"]["uid"]

    async def _created(self, path: str, body: Object, manager: str) -> Object:
        for _ in range(TRIES - 1):
            try:
                return await self._client.create(path, body, field_manager=manager)
            except NotFoundError:  # a namespace or definition is not known everywhere at once
                await asyncio.sleep(RETRY_S)
        return await self._client.create(path, body, field_manager=manager)

    async def _established(self) -> None:
        wanted = {one for one in self._cluster.kinds if one not in KINDS}
        deadline = time.monotonic() + ESTABLISH_S
        while wanted - {one.resource for one in (await self._client.discover()).resources}:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"definitions are not served after {ESTABLISH_S:g} s; run the same again"
                )
            await asyncio.sleep(RETRY_S)


def in_order(kinds: Iterable[Resource]) -> list[Resource]:
    """Return the kinds to write: what others stand on or are owned by before them."""
    written = [one for one in kinds if one not in MADE_BY_CONTROLLERS | LEFT_OUT]
    custom = [one for one in written if one not in KINDS]
    rest = [one for one in written if one in KINDS and one not in FIRST + LAST]
    # WHY custom ones early: they own Services and StatefulSets.
    return [*FIRST, *custom, *rest, *LAST]


def as_written(resource: Resource, thing: Object, uids: Mapping[str, str]) -> Object:
    """Return an object as it is sent: without what the server fills in, its owners by real uid."""
    meta: Object = {k: part for k, part in thing["metadata"].items() if k not in SERVER_FIELDS}
    if "ownerReferences" in meta:
        known = [one for one in meta.pop("ownerReferences") if one["uid"] in uids]
        meta["ownerReferences"] = [{**one, "uid": uids[one["uid"]]} for one in known]
    found: Object = {k: part for k, part in thing.items() if k not in ("metadata", "status")}
    found["metadata"] = meta
    spec: Object = dict(found.get("spec") or {})
    if resource == SERVICES and spec.get("clusterIP") != "None":
        spec.pop("clusterIP", None)
    elif resource == VOLUMES:
        spec["claimRef"] = {k: part for k, part in spec["claimRef"].items() if k != "uid"}
    elif resource == CRON_JOBS:
        spec["suspend"] = True
    if spec:
        found["spec"] = spec
    return found


def _count(counts: dict[str, int], resource: Resource) -> None:
    counts[str(resource)] = counts.get(str(resource), 0) + 1
