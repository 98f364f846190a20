"""The API server's answers, read from bytes that come in any pieces."""

from __future__ import annotations

from itertools import pairwise

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.adapters.kubehttp import MAX_HEAD_BYTES, Answer, request_bytes

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*pieces: bytes, bodiless: bool = False) -> Answer:
    answer = Answer(bodiless=bodiless)
    for piece in pieces:
        answer.feed(piece)
    return answer


def read_on(answer: Answer, sent: bytes) -> None:
    """Read bytes one by one."""
    for byte in sent:
        answer.feed(bytes([byte]))


def chunks_of(body: bytes, sizes: list[int], extension: bytes) -> bytes:
    """Cut a body into chunks of these sizes, over and over."""
    sent, start, turn = [], 0, 0
    while start < len(body):
        chunk = body[start : start + sizes[turn % len(sizes)]]
        sent.append(b"%x%b\r\n%b\r\n" % (len(chunk), extension, chunk))
        start += len(chunk)
        turn += 1
    return b"".join(sent)


@given(
    body=st.binary(max_size=300),
    form=st.sampled_from(["length", "chunks", "close"]),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    cuts=st.lists(st.integers(1, 700), max_size=12),
    takes=st.sets(st.integers(0, 12)),
    extension=st.sampled_from([b"", b";a=b"]),
    trailer=st.sampled_from([b"", b"X-Last: 1\r\n"]),
    interim=st.sampled_from([b"", b"HTTP/1.1 103 Early\r\nX-No: 1\r\n\r\n"]),
)
def test_a_body_is_the_same_however_it_is_cut(
    *,
    body: bytes,
    form: str,
    sizes: list[int],
    cuts: list[int],
    takes: set[int],
    extension: bytes,
    trailer: bytes,
    interim: bytes,
) -> None:
    """Chunks, reads, takes, interim answers and trailers change no byte and no header."""
    match form:
        case "length":
            fields, sent = b"Content-Length: %d\r\n" % len(body), body
        case "chunks":
            fields = b"Transfer-Encoding: chunked\r\n"
            sent = chunks_of(body, sizes, extension) + b"0\r\n" + trailer + b"\r\n"
        case _:
            fields, sent = b"", body
    whole = interim + HEAD + b"X-Yes: 1\r\n" + fields + b"\r\n" + sent
    edges = [0, *sorted({cut for cut in cuts if cut < len(whole)}), len(whole)]
    answer, got = Answer(bodiless=False), []
    for turn, (start, end) in enumerate(pairwise(edges)):
        answer.feed(whole[start:end])
        if turn in takes:
            got.append(answer.take())
            assert answer.held_bytes == 0
    if form == "close":
        assert not answer.ended
        answer.close()
    got.append(answer.take())
    assert b"".join(got) == body
    assert (answer.status, answer.reason, answer.ended) == (200, b"OK", True)
    assert answer.reusable == (form != "close")
    assert answer.headers[0] == (b"X-Yes", b"1")
    assert {name for name, _ in answer.headers} <= {
        b"X-Yes",
        b"Content-Length",
        b"Transfer-Encoding",
    }


def test_many_chunks_are_one_block() -> None:
    """What came in one read leaves as one block."""
    events = [b'{"n":%d}\n' % number for number in range(100)]
    answer = read(CHUNKED + b"".join(chunks_of(event, [99], b"") for event in events))
    assert answer.held_bytes > 0
    assert answer.take() == b"".join(events)
    assert answer.take() == b""
    assert not answer.ended


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body_end_with_their_head(status: int) -> None:
    """204 and 304 have none, whatever length they tell of; after them comes the next answer."""
    answer = read(b"HTTP/1.1 %d X\r\nContent-Length: 5\r\n\r\n" % status)
    assert (answer.ended, answer.reusable, answer.take()) == (True, True, b"")


def test_an_answer_to_head_has_no_body() -> None:
    """Its length is of what a GET would get; bytes after it are nobody's."""
    sent = HEAD + b"Content-Length: 5\r\n\r\n"
    answer = read(sent, bodiless=True)
    assert (answer.ended, answer.reusable) == (True, True)
    answer = read(sent + b"abcde", bodiless=True)
    assert (answer.ended, answer.reusable, answer.take()) == (True, False, b"")


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"Connection: close\r\nContent-Length: 1\r\n\r\na",
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
        HEAD + b"Content-Length: 1\r\n\r\na" + HEAD,
        HEAD + b"Content-Length: 1\r\n\r\nagarbage",
        HEAD + b"Connection: close\r\nContent-Length: 1\r\n\r\nagarbage",
    ],
    ids=["close", "http-1.0", "second-answer", "surplus", "surplus-after-close"],
)
def test_connections_that_cannot_be_used_again(sent: bytes) -> None:
    """A whole answer is an answer; what the server said beside it is the connection's end."""
    answer = read(sent)
    assert (answer.ended, answer.reusable, answer.take()) == (True, False, b"a")


@pytest.mark.parametrize(
    "sent",
    [
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\na",
        HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        CHUNKED + b"xyz\r\n",
        CHUNKED + b"1\r\nab\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nabc",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x28",
    ],
)
def test_what_is_no_answer_is_told(sent: bytes) -> None:
    """Garbage, lengths that contradict each other and other protocols are the server's error."""
    with pytest.raises(httpx2.RemoteProtocolError):
        read(sent)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "without sending a response"),
        (b"HTTP/1.1 200", "in the middle"),
        (HEAD + b"Content-Length: 5\r\n\r\nabc", "in the middle"),
        (CHUNKED + b"5\r\nabc", "in the middle"),
        (CHUNKED + b"3\r\nabc\r\n", "in the middle"),
        (b"HTTP/1.1 103 Early\r\n\r\n", "in the middle"),
    ],
)
def test_a_cut_answer_is_not_a_whole_one(sent: bytes, words: str) -> None:
    """A server that hangs up early has not answered, unless hanging up is how it ends."""
    answer = read(*([sent] if sent else []))
    with pytest.raises(httpx2.RemoteProtocolError, match=words):
        answer.close()


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (HEAD, b"X-Many: 1\r\n"),
        (HEAD + b"X-Long: ", b"x" * 16),
        (b"", b"HTTP/1.1 103 Early\r\n\r\n"),
        (CHUNKED + b"1;e=", b"x" * 16),
        (CHUNKED + b"0\r\n", b"X-Many: 1\r\n"),
    ],
    ids=["many", "long", "interim", "extension", "trailers"],
)
def test_heads_are_bounded(start: bytes, piece: bytes) -> None:
    """Headers, interim answers, trailers and chunk lines that never end are given up."""
    answer = Answer(bodiless=False)
    if start:
        answer.feed(start)
    for _ in range(MAX_HEAD_BYTES // len(piece) - 10):
        answer.feed(piece)
    with pytest.raises(httpx2.RemoteProtocolError, match="100 KiB of headers"):
        read_on(answer, piece * 20)


def test_requests_go_out_whole() -> None:
    """Method, target, headers in their order and case, and the body."""
    request = httpx2.Request(
        "PATCH", "https://x/a?b=c%2Fd", headers=[("X-A", "1"), ("X-A", "2")], content=b"{}"
    )
    head, _, body = request_bytes(request).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"PATCH /a?b=c%2Fd HTTP/1.1"
    assert {b"Host: x", b"Content-Length: 2", b"X-A: 1", b"X-A: 2"} <= set(lines)
    assert body == b"{}"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\0"])
def test_a_header_is_one_header(end: str) -> None:
    """A token with a line end in it is refused, and not told."""
    request = httpx2.Request("GET", "https://x/", headers={"Authorization": f"s3cret{end}X: y"})
    with pytest.raises(httpx2.LocalProtocolError) as caught:
        request_bytes(request)
    assert "s3cret" not in str(caught.value)
