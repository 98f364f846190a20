"""A person says who is an operator and how far it is enforced; profile and registration follow.

Stage and identities are in the profile and in force within a second. What happens to destructive
requests while Suture is dead is the API server's to know: it is written into the registration,
with the person's own rights, and never by what serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from suture.app.apply import apply_documents
from suture.errors import ApiConflictError, InputError, NotFoundError
from suture.install.guards import namespace_policy, registration_policy
from suture.install.paths import path_of
from suture.install.profiles import PROFILES_PATH, profile_document
from suture.install.reach import reach_policy, system_policy
from suture.install.registration import NAME as REGISTRATION
from suture.install.registration import remembered, renewed
from suture.install.settings import Read, enrol
from suture.model.actor import SERVICE_ACCOUNT, Profile, Stage, WhenDead

REGISTRATION_PATH = (
    f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{REGISTRATION}"
)

ATTEMPTS = 3
"""LIMIT: two people who enrol at the same moment meet once or twice, not three times."""

DEFAULT = "default"

# What a cluster needs to start, and Suture with it: network, storage, certificates, nodes.
COLD_START = frozenset(
    {
        "kube-system", "kube-public", "calico-system", "calico-apiserver", "tigera-operator",
        "cilium", "cilium-system", "kube-flannel", "cert-manager", "karpenter", "rook-ceph",
        "longhorn-system", "metallb-system", "openebs", "gke-managed-system", "openshift-sdn",
        "openshift-ovn-kubernetes", "openshift-machine-api", "openshift-cluster-csi-drivers",
    }
)  # fmt: skip
EVERYBODY = frozenset(
    {"system:serviceaccounts", "system:authenticated", "system:masters", "system:nodes"}
)


class Client(Protocol):
    """What enrolling needs of an API server."""

    async def get(self, path: str) -> dict[str, Any]:
        """Read an object. Errors: NotFoundError and other SutureErrors."""
        ...

    async def patch(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        type: Literal["apply"],  # noqa: A002 the client's own word
        dry_run: bool = False,
        force: bool = False,
    ) -> dict[str, Any]:
        """Apply an object. Errors: SutureError."""
        ...

    async def update(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Replace an object at its version. Errors: ApiConflictError and other SutureErrors."""
        ...


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks for; None and empty leave as it is."""

    name: str
    default: bool = False
    stage: Stage | None = None
    when_dead: WhenDead | None = None
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


async def set_operator(
    client: Client, wanted: Wanted, report: Callable[[str], None] = lambda _: None
) -> Profile:
    """Write a profile, and bring the registration and the guards into line with all profiles.

    Errors: InputError for what makes no sense, ConflictError when others enrol all the time.
    """
    profiles = {profile.name: profile for profile in await profiles_of(client)}
    profile = merged(wanted, profiles.get(wanted.name))
    check(profile, [one for one in profiles.values() if one.name != profile.name])
    report(f"profile {profile.name}")
    document = profile_document(profile)
    await client.patch(path_of(document), document, type="apply", force=True)
    profiles[profile.name] = profile
    await register(client, list(profiles.values()), report)
    return profile


def merged(wanted: Wanted, known: Profile | None) -> Profile:
    """Return the profile that a person wants. Errors: InputError when it would mean nobody."""
    base = known or Profile(wanted.name, default=wanted.default)
    profile = Profile(
        name=wanted.name,
        users=wanted.users or base.users,
        groups=wanted.groups or base.groups,
        stage=wanted.stage or base.stage,
        when_dead=wanted.when_dead or base.when_dead,
        default=wanted.default or base.default,
    )
    if profile.default and (profile.users or profile.groups):
        raise InputError("the default is everybody without a profile: it names no users or groups")
    if not (profile.default or profile.users or profile.groups):
        raise InputError(
            f"there is no profile `{wanted.name}` yet: say who it is with --user "
            f"{SERVICE_ACCOUNT}NAMESPACE:NAME, or with --group"
        )
    return profile


def check(profile: Profile, others: Sequence[Profile]) -> None:
    """Refuse what would harm the cluster or leave open who is meant. Errors: InputError."""
    for other in others:
        shared = [*({*profile.users} & {*other.users}), *({*profile.groups} & {*other.groups})]
        if shared:
            raise InputError(f"`{min(shared)}` is named by profile `{other.name}` already")
        if profile.default and other.default:
            raise InputError(f"profile `{other.name}` is the default already")
    if profile.stage is Stage.CONFIRM:
        _check_confirm(profile)
    if profile.when_dead is not WhenDead.HOLD:
        return
    if profile.default:
        raise InputError(
            "hold is set operator by operator: the default would hold what the cluster itself "
            "needs to start"
        )
    for user in profile.users:
        namespace = user.split(":")[2] if user.startswith(SERVICE_ACCOUNT) else ""
        if namespace in COLD_START:
            raise InputError(_needed(user))
    for group in profile.groups:
        if group in EVERYBODY or group.removeprefix("system:serviceaccounts:") in COLD_START:
            raise InputError(_needed(group))


def _check_confirm(profile: Profile) -> None:
    """Refuse `confirm` for what is no person. Errors: InputError."""
    machines = [
        *(user for user in profile.users if user.startswith(SERVICE_ACCOUNT)),
        *(group for group in profile.groups if group.startswith("system:serviceaccounts")),
    ]
    if profile.default or machines:
        raise InputError(
            f"stage confirm is for people: {machines[0] if machines else 'the default'} has nobody "
            "who could read the impact; choose enforce"
        )
    if profile.when_dead is WhenDead.HOLD:
        raise InputError("people are never held: leave their profile at pass")


async def profiles_of(client: Client) -> tuple[Profile, ...]:
    """Return the profiles of the cluster. Errors: InputError where Suture is not installed."""
    try:
        items = (await client.get(PROFILES_PATH)).get("items", [])
    except NotFoundError:
        raise InputError(
            "this cluster knows no OperatorProfile; run `suture install --apply` first"
        ) from None
    return tuple(
        msgspec.convert(
            {"name": item["metadata"]["name"], **_snake(item.get("spec", {}))},
            Profile,
            strict=False,
        )
        for item in items
    )


async def register(
    client: Client,
    profiles: Sequence[Profile],
    report: Callable[[str], None],
    *,
    reads: tuple[Read, ...] | None = None,
) -> None:
    """Bring the registration and the guards into line with all profiles.

    `reads`: what constraints read from now on; None leaves it as it is.
    """
    for attempt in range(ATTEMPTS):
        try:
            live = await client.get(REGISTRATION_PATH)
        except NotFoundError:
            report("no registration: API servers do not ask Suture; run `suture install --apply`")
            return
        before = remembered(live)
        if reads is not None:
            before = msgspec.structs.replace(before, reads=reads)
        installation = enrol(before, profiles)
        # WHY always: who is named matters to it though nobody is held.
        await apply_documents(client, [*reach_policy(installation), *system_policy(installation)])
        wanted = renewed(live, installation)
        if _conditions(live) == _conditions(wanted):
            return
        report("registration and guards")
        await apply_documents(
            client, [*namespace_policy(installation), *registration_policy(installation)]
        )
        live["webhooks"] = wanted["webhooks"]
        live["metadata"]["annotations"] |= wanted["metadata"]["annotations"]
        try:
            await client.update(REGISTRATION_PATH, live)
        except ApiConflictError:
            if attempt + 1 == ATTEMPTS:
                raise
        else:
            return


def _conditions(registration: Mapping[str, Any]) -> dict[str, Any]:
    return {hook["name"]: hook.get("matchConditions") for hook in registration["webhooks"]}


def _needed(identity: str) -> str:
    return (
        f"`{identity}` cannot be held: the cluster, and Suture with it, needs its writes to start; "
        "leave it at pass"
    )


def _snake(spec: Mapping[str, Any]) -> dict[str, Any]:
    names = {"whenDead": "when_dead"}
    return {names.get(key, key): value for key, value in spec.items()}
