"""What is there: a list of the whole cluster by worlds, and how one knows that it is at rest.

Apart from the mirror, whose graph it is compared with: the list is asked for anew each time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property

import msgspec

from suture.errors import ApiError
from suture.lab.differential.worlds import HELD
from suture.lab.scenarios.shapes import parts
from suture.lab.soak.follow import Follower
from suture.model.names import PODS, REPLICA_SETS, SERVICES, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodState, SliceFacts, WorkloadFacts

NOISE = frozenset(
    {
        Resource("", "events"),
        Resource("events.k8s.io", "events"),
        Resource("", "nodes"),
        Resource("coordination.k8s.io", "leases"),
        # The API server's own record of a Service's address, by a field that is no edge.
        Resource("networking.k8s.io", "ipaddresses"),
    }
)
"""What is not compared, and no sign of unrest: nothing that anybody wrote."""

_OF_WORLD = re.compile(r"d(?P<seed>\d+)-(?P<number>\d+)-")
_OF_GROUP = re.compile(r"\.w(?P<number>\d+)\.s(?P<seed>\d+)\.")

WorldId = tuple[int, int]


def world_of(thing: ClusterObject) -> WorldId | None:
    """Return seed and number of the world that an object belongs to, if to any."""
    return world_at(thing.key)


def world_at(key: ObjectKey) -> WorldId | None:
    """Return the same of where an object is found."""
    place = key.namespace or key.name
    found = _OF_WORLD.match(place) or (None if key.namespace else _OF_GROUP.search(key.name))
    return None if found is None else (int(found["seed"]), int(found["number"]))


class Snapshot(msgspec.Struct, frozen=True, dict=True):
    """The objects of one world at one moment, by uid."""

    things: Mapping[str, ClusterObject]

    @cached_property
    def standing(self) -> Mapping[str, ClusterObject]:
        """What nobody has sent away yet."""
        return {uid: one for uid, one in self.things.items() if not one.terminating}

    @cached_property
    def endpoints(self) -> Mapping[str, int]:
        """How many ready endpoints each standing Service has, as its slices say, by its uid."""
        ready: dict[tuple[str, str], set[str]] = {}
        for one in self.standing.values():
            if isinstance(one.facts, SliceFacts):
                place = (one.key.namespace, one.facts.service)
                ready.setdefault(place, set()).update(one.facts.ready)
        return {
            uid: len(ready.get((one.key.namespace, one.key.name), ()))
            for uid, one in self.standing.items()
            if one.key.resource == SERVICES
        }

    def maker(self, pod: ClusterObject) -> str:
        """Return the uid of the workload that a pod stems from; empty where nothing keeps it."""
        return self.top(_controller(pod))

    def top(self, workload: str) -> str:
        """Return the uid of what keeps a workload, its own where nothing does."""
        found = self.things.get(workload)
        keeps_it = found is not None and found.key.resource == REPLICA_SETS
        return (_controller(found) if found is not None and keeps_it else "") or workload

    def name(self, workload: str) -> str:
        """Return what a workload is called."""
        return str(self.things[workload].key) if workload in self.things else "no maker"

    def wanted(self, workload: str) -> int | None:
        """Return how many pods a workload declares; None where it declares none."""
        found = self.things.get(workload)
        facts = found.facts if found is not None else None
        return facts.replicas if isinstance(facts, WorkloadFacts) else None

    def pods_of(self, workload: str) -> int:
        """Count the standing pods that a workload, or what it keeps, keeps."""
        return sum(
            one.key.resource == PODS and workload in {_controller(one), self.maker(one)}
            for one in self.standing.values()
        )


def _controller(one: ClusterObject) -> str:
    return next((owner.uid for owner in one.owners if owner.controller), "")


async def snapshots(follower: Follower) -> tuple[dict[WorldId, Snapshot], list[str]]:
    """Return every world as a fresh list shows it, and where the model differs from that list."""
    listed = await follower.listed()
    found: dict[WorldId, dict[str, ClusterObject]] = {}
    for one in listed:
        world = world_of(one)
        if world is not None and one.key.resource not in NOISE:
            found.setdefault(world, {})[one.uid] = one
    graph = follower.graph
    true = {(one.key, one.uid, one.resource_version) for one in listed if _told(one)}
    known = {(one.key, one.uid, one.resource_version) for one in graph if _told(one)}
    differs = [f"model and cluster differ: {key} {uid}" for key, uid, _ in sorted(true ^ known)]
    return {world: Snapshot(things) for world, things in found.items()}, differs


def _told(one: ClusterObject) -> bool:
    return world_of(one) is not None and one.key.resource not in NOISE


class Unrest:
    """When anything of a world last changed; an observer of the mirror.

    `held` collects what is being deleted and waits for the run to let it go.
    """

    heeds: AbstractSet[Resource] | None = None

    def __init__(self) -> None:
        self.at = time.monotonic()
        self.held: dict[ObjectKey, None] = {}

    def began(self, thing: ClusterObject) -> None:
        """Note when it was."""
        self._note(thing)

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:  # noqa: ARG002 - both alike
        """Note when it was."""
        self._note(thing)

    def restated(self, state: PodState) -> None:
        """Note when it was."""
        if world_at(state.key) is not None:
            self.at = time.monotonic()

    def ended(self, thing: ClusterObject) -> None:
        """Note when it was."""
        self._note(msgspec.structs.replace(thing, finalizers=()))

    def _note(self, thing: ClusterObject) -> None:
        if thing.key.resource not in NOISE and world_of(thing) is not None:
            self.at = time.monotonic()
            if thing.terminating and HELD in thing.finalizers:
                self.held[thing.key] = None

    @property
    def quiet_s(self) -> float:
        """How long nothing has changed."""
        return time.monotonic() - self.at


async def blocked(follower: Follower, namespace: str) -> bool | None:
    """Whether a webhook stands in the way of a new pod; None where none could be made anyway."""
    pod = parts.pod(namespace, "probe", parts.template({"app": "probe"}))
    try:
        await follower.client.create(f"/api/v1/namespaces/{namespace}/pods", pod, dry_run=True)
    except ApiError as error:
        return True if "failed calling webhook" in str(error) else None
    return False
