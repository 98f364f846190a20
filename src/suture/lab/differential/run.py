"""Rounds of cases: many worlds at a time, so that waiting for controllers is shared.

A case is one write to one world: predicted, made, and compared once all is at rest. Its number
says which world and which of its writes, so that one case can be made again: the world alone, and
the writes up to it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from suture.adapters.kube import KubeClient
from suture.errors import ApiError, NotFoundError, TooManyRequestsError, UnavailableError
from suture.lab.clusters.chance import dice as chance
from suture.lab.differential.choosing import Chooser
from suture.lab.differential.compare import Outcome, Probes, compare
from suture.lab.differential.hands import Hands
from suture.lab.differential.observed import Snapshot, Unrest, WorldId, blocked, snapshots
from suture.lab.differential.predicted import Prediction, predict
from suture.lab.differential.worlds import (
    HELD,
    WIDGETS,
    World,
    has_own_kind,
    own_kind,
    shared_kinds,
    world,
)
from suture.lab.differential.writes import Body, Create, Delete, Evict, OwnedBy, Write
from suture.lab.plane import Plane
from suture.lab.scenarios.backends import Backends
from suture.lab.scenarios.cluster import each
from suture.lab.scenarios.shapes import parts
from suture.lab.soak.follow import Follower
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.names import CONFIG_MAPS, SERVICE_ACCOUNTS, ObjectKey

STEPS = 6
"""Writes to one world, each a case; the last of them may take a namespace or a definition."""

WORLDS = 64
"""LIMIT: worlds of a round: their 1,500 objects are made in 10 s, and are at rest 3 s after each
write, which as many cases then share."""

AT_ONCE = 24
"""LIMIT: calls under way: more do not make two cores faster."""

QUIET_S = 1.6
"""How long nothing must have changed: controllers act within milliseconds, retries of theirs
within a second."""

LONG_QUIET_S = 8.0
"""The same while something that was predicted has not come: a namespace is first looked at 5 s
after its delete."""

MOST_S = 60.0
"""LIMIT: until a round is at rest, whatever it waits for."""

COLLECTOR_S = 60.0
"""LIMIT: until the garbage collector follows a new kind: it looks for them every 30 s."""

Say = Callable[[str], None]


class Case(msgspec.Struct, frozen=True):
    """One write and what came of it."""

    seed: int
    number: int
    write: Write
    said: Prediction
    outcome: Outcome

    def __str__(self) -> str:
        """Return it for people, with how to make it again."""
        again = f"make differential SEED={self.seed} CASE={self.number}"
        lines = [
            f"seed {self.seed} case {self.number}: {self.write} (again: {again})",
            *(f"  UNPREDICTED: {line}" for line in self.outcome.unpredicted),
            *(f"  {line}" for line in self.outcome.wrong),
        ]
        return "\n".join(lines)


class Tally(msgspec.Struct):
    """What came of a run."""

    cases: int = 0
    refused: Counter[str] = msgspec.field(default_factory=Counter[str])
    kinds: Counter[str] = msgspec.field(default_factory=Counter[str])
    """Cases by sort of write."""
    mismatches: list[Case] = msgspec.field(default_factory=list)
    removed: int = 0
    """Objects that went, over all cases."""
    took_s: float = 0.0

    @property
    def unpredicted(self) -> int:
        """Cases in which something went that was not predicted."""
        return sum(bool(case.outcome.unpredicted) for case in self.mismatches)

    def __str__(self) -> str:
        """Return one line for people."""
        rate = self.cases / self.took_s if self.took_s else 0.0
        return (
            f"{self.cases} cases in {self.took_s:.0f} s ({rate:.1f}/s),"
            f" {self.removed} objects removed, {sum(self.refused.values())} writes refused,"
            f" {len(self.mismatches)} mismatches, {self.unpredicted} with a removal unpredicted"
        )


class _Asked(msgspec.Struct, frozen=True):
    """A write that was predicted; `refused`: an eviction that a budget forbids."""

    said: Prediction
    refused: bool


class _Moment(msgspec.Struct, frozen=True):
    """All worlds at rest."""

    worlds: Mapping[WorldId, Snapshot]
    probes: Mapping[int, Probes]

    def of(self, one: World) -> Snapshot:
        """Return a world; with nothing in it where nothing is left."""
        return self.worlds.get((one.seed, one.number), Snapshot({}))


class Differential:
    """One seed on one control plane, which nobody else writes to."""

    def __init__(self, plane: Plane, client: KubeClient, seed: int, say: Say) -> None:
        """Take a control plane; nothing is made yet."""
        self._plane, self._seed, self._say = plane, seed, say
        self._unrest = Unrest()
        self.follower = Follower(client, observers=[self._unrest])
        self._hands = Hands(client, self.follower.trimmer)
        self._backends = Backends(plane)
        self.tally = Tally()
        self._owed: dict[WorldId, Counter[str]] = {}
        self._began = time.monotonic()

    # ---- a run

    async def run(self, cases: int) -> Tally:
        """Make rounds until there were so many cases."""
        numbers = range(_worlds(cases) * 2)
        async with self.follower.running():
            await self._begin(numbers)
            first = 0
            while self.tally.cases < cases:
                wanted = _worlds(cases - self.tally.cases)
                chosen = numbers[first : first + min(WORLDS, wanted)]
                first += len(chosen)
                await self._round([world(self._seed, number) for number in chosen], STEPS)
            await self._backends.stop()
        return self.tally

    async def one(self, case: int) -> Tally:
        """Make one case again: its world, and the writes up to it."""
        number, step = divmod(case, STEPS)
        async with self.follower.running():
            await self._begin([number])
            await self._round([world(self._seed, number)], step + 1, tell=True)
            await self._backends.stop()
        return self.tally

    async def _begin(self, numbers: Collection[int]) -> None:
        """Make all definitions first, and have the garbage collector know them."""
        client = self.follower.client
        own = [own_kind(self._seed, number) for number in numbers if has_own_kind(number)]
        await self._hands.learn()
        for body in (*shared_kinds(), *own):
            await self._hands.do(Create(body))
        # WHY restarted: it looks for new kinds every 30 s, and at its start.
        await asyncio.to_thread(self._plane.restart, "kube-controller-manager")
        deadline = time.monotonic() + COLLECTOR_S
        await client.create("/api/v1/namespaces", {"metadata": {"name": "collected"}})
        while not await self._served(own):
            _not_after(deadline, "the kinds of the run are not served")
            await asyncio.sleep(0.1)
        await self._hands.learn()
        await self._collected(deadline)

    async def _served(self, own: Sequence[Body]) -> bool:
        served = {str(api.resource) for api in (await self.follower.client.discover()).resources}
        return all(body["metadata"]["name"] in served for body in (*shared_kinds(), *own))

    async def _collected(self, deadline: float) -> None:
        """Wait until the collector takes what a custom object owned."""
        widget = parts.thing("differential.test/v1", "Widget", "probe", "collected")
        owner = OwnedBy("differential.test/v1", "Widget", "probe", "collected")
        await self._hands.do(Create(widget))
        child = parts.config("ConfigMap", "collected", "probe", {}, {})
        await self._hands.do(Create(child, (owner,)))
        path = self._hands.api(CONFIG_MAPS).path("collected", "probe")
        await self._hands.do(Delete(ObjectKey(WIDGETS, "collected", "probe")))
        while True:
            try:
                await self.follower.client.get(path)
            except NotFoundError:
                return
            _not_after(deadline, "the garbage collector does not follow the kinds of the run")
            await asyncio.sleep(0.2)

    # ---- a round

    async def _round(self, worlds: Sequence[World], steps: int, *, tell: bool = False) -> None:
        await each(worlds, self._found, at_once=AT_ONCE)
        await self._inhabited(worlds)
        await each(worlds, self._make, at_once=AT_ONCE)
        await self._settle(())
        hooks = [one.body for at in worlds for one in at.then if isinstance(one, Create)]
        answered = iter(await self._backends.answer_for(hooks))
        ready = [_with_backends(at, answered) for at in worlds]
        await each(ready, self._finish, at_once=AT_ONCE)
        moment = await self._moment(worlds, ())
        self._say(f"seed {self._seed}: {len(worlds)} worlds stand")
        for step in range(steps):
            moment = await self._step(worlds, step, moment, tell=tell)

    async def _found(self, one: World) -> None:
        for create in one.spaces:
            await self._hands.do(create)

    async def _inhabited(self, worlds: Sequence[World]) -> None:
        """Wait for the account without which no pod can be made, in every namespace."""
        graph, deadline = self.follower.graph, time.monotonic() + MOST_S
        for one in worlds:
            for create in one.spaces:
                account = ObjectKey(SERVICE_ACCOUNTS, create.body["metadata"]["name"], "default")
                while graph.row(account) is None:
                    _not_after(deadline, f"{account} does not come")
                    await asyncio.sleep(0.05)

    async def _make(self, one: World) -> None:
        for create in one.first:
            await self._hands.do(create)

    async def _finish(self, one: World) -> None:
        for write in one.then:
            await self._hands.do(write)

    async def _step(
        self,
        worlds: Sequence[World],
        step: int,
        was: _Moment,
        *,
        tell: bool,
    ) -> _Moment:
        """Make one write to each world, wait, and compare."""
        drawn: list[tuple[World, Write]] = []
        for one in worlds:
            write = Chooser(
                was.of(one).things.values(), chance(one.seed, "case", one.number, step)
            ).draw(last=step == STEPS - 1)
            if write is not None:
                drawn.append((one, write))
        answers = await each(drawn, self._predict_and_do, at_once=AT_ONCE)
        asked = [
            (one, write, answer)
            for (one, write), answer in zip(drawn, answers, strict=True)
            if answer is not None
        ]
        expected = {
            uid for _, _, answer in asked if not answer.refused for uid in answer.said.removed
        }
        now = await self._moment(worlds, expected)
        compared = [self._compared(one, was, now) for one in asked]
        late = [number for number, outcome in enumerate(compared) if not outcome.held]
        if late:
            # WHY a second look: a controller manager that waits for a core, or for its lease, is as
            # quiet as one that is done. What went wrongly is still gone then.
            self._say(f"seed {self._seed}: {len(late)} cases differ; looked at again")
            now = await self._moment(worlds, expected, quiet_s=LONG_QUIET_S)
            for number in late:
                compared[number] = self._compared(asked[number], was, now)
        for (one, write, answer), outcome in zip(asked, compared, strict=True):
            self._owed[one.seed, one.number] = outcome.owed
            case = Case(one.seed, one.number * STEPS + step, write, answer.said, outcome)
            self._note(case, was.of(one), now.of(one), tell=tell)
        self.tally.took_s = time.monotonic() - self._began
        self._say(f"seed {self._seed}: {self.tally}")
        return now

    def _compared(self, asked: tuple[World, Write, _Asked], was: _Moment, now: _Moment) -> Outcome:
        one, _, answer = asked
        return compare(
            answer.said,
            was.of(one),
            now.of(one),
            (was.probes[one.number], now.probes[one.number]),
            refused=answer.refused,
            owed=self._owed.get((one.seed, one.number), Counter()),
        )

    def _note(self, case: Case, had: Snapshot, has: Snapshot, *, tell: bool) -> None:
        self.tally.cases += 1
        self.tally.kinds[type(case.write).__name__] += 1
        self.tally.removed += len(had.standing.keys() - has.standing.keys())
        if not case.outcome.held:
            self.tally.mismatches.append(case)
        if tell or not case.outcome.held:
            self._say(str(case))
        if tell:
            for effect in case.said.effects:
                self._say(f"  {effect}")

    async def _predict_and_do(self, drawn: tuple[World, Write]) -> _Asked | None:
        """Predict a write just before it is made; None where the API server does not take it."""
        _, write = drawn
        try:
            request = await self._hands.request(write)
            said = predict(request, self.follower.graph, Now(time.monotonic_ns(), time.time()))
            await self._hands.do(write)
        except ApiError as error:
            self.tally.refused[f"{type(write).__name__} {error.reason or error.status}"] += 1
            if isinstance(write, Evict) and isinstance(error, TooManyRequestsError):
                return _Asked(said, refused=True)
            return None
        return _Asked(said, refused=False)

    # ---- waiting

    async def _settle(self, expected: Collection[str], quiet_s: float = QUIET_S) -> None:
        """Wait until what was predicted is gone and nothing has changed for a while.

        What is being deleted meanwhile is let go by the finalizer's controller, which we are.
        """
        deadline, view = time.monotonic() + MOST_S, self.follower.graph
        self._unrest.at = time.monotonic()
        while time.monotonic() < deadline:
            held, self._unrest.held = self._unrest.held, {}
            for key in held:
                if not await self._hands.release(key, HELD):
                    self._unrest.held[key] = None
            stays = any(_stands(view, uid) for uid in expected)
            if self._unrest.quiet_s >= (LONG_QUIET_S if stays else quiet_s):
                return
            await asyncio.sleep(0.05)

    async def _moment(
        self, worlds: Sequence[World], expected: Collection[str], *, quiet_s: float = QUIET_S
    ) -> _Moment:
        """Wait for rest, and then ask what can be made."""
        return _Moment(await self._at_rest(expected, quiet_s), await self._probe(worlds))

    async def _at_rest(self, expected: Collection[str], quiet_s: float) -> dict[WorldId, Snapshot]:
        """Return every world once it is at rest and the model is the cluster."""
        deadline = time.monotonic() + MOST_S
        while True:
            await self._settle(expected, quiet_s)
            found, differs = await snapshots(self.follower)
            if not differs:
                return found
            if time.monotonic() > deadline:
                raise UnavailableError(f"the model is not the cluster: {differs[:5]}")

    async def _probe(self, worlds: Sequence[World]) -> dict[int, Probes]:
        async def ask(one: World) -> Probes:
            return {space: await blocked(self.follower, space) for space in one.probed}

        found = await each(worlds, ask, at_once=AT_ONCE)
        return {one.number: probes for one, probes in zip(worlds, found, strict=True)}


def _worlds(cases: int) -> int:
    """Return how many worlds give so many cases: in some nothing is left for the last writes."""
    return -(-cases * 21 // (20 * STEPS)) + 1


def _stands(graph: Graph, uid: str) -> bool:
    """Whether an object is there and nobody has sent it away."""
    row = graph.row_of_uid(uid)
    return row is not None and not GraphView(graph).terminating(row)


def _with_backends(at: World, answered: Iterator[Body]) -> World:
    """Return a world whose webhooks can be called."""
    then = tuple(
        Create(next(answered), one.owners) if isinstance(one, Create) else one for one in at.then
    )
    return msgspec.structs.replace(at, then=then)


def _not_after(deadline: float, problem: str) -> None:
    if time.monotonic() > deadline:
        raise UnavailableError(problem)
