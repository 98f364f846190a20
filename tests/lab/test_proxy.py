"""The proxy carries what a network would carry, and cuts what a network would cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from suture.errors import InputError
from suture.lab.proxy import LOOPBACK_PORT, RouteTable, parse_ports, serve

ADDRESS = "10.96.3.4"
NAME = ("default", "hook")


def service(*, annotated: str = "", selector: bool = False, address: str = ADDRESS) -> Any:
    spec: dict[str, Any] = {"clusterIPs": [address]}
    if selector:
        spec["selector"] = {"app": "hook"}
    annotations = {LOOPBACK_PORT: annotated} if annotated else {}
    metadata = {"namespace": NAME[0], "name": NAME[1], "annotations": annotations}
    return {"metadata": metadata, "spec": spec}


def endpoints(*ready: bool | None, name: str = "hook-1") -> Any:
    conditions = [{} if one is None else {"ready": one} for one in ready]
    return {
        "metadata": {
            "namespace": NAME[0],
            "name": name,
            "labels": {"kubernetes.io/service-name": NAME[1]},
        },
        "endpoints": [{"addresses": ["10.128.0.1"], "conditions": one} for one in conditions],
    }


def target(table: RouteTable, port: int = 443, address: str = ADDRESS) -> int | None:
    found = table.lookup(address, port)
    return None if found is None else found[1]


def test_a_registered_service_is_routed_whenever_it_exists() -> None:
    """By name: before it exists, after it came back under another address, not in between."""
    table = RouteTable()
    table.register(NAME, None, 12345, needs_endpoints=False)
    assert target(table) is None
    table.service_seen(service())
    assert target(table) == 12345
    table.service_gone(NAME)
    assert target(table) is None
    table.service_seen(service(address="10.96.9.9"))
    assert target(table) is None
    assert target(table, address="10.96.9.9") == 12345


def test_a_service_that_nobody_routes_is_refused() -> None:
    """As one without endpoints."""
    table = RouteTable()
    table.service_seen(service())
    assert target(table) is None


def test_each_port_may_have_a_route() -> None:
    """A named port goes its way, every other port the common one."""
    table = RouteTable()
    table.service_seen(service(annotated="443=1001,8443=1002"))
    assert [target(table, port) for port in (443, 8443, 80)] == [1001, 1002, None]
    table.register(NAME, 443, 2001, needs_endpoints=False)
    table.register(NAME, None, 2000, needs_endpoints=False)
    assert [target(table, port) for port in (443, 80)] == [2001, 2000]


@pytest.mark.parametrize("text", ["", "x", "443=", "443=1,=x"])
def test_an_annotation_that_makes_no_sense_is_an_error(text: str) -> None:
    """It names what was written; in a Service it routes nothing and harms nothing."""
    with pytest.raises(InputError, match=LOOPBACK_PORT):
        parse_ports(text)
    table = RouteTable()
    table.service_seen(service(annotated=text or " "))
    assert target(table) is None


def test_a_selector_asks_for_ready_endpoints() -> None:
    """Unknown readiness counts as ready, as the EndpointSlice API says; not ready does not."""
    table = RouteTable()
    table.service_seen(service(annotated="12345", selector=True))
    assert target(table) is None
    table.slice_seen(endpoints(False, name="hook-1"))
    assert target(table) is None
    table.slice_seen(endpoints(None, name="hook-2"))
    assert target(table) == 12345
    table.slice_gone((NAME[0], "hook-2"))
    assert target(table) is None


@asynccontextmanager
async def proxied(table: RouteTable, socket: Path) -> AsyncIterator[int]:
    """Run the proxy and an echo server behind it; yield the echo server's port."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(1024):
            writer.write(chunk)
        writer.close()

    backend = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = await serve(socket, table)
    try:
        yield backend.sockets[0].getsockname()[1]
    finally:
        proxy.close()
        backend.close()


async def connect(
    socket: Path, head: str = f"CONNECT {ADDRESS}:443 HTTP/1.1\r\nHost: x\r\n\r\n"
) -> tuple[str, asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_unix_connection(socket)
    writer.write(head.encode())
    status = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)).decode().split()[1]
    return status, reader, writer


@pytest.mark.parametrize("cause", ["service", "endpoints", "route"])
async def test_a_connection_is_carried_and_then_cut(tmp_path: Path, cause: str) -> None:
    """Bytes go both ways until the Service, its last ready endpoint or its route is gone."""
    table = RouteTable()
    async with proxied(table, tmp_path / "s") as port:
        if cause == "route":
            table.register(NAME, 443, port, needs_endpoints=False)
        table.service_seen(service(annotated=str(port), selector=True))
        table.slice_seen(endpoints(True))
        status, reader, writer = await connect(tmp_path / "s")
        assert status == "200"
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        assert len(table.connections) == 1
        table.slice_seen(endpoints(True, False))
        assert len(table.connections) == 1
        if cause == "service":
            table.service_gone(NAME)
        elif cause == "endpoints":
            table.slice_seen(endpoints(False))
        else:
            table.slice_seen(endpoints())
            assert len(table.connections) == 1
            table.unregister(NAME)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await asyncio.wait_for(reader.readexactly(1), 5)
        assert not table.connections
        again, _reader, other = await connect(tmp_path / "s")
        assert again == "503"
        for open_writer in (writer, other):
            open_writer.close()


async def test_what_cannot_be_carried_is_answered(tmp_path: Path) -> None:
    """Unknown address, dead backend, and what is no CONNECT get an answer each."""
    table = RouteTable()
    async with proxied(table, tmp_path / "s") as port:
        table.service_seen(service(annotated="1"))
        answers = []
        for head in (
            "CONNECT 10.96.0.99:443 HTTP/1.1\r\n\r\n",
            f"CONNECT {ADDRESS}:443 HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "CONNECT nowhere HTTP/1.1\r\n\r\n",
        ):
            status, _reader, writer = await connect(tmp_path / "s", head)
            answers.append(status)
            writer.close()
        assert answers == ["503", "502", "400", "400"]
        assert port
