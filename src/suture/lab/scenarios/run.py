"""The order of a run: a world is built, actors write, harm is counted, everything is taken away.

Lives in the scenarios as their straight line; each line of it is another module's work. Whatever
goes wrong once the world stands makes the run void, with the reason in the report.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from suture.errors import InputError, SutureError
from suture.lab.scenarios import waits
from suture.lab.scenarios.account import is_enrolled
from suture.lab.scenarios.actors import Voice, voices
from suture.lab.scenarios.choosing import Meant
from suture.lab.scenarios.clearing import clear, clear_earlier
from suture.lab.scenarios.cluster import Cluster, Object, path_of
from suture.lab.scenarios.collecting import unfollowed_s
from suture.lab.scenarios.expand import fill
from suture.lab.scenarios.format import Step
from suture.lab.scenarios.guard import Guard, Guarding
from suture.lab.scenarios.harm import READS, Loss, losses
from suture.lab.scenarios.inventory import Inventory
from suture.lab.scenarios.mend import digest_of, mend, stands
from suture.lab.scenarios.observe import Observation, observe
from suture.lab.scenarios.place import Answering, Place, Resting
from suture.lab.scenarios.populate import populate
from suture.lab.scenarios.probes import PROBES, reads_of
from suture.lab.scenarios.quiet import MOST_S, OWN_SPACE, SETTLED_S
from suture.lab.scenarios.reading import Loaded, namespaces_of
from suture.lab.scenarios.ready import nudge, until_ready
from suture.lab.scenarios.report import (
    HarmFound,
    Latency,
    Outcome,
    Report,
    idle_steps,
    policies_of,
    reasons_of,
    steps_of,
    unexpected,
    verdict_of,
)
from suture.lab.scenarios.steps import Stepper
from suture.lab.scenarios.story import Move, MovedStory, Story
from suture.lab.scenarios.world import World
from suture.lab.scenarios.written import VoidError, Written

Say = Callable[[str], None]
"""Told what is being done, for people who wait."""


NO_HARM = HarmFound(population=0, lost=0, by_kind={})


@dataclass
class _Found:
    """What a run has found so far."""

    writes: list[Written] = field(default_factory=list)
    harm: HarmFound = NO_HARM
    latency: Latency | None = None
    bound: int | None = None
    would_refuse: int = 0
    unreached: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    phases_s: dict[str, float] = field(default_factory=dict)
    guilty_s: float = 0.0


def _silent(_: str) -> None:
    """Say nothing."""


class Runner:
    """Runs one scenario in one place."""

    def __init__(
        self,
        loaded: Loaded,
        place: Place,
        guard: Guard,
        *,
        speed: float = 1.0,
        move: Move | None = None,
        keep: bool = False,
        reuse: bool = False,
        say: Say = _silent,
    ) -> None:
        """Take a scenario and where to run it.

        With `move`, what a story waits is lived until the cluster is at rest, and moved from then.
        `keep` leaves the world standing afterwards; `reuse` takes such a world, if it is there
        and of the same manifests, and puts back what it lacks.
        """
        self._reuse = reuse
        self._loaded = loaded
        self._scenario = loaded.scenario
        self._place = place
        self._guard = guard
        self._speed = speed
        self._move = move
        self._story = Story()
        self._keep = keep
        self._say = say
        self._found = _Found()
        self._world = World(loaded.name, secrets.token_hex(3))
        self._counted: list[str] = []

    async def run(self) -> Report:
        """Run it. Errors: InputError for a file that the cluster cannot take; else none."""
        began = time.monotonic()
        reason = ""
        try:
            async with self._place.reached() as cluster:
                await self._on(cluster)
        except InputError:
            raise
        except SutureError as error:
            reason = str(error)
        return self._report(reason, time.monotonic() - began)

    @property
    def writes(self) -> Sequence[Written]:
        """Every write and its answer, after the run."""
        return self._found.writes

    # ------------------------------------------------------------------ the line

    async def _on(self, cluster: Cluster) -> None:
        self._counted = self._kinds(cluster)
        inventory = None
        objects = fill(list(self._loaded.objects), 0, self._world.run)
        spaces = fill(namespaces_of(self._scenario), 0, self._world.run)
        if self._keep or self._reuse:
            self._world.digest = digest_of(objects, spaces)
        if self._reuse:
            self._world.spaces = await stands(cluster, self._world.digest)
        if self._place.lasting:
            with self._phase("clearing"):
                if not self._world.spaces:
                    self._say("waiting until an earlier scenario is gone")
                    await clear_earlier(cluster, self._counted)
            inventory = await Inventory.take(cluster)
        backends = self._place.backends()
        try:
            with self._phase("building"):
                await self._build(cluster, backends, objects, spaces)
            with _void():
                await self._guarded(cluster, backends)
        finally:
            with self._phase("leaving"):
                await self._leave(cluster, backends, inventory)

    async def _build(
        self,
        cluster: Cluster,
        backends: Answering,
        objects: Sequence[Object],
        spaces: Sequence[str],
    ) -> None:
        if self._place.stands:
            return
        if self._world.spaces:
            self._say("mending the world that stands")
            await mend(cluster, self._world, objects, backends.answer_for)
        else:
            self._say(f"building {len(objects)} objects")

            async def answered(last: Sequence[Object]) -> Sequence[Object]:
                # WHY wait: two webhooks whose pods are not there yet hold up each other's pods.
                if last:
                    await until_ready(cluster, self._world.made)
                return await backends.answer_for(last)

            await populate(cluster, self._world, objects, spaces, answered)
        self._say("waiting for the population to be ready")
        late = await until_ready(cluster, self._world.made)
        if late:
            await nudge(cluster, late)
            late = await until_ready(cluster, self._world.made)
        if late:
            self._found.notes.append(f"not ready: {len(late)}, for instance {late[0]}")
        if self._place.lasting:
            written = [part for one in self._scenario.steps for part in (one.body, one.patch)]
            bodies = msgspec.to_builtins([one for one in written if one is not None])
            await asyncio.sleep(unfollowed_s(self._world.made, bodies, time.time()))

    async def _guarded(self, cluster: Cluster, backends: Answering) -> None:
        async with contextlib.AsyncExitStack() as stack:
            speaking = await stack.enter_async_context(
                voices(cluster, self._world, self._scenario.actors)
            )
            with self._phase("guard"):
                self._say(f"guard: {self._guard.mode}")
                guarding = await stack.enter_async_context(self._guard.watching())
            enrolled = [voice for voice in speaking.values() if is_enrolled(voice)]
            with self._phase("guard"):
                await guarding.enrol(enrolled)
            if enrolled:
                self._found.latency = await self._place.latency(cluster, self._world, enrolled[0])
            async with self._place.resting(cluster) as rest:
                await rest.quiet(SETTLED_S, MOST_S)
                await self._play(cluster, speaking, backends, rest)
            self._found.would_refuse = await guarding.would_refuse(self._found.writes)
            await self._bound(guarding)

    async def _play(
        self, cluster: Cluster, speaking: Mapping[str, Voice], backends: Answering, rest: Resting
    ) -> None:
        scenario = self._scenario
        first_guilty = min(scenario.guilty_steps, default=0)
        self._story = Story() if self._move is None else MovedStory(rest, self._move)
        before: Observation | None = None
        stepper = Stepper(
            cluster,
            speaking,
            scenario,
            run=self._world.run,
            story=self._story,
            speed=self._speed,
            complete=backends.answer_for,
            heard=self._place.wrote,
        )
        self._found.writes = stepper.writes
        try:
            with self._phase("steps"):
                for at, step in enumerate(scenario.steps):
                    if at == first_guilty:
                        await rest.quiet(SETTLED_S, MOST_S)
                        before = await self._observe(cluster)
                    await self._step(cluster, stepper, at, step, rest)
            with self._phase("quiescence"):
                if not await rest.quiet():
                    self._found.notes.append(f"not at rest after {MOST_S:g} s")
        finally:
            self._world.left += [
                place for place in stepper.created if place[1] not in self._world.spaces
            ]
        after = await self._observe(cluster)
        done = [one for one in stepper.writes if one.guilty and one.outcome == "done"]
        made = frozenset(one.created for one in done if one.created)
        stored = sum(one.stored for one in done)
        self._count(before or after, replace(after, made=made, written=stored))
        self._found.unreached += await waits.unreached(cluster, stepper.aims.values())

    async def _step(
        self, cluster: Cluster, stepper: Stepper, at: int, step: Step, rest: Resting
    ) -> None:
        began = self._story.now_s()
        actor = self._scenario.actors.get(step.by)
        if step.follows is not None and not any(
            one.step == step.follows and one.outcome == "done" for one in stepper.writes
        ):
            self._say(f"step {at}: nothing to follow from")
            return
        if not step.writes or step.verb is None:
            self._say(f"step {at}: waiting")
            problem = await waits.wait(
                cluster, step, run=self._world.run, speed=self._speed, story=self._story
            )
        elif actor is not None and actor.controller:
            self._say(f"step {at}: waiting for {actor.controller}")
            problem = await self._real_controller(cluster, step, rest)
        else:
            self._say(f"step {at}: {step.by} {step.verb} {step.resource}")
            await stepper.write(at)
            problem = ""
        if problem:
            self._found.unreached.append(f"step {at}: {problem}")
        if at in self._scenario.guilty_steps:
            self._found.guilty_s += self._story.now_s() - began

    async def _real_controller(self, cluster: Cluster, step: Step, rest: Resting) -> str:
        """Wait until a real controller has done what a step says of it."""
        if step.names is not None and step.verb == "delete":
            return await waits.wait_until(cluster, step, "gone", run=self._world.run)
        if step.names is not None and step.verb == "create":
            return await waits.wait_until(cluster, step, "exists", run=self._world.run)
        await rest.quiet()
        return ""

    # ------------------------------------------------------------------ measuring

    async def _observe(self, cluster: Cluster) -> Observation:
        harm = self._scenario.harm
        wanted = [*self._kinds(cluster), *READS, "services", "namespaces", *reads_of(harm.probes)]
        tries = any(PROBES[name].tries_pods for name in harm.probes)
        return await observe(cluster, wanted, try_pods=tries)

    def _kinds(self, cluster: Cluster) -> list[str]:
        """Return the resources whose loss counts, by the names that the cluster has for them."""
        found = []
        for kind in self._scenario.harm.kind_list:
            try:
                found.append(str(cluster.kinds.find(kind).resource))
            except SutureError:
                # WHY: a kind whose CRD a step deletes is known by its name before and after.
                found.append(kind)
        return found

    def _count(self, before: Observation, after: Observation) -> None:
        harm = self._scenario.harm
        kinds = [kind for kind in self._counted if kind in before.objects]
        meant = harm.meant_list
        if self._guard.mode == "off":
            # WHY: what the guard of an earlier run left is no part of a world without one.
            meant.append(Meant(namespaces=OWN_SPACE))
        by_kind: dict[str, Loss] = losses(kinds, meant, before, after, among=harm.among_list)
        self._found.harm = HarmFound(
            population=sum(loss.population for loss in by_kind.values()),
            lost=sum(loss.lost for loss in by_kind.values()),
            by_kind=by_kind,
            probes={name: PROBES[name].measure(before, after) for name in harm.probes},
        )
        blocked = {s: reason for s, reason in after.blocked.items() if s not in before.blocked}
        if blocked:
            reason = next(iter(blocked.values()))
            self._found.notes.append(f"pods cannot be created: {reason[:300]}")

    async def _bound(self, guarding: Guarding) -> None:
        populations = {kind: loss.population for kind, loss in self._found.harm.by_kind.items()}
        self._found.bound = await guarding.bound(populations, self._found.guilty_s)

    def _report(self, void_reason: str, duration_s: float) -> Report:
        found, scenario = self._found, self._scenario
        refused = [one for one in found.writes if one.outcome == "refused"]
        guilty = [one for one in refused if one.guilty]
        verdict: Outcome = "void"
        if not void_reason:
            verdict = verdict_of(
                scenario,
                refused_guilty=len(guilty),
                refused=len(refused),
                lost=found.harm.lost,
                bound=found.bound or 0,
                probes=found.harm.probes,
                unreached=found.unreached,
            )
        first = min((one.number for one in refused), default=None)
        report = Report(
            scenario=self._loaded.name,
            guard=self._guard.mode,
            kind=scenario.kind,
            writes=len(found.writes),
            refused=len(refused),
            would_refuse=found.would_refuse,
            false_refusals=len(refused) - len(guilty),
            first_refused_write=first,
            harm=found.harm,
            verdict=verdict,
            added_latency_ms=found.latency,
            void_reason=void_reason,
            bound=found.bound,
            reasons=reasons_of(found.writes),
            stopped_by=policies_of(found.writes),
            controllers=self._place.controllers,
            place=self._place.name,
            decisions=tuple(one.refusal.decision for one in refused[:20] if one.refusal),
            unreached=tuple(found.unreached[:20]),
            # WHY only then: what a guard refused leaves nothing for those that follow.
            idle=() if refused else idle_steps(scenario, found.writes),
            speed=self._speed,
            moved_s=round(self._story.moved_s, 1),
            duration_s=round(duration_s, 1),
            phases_s=found.phases_s,
            notes=(*found.notes, *self._place.remarks),
            steps=steps_of(scenario, found.writes),
        )
        differs = unexpected(scenario, report)
        return msgspec.structs.replace(report, expected=not differs, unexpected=differs)

    # ------------------------------------------------------------------ before and after

    async def _leave(
        self, cluster: Cluster, backends: Answering, inventory: Inventory | None
    ) -> None:
        if inventory is not None and not self._keep:
            self._say("taking the world away")
            # WHY first: a webhook without a backend would hold up everything that follows.
            with contextlib.suppress(SutureError):
                await clear(cluster)
                await _delete_created(cluster, self._world)
                self._found.notes += await inventory.put_back(cluster)
        await backends.stop()

    @contextlib.contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            spent = self._found.phases_s.get(name, 0.0) + time.monotonic() - began
            self._found.phases_s[name] = round(spent, 2)


@contextlib.contextmanager
def _void() -> Iterator[None]:
    """Turn what goes wrong once the world stands into a void run."""
    try:
        yield
    except VoidError:
        raise
    except SutureError as error:
        raise VoidError(str(error)) from error


async def _delete_created(cluster: Cluster, world: World) -> None:
    for api, namespace, name in world.left:
        with contextlib.suppress(SutureError):
            await cluster.client.delete(path_of(api, namespace, name))
