"""One kind, followed for ever: ask, take what comes, and when it ends, ask again in good time.

What the answers mean is `wire.watch`'s to say and where they go is `intake`'s; here are the order
of steps, the waits between them, and when a kind is given up as unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from suture.app.begun import Begun
from suture.app.intake import Intake
from suture.app.ports import Cluster
from suture.app.watches import Want
from suture.errors import ApiError, GoneError, UnavailableError
from suture.model.clock import Now
from suture.model.names import Resource
from suture.wire.discovery import ApiResource
from suture.wire.pages import WatchError
from suture.wire.trim import Reader
from suture.wire.watch import AskPages, AskStream, AskWatch, Delta, Lost, Phase, Reflector, Signal

log = structlog.get_logger(__name__)

PAGE_ITEMS = 500
"""LIMIT: objects a page while nobody is served yet: 4 MB of pods, decoded in 5 ms."""

PAGE_ITEMS_SERVING = 100
"""LIMIT: the same while reviews wait: decoded within a millisecond."""

UNKNOWN_AFTER = 5
"""LIMIT: failures of the server in a row, with backoff 3 s in all, before a kind counts as
unknown; what a restart of the API server takes, which must not make everything unknown."""

REFUSED_FOR_GOOD = frozenset({403, 404, 405, 406, 415})
"""Answers that another attempt does not change, until somebody changes rights or kinds."""

NO_STREAMS = frozenset({400, 422})
"""Answers of a server to which lists as streams are not known, or are switched off."""

SETTLED_S = 0.5
"""LIMIT: a watch that lives longer than this was no failure, however it ended; half of the
shortest that is asked for."""


@dataclass(frozen=True)
class Pace:
    """How long things may take, and how long to wait before the next attempt.

    A watch that ends in order proves that all was told until then, even of a quiet kind of which
    no bookmark comes: so the watches that decisions rest on are short. 17 of them at 3 s are six
    requests a second; a frozen one is known after 5 s, the age beyond which decisions doubt.
    """

    first_watch_s: int = 1
    """LIMIT: the first watch from a file's version: what has happened since comes at once, and its
    end in order tells that this was all, even of a quiet kind."""
    fresh_watch_s: int = 3
    watch_s: int = 60
    """LIMIT: 900 custom kinds at 60 s are 15 requests a second; clients give up after 90 s of
    silence, which quiet kinds keep: bookmarks come only when there is something to mark."""
    list_s: int = 300
    """LIMIT: a list as a stream: 620,000 pods take 30 s."""
    list_silence_s: float = 30.0
    """LIMIT: silence within it; the server waits 3 s for its own cache at most."""
    slack_s: float = 2.0
    """LIMIT: how much longer than asked a watch may be silent, before it counts as frozen."""
    first_wait_s: float = 0.1
    last_wait_s: float = 30.0
    """LIMIT: doubling from 0.1 s this is reached after 9 failures, 50 s."""
    look_s: float = 0.1
    """LIMIT: between two looks at whether a stream has come as far as it must."""
    audit_rest_s: float = 1.0
    """LIMIT: between two kinds that are compared with the cluster: one list a second, so that each
    of 60 kinds has its turn every minute, and each of 900 every quarter of an hour."""

    def wait_s(self, failures: int, chance: float) -> float:
        """Return the wait after so many failures in a row; `chance` in [0, 1) spreads it."""
        longest = min(self.last_wait_s, self.first_wait_s * 2.0 ** min(failures - 1, 30))
        return longest * (0.5 + chance / 2)


class Follower:
    """Follows one kind until it is cancelled. Never raises: what goes wrong is waited out."""

    def __init__(
        self,
        api: ApiResource,
        want: Want,
        reader: Reader,
        *,
        cluster: Cluster,
        intake: Intake,
        lists: asyncio.Semaphore,
        pace: Pace,
        clock: Callable[[], Now],
        chance: Callable[[], float],
        serving: Callable[[], bool],
        resume_at: str = "",
        begun: Begun | None = None,
    ) -> None:
        self.api = api
        self.want = want
        self.reader = reader
        self.reflector = Reflector(reader)
        self.listed = False
        """Whether a list was completed at any time."""
        self.unknown = ""
        """Why the kind cannot be known, as long as that is so."""
        self.trouble = ""
        """What went wrong at the last attempt; empty when nothing did."""
        self._cluster = cluster
        self._intake = intake
        self._lists = lists
        self._pace = pace
        self._clock = clock
        self._chance = chance
        self._serving = serving
        self._begun = begun
        """The watch from a file's version, where it was begun ahead of this."""
        self._failures = 0
        self._disorders = 0
        self._waiting: asyncio.Timeout | None = None
        self._leaves = False
        self.resuming = bool(resume_at)
        """Whether the model has the kind from a file, and no watch has told yet what came since."""
        if resume_at:
            self.reflector.resume(resume_at)

    @property
    def resource(self) -> Resource:
        """The type that is followed."""
        return self.api.resource

    def cut(self) -> None:
        """Leave the stream that is open, and resume: it may be one that is stuck."""
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    def relist(self) -> None:
        """List the kind anew: too much of what is known of it was found wrong."""
        self.reflector.distrust()
        # WHY both: a block that is being taken is taken to its end first.
        self._leaves = True
        self.cut()

    async def run(self) -> None:
        """Follow for ever."""
        self._intake.graph.declare(self.api.group, self.api.kind, self.resource)
        while True:
            wait_s = await self._once()
            await asyncio.sleep(wait_s)

    async def _once(self) -> float:
        """Make one attempt; return how long to wait before the next, in seconds."""
        phase, begun = self.reflector.phase, self._begun
        began_ns = self._clock().mono_ns if begun is None else begun.began_ns
        retry_after_s = 0.0
        try:
            if await self._attempt():
                return 0.0
            signal, problem = Signal.ENDED, ""
        except WatchError as error:
            signal, problem = Signal.GARBLED, str(error)
        except GoneError as error:
            signal, problem = Signal.GONE, error.message
        except ApiError as error:
            signal, problem = Signal.REFUSED, f"{error.status} {error.reason}: {error.message}"
            retry_after_s = min(error.retry_after_s or 0.0, self._pace.last_wait_s)
            self._refused(error.status, problem)
        except TimeoutError:
            signal, problem = Signal.BROKEN, "silent for too long"
        except UnavailableError as error:
            signal, problem = Signal.BROKEN, str(error)
        except Exception as error:  # a defect of ours in one kind must not end all
            log.exception("following failed", resource=str(self.resource))
            signal, problem = Signal.GARBLED, f"defect: {error!r}"
        lived_s = (self._clock().mono_ns - began_ns) / 1e9
        streamed = self.reflector.phase is Phase.STREAMING
        self.reflector.ended(signal)
        self.trouble = problem
        if streamed and signal in (Signal.ENDED, Signal.GARBLED):
            # WHY: a server that knows nothing of streams begins an ordinary watch instead.
            self.reflector.streams = False
        if phase is Phase.WATCHING and lived_s >= SETTLED_S:
            self._failures = 0
            if signal is Signal.ENDED:
                return self._after_watch()
        self._failures += 1
        # WHY at once the first time: a compacted version is no failure of the server.
        if signal is Signal.GONE and self._failures == 1:
            return 0.0
        log.debug("will ask again", resource=str(self.resource), signal=signal, problem=problem)
        return max(retry_after_s, self._pace.wait_s(self._failures, self._chance()))

    def _after_watch(self) -> float:
        """Note a watch that ended in its own time; return how long to wait before the next."""
        if self.reflector.listed:
            self._disorders = 0
            self.resuming = False
            self._heard()
            return 0.0
        # WHY waiting: a list of half a million pods must not follow every few events.
        self._disorders += 1
        return self._pace.wait_s(self._disorders, self._chance())

    async def _attempt(self) -> bool:
        """Ask and take the answer to its end; tell whether a list was completed by it."""
        ask = self.reflector.ask()
        match ask:
            case AskPages():
                async with self._lists:
                    self._begin_list()
                    await self._pages()
                return True
            case AskStream():
                pace = self._pace
                async with self._lists:
                    self._begin_list()
                    await self._stream(None, pace.list_s, pace.list_silence_s)
                return self.reflector.listed
            case AskWatch(resource_version=version):
                watch_s = self._watch_s()
                await self._stream(version or None, watch_s, watch_s + self._pace.slack_s)
                return False

    def _begin_list(self) -> None:
        self.resuming = False
        self._intake.begin_list(self.resource)

    def _watch_s(self) -> int:
        if self.resuming:
            return self._pace.first_watch_s
        return self._pace.fresh_watch_s if self.want.fresh else self._pace.watch_s

    async def _pages(self) -> None:
        limit = PAGE_ITEMS_SERVING if self._serving() else PAGE_ITEMS
        pages = self._cluster.list_pages(self.api.path(), limit, metadata_only=not self.want.full)
        async with aclosing(pages):
            async for body in pages:
                await self._intake.slices.breathe()
                await self._take(self.reflector.page(body))
        if not self.reflector.listed:
            raise UnavailableError("the list ended before its last page")

    async def _stream(self, version: str | None, watch_s: int, silence_s: float) -> None:
        """Take a watch to its end; one that begins with a list only to the end of that.

        Errors: TimeoutError after `silence_s` without a word.
        """
        initial = self.reflector.phase is Phase.STREAMING
        begun, self._begun = self._begun, None
        self._leaves = False
        blocks = (
            begun.blocks()
            if begun is not None
            else self._cluster.watch_lines(
                self.api.path(),
                version,
                initial,
                timeout_s=watch_s,
                metadata_only=not self.want.full,
            )
        )
        async with aclosing(blocks):
            while True:
                # WHY around this alone: a block that is taken in part would be lost in part.
                try:
                    async with asyncio.timeout(silence_s) as self._waiting:
                        block = await anext(blocks, None)
                finally:
                    self._waiting = None
                if block is None:
                    return
                await self._intake.slices.breathe()
                deltas = self.reflector.lines(block)
                await self._take(deltas)
                if deltas and isinstance(deltas[-1], Lost):
                    raise _refusal(deltas[-1])
                if self._leaves:
                    raise TimeoutError
                if initial and self.reflector.listed:
                    return

    async def _take(self, deltas: list[Delta]) -> None:
        await self._intake.take(self.resource, self.reflector.resource_version, deltas)
        # WHY not yet after a file: until its first watch has ended, there may be more to tell.
        if self.reflector.listed and not self.resuming:
            self._heard()

    def _heard(self) -> None:
        if self.unknown:
            log.info("kind is known again", resource=str(self.resource))
        self.listed = True
        self.unknown = self.trouble = ""
        self._intake.heard(self.resource, self.reflector.resource_version)

    def _refused(self, status: int, problem: str) -> None:
        if self.reflector.phase is Phase.STREAMING and status in NO_STREAMS:
            self.reflector.streams = False
            return
        if status in REFUSED_FOR_GOOD or (status >= 500 and self._failures >= UNKNOWN_AFTER):
            if not self.unknown:
                log.warning("kind is unknown", resource=str(self.resource), why=problem)
            self.unknown = problem
            self._intake.graph.mark_unknown(self.resource, problem)


def _refusal(lost: Lost) -> ApiError:
    """Return the error that an ERROR event stands for."""
    kind = GoneError if lost.status == 410 else ApiError
    return kind(lost.status, "", lost.why)
