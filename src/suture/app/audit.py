"""Anti-entropy: the model compared with the cluster, one kind at a time, and mended.

Watches have lost events before, and will again. So each kind is listed now and then, names and
versions only, beside its watch and without holding it up; what differs is read live and put right.
A difference that the watch has yet to tell is none. What is found is counted: it should be nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import aclosing

import structlog

from suture.app.follow import Follower, Pace
from suture.app.intake import Found, Intake, State
from suture.app.liveread import LiveReads
from suture.app.ports import Cluster
from suture.app.slices import SLICE_CHECK
from suture.errors import SutureError, UnavailableError
from suture.model.clock import Now
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject, PodState
from suture.wire.identities import Identities, Identity, identities

log = structlog.get_logger(__name__)

PAGE_ITEMS = 200
"""LIMIT: names a page: 0.2 to 0.6 MB, decoded in one go, which takes 1 ms: less than a slice."""

LIST_PER_S = 2_500
"""LIMIT: names a second within one kind: 620,000 pods in 248 s, since a list that is read for
longer than the 300 s between two compactions ends in the middle."""

ROUND_PER_S = 1_000
"""LIMIT: names a second on the average, kept by resting after each kind. One costs 10 to 20 us with
its share of TLS and HTTP: 1 to 2 % of a core, 2 MB/s from the API server, and 2 million objects are
gone through in 34 minutes."""

SUSPECTS = 256
"""LIMIT: objects read live in one audit, at READS_PER_S; a sound model has none."""

READS_PER_S = 50
"""LIMIT: a tenth of what one caller may have in flight, at 3 ms each."""

RELIST_AT = 64
"""LIMIT: confirmed differences of one kind after which it is listed anew, whole, instead."""

DIFFERING = 4_096
"""LIMIT: differences kept of one list: sixty times what makes the kind be listed anew."""

READ_S = 1.0
"""LIMIT: one live read; nobody waits for it."""

RELISTED = "relisted"
"""Counted once where a kind had so many differences that it was listed anew."""


class Auditor:
    """Goes round the kinds for ever. Also an observer: what went while a list was read is known."""

    heeds: AbstractSet[Resource] | None = frozenset()
    """Only what ended."""

    def __init__(
        self,
        cluster: Cluster,
        intake: Intake,
        followers: Mapping[Resource, Follower],
        reads: LiveReads,
        *,
        clock: Callable[[], Now],
        pace: Pace,
    ) -> None:
        self.repairs: Counter[tuple[Resource, str]] = Counter()
        """What was put right, by kind and by what it was: `missing`, `stale`, `extra`; and
        `relisted`."""
        self.audits: Counter[Resource] = Counter()
        """How often each kind was gone through to its end."""
        self._cluster = cluster
        self._intake = intake
        self._followers = followers
        self._reads = reads
        self._clock = clock
        self._pace = pace
        self._auditing: Resource | None = None
        self._ended: set[str] = set()

    # ---- as an observer

    def began(self, thing: ClusterObject) -> None:
        """Let it go by."""

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Let it go by."""

    def restated(self, state: PodState) -> None:
        """Nothing: it is audited as it is then."""

    def ended(self, thing: ClusterObject) -> None:
        """Note that a list that is being read may still have it."""
        if thing.key.resource == self._auditing:
            self._ended.add(thing.uid)

    # ---- round and round

    async def run(self, ready: Callable[[], bool]) -> None:
        """Audit one kind after the other, for ever, from when the model is ready."""
        while True:
            await asyncio.sleep(self._pace.audit_rest_s)
            for resource in tuple(self._followers):
                if not ready():
                    break
                began_ns = self._clock().mono_ns
                names = await self.audit(resource)
                took_s = (self._clock().mono_ns - began_ns) / 1e9
                rest_s = max(self._pace.audit_rest_s, names / ROUND_PER_S - took_s)
                await asyncio.sleep(rest_s)

    async def audit(self, resource: Resource) -> int:
        """Compare one kind with the cluster, and mend it; return how many names were read."""
        follower = self._followers.get(resource)
        if follower is None or not follower.reflector.sound:
            return 0
        self._auditing, self._ended = resource, set()
        lists = follower.reflector.counts["relists"]
        comparison = _Comparison(self._intake, resource, self._ended)
        try:
            await self._read(follower, comparison)
            if follower.reflector.counts["relists"] == lists:
                await self._mend(follower, comparison)
        except SutureError as error:
            log.info("audit was not finished", resource=str(resource), error=str(error))
        finally:
            self._auditing, self._ended = None, set()
        return comparison.names

    async def _read(self, follower: Follower, comparison: _Comparison) -> None:
        pages = self._cluster.list_pages(follower.api.path(), PAGE_ITEMS, metadata_only=True)
        async with aclosing(pages):
            async for body in pages:
                await self._intake.slices.breathe()
                page = identities(body)
                await comparison.take(page)
                if page.last:
                    return
                await asyncio.sleep(len(page.objects) / LIST_PER_S)
        raise UnavailableError("the list ended before its last page")

    async def _mend(self, follower: Follower, comparison: _Comparison) -> None:
        """Read live what differs, and count what was lost for good."""
        resource = follower.resource
        extra = await comparison.unlisted()
        if extra:
            await self._caught_up(follower, comparison.version)
        told = self._intake.told_up_to(resource)
        sure = told is not None and told >= comparison.version
        listed = [key for key, uid in comparison.differing.items() if uid not in self._ended]
        confirmed = 0
        # WHY some of many: a kind with thousands of differences is listed anew after 64.
        suspects = [*_spread(listed, SUSPECTS // 2), *_spread(extra, SUSPECTS // 2)]
        unlisted = frozenset(extra)
        for key in suspects:
            what = await self._reads.read(key, READ_S)
            lost = what is Found.MISSING or what is Found.STALE
            # A delete that the list had seen, and the stream has gone past.
            if lost or (what is Found.EXTRA and sure and key in unlisted):
                confirmed += 1
                self.repairs[resource, what] += 1
                log.warning("model was mended", object=str(key), was=what)
            if confirmed >= RELIST_AT:
                self.repairs[resource, RELISTED] += 1
                follower.relist()
                break
            await asyncio.sleep(1 / READS_PER_S)
        self.audits[resource] += 1

    async def _caught_up(self, follower: Follower, version: int) -> None:
        """Wait until the stream has told all up to a version, for the length of a watch."""
        most_s = self._pace.fresh_watch_s if follower.want.fresh else self._pace.watch_s
        ends_ns = self._clock().mono_ns + int((most_s + self._pace.slack_s) * 1e9)
        while self._clock().mono_ns < ends_ns:
            told = self._intake.told_up_to(follower.resource)
            if told is not None and told >= version:
                return
            await asyncio.sleep(self._pace.look_s)


class _Comparison:
    """One list of names against the model, while both go on."""

    def __init__(self, intake: Intake, resource: Resource, ended: set[str]) -> None:
        self.names = 0
        self.version = 0
        """That of the list."""
        self.differing: dict[ObjectKey, str] = {}
        """What the list has and the model has not, or in an earlier state; by uid."""
        self._intake = intake
        self._resource = resource
        self._ended = ended
        self._sweep = intake.graph.sweep(resource)

    async def take(self, page: Identities) -> None:
        """Compare a page."""
        if not page.resource_version.isdecimal():
            raise UnavailableError("versions of the list cannot be compared")
        self.version = int(page.resource_version)
        self.names += len(page.objects)
        for number, one in enumerate(page.objects):
            if number % SLICE_CHECK == 0:
                await self._intake.slices.breathe()
            self._sweep.see(one.uid)
            key = ObjectKey(self._resource, one.namespace, one.name)
            if self._differs(self._intake.state(key), one) and len(self.differing) < DIFFERING:
                self.differing[key] = one.uid

    def _differs(self, state: State | None, listed: Identity) -> bool:
        if state is None:
            return listed.uid not in self._ended
        if state.version == listed.version and state.uid == listed.uid:
            return False
        # Newer than the list: news that came since.
        known = _number(state.version)
        return known <= self.version and (
            state.uid != listed.uid or known < _number(listed.version)
        )

    async def unlisted(self) -> list[ObjectKey]:
        """Return what the model has, from before the list, and the list has not."""
        found: list[ObjectKey] = []
        for part in self._sweep.parts():
            await self._intake.slices.breathe()
            for number, (key, uid) in enumerate(part, 1):
                if number % SLICE_CHECK == 0:
                    await self._intake.slices.breathe()
                state = self._intake.state(key)
                before = state is not None and _number(state.version) <= self.version
                if before and state is not None and state.uid == uid and len(found) < DIFFERING:
                    found.append(key)
        return found


def _number(version: str) -> int:
    """Return a version as a number; of one that is none, 0: what has it is read live."""
    return int(version) if version.isdecimal() else 0


def _spread(keys: list[ObjectKey], most: int) -> list[ObjectKey]:
    """Return at most so many of them, evenly over all."""
    step = max(1, -(-len(keys) // most))
    return keys[::step]
