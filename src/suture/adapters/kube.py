"""The API server, over HTTPS: the one place that speaks to it.

Knows HTTP, paths, options and refusals; knows nothing of kinds. Lists and watches leave here as
raw bytes, cut at page and line ends: reading them is `wire`'s, remembering them `app.mirror`'s.
No call is retried here save once after a 401: who may try again, and when, the caller knows.
There is no client-side rate limit: the API server's own priority and fairness is the judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx2
import msgspec

from suture.adapters.kubeanswers import (
    MAX_ANSWER_BYTES,
    MAX_PAGE_BYTES,
    MAX_REFUSAL_BYTES,
    continue_token,
    decoded,
    read_answer,
    refusal,
    transport_errors,
    warning_text,
    whole_lines,
)
from suture.adapters.kubeconfig import Login
from suture.adapters.kubepools import CALL_S, CONNECT_S, IDLE_S, Pools
from suture.adapters.kuberequests import (
    DISCOVERY,
    JSON,
    META_LIST,
    META_OBJECT,
    PATCH_TYPES,
    Body,
    PatchType,
    delete_options,
    list_query,
    resource_path,
    write_query,
)
from suture.errors import InputError, UnavailableError
from suture.model.names import Propagation
from suture.wire.discovery import Discovery, decode_discovery

__all__ = ["KubeClient", "resource_path"]

WATCH_S = 300
"""LIMIT: asked life of a watch, so that streams spread anew over API servers that come back."""

IDLE_SLACK_S = 30.0
"""LIMIT: silence on a watch without bookmarks, past its own asked life."""

PAGE_ITEMS = 500
"""LIMIT: objects per page, as kubectl asks: 4 MB of pods, decoded in 5 ms between two reviews."""

FIELD_MANAGER = "suture"


class KubeClient:
    """One identity at one API server. Cheap to derive others from; close the first one."""

    def __init__(self, login: Login) -> None:
        self._pools = Pools(login)
        self._headers: tuple[tuple[bytes, bytes], ...] = ()
        self._on_warning: Callable[[str], None] | None = None
        self._owns_pools = True

    @classmethod
    def from_kubeconfig(
        cls, path: Path | str | None = None, context: str | None = None
    ) -> KubeClient:
        """Log in as kubectl would: `path`, else `KUBECONFIG`, else `~/.kube/config`."""
        return cls(Login.from_kubeconfig(path, context))

    @classmethod
    def in_cluster(cls) -> KubeClient:
        """Log in as the pod's service account."""
        return cls(Login.in_cluster())

    def impersonating(
        self,
        user: str,
        groups: Sequence[str] = (),
        uid: str | None = None,
        extra: Mapping[str, Sequence[str]] | None = None,
    ) -> KubeClient:
        """Return a client that acts as somebody else, over the same connections.

        It adds to our own credentials, never to an earlier impersonation, which it replaces.
        """
        fields = [("Impersonate-User", user)]
        fields += [("Impersonate-Group", group) for group in groups]
        if uid is not None:
            fields.append(("Impersonate-Uid", uid))
        for key, values in (extra or {}).items():
            fields += [(f"Impersonate-Extra-{quote(key, safe='')}", value) for value in values]
        for key, value in fields:
            if not value.isprintable():
                raise InputError(f"`{value!r}` cannot be sent as {key}: unprintable characters")
        derived = self._derive()
        derived._headers = tuple((key.encode(), value.encode()) for key, value in fields)  # noqa: SLF001 - our own kin
        return derived

    def with_token(self, token: str) -> KubeClient:
        """Return a client for the same cluster that shows this token only; close it too."""
        return KubeClient(self._pools.login.with_token(token))

    def hearing(self, on_warning: Callable[[str], None]) -> KubeClient:
        """Return the same client, telling `on_warning` the text of each Warning header."""
        derived = self._derive()
        derived._on_warning = on_warning  # noqa: SLF001 - our own kin
        return derived

    def _derive(self) -> KubeClient:
        derived = object.__new__(KubeClient)
        derived.__dict__.update(self.__dict__)
        derived._owns_pools = False
        return derived

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; on an impersonating client nothing, they are not its own."""
        if self._owns_pools:
            await self._pools.aclose()

    # ------------------------------------------------------------------ calls

    async def get(
        self,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        metadata_only: bool = False,
        timeout_s: float = CALL_S,
    ) -> dict[str, Any]:
        """Read one object (or, unpaged, one list)."""
        accept = META_OBJECT if metadata_only else JSON
        return decoded(await self._send("GET", path, query, accept=accept, timeout_s=timeout_s))

    async def get_raw(
        self,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,
        timeout_s: float = CALL_S,
    ) -> bytes:
        """Read anything, as the bytes that came: `/readyz`, `/metrics`, an object to keep."""
        return await self._send("GET", path, query, accept=accept, timeout_s=timeout_s)

    async def create(
        self,
        path: str,
        body: Body,
        *,
        dry_run: bool = False,
        field_manager: str = FIELD_MANAGER,
        timeout_s: float = CALL_S,
    ) -> dict[str, Any]:
        """Post to a collection, or to a subresource such as `eviction` or `token`."""
        query = write_query(dry_run, field_manager)
        return decoded(await self._send("POST", path, query, body=body, timeout_s=timeout_s))

    async def update(
        self,
        path: str,
        body: Body,
        *,
        dry_run: bool = False,
        field_manager: str = FIELD_MANAGER,
        timeout_s: float = CALL_S,
    ) -> dict[str, Any]:
        """Replace an object; its `resourceVersion`, where given, guards against lost updates."""
        query = write_query(dry_run, field_manager)
        return decoded(await self._send("PUT", path, query, body=body, timeout_s=timeout_s))

    async def patch(
        self,
        path: str,
        body: Body,
        *,
        type: PatchType,  # noqa: A002 - the field's own word
        dry_run: bool = False,
        field_manager: str = FIELD_MANAGER,
        force: bool = False,
        timeout_s: float = CALL_S,
    ) -> dict[str, Any]:
        """Patch an object; `apply` also creates it, and `force` takes fields from others."""
        query = write_query(dry_run, field_manager)
        if force:
            if type != "apply":
                raise InputError(f"`force` has no meaning for a {type} patch, only for apply")
            query["force"] = "true"
        answer = await self._send(
            "PATCH",
            path,
            query,
            body=body,
            content_type=PATCH_TYPES[type],
            timeout_s=timeout_s,
        )
        return decoded(answer)

    async def delete(
        self,
        path: str,
        *,
        propagation_policy: Propagation | None = None,
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        dry_run: bool = False,
        timeout_s: float = CALL_S,
    ) -> dict[str, Any]:
        """Delete an object; `uid` and `resource_version` are preconditions (else a conflict)."""
        options = delete_options(propagation_policy, grace_period_seconds, dry_run)
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        given = {key: value for key, value in preconditions.items() if value is not None}
        if given:
            options["preconditions"] = given
        return decoded(await self._send("DELETE", path, {}, body=options, timeout_s=timeout_s))

    async def delete_collection(
        self,
        path: str,
        *,
        label_selector: str | None,
        field_selector: str | None = None,
        propagation_policy: Propagation | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
        timeout_s: float = CALL_S,
    ) -> dict[str, Any]:
        """Delete what the selectors match; `label_selector=None` is everything, said aloud."""
        options = delete_options(propagation_policy, grace_period_seconds, dry_run)
        query = list_query(label_selector, field_selector)
        return decoded(await self._send("DELETE", path, query, body=options, timeout_s=timeout_s))

    # ---------------------------------------------------------------- streams

    async def list_pages(
        self,
        path: str,
        limit: int = PAGE_ITEMS,
        resource_version: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        metadata_only: bool = False,
    ) -> AsyncGenerator[bytes, None]:
        """Yield a list page by page, as raw bytes.

        Errors: `GoneError` when the list was read so slowly that its snapshot is compacted.
        """
        query = list_query(label_selector, field_selector)
        query["limit"] = str(limit)
        if resource_version is not None:
            query["resourceVersion"] = resource_version
        while True:
            page = await self._send(
                "GET",
                path,
                query,
                accept=META_LIST if metadata_only else JSON,
                max_bytes=MAX_PAGE_BYTES,
            )
            # Before the yield: what cannot be continued must not look like a page among others.
            token = continue_token(page)
            yield page
            if not token:
                return
            query["continue"] = token
            query.pop("resourceVersion", None)  # the token holds it

    async def watch_lines(
        self,
        path: str,
        resource_version: str | None,
        send_initial_events: bool = False,
        allow_bookmarks: bool = True,
        timeout_s: int = WATCH_S,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        metadata_only: bool = False,
        idle_s: float = IDLE_S,
    ) -> AsyncGenerator[bytes, None]:
        """Yield watch events as blocks of whole lines, each block as much as has come.

        Ends when the server ends the watch, after `timeout_s` at the latest. Errors: `ApiError`
        when it is refused (`GoneError`: list anew), `UnavailableError` for anything else, silence
        for `idle_s` included. An ERROR event is a line like others. Wrap it in
        `contextlib.aclosing` to hang up at once.
        """
        query = list_query(label_selector, field_selector)
        query |= {"watch": "true", "timeoutSeconds": str(timeout_s)}
        if allow_bookmarks:
            query["allowWatchBookmarks"] = "true"
        if resource_version is not None:
            query["resourceVersion"] = resource_version
        if send_initial_events:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        if not allow_bookmarks:
            idle_s = timeout_s + IDLE_SLACK_S
        call = f"WATCH {path}"
        with transport_errors(call):
            async with self._pools.streams.stream(
                "GET",
                path,
                params=query,
                headers=self._request_headers(META_OBJECT if metadata_only else JSON),
                timeout=httpx2.Timeout(idle_s, connect=CONNECT_S, write=CONNECT_S, pool=CONNECT_S),
            ) as response:
                await self._check(call, response)
                async for block in whole_lines(call, response.aiter_bytes()):
                    yield block

    async def discover(self) -> Discovery:
        """Return every kind the cluster serves, and the groups whose backend did not answer."""
        answers = [
            await self._send("GET", path, {}, accept=DISCOVERY) for path in ("/api", "/apis")
        ]
        return decode_discovery(answers)

    # ---------------------------------------------------------------- the rim

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        *,
        body: Body | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        timeout_s: float = CALL_S,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> bytes:
        call = f"{method} {path}"
        headers = self._request_headers(accept)
        content = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        if content is not None:
            headers.append((b"Content-Type", content_type.encode()))
        with transport_errors(call):
            try:
                async with (
                    asyncio.timeout(timeout_s),
                    self._pools.calls.stream(
                        method, path, params=query or {}, headers=headers, content=content
                    ) as response,
                ):
                    await self._check(call, response)
                    return await read_answer(call, response, max_bytes)
            except TimeoutError as error:
                raise UnavailableError(
                    f"`{call}` was not answered by the API server within {timeout_s:g} s"
                ) from error

    def _request_headers(self, accept: str) -> list[tuple[bytes, bytes]]:
        return [(b"Accept", accept.encode()), *self._headers]

    async def _check(self, call: str, response: httpx2.Response) -> None:
        if self._on_warning is not None:
            for header in response.headers.get_list("Warning"):
                self._on_warning(warning_text(header))
        if not response.is_success:
            raise refusal(call, response, await read_answer(call, response, MAX_REFUSAL_BYTES))
