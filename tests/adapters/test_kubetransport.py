"""Connections to the API server: kept, given up, waited for, and never leaked."""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.apiserver import Script, always, api_server, kubeconfig, streamed
from support.serving import LoopFactory, Pki
from suture.adapters.kube import KubeClient
from suture.adapters.kubetransport import HELD_BYTES, KubeTransport, proxied
from suture.errors import UnavailableError

Run = Callable[[Coroutine[Any, Any, None]], None]
HEAD = b"HTTP/1.1 200 OK\r\n"
WHOLE = HEAD + b"Content-Length: 2\r\n\r\nok"


@pytest.fixture
def run(loop_factory: LoopFactory) -> Run:
    """Return what runs a test on either loop, and leaves nothing open behind it."""

    def on_loop(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(main)
        gc.collect()  # what was left open warns, and warnings are errors

    return on_loop


@asynccontextmanager
async def client_at(
    url: str, pki: Pki, times: httpx2.Timeout | None = None, **changed: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    given: dict[str, Any] = {"size": 4, "keep": 4, "keep_s": 60.0}
    transport = KubeTransport(url, pki.context(pki.client), **(given | changed))
    async with httpx2.AsyncClient(
        base_url=url, transport=transport, timeout=times or httpx2.Timeout(5)
    ) as client:
        yield client


class Peers:
    """A play that notes over which connection each request came, and does as it is told."""

    def __init__(self, *acts: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> None:
        self.acts = list(acts)
        self.ports: list[int] = []

    async def __call__(self, _: Script, writer: asyncio.StreamWriter, __: str, ___: str) -> None:
        self.ports.append(writer.get_extra_info("peername")[1])
        await (self.acts.pop(0) if self.acts else whole)(writer)

    @property
    def numbers(self) -> list[int]:
        """Return the connections in the order of their first request, one for each request."""
        order = list(dict.fromkeys(self.ports))
        return [order.index(port) for port in self.ports]


async def whole(writer: asyncio.StreamWriter) -> None:
    """Answer."""
    writer.write(WHOLE)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close, without a word."""
    writer.close()


async def answer_and_close(writer: asyncio.StreamWriter) -> None:
    """Answer, and close without having said so."""
    writer.write(WHOLE)
    writer.close()


async def half_an_answer(writer: asyncio.StreamWriter) -> None:
    """Begin, and close."""
    writer.write(b"HTTP/1.1 2")
    writer.close()


async def stand_still(_: asyncio.StreamWriter) -> None:
    """Say nothing for longer than any test."""
    await asyncio.sleep(30)


@asynccontextmanager
async def mute_server() -> AsyncIterator[tuple[str, asyncio.Queue[str]]]:
    """Accept connections and never say a word; what happens to them is in the queue."""
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        heard.put_nowait("begun")
        with suppress(ConnectionError):
            await reader.read()
        heard.put_nowait("ended")
        writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard
    finally:
        server.close()


# ------------------------------------------------------------------ reuse


def test_connections_are_kept_last_used_first(pki: Pki, run: Run) -> None:
    """One after the other share a connection; of two idle ones the warmer is taken."""

    async def main() -> None:
        peers = Peers()
        async with api_server(pki, peers) as script, client_at(script.url, pki) as client:
            for method in ("GET", "POST", "HEAD", "DELETE"):
                assert (await client.request(method, "/a")).status_code == 200
                peers.acts = [bodiless] if method == "POST" else []
            assert peers.numbers == [0, 0, 0, 0]
            async with client.stream("GET", "/a") as first:
                async with client.stream("GET", "/b") as second:
                    assert await second.aread() == b"ok"
                assert await first.aread() == b"ok"
            await client.get("/c")
            assert peers.numbers[4:] == [0, 1, 0]

    async def bodiless(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 2\r\n\r\n")

    run(main())


async def test_old_connections_are_not_used(pki: Pki) -> None:
    """A connection idle for longer than it is kept, and more of them than are kept, are closed."""
    peers = Peers()
    async with api_server(pki, peers) as script:
        async with client_at(script.url, pki, keep_s=0.05) as client:
            await client.get("/")
            await asyncio.sleep(0.1)
            await client.get("/")
            assert peers.numbers == [0, 1]
        peers.ports.clear()
        async with client_at(script.url, pki, keep=1) as client:
            async with client.stream("GET", "/") as one, client.stream("GET", "/") as two:
                await one.aread()
                await two.aread()
            await asyncio.gather(client.get("/"), client.get("/"))
            assert len(set(peers.ports)) == 3


async def test_connections_that_the_server_closes_are_not_used(pki: Pki) -> None:
    """`Connection: close`, an old protocol, and a body that ends with the connection."""
    for answer in (
        HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        HEAD + b"Content-Length: 2\r\n\r\nok, and more",
        HEAD + b"\r\nok",
    ):

        async def say(writer: asyncio.StreamWriter, answer: bytes = answer) -> None:
            writer.write(answer)
            if answer.endswith(b"\r\n\r\nok") and b"Length" not in answer:
                writer.close()

        peers = Peers(say)
        async with api_server(pki, peers) as script, client_at(script.url, pki) as client:
            assert (await client.get("/")).content == b"ok"
            assert (await client.post("/")).content == b"ok"
            assert peers.numbers == [0, 1]


@pytest.mark.parametrize("loop_has_heard", [True, False])
def test_a_write_is_not_sent_into_a_closed_connection(
    pki: Pki, run: Run, loop_has_heard: bool
) -> None:
    """An idle connection's end is noticed before reuse, though the loop has not turned since."""

    async def main() -> None:
        peers = Peers(answer_and_close)
        async with api_server(pki, peers) as script, client_at(script.url, pki) as client:
            await client.get("/")
            if loop_has_heard:
                await asyncio.sleep(0.05)
            else:
                # The server's task writes its end; ours goes on before the loop looks at sockets.
                await asyncio.sleep(0)
            for _ in range(3):
                assert (await client.post("/", content=b"{}")).content == b"ok"
            assert len(set(peers.ports)) == 2

    run(main())


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PATCH", "DELETE"])
def test_only_a_read_is_sent_twice(pki: Pki, run: Run, method: str) -> None:
    """A kept connection that closes on a request: reads are asked anew once, writes never."""

    async def main() -> None:
        peers = Peers(whole, hang_up, head_alone if method == "HEAD" else whole)
        async with api_server(pki, peers) as script, client_at(script.url, pki) as client:
            await client.get("/")
            if method in {"GET", "HEAD"}:
                assert (await client.request(method, "/")).status_code == 200
                assert peers.numbers == [0, 0, 1]
            else:
                with pytest.raises(httpx2.TransportError):
                    await client.request(method, "/", content=b"{}")
                assert peers.numbers == [0, 0]

    async def head_alone(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 2\r\n\r\n")

    run(main())


async def test_nothing_is_asked_a_third_time(pki: Pki) -> None:
    """A fresh connection that closes, and an answer that had begun, are told as they are."""
    peers = Peers(whole, hang_up, hang_up, whole, half_an_answer)
    async with api_server(pki, peers) as script, client_at(script.url, pki) as client:
        await client.get("/")
        with pytest.raises(httpx2.RemoteProtocolError, match="without sending a response"):
            await client.get("/")
        assert peers.numbers == [0, 0, 1]
        await client.get("/")
        with pytest.raises(httpx2.RemoteProtocolError, match="in the middle"):
            await client.get("/")
        assert peers.numbers == [0, 0, 1, 2, 2]


# ------------------------------------------------------------------ waiting


async def test_more_requests_than_connections_wait_their_turn(pki: Pki) -> None:
    """Never more connections than allowed; who waits too long is told, and takes no turn."""
    peers = Peers(*[slow] * 6)
    async with api_server(pki, peers) as script:
        async with client_at(script.url, pki, size=2) as client:
            answers = await asyncio.gather(*(client.get("/") for _ in range(6)))
            assert [answer.content for answer in answers] == [b"ok"] * 6
            assert len(set(peers.ports)) == 2
        brief = httpx2.Timeout(5, pool=0.05)
        async with client_at(script.url, pki, brief, size=1) as client:
            async with client.stream("GET", "/") as held:
                with pytest.raises(httpx2.PoolTimeout):
                    await client.get("/")
                await held.aread()
            assert (await client.get("/")).content == b"ok"


async def slow(writer: asyncio.StreamWriter) -> None:
    """Answer after a moment."""
    await asyncio.sleep(0.01)
    writer.write(WHOLE)


def test_a_server_that_does_not_shake_hands_is_given_up(pki: Pki, run: Run) -> None:
    """Connecting has its time, TLS included; the socket is closed at its end."""

    async def main() -> None:
        async with (
            mute_server() as (url, heard),
            client_at(url, pki, httpx2.Timeout(5, connect=0.1)) as client,
        ):
            with pytest.raises(httpx2.ConnectTimeout):
                await client.get("/")
            assert [await heard.get(), await heard.get()] == ["begun", "ended"]

    run(main())


def test_silence_ends_at_its_time(pki: Pki, run: Run) -> None:
    """Before the head and within the body, each for itself: a body may take longer as a whole."""

    async def main() -> None:
        times = httpx2.Timeout(5, read=0.2)
        async with (
            api_server(pki, Peers(stand_still, drops, begin)) as script,
            client_at(script.url, pki, times) as client,
        ):
            with pytest.raises(httpx2.ReadTimeout):
                await client.get("/")
            assert (await client.get("/")).content == b"x" * 10
            with pytest.raises(httpx2.ReadTimeout):
                await client.get("/")

    async def drops(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 10\r\n\r\n")
        for _ in range(10):
            await asyncio.sleep(0.05)
            writer.write(b"x")

    async def begin(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 10\r\n\r\nx")

    run(main())


def test_a_server_that_does_not_read_is_given_up(pki: Pki, run: Run) -> None:
    """A body that nobody takes has its time; a refusal that comes meanwhile is heard."""
    body = b"x" * (32 << 20)

    async def main() -> None:
        context = pki_server(pki)
        done = asyncio.Event()

        async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"PUT /refused"):
                writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
            await done.wait()
            writer.transport.abort()

        server = await asyncio.start_server(deaf, "127.0.0.1", 0, ssl=context, limit=1 << 10)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with client_at(url, pki, httpx2.Timeout(5, write=0.2)) as client:
            with pytest.raises(httpx2.WriteTimeout):
                await client.put("/", content=body)
            answer = await client.put("/refused", content=body)
            assert (answer.status_code, answer.content) == (413, b"no")
            assert (await client.put("/refused", content=b"{}")).status_code == 413
        done.set()
        server.close()
        await asyncio.sleep(0.05)

    run(main())


def pki_server(pki: Pki) -> ssl.SSLContext:
    """Return the TLS of a server that asks for no certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pki.server.certificate, pki.server.key)
    return context


# ------------------------------------------------------------------ giving up


@pytest.mark.parametrize("delay_s", [0.0, 0.001, 0.003, 0.01, 0.05])
def test_a_cancelled_handshake_leaves_nothing(pki: Pki, run: Run, delay_s: float) -> None:
    """Whenever a request is given up while it connects, its socket is closed."""

    async def main() -> None:
        async with mute_server() as (url, heard), client_at(url, pki, size=1) as client:
            for _ in range(5):
                asking = asyncio.create_task(client.get("/"))
                await asyncio.sleep(delay_s)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
            asking = asyncio.create_task(client.get("/"))  # its turn has come back
            async with asyncio.timeout(5):
                while await heard.get() != "begun":
                    pass
            asking.cancel()
            await asyncio.wait([asking])

    run(main())


def test_a_cancelled_request_leaves_nothing(pki: Pki, run: Run) -> None:
    """Given up before the head or within the body: the server sees the end, the turn is free."""

    async def main() -> None:
        ended: asyncio.Queue[None] = asyncio.Queue()

        async def silent(writer: asyncio.StreamWriter) -> None:
            await until_closed(writer)

        async def endless(writer: asyncio.StreamWriter) -> None:
            writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
            await until_closed(writer)

        async def until_closed(writer: asyncio.StreamWriter) -> None:
            while not writer.is_closing():
                await asyncio.sleep(0.005)
            ended.put_nowait(None)

        peers = Peers(silent, endless)
        async with api_server(pki, peers) as script, client_at(script.url, pki, size=1) as client:
            for asked in (1, 2):
                asking = asyncio.create_task(client.get("/"))
                while len(peers.ports) < asked:
                    await asyncio.sleep(0.005)
                await asyncio.sleep(0.02)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                await asyncio.wait_for(ended.get(), 5)
            assert (await client.get("/")).content == b"ok"

    run(main())


def test_closing_an_answer_early_hangs_up(pki: Pki, run: Run) -> None:
    """What is not read to its end is not read on; the connection is not used again."""

    async def main() -> None:
        peers = Peers(lots)
        async with api_server(pki, peers) as script, client_at(script.url, pki) as client:
            async with client.stream("GET", "/") as answer:
                assert answer.status_code == 200
            assert (await client.get("/")).content == b"ok"
            assert peers.numbers == [0, 1]

    async def lots(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % (64 << 20))
        for _ in range(64):
            writer.write(b"x" * (1 << 20))
            await writer.drain()

    run(main())


def test_closing_the_client_closes_every_socket(pki: Pki, run: Run) -> None:
    """Idle or in use, the server sees each end; what is still read ends with an error."""

    async def main() -> None:
        async with api_server(pki, Peers(whole, begin)) as script:
            async with client_at(script.url, pki) as client:
                await client.get("/")
                answer = await client.send(client.build_request("GET", "/"), stream=True)
            with pytest.raises(httpx2.TransportError):
                await answer.aread()
            await answer.aclose()
            await asyncio.sleep(0.05)

    async def begin(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 10\r\n\r\nx")

    run(main())


# ------------------------------------------------------------------ bodies


def test_a_slow_reader_slows_the_server(pki: Pki, run: Run) -> None:
    """What is not taken is not read; taken at last, all of it comes, in blocks of bounded size."""
    size = 64 << 20
    sent = 0

    async def main() -> None:
        turns: list[None] = []
        got = largest = 0
        async with (
            api_server(pki, Peers(lots)) as script,
            client_at(script.url, pki) as client,
            client.stream("GET", "/") as answer,
        ):
            await asyncio.sleep(0.3)
            assert sent < size // 2
            counting = asyncio.create_task(count(turns))
            async for block in answer.aiter_raw():
                got += len(block)
                largest = max(largest, len(block))
            counting.cancel()
        assert got == size
        assert largest <= 2 * HELD_BYTES
        # While blocks were ready all the time others had their turns.
        assert len(turns) > size // (2 * HELD_BYTES) // 2

    async def lots(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        while sent < size:
            writer.write(b"10000\r\n" + b"x" * (1 << 16) + b"\r\n")
            await writer.drain()
            sent += 1 << 16
        writer.write(b"0\r\n\r\n")

    async def count(turns: list[None]) -> None:
        while True:
            turns.append(None)
            await asyncio.sleep(0)

    run(main())


def test_what_came_before_a_cut_is_told_first(pki: Pki, run: Run) -> None:
    """Whole blocks of a stream that breaks are handed out, and then the error."""

    async def main() -> None:
        play = streamed(b"one\n", b"two\n", end=b"")
        async with (
            api_server(pki, play) as script,
            client_at(script.url, pki) as client,
            client.stream("GET", "/") as answer,
        ):
            blocks = answer.aiter_raw()
            await asyncio.sleep(0.1)
            assert await anext(blocks) == b"one\ntwo\n"
            with pytest.raises(httpx2.RemoteProtocolError, match="in the middle"):
                await anext(blocks)

    run(main())


# ------------------------------------------------------------------ where to


async def test_credentials_go_to_the_login_s_server_only(pki: Pki) -> None:
    """Another host, port or scheme is not spoken to."""
    async with api_server(pki, always(200, {})) as script, client_at(script.url, pki) as client:
        for url in (
            f"https://localhost:{script.port}/",
            f"https://127.0.0.1:{script.port + 1}/",
            f"http://127.0.0.1:{script.port}/",
            "https://127.0.0.1/",
        ):
            with pytest.raises(httpx2.UnsupportedProtocol, match="not of the API server"):
                await client.get(url)
        assert script.seen == []
        assert (await client.get(f"{script.url}/x")).status_code == 200


async def test_a_server_without_tls_is_spoken_to(pki: Pki) -> None:
    """`http://` addresses (a proxy of kubectl's on this machine) work alike."""
    script = Script(None)
    script.play = always(200, b"ok")
    async with script.up(), client_at(script.url, pki) as client:
        assert (await client.get("/")).content == b"ok"
        assert (await client.post("/", content=b"{}")).content == b"ok"


@pytest.mark.parametrize(
    ("variables", "applies"),
    [
        ({}, False),
        ({"HTTPS_PROXY": "http://p:1"}, True),
        ({"ALL_PROXY": "http://p:1"}, True),
        ({"HTTP_PROXY": "http://p:1"}, False),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.test"}, True),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "cluster.test"}, False),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".test"}, False),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, False),
    ],
)
def test_proxies_of_the_environment_are_seen(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], applies: bool
) -> None:
    """A proxy for this server's scheme, unless the server is excepted."""
    without_proxies(monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxied("https://api.cluster.test:6443") is applies


def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the proxies of the machine that the test runs on."""
    for scheme in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)


async def test_a_proxy_of_the_environment_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pki: Pki
) -> None:
    """The client goes where the environment sends it, and says so when that fails."""
    heard: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    without_proxies(monkeypatch)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
    path = tmp_path / "kubeconfig"
    path.write_text(kubeconfig("https://api.cluster.test:6443", pki))
    async with KubeClient.from_kubeconfig(path) as client:
        with pytest.raises(UnavailableError, match="ProxyError"):
            await client.get("/version")
    server.close()
    assert heard == [b"CONNECT api.cluster.test:6443 HTTP/1.1\r\n"]
