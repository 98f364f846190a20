"""What keeps the proxy's table true: lists and watches of Services and EndpointSlices.

Lives in the lab beside the proxy, split from it so that the table can be tested without an API
server. A watch that breaks is resumed by a new list; until then the last known routes stand, as
they do in a node's packet filter.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec

from suture.lab.proxy import RouteTable

log = logging.getLogger(__name__)

# LIMIT: the API server restarts in 2 s; a tenth of a second later its routes are fresh again.
RETRY_S = 0.1
# LIMIT: the server ends a watch after this; a dead peer is noticed by then at the latest.
WATCH_S = 290
CONNECT_LIMIT_S = 5.0


@dataclass(frozen=True)
class _Feed:
    """One watched collection, and what to do with what it tells."""

    path: str
    seen: Callable[[Mapping[str, Any]], None]
    gone: Callable[[tuple[str, str]], None]
    known: Callable[[], set[tuple[str, str]]]


async def follow(endpoint: str, context: ssl.SSLContext, table: RouteTable) -> None:
    """Keep the table true until cancelled."""
    feeds = (
        _Feed("/api/v1/services", table.service_seen, table.service_gone, lambda: table.names()[0]),
        _Feed(
            "/apis/discovery.k8s.io/v1/endpointslices",
            table.slice_seen,
            table.slice_gone,
            lambda: table.names()[1],
        ),
    )
    client = httpx2.AsyncClient(
        base_url=endpoint,
        verify=context,
        timeout=httpx2.Timeout(CONNECT_LIMIT_S, read=WATCH_S + 30),
        trust_env=False,
    )
    async with client, asyncio.TaskGroup() as tasks:
        for feed in feeds:
            tasks.create_task(_follow_one(client, feed))


async def _follow_one(client: httpx2.AsyncClient, feed: _Feed) -> None:
    while True:
        try:
            version = await _list(client, feed)
            await _watch(client, feed, version)
        except (httpx2.HTTPError, msgspec.DecodeError, KeyError) as error:
            log.debug("watch of %s broke: %r", feed.path, error)
            await asyncio.sleep(RETRY_S)


async def _list(client: httpx2.AsyncClient, feed: _Feed) -> str:
    answer = await client.get(feed.path)
    answer.raise_for_status()
    page = msgspec.json.decode(answer.content)
    here = set()
    for item in page.get("items") or ():
        feed.seen(item)
        here.add((item["metadata"]["namespace"], item["metadata"]["name"]))
    for name in feed.known() - here:
        feed.gone(name)
    return str(page["metadata"]["resourceVersion"])


async def _watch(client: httpx2.AsyncClient, feed: _Feed, version: str) -> None:
    """Follow until the server ends the stream or says that the version is too old."""
    while True:
        params = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(WATCH_S),
        }
        async with client.stream("GET", feed.path, params=params) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                event = msgspec.json.decode(line)
                if event["type"] == "ERROR":
                    return
                item = event["object"]
                version = item["metadata"]["resourceVersion"]
                if event["type"] == "DELETED":
                    feed.gone((item["metadata"]["namespace"], item["metadata"]["name"]))
                elif event["type"] != "BOOKMARK":
                    feed.seen(item)
