"""Does what the steps say, as the actors, against the API server, and keeps account of each write.

Lives apart from `targets` (which objects) and `waits` (when to go on). A write that Suture refuses
is counted and not tried again; one that finds its object gone, or there already, does nothing; one
that fails for any other reason, a conflict that passes aside, makes the run void: then it measured
something else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from suture.adapters.kube import KubeClient
from suture.errors import (
    AlreadyExistsError,
    ApiConflictError,
    ApiError,
    InputError,
    NotFoundError,
    SutureError,
    TooManyRequestsError,
)
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object, listed, path_of
from suture.lab.scenarios.expand import fill
from suture.lab.scenarios.format import Options, Scenario, Step
from suture.lab.scenarios.merge import merged, patched
from suture.lab.scenarios.populate import resolved_owners
from suture.lab.scenarios.reading import replicas_of
from suture.lab.scenarios.refusals import Refusal, refusal_in
from suture.lab.scenarios.targets import Target, targets
from suture.wire.discovery import ApiResource

Outcome = Literal["done", "refused", "missing"]

# LIMIT: an update that loses a race reads again; five concurrent writers need five tries.
CONFLICT_TRIES = 8
# LIMIT: an eviction that a disruption budget holds is asked again as kubectl drain does, for as
# long as it waits for one pod by default of most drainers.
HELD_S = 60.0
HELD_RETRY_S = 1.0

LIVE = "live"

Complete = Callable[[Sequence[Object]], Awaitable[Sequence[Object]]]
"""What is done to an object before it is created: webhooks get their backends."""


class VoidError(SutureError):
    """The run does not count: something failed that is not Suture's doing."""

    code = "scenario_void"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """One write and its answer. `number` counts from 1 over all steps."""

    number: int
    step: int
    guilty: bool
    verb: str
    resource: str
    namespace: str
    name: str
    outcome: Outcome
    refusal: Refusal | None = None
    deleted: tuple[str, ...] = ()
    """The uids that this write asked to go."""
    created: str = ""
    """The uid that this write brought into being."""
    resource_version: str = ""
    stored: bool = True
    """False where the object was so already: the API server answers, and writes nothing."""
    took_s: float = 0.0
    answered_s: float = 0.0
    """On the monotonic clock."""


class Aim(msgspec.Struct, frozen=True, kw_only=True):
    """What must be so at the end because of an admitted write."""

    api: ApiResource
    namespace: str
    name: str
    uid: str = ""
    gone: bool


class Stepper:
    """Runs steps one after another."""

    def __init__(
        self,
        cluster: Cluster,
        voices: Mapping[str, Voice],
        scenario: Scenario,
        *,
        run: str,
        speed: float = 1.0,
        complete: Complete | None = None,
        heard: Callable[[Written], None] | None = None,
    ) -> None:
        """Take the cluster and who writes on it."""
        self.cluster = cluster
        self.voices = voices
        self.scenario = scenario
        self.run = run
        self.speed = speed
        self.complete = complete
        self.heard = heard
        self.writes: list[Written] = []
        self.aims: dict[tuple[str, str, str], Aim] = {}
        self.created: list[tuple[ApiResource, str, str]] = []
        self.sent = 0
        self._versions: dict[tuple[str, str, str], str] = {}

    async def write(self, at: int) -> None:
        """Do a writing step. Errors: VoidError."""
        step = self.scenario.steps[at]
        voice = self.voices[step.by]
        if voice.client is None:
            raise VoidError(f"step {at}: controllers are never scripted on the lab")
        try:
            api = self._api(step)
            places = await targets(self.cluster, voice.client, step, api, self.run)
            await self._paced(step, places, lambda target: self._one(at, step, api, voice, target))
        except InputError as error:
            raise VoidError(f"step {at}: {error}") from error
        except ApiError as error:
            raise VoidError(f"step {at}: {error}") from error

    def _api(self, step: Step) -> ApiResource:
        api = self.cluster.kinds.find(step.resource_name)
        if step.body is not None and "apiVersion" in step.body:
            return msgspec.structs.replace(
                api, version=str(step.body["apiVersion"]).rpartition("/")[2]
            )
        return api

    async def _paced(
        self, step: Step, places: list[Target], do: Callable[[Target], Awaitable[None]]
    ) -> None:
        """Do something at each place, spread evenly over the step's span."""
        span_s = (step.over_s or 0.0) / self.speed
        gap_s = span_s / len(places) if places else 0.0
        began = now_s()
        slots = asyncio.Semaphore(step.parallel)

        async def one(target: Target) -> None:
            try:
                await do(target)
            finally:
                slots.release()

        try:
            async with asyncio.TaskGroup() as tasks:
                for number, target in enumerate(places):
                    await asyncio.sleep(max(0.0, began + number * gap_s - now_s()))
                    await slots.acquire()
                    tasks.create_task(one(target))
        except* SutureError as errors:
            raise _first(errors) from None

    async def _one(
        self, at: int, step: Step, api: ApiResource, voice: Voice, target: Target
    ) -> None:
        """Send one write, and note what came of it."""
        self.sent += 1
        number = self.sent
        began = time.perf_counter()
        refusal: Refusal | None = None
        outcome: Outcome = "done"
        answer: Object = {}
        aims = await self._aims(step, api, target)
        try:
            answer = await self._as_itself(voice, step, api, target)
        except (NotFoundError, AlreadyExistsError):
            # WHY no error: an earlier write of the story may have been refused; this one finds
            # the world as that left it, and writes nothing.
            outcome = "missing"
        except ApiError as error:
            refusal = refusal_in(error.message)
            if refusal is None:
                raise VoidError(
                    f"step {at}, write {number} ({step.verb} {_place(api, target)}): {error}"
                ) from error
            outcome = "refused"
        metadata = answer.get("metadata") or {}
        version = str(metadata.get("resourceVersion") or "")
        self.writes.append(
            Written(
                number=number,
                step=at,
                guilty=at in self.scenario.guilty_steps,
                verb=step.verb or "",
                resource=str(api.resource),
                namespace=target.namespace,
                name=target.name or str(metadata.get("name", "")),
                outcome=outcome,
                refusal=refusal,
                deleted=_deleted(step, answer),
                created=_created(step, answer),
                resource_version=version,
                stored=self._stored(api, target, version),
                took_s=time.perf_counter() - began,
                answered_s=now_s(),
            )
        )
        if self.heard is not None:
            self.heard(self.writes[-1])
        if outcome == "done" and not step.options.dryRun:
            self._remember(step, api, target, metadata, aims)

    async def _as_itself(
        self, voice: Voice, step: Step, api: ApiResource, target: Target
    ) -> Object:
        """Send as the actor; by impersonation once its token has died with its account."""
        client = voice.client
        if client is None:
            raise VoidError("a controller cannot be made to write")
        try:
            return await self._send(client, step, api, target)
        except ApiError as error:
            if error.status != 401 or voice.stand_in is None:
                raise
            voice.client, old = voice.stand_in, voice.client
            await old.aclose()
            return await self._send(voice.client, step, api, target)

    # ------------------------------------------------------------------ the verbs

    async def _send(
        self, client: KubeClient, step: Step, api: ApiResource, target: Target
    ) -> Object:
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
        body = await resolved_owners(self.cluster, body)
        if self.complete is not None:
            [body] = await self.complete([body])
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
        if isinstance(value, dict) and (value.get("metadata") or {}).get("ownerReferences"):
            value = await self._owned(api, target, value)
        return await client.patch(
            path, value, type=kind, force=step.options.force, **_manager(step)
        )

    async def _owned(self, api: ApiResource, target: Target, value: Object) -> Object:
        """Return a patch whose ownerReferences carry the live owners' uids."""
        head = {"kind": api.kind, "apiVersion": f"{api.group}/{api.version}"}
        metadata = {**value["metadata"], "namespace": target.namespace, "name": target.name}
        whole = await resolved_owners(self.cluster, {**head, "metadata": metadata})
        owners = whole["metadata"]["ownerReferences"]
        return {**value, "metadata": {**value["metadata"], "ownerReferences": owners}}

    def _patch_of(self, step: Step, target: Target) -> tuple[Any, Any]:
        if step.patch is not None:
            return fill(step.patch.value, target.i, self.run), step.patch.kind
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
                return await client.update(
                    path, self._changed(step, target, live), **_manager(step)
                )
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
        body = self._body(step, target) or {"spec": {"replicas": step.replicas}}
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
        found: Object = fill(step.body or {}, target.i, self.run)
        return found

    # ------------------------------------------------------------------ the account

    def _stored(self, api: ApiResource, target: Target, version: str) -> bool:
        """Note the version that a write was answered with; return whether it is a new one.

        Source: the API server's store, which drops an update that changes nothing.
        """
        if not version:
            return True
        place = (str(api.resource), target.namespace, target.name)
        before, self._versions[place] = self._versions.get(place), version
        return before != version

    async def _aims(self, step: Step, api: ApiResource, target: Target) -> list[Aim]:
        """Return what a delete is to make gone, listed before it acts."""
        if step.verb == "deletecollection" and not step.options.dryRun:
            chosen = step.selection
            found = await listed(
                self.cluster.client,
                api,
                target.namespace,
                labels=chosen.label_selector if chosen else None,
                fields=chosen.field_selector if chosen else None,
            )
            return [
                Aim(api=api, namespace=one.namespace, name=one.name, uid=one.uid, gone=True)
                for one in found
            ]
        return []

    def _remember(
        self,
        step: Step,
        api: ApiResource,
        target: Target,
        metadata: Mapping[str, Any],
        aims: list[Aim],
    ) -> None:
        if step.verb in ("delete", "evict") or step.subresource == "eviction":
            uid = target.uid or str(metadata.get("uid") or "")
            aims = [Aim(api=api, namespace=target.namespace, name=target.name, uid=uid, gone=True)]
            if api.plural == "namespaces" and step.verb == "delete":
                # WHY: what was written into a namespace goes with it, and is meant to.
                self.aims = {k: one for k, one in self.aims.items() if k[1] != target.name}
        elif step.verb != "deletecollection":
            name = target.name or str(metadata.get("name") or "")
            if step.verb == "create" and not step.subresource:
                name = str(metadata.get("name") or name)
                self.created.append((api, target.namespace, name))
            # WHY not when terminating: a lifted finalizer lets the object go, and is meant to.
            if "deletionTimestamp" not in metadata:
                aims = [Aim(api=api, namespace=target.namespace, name=name, gone=False)]
        for aim in aims:
            self.aims[str(api.resource), aim.namespace, aim.name] = aim


def _deleted(step: Step, answer: Object) -> tuple[str, ...]:
    """Return the uids in the answer to a delete: of an object, of a Status, or of a list."""
    if step.verb == "deletecollection":
        return tuple(one["metadata"]["uid"] for one in answer.get("items") or ())
    if step.verb != "delete":
        return ()
    uid = (answer.get("details") or {}).get("uid") or (answer.get("metadata") or {}).get("uid")
    return (str(uid),) if uid else ()


def _created(step: Step, answer: Object) -> str:
    """Return the uid in the answer to a creation, empty for every other write."""
    if step.verb != "create" or step.subresource:
        return ""
    return str((answer.get("metadata") or {}).get("uid") or "")


def _manager(step: Step) -> dict[str, Any]:
    """Return the options of a write: who manages its fields, and whether it is only asked."""
    return {
        "field_manager": step.options.fieldManager or step.by,
        "dry_run": step.options.dryRun,
    }


def _place(api: ApiResource, target: Target) -> str:
    place = f"{target.namespace}/" if target.namespace else ""
    return f"{api.resource} {place}{target.name}"


def _first(errors: BaseExceptionGroup[SutureError]) -> SutureError:
    """Return the first of several errors that happened at once."""
    one: BaseException = errors
    while isinstance(one, BaseExceptionGroup):
        one = one.exceptions[0]
    return one if isinstance(one, SutureError) else VoidError(str(one))
