"""Owners by name: references without a uid get that of the object they name.

Apart from `populate`, since steps write objects with owners too. A file cannot know a uid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suture.errors import (
    InputError,
    NotFoundError,
)
from suture.lab.scenarios.cluster import Cluster, Object, path_of
from suture.model.groups import is_kubernetes

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name."""


def identity(thing: Mapping[str, Any]) -> Identity:
    """Return group, kind, namespace and name."""
    metadata = thing["metadata"]
    group = str(thing["apiVersion"]).rpartition("/")[0]
    return group, thing["kind"], metadata.get("namespace", ""), metadata.get("name", "")


def is_built_in(thing: Mapping[str, Any]) -> bool:
    """Whether an object is of a group of Kubernetes itself: others have kinds of the same names.

    WHY not asked of the cluster: a definition may come with the object.
    """
    return is_kubernetes(str(thing["apiVersion"]).rpartition("/")[0])


def unresolved(thing: Object) -> list[tuple[Object, list[Identity]]]:
    """Return the owners without uid, each with where it may be: same namespace, or none."""
    space = thing["metadata"].get("namespace", "")
    found = []
    for owner in thing["metadata"].get("ownerReferences") or ():
        if not owner.get("uid"):
            group = str(owner.get("apiVersion", "")).rpartition("/")[0]
            kind, name = owner.get("kind", ""), owner.get("name", "")
            found.append((owner, [(group, kind, space, name), (group, kind, "", name)]))
    return found


def owners_missing(
    thing: Object,
    coming: set[Identity],
    known: Mapping[Identity, str],
) -> bool:
    """Whether an owner is among what is coming and not yet known."""
    return any(
        not any(place in known for place in places) and any(place in coming for place in places)
        for _, places in unresolved(thing)
    )


async def with_owners(cluster: Cluster, thing: Object, known: Mapping[Identity, str]) -> Object:
    """Return the object with the live uid in every ownerReference that lacks one."""
    open_ones = unresolved(thing)
    if not open_ones:
        return thing
    uids: dict[int, str] = {}
    for owner, places in open_ones:
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
            f"{named(thing)} names the owner {owner.get('kind')} `{owner.get('name')}` without "
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
    return await with_owners(cluster, thing, {})


def named(thing: Mapping[str, Any]) -> str:
    """Return kind and name for people."""
    metadata = thing.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName")
    space = metadata.get("namespace")
    return f"{thing.get('kind')} `{space}/{name}`" if space else f"{thing.get('kind')} `{name}`"
