"""A person allows one thing, with their own rights and in their own name; and takes it back.

What to allow is read from the decision that refused it: the change itself, by its digest, or, where
that was a whole collection, the policies that refused it, in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from suture.app.grants import read_grant
from suture.errors import ConflictError, InputError, NotFoundError
from suture.install.grants import GRANTS_PATH, grant_document
from suture.journal.entry import Entry
from suture.model.clock import Now
from suture.model.grants import Grant, Scope
from suture.verdict import Answer

REVIEWS_PATH = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

LONGEST_S = 30 * 86_400
"""LIMIT: how long a grant may last: what is wanted for longer is a setting of the policy."""

NAME_CHARS = 40
"""LIMIT: of an operator's name in that of its grants; the API server adds five to it."""

_SPAN = re.compile(r"(\d{1,9})(s|m|h|d)\Z")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Client(Protocol):
    """What granting needs of an API server."""

    async def get(self, path: str) -> dict[str, Any]:
        """Read an object or a list. Errors: NotFoundError and other SutureErrors."""
        ...

    async def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object. Errors: SutureError."""
        ...

    async def delete(self, path: str) -> dict[str, Any]:
        """Delete an object. Errors: NotFoundError and other SutureErrors."""
        ...


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says with every grant. `uses` None: as the thing granted suggests."""

    reason: str
    seconds: int
    uses: int | None = None


def span_s(text: str) -> int:
    """Return how many seconds `10m`, `2h` or `1d` are. Errors: InputError."""
    found = _SPAN.match(text)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_S:
        raise InputError(
            f"`{text}` is no time for a grant: wanted a number with s, m, h or d, at most "
            f"{LONGEST_S // 86_400}d"
        )
    return seconds


def for_decision(entry: Entry, terms: Terms, now: Now) -> Grant:
    """Return the grant of what a decision refused. Errors: InputError where there is nothing to."""
    if entry.would is not Answer.DENY:
        raise InputError(f"decision `{entry.decision}` refused nothing; there is nothing to grant")
    codes = {reason.code for reason in entry.reasons}
    if "quarantined" in codes:
        raise InputError(
            f"operator `{entry.operator}` is quarantined; a person ends that with `suture release`"
        )
    if any(code.startswith("doubt_") for code in codes):
        raise InputError(
            f"decision `{entry.decision}` was in doubt, not refused by a policy; "
            "see `suture status`, and have it tried again"
        )
    asked = entry.asked
    bare = _grant(entry.operator, terms, now)
    if asked.collection and not asked.uid:
        # WHY by policy: each object of a collection is a change of its own.
        key = asked.key
        return msgspec.structs.replace(
            bare,
            policies=tuple(sorted({reason.constraint for reason in entry.reasons})),
            scope=Scope((str(key.resource),), (key.namespace,) if key.namespace else ()),
            uses=0 if terms.uses is None else terms.uses,
        )
    if not entry.digest:
        raise InputError(
            f"decision `{entry.decision}` was written by an older Suture, without a digest; "
            "grant its policies with --policy"
        )
    return msgspec.structs.replace(bare, digest=entry.digest)


def for_policies(
    operator: str, policies: tuple[str, ...], scope: Scope, terms: Terms, now: Now
) -> Grant:
    """Return a grant that lifts policies for an operator in a scope. Errors: InputError."""
    if not operator:
        raise InputError("for which operator? give its name with --operator")
    return msgspec.structs.replace(
        _grant(operator, terms, now), policies=tuple(sorted(set(policies))), scope=scope
    )


def _grant(operator: str, terms: Terms, now: Now) -> Grant:
    if not terms.reason.strip():
        raise InputError("a grant needs a reason: whoever reads the journal will ask for it")
    return Grant(
        name="",
        uid="",
        operator=operator,
        approver="",
        reason=terms.reason.strip(),
        expires_utc_s=now.utc_s + terms.seconds,
        uses=1 if terms.uses is None else terms.uses,
    )


async def give(client: Client, grant: Grant, *, decision: str = "") -> Grant:
    """Create a grant, the asking person its approver; return it as the cluster has it.

    Errors: InputError where Suture is not installed, other SutureErrors where it is refused.
    """
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = await client.create(REVIEWS_PATH, review)
    approver = str(answer["status"]["userInfo"]["username"])
    document = grant_document(msgspec.structs.replace(grant, approver=approver), decision=decision)
    document["metadata"] = {"generateName": f"{_slug(grant.operator)}-"}
    try:
        made = await client.create(GRANTS_PATH, document)
    except NotFoundError:
        raise _not_installed() from None
    given = read_grant(msgspec.json.encode(made))
    if given is None:
        raise ConflictError("the grant was taken back while it was made")
    return given


async def all_grants(client: Client) -> tuple[Grant, ...]:
    """Return the grants of the cluster. Errors: InputError where Suture is not installed."""
    try:
        items = (await client.get(GRANTS_PATH)).get("items", [])
    except NotFoundError:
        raise _not_installed() from None
    found = [read_grant(msgspec.json.encode(item)) for item in items]
    return tuple(sorted((one for one in found if one is not None), key=_latest_first))


async def revoke(client: Client, name: str) -> None:
    """Take a grant back. Errors: InputError where there is none of this name."""
    try:
        await client.delete(f"{GRANTS_PATH}/{name}")
    except NotFoundError:
        raise InputError(f"there is no grant `{name}`; see `suture grant list`") from None


def state_of(grant: Grant, now: Now) -> str:
    """Return in a word whether a grant still allows anything."""
    if now.utc_s >= grant.expires_utc_s:
        return "expired"
    return "used up" if grant.uses and grant.used >= grant.uses else "in force"


def _latest_first(grant: Grant) -> tuple[float, str]:
    return -grant.expires_utc_s, grant.name


def _slug(operator: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", operator.lower().removeprefix("system:serviceaccount:"))
    return words.strip("-")[:NAME_CHARS].strip("-") or "grant"


def _not_installed() -> InputError:
    return InputError("this cluster knows no Grant; run `suture install --apply` first")
