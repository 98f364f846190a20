"""Suture as the guard of a run: installed on the lab, started anew, its actors enrolled.

Lives in the scenarios beside the seam that it fills. A run waits until the API server answers each
actor in the lane and stage that it was given: an enrolment that has not arrived proves nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from suture.adapters.files import load_policies
from suture.adapters.kube import KubeClient
from suture.adapters.sqlite import SqliteJournal
from suture.app.admit import PROBE_NAME, PROBE_WORD
from suture.errors import UnavailableError
from suture.lab.guard import Guard as Suture
from suture.lab.plane import Plane
from suture.lab.scenarios.account import bound_of, profile_of, refusals_since, would_refuse
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.report import GuardMode
from suture.lab.scenarios.written import Written
from suture.model.actor import Stage

ENROLLED_S = 20.0
"""LIMIT: from the word that enrols to the first answer under it: the registration travels to the
API server's own copy within a second, on a busy machine in a few."""

_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class SutureGuard:
    """Starts Suture for the length of a run, with an empty ledger and an empty history."""

    def __init__(
        self,
        plane: Plane,
        mode: GuardMode,
        *,
        speed: float = 1.0,
        authorizer: bool = True,
        movable: bool = False,
        policies: Sequence[Path] = (),
        installed: Suture | None = None,
    ) -> None:
        """Guard `plane`; with `installed`, a Suture that is there already is started anew.

        `movable` gives it a clock that `move` sets forward.
        """
        self.mode: GuardMode = mode
        self._installed = installed
        self._suture = installed or Suture(
            plane,
            authorizer=authorizer,
            speed=speed,
            policies=tuple(policies),
            movable=movable,
        )

    def move(self, by_s: float) -> None:
        """Tell Suture that time passed which nobody waited for."""
        self._suture.move(by_s)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[SutureAtWork]:
        """Start with empty ledger and history, stop at the end of the block."""
        suture = self._suture
        began = time.time()
        await asyncio.to_thread(suture.restart if self._installed else suture.install)
        try:
            yield SutureAtWork(suture, self.mode, began)
        finally:
            # WHY first: a profile that stays would enrol somebody in the next run.
            await asyncio.to_thread(suture.enrol, ())
            if self._installed is None:
                await asyncio.to_thread(suture.uninstall)


class SutureAtWork:
    """Suture while a run is on."""

    def __init__(self, suture: Suture, mode: GuardMode, began: float) -> None:
        self.suture = suture
        self._mode = mode
        self._began = began
        self._identities: frozenset[str] = frozenset()

    async def enrol(self, voices: Sequence[Voice]) -> None:
        """Enrol actors in their stage; return when the API server answers them under it."""
        profiles = [profile_of(voice, self._mode) for voice in voices]
        self._identities = frozenset(voice.user for voice in voices)
        await asyncio.to_thread(self.suture.enrol, profiles)
        for voice, profile in zip(voices, profiles, strict=True):
            if voice.client is not None:
                await _answered(voice.client, profile.stage)

    async def would_refuse(self, writes: Sequence[Written]) -> int:
        """Return how many of the writes the stage enforce had refused, refused ones included."""
        journal = SqliteJournal(self.suture.journal)
        try:
            refusals = await refusals_since(journal, self._began, self._identities)
        finally:
            await journal.close()
        return would_refuse(writes, refusals)

    async def bound(self, populations: Mapping[str, int], span_s: float) -> int | None:
        """Return how much of these populations the budgets in force let one actor remove."""
        policies = load_policies(self.suture.policies, pack=not self.suture.policies)
        return bound_of(policies.at_speed(self.suture.speed), populations, span_s)


async def _answered(client: KubeClient, stage: Stage) -> None:
    """Ask under an identity until Suture's word comes back with the stage that it should have."""
    heard: list[str] = []
    asking = client.hearing(heard.append)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": PROBE_NAME}}
    deadline = time.monotonic() + ENROLLED_S
    while time.monotonic() < deadline:
        heard.clear()
        await asking.create(_CONFIG_MAPS, body, dry_run=True)
        if any(PROBE_WORD in one and f"stage {stage}" in one for one in heard):
            return
        await asyncio.sleep(0.05)
    raise UnavailableError(f"an actor is not enrolled in stage {stage} after {ENROLLED_S:g} s")
