"""The mirror: everything that is wanted of the cluster, listed and watched into the graph.

One task a kind. Knows which kinds there are (discovery, and definitions as they come and go), how
old what is known of each is, whether that is enough to serve, and how to read a few objects live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import msgspec
import structlog

from suture.app.audit import Auditor
from suture.app.begun import HeadStart
from suture.app.definitions import Definitions
from suture.app.follow import Follower, Pace
from suture.app.intake import Intake
from suture.app.liveread import LiveReads
from suture.app.observer import Observer
from suture.app.ports import Cluster
from suture.app.probe import Prober
from suture.app.rules import NAMED_BY_MARKS
from suture.app.warmstart import resumable
from suture.app.watches import Want, Watches
from suture.errors import SutureError
from suture.model.absence import ARGO_PROJECTS
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import API_SERVICES, CRDS, PODS, ObjectKey, Resource
from suture.model.request import Request
from suture.wire.discovery import ApiResource, Discovery
from suture.wire.trim import Trimmer

log = structlog.get_logger(__name__)

STALE_S = 5.0
"""LIMIT: older than this, a type's state decides nothing without a consistent read."""

LISTS = 8
"""LIMIT: kinds listed at a time: 8 pages of 4 MB in memory, and a tenth of what an API server
lets one caller have in flight."""

DISCOVER_S = 30.0
"""LIMIT: how late a kind is noticed that comes without a definition: an aggregated API; the two
calls cost the server 1 ms."""

FIRST_KINDS_S = 5.0
"""LIMIT: wait for definitions and APIServices, which tell how to follow the rest; without them
the rest is followed all the same."""

TELLING = frozenset({CRDS, API_SERVICES, ARGO_PROJECTS})
"""Kinds that tell how others are followed and read."""

SILENT_S = 30.0
"""LIMIT: most watches of decision kinds silent for so long: out of service. Ten times their life;
short outages are answered by doubt, request by request."""

REASONS = 5
"""LIMIT: kinds named in one reason for not being ready; the count is told in full."""


class KindState(msgspec.Struct, frozen=True):
    """How one kind is known. `lag_s`: how long its stream took to reach what was read past it."""

    resource: Resource
    objects: int
    fresh: bool
    age_s: float
    lag_s: float | None
    counts: Mapping[str, int]


class Mirror:
    """Keeps the graph equal to the cluster, and says how well it does."""

    def __init__(
        self,
        cluster: Cluster,
        graph: Graph,
        trimmer: Trimmer,
        *,
        clock: Callable[[], Now],
        chance: Callable[[], float],
        observers: Sequence[Observer] = (),
        watches: Watches | None = None,
        pace: Pace | None = None,
        head_start: HeadStart | None = None,
    ) -> None:
        self.watches = watches or Watches()
        self.watches.on_change = self.look_again
        self._cluster = cluster
        self._graph = graph
        self._trimmer = trimmer
        self._clock = clock
        self._chance = chance
        self._pace = pace or Pace()
        self._head_start = head_start
        self._definitions = Definitions(self._defined, self._stop, self.look_again)
        self._followers: dict[Resource, Follower] = {}
        self._intake = intake = Intake(graph, clock, [self._definitions, *observers])
        self._reads = LiveReads(cluster, intake, self._followers, clock)
        self._prober = Prober(cluster, intake, self._followers, clock, self._pace)
        self._auditor = Auditor(
            cluster, intake, self._followers, self._reads, clock=clock, pace=self._pace
        )
        intake.join(self._auditor)
        self._tasks: dict[Resource, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._lists = asyncio.Semaphore(LISTS)
        self._look = asyncio.Event()
        self._discovery: Discovery | None = None
        self._trouble = "not asked yet"
        self._was_ready = False

    # ---- which kinds

    async def run(self) -> None:
        """Follow the cluster until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(self._for_ever(self._prober.run), name="probe")
            group.create_task(
                self._for_ever(partial(self._auditor.run, lambda: self._was_ready)), name="audit"
            )
            try:
                await self._rediscover_for_ever()
            finally:
                self._group = None

    async def _for_ever(self, run: Callable[[], Awaitable[None]]) -> None:
        """Run what checks the model, again after a defect of ours: the model itself goes on."""
        while True:
            try:
                await run()
            except Exception:
                log.exception("checking the model failed")
            await asyncio.sleep(self._pace.last_wait_s)

    def look_again(self) -> None:
        """Have the cluster's kinds compared with what is followed, now."""
        self._look.set()

    async def _rediscover_for_ever(self) -> None:
        failures = 0
        while True:
            self._look.clear()
            try:
                discovery = await self._cluster.discover()
                if self._discovery is None:
                    await self._begin(discovery)
                self._reconcile(discovery)
            except SutureError as error:
                failures += 1
                self._trouble = str(error)
                log.warning("kinds cannot be asked for", error=str(error))
                await asyncio.sleep(self._pace.wait_s(failures, self._chance()))
                continue
            failures, self._trouble, self._discovery = 0, "", discovery
            try:
                async with asyncio.timeout(DISCOVER_S):
                    await self._look.wait()
                # Several changes come together: a new API brings a handful of definitions.
                await asyncio.sleep(self._pace.first_wait_s)
            except TimeoutError:
                pass

    async def _begin(self, discovery: Discovery) -> None:
        """Follow what tells of other kinds before all else; those of a file serve at once."""
        self._definitions.load(self._graph)
        try:
            async with asyncio.timeout(FIRST_KINDS_S):
                # WHY the named after: definitions tell how they are read.
                for first in (TELLING, NAMED_BY_MARKS):
                    await self._follow_first(discovery, first)
        except TimeoutError:
            log.warning("definitions are not listed yet; going on without")

    async def _follow_first(self, discovery: Discovery, kinds: AbstractSet[Resource]) -> None:
        """Follow some kinds, and wait until they are listed."""
        for api in discovery.resources:
            want = self.watches.want(api) if api.resource in kinds else None
            if want is not None:
                self._start(api, want)
        while any(_pending(one) and not one.resuming for one in self._followers.values()):  # noqa: ASYNC110 four kinds, for a moment
            await asyncio.sleep(0.01)

    def _reconcile(self, discovery: Discovery) -> None:
        """Follow what is wanted of what is served, and nothing else."""
        served = {api.resource: api for api in discovery.resources}
        for defined in self._definitions.served():
            # WHY over it: discovery may still tell of an earlier definition of the same name.
            if served.setdefault(defined.resource, defined).namespaced is not defined.namespaced:
                served[defined.resource] = defined
        # WHY pods last: what selects and owns them is then there to be linked to as they come, once
        # for each class of them, where else each selector would look through all classes.
        for resource, found in sorted(served.items(), key=lambda one: one[0] == PODS):
            self._graph.declare(found.group, found.kind, resource)
            want = self.watches.want(found)
            if want is not None:
                self._follow(found, want)
        # WHY not those of a stale group: its backend is away, which is not the same as gone.
        stale = {group.group for group in discovery.stale}
        for resource, follower in list(self._followers.items()):
            api = served.get(resource)
            gone = api is None and resource.group not in stale
            unwanted = api is not None and self.watches.want(api) is None
            if gone or unwanted:
                self._stop(resource)
            elif api is None:
                log.debug("backend is away", resource=str(resource), trouble=follower.trouble)
        for resource in tuple(self._graph.freshness):
            # Of a file: a kind that was served when it was written, or one that is not followed.
            api = served.get(resource)
            idle = api is not None and self.watches.want(api) is None
            if (
                (api is None or (idle and self._graph.count(resource)))
                and resource not in self._tasks
                and resource.group not in stale
            ):
                self._clear(resource, None)

    def _follow(self, api: ApiResource, want: Want) -> None:
        """Start following a kind, or start anew where it is to be followed differently."""
        follower = self._followers.get(api.resource)
        if follower is None:
            self._start(api, want)
        elif (
            follower.want != want
            or follower.api.namespaced is not api.namespaced
            or (follower.unknown and follower.api.version != api.version)
        ):
            self._restart(api, want)

    def _start(self, api: ApiResource, want: Want, after: asyncio.Task[None] | None = None) -> None:
        if self._group is None:
            return
        before, resume_at, begun = after or self._tasks.get(api.resource), "", None
        # WHY only the first time: later, what the graph has is what this process heard.
        if before is None:
            resume_at = resumable(self._graph, api.resource, want)
            if not resume_at:
                self._intake.take_anew(api.resource)
            elif self._head_start is not None:
                begun = self._head_start.take(api.resource, resume_at, want)
        follower = Follower(
            api,
            want,
            self._trimmer.reader(api.resource, api.gvk, full=want.full),
            cluster=self._cluster,
            intake=self._intake,
            lists=self._lists,
            pace=self._pace,
            clock=self._clock,
            chance=self._chance,
            serving=lambda: self._was_ready,
            resume_at=resume_at,
            begun=begun,
        )
        if self._definitions.aggregated(api):
            follower.reflector.streams = follower.reflector.ordered = False
        self._followers[api.resource] = follower
        self._tasks[api.resource] = self._group.create_task(
            _one_after_another(before, follower.run), name=f"follow {api.resource}"
        )

    def _restart(self, api: ApiResource, want: Want) -> None:
        task = self._tasks[api.resource]
        task.cancel()
        before = self._followers[api.resource].want
        if (before.full, before.rules) != (want.full, want.rules):
            self._intake.take_anew(api.resource)
        self._start(api, want, after=task)

    def _stop(self, resource: Resource) -> None:
        """Stop following a kind that is served no more, and let its objects go."""
        if self._followers.pop(resource, None) is None or self._group is None:
            return
        task = self._tasks[resource]
        task.cancel()
        self._clear(resource, task)

    def _clear(self, resource: Resource, after: asyncio.Task[None] | None) -> None:
        if self._group is None:
            return
        log.info("kind is gone", resource=str(resource))
        self._tasks[resource] = self._group.create_task(
            _one_after_another(after, partial(self._intake.clear, resource)),
            name=f"clear {resource}",
        )

    def _defined(self, api: ApiResource, versions: tuple[str, ...]) -> None:
        """Follow what a definition serves, as soon as it does."""
        want = self.watches.want(api)
        # WHY not while definitions are listed for the first time: what all of them serve is
        # followed next, by the rules that are in their schemas; now it would be listed twice.
        if want is None or self._discovery is None:
            return
        follower = self._followers.get(api.resource)
        if follower is None:
            self._start(api, want)
        elif follower.api.version not in versions:
            self._restart(api, want)

    # ---- how well it is known

    def ready(self) -> tuple[bool, Mapping[str, str]]:
        """Tell whether decisions can rest on the model, and where not, why: part to reason.

        At first every wanted kind must be listed, or known to be unknowable. Later it is lost when
        most of the kinds that decisions rest on have told nothing for SILENT_S, or none of them may
        be read any more; one kind alone is doubt of its own decisions, and no more.
        """
        reasons: dict[str, str] = {}
        if self._discovery is None:
            return False, {"discovery": self._trouble}
        followers = self._followers.values()
        if not self._was_ready:
            pending = [str(one.resource) for one in followers if _pending(one)]
            if pending:
                more = f" and {len(pending) - REASONS} more" if len(pending) > REASONS else ""
                reasons["listing"] = f"not listed yet: {', '.join(pending[:REASONS])}{more}"
        known = [one for one in followers if one.want.fresh and one.listed and not one.unknown]
        silent = [one for one in known if self._age_s(one.resource) > SILENT_S]
        if not known:
            reasons["listed"] = "nothing that decisions rest on is listed"
        elif 2 * len(silent) > len(known):
            reasons["silent"] = (
                f"{len(silent)} of {len(known)} watches have said nothing for {SILENT_S:g} s"
            )
        if not reasons:
            self._was_ready = True
        return not reasons, reasons

    def staleness(self) -> Mapping[Resource, float]:
        """Return the age of what is known of each kind, in seconds; infinite where nothing is."""
        return {resource: self._age_s(resource) for resource in self._followers}

    def stale(self, resources: Iterable[Resource]) -> tuple[Resource, ...]:
        """Return those of `resources` whose state is older than the bound, or was never known."""
        return tuple(one for one in dict.fromkeys(resources) if self._age_s(one) > STALE_S)

    def _age_s(self, resource: Resource) -> float:
        fresh = self._graph.freshness.get(resource)
        if fresh is None or not fresh.heard_ns or fresh.unknown:
            return float("inf")
        age_s = (self._clock().mono_ns - fresh.heard_ns) / 1e9
        return max(age_s, self._prober.behind_s(resource))

    def kinds(self) -> list[KindState]:
        """Return how each followed kind is known, and what went by of it."""
        return [
            KindState(
                resource,
                objects=self._graph.count(resource),
                fresh=follower.want.fresh,
                age_s=self._age_s(resource),
                lag_s=self._prober.lag_s.get(resource),
                counts={
                    **follower.reflector.counts,
                    "stalls": self._prober.stalls[resource],
                    "audits": self._auditor.audits[resource],
                },
            )
            for resource, follower in self._followers.items()
        ]

    def repairs(self) -> Mapping[tuple[Resource, str], int]:
        """Return what was found wrong and put right, by kind and by what it was."""
        return self._auditor.repairs

    def counts(self) -> Mapping[tuple[str, str], int]:
        """Return what went by, by kind and name: relists, duplicates, regressions, odd parts."""
        counts: dict[tuple[str, str], int] = dict(self._trimmer.odd)
        for resource, follower in self._followers.items():
            for name, count in follower.reflector.counts.items():
                counts[str(resource), name] = count
        return counts

    # ---- live reads

    def saw(self, request: Request) -> None:
        """Take the old object of a review into the graph where it is newer than ours."""
        # WHY not of subresources: a Scale is less than the object that it stands for.
        if request.old is not None and not request.subresource:
            self._intake.saw(request.old)

    async def breathe(self) -> None:
        """Wait for time in a turn of the event loop, in line with what the model takes in."""
        await self._intake.slices.breathe()

    async def refresh(self, keys: Iterable[ObjectKey]) -> None:
        """Read objects live into the graph; see `LiveReads.refresh`."""
        await self._reads.refresh(keys)

    def just_read(self, keys: Iterable[ObjectKey]) -> bool:
        """Whether objects were read live a moment ago; see `LiveReads.just_read`."""
        return self._reads.just_read(keys)


def _pending(follower: Follower) -> bool:
    return not (follower.listed or follower.unknown)


async def _one_after_another(
    before: asyncio.Task[None] | None, then: Callable[[], Awaitable[None]]
) -> None:
    if before is not None:
        await asyncio.wait([before])
    await then()
