"""A graph out of a live cluster, listed once: what a snapshot is taken of.

The mirror's little sister: the same kinds in the same form, but nothing is followed. A kind that
may not be listed is unknown in the graph, which is not the same as empty.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from contextlib import aclosing

import msgspec

from suture.app.ports import Cluster
from suture.app.rules import NAMED_BY_MARKS, Rules
from suture.app.sources import Gathered
from suture.app.watches import EVENTS, Want, Watches
from suture.errors import ApiError, GoneError, UnavailableError, first_of
from suture.model.absence import ARGO_PROJECTS
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import CRDS, PODS, SECRETS
from suture.model.rules import REFERENCE_RULES
from suture.wire.discovery import ApiResource
from suture.wire.pages import Decoders, WatchError
from suture.wire.trim import Trimmer

LISTS = 4
"""LIMIT: kinds listed at a time: 4 pages of 4 MB, and a twentieth of what an API server lets one
caller have in flight; more would only wait for our one core."""

PAGE_ITEMS = 500
"""LIMIT: objects a page, as kubectl asks: 4 MB of pods."""

TELLING = frozenset({CRDS, REFERENCE_RULES, ARGO_PROJECTS})
"""Kinds that tell what is to be read of others."""

ATTEMPTS = 3
"""LIMIT: lists of one kind that fail, before it is unknown; with waits 3 s, a leader's election."""

WAIT_S = 1.0
"""LIMIT: wait after a failure, times the number of failures."""

REFUSED = frozenset({401, 403, 404, 405, 406, 415})
"""Answers that another attempt does not change."""

_REMAINING = re.compile(rb'"remainingItemCount":\s?(\d+)')
_META_BYTES = 8192
"""LIMIT: looked at for a list's metadata, which stands first or, of custom resources, last."""


class Progress(msgspec.Struct):
    """How far a list of a cluster is. `expected` is of the kinds that were begun."""

    kinds: int = 0
    of_kinds: int = 0
    objects: int = 0
    expected: int = 0
    size_bytes: int = 0
    listing: str = ""


class Lister:
    """Lists every kind of a cluster that the model keeps."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Callable[[], Now],
        say: Callable[[Progress], None] = lambda _progress: None,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._say = say
        self._wait_s = wait_s
        self._graph = Graph()
        self._trimmer = Trimmer()
        # WHY Leases too: what is listed once has no part in what they write all the time.
        self._watches = Watches(never=EVENTS)
        self._rules = Rules(self._trimmer, self._watches, self._graph)
        self._turns = asyncio.Semaphore(LISTS)
        self._progress = Progress()

    async def run(self) -> Gathered:
        """List everything once.

        Errors: ApiError or UnavailableError when the cluster does not say which kinds it serves,
        UnavailableError when it goes away meanwhile.
        """
        discovery = await self._cluster.discover()
        for api in discovery.resources:
            self._graph.declare(api.group, api.kind, api.resource)
        self._progress.of_kinds = len(self._wanted(discovery.resources))
        # WHY these before all else: they tell what is to be read of the rest.
        telling = [api for api in discovery.resources if api.resource in TELLING]
        await self._kinds(telling)
        self._rules.load(self._graph)
        # WHY by themselves: they are read by rules, and the rest has marks that name them.
        await self._kinds([api for api in discovery.resources if api.resource in NAMED_BY_MARKS])
        self._rules.load(self._graph)
        before = TELLING | NAMED_BY_MARKS
        rest = [api for api in discovery.resources if api.resource not in before]
        # WHY pods first: most of all there is; so the expected end is soon told right.
        await self._kinds(sorted(rest, key=lambda api: api.resource != PODS))
        notes = [
            f"unknown: the backend of {group.group}/{group.version} is away, and its kinds with it"
            for group in discovery.stale
        ]
        notes += [
            f"odd: {count} {part} of {kind} could not be read as the API says"
            for (kind, part), count in sorted(self._trimmer.odd.items())
        ]
        unknown = any(fresh.unknown for fresh in self._graph.freshness.values())
        return Gathered(self._graph, tuple(notes), whole=not notes and not unknown)

    def _wanted(self, apis: Iterable[ApiResource]) -> list[tuple[ApiResource, Want]]:
        """Return the kinds that are listed at all, and how each is wanted by now."""
        wants = ((api, self._watches.want(api)) for api in apis)
        return [(api, want) for api, want in wants if want is not None]

    async def _kinds(self, apis: Iterable[ApiResource]) -> None:
        """List kinds side by side."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for api, want in self._wanted(apis):
                    tasks.create_task(self._kind(api, want), name=f"list {api.resource}")
        except ExceptionGroup as failures:
            away = first_of(failures, UnavailableError)
            if away is None:
                raise
            raise away from None

    async def _kind(self, api: ApiResource, want: Want) -> None:
        """List one kind whole, or note why it is unknown."""
        async with self._turns:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    await self._list(api, want)
                    break
                except ApiError as error:
                    why = f"{error.status} {error.reason}: {error.message}"
                    if error.status in REFUSED or attempt == ATTEMPTS:
                        self._graph.mark_unknown(api.resource, why)
                        break
                    if not isinstance(error, GoneError):
                        await asyncio.sleep(self._wait_s * attempt)
                except WatchError as error:
                    self._graph.mark_unknown(api.resource, str(error))
                    break
                except UnavailableError:
                    if attempt == ATTEMPTS:
                        raise
                    await asyncio.sleep(self._wait_s * attempt)
        self._progress.kinds += 1
        self._say(self._progress)

    async def _list(self, api: ApiResource, want: Want) -> None:
        # WHY never of Secrets: their values are not even asked for.
        full = want.full and api.resource != SECRETS
        decoders = Decoders(self._trimmer.reader(api.resource, api.gvk, full=full))
        sweep = self._graph.sweep(api.resource)
        version, progress, left = "", self._progress, 0
        pages = self._cluster.list_pages(api.path(), PAGE_ITEMS, metadata_only=not full)
        async with aclosing(pages):
            async for body in pages:
                page = decoders.page(body)
                for thing in page.objects:
                    self._graph.put(thing)
                    sweep.see_row(self._graph.row_put)
                version = page.resource_version
                now_left = _remaining(body)
                progress.expected += len(page.objects) + now_left - left
                left = now_left
                progress.objects += len(page.objects)
                progress.size_bytes += len(body)
                progress.listing = str(api.resource)
                self._say(progress)
        # What an earlier attempt had seen, and is gone since.
        for key, uid in sweep.rest():
            self._graph.remove(key, uid)
        self._graph.note_listed(api.resource)
        self._graph.heard(api.resource, version, self._clock().mono_ns)


def _remaining(page: bytes) -> int:
    """Return how many objects follow a page, as far as the server says; for progress only."""
    found = _REMAINING.search(page[:_META_BYTES]) or _REMAINING.search(page[-_META_BYTES:])
    return int(found[1]) if found else 0
