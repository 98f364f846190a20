"""A world that answers without a cluster behind it: a made cluster as the model, always fresh.

What `suture.wiring` is to `suture serve`, this is to benchmarks: the real admit path around a model
that nobody has to follow.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Iterable

from suture.adapters.files import load_policies
from suture.adapters.memory import MemoryJournal, NoSignals
from suture.app.admit import Rim
from suture.app.intake import Intake
from suture.app.slices import Slices
from suture.bench.measure import Setting
from suture.budget.ledger import Ledger
from suture.journal.entry import decision_id
from suture.judge import World
from suture.lab.clusters import Cluster
from suture.lab.incident import ACCOUNT, OPERATOR
from suture.model.actor import Operators, Profile, Stage
from suture.model.clock import Now
from suture.model.history import History
from suture.model.names import ObjectKey, Resource
from suture.model.request import Request
from suture.wire.trim import Trimmer


def clock() -> Now:
    """Return the time."""
    return Now(time.monotonic_ns(), time.time())


class AlwaysFresh:
    """A model that no watch has to keep fresh, since nothing happens to it."""

    def __init__(self, world: World) -> None:
        self._intake = Intake(world.graph, clock)

    def stale(self, resources: Iterable[Resource]) -> tuple[Resource, ...]:  # noqa: ARG002 none is
        """Return nothing: what was loaded is all there is."""
        return ()

    async def refresh(self, keys: Iterable[ObjectKey]) -> None:
        """Read nothing: the model is what a live read would find."""

    def just_read(self, keys: Iterable[ObjectKey]) -> bool:  # noqa: ARG002 see `refresh`
        """Return True: as for an operator that is refused again and again."""
        return True

    def saw(self, request: Request) -> None:
        """Take note of a review's object, as the mirror does."""
        if request.old is not None and not request.subresource:
            self._intake.saw(request.old)


class Scene:
    """A loaded cluster, the safety pack, one enforced operator; ready to be asked."""

    def __init__(self, setting: Setting) -> None:
        self.cluster = Cluster(setting.size, seed=setting.seed)
        gc.disable()
        self.world = World(
            policies=load_policies(),
            graph=self.cluster.graph(clock()),
            operators=Operators(
                [Profile(OPERATOR, users=(ACCOUNT.username,), stage=Stage.ENFORCE)]
            ),
        )
        ids = itertools.count()
        self.rim = Rim(
            model=AlwaysFresh(self.world),
            journal=MemoryJournal(),
            signals=NoSignals(),
            clock=clock,
            decision_id=lambda now: decision_id(now, next(ids)),
            trimmer=Trimmer(),
            turns=Slices(clock),
        )
        freeze()

    def forget(self) -> None:
        """Begin again with nothing admitted, charged or remembered."""
        self.world.overlay.clear()
        self.world.history = History()
        self.world.ledger = Ledger()


def freeze() -> None:
    """Take what is loaded out of the collector's sight, as `suture serve` does once it is ready."""
    gc.collect()
    gc.freeze()
    gc.disable()
