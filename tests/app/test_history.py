"""Whatever becomes of a stream on its way, the model ends as the cluster, and so do observers."""

from __future__ import annotations

import asyncio
from collections.abc import Set as AbstractSet
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.scriptedserver import Server, bookmark, event
from suture.app.intake import Intake
from suture.model import names
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodState
from suture.wire.trim import Trimmer
from suture.wire.watch import AskPages, AskStream, AskWatch, Delta, Lost, Reflector, Signal

GVK = Gvk("", "v1", "ConfigMap")


class Mourner:
    """An observer that holds what it is told against what it was told before."""

    heeds: AbstractSet[Resource] | None = None

    def __init__(self) -> None:
        self.alive: dict[str, str] = {}

    def began(self, thing: ClusterObject) -> None:
        """Expect a life that was not there, under a name that is free."""
        assert thing.uid not in self.alive
        assert thing.key.name not in self.alive.values()
        self.alive[thing.uid] = thing.key.name

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Expect a life that is there."""
        assert self.alive[thing.uid] == thing.key.name
        assert not terminates

    def restated(self, state: PodState) -> None:
        """Expect a life that is there."""
        assert state.key.name in self.alive.values()

    def ended(self, thing: ClusterObject) -> None:
        """Expect a life that is there, for the last time."""
        assert self.alive.pop(thing.uid) == thing.key.name


class Line:
    """A reflector and an intake at the end of a line to a server."""

    def __init__(self, server: Server, *, streams: bool) -> None:
        self.server = server
        self.reader = Trimmer().reader(names.CONFIG_MAPS, GVK)
        self.reflector = Reflector(self.reader, streams=streams)
        self.graph = Graph()
        self.mourner = Mourner()
        self.intake = Intake(self.graph, lambda: Now(1, 0.0), [self.mourner])
        self.pending: list[bytes] = []
        self.told: list[bytes] = []

    async def take(self, deltas: list[Delta]) -> bool:
        """Apply changes as a follower does; tell whether the stream goes on."""
        version = self.reflector.resource_version
        await self.intake.take(names.CONFIG_MAPS, version, deltas)
        if self.reflector.listed:
            self.intake.heard(names.CONFIG_MAPS, self.reflector.resource_version)
        return not (deltas and isinstance(deltas[-1], Lost))

    async def feed(self, lines: list[bytes]) -> None:
        """Deliver lines in one block."""
        if lines:
            await self.take(self.reflector.lines(b"".join(lines)))

    async def list_part(self, most: int | None = None) -> None:
        """Ask for a list, and deliver so much of it; all of it where nothing is said."""
        ask = self.reflector.ask()
        self.intake.begin_list(names.CONFIG_MAPS)
        if isinstance(ask, AskStream):
            await self.feed(self.server.stream()[:most])
        else:
            for page in self.server.pages(size=1)[:most]:
                await self.take(self.reflector.page(page))

    async def catch_up(self) -> None:
        """Ask and deliver until all is known, over a line that works."""
        self.pending, self.told = [], []
        while True:
            ask = self.reflector.ask()
            if isinstance(ask, AskWatch):
                lines = self.server.since(ask.resource_version)
                if lines is not None:
                    await self.feed(lines)
                    self.reflector.ended(Signal.ENDED)
                    if self.reflector.listed:
                        self.reflector.ask()
                        return
                    continue
                self.reflector.ended(Signal.GONE)
                ask = self.reflector.ask()
            assert isinstance(ask, AskPages | AskStream)
            await self.list_part()

    async def live(self, name: str) -> None:
        """Read one object past the stream."""
        key = ObjectKey(names.CONFIG_MAPS, "n", name)
        known = self.intake.state(key)
        told = self.intake.told_up_to(names.CONFIG_MAPS)
        stored = self.server.stored.get(name)
        found = None if stored is None else self.seen(name, *stored)
        self.intake.live(key, found, known, told)

    def seen(self, name: str, uid: str, version: int) -> ClusterObject:
        """Return an object as a review or a read shows it."""
        key = ObjectKey(names.CONFIG_MAPS, "n", name)
        return ClusterObject(key, uid, GVK, str(version))

    def model(self) -> dict[str, tuple[str, int]]:
        """Return what the graph has."""
        return {
            one.key.name: (one.uid, int(one.resource_version))
            for one in map(self.graph.at, self.graph.rows(names.CONFIG_MAPS))
        }


NAMES = st.sampled_from("abcd")
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.booleans()),
    st.tuples(st.just("write"), NAMES, st.booleans()),
    st.tuples(st.just("deliver"), st.integers(1, 4), st.just(0)),
    st.tuples(st.just("repeat"), st.integers(1, 4), st.just(0)),
    st.tuples(st.just("swap"), st.just(0), st.just(0)),
    st.tuples(st.just("lose"), st.integers(1, 3), st.just(0)),
    st.tuples(st.just("break"), st.sampled_from([Signal.BROKEN, Signal.ENDED]), st.just(0)),
    st.tuples(st.just("compact"), st.just(0), st.just(0)),
    st.tuples(st.just("bookmark"), st.just(0), st.just(0)),
    st.tuples(st.just("half a list"), st.integers(0, 3), st.just(0)),
    st.tuples(st.just("live"), NAMES, st.just(0)),
    st.tuples(st.just("review"), NAMES, st.just(0)),
)


async def step(line: Line, what: str, first: Any, *, second: Any) -> None:
    """Let one thing happen."""
    server = line.server
    match what:
        case "write":
            before = len(server.history)
            server.write(first, delete=second)
            line.pending += [one for _, one in server.history[before:]]
        case "deliver":
            cut, line.pending = line.pending[:first], line.pending[first:]
            await line.feed(cut)
            line.told += cut
        case "repeat":
            await line.feed(line.told[-first:])
        case "swap":
            line.pending[:2] = line.pending[1::-1] if len(line.pending) > 1 else line.pending[:2]
        case "lose":
            line.pending = line.pending[first:]
        case "break":
            line.reflector.ended(first)
            await line.catch_up()
        case "compact":
            server.compacted = server.version
        case "bookmark":
            if not line.pending:
                await line.feed([bookmark(server.version)])
        case "half a list":
            line.reflector.ended(Signal.GONE)
            await line.list_part(first)
            if not line.reflector.listed:
                line.reflector.ended(Signal.BROKEN)
            await line.catch_up()
        case "live":
            await line.live(first)
        case "review":
            if first in server.stored:
                line.intake.saw(line.seen(first, *server.stored[first]))


@settings(max_examples=400)
@given(steps=st.lists(STEPS, max_size=40), streams=st.booleans())
def test_the_model_and_its_observers_end_as_the_cluster(
    steps: list[tuple[str, Any, Any]], *, streams: bool
) -> None:
    """After a list, whatever was lost, doubled, reordered or read past the stream before."""

    async def run() -> None:
        server = Server()
        server.write("a", delete=False)
        line = Line(server, streams=streams)
        await line.catch_up()
        for what, first, second in steps:
            await step(line, what, first, second=second)
        await line.feed(line.pending)
        line.reflector.ended(Signal.GONE)
        await line.catch_up()
        assert line.model() == server.stored
        assert line.mourner.alive == {uid: name for name, (uid, _) in server.stored.items()}

    asyncio.run(run())


def test_an_event_that_a_read_overtook_changes_nothing() -> None:
    """Older news of what was read is no news; newer is."""

    async def run() -> None:
        server = Server()
        server.write("a", delete=False)
        line = Line(server, streams=False)
        await line.catch_up()
        uid, version = server.stored["a"]
        server.stored["a"] = (uid, version + 2)
        await line.live("a")
        await line.feed([event("MODIFIED", "a", uid, version + 1)])
        assert line.model() == {"a": (uid, version + 2)}
        await line.feed([event("MODIFIED", "a", uid, version + 3)])
        assert line.model() == {"a": (uid, version + 3)}

    asyncio.run(run())
