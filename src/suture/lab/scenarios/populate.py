"""Builds a scenario's world on a cluster, fast and in the right order, and takes it away again.

Lives apart from `shapes`, which say what there is: here is how it gets there. Everything made is
marked with a label where a namespace does not hold it together, so that what a killed run left
behind is found by the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suture.errors import (
    AlreadyExistsError,
    ApiError,
    InputError,
    NotFoundError,
    UnavailableError,
)
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object, each, listed, path_of
from suture.lab.scenarios.ready import until_ready
from suture.lab.scenarios.shapes import DELETED
from suture.model.names import Propagation
from suture.wire.discovery import ApiResource

MARK = "lab.suture.dev/scenario"
"""Label of what a scenario made: its value is the scenario's name."""

WORLD = "lab.suture.dev/world"
"""Label of a scenario's namespaces: a mark of the manifests that they were made of."""

# LIMIT: 100 namespaces of 20 objects are gone after 47 s on two idle cores; four times that.
GONE_S = 200.0
# LIMIT: a CustomResourceDefinition is served within a second; the API server may be busy.
ESTABLISHED_S = 30.0
POLL_S = 0.2

CREATED_LAST = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService")
"""Kinds that would stand in the way of the rest of the world."""
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
_POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ResourceQuota")
_HEAVY = (
    "deployments.apps",
    "cronjobs.batch",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "replicasets.apps",
    "pods",
    "services",
)
_STANDING = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


@dataclass
class World:
    """What was made for a scenario, to be found again and taken away."""

    name: str
    run: str
    digest: str = ""
    """Set where the world may be used again."""
    spaces: list[str] = field(default_factory=list)
    made: list[Object] = field(default_factory=list)
    """Live objects as they were created."""
    left: list[tuple[ApiResource, str, str]] = field(default_factory=list)
    """What steps created where no namespace of the scenario holds it."""


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
        if any(one["kind"] == "Node" for one in wave):
            # WHY: the scheduler looks at what is Ready, and a story of nodes needs pods on them.
            await until_ready(cluster, [one for one in world.made if one["kind"] == "Node"])
    world.made += await _create_all(cluster, world, list(await before_last(waves[-1])))
    await _delete_marked(cluster, world)


def _waves(objects: Iterable[Object]) -> list[list[Object]]:
    """Return the objects by when they are created; the last wave is what intercepts others."""
    things = [one for one in objects if one["kind"] != "Namespace"]
    when = {_identity(one): _wave_of(str(one["kind"])) for one in things}
    waves: list[list[Object]] = [[] for _ in range(len(_ORDER) + 3)]
    for one in things:
        # WHY: a Secret that a custom resource owns cannot come before it.
        owners = [
            when[place] for _, places in _unresolved(one) for place in places if place in when
        ]
        waves[max([when[_identity(one)], *owners])].append(one)
    return waves


def _wave_of(kind: str) -> int:
    if kind in CREATED_LAST or kind in _POLICIES:
        return len(_ORDER) + 2
    if kind == "Service":
        # WHY after the workloads: their pods are Ready by then, and each slice is written once.
        return len(_ORDER) + 1
    return next((n for n, kinds in enumerate(_ORDER) if kind in kinds), len(_ORDER))


async def _create_wave(cluster: Cluster, world: World, wave: Sequence[Object]) -> None:
    """Create a wave; dependents whose owner is in the world wait for the owner's uid."""
    waiting = list(wave)
    while waiting:
        known = {_identity(one): one["metadata"]["uid"] for one in world.made}
        coming = {_identity(one) for one in waiting}
        defined = {_defines(one) for one in waiting}
        now = [
            one
            for one in waiting
            if not _owners_missing(one, coming, known) and _identity(one)[:2] not in defined
        ]
        if not now:
            raise InputError(f"{_named(waiting[0])} and its owners own each other")
        later = {id(one) for one in now}
        waiting = [one for one in waiting if id(one) not in later]
        owned = [await _with_owners(cluster, one, known) for one in now]
        world.made += await _create_all(cluster, world, owned)
        if any(one["kind"] == "CustomResourceDefinition" for one in now):
            await _established(cluster, now)


def _defines(thing: Object) -> tuple[str, str]:
    """Return group and kind that a definition will serve, nothing for all else."""
    if thing["kind"] != "CustomResourceDefinition":
        return "", ""
    return str(thing["spec"]["group"]), str(thing["spec"]["names"]["kind"])


def _identity(thing: Mapping[str, Any]) -> tuple[str, str, str, str]:
    metadata = thing["metadata"]
    group = str(thing["apiVersion"]).rpartition("/")[0]
    return group, thing["kind"], metadata.get("namespace", ""), metadata.get("name", "")


def _unresolved(thing: Object) -> list[tuple[Object, list[tuple[str, str, str, str]]]]:
    """Return the owners without uid, each with where it may be: same namespace, or none."""
    space = thing["metadata"].get("namespace", "")
    found = []
    for owner in thing["metadata"].get("ownerReferences") or ():
        if not owner.get("uid"):
            group = str(owner.get("apiVersion", "")).rpartition("/")[0]
            kind, name = owner.get("kind", ""), owner.get("name", "")
            found.append((owner, [(group, kind, space, name), (group, kind, "", name)]))
    return found


def _owners_missing(
    thing: Object,
    coming: set[tuple[str, str, str, str]],
    known: Mapping[tuple[str, str, str, str], str],
) -> bool:
    return any(
        not any(place in known for place in places) and any(place in coming for place in places)
        for _, places in _unresolved(thing)
    )


async def _with_owners(
    cluster: Cluster, thing: Object, known: Mapping[tuple[str, str, str, str], str]
) -> Object:
    """Return the object with the live uid in every ownerReference that lacks one."""
    unresolved = _unresolved(thing)
    if not unresolved:
        return thing
    uids: dict[int, str] = {}
    for owner, places in unresolved:
        uid = next((known[place] for place in places if place in known), None)
        uids[id(owner)] = uid or await live_uid(cluster, thing, owner)
    owners = [
        {**owner, "uid": uids[id(owner)]} if id(owner) in uids else owner
        for owner in thing["metadata"]["ownerReferences"]
    ]
    return {**thing, "metadata": {**thing["metadata"], "ownerReferences": owners}}


async def live_uid(cluster: Cluster, thing: Object, owner: Object) -> str:
    """Return the uid of the owner that a reference names on the cluster now."""
    api = cluster.kinds.of(owner)
    space = thing["metadata"].get("namespace", "")
    try:
        found = await cluster.client.get(path_of(api, space, owner.get("name")), metadata_only=True)
    except NotFoundError:
        raise InputError(
            f"{_named(thing)} names the owner {owner.get('kind')} `{owner.get('name')}` without "
            "uid, and there is none"
        ) from None
    return str(found["metadata"]["uid"])


async def resolved_owners(cluster: Cluster, thing: Object) -> Object:
    """Return an object that a step writes, its ownerReferences completed from the live cluster.

    A reference with a `namespace`, which the API does not know, gets the uid of an owner there: so
    a file can write what a controller wrote that took it for granted.
    """
    metadata = thing.get("metadata") or {}
    owners = list(metadata.get("ownerReferences") or ())
    for number, owner in enumerate(owners):
        if "namespace" in owner:
            plain = {key: value for key, value in owner.items() if key != "namespace"}
            elsewhere = {**thing, "metadata": {**metadata, "namespace": owner["namespace"]}}
            owners[number] = {**plain, "uid": await live_uid(cluster, elsewhere, plain)}
    if owners:
        thing = {**thing, "metadata": {**metadata, "ownerReferences": owners}}
    return await _with_owners(cluster, thing, {})


def _named(thing: Mapping[str, Any]) -> str:
    metadata = thing.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName")
    space = metadata.get("namespace")
    return f"{thing.get('kind')} `{space}/{name}`" if space else f"{thing.get('kind')} `{name}`"


async def _create_all(cluster: Cluster, world: World, things: Sequence[Object]) -> list[Object]:
    async def create(thing: Object) -> Object:
        return await _create(cluster, world, thing)

    try:
        return await each(things, create)
    except* ApiError as errors:
        raise errors.exceptions[0] from None
    except* InputError as errors:
        raise errors.exceptions[0] from None


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
        metadata["labels"] = {**(metadata.get("labels") or {}), MARK: world.name}
    for field_name in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        metadata.pop(field_name, None)
    body = {key: value for key, value in thing.items() if key != "status"}
    body["metadata"] = metadata
    try:
        live = await cluster.client.create(path_of(api, space), body)
    except AlreadyExistsError:
        live = await cluster.client.patch(
            path_of(api, space, metadata.get("name")), body, type="merge"
        )
    except ApiError as error:
        if error.status in (400, 422):
            raise InputError(f"{_named(body)} is not taken: {error.message}") from error
        raise
    if "status" in thing and "status" in api.subresources:
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
    bodies = {o["metadata"]["name"]: o for o in objects if o["kind"] == "Namespace"}
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
        marks = {MARK: world.name, **({WORLD: world.digest} if world.digest else {})}
        metadata["labels"] = {**(metadata.get("labels") or {}), **marks}
        return await cluster.client.create(path_of(api), {**body, "metadata": metadata})

    world.made += await each(missing, make)
    world.spaces += missing
    for name in set(bodies) - set(missing):
        await cluster.client.patch(path_of(api, "", name), bodies[name], type="merge")


def cluster_scoped_unknown(cluster: Cluster, thing: Object) -> bool:
    """Whether an object may live in a namespace: its kind says so, or is not served yet."""
    try:
        return cluster.kinds.of(thing).namespaced
    except InputError:
        # WHY: a custom resource whose CRD is created first; what its manifest says is believed.
        return "namespace" in thing["metadata"]


async def wait_gone(cluster: Cluster, names: Sequence[str]) -> None:
    """Wait until namespaces of these names are gone; finalizers of others are lifted on the way."""
    if not names:
        return
    wanted = set(names)
    api = cluster.kinds.find("namespaces")
    began = now_s()
    lifted = False

    async def gone() -> bool:
        nonlocal lifted
        left = {one.name for one in await listed(cluster.client, api)} & wanted
        # WHY: an operator that would lift its finalizer does not exist on the lab.
        if left and not lifted and now_s() - began > GONE_S / 20:
            lifted = True
            await lift_finalizers(cluster, left)
        return not left

    await until(gone, GONE_S, f"namespaces of an earlier scenario stay: {sorted(wanted)[:3]}")


async def lift_finalizers(cluster: Cluster, spaces: set[str]) -> None:
    """Take the finalizers off every terminating object of these namespaces."""
    for api in cluster.kinds.all:
        if not api.namespaced or not {"list", "patch"} <= api.verbs:
            continue
        for one in await listed(cluster.client, api):
            if one.namespace in spaces and one.deletion_timestamp and one.finalizers:
                await _lift(cluster, path_of(api, one.namespace, one.name))


async def _lift(cluster: Cluster, path: str) -> None:
    try:
        await cluster.client.patch(path, {"metadata": {"finalizers": None}}, type="merge")
    except NotFoundError:
        return


async def clear(cluster: Cluster) -> None:
    """Take away everything that scenarios made, this one's and what killed runs left.

    Namespaces are emptied of what is heavy, told to go, and not waited for.
    """
    # WHY first: webhooks without a backend would hold up everything that follows.
    last = [api for api in cluster.kinds.all if api.kind in (*CREATED_LAST, *_POLICIES)]
    rest = [api for api in cluster.kinds.all if api not in last and _clearable(api)]
    for api in last:
        await _clear_kind(cluster, api)
    await _empty(cluster)
    for api in rest:
        await _clear_kind(cluster, api)


def _clearable(api: ApiResource) -> bool:
    return {"list", "delete"} <= api.verbs and api.kind not in ("Event", "Lease")


async def _clear_kind(cluster: Cluster, api: ApiResource) -> None:
    """Delete what is marked of one kind."""
    marked = await listed(cluster.client, api, labels=MARK)
    if api.kind == "CustomResourceDefinition":
        for one in marked:
            await _release_instances(cluster, one.name)
    # WHY: a namespace's and a CRD's own finalizer is how their content goes.
    content = api.kind in ("Namespace", "CustomResourceDefinition")
    paths = [
        (path_of(api, one.namespace, one.name), bool(one.finalizers) and not content)
        for one in marked
        if one.deletion_timestamp is None or not content
    ]
    await each(paths, lambda path: _remove(cluster, *path))


async def _empty(cluster: Cluster) -> None:
    """Delete workloads, their pods and Services in the scenarios' namespaces, parents first.

    WHY: the namespace controller deletes pods while their ReplicaSets live, which then make new
    ones; a hundred namespaces keep both busy for a minute.
    """
    spaces = {
        one.name
        for one in await listed(cluster.client, cluster.kinds.find("namespaces"), labels=MARK)
    }
    for word in _HEAVY:
        api = cluster.kinds.find(word)
        there = {one.namespace for one in await listed(cluster.client, api)} & spaces

        async def empty(space: str, api: ApiResource = api) -> None:
            await cluster.client.delete_collection(
                path_of(api, space),
                label_selector=None,
                propagation_policy=Propagation.BACKGROUND,
                grace_period_seconds=0,
            )

        await each(sorted(there), empty)


async def _release_instances(cluster: Cluster, definition: str) -> None:
    """Take the finalizers off a CRD's instances: the operator that would does not exist."""
    plural, _, group = definition.partition(".")
    api = cluster.kinds.get(group, plural)
    if api is None:
        return
    held = [one for one in await listed(cluster.client, api) if one.finalizers]
    await each(held, lambda one: _lift(cluster, path_of(api, one.namespace, one.name)))


async def _remove(cluster: Cluster, path: str, held: bool) -> None:
    try:
        await cluster.client.delete(path)
        if held:
            await _lift(cluster, path)
    except NotFoundError:
        return


async def until(done: Callable[[], Awaitable[bool]], limit_s: float, problem: str) -> None:
    """Ask again and again until it is so. Errors: UnavailableError when it takes too long."""
    deadline = now_s() + limit_s
    while not await done():
        if now_s() > deadline:
            raise UnavailableError(f"{problem} (waited {limit_s:g} s)")
        await asyncio.sleep(POLL_S)
