"""What a ReferenceGrant says, read of the body that its delete carries along.

Apart from `bodies`, which reads of many kinds one field each.
Source: gateway.networking.k8s.io ReferenceGrant.
"""

from __future__ import annotations

import msgspec

from suture.impact.ground.bodies import decoded


class GrantPart(msgspec.Struct, gc=False):
    """Who may name something, or what: without a `name` it is any of a kind."""

    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str | None = None


class Granted(msgspec.Struct, gc=False, rename={"sources": "from", "targets": "to"}):
    """Whom a ReferenceGrant lets name what."""

    sources: tuple[GrantPart, ...] = ()
    targets: tuple[GrantPart, ...] = ()


class _Grant(msgspec.Struct, gc=False):
    spec: Granted | None = None


_grant_decoder = msgspec.json.Decoder(_Grant)


def granted_by(body: bytes) -> Granted:
    """Return whom a ReferenceGrant lets name what; nobody where it does not say."""
    return decoded(_grant_decoder, body, _Grant()).spec or Granted()
