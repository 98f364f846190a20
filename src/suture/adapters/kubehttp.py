"""HTTP/1.1 as the API server speaks it: one request as bytes, one answer read from bytes.

Beside `kubetransport`, which owns sockets and waits: nothing here does, so that any cutting of an
answer into reads can be tried. What came in a hundred HTTP chunks leaves as one block, and costs
what one costs: a watch sends a chunk per event.
"""

from __future__ import annotations

from typing import Any

import httptools
import httpx2

MAX_HEAD_BYTES = 100 << 10
"""LIMIT: what comes without a byte of body: status line and headers, trailers, a chunk's own
line. API servers send under 2 KiB; give or take one read."""

_SWITCHING = 101
_FINAL = 200


def request_bytes(request: httpx2.Request) -> bytes:
    """Return a request as it goes over the wire, its body in memory included.

    Errors: `LocalProtocolError` when a header could be read as more than one. Its value is not
    told: it may be a token.
    """
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    lines += [b"%b: %b" % header for header in request.headers.raw]
    head = b"\r\n".join(lines)
    ends = len(lines) - 1
    if head.count(b"\r") != ends or head.count(b"\n") != ends or b"\0" in head:
        raise httpx2.LocalProtocolError("a header of the request holds a line end or a zero byte")
    return b"%b\r\n\r\n%b" % (head, request.content)


class Answer:
    """One answer, as far as it has come."""

    def __init__(self, *, bodiless: bool) -> None:
        self.status = 0
        self.reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.begun = False
        """Whether any byte of it has come."""
        self.headed = False
        """Whether status and headers are whole."""
        self.ended = False
        """Whether the body is whole."""
        self.reusable = False
        """Whether the connection may carry another request: known at the end."""
        self.held_bytes = 0
        """Bytes of body, framing included, that came and were not taken."""
        self._bodiless = bodiless
        self._until_close = True
        self._dry_bytes = 0
        self._parts: list[bytes] = []
        # WHY not a method: the parser calls it for every chunk, and this way no frame of ours runs.
        self.on_body = self._parts.append
        self._parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes | memoryview) -> None:
        """Read what has come.

        Errors: `RemoteProtocolError` for what is no answer.
        """
        self.begun = True
        parts = len(self._parts)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            # WHY no error after the end: the answer is whole. What follows was not asked for.
            if not self.ended:
                raise httpx2.RemoteProtocolError(f"the answer is not HTTP/1.1: {error}") from error
            self.reusable = False
        if len(self._parts) > parts:
            self._dry_bytes = 0
            self.held_bytes += len(data)
        else:
            self._dry_bytes += len(data)
            if self._dry_bytes > MAX_HEAD_BYTES and not self.ended:
                raise httpx2.RemoteProtocolError(f"more than {MAX_HEAD_BYTES >> 10} KiB of headers")
        if self._bodiless and self._parts:
            self._parts.clear()
            self.reusable = False

    def close(self) -> None:
        """Take the server's hanging up for the end, where that is how the body ends.

        Errors: `RemoteProtocolError` where it is not.
        """
        if not self.begun:
            raise httpx2.RemoteProtocolError("server disconnected without sending a response")
        if not self.headed or not self._until_close:
            raise httpx2.RemoteProtocolError("server disconnected in the middle of its answer")
        self.ended = True

    def take(self) -> bytes:
        """Return the body that came since the last call, as one block; empty when there is none."""
        parts = self._parts
        block = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        self.held_bytes = 0
        return block

    # What the parser calls, by these names.

    def on_message_begin(self) -> None:
        """Refuse a second answer: none was asked for."""
        if self.ended:
            raise httpx2.RemoteProtocolError("a second answer")

    def on_status(self, reason: bytes) -> None:
        """Hear the reason phrase, in pieces where it came so."""
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Hear a header, or after the head a trailer, which nobody reads."""
        if self.headed:
            return
        self.headers.append((name, value))
        if name.lower() in {b"content-length", b"transfer-encoding"}:
            self._until_close = False

    def on_headers_complete(self) -> None:
        """Hear the end of the head."""
        self.status = self._parser.get_status_code()
        if self.status == _SWITCHING:
            raise httpx2.RemoteProtocolError(
                "the server switched protocols, which nobody asked for"
            )
        self.headed = self.status >= _FINAL
        if self.headed and self._bodiless:
            self._end()

    def on_message_complete(self) -> None:
        """Hear the end of the body, or of an interim answer, which is forgotten."""
        if self.headed:
            self._end()
        else:
            self.reason = b""
            self.headers.clear()
            self._until_close = True

    def _end(self) -> None:
        self.ended = True
        self.reusable = self._parser.should_keep_alive()
