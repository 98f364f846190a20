"""The canary: proves of each stream that it is not behind, though it may say nothing for hours.

A stream that is cut or frozen is known by its silence. What silence does not tell is a server that
answers on time from a cache that has stopped: so each kind that decisions rest on is now and then
read past its stream (a consistent list of one object, in a namespace that has hardly any), and the
stream must reach the version of that list, with an event or with a bookmark.
WHY not an object of our own, written and seen again: that needs a right to write, and proves one
kind alone. Source: KEP-2340: a consistent list waits for the server's cache to be current, and what
makes that cache current makes it send bookmarks too.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import aclosing

import msgspec
import structlog

from suture.app.follow import Follower, Pace
from suture.app.intake import Intake
from suture.app.ports import Cluster
from suture.errors import ApiError, SutureError
from suture.model.clock import Now
from suture.model.names import Resource
from suture.wire.identities import identities

log = structlog.get_logger(__name__)

PROBE_S = 5.0
"""LIMIT: how often each kind is probed: 40 kinds are 8 small reads a second, of 1 ms each here and
there, beside the 13 watches a second that are opened anew."""

OVERDUE_S = 5.0
"""LIMIT: how long a stream may take to reach what was read past it. It gets a bookmark 2 s before
its own end, which comes each 3 s: so 3 s are usual, and 5 s are not. Together with PROBE_S: a cache
that stops is known after 10 s at most."""

READ_S = 4.0
"""LIMIT: one read, within OVERDUE_S: a server that waits 3 s for its own cache still answers."""

MOOT = 500
"""Answers below this tell nothing of freshness: rights, kinds that went, load that is shed."""

PROVEN = 3
"""LIMIT: probes that a kind must have passed before one that it fails means anything: an API server
without consistent reads from its cache (older than 1.31) sends no bookmark for them, and a quiet
kind would look stuck for ever."""

PROBE_IN = "kube-node-lease"
"""Where kinds in namespaces are listed: there since 1.17, with hardly anything but Leases."""


class Probe(msgspec.Struct, frozen=True, gc=False):
    """A version that the cluster had reached when it was asked, and so must a stream."""

    version: int
    asked_ns: int


class Prober:
    """Probes every kind that decisions rest on, in turn; knows which are behind, and how far."""

    def __init__(
        self,
        cluster: Cluster,
        intake: Intake,
        followers: Mapping[Resource, Follower],
        clock: Callable[[], Now],
        pace: Pace,
    ) -> None:
        self.lag_s: dict[Resource, float] = {}
        """How long each stream took, at the last probe, to reach what had been read past it."""
        self.stalls: Counter[Resource] = Counter()
        """How often each stream did not, and was cut."""
        self._cluster = cluster
        self._intake = intake
        self._followers = followers
        self._clock = clock
        self._pace = pace
        self._open: dict[Resource, Probe] = {}
        self._unread_ns: dict[Resource, int] = {}
        """Since when a kind cannot be read past its stream, which then proves nothing either."""
        self._asking: set[Resource] = set()
        self._cut: set[Resource] = set()
        self._passed: Counter[Resource] = Counter()

    def behind_s(self, resource: Resource) -> float:
        """Return for how long a kind's stream is known to be behind; 0 where it is not."""
        if self._passed[resource] < PROVEN:
            return 0.0
        since_ns = self._unread_ns.get(resource)
        probe = self._open.get(resource)
        if probe is not None and not self._reached(resource, probe):
            since_ns = probe.asked_ns if since_ns is None else min(since_ns, probe.asked_ns)
        if since_ns is None:
            return 0.0
        waited_s = (self._clock().mono_ns - since_ns) / 1e9
        return waited_s if waited_s > OVERDUE_S else 0.0

    async def run(self) -> None:
        """Probe for ever."""
        next_ns, turn = 0, 0
        async with asyncio.TaskGroup() as asking:
            while True:
                await asyncio.sleep(self._pace.look_s)
                self._look()
                now_ns = self._clock().mono_ns
                kinds = [one for one in self._followers.values() if _can_be_probed(one)]
                if not kinds or now_ns < next_ns:
                    continue
                next_ns = now_ns + int(PROBE_S * 1e9 / len(kinds))
                turn = (turn + 1) % len(kinds)
                resource = kinds[turn].resource
                if resource not in self._open and resource not in self._asking:
                    self._asking.add(resource)
                    asking.create_task(self._ask(kinds[turn]))

    def _look(self) -> None:
        """Close the probes that streams have reached, and cut the streams that have not."""
        now_ns = self._clock().mono_ns
        for resource, probe in list(self._open.items()):
            waited_s = (now_ns - probe.asked_ns) / 1e9
            follower = self._followers.get(resource)
            if follower is None or not _can_be_probed(follower):
                self._close(resource)
            elif self._reached(resource, probe):
                self.lag_s[resource] = waited_s
                self._passed[resource] += 1
                self._close(resource)
            elif waited_s <= OVERDUE_S:
                continue
            elif self._passed[resource] < PROVEN:
                self._close(resource)
            elif resource not in self._cut:
                # WHY once: if a new stream is stuck too, so is the server, and more of them
                # would not mend it; what rests on the kind is in doubt until it moves.
                self._cut.add(resource)
                self.stalls[resource] += 1
                log.warning("stream is stuck", resource=str(resource), waited_s=round(waited_s, 1))
                follower.cut()

    def _close(self, resource: Resource) -> None:
        del self._open[resource]
        if resource in self._cut:
            self._cut.discard(resource)
            log.info("stream moves again", resource=str(resource))

    def _reached(self, resource: Resource, probe: Probe) -> bool:
        told = self._intake.told_up_to(resource)
        return told is not None and told >= probe.version

    async def _ask(self, follower: Follower) -> None:
        api, resource, asked_ns = follower.api, follower.resource, self._clock().mono_ns
        path = api.path(PROBE_IN if api.namespaced else "")
        pages = self._cluster.list_pages(path, 1, metadata_only=True)
        try:
            async with asyncio.timeout(READ_S), aclosing(pages):
                version = identities(await anext(pages)).resource_version
        except (SutureError, TimeoutError) as error:
            if not (isinstance(error, ApiError) and error.status < MOOT):
                self._unread_ns.setdefault(resource, asked_ns)
            log.debug("cannot probe", resource=str(resource), error=str(error))
        else:
            self._unread_ns.pop(resource, None)
            if version.isdecimal():
                self._open[resource] = Probe(int(version), asked_ns)
        finally:
            self._asking.discard(resource)


def _can_be_probed(follower: Follower) -> bool:
    """Whether a kind's stream is one that decisions rest on, and its versions can be compared."""
    return (
        follower.want.fresh
        and follower.listed
        and not follower.unknown
        and follower.reflector.listed
        and follower.reflector.ordered
    )
