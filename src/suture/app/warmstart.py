"""From a file: which kinds can go on where a snapshot left off, and whose cluster it is of.

A snapshot of another cluster, or of objects read in another form, must never be taken for ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from suture.app.follow import Pace
from suture.app.ports import Cluster
from suture.app.watches import Want
from suture.errors import ApiError, UnavailableError
from suture.model.graph import Graph
from suture.model.names import Resource
from suture.wire.kinds import SHAPES
from suture.wire.pages import PARTIAL_OBJECT

log = structlog.get_logger(__name__)

ANSWER_S = 5.0
"""LIMIT: one read of a namespace, while the process has nothing else to do."""

ATTEMPTS = 5
"""LIMIT: with backoff some 3 s; then the model is listed, which waits for the cluster anyway."""


def resumable(graph: Graph, resource: Resource, want: Want) -> str:
    """Return the version from which a type can be watched on; empty where it must be listed."""
    fresh = graph.freshness.get(resource)
    if fresh is None or not fresh.listed or fresh.unknown:
        return ""
    first = graph.first(resource)
    shape = SHAPES.get(resource)
    by_rules = want.rules is not None and not want.rules.metadata_only
    facts = want.full and (by_rules if shape is None else shape.facts is not None)
    # WHY one for all: a kind is read in one form, and a file is written by one process.
    if first is not None and (graph.at(first).facts is not None) is not facts:
        return ""
    return fresh.resource_version


class _Meta(msgspec.Struct):
    uid: str = ""


class _Namespace(msgspec.Struct):
    metadata: _Meta


_decoder = msgspec.json.Decoder(_Namespace)


async def same_cluster(cluster: Cluster, uid: str, pace: Pace, chance: Callable[[], float]) -> bool:
    """Tell whether a cluster is the one whose namespace kube-system has this uid."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            body = await cluster.get_raw(
                "/api/v1/namespaces/kube-system", accept=PARTIAL_OBJECT, timeout_s=ANSWER_S
            )
            return bool(uid) and _decoder.decode(body).metadata.uid == uid
        except (ApiError, UnavailableError, msgspec.MsgspecError) as error:
            log.warning("cannot ask whose snapshot it is", error=str(error))
        await asyncio.sleep(pace.wait_s(attempt, chance()))
    return False
