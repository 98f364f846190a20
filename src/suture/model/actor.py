"""Who asks: from the user info of a request to the operator behind it.

Pure. Knows identities, profiles and stages; knows nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec

from suture.model.names import SERVICE_ACCOUNTS, ObjectKey

SYSTEM = "system:"
"""How the names of all identities begin that are the cluster's own. SOURCE: Kubernetes, RBAC."""
SERVICE_ACCOUNT = f"{SYSTEM}serviceaccount:"
ACTORS = 4096
"""LIMIT: identities whose actor is remembered; as many as reviews remember by their spelling."""

POD_NAME = "authentication.kubernetes.io/pod-name"
POD_UID = "authentication.kubernetes.io/pod-uid"


ACCOUNTS = 1_024
"""LIMIT: identities whose accounts are remembered; a review of an operator asks several times."""


@lru_cache(ACCOUNTS)
def account_of(identity: str) -> ObjectKey | None:
    """Return the service account behind an identity; None for a user."""
    if not identity.startswith(SERVICE_ACCOUNT):
        return None
    namespace, _, name = identity.removeprefix(SERVICE_ACCOUNT).partition(":")
    return ObjectKey(SERVICE_ACCOUNTS, namespace, name)


def is_person(identity: str) -> bool:
    """Whether an identity is a user's, as its name tells; machines may have such, too."""
    return bool(identity) and not identity.startswith(SYSTEM)


class Stage(StrEnum):
    """How far an operator is enforced."""

    OBSERVE = "observe"
    WARN = "warn"
    ENFORCE = "enforce"
    CONFIRM = "confirm"
    """For people: refused once, with the impact, and let through when they say so again."""


class WhenDead(StrEnum):
    """What happens to an operator's destructive requests when Suture cannot answer."""

    PASS = "pass"  # noqa: S105 a word of the configuration, no secret
    HOLD = "hold"


class UserInfo(msgspec.Struct, frozen=True, gc=False):
    """The identity that the API server established, as it hands it to webhooks."""

    username: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = {}


class IdentityKind(StrEnum):
    """What sort of identity asks; decides the lane, never the verdict alone."""

    OPERATOR = "operator"
    """A service account, or a user or group that a profile names."""
    PERSON = "person"
    """A user that no profile names, or whose profile has the stage `confirm`."""
    BREAK_GLASS = "break_glass"
    """Somebody in a group named at install for emergencies: never refused, always written down."""
    CONSEQUENCE = "consequence"
    """A controller of kube-controller-manager that carries out what others asked for."""
    SYSTEM = "system"
    """Nodes, the API server itself, Suture: never judged."""


CARRIERS: Final = frozenset({IdentityKind.CONSEQUENCE, IdentityKind.SYSTEM})
"""Who carries out what others want, or is the control plane: not asked whose it is."""


class Profile(msgspec.Struct, frozen=True, gc=False):
    """An `OperatorProfile`: which identity, how far enforced. At least one selector is set.

    `users` holds user names (service accounts as `system:serviceaccount:NAMESPACE:NAME`);
    `default` marks the one profile whose stage holds for identities that no other names.
    """

    name: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    stage: Stage = Stage.OBSERVE
    when_dead: WhenDead = WhenDead.PASS
    default: bool = False


class Actor(msgspec.Struct, frozen=True, gc=False):
    """Who asks, as Suture knows it; budgets and lists are kept under the name `operator`."""

    user: UserInfo
    operator: str
    kind: IdentityKind
    stage: Stage
    when_dead: WhenDead = WhenDead.PASS
    quarantined: str = ""
    """The reason for which a person quarantined this operator; empty when none did."""
    pod: str = ""
    pod_uid: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of a service account; empty for users."""
        account = account_of(self.user.username)
        return "" if account is None else account.namespace


# WHY by name: these carry out what somebody else asked for; refusing them would leave the cluster
# half way. Those that originate deletes (node lifecycle, podgc, job, daemonset) are not here.
CONSEQUENCE_CONTROLLERS = frozenset(
    f"{SERVICE_ACCOUNT}kube-system:{name}"
    for name in (
        "generic-garbage-collector",
        "namespace-controller",
        "replicaset-controller",
        "replication-controller",
        "deployment-controller",
        "statefulset-controller",
        "cronjob-controller",
        "ttl-after-finished-controller",
        "endpoint-controller",
        "endpointslice-controller",
        "endpointslicemirroring-controller",
        "horizontal-pod-autoscaler",
        "attachdetach-controller",
        "persistent-volume-binder",
        "pvc-protection-controller",
        "pv-protection-controller",
    )
)


class Operators:
    """The profiles in force, and the attribution that they decide. Replaced whole, never edited."""

    def __init__(
        self,
        profiles: Iterable[Profile] = (),
        quarantined: Mapping[str, str] | None = None,
        own: Iterable[str] = (),
        break_glass: Iterable[str] = (),
    ) -> None:
        """`own` are Suture's own users, `break_glass` the groups that are never refused."""
        self.profiles = tuple(profiles)
        self.quarantined: Mapping[str, str] = dict(quarantined or {})
        """Reason of each quarantine, by `user NAME` or `group NAME`, as the list writes them."""
        self._own = frozenset(own)
        self._break_glass = frozenset(break_glass)
        self._by_user = {user: profile for profile in self.profiles for user in profile.users}
        self._by_group = {group: profile for profile in self.profiles for group in profile.groups}
        self._default = next((p for p in self.profiles if p.default), Profile("default"))
        self._known: dict[int, Actor] = {}

    def attribute(self, user: UserInfo) -> Actor:
        """Name the operator behind `user`. Total: an unknown identity is an actor too."""
        # WHY by its place in memory: the same few ask again and again, and are the very same value.
        # INVARIANT: the actor holds its user, so that no other can take that place.
        found = self._known.get(id(user))
        if found is None:
            if len(self._known) >= ACTORS:
                self._known = {}
            found = self._known[id(user)] = self._attributed(user)
        return found

    def _attributed(self, user: UserInfo) -> Actor:
        profile = self._profile(user)
        kind = self._kind(user, profile)
        effective = profile or self._default
        return Actor(
            user=user,
            operator=profile.name if profile else user.username,
            kind=kind,
            stage=_stage(kind, profile, effective),
            when_dead=effective.when_dead,
            quarantined="" if kind is IdentityKind.BREAK_GLASS else self._quarantine(user),
            pod=_first(user.extra.get(POD_NAME)),
            pod_uid=_first(user.extra.get(POD_UID)),
        )

    def is_operator(self, username: str) -> bool:
        """Whether a user name alone is that of an operator: a machine, or enrolled as one."""
        profile = self._by_user.get(username)
        if profile is not None:
            return profile.stage is not Stage.CONFIRM or username.startswith(SERVICE_ACCOUNT)
        return username.startswith(SERVICE_ACCOUNT)

    def _quarantine(self, user: UserInfo) -> str:
        if not self.quarantined:
            return ""
        names = (f"user {user.username}", *(f"group {group}" for group in user.groups))
        return next((self.quarantined[name] for name in names if name in self.quarantined), "")

    def _profile(self, user: UserInfo) -> Profile | None:
        found = self._by_user.get(user.username)
        if found is not None or not self._by_group:
            return found
        return next((self._by_group[g] for g in user.groups if g in self._by_group), None)

    def _kind(self, user: UserInfo, profile: Profile | None) -> IdentityKind:
        name = user.username
        if name in self._own:
            return IdentityKind.SYSTEM
        if name in CONSEQUENCE_CONTROLLERS:
            return IdentityKind.CONSEQUENCE
        if self._break_glass and not self._break_glass.isdisjoint(user.groups):
            return IdentityKind.BREAK_GLASS
        if name.startswith(SERVICE_ACCOUNT):
            return IdentityKind.OPERATOR
        if profile is not None:
            confirms = profile.stage is Stage.CONFIRM
            return IdentityKind.PERSON if confirms else IdentityKind.OPERATOR
        # WHY the exception: the administrator of many a distribution is a person with this name.
        if name.startswith("system:") and name != "system:admin":
            return IdentityKind.SYSTEM
        return IdentityKind.PERSON


def _stage(kind: IdentityKind, profile: Profile | None, effective: Profile) -> Stage:
    """Return how far an identity is enforced."""
    if kind is IdentityKind.BREAK_GLASS:
        return Stage.OBSERVE
    if kind is IdentityKind.PERSON:
        # WHY: a person is observed unless a profile names them; the default stage is for machines.
        return profile.stage if profile is not None else Stage.OBSERVE
    # WHY: a service account that is in a group of people has nobody who could confirm.
    return Stage.ENFORCE if effective.stage is Stage.CONFIRM else effective.stage


def _first(values: tuple[str, ...] | None) -> str:
    return values[0] if values else ""
