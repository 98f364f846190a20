"""A few objects read past their watch: what a refusal rests on, and what an audit doubts.

Bounded in number and time, since a review waits for it. What is found goes into the graph by
`intake`, which knows what the watch has yet to tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from suture.app.follow import Follower
from suture.app.intake import Found, Intake
from suture.app.ports import Cluster
from suture.errors import NotFoundError, SutureError, UnavailableError
from suture.model.clock import Now
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.oddities import TrimError
from suture.wire.pages import FULL_OBJECT, PARTIAL_OBJECT

REFRESH_OBJECTS = 32
"""LIMIT: objects in one live read: twice what one refusal rests on; 3 ms each, side by side."""

REFRESH_S = 0.1
"""LIMIT: a live read within the deadline of a review; a read takes 3 ms."""

REUSE_S = 0.5
"""LIMIT: how long a live read stands in for the next of the same object: an operator that is
refused in a loop must not become a load on the API server through us."""


class LiveReads:
    """Reads objects of followed kinds, as closely as their kind is followed."""

    def __init__(
        self,
        cluster: Cluster,
        intake: Intake,
        followers: Mapping[Resource, Follower],
        clock: Callable[[], Now],
    ) -> None:
        self._cluster = cluster
        self._intake = intake
        self._followers = followers
        self._clock = clock
        self._read_ns: dict[ObjectKey, int] = {}

    async def refresh(self, keys: Iterable[ObjectKey]) -> None:
        """Read objects live into the graph, all at once; what was read a moment ago is not again.

        Errors: UnavailableError when one cannot be read, within REFRESH_S, or they are too many.
        """
        now_ns = self._clock().mono_ns
        wanted = [key for key in dict.fromkeys(keys) if self._is_due(key, now_ns)]
        if len(wanted) > REFRESH_OBJECTS:
            raise UnavailableError(
                f"{len(wanted)} objects are too many to read live; at most {REFRESH_OBJECTS}"
            )
        try:
            async with asyncio.timeout(REFRESH_S):
                reads = (self.read(key, REFRESH_S) for key in wanted)
                results = await asyncio.gather(*reads, return_exceptions=True)
        except TimeoutError as error:
            raise UnavailableError(f"live reads took longer than {REFRESH_S:g} s") from error
        for result in results:
            if isinstance(result, BaseException):
                raise result

    def just_read(self, keys: Iterable[ObjectKey]) -> bool:
        """Whether `refresh` would read none of these, having done so a moment ago."""
        now_ns = self._clock().mono_ns
        return not any(self._is_due(key, now_ns) for key in keys)

    def _is_due(self, key: ObjectKey, now_ns: int) -> bool:
        read_ns = self._read_ns.get(key)
        return read_ns is None or now_ns - read_ns > REUSE_S * 1e9

    async def read(self, key: ObjectKey, timeout_s: float) -> Found:
        """Read one object into the graph; tell what it was to the model.

        Errors: UnavailableError when it cannot be read.
        """
        follower = self._followers.get(key.resource)
        if follower is None:
            raise UnavailableError(f"`{key.resource}` is not watched, and cannot be read")
        if not key.name:
            raise UnavailableError(f"`{key.resource}` without a name is no object to read")
        known, told = self._intake.state(key), self._intake.told_up_to(key.resource)
        found: ClusterObject | None
        try:
            body = await self._cluster.get_raw(
                follower.api.path(key.namespace, key.name),
                accept=FULL_OBJECT if follower.want.full else PARTIAL_OBJECT,
                timeout_s=timeout_s,
            )
            found = follower.reader.one(body)
        except NotFoundError:
            found = None
        except TrimError as error:
            raise UnavailableError(f"`{key}` was answered with something else: {error}") from error
        except UnavailableError:
            raise
        except SutureError as error:
            raise UnavailableError(f"`{key}` cannot be read: {error}") from error
        what = self._intake.live(key, found, known, told)
        self._remember(key)
        return what

    def _remember(self, key: ObjectKey) -> None:
        now_ns = self._clock().mono_ns
        self._read_ns.pop(key, None)
        self._read_ns[key] = now_ns
        while (now_ns - self._read_ns[first := next(iter(self._read_ns))]) > REUSE_S * 1e9:
            del self._read_ns[first]
