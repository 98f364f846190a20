"""What is asked of a replay server, and its answers that are no stream: list parts and refusals.

Between HTTP and the shelves; source of the rules: the Kubernetes API concepts page.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from suture.errors import SutureError
from suture.lab.clusters.pages import PAGE_ITEMS, frame, partial_of, token
from suture.lab.replay.shelf import SEPARATOR, Made, Shelf, Text
from suture.lab.replay.store import Store
from suture.model.names import Resource

WATCH_S = 1800
"""LIMIT: life of a watch that asks for none; an API server takes half an hour to an hour."""


class RefusalError(SutureError):
    """An answer that is no: a Status, as API servers send it."""

    code = "replay_refused"

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message

    @classmethod
    def of_path(cls, path: str) -> Self:
        """Say that a path leads nowhere."""
        return cls(404, "NotFound", f"the server could not find the requested resource `{path}`")

    @classmethod
    def gone(cls) -> Self:
        """Say that a version or a list's continuation is compacted."""
        return cls(410, "Expired", "too old resource version: list anew")

    def body(self) -> dict[str, object]:
        """Return the body."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.status,
        }


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a read."""

    partial: bool
    namespace: str = ""
    watch: bool = False
    limit: int = PAGE_ITEMS
    more: str = ""
    version: str = ""
    initial: bool = False
    bookmarks: bool = False
    timeout_s: int = WATCH_S

    @classmethod
    def of(cls, query: Mapping[str, str], accept: str, namespace: str = "") -> Self:
        """Read the options. Errors: RefusalError for what is not served here."""
        if query.get("labelSelector") or query.get("fieldSelector"):
            raise RefusalError(400, "BadRequest", "a replay server knows no selectors")
        if "json" not in accept and "*/*" not in accept:
            raise RefusalError(406, "NotAcceptable", "only JSON is served here")
        try:
            return cls(
                namespace=namespace,
                partial="as=PartialObjectMetadata" in accept,
                watch=query.get("watch") in ("1", "true"),
                # WHY no more: pages are cut already, and a list may be given in smaller parts.
                limit=min(int(query.get("limit") or PAGE_ITEMS) or PAGE_ITEMS, PAGE_ITEMS),
                more=query.get("continue", ""),
                version=query.get("resourceVersion", ""),
                initial=query.get("sendInitialEvents") in ("1", "true"),
                bookmarks=query.get("allowWatchBookmarks") in ("1", "true"),
                timeout_s=int(query.get("timeoutSeconds") or WATCH_S),
            )
        except ValueError as error:
            raise RefusalError(400, "BadRequest", str(error)) from error

    def form(self, whole: bytes) -> bytes:
        """Return an object in the form that was asked for."""
        return partial_of(whole) if self.partial else whole


def page_of(store: Store, shelf: Shelf, asked: Asked) -> list[Text]:
    """Return one part of a list. Errors: RefusalError.

    LIMIT: parts that are read while pods come and go are each of their own moment, and all carry
    the version of the first; a watch from there tells everything again that was told early.
    """
    version, page, offset, added = _place(store, shelf.listed.resource, asked)
    end = offset + asked.limit
    inside: Text
    if asked.namespace:
        items = shelf.in_namespace(asked.namespace, partial=asked.partial)
        inside = SEPARATOR.join(items[offset:end])
        more = token(version, 0, end) if end < len(items) else ""
    elif asked.limit == PAGE_ITEMS and not offset:
        inside = shelf.raw(page, added, partial=asked.partial)
        more = token(version, page + 1, 0) if page + 1 < shelf.pages(added) else ""
    else:
        items = shelf.items(page, added, partial=asked.partial)
        inside = SEPARATOR.join(items[offset:end])
        following = (page, end) if end < len(items) else (page + 1, 0)
        more = token(version, *following) if following[0] < shelf.pages(added) else ""
    head, tail = frame(shelf.listed, version, more, partial=asked.partial)
    return [head, inside, tail]


def _place(store: Store, resource: Resource, asked: Asked) -> tuple[int, int, int, Sequence[Made]]:
    """Return which version of the list is read, from which page and item on, and what it adds."""
    if not asked.more:
        version, added = store.begin(resource)
        return version, 0, 0, added
    try:
        version, page, offset = map(int, urlsafe_b64decode(asked.more).split(b":"))
    except (ValueError, Base64Error) as error:
        raise RefusalError(400, "BadRequest", f"continue key is not valid: {error}") from error
    going_on = store.begun(resource, version)
    if going_on is None:
        raise RefusalError.gone()
    return version, page, offset, going_on
