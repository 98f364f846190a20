"""Which objects a step is about: names and selections worked out against the cluster.

Lives apart from `steps`, which write: counting `{i}`, namespaces in turn, and what a list holds
now are decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from suture.adapters.kube import KubeClient
from suture.install.expressions import LABELS
from suture.lab.scenarios.choosing import Select
from suture.lab.scenarios.cluster import Cluster, Listed, listed
from suture.lab.scenarios.expand import counts, fill
from suture.lab.scenarios.format import Step
from suture.wire.discovery import ApiResource

NO_GUARD: Final = ",".join(f"{key}!={value}" for key, value in LABELS.items())
"""The selector of all that is not Suture's."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One object, or for a collection one namespace: the place of one write."""

    i: int
    namespace: str = ""
    name: str = ""
    uid: str = ""
    """As it was listed; empty for what was named."""
    resource_version: str = ""


async def targets(
    cluster: Cluster,
    client: KubeClient,
    step: Step,
    api: ApiResource,
    run: str,
    *,
    sweeps: bool = True,
) -> list[Target]:
    """Return where a step's writes go, in order.

    What is selected is listed as `client`, the actor itself: an operator that lists everything
    must be allowed to. Unless it `sweeps`, nothing of Suture's own is.
    """
    if step.verb == "deletecollection":
        spaces = await spaces_of(cluster, step, api, otherwise="all")
        return [Target(i=i, namespace=space) for i, space in enumerate(spaces * (step.n or 1))]
    chosen = step.selection
    if chosen is not None:
        found = await selected(cluster, client, step, api, chosen, sweeps=sweeps)
        found = found[: step.n] if step.n else found
        return [_of(i, one) for i, one in enumerate(found)]
    # WHY not of what is made: there is nothing yet to be found by its name.
    makes = step.verb == "create" and not step.subresource
    if not makes and (step.everywhere or isinstance(step.namespaces, Select)):
        return await _named_everywhere(cluster, client, step, api, run)
    spaces = await spaces_of(cluster, step, api, otherwise="own")
    return named_targets(step, spaces, run)


def named_targets(step: Step, spaces: Sequence[str], run: str = "") -> list[Target]:
    """Return the places of named writes: `n` rounds, `{i}` being the number of the round.

    Where a name counts, round i goes to namespace i modulo their number; else to all of them.
    """
    names = step.name_list or [_name_in(step)]
    counting = counts(names)
    rounds = step.n or (len(spaces) if counting else 1)
    found: list[Target] = []
    for i in range(rounds):
        places = [spaces[i % len(spaces)]] if counting else spaces
        for space in places:
            for name in names:
                given = fill(name, i, run)
                inner, _, last = given.rpartition("/")
                found.append(Target(i=i, namespace=inner or space, name=last))
    return found


def _name_in(step: Step) -> str:
    metadata = (step.body or {}).get("metadata") or {}
    return str(metadata.get("name") or "")


async def spaces_of(cluster: Cluster, step: Step, api: ApiResource, *, otherwise: str) -> list[str]:
    """Return a step's namespaces; `otherwise` says what none given means: all, or its own."""
    if not api.namespaced:
        return [""]
    given = step.namespaces
    if step.everywhere or (given is None and otherwise == "all"):
        return [one.name for one in await _namespaces(cluster, Select())]
    if isinstance(given, Select):
        return [one.name for one in await _namespaces(cluster, given)]
    named = step.namespace_list
    if named:
        return named
    metadata = (step.body or {}).get("metadata") or {}
    return [str(metadata.get("namespace") or "default")]


async def _namespaces(cluster: Cluster, chosen: Select) -> list[Listed]:
    api = cluster.kinds.find("namespaces")
    return await listed(
        cluster.client, api, labels=chosen.label_selector, fields=chosen.field_selector
    )


async def selected(
    cluster: Cluster,
    client: KubeClient,
    step: Step,
    api: ApiResource,
    chosen: Select,
    *,
    sweeps: bool = True,
) -> list[Listed]:
    """Return what a selection holds now, in the API server's order."""
    labels, fields = chosen.label_selector, chosen.field_selector
    if not sweeps:
        labels = f"{labels},{NO_GUARD}" if labels else NO_GUARD
    if not api.namespaced or step.everywhere or step.namespaces is None:
        return await listed(client, api, labels=labels, fields=fields)
    spaces = await spaces_of(cluster, step, api, otherwise="all")
    return [
        one
        for space in spaces
        for one in await listed(client, api, space, labels=labels, fields=fields)
    ]


async def _named_everywhere(
    cluster: Cluster, client: KubeClient, step: Step, api: ApiResource, run: str
) -> list[Target]:
    """Return the named objects in whichever of the namespaces they exist."""
    if counts(step.name_list):
        spaces = await spaces_of(cluster, step, api, otherwise="all")
        return named_targets(step, spaces, run)
    names = {fill(name, 0, run) for name in step.name_list}
    found = [
        one for one in await selected(cluster, client, step, api, Select()) if one.name in names
    ]
    return [_of(i, one) for i, one in enumerate(found * (step.n or 1))]


def _of(i: int, one: Listed) -> Target:
    return Target(
        i=i,
        namespace=one.namespace,
        name=one.name,
        uid=one.uid,
        resource_version=one.resource_version,
    )
