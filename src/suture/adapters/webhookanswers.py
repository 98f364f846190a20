"""What the webhook answers that is not a decision, and how any answer is written.

Beside `webhookhttp`, which knows when: here nothing is known of connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
import structlog

from suture.errors import InputError, UnavailableError

log = structlog.get_logger(__name__)

_STATUS_LINES: Mapping[int, bytes] = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
    + b"Content-Type: application/json\r\nContent-Length: "
    for status in HTTPStatus
    if not 300 <= status < 400  # an API server must never be sent elsewhere
}
_END, _END_AND_CLOSE = b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"


def written(status: int, body: bytes, *, closes: bool) -> bytes:
    """Return a whole answer of HTTP; `closes` where it is the connection's last."""
    end = _END_AND_CLOSE if closes else _END
    return b"".join((_STATUS_LINES[status], str(len(body)).encode(), end, body))


def failed(error: Exception, path: str) -> tuple[int, bytes]:
    """Return status and body for what a handler raised, by whose fault it is."""
    match error:
        case InputError():
            return 400, problem(error.code, str(error))
        case UnavailableError():
            return 503, problem(error.code, str(error))
        case _:
            # The handler has its own net for doubt; this one keeps the process from dying of what
            # slips through, and says so.
            log.error("webhook handler failed", path=path, exc_info=error)
            return 500, problem("defect", "the handler failed; see the server's log")


def problem(code: str, message: str) -> bytes:
    """Return the body of an answer that says what is wrong with a request."""
    return msgspec.json.encode({"error": code, "message": message})
