"""A head that was read before means what it meant then, and only that very head."""

from __future__ import annotations

import time

import pytest

from support.serving import Client, Pki, Running, Serve, request
from suture.adapters.webhook import SecretPath, WebhookServer
from suture.adapters.webhookheads import HEADS, Begun, Heads, begun
from suture.adapters.webhooksite import MAX_HEAD_BYTES, Limits

SECRET = "s" * 40
START = b"POST /admit HTTP/1.1\r\nHost: webhook\r\n"


def connect(server: Running[WebhookServer], pki: Pki) -> Client:
    return Client(server.server.port, pki.context(pki.client))


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        pytest.param(START + b"Content-Length: 2\r\n\r\n{}", b"{}", id="last"),
        pytest.param(START + b"Content-Length: 2\r\nX: y\r\n\r\n{}", b"{}", id="in-between"),
        pytest.param(START + b"Content-Length: 0\r\n\r\n", b"", id="nothing"),
        pytest.param(START + b"Content-Length: 3\r\n\r\n{}", b"{}", id="more-to-come"),
        pytest.param(START + b"Content-Length: 1\r\n\r\n{}", None, id="more-than-one"),
        pytest.param(START + b"Content-Length: +2\r\n\r\n{}", None, id="no-digits"),
        pytest.param(START + b"Content-Length: 0000000002\r\n\r\n{}", None, id="endless"),
        pytest.param(START + b"Content-Length: \r\n\r\n{}", None, id="no-length"),
        pytest.param(START + b"content-length: 2\r\n\r\n{}", None, id="as-nobody-sends-it"),
        pytest.param(START + b"\r\nContent-Length: 2\r\n\r\n{}", None, id="in-the-body"),
        pytest.param(START + b"Content-Length: 2\r\n", None, id="half-a-head"),
        pytest.param(b"", None, id="none"),
    ],
)
def test_what_begins_a_request_is_told(sent: bytes, found: bytes | None) -> None:
    """Only what is no more than one request, by the length that it says, is looked up at all."""
    one = begun(sent, MAX_HEAD_BYTES)
    assert (one.body if one is not None else None) == found


def test_heads_differ_in_all_but_their_length() -> None:
    """The same head with another length is the same; any other byte makes it another."""

    def head(sent: bytes) -> Begun:
        one = begun(sent, MAX_HEAD_BYTES)
        assert one is not None
        return one

    first = head(START + b"Content-Length: 2\r\nX: y\r\n\r\n{}").head
    assert head(START + b"Content-Length: 10\r\nX: y\r\n\r\n" + b" " * 10).head == first
    assert head(START + b"Content-Length: 2\r\nX: z\r\n\r\n{}").head != first
    assert head(START + b"Y: y\r\nContent-Length: 2\r\nX: y\r\n\r\n{}").head != first


def test_heads_are_bounded() -> None:
    """A sender whose heads are all different fills nothing."""
    heads = Heads()
    for number in range(10 * HEADS):
        heads.remember((b"%d" % number, b""), "/admit")
        assert heads.path((b"%d" % number, b"")) == "/admit"
    assert heads.path((b"0", b"")) is None
    assert sum(heads.path((b"%d" % number, b"")) is not None for number in range(10 * HEADS)) <= 64


def test_the_same_head_again_is_answered_alike(server: Running[WebhookServer], pki: Pki) -> None:
    """Reviews of any length after one another are handed over whole, each to its path."""
    with connect(server, pki) as client:
        for path in ("/admit", "/authorize"):
            for size in (2, 2, 0, 30_000, 7, 2):
                answer = client.post(f"{path}?timeout=2s", b"z" * size)
                assert answer.json() == {"path": path, "bytes": size, "name": "kube-apiserver"}
    assert server.server.answers == {200: 12}


@pytest.mark.parametrize("cuts", [(1,), (60,), (120, 5_000), (4_096, 8_192, 12_288), (14_999,)])
def test_a_body_may_come_after_a_head_that_was_read_before(
    server: Running[WebhookServer], pki: Pki, cuts: tuple[int, ...]
) -> None:
    """However a request is cut on its way, it is handed over whole, and so is what follows it."""
    sent = request(body=b"z" * 15_000) + request(body=b"z" * 3)
    with connect(server, pki) as client:
        assert client.post("/admit").status == 200
        for start, end in zip((0, *cuts), (*cuts, len(sent)), strict=True):
            client.send(sent[start:end])
            time.sleep(0.02)
        assert [client.answer().json()["bytes"] for _ in range(2)] == [15_000, 3]
    assert server.server.answers == {200: 3}


def test_a_body_that_stays_away_is_not_waited_for(serve: Serve, pki: Pki) -> None:
    """A head that was read before buys no time: what is missing is waited for as long as ever."""
    with serve(limits=Limits(read_s=0.2)) as server, connect(server, pki) as client:
        assert client.post("/admit", b"zz").status == 200
        client.send(request(body=b"z" * 100)[:-50])
        answer = client.answer()
        assert (answer.status, answer.closes) == (408, True)
        assert client.ends()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(START + b"Content-Length: 2\r\nConnection: close\r\n\r\n{}", 200, id="close"),
        pytest.param(b"POST /admit HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", 200, id="old"),
        pytest.param(b"POST /other HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 404, id="path"),
        pytest.param(b"PUT /admit HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 405, id="method"),
        pytest.param(
            START + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400, id="both"
        ),
        pytest.param(START + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400, id="twice"),
    ],
)
def test_what_is_answered_once_and_closed_is_so_again(
    server: Running[WebhookServer], pki: Pki, sent: bytes, status: int
) -> None:
    """A head that ends its connection, or is refused, does so whenever it comes."""
    for _ in range(3):
        with connect(server, pki) as client:
            assert client.post("/admit").status == 200
            client.send(sent)
            answer = client.answer()
            assert (answer.status, answer.closes) == (status, True)
            assert client.ends()


def test_a_client_that_waits_to_be_asked_is_asked_each_time(
    server: Running[WebhookServer], pki: Pki
) -> None:
    """A head that expects to be told to go on is told so, whatever was sent with it before."""
    sent = START + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}"
    for _ in range(3):
        with connect(server, pki) as client:
            client.send(sent)
            assert client.socket.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert client.answer().status == 200


def test_a_stranger_gains_nothing_by_what_others_asked(serve: Serve, pki: Pki) -> None:
    """Who has not shown the secret is not answered, however often its holders were."""
    with serve(client_auth=SecretPath(SECRET)) as server:
        with Client(server.server.port, pki.context(None)) as client:
            for _ in range(3):
                assert client.post(f"/{SECRET}/admit").json()["path"] == "/admit"
        with Client(server.server.port, pki.context(None)) as client:
            client.send(request("/admit"))
            assert client.ends()
        with Client(server.server.port, pki.context(None)) as client:
            assert client.post(f"/{SECRET}/admit").json()["path"] == "/admit"
