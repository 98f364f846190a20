"""Takes away what scenarios made, this one's and what killed runs left.

Apart from `populate`, whose counterpart it is: finalizers of operators that no lab has are lifted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from suture.errors import (
    InputError,
    NotFoundError,
    UnavailableError,
)
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, each, listed, path_of
from suture.lab.scenarios.world import MARK
from suture.model.names import Propagation
from suture.wire.discovery import ApiResource

# LIMIT: 100 namespaces of 20 objects are gone after 47 s on two idle cores; four times that.
GONE_S = 200.0

POLL_S = 0.2

# LIMIT: how long what no count looks at is waited for; its removal takes cores, not correctness.
REST_S = 10.0

CREATED_LAST = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService")
"""Kinds that would stand in the way of the rest of the world."""

POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ResourceQuota")

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
    last = [api for api in cluster.kinds.all if api.kind in (*CREATED_LAST, *POLICIES)]
    rest = [api for api in cluster.kinds.all if api not in last and _clearable(api)]
    for api in last:
        await _clear_kind(cluster, api)
    await _empty(cluster)
    for api in rest:
        await _clear_kind(cluster, api)


async def clear_earlier(cluster: Cluster, counted: Iterable[str]) -> None:
    """Take away what earlier runs left, and wait until nothing of the `counted` kinds is left."""
    await clear(cluster)
    going = await _going(cluster)
    if not going:
        return
    await lift_finalizers(cluster, going)
    began = now_s()
    apis = [api for kind in counted if (api := _known(cluster, kind)) is not None]

    async def gone() -> bool:
        if not await _going(cluster):
            return True
        # WHY so long for the rest: its removal takes the cores that the next world needs.
        return now_s() - began > REST_S and not await _any_in(cluster, apis, going)

    await until(gone, GONE_S, "objects of an earlier scenario stay")


async def _going(cluster: Cluster) -> set[str]:
    """Return the namespaces of scenarios that are being deleted."""
    api = cluster.kinds.find("namespaces")
    there = await listed(cluster.client, api, labels=MARK)
    return {one.name for one in there if one.deletion_timestamp}


def _known(cluster: Cluster, kind: str) -> ApiResource | None:
    try:
        return cluster.kinds.find(kind)
    except InputError:
        # WHY: a kind of the world before that this cluster no longer serves has nothing left.
        return None


async def _any_in(cluster: Cluster, apis: Iterable[ApiResource], spaces: set[str]) -> bool:
    """Whether any object of these kinds is left in these namespaces."""
    for api in apis:
        for one in await listed(cluster.client, api):
            if one.namespace in spaces or (api.plural == "namespaces" and one.name in spaces):
                return True
    return False


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
