"""Grants: what a person allows one operator, once, in spite of what policies say.

Pure and in memory. The grants themselves are objects of the cluster; here they are looked up while
a request is judged, and here it is known which were used a moment ago.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from suture.model.actor import Actor, IdentityKind, Operators
from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.digest import digest_of
from suture.model.names import ObjectKey
from suture.model.request import Request

ANY = "*"

REPEATS_S = 5
"""LIMIT: how long one use covers the same change again: the API server admits a write once more
when it meets a conflict, within its own request; retries that follow take milliseconds."""

OPEN_KEPT = 1_024
"""LIMIT: uses that cover a repetition at a time: two hundred granted writes a second."""

NS = 1_000_000_000


class Scope(msgspec.Struct, frozen=True, gc=False):
    """Which objects a grant is about; what is empty does not narrow it."""

    resources: tuple[str, ...] = ()
    """As people write them: `services`, `deployments.apps`."""
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def covers(self, key: ObjectKey) -> bool:
        """Whether an object is meant. A namespace is in itself."""
        resource = key.resource
        place = key.namespace or (key.name if resource.plural == "namespaces" else "")
        return (
            (not self.resources or str(resource) in self.resources)
            and (not self.namespaces or place in self.namespaces)
            and (not self.names or key.name in self.names)
        )


class Grant(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One allowed exception. Exactly one of `digest` and `policies` is set.

    `uses` 0: any number until it expires. `used`: how many the cluster knows of.
    """

    name: str
    uid: str
    operator: str
    approver: str
    reason: str
    expires_utc_s: float
    digest: str = ""
    policies: tuple[str, ...] = ()
    """Constraints or templates; `*` for all."""
    scope: Scope = Scope()
    uses: int = 1
    used: int = 0

    def lifts(self, constraint: str, template: str = "") -> bool:
        """Whether it lifts what a policy says; one that is bound to a change lifts everything."""
        if self.digest:
            return True
        return not {ANY, constraint, template or constraint}.isdisjoint(self.policies)


class Exemption:
    """What people allowed of one request: the grants that meet it, or all that is said of it.

    `confirmed`: the person who asks has confirmed it, and nothing said of it refuses.
    """

    __slots__ = ("_confirmed", "_grants", "taken")

    def __init__(self, grants: tuple[Grant, ...] = (), *, confirmed: bool = False) -> None:
        self._grants = grants
        self._confirmed = confirmed
        self.taken: dict[str, Grant] = {}
        """By uid: the grants by which something was lifted."""

    def lifts(self, constraint: str, template: str = "") -> str:
        """Return by what a policy's word is lifted, and count on it; empty: by nothing."""
        if self._confirmed:
            return "confirmed"
        for some in (self.taken.values(), self._grants):
            for grant in some:
                if grant.lifts(constraint, template):
                    self.taken[grant.uid] = grant
                    return f"allowed by grant {grant.name}"
        return ""


NO_EXEMPTION = Exemption()


class Grants:
    """The grants in force, by the operator whom they are for, and what became of them here."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[Grant, ...]] = {}
        self._used: dict[str, int] = {}
        self._open: dict[tuple[str, str], int] = {}

    def replace(self, grants: Iterable[Grant]) -> None:
        """Put these grants in force instead of those before; uses that we know of stay known."""
        found: dict[str, list[Grant]] = {}
        for grant in grants:
            found.setdefault(grant.operator, []).append(grant)
        # WHY sorted: what is bound to one change is used up before what is bound to a policy.
        self._of = {
            operator: tuple(sorted(some, key=lambda one: (not one.digest, one.expires_utc_s)))
            for operator, some in found.items()
        }
        alive = {grant.uid for some in self._of.values() for grant in some}
        self._used = {uid: count for uid, count in self._used.items() if uid in alive}

    @property
    def all(self) -> tuple[Grant, ...]:
        """Every grant in force, spent and expired ones included."""
        return tuple(grant for some in self._of.values() for grant in some)

    def meeting(
        self, request: Request, actor: Actor, now: Now, operators: Operators
    ) -> tuple[Grant, ...]:
        """Return the grants that people gave for this request and that are not used up.

        What an operator approved, for itself or for another, is no grant.
        """
        candidates = self._of.get(actor.operator, ())
        if actor.operator != actor.user.username:
            candidates += self._of.get(actor.user.username, ())
        if not candidates:
            return ()
        digest, own = digest_of(request), actor.user.username
        return tuple(
            grant
            for grant in candidates
            if now.utc_s < grant.expires_utc_s
            and (grant.digest == digest if grant.digest else grant.scope.covers(request.key))
            and (self.is_open(grant.uid, digest, now) or not self.spent(grant))
            and not operators.is_operator(grant.approver)
            and (grant.approver != own or actor.kind is not IdentityKind.OPERATOR)
        )

    def spent(self, grant: Grant) -> bool:
        """Whether a grant was used as often as it may be."""
        used = max(grant.used, self._used.get(grant.uid, 0))
        return grant.uses > 0 and used >= grant.uses

    def is_open(self, uid: str, digest: str, now: Now) -> bool:
        """Whether a use of a grant for this change was marked a moment ago, and covers it still."""
        since = self._open.get((uid, digest))
        return since is not None and now.mono_ns - since <= REPEATS_S * NS

    def note_used(self, grant: Grant, digest: str, used: int, now: Now) -> None:
        """Learn that a use was marked on the cluster, as the grant's `used`-th."""
        self._used[grant.uid] = max(used, self._used.get(grant.uid, 0))
        self._open.pop((grant.uid, digest), None)
        self._open[grant.uid, digest] = now.mono_ns
        for one in oldest(self._open, OPEN_KEPT):
            del self._open[one]

    def note_spent(self, grant: Grant) -> None:
        """Learn that others used a grant up."""
        self._used[grant.uid] = max(grant.uses, self._used.get(grant.uid, 0))
