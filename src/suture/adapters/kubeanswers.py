"""What the API server says back: refusals, failures, pages and lines, brought to one shape.

Beside `kube` because every method there ends in one of these; all limits on what is taken in
from the network are here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import msgspec

from suture.errors import (
    AlreadyExistsError,
    ApiConflictError,
    ApiError,
    ApiUnavailableError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    TooManyRequestsError,
    UnavailableError,
)

MAX_ANSWER_BYTES = 64 << 20
"""LIMIT: one answer. Objects end at 3 MiB of request body; an unpaged list of 8,000 pods of 8 KB
still fits."""

MAX_PAGE_BYTES = 512 << 20
"""LIMIT: one page of a list: 500 objects of 1 MiB. Pages of 500 pods weigh 4 MB."""

MAX_EVENT_BYTES = 16 << 20
"""LIMIT: one watch line: an object of 3 MiB as stored, times 4 for JSON escapes and managed
fields added since."""

MAX_REFUSAL_BYTES = 1 << 20
"""LIMIT: the body of a refusal; a Status with all causes of a large CRD is under 100 KB."""


class _Status(msgspec.Struct, rename="camel"):
    """The API server's refusal, as far as it is read; every field may be missing."""

    kind: str = ""
    reason: str = ""
    message: str = ""
    details: dict[str, Any] | None = None


_REFUSALS: Mapping[int, type[ApiError]] = {
    403: ForbiddenError,
    404: NotFoundError,
    409: ApiConflictError,
    410: GoneError,
    429: TooManyRequestsError,
}


def refusal(call: str, response: httpx2.Response, body: bytes) -> ApiError:
    """Return the error that a non-2xx answer means, with the API server's own words."""
    try:
        status = msgspec.json.decode(body, type=_Status)
    except msgspec.MsgspecError:
        status = _Status()
    # WHY: proxies in between answer in HTML or plain text; its start still helps a person.
    message = status.message or body[:512].decode(errors="replace").strip() or "no reason given"
    reason = status.reason or response.reason_phrase
    kind = _REFUSALS.get(response.status_code)
    if kind is None:
        kind = ApiUnavailableError if response.is_server_error else ApiError
    if kind is ApiConflictError and reason == "AlreadyExists":
        kind = AlreadyExistsError
    return kind(
        response.status_code,
        reason,
        message,
        call=call,
        retry_after_s=_retry_after_s(response, status),
        details=status.details,
    )


def _retry_after_s(response: httpx2.Response, status: _Status) -> float | None:
    header = response.headers.get("Retry-After", "")
    if header.isdecimal():  # the API server sends seconds, never a date
        return float(header)
    seconds = (status.details or {}).get("retryAfterSeconds")
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


@contextmanager
def transport_errors(call: str) -> Iterator[None]:
    """Turn whatever the way to the API server can throw into one `UnavailableError`."""
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        # The class is the message often enough: timeouts come with an empty one.
        words = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise UnavailableError(f"`{call}` did not reach the API server: {words}") from error


async def read_answer(call: str, response: httpx2.Response, max_bytes: int) -> bytes:
    """Read a body that may not be larger than `max_bytes`."""
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > max_bytes:
            raise UnavailableError(
                f"the answer to `{call}` is larger than {max_bytes >> 20} MiB; ask for less"
            )
        parts.append(part)
    return b"".join(parts)


async def whole_lines(call: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Cut a byte stream after line ends: each block is one or more whole lines."""
    held: list[bytes] = []
    held_bytes = 0
    async for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            held.append(chunk[:end])
            yield b"".join(held)
            held, held_bytes, chunk = [], 0, chunk[end:]  # noqa: PLW2901 - what is left of it
        if chunk:
            held.append(chunk)
            held_bytes += len(chunk)
            if held_bytes > MAX_EVENT_BYTES:
                raise UnavailableError(
                    f"an event of `{call}` is larger than {MAX_EVENT_BYTES >> 20} MiB"
                )
    if held:
        raise UnavailableError(f"`{call}` was cut in the middle of an event")


class _ListMeta(msgspec.Struct, rename={"continue_": "continue", "version": "resourceVersion"}):
    continue_: str = ""
    version: str = ""


class _ListPage(msgspec.Struct):
    metadata: _ListMeta


_page_decoder = msgspec.json.Decoder(_ListPage)
_HEAD_BYTES = 8192


def continue_token(page: bytes) -> str:
    """Return what asks for the next page, "" after the last.

    Built-in kinds have their metadata first: then the head is decoded and megabytes of items are
    not walked a second time. Custom resources have it last.
    """
    cut = page.find(b'"items":[', 0, _HEAD_BYTES)
    try:
        if cut > 0:
            try:
                metadata = _page_decoder.decode(page[:cut] + b'"items":[]}').metadata
            except msgspec.MsgspecError:
                pass
            else:
                if metadata.version:
                    return metadata.continue_
        return _page_decoder.decode(page).metadata.continue_
    except msgspec.MsgspecError as error:
        raise UnavailableError(f"a page of a list cannot be read: {error}") from error


def decoded(answer: bytes) -> dict[str, Any]:
    """Parse an answer that must be a JSON object."""
    try:
        return msgspec.json.decode(answer, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise UnavailableError(f"the API server's answer cannot be read: {error}") from error


def warning_text(header: str) -> str:
    """Return the quoted text of `299 - "text"`."""
    start, end = header.find('"'), header.rfind('"')
    if start < 0 or end <= start:
        return header
    return header[start + 1 : end].replace('\\"', '"').replace("\\\\", "\\")
