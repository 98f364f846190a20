"""Heads of requests that were read before: an API server sends the same with each review.

Beside `webhookhttp`, whose parser has the only word on what a head means: what is kept here is what
it said of the very same bytes, all but the digits of the length. Knows nothing of connections.
"""

from __future__ import annotations

from typing import NamedTuple

HEADS = 64
"""LIMIT: heads remembered, each within the limit of a head, 1 MiB at most and 20 KiB in life: a few
paths for a few API servers. Past it all are forgotten: where each head is another (a trace's id is
in it) nothing is gained, and nothing lost but the look."""

DIGITS = 9
"""LIMIT: digits of a length that is looked at; bodies are bounded far below that."""

_LENGTH, _LINE, _END = b"\r\nContent-Length: ", b"\r\n", b"\r\n\r\n"

Head = tuple[bytes, bytes]
"""A head as it was sent, before the digits of its length and after them."""


class Begun(NamedTuple):
    """The head of a request, how long its body is, and what came of that with the head."""

    head: Head
    length: int
    body: bytes


def begun(data: bytes, max_head_bytes: int) -> Begun | None:
    """Return the request that some bytes begin with, or None where they are more, or other.

    Says nothing of whether it is HTTP: that is the parser's to say of the head, once.
    """
    end = data.find(_END, 0, max_head_bytes)
    at = data.find(_LENGTH, 0, end) if end > 0 else -1
    if at < 0:
        return None
    first = at + len(_LENGTH)
    last = data.find(_LINE, first, end + len(_LINE))
    digits, body = data[first:last], data[end + len(_END) :]
    if not (digits.isdigit() and len(digits) <= DIGITS and len(body) <= int(digits)):
        return None
    return Begun((data[:first], data[last:end]), int(digits), body)


class Heads:
    """The paths that heads were found to ask for, where nothing else in them matters."""

    def __init__(self) -> None:
        self._paths: dict[Head, str] = {}

    def path(self, head: Head) -> str | None:
        """Return the path of a head that was read before."""
        return self._paths.get(head)

    def remember(self, head: Head, path: str) -> None:
        """Keep what the parser said of a head."""
        if len(self._paths) >= HEADS:
            self._paths.clear()
        self._paths[head] = path
