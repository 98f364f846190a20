"""A world used again: found standing, and what an earlier run took from it put back.

Lives apart from `populate`, which builds from nothing: tests run several scenarios of one world,
and a thousand Deployments need not be made for each. Only what is missing is made again; a world
whose objects were changed is not for a second use.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from suture.errors import InputError
from suture.lab.scenarios.backends import CONFIGURATIONS
from suture.lab.scenarios.cluster import Cluster, Object, listed
from suture.lab.scenarios.populate import Before, populate
from suture.lab.scenarios.world import MARK, WORLD, World


def digest_of(objects: Sequence[Object], spaces: Sequence[str]) -> str:
    """Return the mark of a world: equal for equal manifests."""
    told = msgspec.json.encode((objects, sorted(spaces)), order="sorted")
    return sha256(told).hexdigest()[:16]


async def stands(cluster: Cluster, digest: str) -> list[str]:
    """Return the namespaces of a standing world; none when it, or another, is only half there."""
    api = cluster.kinds.find("namespaces")
    marked = await listed(cluster.client, api, labels=MARK)
    if any(one.deletion_timestamp or one.labels.get(WORLD) != digest for one in marked):
        return []
    return [one.name for one in marked]


async def mend(
    cluster: Cluster, world: World, objects: Sequence[Object], before_last: Before
) -> None:
    """Make what is missing of a standing world, and give its webhooks their backends again."""
    await before_last([one for one in objects if one["kind"] in CONFIGURATIONS])
    missing = []
    for kind in dict.fromkeys((one["apiVersion"], one["kind"]) for one in objects):
        alike = [one for one in objects if (one["apiVersion"], one["kind"]) == kind]
        try:
            api = cluster.kinds.of(alike[0])
        except InputError:
            missing += alike
            continue
        there = {(one.namespace, one.name) for one in await listed(cluster.client, api)}
        missing += [one for one in alike if _place(one, namespaced=api.namespaced) not in there]
    await populate(cluster, world, missing, (), before_last)


def _place(thing: Object, *, namespaced: bool) -> tuple[str, str]:
    metadata = thing["metadata"]
    space = metadata.get("namespace") or "default"
    return (space if namespaced else "", metadata.get("name", ""))
