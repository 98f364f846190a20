"""The hand of one actor: its identity, its writes, and what became of each of them.

Lives apart from the actors because all of them write in the same way, and only here is it decided
what a false refusal is: any word of Suture's but a 429 for an eviction that passes later.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from suture.adapters.kube import KubeClient, resource_path
from suture.errors import ApiError, NotFoundError, TooManyRequestsError, UnavailableError
from suture.lab.scenarios.refusals import refusal_in
from suture.model.names import Propagation

Object = dict[str, Any]

HELD_S = 300.0
"""LIMIT: for how long an eviction is tried again: kubectl drain is commonly given five minutes."""

AGAIN_S = 5.0
"""SOURCE: kubectl drain tries an eviction that was answered 429 again after five seconds."""

POLL_S = 0.5

_KINDS: Mapping[str, tuple[str, str, str]] = {
    "ConfigMap": ("", "v1", "configmaps"),
    "Namespace": ("", "v1", "namespaces"),
    "Node": ("", "v1", "nodes"),
    "PersistentVolume": ("", "v1", "persistentvolumes"),
    "PersistentVolumeClaim": ("", "v1", "persistentvolumeclaims"),
    "Pod": ("", "v1", "pods"),
    "Secret": ("", "v1", "secrets"),
    "Service": ("", "v1", "services"),
    "ServiceAccount": ("", "v1", "serviceaccounts"),
    "DaemonSet": ("apps", "v1", "daemonsets"),
    "Deployment": ("apps", "v1", "deployments"),
    "StatefulSet": ("apps", "v1", "statefulsets"),
    "HorizontalPodAutoscaler": ("autoscaling", "v2", "horizontalpodautoscalers"),
    "CronJob": ("batch", "v1", "cronjobs"),
    "Job": ("batch", "v1", "jobs"),
    "Ingress": ("networking.k8s.io", "v1", "ingresses"),
    "PodDisruptionBudget": ("policy", "v1", "poddisruptionbudgets"),
    "StorageClass": ("storage.k8s.io", "v1", "storageclasses"),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    "Ring": ("life.example.com", "v1", "rings"),
    "VolumeSnapshot": ("snapshot.storage.k8s.io", "v1", "volumesnapshots"),
}


def at(kind: str, space: str = "", name: str | None = None, sub: str | None = None) -> str:
    """Return the path of a kind's collection, of an object, or of a subresource."""
    group, version, plural = _KINDS[kind]
    return resource_path(group, version, plural, space or None, name, sub)


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One refusal as its actor heard it."""

    at_s: float
    actor: str
    identity: str
    what: str
    status: int
    decision: str = ""
    policy: str = ""
    message: str = ""


@dataclass
class Tally:
    """What became of the writes of all actors."""

    writes: Counter[str] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    """By actor, verb and kind of thing, as `gitops delete configmaps`."""
    refusals: list[Word] = field(default_factory=list)
    held: list[Word] = field(default_factory=list)
    """Evictions that Suture answered 429 and that passed, or became pointless, later."""
    disruption: Counter[str] = field(default_factory=Counter)
    """Evictions that a disruption budget held, by actor."""
    missed: Counter[str] = field(default_factory=Counter)
    """Conflicts, and things that were gone or going, by actor: the cluster is shared."""
    failures: list[Word] = field(default_factory=list)
    """Answers that are neither: of whatever else is wrong with the lab."""


@dataclass
class Hand:
    """One actor at its API server."""

    actor: str
    identity: str
    client: KubeClient
    dice: Random
    tally: Tally
    ends: float
    """When life is over, on the monotonic clock; waits end with it."""
    again_s: float = AGAIN_S
    held_s: float = HELD_S

    @property
    def over(self) -> bool:
        """Whether life is over."""
        return time.monotonic() >= self.ends

    # ---- reading

    async def get(self, kind: str, space: str, name: str) -> Object | None:
        """Return an object, None where there is none."""
        try:
            return await self.client.get(at(kind, space, name))
        except NotFoundError:
            return None

    async def listed(self, kind: str, space: str = "", **query: str) -> list[Object]:
        """Return the objects of a kind, in a namespace or everywhere."""
        page = await self.client.get(at(kind, space), query=query)
        found: list[Object] = page.get("items") or []
        return found

    async def until(self, true: Callable[[], Awaitable[bool]], most_s: float = 60.0) -> bool:
        """Wait until something is true; False when it is not in time, or life is over."""
        deadline = time.monotonic() + most_s
        while not await true():
            if self.over or time.monotonic() > deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True

    async def pause(self, mean_s: float) -> None:
        """Wait for about so long: between a half and twice of it."""
        wait = min(2 * mean_s, max(mean_s / 2, self.dice.expovariate(1 / mean_s)))
        await asyncio.sleep(max(0.0, min(wait, self.ends - time.monotonic())))

    # ---- writing: each returns the answer, None where the write did not happen

    async def create(self, body: Object) -> Object | None:
        """Create an object."""
        path = at(body["kind"], body["metadata"].get("namespace", ""))
        return await self._write("create", path, lambda: self.client.create(path, body))

    async def apply(self, body: Object) -> Object | None:
        """Apply an object, server-side."""
        metadata = body["metadata"]
        path = at(body["kind"], metadata.get("namespace", ""), metadata["name"])
        return await self._write(
            "apply",
            path,
            lambda: self.client.patch(
                path, body, type="apply", force=True, field_manager=self.actor
            ),
        )

    async def patch(
        self, kind: str, space: str, name: str, change: Object, sub: str | None = None
    ) -> Object | None:
        """Merge a change into an object."""
        path = at(kind, space, name, sub)
        return await self._write(
            "patch", path, lambda: self.client.patch(path, change, type="merge")
        )

    async def amend(self, kind: str, space: str, name: str, change: Object) -> Object | None:
        """Patch an object strategically: lists of containers and volumes are merged by name."""
        path = at(kind, space, name)
        return await self._write(
            "patch", path, lambda: self.client.patch(path, change, type="strategic")
        )

    async def update(self, body: Object) -> Object | None:
        """Replace an object as it was read; a conflict means to come again."""
        metadata = body["metadata"]
        path = at(body["kind"], metadata.get("namespace", ""), metadata["name"])
        return await self._write("update", path, lambda: self.client.update(path, body))

    async def delete(
        self,
        kind: str,
        space: str,
        name: str,
        *,
        propagation: Propagation | None = None,
        uid: str | None = None,
    ) -> Object | None:
        """Delete an object."""
        path = at(kind, space, name)
        return await self._write(
            "delete",
            path,
            lambda: self.client.delete(path, propagation_policy=propagation, uid=uid),
        )

    async def evict(self, space: str, name: str) -> bool:
        """Evict a pod, and try again while that is answered 429; True when it is on its way."""
        path = at("Pod", space, name, "eviction")
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": space},
        }
        deadline = time.monotonic() + self.held_s
        held: list[Word] = []
        while True:
            try:
                await self._sent("evict", path, lambda: self.client.create(path, body))
            except TooManyRequestsError as error:
                wait = self._waits(error, path, held)
                # WHY the end too: life ends for everybody, and says nothing of this eviction.
                if self.over:
                    break
                if time.monotonic() + wait > deadline:
                    self.tally.refusals += held
                    return False
                await asyncio.sleep(min(wait, max(0.0, self.ends - time.monotonic())))
            except ApiError as error:
                self._missed_or_refused(error, "evict", path)
                break
            else:
                self.tally.held += held
                return True
        self.tally.held += held
        return False

    def _waits(self, error: TooManyRequestsError, path: str, held: list[Word]) -> float:
        if refusal_in(error.message) is None:
            self.tally.disruption[self.actor] += 1
            return self.again_s
        held.append(self._word("evict", path, error))
        return max(self.again_s, error.retry_after_s or 0.0)

    async def _write(
        self, verb: str, path: str, call: Callable[[], Awaitable[Object]]
    ) -> Object | None:
        try:
            return await self._sent(verb, path, call)
        except ApiError as error:
            self._missed_or_refused(error, verb, path)
        except UnavailableError as error:
            self._failed(verb, path, str(error))
        return None

    async def _sent(self, verb: str, path: str, call: Callable[[], Awaitable[Object]]) -> Object:
        self.tally.writes[self.actor] += 1
        self.tally.verbs[f"{self.actor} {verb} {_plural(path)}"] += 1
        return await call()

    def _missed_or_refused(self, error: ApiError, verb: str, path: str) -> None:
        if refusal_in(error.message) is not None or "suture" in error.message.lower():
            self.tally.refusals.append(self._word(verb, path, error))
        elif error.status in (404, 409) or _namespace_ends(error):
            self.tally.missed[self.actor] += 1
        else:
            self._failed(verb, path, str(error))

    def _failed(self, verb: str, path: str, message: str) -> None:
        what = f"{verb} {path}"
        self.tally.failures.append(
            Word(
                at_s=time.time(),
                actor=self.actor,
                identity=self.identity,
                what=what,
                status=0,
                message=message,
            )
        )

    def _word(self, verb: str, path: str, error: ApiError) -> Word:
        refusal = refusal_in(error.message)
        return Word(
            at_s=time.time(),
            actor=self.actor,
            identity=self.identity,
            what=f"{verb} {path}",
            status=error.status,
            decision=refusal.decision if refusal else "",
            policy=refusal.policy if refusal else "",
            message=error.message,
        )


def _namespace_ends(error: ApiError) -> bool:
    """Whether a namespace that is being deleted took no new object: an eviction is one too.

    Source: the API server's NamespaceLifecycle admission, a cause of its Status.
    """
    causes = error.details.get("causes")
    return isinstance(causes, list) and any(
        isinstance(cause, dict) and cause.get("reason") == "NamespaceTerminating"
        for cause in causes
    )


def _plural(path: str) -> str:
    """Return what a path is about: `deployments`, `deployments/scale`."""
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    return "/".join([rest[0], *rest[2:3]])
