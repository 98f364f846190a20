"""The webhook server on real sockets: what is answered, what is refused, and how it is said."""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Awaitable

import pytest

from support.serving import Client, Pki, Running, Serve, eventually, request
from suture.adapters.webhook import Limits, Peer, SecretPath, WebhookServer, WebhookSettings
from suture.adapters.webhooksite import MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_PIPELINED
from suture.errors import InputError, UnavailableError

Server = Running[WebhookServer]
READ_S = Limits().read_s

SECRET = "s3cret-" * 5


def connect(server: Server, pki: Pki) -> Client:
    return Client(server.server.port, pki.context(pki.client))


def test_a_post_is_handed_over_and_answered(server: Server, pki: Pki) -> None:
    """The handler gets path, body and peer; its bytes are the answer, the query is not a path."""
    with connect(server, pki) as client:
        answer = client.post("/admit?timeout=10s", b"x" * 70_000)
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.json() == {"path": "/admit", "bytes": 70_000, "name": "kube-apiserver"}


def test_a_connection_serves_many_requests(server: Server, pki: Pki) -> None:
    """Connections are kept alive, and nothing of one request stays for the next."""
    with connect(server, pki) as client:
        for size in (0, 1, 200_000, 3, 20_000):
            answer = client.post("/authorize", b"y" * size)
            assert (answer.status, answer.json()["bytes"]) == (200, size)
            assert not answer.closes
        assert server.server.connections == 1
    assert server.server.answers == {200: 5}


def test_pipelined_requests_are_answered_in_order(serve: Serve, pki: Pki) -> None:
    """Answers come in the order of requests, also where a later one is decided sooner."""

    async def handle(_: str, body: bytes, __: Peer) -> bytes:
        await asyncio.sleep(0.02 if body == b"[0]" else 0)
        return body

    with serve(handle) as server, connect(server, pki) as client:
        bodies = [f"[{number}]".encode() for number in range(8)]
        client.send(b"".join(request(body=body) for body in bodies))
        assert [client.answer().body for _ in bodies] == bodies


def test_what_is_answered_at_once_keeps_its_place(serve: Serve, pki: Pki) -> None:
    """A handler may answer at once or later, one request so and the next so; order stays."""

    async def later(body: bytes) -> bytes:
        await asyncio.sleep(0.02)
        return body

    def handle(_: str, body: bytes, __: Peer) -> bytes | Awaitable[bytes]:
        return later(body) if body in {b"[0]", b"[4]"} else body

    with serve(handle) as server, connect(server, pki) as client:
        bodies = [f"[{number}]".encode() for number in range(8)]
        client.send(b"".join(request(body=body) for body in bodies))
        assert [client.answer().body for _ in bodies] == bodies
        client.send(b"".join(request(body=body) for body in bodies[1:4]))
        assert [client.answer().body for _ in bodies[1:4]] == bodies[1:4]
        assert server.server._site.held_bytes == 0


def test_answers_leave_when_all_of_a_turn_is_decided(serve: Serve, pki: Pki) -> None:
    """Deciding and sending take turns, and not with every request: each finds its memory warm."""
    sent: list[bool] = []

    def handle(_: str, body: bytes, __: Peer) -> bytes:
        sent.append(bool(select.select([client.socket], [], [], 0)[0]))
        return body

    with serve(handle) as server, connect(server, pki) as client:
        assert client.post("/admit", b"{}").status == 200
        sent.clear()
        bodies = [f"[{number}]".encode() for number in range(8)]
        client.send(b"".join(request(body=body) for body in bodies))
        assert [client.answer().body for _ in bodies] == bodies
        assert sent == [False] * 8


def test_endless_pipelining_is_ended(serve: Serve, pki: Pki) -> None:
    """A pipeline past its limit is cut; the answer under way is given, and is the last."""

    async def handle(_: str, body: bytes, __: Peer) -> bytes:
        await asyncio.sleep(0.05)
        return body

    with serve(handle) as server, connect(server, pki) as client:
        client.send(request() * (MAX_PIPELINED + 2))
        answer = client.answer()
        assert answer.status == 200
        assert answer.closes
        assert client.ends()


def test_body_may_come_in_small_pieces(server: Server, pki: Pki) -> None:
    """A request cut anywhere is put together again."""
    with connect(server, pki) as client:
        whole = request(body=b"z" * 300)
        for start in range(0, len(whole), 7):
            client.send(whole[start : start + 7])
        assert client.answer().json()["bytes"] == 300


def test_expect_continue_is_honoured(server: Server, pki: Pki) -> None:
    """A client that waits to be asked for its body is asked."""
    with connect(server, pki) as client:
        head, body = request(body=b"{}", headers="Expect: 100-continue\r\n").split(b"\r\n\r\n")
        client.send(head + b"\r\n\r\n")
        assert client.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(body)
        assert client.answer().status == 200


def test_http_1_0_is_answered_and_closed(server: Server, pki: Pki) -> None:
    """An old client gets its answer and the connection's end."""
    with connect(server, pki) as client:
        client.send(b"POST /admit HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}")
        answer = client.answer()
        assert (answer.status, answer.closes) == (200, True)
        assert client.ends()


HEAD = b"POST /admit HTTP/1.1\r\nHost: webhook\r\n"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        pytest.param(request("/nothing"), 404, "path_unknown", id="unknown-path"),
        pytest.param(request("/admit/"), 404, "path_unknown", id="longer-path"),
        pytest.param(request("/"), 404, "path_unknown", id="root"),
        pytest.param(request("http://x/admit"), 404, "path_unknown", id="absolute-form"),
        pytest.param(
            request().replace(b"POST", b"GET", 1), 405, "method_refused", id="other-method"
        ),
        pytest.param(
            b"CONNECT /admit HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_refused", id="connect"
        ),
        pytest.param(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            411,
            "chunked_refused",
            id="chunked",
        ),
        pytest.param(HEAD + b"\r\n", 411, "length_missing", id="no-length"),
        pytest.param(
            HEAD + f"Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode(),
            413,
            "body_too_large",
            id="announced-too-large",
        ),
        pytest.param(
            HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
            400,
            "http_malformed",
            id="length-overflows",
        ),
        pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", 400, "http_malformed", id="negative"),
        pytest.param(HEAD + b"Content-Length: 2x\r\n\r\n", 400, "http_malformed", id="no-number"),
        pytest.param(
            HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            400,
            "http_malformed",
            id="two-lengths",
        ),
        pytest.param(
            HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            400,
            "http_malformed",
            id="length-and-chunks",
        ),
        pytest.param(b"\x16\x03\x01 nonsense\r\n\r\n", 400, "http_malformed", id="not-http"),
        pytest.param(
            HEAD + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}",
            400,
            "upgrade_refused",
            id="upgrade",
        ),
        pytest.param(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "http_malformed", id="http2-preface"
        ),
        pytest.param(
            HEAD + b"X: " + b"a" * MAX_HEAD_BYTES + b"\r\n\r\n",
            431,
            "head_too_large",
            id="large-header",
        ),
        pytest.param(
            HEAD + b"X: " + b"a" * MAX_HEAD_BYTES, 431, "head_too_large", id="endless-header"
        ),
        pytest.param(HEAD + b"X: y\r\n" * 4000 + b"\r\n", 431, "head_too_large", id="many-headers"),
        pytest.param(b"POST /" + b"a" * MAX_HEAD_BYTES, 431, "head_too_large", id="endless-path"),
        pytest.param(
            request(body=b"[" * 129 + b"]" * 129), 400, "json_too_deep", id="deep-nesting"
        ),
        pytest.param(
            request(body=b"[" * 2_000_000), 400, "json_too_many_nodes", id="deep-and-truncated"
        ),
    ],
)
def test_what_is_refused_is_told_why(
    server: Server, pki: Pki, sent: bytes, status: int, code: str
) -> None:
    """Each refusal has its status, its code and words; the server lives on, no answer is a 3xx."""
    with connect(server, pki) as client:
        client.send(sent)
        answer = client.answer()
        assert (answer.status, answer.json()["error"]) == (status, code)
        assert answer.json()["message"]
        if code not in {"json_too_deep", "json_too_many_nodes"}:  # those leave the stream in step
            assert answer.closes
            assert client.ends()
    with connect(server, pki) as client:
        assert client.post().status == 200


def test_a_header_of_15_kib_is_taken_in_any_cut(server: Server, pki: Pki) -> None:
    """The head's limit is on the head: neither on what follows it nor on how it is cut."""
    whole = request(body=b"b" * 50_000, headers=f"X: {'a' * 15_000}\r\n")
    with connect(server, pki) as client:
        for pieces in (1, 2, 5):
            size = len(whole) // pieces + 1
            for start in range(0, len(whole), size):
                client.send(whole[start : start + size])
                time.sleep(0.01)
            assert client.answer().json()["bytes"] == 50_000


def test_body_of_the_largest_size_is_taken(server: Server, pki: Pki) -> None:
    """12 MiB pass, within the time that a body may take."""
    with connect(server, pki) as client:
        assert client.post(body=b" " * MAX_BODY_BYTES).json()["bytes"] == MAX_BODY_BYTES


def test_oversize_is_answered_while_it_is_being_sent(server: Server, pki: Pki) -> None:
    """A sender in the middle of 20 MiB still reads why it is cut off."""
    with connect(server, pki) as client:
        client.send(HEAD + b"Content-Length: 20971520\r\n\r\n")
        for _ in range(20):
            client.send(b" " * (1 << 20))
        assert client.answer().status == 413
        assert client.ends()


def test_more_body_than_announced_is_not_body(server: Server, pki: Pki) -> None:
    """What follows the announced length is read as the next request, and refused as none."""
    with connect(server, pki) as client:
        client.send(HEAD + b"Content-Length: 2\r\n\r\n{}" + b"!" * 64)
        answer = client.answer()
        # The first request was whole and is answered; after it comes the end.
        assert (answer.status, answer.json()["bytes"], answer.closes) == (200, 2, True)
        assert client.ends()


def test_less_body_than_announced_times_out(server: Server, pki: Pki) -> None:
    """A body that does not come is answered 408 after its time, and never handed over."""
    with connect(server, pki) as client:
        start = time.monotonic()
        client.send(HEAD + b"Content-Length: 100\r\n\r\n{}")
        answer = client.answer()
        assert (answer.status, answer.json()["error"]) == (408, "body_too_slow")
        assert READ_S * 0.9 < time.monotonic() - start < READ_S + 1
        assert client.ends()
    assert 200 not in server.server.answers


@pytest.mark.parametrize(
    "start", [b"POST /admit", b"POST /admit HTTP/1.1\r\n", HEAD + b"Content-Length: 90\r\n\r\n"]
)
def test_drops_do_not_buy_time(server: Server, pki: Pki, start: bytes) -> None:
    """A byte now and then, in head or body, does not put the end off."""
    with connect(server, pki) as client:
        begun = time.monotonic()
        client.send(start)
        dropped = 0
        while dropped < 40:
            client.socket.settimeout(0.05)
            try:
                client.socket.recv(1)
            except TimeoutError:
                client.send(b"X")
                dropped += 1
            else:
                break
        assert READ_S * 0.9 < time.monotonic() - begun < READ_S + 1


def test_truncated_request_is_never_handed_over(server: Server, pki: Pki) -> None:
    """A client that leaves in the middle of its body leaves no trace."""
    with connect(server, pki) as client:
        client.send(HEAD + b"Content-Length: 100\r\n\r\n{}")
    with connect(server, pki) as client:
        assert client.post().status == 200
    assert server.server.answers == {200: 1}
    eventually(lambda: server.server.connections == 0)
    assert server.server._site.held_bytes == 0


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        pytest.param(InputError("uid is missing"), 400, "input_invalid", id="input"),
        pytest.param(UnavailableError("graph is away"), 503, "unavailable", id="unavailable"),
        pytest.param(ZeroDivisionError("private"), 500, "defect", id="defect"),
        pytest.param(RecursionError("private"), 500, "defect", id="recursion"),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
def test_errors_of_the_handler_become_answers(
    serve: Serve, pki: Pki, error: Exception, status: int, code: str, *, waits: bool
) -> None:
    """What the handler raises is told by whose fault it is; a defect is not told in detail."""

    def at_once(_: str, __: bytes, ___: Peer) -> bytes:
        raise error

    async def later(_: str, __: bytes, ___: Peer) -> bytes:
        raise error

    with serve(later if waits else at_once) as server, connect(server, pki) as client:
        for _ in range(2):  # and the connection stays usable
            answer = client.post()
            assert (answer.status, answer.json()["error"]) == (status, code)
            assert "private" not in answer.json()["message"]


def test_client_that_leaves_does_not_stop_the_decision(serve: Serve, pki: Pki) -> None:
    """A decision goes on to its end when nobody waits any more; memory is given back."""
    done: list[bytes] = []

    async def handle(_: str, body: bytes, __: Peer) -> bytes:
        await asyncio.sleep(0.05)
        done.append(body)
        return b"{}"

    with serve(handle) as server:
        with connect(server, pki) as client:
            client.send(request(body=b"[1]"))
            time.sleep(0.01)
        eventually(lambda: done == [b"[1]"])
        eventually(lambda: server.server._site.held_bytes == 0)


def test_bodies_in_memory_are_bounded(serve: Serve, pki: Pki) -> None:
    """Bodies that would fill memory together are refused 503, and room comes back."""
    release = asyncio.Event()

    async def handle(_: str, __: bytes, ___: Peer) -> bytes:
        await release.wait()
        return b"{}"

    with serve(handle, limits=Limits(held_bytes=1000)) as server:
        with connect(server, pki) as first, connect(server, pki) as second:
            first.send(request(body=b"x" * 600))
            time.sleep(0.1)
            answer = second.post(body=b"x" * 600)
            assert (answer.status, answer.json()["error"]) == (503, "overloaded")
            server.loop.call_soon_threadsafe(release.set)
            assert first.answer().status == 200
        with connect(server, pki) as third:
            assert third.post(body=b"x" * 600).status == 200
        assert server.server._site.held_bytes == 0


def test_idle_and_undecided_connections_are_closed(serve: Serve, pki: Pki) -> None:
    """Silence and a handler that never answers both end, the latter without an answer."""

    async def handle(path: str, _: bytes, __: Peer) -> bytes:
        if path == "/authorize":
            await asyncio.Event().wait()
        return b"{}"

    with serve(handle, limits=Limits(idle_s=0.2, handle_s=0.2)) as server:
        with connect(server, pki) as fresh, connect(server, pki) as used:
            used.post()
            assert fresh.ends()
            assert used.ends()
        with connect(server, pki) as stuck:
            stuck.send(request("/authorize"))
            assert stuck.ends()
        eventually(lambda: server.server.connections == 0)
        assert server.server._site.held_bytes == 0


def test_a_client_that_does_not_read_is_not_read(serve: Serve, pki: Pki) -> None:
    """Answers nobody takes do not pile up without end: the next requests wait in the sender."""
    answered = 0

    async def handle(_: str, __: bytes, ___: Peer) -> bytes:
        nonlocal answered
        answered += 1
        return b"[" + b"1," * 2_000_000 + b"1]"

    with serve(handle) as server, connect(server, pki) as client:
        for _ in range(14):
            client.send(request())
            time.sleep(0.03)
        assert answered < 10
        for _ in range(14):
            assert client.answer().status == 200
        assert answered == 14


def test_secret_path_answers_those_who_know_it(serve: Serve, pki: Pki) -> None:
    """Without client certificates the path is the proof; the handler never sees it."""
    with (
        serve(client_auth=SecretPath(SECRET)) as server,
        Client(server.server.port, pki.context(None)) as client,
    ):
        answer = client.post(f"/{SECRET}/admit?timeout=2s")
        assert answer.json() == {"path": "/admit", "bytes": 2, "name": ""}
        assert client.post(f"/{SECRET}/nothing").status == 404


@pytest.mark.parametrize(
    "sent",
    [
        request("/admit"),
        request(f"/{SECRET}x/admit"),
        request(f"/{SECRET[:-1]}/admit"),
        request(f"//{SECRET}/admit"),
        request("/"),
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * MAX_HEAD_BYTES,
        b"POST /admit HT",
    ],
)
def test_strangers_to_the_secret_get_no_answer(serve: Serve, pki: Pki, sent: bytes) -> None:
    """Who does not know the secret learns nothing: no status, no words, only the end."""
    with (
        serve(client_auth=SecretPath(SECRET)) as server,
        Client(server.server.port, pki.context(None)) as client,
    ):
        client.send(sent)
        assert client.ends()
        assert server.server.strangers == 1
        assert not server.server.answers


def test_knowing_the_secret_once_is_not_enough(serve: Serve, pki: Pki) -> None:
    """Each request on a connection shows the secret."""
    with (
        serve(client_auth=SecretPath(SECRET)) as server,
        Client(server.server.port, pki.context(None)) as client,
    ):
        assert client.post(f"/{SECRET}/admit").status == 200
        client.send(request("/admit"))
        assert client.ends()


def test_strangers_cannot_keep_out_those_who_know(serve: Serve, pki: Pki) -> None:
    """Where anyone can connect, silent strangers make room for others, and soon end anyway."""
    limits = Limits(connections=2, handshake_s=1.0)
    with serve(client_auth=SecretPath(SECRET), limits=limits) as server:

        def stranger() -> Client:
            return Client(server.server.port, pki.context(None))

        with stranger() as first, stranger() as second:
            for _ in range(3):
                with stranger() as api_server:
                    assert api_server.post(f"/{SECRET}/admit").status == 200
            assert first.ends()  # the oldest made room
            assert second.ends()  # and time did the rest
        with stranger() as one, stranger() as two:
            for known in (one, two):
                assert known.post(f"/{SECRET}/admit").status == 200
            with stranger() as late:
                assert late.ends()
            assert one.post(f"/{SECRET}/admit").status == 200


def test_settings_that_cannot_work_are_refused(serve: Serve, server: Server, pki: Pki) -> None:
    """Short secrets, paths without a slash and taken ports are said at the start."""
    with pytest.raises(InputError, match="under 32 characters"):
        SecretPath("short")
    with pytest.raises(InputError, match="other than A-Z"):
        SecretPath("/" * 40)
    with pytest.raises(InputError, match="does not start with"):
        WebhookSettings(
            host="",
            port=0,
            certificate=pki.server.certificate,
            key=pki.server.key,
            client_auth=SecretPath(SECRET),
            paths=frozenset({"admit"}),
        )
    with (
        pytest.raises(InputError, match="cannot be listened on"),
        serve(port=server.server.port),
    ):
        pass
