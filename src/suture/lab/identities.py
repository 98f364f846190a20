"""Who a lab's clients are: people by client certificate, service accounts by token.

Lives in the lab because only the lab can be anybody; it holds the cluster's own authority.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suture.lab.programs import ADMIN_USER
from suture.lab.rest import Rest

# LIMIT: tokens outlive any test session and not the week.
TOKEN_S = 24 * 3600


@dataclass(frozen=True)
class Person:
    """A user with groups, shown to the API server as a client certificate."""

    user: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServiceAccount:
    """A service account, shown to the API server as an unbound token."""

    namespace: str
    name: str

    @property
    def user(self) -> str:
        """The user name that the API server sees."""
        return f"system:serviceaccount:{self.namespace}:{self.name}"


Identity = Person | ServiceAccount
ADMIN = Person(ADMIN_USER, ("system:masters",))


@dataclass(frozen=True)
class Tokens:
    """Tokens of service accounts."""

    rest: Rest

    def create(
        self,
        namespace: str,
        name: str,
        *,
        pod: tuple[str, str] | None = None,
        audiences: Sequence[str] = (),
        expires_s: int = TOKEN_S,
    ) -> str:
        """Return a token, bound to `pod` (name and uid) when it is given."""
        spec: dict[str, Any] = {"expirationSeconds": expires_s, "audiences": list(audiences)}
        if pod is not None:
            spec["boundObjectRef"] = {
                "kind": "Pod",
                "apiVersion": "v1",
                "name": pod[0],
                "uid": pod[1],
            }
        answer = self.rest.create(
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": spec,
            },
        )
        return str(answer["status"]["token"])


def file_stem(identity: Identity) -> str:
    """Return a file name that no other identity has."""
    match identity:
        case ServiceAccount():
            text = f"sa-{identity.namespace}-{identity.name}"
        case Person():
            text = f"user-{identity.user}"
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-zA-Z0-9-]', '-', text)[:80]}-{digest}"
