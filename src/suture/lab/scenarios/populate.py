"""Builds a scenario's world on a cluster, fast and in the right order, and takes it away again.

Lives apart from `shapes`, which say what there is: here is how it gets there. Everything made is
marked with a label where a namespace does not hold it together, so that what a killed run left
behind is found by the next.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from suture.errors import (
    AlreadyExistsError,
    ApiError,
    InputError,
    SutureError,
    first_of,
)
from suture.lab.scenarios.clearing import CREATED_LAST, POLICIES, until, wait_gone
from suture.lab.scenarios.cluster import Cluster, Object, each, listed, path_of
from suture.lab.scenarios.merge import merged
from suture.lab.scenarios.owners import (
    Identity,
    identity,
    is_built_in,
    named,
    owners_missing,
    unresolved,
    with_owners,
)
from suture.lab.scenarios.ready import until_ready
from suture.lab.scenarios.shapes import DELETED
from suture.lab.scenarios.world import WORLD, World

# LIMIT: a CustomResourceDefinition is served within a second; the API server may be busy.
ESTABLISHED_S = 30.0

_ORDER = (
    ("Namespace",),
    ("CustomResourceDefinition",),
    (
        "Node",
        "StorageClass",
        "PersistentVolume",
        "PriorityClass",
        "RuntimeClass",
        "ServiceAccount",
        "ClusterRole",
        "Role",
    ),
    ("ConfigMap", "Secret", "PersistentVolumeClaim", "LimitRange"),
)

_NODES = next(n for n, kinds in enumerate(_ORDER) if "Node" in kinds)
"""The wave of nodes."""

_STANDING = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})

Before = Callable[[Sequence[Object]], Awaitable[Sequence[Object]]]
"""What is done to the last wave before it is created: webhooks get their backends."""


async def populate(
    cluster: Cluster,
    world: World,
    objects: Iterable[Object],
    spaces: Iterable[str],
    before_last: Before,
) -> None:
    """Create the objects, and the namespaces that they or the steps name.

    Errors: InputError for an object that the API server does not take; ApiError otherwise.
    """
    wanted = list(objects)
    await _namespaces(cluster, world, wanted, spaces)
    waves = _waves(wanted)
    for wave in waves[:-1]:
        await _create_wave(cluster, world, wave)
        if any(one["kind"] == "Node" and is_built_in(one) for one in wave):
            # WHY: the scheduler looks at what is Ready, and a story of nodes needs pods on them.
            await until_ready(cluster, [one for one in world.made if one["kind"] == "Node"])
    await _own_namespaces(cluster, world, wanted)
    await _create_wave(cluster, world, list(await before_last(waves[-1])))
    await _delete_marked(cluster, world)


def _waves(objects: Iterable[Object]) -> list[list[Object]]:
    """Return the objects by when they are created; the last wave is what intercepts others."""
    things = [one for one in objects if one["kind"] != "Namespace"]
    when = {identity(one): _wave_of(one) for one in things}
    _owners_of_nodes_first(things, when)
    waves: list[list[Object]] = [[] for _ in range(len(_ORDER) + 3)]
    for one in things:
        # WHY: a Secret that a custom resource owns cannot come before it.
        owners = [when[place] for _, places in unresolved(one) for place in places if place in when]
        waves[max([when[identity(one)], *owners])].append(one)
    return waves


def _owners_of_nodes_first(things: Sequence[Object], when: dict[Identity, int]) -> None:
    """Have what owns nodes come with them: pods that come later are to find a place.

    WHY only custom resources: what is built in has its own order, and owns no node.
    """
    by_identity = {identity(one): one for one in things}
    queue = [one for one in things if one["kind"] == "Node" and is_built_in(one)]
    while queue:
        thing = queue.pop()
        for _, places in unresolved(thing):
            for place in places:
                above = by_identity.get(place)
                if above is not None and not is_built_in(above) and when[place] > _NODES:
                    when[place] = _NODES
                    queue.append(above)


def _wave_of(thing: Object) -> int:
    kind = str(thing["kind"]) if is_built_in(thing) else ""
    if kind in CREATED_LAST or kind in POLICIES:
        return len(_ORDER) + 2
    if kind == "Service":
        # WHY after the workloads: their pods are Ready by then, and each slice is written once.
        return len(_ORDER) + 1
    return next((n for n, kinds in enumerate(_ORDER) if kind in kinds), len(_ORDER))


async def _create_wave(cluster: Cluster, world: World, wave: Sequence[Object]) -> None:
    """Create a wave; dependents whose owner is in the world wait for the owner's uid."""
    waiting = list(wave)
    while waiting:
        known = {identity(one): one["metadata"]["uid"] for one in world.made}
        coming = {identity(one) for one in waiting}
        defined = {_defines(one) for one in waiting}
        now = [
            one
            for one in waiting
            if not owners_missing(one, coming, known) and identity(one)[:2] not in defined
        ]
        if not now:
            raise InputError(f"{named(waiting[0])} and its owners own each other")
        later = {id(one) for one in now}
        waiting = [one for one in waiting if id(one) not in later]
        owned = [await with_owners(cluster, one, known) for one in now]
        world.made += await _create_all(cluster, world, owned)
        if any(one["kind"] == "CustomResourceDefinition" for one in now):
            await _established(cluster, now)


def _defines(thing: Object) -> tuple[str, str]:
    """Return group and kind that a definition will serve, nothing for all else."""
    if thing["kind"] != "CustomResourceDefinition":
        return "", ""
    return str(thing["spec"]["group"]), str(thing["spec"]["names"]["kind"])


async def _create_all(cluster: Cluster, world: World, things: Sequence[Object]) -> list[Object]:
    async def create(thing: Object) -> Object:
        return await _create(cluster, world, thing)

    try:
        return await each(things, create)
    except ExceptionGroup as failures:
        error = first_of(failures, SutureError)
        if error is None:
            raise
        raise error from None


async def _create(cluster: Cluster, world: World, thing: Object) -> Object:
    """Create one object, or bring the one of that name into its shape; then write its status."""
    api = cluster.kinds.of(thing)
    metadata = dict(thing["metadata"])
    space = metadata.get("namespace") or "default"
    if api.namespaced:
        metadata["namespace"] = space
    else:
        metadata.pop("namespace", None)
    if not api.namespaced or space not in world.spaces:
        metadata["labels"] = {**(metadata.get("labels") or {}), **world.mark}
    for field_name in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        metadata.pop(field_name, None)
    # WHY kept else: without the subresource a status is a field as any other.
    apart = "status" in api.subresources
    body = {key: value for key, value in thing.items() if key != "status" or not apart}
    body["metadata"] = metadata
    try:
        live = await cluster.client.create(path_of(api, space), body)
    except AlreadyExistsError:
        live = await cluster.client.patch(
            path_of(api, space, metadata.get("name")), body, type="merge"
        )
    except ApiError as error:
        if error.status in (400, 422):
            raise InputError(f"{named(body)} is not taken: {error.message}") from error
        raise
    if "status" in thing and apart:
        path = path_of(api, space, live["metadata"]["name"], "status")
        await cluster.client.patch(path, {"status": thing["status"]}, type="merge")
    live.setdefault("apiVersion", body["apiVersion"])
    live.setdefault("kind", body["kind"])
    return live


async def _established(cluster: Cluster, wave: Sequence[Object]) -> None:
    """Wait until the kinds of new CustomResourceDefinitions are served."""
    wanted = [
        (str(one["spec"]["group"]), str(one["spec"]["names"]["plural"]))
        for one in wave
        if one["kind"] == "CustomResourceDefinition"
    ]

    async def served() -> bool:
        await cluster.rediscover()
        return all(cluster.kinds.get(*one) is not None for one in wanted)

    await until(served, ESTABLISHED_S, "the API server does not serve the new kinds")


async def _delete_marked(cluster: Cluster, world: World) -> None:
    """Delete what is to be terminating from the beginning; its finalizers keep it."""
    marked = [
        one
        for one in world.made
        if (one["metadata"].get("annotations") or {}).get(DELETED) == "true"
    ]

    async def delete(thing: Object) -> None:
        metadata = thing["metadata"]
        path = path_of(cluster.kinds.of(thing), metadata.get("namespace", ""), metadata["name"])
        await cluster.client.delete(path)

    await each(marked, delete)


async def _namespaces(
    cluster: Cluster, world: World, objects: Sequence[Object], named: Iterable[str]
) -> None:
    """Make every namespace that is needed; a terminating namesake is waited for."""
    bodies: dict[str, Object] = {}
    for one in objects:
        if one["kind"] == "Namespace":
            name = one["metadata"]["name"]
            # WHY merged: every shape brings the namespaces that it stands in, without labels.
            bodies[name] = merged(bodies.get(name), _unowned(one))
    needed = dict.fromkeys(bodies)
    for one in objects:
        if one["kind"] != "Namespace" and cluster_scoped_unknown(cluster, one):
            needed.setdefault(one["metadata"].get("namespace") or "default")
    needed |= dict.fromkeys(named)
    api = cluster.kinds.find("namespaces")
    there = {one.name: one for one in await listed(cluster.client, api)}
    going = [name for name in needed if name in there and there[name].deletion_timestamp]
    await wait_gone(cluster, going)
    missing = [name for name in needed if name not in there or name in going]

    async def make(name: str) -> Object:
        body = bodies.get(name) or {"apiVersion": "v1", "kind": "Namespace"}
        metadata = dict(body.get("metadata") or {"name": name})
        marks = {**world.mark, **({WORLD: world.digest} if world.digest else {})}
        metadata["labels"] = {**(metadata.get("labels") or {}), **marks}
        return await cluster.client.create(path_of(api), {**body, "metadata": metadata})

    world.made += await each(missing, make)
    world.spaces += missing
    for name in set(bodies) - set(missing):
        await cluster.client.patch(path_of(api, "", name), bodies[name], type="merge")


def _unowned(thing: Object) -> Object:
    """Return an object without the owners whose uid nobody knows yet."""
    open_ones = {id(owner) for owner, _ in unresolved(thing)}
    if not open_ones:
        return thing
    owners = [one for one in thing["metadata"]["ownerReferences"] if id(one) not in open_ones]
    return {**thing, "metadata": {**thing["metadata"], "ownerReferences": owners}}


async def _own_namespaces(cluster: Cluster, world: World, objects: Sequence[Object]) -> None:
    """Give namespaces the owners that come after them: all that lies in one needs it first."""
    known = {identity(one): one["metadata"]["uid"] for one in world.made}
    api = cluster.kinds.find("namespaces")
    for one in objects:
        if one["kind"] == "Namespace" and unresolved(one):
            owned = (await with_owners(cluster, one, known))["metadata"]
            owners = {"metadata": {"ownerReferences": owned["ownerReferences"]}}
            await cluster.client.patch(path_of(api, "", owned["name"]), owners, type="merge")


def cluster_scoped_unknown(cluster: Cluster, thing: Object) -> bool:
    """Whether an object may live in a namespace: its kind says so, or is not served yet."""
    try:
        return cluster.kinds.of(thing).namespaced
    except InputError:
        # WHY: a custom resource whose CRD is created first; what its manifest says is believed.
        return "namespace" in thing["metadata"]
