"""Does what the steps say, as the actors, against the API server, and keeps account of each write.

Lives apart from `targets` (which objects) and `waits` (when to go on). A write that Suture refuses
is counted and not tried again; one that finds its object gone, or there already, does nothing; one
that fails for any other reason, a conflict that passes aside, makes the run void: then it measured
something else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from suture.errors import (
    AlreadyExistsError,
    ApiError,
    InputError,
    NotFoundError,
    SutureError,
    first_of,
)
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.cluster import Cluster, Object, listed, path_of
from suture.lab.scenarios.collecting import created_s
from suture.lab.scenarios.format import Scenario, Step
from suture.lab.scenarios.refusals import Refusal, refusal_in
from suture.lab.scenarios.sending import Complete, Sender
from suture.lab.scenarios.story import Story
from suture.lab.scenarios.targets import Target, targets
from suture.lab.scenarios.written import Aim, Outcome, VoidError, Written
from suture.wire.discovery import ApiResource


class Stepper:
    """Runs steps one after another."""

    def __init__(
        self,
        cluster: Cluster,
        voices: Mapping[str, Voice],
        scenario: Scenario,
        *,
        run: str,
        story: Story,
        speed: float = 1.0,
        complete: Complete | None = None,
        heard: Callable[[Written], None] | None = None,
    ) -> None:
        """Take the cluster and who writes on it."""
        self.cluster = cluster
        self.voices = voices
        self.scenario = scenario
        self.run = run
        self.story = story
        self.speed = speed
        self._sender = Sender(cluster, run, complete)
        self.heard = heard
        self.writes: list[Written] = []
        self.aims: dict[tuple[str, str, str], Aim] = {}
        self.created: list[tuple[ApiResource, str, str]] = []
        self.sent = 0
        # WHY whole: so are the times of creation.
        self._began_s = int(time.time())
        self._versions: dict[tuple[str, str, str], str] = {}
        # WHY not a controller's: it writes by itself, whatever these find.
        own = {name for name, voice in voices.items() if voice.client is not None}
        self._writing = [
            at for at, one in enumerate(scenario.steps) if one.writes and one.by in own
        ]

    async def write(self, at: int) -> None:
        """Do a writing step. Errors: VoidError."""
        step = self.scenario.steps[at]
        voice = self.voices[step.by]
        if voice.client is None:
            raise VoidError(f"step {at}: controllers are never scripted on the lab")
        try:
            api = self._api(step)
            # WHY: a sweep takes what it finds; ordinary work is not about a guard, which it names.
            sweeps = self.scenario.kind == "incident"
            places = await targets(self.cluster, voice.client, step, api, self.run, sweeps=sweeps)
            await self._paced(step, places, lambda target: self._one(at, step, api, voice, target))
        except InputError as error:
            raise VoidError(f"step {at}: {error}") from error
        except ApiError as error:
            raise VoidError(f"step {at}: {error}") from error
        if at == self._writing[-1]:
            self._check_found()

    def _check_found(self) -> None:
        """Check that any step found something to write. Errors: VoidError.

        Not all of them: a delete of what may be there or not is ordinary. Not once a write was
        refused: what came of it may be what the others were about.
        """
        if any(one.outcome == "refused" or _found(one) for one in self.writes):
            return
        at = self._writing[0]
        step = self.scenario.steps[at]
        own = sum(one.step == at for one in self.writes)
        why = f"nothing of its {own} writes is there" if own else "nothing is selected"
        raise VoidError(f"step {at} ({step.verb} {step.resource}) writes nothing: {why}")

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
        began = self.story.now_s()
        slots = asyncio.Semaphore(step.parallel)

        async def one(target: Target) -> None:
            try:
                await do(target)
            finally:
                slots.release()

        try:
            async with asyncio.TaskGroup() as tasks:
                for number, target in enumerate(places):
                    due_s = began + number * gap_s
                    await self.story.gap(max(0.0, due_s - self.story.now_s()))
                    await slots.acquire()
                    tasks.create_task(one(target))
        except ExceptionGroup as failures:
            error = first_of(failures, SutureError)
            if error is None:
                raise
            raise error from None

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
                answered_s=self.story.now_s(),
            )
        )
        if self.heard is not None:
            self.heard(self.writes[-1])
        if outcome == "done" and not step.options.dryRun:
            self._remember(step, api, target, answer, aims)

    async def _as_itself(
        self, voice: Voice, step: Step, api: ApiResource, target: Target
    ) -> Object:
        """Send as the actor; by impersonation once its token has died with its account."""
        client = voice.client
        if client is None:
            raise VoidError("a controller cannot be made to write")
        try:
            return await self._sender.send(client, step, api, target)
        except ApiError as error:
            if error.status != 401 or voice.stand_in is None:
                raise
            voice.client, old = voice.stand_in, voice.client
            await old.aclose()
            return await self._sender.send(voice.client, step, api, target)

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

    def _applied(self, step: Step, metadata: Mapping[str, Any]) -> bool:
        """Whether a server-side apply brought an object into being; the answer does not tell.

        One that is no older than the story: what was there before was built before it began.
        """
        if step.patch is None or step.patch.kind != "apply":
            return False
        return (
            "creationTimestamp" in metadata and created_s({"metadata": metadata}) >= self._began_s
        )

    async def _aims(self, step: Step, api: ApiResource, target: Target) -> list[Aim]:
        """Return what a delete is to make gone, listed before it acts; the pod of an eviction.

        WHY an eviction: its answer does not say which pod it was, and of a StatefulSet the next one
        has its name.
        """
        if _evicts(step) and not target.uid and not step.options.dryRun:
            try:
                live = await self.cluster.client.get(
                    path_of(api, target.namespace, target.name), metadata_only=True
                )
            except NotFoundError:
                return []
            uid = str(live["metadata"]["uid"])
            return [Aim(api=api, namespace=target.namespace, name=target.name, uid=uid, gone=True)]
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
        answer: Object,
        aims: list[Aim],
    ) -> None:
        metadata = answer.get("metadata") or {}
        if step.verb == "delete" or _evicts(step):
            uid = target.uid or _uid(answer)
            aims = aims or [
                Aim(api=api, namespace=target.namespace, name=target.name, uid=uid, gone=True)
            ]
            if api.plural == "namespaces" and step.verb == "delete":
                # WHY: what was written into a namespace goes with it, and is meant to.
                self.aims = {k: one for k, one in self.aims.items() if k[1] != target.name}
        elif step.verb != "deletecollection":
            name = target.name or str(metadata.get("name") or "")
            if not step.subresource and (step.verb == "create" or self._applied(step, metadata)):
                name = str(metadata.get("name") or name)
                self.created.append((api, target.namespace, name))
            # WHY not when terminating: a lifted finalizer lets the object go, and is meant to.
            if "deletionTimestamp" not in metadata:
                owners = tuple(metadata.get("ownerReferences") or ())
                aims = [
                    Aim(api=api, namespace=target.namespace, name=name, gone=False, owners=owners)
                ]
        for aim in aims:
            self.aims[str(api.resource), aim.namespace, aim.name] = aim


def _found(one: Written) -> bool:
    """Whether a write found its object; a collection, an object at all."""
    return one.outcome == "done" and (one.verb != "deletecollection" or bool(one.deleted))


def _deleted(step: Step, answer: Object) -> tuple[str, ...]:
    """Return the uids in the answer to a delete: of an object, of a Status, or of a list."""
    if step.verb == "deletecollection":
        return tuple(one["metadata"]["uid"] for one in answer.get("items") or ())
    if step.verb != "delete":
        return ()
    uid = _uid(answer)
    return (uid,) if uid else ()


def _uid(answer: Object) -> str:
    """Return the uid in an answer, of an object or of a Status; empty where it has none."""
    found = (answer.get("details") or {}).get("uid") or (answer.get("metadata") or {}).get("uid")
    return str(found or "")


def _evicts(step: Step) -> bool:
    return step.verb == "evict" or step.subresource == "eviction"


def _created(step: Step, answer: Object) -> str:
    """Return the uid in the answer to a creation, empty for every other write."""
    if step.verb != "create" or step.subresource:
        return ""
    return str((answer.get("metadata") or {}).get("uid") or "")


def _place(api: ApiResource, target: Target) -> str:
    place = f"{target.namespace}/" if target.namespace else ""
    return f"{api.resource} {place}{target.name}"
