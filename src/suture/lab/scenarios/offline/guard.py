"""Suture as the guard of an offline run: the same lines as live, bytes in and bytes out.

Lives beside the server that it guards. What the API server does around Suture on a cluster is here:
it asks at authorization, picks the lane by the installed conditions, posts the review, and turns a
no into an error. The model is the store's own graph, which is never behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from suture.adapters.files import load_policies
from suture.adapters.memory import MemoryJournal, NoSignals
from suture.app.admit import Lane, Rim, admit
from suture.app.authorize import authorize
from suture.app.settle import Settler
from suture.app.slices import Slices
from suture.errors import ForbiddenError
from suture.install.guards import guards
from suture.install.lanes import LaneRule, lanes
from suture.install.manifests import base_manifests, reads_of
from suture.install.paths import path_of
from suture.install.profiles import profile_document
from suture.install.registration import registration
from suture.install.settings import Installation
from suture.install.settings import enrol as enrolled
from suture.journal.entry import decision_id
from suture.judge import World
from suture.lab.scenarios.account import bound_of, profile_of, refusals_since, would_refuse
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.offline import answers
from suture.lab.scenarios.offline.client import OfflineClient
from suture.lab.scenarios.offline.reviews import Write, access_of, review_of
from suture.lab.scenarios.offline.server import Server
from suture.lab.scenarios.offline.store import Thing
from suture.lab.scenarios.report import GuardMode
from suture.lab.scenarios.written import Written
from suture.model.actor import Operators, Profile, UserInfo
from suture.model.clock import Now
from suture.model.names import ObjectKey, Resource
from suture.model.request import Request
from suture.policy.compile import PolicySet
from suture.policy.rules import ClusterFacts
from suture.wire.discovery import ApiResource

TICK_S = 1.0
"""LIMIT: how late a refund may be, as live; horizons are a minute."""

ENTRIES_KEPT = 200_000
"""LIMIT: decisions of one run, each of at most 20,000 writes asked about ten times."""


class OfflineGuard:
    """Starts Suture for the length of a run, with an empty ledger and an empty history."""

    def __init__(
        self,
        server: Server,
        mode: GuardMode,
        *,
        speed: float = 1.0,
        authorizer: bool = True,
        policies: Sequence[Path] = (),
    ) -> None:
        """Guard the writes of `server`."""
        self.mode: GuardMode = mode
        self._server = server
        self._authorizer = authorizer
        self._policies = load_policies(policies, pack=not policies).at_speed(speed)

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[SutureOffline]:
        """Install, start with empty ledger and history, stop at the end of the block."""
        self._server.store.read_anew()
        suture = SutureOffline(self._server, self._policies, self.mode, authorizer=self._authorizer)
        await suture.install()
        async with suture.following():
            yield suture


class SutureOffline:
    """Suture while a run is on."""

    def __init__(
        self, server: Server, policies: PolicySet, mode: GuardMode, *, authorizer: bool
    ) -> None:
        self._server = server
        self._policies = policies
        self._mode = mode
        self._authorizer = authorizer
        store = server.store
        self._began = store.now()
        self._identities: frozenset[str] = frozenset()
        self._installation = Installation(reads=reads_of(policies.reads), authorizer=authorizer)
        self._lanes: tuple[LaneRule, ...] = lanes(self._installation)
        self._journal = MemoryJournal(entries_kept=ENTRIES_KEPT)
        self._decisions = 0
        self.world = World(
            policies,
            graph=store.graph,
            cluster=ClusterFacts("offline", authorizer=authorizer),
        )
        """All that it judges by, as it is at this moment."""
        self._settler = Settler(self.world, NoSignals(), store.now)
        self._rim = Rim(
            _Fresh(),
            self._journal,
            NoSignals(),
            store.now,
            self._id,
            store.trimmer,
            Slices(store.now),
        )

    def _id(self, now: Now) -> str:
        self._decisions += 1
        return decision_id(now, self._decisions)

    # ---- installing

    async def install(self) -> None:
        """Put what `suture install` puts on a cluster, less the workload: no pod answers here."""
        client = OfflineClient(self._server)
        wanted = [
            *(one for one in base_manifests(self._installation) if one["kind"] != "Deployment"),
            *guards(self._installation),
            registration(self._installation),
        ]
        for document in wanted:
            await client.patch(path_of(document), document, type="apply")

    @contextlib.asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Be asked, and told of every change and of the time, for the length of a block."""
        store, admission = self._server.store, self._server.admission
        self._settler.tick(store.now())
        store.observers.append(self._told)
        admission.suture = self._asked
        if self._authorizer:
            self._server.access = self._access
        ticking = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            ticking.cancel()
            self._server.access = None
            admission.suture = None
            store.observers.remove(self._told)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._settler.tick(self._server.store.now())

    def _told(self, before: Thing | None, after: Thing | None) -> None:
        same = before is not None and after is not None and before.uid == after.uid
        if before is not None and not same:
            self._settler.ended(before.seen)
        if before is not None and after is not None and same:
            terminates = after.seen.terminating and not before.seen.terminating
            self._settler.changed(after.seen, terminates=terminates)
        elif after is not None:
            self._settler.began(after.seen)

    # ---- what the runner asks

    async def enrol(self, voices: Sequence[Voice]) -> None:
        """Enrol actors in their stage."""
        profiles: list[Profile] = [profile_of(voice, self._mode) for voice in voices]
        self._identities = frozenset(voice.user for voice in voices)
        self._installation = enrolled(self._installation, profiles)
        self._lanes = lanes(self._installation)
        self.world.operators = Operators(profiles)
        client = OfflineClient(self._server)
        changed = [
            *(profile_document(one) for one in profiles),
            *guards(self._installation),
            registration(self._installation),
        ]
        for document in changed:
            await client.patch(path_of(document), document, type="apply")

    async def would_refuse(self, writes: Sequence[Written]) -> int:
        """Return how many of the writes the stage enforce had refused, refused ones included."""
        refusals = await refusals_since(self._journal, self._began.utc_s, self._identities)
        return would_refuse(writes, refusals)

    async def bound(self, populations: Mapping[str, int], span_s: float) -> int | None:
        """Return how much of these populations the budgets in force let one actor remove."""
        return bound_of(self._policies, populations, span_s)

    # ---- what the API server asks

    async def _access(
        self,
        user: UserInfo,
        verb: str,
        api: ApiResource,
        *,
        namespace: str,
        name: str,
        sub: str,
        selector: str | None = None,
        fields: str | None = None,
    ) -> None:
        """Ask at authorization. Errors: ForbiddenError in the API server's words."""
        body = access_of(
            user,
            verb,
            api,
            namespace=namespace,
            name=name,
            sub=sub,
            selector=selector,
            fields=fields,
        )
        answer = msgspec.json.decode(await authorize(body, self.world, self._rim))["status"]
        if answer.get("denied"):
            place = f' in the namespace "{namespace}"' if namespace else ""
            words = (
                f'{api.resource} is forbidden: User "{user.username}" cannot {verb} resource '
                f'"{api.plural}" in API group "{api.group}"{place}: {answer.get("reason", "")}'
            )
            raise ForbiddenError(403, "Forbidden", words)

    async def _asked(self, write: Write, request: Mapping[str, Any]) -> None:
        """Post a review in the write's lane. Errors: ApiError for a refusal."""
        lane = self._lane(write, request)
        if lane is None:
            return
        body = review_of(write, request)
        answer = msgspec.json.decode(await admit(body, Lane(lane), self.world, self._rim))
        response = answer["response"]
        if not response["allowed"]:
            status = response.get("status") or {}
            words = f'admission webhook "{lane}.suture.dev" denied the request: '
            raise answers.refused(
                int(status.get("code", 403)), words + str(status.get("message", ""))
            )

    def _lane(self, write: Write, request: Mapping[str, Any]) -> str | None:
        """Return the lane whose conditions a write meets; a write meets those of one at most."""
        expressions = self._server.admission.expressions
        bindings = expressions.bind(
            {"request": request, "object": write.new, "oldObject": write.old}
        )
        for lane in self._lanes:
            if expressions.all((one.expression for one in lane.conditions), bindings):
                return lane.name
        return None


class _Fresh:
    """A model that is the cluster: nothing in it is stale, and no read knows better."""

    def stale(self, resources: Iterable[Resource]) -> tuple[Resource, ...]:  # noqa: ARG002 - none is
        """Return none."""
        return ()

    async def refresh(self, keys: Iterable[ObjectKey]) -> None:
        """Read nothing."""

    def just_read(self, keys: Iterable[ObjectKey]) -> bool:  # noqa: ARG002 the protocol's
        """Return True: what is here is all there is."""
        return True

    def saw(self, request: Request) -> None:
        """Learn nothing."""
