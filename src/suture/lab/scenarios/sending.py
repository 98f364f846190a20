"""One write in the words of a step, as a request to the API server.

Apart from `steps`, which say when and what came of it. Errors are the client's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from suture.adapters.kube import KubeClient
from suture.errors import (
    ApiConflictError,
    TooManyRequestsError,
)
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object, path_of
from suture.lab.scenarios.expand import fill
from suture.lab.scenarios.format import Options, Step
from suture.lab.scenarios.merge import merged, patched
from suture.lab.scenarios.owners import resolved_owners
from suture.lab.scenarios.reading import replicas_of
from suture.lab.scenarios.refusals import refusal_in
from suture.lab.scenarios.targets import Target
from suture.lab.scenarios.written import VoidError
from suture.wire.discovery import ApiResource

# LIMIT: an update that loses a race reads again; five concurrent writers need five tries.
CONFLICT_TRIES = 8

# LIMIT: an eviction that a disruption budget holds is asked again as kubectl drain does, for as
# long as it waits for one pod by default of most drainers.
HELD_S = 60.0

HELD_RETRY_S = 1.0

LIVE = "live"

Complete = Callable[[Sequence[Object]], Awaitable[Sequence[Object]]]
"""What is done to an object before it is created: webhooks get their backends."""


class Sender:
    """Sends single writes as a client, in the words of a step."""

    def __init__(self, cluster: Cluster, run: str, complete: Complete | None) -> None:
        """Take the cluster; `complete`: what is done to an object before it is created."""
        self._cluster, self._run, self._complete = cluster, run, complete

    async def send(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        """Send one write of a step; return the API server's answer. Errors: ApiError."""
        sub = step.subresource
        match step.verb:
            case "create":
                if sub == "eviction":
                    return await self._evict(client, step, api, target)
                return await self._create(client, step, api, target)
            case "delete":
                return await self._delete(client, step, api, target)
            case "deletecollection":
                return await self._delete_collection(client, step, api, target)
            case "evict":
                return await self._evict(client, step, api, target)
            case "scale":
                body = {"spec": {"replicas": replicas_of(step)}}
                path = path_of(api, target.namespace, target.name, sub or "scale")
                return await client.patch(path, body, type="merge", **_manager(step))
            case "patch":
                return await self._patch(client, step, api, target)
            case "update":
                return await self._update(client, step, api, target)
            case _:
                raise VoidError(f"`{step.verb}` writes nothing")

    async def _create(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        body = self._body(step, target)
        metadata = dict(body.get("metadata") or {})
        body.setdefault("apiVersion", f"{api.group}/{api.version}" if api.group else api.version)
        body.setdefault("kind", api.kind)
        if step.subresource:
            path = path_of(api, target.namespace, target.name, step.subresource)
        else:
            path = path_of(api, target.namespace)
            if target.name and "generateName" not in metadata:
                metadata["name"] = target.name
        if api.namespaced:
            metadata["namespace"] = target.namespace
        body["metadata"] = metadata
        body = await resolved_owners(self._cluster, body)
        if self._complete is not None:
            [body] = await self._complete([body])
        return await client.create(path, body, **_manager(step))

    async def _delete(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        options = step.options
        path = path_of(api, target.namespace, target.name, step.subresource)
        uid, version = await self._preconditions(client, options, api, target)
        return await client.delete(
            path,
            propagation_policy=options.propagationPolicy,
            grace_period_seconds=options.gracePeriodSeconds,
            uid=uid,
            resource_version=version,
            dry_run=options.dryRun,
        )

    async def _preconditions(
        self, client: KubeClient, options: Options, api: ApiResource, target: Target
    ) -> tuple[str | None, str | None]:
        wanted = options.preconditions
        if wanted is None:
            return None, None
        uid, version = wanted.uid, wanted.resourceVersion
        if LIVE in (uid, version) and not target.uid:
            live = await client.get(path_of(api, target.namespace, target.name), metadata_only=True)
            target = msgspec.structs.replace(
                target,
                uid=live["metadata"]["uid"],
                resource_version=live["metadata"]["resourceVersion"],
            )
        return (
            target.uid if uid == LIVE else uid,
            target.resource_version if version == LIVE else version,
        )

    async def _delete_collection(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        chosen, options = step.selection, step.options
        return await client.delete_collection(
            path_of(api, target.namespace),
            label_selector=chosen.label_selector if chosen else None,
            field_selector=chosen.field_selector if chosen else None,
            propagation_policy=options.propagationPolicy,
            grace_period_seconds=options.gracePeriodSeconds,
            dry_run=options.dryRun,
        )

    async def _evict(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        """Evict, and ask again while a disruption budget holds the pod."""
        options: Object = {}
        if step.options.gracePeriodSeconds is not None:
            options["gracePeriodSeconds"] = step.options.gracePeriodSeconds
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": target.name, "namespace": target.namespace},
            "deleteOptions": options,
        }
        path = path_of(api, target.namespace, target.name, "eviction")
        deadline = now_s() + HELD_S
        while True:
            try:
                return await client.create(path, body, **_manager(step))
            except TooManyRequestsError as error:
                if refusal_in(error.message) or now_s() > deadline:
                    raise
                await asyncio.sleep(HELD_RETRY_S)

    async def _patch(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        path = path_of(api, target.namespace, target.name, step.subresource)
        value, kind = self._patch_of(step, target)
        if kind == "apply" and isinstance(value, dict):
            version = f"{api.group}/{api.version}" if api.group else api.version
            value = {"apiVersion": version, "kind": api.kind, **value}
            value["metadata"] = {**(value.get("metadata") or {}), "name": target.name}
        value = await self._with_owners(api, target, value)
        return await client.patch(
            path, value, type=kind, force=step.options.force, **_manager(step)
        )

    async def _with_owners(self, api: ApiResource, target: Target, value: Any) -> Any:
        """Return a patch whose ownerReferences carry the live owners' uids, of whatever type."""
        if isinstance(value, list):
            return [await self._with_owners_added(api, target, one) for one in value]
        owners = _owners_in(value)
        if not owners:
            return value
        return _with_metadata(value, ownerReferences=await self._owned(api, target, owners))

    async def _with_owners_added(self, api: ApiResource, target: Target, operation: Any) -> Any:
        """Return one operation of a JSON patch, completed where it writes owners."""
        given = operation.get("value") if isinstance(operation, dict) else None
        match str(operation.get("path", "")).split("/")[1:] if given else None:
            case ["metadata", "ownerReferences"] if isinstance(given, list):
                return {**operation, "value": await self._owned(api, target, given)}
            case ["metadata", "ownerReferences", _] if isinstance(given, dict):
                [owner] = await self._owned(api, target, [given])
                return {**operation, "value": owner}
            case ["metadata"]:
                whole = await self._with_owners(api, target, {"metadata": given})
                return {**operation, "value": whole["metadata"]}
            case []:
                return {**operation, "value": await self._with_owners(api, target, given)}
            case _:
                return operation

    async def _owned(self, api: ApiResource, target: Target, owners: list[Any]) -> list[Any]:
        """Return ownerReferences of a target with the live owners' uids."""
        metadata = {
            "namespace": target.namespace,
            "name": target.name,
            "ownerReferences": owners,
        }
        head = {"kind": api.kind, "apiVersion": f"{api.group}/{api.version}"}
        whole = await resolved_owners(self._cluster, {**head, "metadata": metadata})
        found: list[Any] = whole["metadata"]["ownerReferences"]
        return found

    def _patch_of(self, step: Step, target: Target) -> tuple[Any, Any]:
        if step.patch is not None:
            return fill(step.patch.value, target.i, self._run), step.patch.kind
        if step.body is not None:
            return self._body(step, target), "merge"
        return {"spec": {"replicas": step.replicas}}, "merge"

    async def _update(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
        """Read, change, replace; read again when somebody else was faster."""
        path = path_of(api, target.namespace, target.name, step.subresource)
        # WHY: only a Scale is a document of its own; `finalize` and its like cannot even be read.
        source = (
            path if step.subresource == "scale" else path_of(api, target.namespace, target.name)
        )
        for attempt in range(CONFLICT_TRIES):
            live = await client.get(source)
            try:
                # WHY here too: what is changed in an object may be its owners.
                changed = await resolved_owners(self._cluster, self._changed(step, target, live))
                return await client.update(path, changed, **_manager(step))
            except ApiConflictError as error:
                if refusal_in(error.message) or attempt == CONFLICT_TRIES - 1:
                    raise
        raise VoidError(f"{path} is written faster than it can be read")

    def _changed(self, step: Step, target: Target, live: Object) -> Object:
        found: Object
        if step.patch is not None:
            value, kind = self._patch_of(step, target)
            found = patched(live, value) if kind == "json" else merged(live, value)
            return found
        # WHY not its truth: `{}` is a whole object written again as it is.
        sized = step.body is None
        body = {"spec": {"replicas": step.replicas}} if sized else self._body(step, target)
        if "apiVersion" not in body or "kind" not in body:
            found = merged(live, body)
            return found
        metadata = {
            "name": target.name,
            **(body.get("metadata") or {}),
            "resourceVersion": live["metadata"]["resourceVersion"],
        }
        return {**body, "metadata": metadata}

    def _body(self, step: Step, target: Target) -> Object:
        found: Object = fill(step.body or {}, target.i, self._run)
        return found


def _owners_in(value: Any) -> list[Any]:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return owners if isinstance(owners, list) else []


def _with_metadata(value: Object, **fields: Any) -> Object:
    return {**value, "metadata": {**value["metadata"], **fields}}


def _manager(step: Step) -> dict[str, Any]:
    """Return the options of a write: who manages its fields, and whether it is only asked."""
    return {
        "field_manager": step.options.fieldManager or step.by,
        "dry_run": step.options.dryRun,
    }
