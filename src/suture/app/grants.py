"""Grants of the cluster, as the serving process needs them: read, and marked when one is used.

The mark is written before the answer leaves, guarded by the version of the object: a grant for one
use is used once, over restarts and over replicas.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

import msgspec

from suture.errors import ApiConflictError, ConflictError, NotFoundError
from suture.install.grants import GRANTS_PATH
from suture.model.clock import Now
from suture.model.grants import Grant, Scope

ATTEMPTS = 3
"""LIMIT: two replicas that use the same grant at once meet once; a person who edits it, too."""


class UsedUpError(ConflictError):
    """A grant was used up, or taken back, by the time it was to be used."""

    code = "grant_used_up"

    def __init__(self, name: str) -> None:
        super().__init__(f"grant `{name}` is used up or was taken back")


class Marks(Protocol):
    """Where the use of a grant is written down."""

    async def mark(self, grant: Grant, decision: str, now: Now) -> int:
        """Write one more use down; return how many there are then.

        Errors: UsedUpError; other SutureErrors where it could not be written.
        """
        ...


class MemoryMarks:
    """Uses that end with the process: for offline runs, whose grants do too."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    async def mark(self, grant: Grant, decision: str, now: Now) -> int:  # noqa: ARG002 the port's
        """Count one more use."""
        used = max(grant.used, self._used.get(grant.uid, 0))
        if grant.uses and used >= grant.uses:
            raise UsedUpError(grant.name)
        self._used[grant.uid] = used + 1
        return used + 1


class Client(Protocol):
    """What marking needs of an API server."""

    async def get(self, path: str) -> dict[str, Any]:
        """Read an object. Errors: NotFoundError and other SutureErrors."""
        ...

    async def patch(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        type: Literal["merge"],  # noqa: A002 the client's own word
    ) -> dict[str, Any]:
        """Patch an object. Errors: ApiConflictError and other SutureErrors."""
        ...


class ClusterMarks:
    """Uses in the status of the grants themselves."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def mark(self, grant: Grant, decision: str, now: Now) -> int:
        """Write one more use down."""
        path = f"{GRANTS_PATH}/{grant.name}"
        for attempt in range(ATTEMPTS):
            try:
                live = await self._client.get(path)
            except NotFoundError:
                raise UsedUpError(grant.name) from None
            used = int(live.get("status", {}).get("used", 0))
            if live["metadata"]["uid"] != grant.uid or (grant.uses and used >= grant.uses):
                raise UsedUpError(grant.name)
            status = {
                "used": used + 1,
                "lastUsed": datetime.fromtimestamp(now.utc_s, UTC).isoformat("T", "seconds"),
                "lastDecision": decision,
            }
            version = {"resourceVersion": live["metadata"]["resourceVersion"]}
            try:
                await self._client.patch(
                    f"{path}/status", {"metadata": version, "status": status}, type="merge"
                )
            except ApiConflictError:
                if attempt + 1 == ATTEMPTS:
                    raise
            else:
                return used + 1
        raise AssertionError("each attempt returns or raises")


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    deletion_timestamp: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    operator: str
    approver: str
    reason: str
    expires: datetime
    digest: str = ""
    policies: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    uses: int = 1


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    used: int = 0


class _Document(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec
    status: _Status = _Status()


class _List(msgspec.Struct):
    items: tuple[msgspec.Raw, ...] = ()


_list_decoder = msgspec.json.Decoder(_List)
_grant_decoder = msgspec.json.Decoder(_Document)


def read_grants(body: bytes) -> tuple[tuple[Grant, ...], tuple[str, ...]]:
    """Read a list of Grants; return them, and a line for each that cannot be read.

    One that cannot be read allows nothing, and takes none of the others out of force.
    """
    grants: list[Grant] = []
    problems: list[str] = []
    for raw in _list_decoder.decode(body).items:
        try:
            grant = read_grant(bytes(raw))
        except msgspec.ValidationError as error:
            problems.append(f"grant cannot be read: {error}")
            continue
        if grant is None:
            continue
        if bool(grant.digest) == bool(grant.policies):
            problems.append(f"grant `{grant.name}` names a digest and policies, or neither")
            continue
        grants.append(grant)
    return tuple(grants), tuple(problems)


def read_grant(body: bytes) -> Grant | None:
    """Read one Grant; None where it is being taken back. Errors: msgspec.ValidationError."""
    document = _grant_decoder.decode(body)
    metadata, spec = document.metadata, document.spec
    if metadata.deletion_timestamp:
        return None
    expires = spec.expires if spec.expires.tzinfo else spec.expires.replace(tzinfo=UTC)
    return Grant(
        name=metadata.name,
        uid=metadata.uid,
        operator=spec.operator,
        approver=spec.approver,
        reason=spec.reason,
        expires_utc_s=expires.timestamp(),
        digest=spec.digest,
        policies=spec.policies,
        scope=Scope(spec.resources, spec.namespaces, spec.names),
        uses=spec.uses,
        used=document.status.used,
    )
