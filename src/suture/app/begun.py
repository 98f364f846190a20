"""Watches that are begun before the model is there to take what they say.

A start that goes on from a file must hear of each kind what came since, and the proof that this was
all comes when a short watch has ended in order. The file takes as long to read: so both are done at
once. What came is held until it is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing

import structlog

from suture.app.ports import Cluster
from suture.app.watches import Want, Watches
from suture.errors import SutureError, UnavailableError
from suture.model.clock import Now
from suture.model.names import Resource
from suture.wire.discovery import ApiResource
from suture.wire.snapshot import KindCount

log = structlog.get_logger(__name__)

HELD = 64
"""LIMIT: blocks held of each watch, of some 64 KB each; then it is read no further, and the server
waits, or ends a watch that it cannot get rid of: what is missing is asked for again."""

Clock = Callable[[], Now]


class Begun:
    """A watch that is read already. `settled_s`: one that ends sooner proves nothing."""

    def __init__(
        self, blocks: AsyncGenerator[bytes, None], *, clock: Clock, settled_s: float
    ) -> None:
        self.began_ns = clock().mono_ns
        self._clock = clock
        self._settled_s = settled_s
        self._held: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(HELD)
        self._reading = asyncio.create_task(self._read(blocks))

    async def blocks(self) -> AsyncGenerator[bytes, None]:
        """Yield what has come and what comes, as the watch itself would. Errors: those of it."""
        try:
            while True:
                held = await self._held.get()
                if held is None:
                    return
                if isinstance(held, Exception):
                    raise held
                yield held
        finally:
            await self.close()

    async def close(self) -> None:
        """Hang up."""
        self._reading.cancel()
        await asyncio.wait([self._reading])

    async def _read(self, blocks: AsyncGenerator[bytes, None]) -> None:
        end: Exception | None = None
        try:
            async with aclosing(blocks):
                async for block in blocks:
                    await self._held.put(block)
        except Exception as error:  # noqa: BLE001 whatever it is, it is raised where it is asked for
            end = error
        lived_s = (self._clock().mono_ns - self.began_ns) / 1e9
        if end is None and lived_s < self._settled_s:
            end = UnavailableError("the watch ended as it began")
        await self._held.put(end)


class HeadStart:
    """The first watch of every kind that a file can be gone on from, by kind."""

    def __init__(
        self,
        cluster: Cluster,
        watches: Watches,
        *,
        clock: Clock,
        watch_s: int,
        settled_s: float,
    ) -> None:
        self._cluster = cluster
        self._watches = watches
        self._clock = clock
        self._watch_s = watch_s
        self._settled_s = settled_s
        self._begun: dict[Resource, tuple[str, bool, Begun]] = {}

    async def begin(self, kinds: Iterable[KindCount]) -> None:
        """Begin to watch kinds from the versions of a file. Where nobody answers, none is."""
        saved = {one.resource: one for one in kinds if one.listed and not one.unknown}
        try:
            discovery = await self._cluster.discover()
        except SutureError as error:
            log.warning("kinds cannot be asked for", error=str(error))
            return
        for api in discovery.resources:
            want, kind = self._watches.want(api), saved.get(str(api.resource))
            if want is None or kind is None or not kind.resource_version:
                continue
            # WHY as the file has it too: who else wants more of a kind is known by the model.
            full, version = want.full or kind.whole, kind.resource_version
            watch = self._watch(api, version, metadata_only=not full)
            begun = Begun(watch, clock=self._clock, settled_s=self._settled_s)
            self._begun[api.resource] = version, full, begun

    def take(self, resource: Resource, version: str, want: Want) -> Begun | None:
        """Return the watch of a kind from this version, which nobody else gets; None for none."""
        known = self._begun.get(resource)
        if known is None or known[:2] != (version, want.full):
            return None
        del self._begun[resource]
        return known[2]

    async def close(self) -> None:
        """Hang up what nobody took."""
        for _, _, begun in self._begun.values():
            await begun.close()
        self._begun.clear()

    def _watch(
        self, api: ApiResource, version: str, *, metadata_only: bool
    ) -> AsyncGenerator[bytes, None]:
        return self._cluster.watch_lines(
            api.path(), version, False, timeout_s=self._watch_s, metadata_only=metadata_only
        )
