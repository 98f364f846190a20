"""A client of the predicted API server: the verbs of `KubeClient`, without HTTP.

Lives apart from `server`, which knows no paths. It is a `KubeClient` so that runner, steps and
waits need not know which place they are in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

import msgspec

from suture.adapters.kube import FIELD_MANAGER, PAGE_ITEMS, KubeClient
from suture.adapters.kubepools import CALL_S
from suture.adapters.kuberequests import JSON, Body, PatchType, delete_options
from suture.lab.rights import REVIEWS
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline import answers
from suture.lab.scenarios.offline.server import Place, Server
from suture.model.actor import UserInfo
from suture.model.names import Propagation, Resource
from suture.wire.discovery import Discovery

WRITE_S = 0.004
"""LIMIT: what a write takes of the run's time: 4 ms at the median on a lab with the guard on. It
orders writes in budget windows; nothing waits."""

ADMINISTRATOR = UserInfo("suture-lab", ("system:masters", "system:authenticated"))

_ACCOUNTS = Resource("", "serviceaccounts")


class OfflineClient(KubeClient):
    """One identity at the predicted API server."""

    def __init__(self, server: Server, user: UserInfo = ADMINISTRATOR) -> None:
        """Speak as `user`."""
        self._server = server
        self._user = user
        self._account_uid = ""

    def impersonating(
        self,
        user: str,
        groups: Sequence[str] = (),
        uid: str | None = None,
        extra: Mapping[str, Sequence[str]] | None = None,
    ) -> OfflineClient:
        """Return a client that acts as somebody else."""
        more = {key: tuple(values) for key, values in (extra or {}).items()}
        return OfflineClient(self._server, UserInfo(user, tuple(groups), uid or "", more))

    def with_token(self, token: str) -> OfflineClient:
        """Return a client of the service account whose token this is."""
        namespace, name, uid = token.split("/")
        groups = (
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            "system:authenticated",
        )
        user = UserInfo(f"system:serviceaccount:{namespace}:{name}", groups, uid)
        client = OfflineClient(self._server, user)
        client._account_uid = uid
        return client

    def hearing(self, on_warning: Callable[[str], None]) -> OfflineClient:  # noqa: ARG002 - nobody listens offline
        """Return the same client; warnings are not passed on."""
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close nothing."""

    async def aclose(self) -> None:
        """Close nothing."""

    # ---- reading

    async def discover(self) -> Discovery:
        """Return every kind that is served."""
        return Discovery(tuple(self._server.store.apis.values()))

    async def get(
        self,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        metadata_only: bool = False,  # noqa: ARG002 - whole will do
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> Object:
        """Read one object or one list."""
        return _decoded(await self.get_raw(path, query=query))

    async def get_raw(
        self,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,  # noqa: ARG002 - JSON is all there is
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> bytes:
        """Read anything, as JSON."""
        at = self._at(path)
        if at.name:
            return self._server.shown(at)
        given = query or {}
        return self._list(at, given.get("labelSelector"), given.get("fieldSelector"))

    async def list_pages(
        self,
        path: str,
        limit: int = PAGE_ITEMS,  # noqa: ARG002 - one page holds all
        resource_version: str | None = None,  # noqa: ARG002 - now is all there is
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        metadata_only: bool = False,  # noqa: ARG002 - whole will do
    ) -> AsyncGenerator[bytes, None]:
        """Yield a list as one page."""
        yield self._list(self._at(path), label_selector, field_selector)

    def _list(self, at: Place, labels: str | None, fields: str | None) -> bytes:
        items = b",".join(one.raw for one in self._server.several(at, labels, fields))
        return b'{"kind":"List","apiVersion":"v1","metadata":{},"items":[' + items + b"]}"

    # ---- writing

    async def create(
        self,
        path: str,
        body: Body,
        *,
        dry_run: bool = False,
        field_manager: str = FIELD_MANAGER,
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> Object:
        """Create an object, a token or an eviction; everybody may do everything, and is told so."""
        if path == REVIEWS:
            return {"status": {"allowed": True}}
        at = await self._written(path)
        given = _value(body)
        if at.sub == "token":
            return self._token(at)
        if at.sub == "eviction":
            return await self._server.evict(at, given, self._user, dry_run=dry_run)
        if at.sub or at.name:
            raise answers.malformed(f"`{path}` takes nothing that could be predicted")
        return _copy(
            await self._server.create(at, given, self._user, manager=field_manager, dry_run=dry_run)
        )

    async def update(
        self,
        path: str,
        body: Body,
        *,
        dry_run: bool = False,
        field_manager: str = FIELD_MANAGER,
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> Object:
        """Replace an object."""
        at = await self._written(path)
        given = _value(body)
        return _copy(
            await self._server.update(at, given, self._user, manager=field_manager, dry_run=dry_run)
        )

    async def patch(
        self,
        path: str,
        body: Body,
        *,
        type: PatchType,  # noqa: A002 - the field's own word
        dry_run: bool = False,
        field_manager: str = FIELD_MANAGER,
        force: bool = False,  # noqa: ARG002 - nobody else's either
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> Object:
        """Change an object."""
        at = await self._written(path)
        value = _value(body)
        return _copy(
            await self._server.patch(
                at, value, type, self._user, manager=field_manager, dry_run=dry_run
            )
        )

    async def delete(
        self,
        path: str,
        *,
        propagation_policy: Propagation | None = None,
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        dry_run: bool = False,
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> Object:
        """Delete an object."""
        at = await self._written(path)
        options = delete_options(propagation_policy, grace_period_seconds, dry_run)
        wanted = {"uid": uid, "resourceVersion": resource_version}
        given = {key: value for key, value in wanted.items() if value is not None}
        if given:
            options["preconditions"] = given
        return _copy(await self._server.delete(at, _value(options), self._user))

    async def delete_collection(
        self,
        path: str,
        *,
        label_selector: str | None,
        field_selector: str | None = None,
        propagation_policy: Propagation | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
        timeout_s: float = CALL_S,  # noqa: ARG002 - nothing takes time
    ) -> Object:
        """Delete what the selectors match."""
        at = await self._written(path)
        options = delete_options(propagation_policy, grace_period_seconds, dry_run)
        return await self._server.delete_collection(
            at, _value(options), self._user, label_selector, field_selector
        )

    # ---- paths and identities

    async def _written(self, path: str) -> Place:
        """Let a write's time pass, and return where it goes. Errors: 401 for a dead token."""
        await asyncio.sleep(WRITE_S)
        if self._account_uid:
            _, _, namespace, name = self._user.username.split(":")
            account = self._server.store.find(_ACCOUNTS, namespace, name)
            if account is None or account.uid != self._account_uid:
                raise answers.unauthorized()
        return self._at(path)

    def _at(self, path: str) -> Place:
        """Read a path. Errors: NotFoundError where nothing is served."""
        root, *parts = [unquote(part) for part in path.strip("/").split("/")]
        group = parts.pop(0) if root == "apis" and parts else ""
        version = parts.pop(0) if parts else ""
        namespace = ""
        if len(parts) > 2 and parts[0] == "namespaces" and parts[2] not in ("status", "finalize"):
            namespace, parts = parts[1], parts[2:]
        if not parts:
            raise answers.no_such_kind(path)
        api = self._server.store.api_of(Resource(group, parts[0]), version)
        if api is None:
            raise answers.no_such_kind(path)
        name = parts[1] if len(parts) > 1 else ""
        return Place(api=api, namespace=namespace, name=name, sub="/".join(parts[2:]))

    def _token(self, at: Place) -> Object:
        account = self._server.one(at)
        token = f"{at.namespace}/{at.name}/{account.uid}"
        return {"kind": "TokenRequest", "metadata": {}, "status": {"token": token}}


def _value(body: Body) -> Any:
    return msgspec.json.decode(body if isinstance(body, bytes) else msgspec.json.encode(body))


def _copy(body: Object) -> Object:
    """Return a body that its reader may write into."""
    return _decoded(msgspec.json.encode(body))


def _decoded(raw: bytes) -> Object:
    found: Object = msgspec.json.decode(raw)
    return found
