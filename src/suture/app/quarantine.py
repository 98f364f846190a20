"""A person stops all writes of one operator, or lets it write again; proven before it is said.

The list is the parameter object of an in-process policy, edited with the person's own rights: it
holds while Suture is dead. An edit that the API server has acknowledged is not yet in force, so
nothing is reported as stopped before a dry run under the operator's identity was refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self

import msgspec

from suture.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    NotFoundError,
    SutureError,
    UnavailableError,
)
from suture.install.expressions import API_SERVER, NODES
from suture.install.guards import QUARANTINED_KEPT, STATIC_SUFFIX, quarantine_list
from suture.install.profiles import PROFILES_PATH
from suture.install.settings import QUARANTINE, Installation
from suture.model.actor import CONSEQUENCE_CONTROLLERS, SERVICE_ACCOUNT

PROBE_S = 10.0
"""LIMIT: how long an edit of the list may take to bite: 88 ms was the longest of 60 trials; an API
server that needs a hundred times that has other troubles, which the person should hear of."""

PROBE_EVERY_S = 0.005
PROBES = 3
"""LIMIT: refusals in a row before it is believed: behind one address there may be several API
servers, each with its own view of the list for some milliseconds."""

IN_FLIGHT_S = 0.1
"""LIMIT: writes that were past the policy when it changed: they are with a webhook or in etcd for
some milliseconds. One that a slow webhook holds longer is the exception that is told of."""

LISTED = QUARANTINED_KEPT // 2
"""LIMIT: identities quarantined at once, and in one command: both together stay within what the
policy reads, so that an edit never lifts the others even before it is counted."""

MASTERS = "system:masters"
PROBE_USER = "suture:quarantine-probe"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_KEY = re.compile(r"[^-._a-zA-Z0-9]+")

# What the policy lets pass, and what no in-process policy is shown.
NOT_COVERED = (
    "its leases, events, status updates and access reviews: they pass, so that it stays alive",
    "watches and connections that are open: they drain",
    "writes that a webhook was already holding: they end within that webhook's timeout",
)


class Subject(msgspec.Struct, frozen=True, order=True):
    """Who is quarantined: a user or a group, by name."""

    kind: Literal["user", "group"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Client(Protocol):
    """What quarantine needs of an API server."""

    async def get(self, path: str) -> dict[str, Any]:
        """Read an object. Errors: NotFoundError and other SutureErrors."""
        ...

    async def create(
        self, path: str, body: Mapping[str, Any], *, dry_run: bool = False
    ) -> dict[str, Any]:
        """Create an object. Errors: ForbiddenError and other SutureErrors."""
        ...

    async def patch(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        type: Literal["merge"],  # noqa: A002
    ) -> dict[str, Any]:
        """Change an object. Errors: SutureError."""
        ...

    async def delete(self, path: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Delete an object. Errors: SutureError."""
        ...

    def impersonating(self, user: str, groups: Sequence[str] = ()) -> Self:
        """Return the same client as another identity."""
        ...


class Endpoint(msgspec.Struct, frozen=True):
    """One API server, by the address at which it is asked itself."""

    address: str
    client: Any
    required: bool = True
    """False: an address that may not be reachable from here."""


Others = Callable[[], Awaitable[Sequence[Endpoint]]]


class Proof(msgspec.Struct, frozen=True):
    """What one API server answered to the probes."""

    address: str
    holds: bool
    detail: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, what proves it, and what it does not cover."""

    subjects: tuple[Subject, ...]
    proofs: tuple[Proof, ...]
    not_covered: tuple[str, ...] = ()
    policy_edits: str = ""
    """Who refuses the operator's edits of the in-process policies; empty: nobody."""

    @property
    def proven(self) -> bool:
        """Whether every API server that could be asked has proven it."""
        return all(proof.holds for proof in self.proofs)


async def subjects_of(client: Client, operator: str) -> tuple[Subject, ...]:
    """Return whom an operator's name means: a profile's identities, an account, a user.

    Forms: a profile's name, `NAMESPACE/ACCOUNT`, a user's name, `group:NAME`.
    Errors: InputError for the machinery that a cluster cannot be without.
    """
    if operator.startswith("group:"):
        subjects: tuple[Subject, ...] = (Subject("group", operator.removeprefix("group:")),)
    elif "/" in operator and "@" not in operator:
        namespace, _, account = operator.partition("/")
        subjects = (Subject("user", f"{SERVICE_ACCOUNT}{namespace}:{account}"),)
    else:
        subjects = await _profiled(client, operator) or (Subject("user", operator),)
    for subject in subjects:
        _check(subject)
    return subjects


async def quarantine(
    endpoint: Endpoint,
    operator: str,
    reason: str,
    *,
    namespace: str,
    when: str,
    others: Others | None = None,
) -> Report:
    """Put an operator on the list; return when its writes are refused. `when` is for people.

    `others` finds the API servers besides `endpoint`; it is asked when the edit is made.
    Errors: InputError for a list that is full or an identity that is protected, UnavailableError
    when the policy does not bite in time: then the operator is on the list, and not stopped.
    """
    client: Client = endpoint.client
    subjects = await subjects_of(client, operator)
    reason = " ".join(reason.split())
    if not reason:
        raise InputError("a quarantine needs a reason: who reads the refusal must know why")
    if len(subjects) > LISTED:
        raise InputError(f"`{operator}` is {len(subjects)} identities; quarantine it by group")
    entries = {key_of(one): f"{one}\n{reason}\n{when}" for one in subjects}
    # WHY nothing is read before the edit: in each round trip the operator goes on.
    listed = await _edit(client, namespace, entries)
    if len(listed) > LISTED:
        await _edit(client, namespace, dict.fromkeys(entries))
        raise InputError(
            f"{len(listed) - len(entries)} identities are quarantined, at most {LISTED} can be; "
            "release some, or quarantine them by group"
        )
    proofs = await _prove(await _all(endpoint, others), subjects, refused=True)
    person = await _myself(client)
    await _edit(client, namespace, {key: f"{entry}, by {person}" for key, entry in entries.items()})
    # What was already past the policy ends; only then are its writes over.
    await asyncio.sleep(IN_FLIGHT_S)
    return Report(
        subjects=subjects,
        proofs=proofs,
        not_covered=NOT_COVERED,
        policy_edits=await _policy_edits(client, subjects[0]),
    )


async def release(
    endpoint: Endpoint, operator: str, *, namespace: str, others: Others | None = None
) -> Report:
    """Take an operator off the list; return when it is no longer refused.

    Errors: InputError when it is not on the list.
    """
    client: Client = endpoint.client
    subjects = await subjects_of(client, operator)
    names = {str(one) for one in subjects}
    listed = await quarantined(client, namespace)
    keys = [key for key, value in listed.items() if _subject_line(value) in names]
    if not keys:
        raise InputError(f"`{operator}` is not quarantined; `suture status` lists who is")
    await _edit(client, namespace, dict.fromkeys(keys))
    proofs = await _prove(await _all(endpoint, others), subjects, refused=False)
    return Report(subjects=subjects, proofs=proofs)


async def prove_list(endpoint: Endpoint, *, namespace: str) -> None:
    """Prove, with an identity that nobody has, that edits of the list reach the policy both ways.

    WHY: an API server whose last policy with a ConfigMap as its parameter was deleted keeps the
    old list for ever when there is such a policy again (seen on 1.36.3): it stops nobody new and
    lets nobody go, until it is restarted. Better known at install than when it is needed.
    Errors: UnavailableError when they do not.
    """
    subject = Subject("user", PROBE_USER)
    entry = {key_of(subject): f"{subject}\nprobe of the installation"}
    await _edit(endpoint.client, namespace, entry)
    try:
        await _prove((endpoint,), (subject,), refused=True)
    finally:
        await _edit(endpoint.client, namespace, dict.fromkeys(entry))
    await _prove((endpoint,), (subject,), refused=False)


async def _all(endpoint: Endpoint, others: Others | None) -> tuple[Endpoint, ...]:
    return (endpoint, *(await others() if others else ()))


async def quarantined(client: Client, namespace: str) -> dict[str, str]:
    """Return the list as it is: entries by key; empty where there is none."""
    try:
        found = await client.get(_list_path(namespace))
    except NotFoundError:
        return {}
    return dict(found.get("data") or {})


def key_of(subject: Subject) -> str:
    """Return the list's key for an identity: readable, and no other's."""
    digest = hashlib.sha256(str(subject).encode()).hexdigest()[:12]
    return f"{_KEY.sub('-', str(subject))[:120]}-{digest}"


# -- steps


async def _profiled(client: Client, name: str) -> tuple[Subject, ...]:
    if not re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", name):
        return ()
    try:
        profile = await client.get(f"{PROFILES_PATH}/{name}")
    except NotFoundError:
        return ()
    spec = profile.get("spec", {})
    if spec.get("default"):
        raise InputError(f"profile `{name}` is everybody without a profile; name an operator")
    return (
        *(Subject("user", user) for user in spec.get("users", ())),
        *(Subject("group", group) for group in spec.get("groups", ())),
    )


def _check(subject: Subject) -> None:
    name = subject.name
    protected = (
        name == API_SERVER
        or name in CONSEQUENCE_CONTROLLERS
        or name.startswith(("system:node:", "system:serviceaccounts:kube-system"))
        or name in {NODES, MASTERS, "system:authenticated", "system:serviceaccounts"}
    )
    if protected:
        raise InputError(
            f"`{subject}` is not quarantined: the cluster itself cannot do without its writes"
        )
    if not name or not name.isprintable():
        raise InputError(f"`{name!r}` is no identity's name")


async def _edit(
    client: Client, namespace: str, data: Mapping[str, str | None]
) -> Mapping[str, str]:
    """Change entries of the list, None removes; return it. One that was deleted is made anew."""
    try:
        found = await client.patch(_list_path(namespace), {"data": data}, type="merge")
    except NotFoundError:
        body = quarantine_list(Installation(namespace=namespace))
        body["data"] = {key: value for key, value in data.items() if value is not None}
        try:
            found = await client.create(f"/api/v1/namespaces/{namespace}/configmaps", body)
        except NotFoundError:
            raise ConflictError(
                f"namespace `{namespace}` does not exist; run `suture install --apply` first"
            ) from None
    listed: Mapping[str, str] = found.get("data") or {}
    return listed


async def _prove(
    endpoints: Sequence[Endpoint], subjects: Sequence[Subject], *, refused: bool
) -> tuple[Proof, ...]:
    """Probe every API server for every identity until the policy says what it should."""
    proofs = []
    for endpoint in endpoints:
        try:
            for subject in subjects:
                await _await_policy(endpoint.client, subject, refused=refused)
        except SutureError as error:
            if endpoint.required:
                raise
            proofs.append(Proof(endpoint.address, holds=False, detail=str(error)))
        else:
            proofs.append(Proof(endpoint.address, holds=True))
    return tuple(proofs)


async def _await_policy(client: Client, subject: Subject, *, refused: bool) -> None:
    in_row = 0
    words = ""
    try:
        async with asyncio.timeout(PROBE_S):
            while in_row < PROBES:
                words = await _probe(client, subject)
                in_row = in_row + 1 if (QUARANTINE in words) == refused else 0
                if not in_row:
                    await asyncio.sleep(PROBE_EVERY_S)
    except TimeoutError:
        raise UnavailableError(_not_proven(subject, words, refused=refused)) from None


def _not_proven(subject: Subject, words: str, *, refused: bool) -> str:
    if refused:
        said = f"{subject} is on the list and NOT STOPPED: a dry run under its identity passes"
        if words:
            said = f"{subject} is on the list and not proven to be stopped: {words}"
    else:
        said = f"{subject} is off the list and still refused: {words}"
    return (
        f"{said}, {PROBE_S:.0f} s after the edit; is the policy there (`suture status`)? if it is, "
        "this API server keeps an old list, as after the policy was deleted and installed again: "
        "restart it"
    )


async def _probe(client: Client, subject: Subject) -> str:
    """Return why a dry-run write under the identity is refused; empty when it passes.

    Where RBAC refuses it first, the same identity is tried with all rights: what counts for the
    policy is the name, and the rights are the person's to lend.
    """
    user, groups = identity_of(subject)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "suture-probe-"}}
    namespace = user.split(":")[2] if user.startswith(SERVICE_ACCOUNT) else "default"
    words = ""
    for more in ((), (MASTERS,)):
        asking = client.impersonating(user, (*groups, *more))
        for place in dict.fromkeys((namespace, "default")):
            try:
                await asking.create(f"/api/v1/namespaces/{place}/configmaps", body, dry_run=True)
            except NotFoundError as error:
                words = str(error)  # the namespace is gone: `default` never is
            except ForbiddenError as error:
                words = str(error)
                if "cannot impersonate" in words or '"impersonate' in words:
                    raise UnavailableError(
                        f"the list is edited; what it does cannot be proven: {words}"
                    ) from error
                break
            else:
                return ""
        if QUARANTINE in words:
            return words
    return words


def identity_of(subject: Subject) -> tuple[str, tuple[str, ...]]:
    """Return a user name and groups that an API server would give this identity."""
    if subject.kind == "group":
        return PROBE_USER, (subject.name, "system:authenticated")
    if subject.name.startswith(SERVICE_ACCOUNT):
        namespace = subject.name.split(":")[2]
        return subject.name, (
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            "system:authenticated",
        )
    return subject.name, ("system:authenticated",)


async def _policy_edits(client: Client, subject: Subject) -> str:
    """Return who refuses the identity an edit of the policy itself; empty: nobody does.

    WHY asked at all: no in-process policy and no webhook is shown edits of the policy kinds.
    """
    user, groups = identity_of(subject)
    path = f"{_ADMISSION}/validatingadmissionpolicies/{QUARANTINE}"
    try:
        await client.impersonating(user, groups).delete(path, dry_run=True)
    except ForbiddenError as error:
        words = str(error)
        if STATIC_SUFFIX in words:
            return "a static manifest of the API server"
        return "Suture's authorizer" if "suture:" in words else "its own lack of rights"
    except SutureError:
        return ""
    return ""


async def _myself(client: Client) -> str:
    """Return the name of the person, for those who read the entry."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = await client.create(_SELF, body)
    except SutureError:
        return "somebody"
    return str(answer.get("status", {}).get("userInfo", {}).get("username", "somebody"))


def _subject_line(value: str) -> str:
    return value.partition("\n")[0].strip()


def _list_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/{QUARANTINE}"
