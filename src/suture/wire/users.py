"""Who asks, as reviews and audit events spell it: UserInfo of authentication.k8s.io/v1.

Pure. Source: authentication/v1 types; the same in reviews of both sorts and in audit events.
"""

from __future__ import annotations

import msgspec

from suture.model.actor import UserInfo

USERS = 4096
"""LIMIT: identities remembered as they are spelled, in two generations: a few hundred bytes each. A
cluster has hundreds of service accounts; each pod of theirs spells it in its own way."""


class User(msgspec.Struct, gc=False):
    """One identity as it is written."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None
    extra: dict[str, tuple[str, ...] | None] | None = None

    def info(self) -> UserInfo:
        """Return it as a value."""
        extra = {key: values or () for key, values in (self.extra or {}).items()}
        return UserInfo(self.username, self.groups or (), self.uid, extra)


_decoder = msgspec.json.Decoder(User)


def read_user(raw: bytes) -> UserInfo:
    """Read one identity. Errors: msgspec's own for what is none."""
    return _decoder.decode(raw).info()
