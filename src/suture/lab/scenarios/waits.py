"""When a scenario may go on, and whether its end was reached.

Lives apart from `steps`: nothing here writes. A wait that is not met does not end the run, since
an incident may well prevent it; it is reported, and a benign scenario has then not passed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from suture.errors import ApiError, InputError, NotFoundError
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object, each, path_of, whole
from suture.lab.scenarios.expand import fill
from suture.lab.scenarios.format import Step, Until
from suture.lab.scenarios.harm import SERVICE_NAME, SLICES, ready_endpoints
from suture.lab.scenarios.observe import labels_of
from suture.lab.scenarios.ready import has, is_up
from suture.lab.scenarios.story import Story
from suture.lab.scenarios.targets import named_targets, spaces_of
from suture.lab.scenarios.written import Aim
from suture.wire.discovery import ApiResource

# LIMIT: for a wait that says no time: the same as quiescence has.
DEFAULT_S = 60.0
POLL_S = 0.25


async def wait(cluster: Cluster, step: Step, *, run: str, speed: float, story: Story) -> str:
    """Do a waiting step; return what did not come about, empty when all did.

    Plain spans are paces and scale with `speed`; how long to wait for something is a deadline.
    """
    if step.until is None:
        await story.wait((step.over_s or 0.0) / speed)
        return ""
    return await wait_until(cluster, step, step.until, run=run)


async def wait_until(cluster: Cluster, step: Step, condition: Until, *, run: str) -> str:
    """Wait until every object that a step names or selects is so."""
    deadline = now_s() + (step.over_s or DEFAULT_S)
    while True:
        missing = await _not_so(cluster, step, condition, run)
        if not missing:
            return ""
        if now_s() > deadline:
            return f"{missing} is not {condition}"
        await asyncio.sleep(POLL_S)


async def _not_so(cluster: Cluster, step: Step, condition: Until, run: str) -> str:
    """Return the first object that is not as wanted."""
    try:
        api = cluster.kinds.find(step.resource_name)
    except InputError:
        await cluster.rediscover()
        return "" if condition == "gone" else step.resource_name
    names, found = await _found(cluster, step, api, run)
    if condition == "ready" and api.kind == "Service":
        found = await _with_endpoints(cluster, found)
    if condition == "gone":
        return next(iter(found), "")
    for name in names:
        if name not in found:
            return f"{step.resource_name} {name}"
    if not names and not found:
        return f"any of {step.resource_name}"
    return next((name for name, one in found.items() if not _is(one, condition)), "")


async def _found(
    cluster: Cluster, step: Step, api: ApiResource, run: str
) -> tuple[list[str], dict[str, Object]]:
    """Return the names wanted, and the live objects among them or selected, by place."""
    chosen = step.selection
    labels = chosen.label_selector if chosen else None
    everywhere = step.everywhere or (step.namespaces is None and chosen is not None)
    spaces = [""] if everywhere else await spaces_of(cluster, step, api, otherwise="own")
    live: dict[str, Object] = {}
    for space in spaces:
        for one in await _list(cluster, api, space, labels):
            live[_place(one["metadata"].get("namespace", ""), one["metadata"]["name"])] = one
    if chosen is not None or not step.name_list:
        return [], live
    if everywhere:
        names = {fill(name, 0, run) for name in step.name_list}
        return [], {key: one for key, one in live.items() if one["metadata"]["name"] in names}
    wanted = [_place(t.namespace, t.name) for t in named_targets(step, spaces, run)]
    return wanted, {key: live[key] for key in wanted if key in live}


async def _with_endpoints(cluster: Cluster, services: dict[str, Object]) -> dict[str, Object]:
    """Return those of the Services that have a ready endpoint."""
    pieces = await whole(cluster.client, cluster.kinds.find(SLICES))
    ready = {
        _place(piece["metadata"].get("namespace", ""), labels_of(piece).get(SERVICE_NAME, ""))
        for piece in pieces
        if ready_endpoints(piece)
    }
    return {place: service for place, service in services.items() if place in ready}


async def _list(cluster: Cluster, api: ApiResource, space: str, labels: str | None) -> list[Object]:
    try:
        return await whole(cluster.client, api, space, labels=labels)
    except NotFoundError:
        return []


def _place(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _is(thing: Object, condition: Until) -> bool:
    match condition:
        case "exists" | "gone":
            return True
        case "terminating":
            return "deletionTimestamp" in thing["metadata"]
        case "bound":
            return bool((thing.get("status") or {}).get("phase") == "Bound")
        case "complete":
            phase = (thing.get("status") or {}).get("phase")
            return has(thing, "Complete") or phase in ("Succeeded", "Failed")
        case "established":
            return has(thing, "Established")
        case "ready":
            # WHY not what is going: a pod that is ended by its kubelet has come to its end, too.
            return is_up(thing) and "deletionTimestamp" not in thing["metadata"]


async def unreached(cluster: Cluster, aims: Iterable[Aim]) -> list[str]:
    """Return which admitted writes do not hold at the end: what should be gone, and be there."""

    async def check(aim: Aim) -> str:
        where = f"{aim.api.resource} {_place(aim.namespace, aim.name)}"
        try:
            live = await cluster.client.get(
                path_of(aim.api, aim.namespace, aim.name), metadata_only=True
            )
        except NotFoundError:
            meant = aim.gone or await _owners_gone(cluster, aim)
            return "" if meant else f"{where} is gone"
        except ApiError as error:
            return f"{where}: {error.message}"
        metadata = live["metadata"]
        if not aim.gone or "deletionTimestamp" in metadata:
            return ""
        return f"{where} is still there" if metadata["uid"] == aim.uid or not aim.uid else ""

    return [problem for problem in await each(list(aims), check) if problem]


async def _owners_gone(cluster: Cluster, aim: Aim) -> bool:
    """Whether all owners of an object are gone, so that it was to go with them."""

    async def gone(owner: Mapping[str, Any]) -> bool:
        try:
            api = cluster.kinds.of(owner)
            path = path_of(api, aim.namespace, str(owner.get("name", "")))
            live = await cluster.client.get(path, metadata_only=True)
        except (NotFoundError, InputError):
            # WHY the second too: with its definition, of which it says that, an owner is gone.
            return True
        # WHY one without: a patch may take a uid out, and what is named is then what is there.
        return bool(owner.get("uid") not in (None, live["metadata"]["uid"]))

    return bool(aim.owners) and all(await each(aim.owners, gone))
