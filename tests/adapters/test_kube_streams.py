"""Lists and watches of the API server client: pages and blocks of lines as they came."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import msgspec
import pytest

from support.apiserver import (
    PODS,
    ClientOf,
    Script,
    always,
    api_server,
    query_of,
    status,
    streamed,
)
from support.serving import Pki
from suture.adapters import kube
from suture.errors import GoneError, UnavailableError


def page(*names: str, token: str = "", metadata_last: bool = False) -> bytes:
    metadata = {"metadata": {"resourceVersion": "7", "continue": token}}
    items = {"items": [{"metadata": {"name": name, "continue": "no"}} for name in names]}
    ordered = items | metadata if metadata_last else metadata | items
    return msgspec.json.encode({"kind": "PodList", "apiVersion": "v1"} | ordered)


# ---------------------------------------------------------------------- lists


@pytest.mark.parametrize("metadata_last", [False, True], ids=["built-in", "custom-resource"])
async def test_lists_come_page_by_page(pki: Pki, client_of: ClientOf, metadata_last: bool) -> None:
    """Pages are yielded as sent; tokens are followed; the first page alone names a version."""
    sent = [
        page("a", "b", token="t=1&x", metadata_last=metadata_last),
        page("c", token="t2", metadata_last=metadata_last),
        page(metadata_last=metadata_last),
    ]

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        script.reply(writer, 200, sent[len(script.seen) - 1])

    async with api_server(pki, play) as script, client_of(script) as client:
        pages = [
            one
            async for one in client.list_pages(PODS, 2, resource_version="0", label_selector="a=b")
        ]
    assert pages == sent
    first = {"limit": ["2"], "labelSelector": ["a=b"]}
    assert query_of(script, 0) == first | {"resourceVersion": ["0"]}
    assert query_of(script, 1) == first | {"continue": ["t=1&x"]}
    assert query_of(script, 2) == first | {"continue": ["t2"]}


async def test_a_list_too_slow_is_gone(pki: Pki, client_of: ClientOf) -> None:
    """A page whose snapshot is compacted ends the list in GoneError."""

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        if len(script.seen) == 1:
            script.reply(writer, 200, page("a", token="t"))
        else:
            script.reply(writer, 410, status(410, "Expired", "the provided continue is too old"))

    async with api_server(pki, play) as script, client_of(script) as client:
        pages = client.list_pages(PODS)
        assert await anext(pages) == page("a", token="t")
        with pytest.raises(GoneError, match="too old"):
            await anext(pages)


async def test_what_is_no_list_is_not_a_last_page(pki: Pki, client_of: ClientOf) -> None:
    """An answer without list metadata must not pass for an empty cluster."""
    for body in (b"{}", b"[]", b'{"metadata":1}', b"<html>"):
        async with api_server(pki, always(200, body)) as script, client_of(script) as client:
            with pytest.raises(UnavailableError, match="page of a list cannot be read"):
                _ = [one async for one in client.list_pages(PODS)]


# -------------------------------------------------------------------- watches


async def test_watches_yield_whole_lines(pki: Pki, client_of: ClientOf) -> None:
    """However the stream is cut, blocks end at line ends and nothing is lost or split."""
    lines = [b'{"type":"ADDED","object":{"n":%d}}\n' % number for number in range(50)]
    whole = b"".join(lines)
    for size in (1, 7, 40, 400, len(whole)):
        chunks = [whole[start : start + size] for start in range(0, len(whole), size)]
        async with api_server(pki, streamed(*chunks)) as script, client_of(script) as client:
            blocks = [block async for block in client.watch_lines(PODS, "5")]
        assert all(block.endswith(b"\n") for block in blocks)
        assert b"".join(blocks) == whole


async def test_watches_ask_for_what_was_meant(pki: Pki, client_of: ClientOf) -> None:
    """Resuming, streaming initial events and going without bookmarks have their parameters."""
    async with api_server(pki, streamed()) as script, client_of(script) as client:
        for call in (
            client.watch_lines(PODS, "5", timeout_s=10),
            client.watch_lines(PODS, None, send_initial_events=True, label_selector="a"),
            client.watch_lines(PODS, "", allow_bookmarks=False, field_selector="b"),
        ):
            assert [block async for block in call] == []
    assert query_of(script, 0) == {
        "watch": ["true"],
        "timeoutSeconds": ["10"],
        "allowWatchBookmarks": ["true"],
        "resourceVersion": ["5"],
    }
    assert query_of(script, 1) == {
        "watch": ["true"],
        "timeoutSeconds": [str(kube.WATCH_S)],
        "allowWatchBookmarks": ["true"],
        "sendInitialEvents": ["true"],
        "resourceVersionMatch": ["NotOlderThan"],
        "labelSelector": ["a"],
    }
    assert query_of(script, 2) == {
        "watch": ["true"],
        "timeoutSeconds": [str(kube.WATCH_S)],
        "resourceVersion": [""],
        "fieldSelector": ["b"],
    }


async def test_refused_and_broken_watches_are_told_apart(pki: Pki, client_of: ClientOf) -> None:
    """A version compacted is GoneError; a stream cut is UnavailableError, after what was whole."""
    gone = always(410, status(410, "Expired", "too old resource version: 5 (9)"))
    async with api_server(pki, gone) as script, client_of(script) as client:
        with pytest.raises(GoneError, match="too old resource version"):
            await anext(client.watch_lines(PODS, "5"))
        for end, chunks in (
            (b"0\r\n\r\n", [b'{"a":1}\n{"b"']),  # ended, in the middle of an event
            (b"", [b'{"a":1}\n', b'{"b"']),  # cut
            (b"", [b'{"a":1}\n']),  # cut between events
        ):
            script.play = streamed(*chunks, end=end)
            blocks = client.watch_lines(PODS, "5")
            assert await anext(blocks) == b'{"a":1}\n'
            with pytest.raises(UnavailableError):
                await anext(blocks)


async def test_error_events_are_lines(pki: Pki, client_of: ClientOf) -> None:
    """An ERROR event in the stream is the reader's to judge."""
    line = b'{"type":"ERROR","object":{"code":410,"reason":"Expired"}}\n'
    async with api_server(pki, streamed(line)) as script, client_of(script) as client:
        assert [block async for block in client.watch_lines(PODS, "5")] == [line]


async def test_a_silent_watch_ends(pki: Pki, client_of: ClientOf) -> None:
    """Silence for longer than bookmarks are apart means a dead connection."""

    async def play(_: Script, writer: asyncio.StreamWriter, __: str, ___: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(3)

    async with api_server(pki, play) as script, client_of(script) as client:
        with pytest.raises(UnavailableError, match="ReadTimeout"):
            await anext(client.watch_lines(PODS, "5", idle_s=0.2))


async def test_endless_events_are_bounded(pki: Pki, client_of: ClientOf) -> None:
    """A line that does not end is given up."""
    chunks = [b"x" * (1 << 20)] * 18
    async with api_server(pki, streamed(*chunks)) as script, client_of(script) as client:
        with pytest.raises(UnavailableError, match="larger than 16 MiB"):
            await anext(client.watch_lines(PODS, "5"))


async def test_leaving_a_watch_hangs_up(pki: Pki, client_of: ClientOf) -> None:
    """Closing the iterator closes the stream; calls beside open watches go on."""
    hung_up = asyncio.Event()

    async def play(script: Script, writer: asyncio.StreamWriter, _: str, target: str) -> None:
        if "watch=true" not in target:
            script.reply(writer, 200, {})
            return
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n")
        await writer.drain()
        while not writer.is_closing():
            writer.write(b"3\r\n{}\n\r\n")
            try:
                await writer.drain()
            except ConnectionError:
                break
            await asyncio.sleep(0.01)
        hung_up.set()

    async with api_server(pki, play) as script, client_of(script) as client:
        async with aclosing(client.watch_lines(PODS, "5")) as blocks:
            assert (await anext(blocks)).startswith(b"{}\n")
            assert await client.get(PODS) == {}
        await asyncio.wait_for(hung_up.wait(), 5)
