"""One life from beginning to end: the town stands, Suture is installed, everybody works."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable

import msgspec

from suture.adapters.kube import KubeClient
from suture.adapters.sqlite import SqliteJournal
from suture.errors import AlreadyExistsError
from suture.journal.entry import Entry
from suture.journal.query import RECENT_LIMIT, Wanted
from suture.lab.clusters.chance import dice
from suture.lab.guard import Guard
from suture.lab.identities import Identity, Person, ServiceAccount
from suture.lab.life import town
from suture.lab.life.actor import Actor
from suture.lab.life.cast import CAST, CONTROLLERS
from suture.lab.life.hand import Hand, Tally
from suture.lab.life.meter import Meter, spread
from suture.lab.life.report import Report, false_refusals
from suture.lab.plane import Plane
from suture.lab.rights import give_all_rights, service_account, user
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.format import Actor as Enrolled
from suture.lab.scenarios.suture import SutureAtWork, SutureGuard
from suture.verdict import Answer

EVERYBODY = "life-everybody"
SAY_EVERY_S = 60.0
FOREVER = float("inf")

Say = Callable[[str], None]


async def live(plane: Plane, seed: int, minutes: float, say: Say) -> Report:
    """Live for so long on a lab of its own; return what came of it.

    Errors: UnavailableError when the town does not come up, or Suture does not answer.
    """
    async with contextlib.AsyncExitStack() as stack:
        admin = await stack.enter_async_context(KubeClient.from_kubeconfig(plane.kubeconfig()))
        say("the town is built")
        await town.settle(admin, town.population())
        await _rights(admin)
        clients = {
            name: await stack.enter_async_context(await _client(plane, identity))
            for name, (identity, _) in CAST.items()
        }
        say("suture is installed")
        at_work = await stack.enter_async_context(SutureGuard(plane, "enforce").watching())
        await at_work.enrol(
            [*map(_voice, clients, clients.values()), *map(_controller, CONTROLLERS)]
        )
        began = time.time()
        tally = Tally()
        tally.writes.update(dict.fromkeys(CAST, 0))
        actors = {name: _actor(name, client, seed, tally) for name, client in clients.items()}
        for name, actor in actors.items():
            say(f"{name} prepares")
            await actor.prepare()
        ends = time.monotonic() + minutes * 60
        for actor in actors.values():
            actor.hand.ends = ends
        meter = Meter(at_work.suture, clients["person"], admin)
        await _go(actors, meter, tally, ends, say)
        return await _outcome(at_work, meter, tally, began, (seed, minutes))


async def _go(actors: dict[str, Actor], meter: Meter, tally: Tally, ends: float, say: Say) -> None:
    """Have everybody live, and measure meanwhile."""
    async with asyncio.TaskGroup() as group:
        aside = [group.create_task(meter.run()), group.create_task(_telling(tally, ends, say))]
        lives = [group.create_task(actor.live(), name=name) for name, actor in actors.items()]
        await asyncio.wait(lives)
        for task in aside:
            task.cancel()


async def _telling(tally: Tally, ends: float, say: Say) -> None:
    told = 0
    while True:
        await asyncio.sleep(SAY_EVERY_S)
        left = max(0.0, ends - time.monotonic()) / 60
        writes = sum(tally.writes.values())
        say(f"{left:.0f} minutes left, {writes} writes, {len(tally.refusals)} refused")
        for word in tally.refusals[told:]:
            say(f"REFUSED {word.actor}: {word.what}: {word.message}")
        told = len(tally.refusals)


async def _outcome(
    at_work: SutureAtWork,
    meter: Meter,
    tally: Tally,
    began: float,
    asked: tuple[int, float],
) -> Report:
    seed, minutes = asked
    suture = at_work.suture
    # WHY wait: what was not destructive is written down with a delay.
    await asyncio.sleep(2.0)
    denials = await _denials(suture, began)
    metrics = await asyncio.to_thread(lambda: suture.metrics)
    meter.read(metrics)
    return Report(
        seed=seed,
        minutes=minutes,
        writes=dict(tally.writes),
        verbs=dict(sorted(tally.verbs.items())),
        refused=tuple(false_refusals(tally, denials)),
        held=len(tally.held),
        held_by=dict(Counter(word.actor for word in tally.held)),
        held_by_budget=dict(tally.disruption),
        missed=dict(tally.missed),
        failures=tuple(f"{word.actor}: {word.what}: {word.message}" for word in tally.failures),
        judged=meter.decisions,
        doubts=meter.doubts,
        added_ms=spread(meter.added_ms),
        staleness_s=spread(meter.staleness_s),
        lag_s=spread(meter.lag_s),
    )


async def _denials(suture: Guard, began: float) -> list[Entry]:
    """Return everything that was denied to anybody, dry runs left out."""
    journal = SqliteJournal(suture.journal)
    found: dict[str, Entry] = {}
    wanted = Wanted(answer=Answer.DENY, since_utc_s=began, limit=RECENT_LIMIT)
    try:
        while True:
            page = await journal.recent(wanted)
            known = len(found)
            found.update((entry.decision, entry) for entry in page)
            if len(page) < RECENT_LIMIT or len(found) == known:
                break
            wanted = msgspec.structs.replace(wanted, until_utc_s=page[-1].utc_s)
    finally:
        await journal.close()
    return [entry for entry in found.values() if not entry.asked.dry_run]


# ---- identities


async def _rights(client: KubeClient) -> None:
    """Make the service accounts, and give everybody all rights."""
    subjects = []
    for identity, _ in CAST.values():
        match identity:
            case ServiceAccount(namespace, name):
                await _made(client, "/api/v1/namespaces", namespace)
                await _made(client, f"/api/v1/namespaces/{namespace}/serviceaccounts", name)
                subjects.append(service_account(namespace, name))
            case Person(name):
                subjects.append(user(name))
    await give_all_rights(client, EVERYBODY, subjects)


async def _made(client: KubeClient, path: str, name: str) -> None:
    with contextlib.suppress(AlreadyExistsError):
        await client.create(path, {"metadata": {"name": name}})


async def _client(plane: Plane, identity: Identity) -> KubeClient:
    """Log somebody in, with a client of their own."""
    return KubeClient.from_kubeconfig(await asyncio.to_thread(plane.kubeconfig, identity))


def _voice(name: str, client: KubeClient) -> Voice:
    identity, _ = CAST[name]
    groups = identity.groups if isinstance(identity, Person) else ()
    return Voice(name, Enrolled(user=identity.user), identity.user, groups, client)


def _controller(name: str) -> Voice:
    """Return a controller to enrol; it acts for itself."""
    user = f"system:serviceaccount:kube-system:{name}"
    return Voice(name, Enrolled(controller=name), user, (), None)


def _actor(name: str, client: KubeClient, seed: int, tally: Tally) -> Actor:
    identity, work = CAST[name]
    return work(Hand(name, identity.user, client, dice(seed, name), tally, FOREVER))
