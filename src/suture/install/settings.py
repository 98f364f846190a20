"""What an installation is told: namespace, identities, how API servers reach it; plain values.

Pure. Made by the command line and by the lab; `lanes`, `guards`, `registration` and `manifests`
render it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

import msgspec

from suture.errors import InputError
from suture.model.actor import SERVICE_ACCOUNT, Profile, Stage, WhenDead

NAMESPACE = "suture-system"
SERVICE = "suture"
ACCOUNT = "suture"
QUARANTINE = "suture-quarantine"
"""The ConfigMap with the quarantined, and the policy that reads it."""

NAMED_IDENTITIES = 1_000
"""LIMIT: users and groups written into one condition: the API server reads expressions of at most
100,000 characters, and names have up to 80. Service accounts need not be named to be judged."""


class Identities(msgspec.Struct, frozen=True, gc=False):
    """Users and groups by name, sorted."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nobody is named."""
        return not (self.users or self.groups)


class ServiceTarget(msgspec.Struct, frozen=True, gc=False, tag=True):
    """API servers reach Suture through its Service."""

    namespace: str = NAMESPACE
    name: str = SERVICE
    port: int = 443


class UrlTarget(msgspec.Struct, frozen=True, gc=False, tag=True):
    """API servers reach Suture by address: on control-plane hosts, and in the lab."""

    url: str


Target = ServiceTarget | UrlTarget


class Read(msgspec.Struct, frozen=True, gc=False, order=True):
    """Writes that a constraint in force reads in order to claim or refuse; `*` is any.

    `resource` carries its subresource as admission rules write it: `pods/eviction`.
    """

    operation: str
    group: str
    resource: str


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """One installation of Suture on one cluster."""

    namespace: str = NAMESPACE
    target: Target = ServiceTarget()
    ca_bundle: bytes = b""
    """PEM of the authority that signed the serving certificate."""
    secret_path: str = ""
    """First part of the path where the control plane presents no client certificate."""
    enrolled: Identities = Identities()
    """Users and groups that profiles name: machines although they are no service accounts."""
    held: Identities = Identities()
    """Those whose `whenDead` is hold."""
    passed: Identities = Identities()
    """Those whose `whenDead` is pass: a user that is named so stays so whatever its groups."""
    enforced: Identities = Identities()
    """Those whose stage is enforce, as of when it was written: for what cannot read profiles."""
    enforced_default: bool = False
    """Whether the stage of machines that no profile names is enforce, as of then."""
    installers: Identities = Identities()
    """Who may change Suture itself besides people: a GitOps controller that manages it."""
    break_glass: tuple[str, ...] = ()
    """Groups for emergencies: whoever is in one is never refused, and always written down."""
    reads: tuple[Read, ...] = ()
    authorizer: bool = False
    """The cluster asks Suture at authorization too."""
    authorizer_url: str = ""
    """Where it then asks, if not at a `UrlTarget`: an API server knows no Services there."""


def enrol(installation: Installation, profiles: Iterable[Profile]) -> Installation:
    """Return the installation with the identities that `profiles` name.

    Errors: InputError when they are more than a condition can hold.
    """
    users: dict[WhenDead, set[str]] = {WhenDead.PASS: set(), WhenDead.HOLD: set()}
    groups: dict[WhenDead, set[str]] = {WhenDead.PASS: set(), WhenDead.HOLD: set()}
    known = list(profiles)
    enforced = [profile for profile in known if profile.stage is Stage.ENFORCE]
    for profile in known:
        # WHY: whoever confirms is a person, and goes the way of people.
        if profile.stage is Stage.CONFIRM:
            continue
        users[profile.when_dead].update(profile.users)
        groups[profile.when_dead].update(profile.groups)
    every_user = users[WhenDead.PASS] | users[WhenDead.HOLD]
    every_group = groups[WhenDead.PASS] | groups[WhenDead.HOLD]
    if len(every_user) + len(every_group) > NAMED_IDENTITIES:
        raise InputError(
            f"{len(every_user) + len(every_group)} users and groups are enrolled, at most "
            f"{NAMED_IDENTITIES} can be; enrol machines by group, or as service accounts"
        )
    return msgspec.structs.replace(
        installation,
        # WHY not service accounts here: each of them is judged, named or not.
        enrolled=Identities(
            tuple(sorted(user for user in every_user if not user.startswith(SERVICE_ACCOUNT))),
            tuple(sorted(every_group)),
        ),
        held=Identities(tuple(sorted(users[WhenDead.HOLD])), tuple(sorted(groups[WhenDead.HOLD]))),
        passed=Identities(
            tuple(sorted(users[WhenDead.PASS])), tuple(sorted(groups[WhenDead.PASS]))
        ),
        enforced=Identities(
            tuple(sorted({user for profile in enforced for user in profile.users})),
            tuple(sorted({group for profile in enforced for group in profile.groups})),
        ),
        enforced_default=any(profile.default for profile in enforced),
    )


def client_config(installation: Installation, path: str) -> dict[str, object]:
    """Return the `clientConfig` of a webhook: where it is, and which authority to believe."""
    if installation.secret_path:
        path = f"/{installation.secret_path}{path}"
    config: dict[str, object] = {}
    match installation.target:
        case ServiceTarget(namespace, name, port):
            config["service"] = {"namespace": namespace, "name": name, "port": port, "path": path}
        case UrlTarget(url):
            config["url"] = url.rstrip("/") + path
    if installation.ca_bundle:
        config["caBundle"] = base64.b64encode(installation.ca_bundle).decode()
    return config
