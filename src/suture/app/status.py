"""What holds on this cluster, each guarantee with the probe that proves it.

A guarantee that was not tried is a hope: everything here is asked of the real API server, by dry
runs and access reviews that change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, Self

import msgspec

from suture.app.admit import PROBE_NAME, PROBE_USER, PROBE_WORD
from suture.app.enforce import NONE_SERVED
from suture.app.freezes import read_freezes
from suture.app.grants import read_grants
from suture.app.policyapply import Reader, in_force
from suture.errors import ForbiddenError, NotFoundError
from suture.install.freezes import FREEZES_PATH
from suture.install.freezes import KIND as FREEZE
from suture.install.grants import GRANTS_PATH
from suture.install.grants import KIND as GRANT
from suture.install.guards import NAMESPACE_POLICY, REGISTRATION_POLICY
from suture.install.profiles import PROFILES_PATH
from suture.install.reach import REACH_POLICY, SYSTEM_POLICY
from suture.install.registration import NAME as REGISTRATION
from suture.install.settings import QUARANTINE
from suture.model.clock import Now
from suture.model.documents import Document

_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Holds(StrEnum):
    """How a probe came out."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Guarantee(msgspec.Struct, frozen=True, kw_only=True):
    """One promise, whether it holds here, how that was found out, and what to do if it does not."""

    name: str
    holds: Holds
    probe: str
    advice: str = ""


class OperatorLine(msgspec.Struct, frozen=True, kw_only=True):
    """An operator as its profile says."""

    name: str
    stage: str
    when_dead: str
    identities: tuple[str, ...] = ()
    quarantined: str = ""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A grant that still allows something, or a freeze window that is not over.

    `left`: how often the grant may still be used; None: any number of times, and of a window.
    """

    kind: str
    name: str
    who: str
    until_utc_s: float
    reason: str
    left: int | None = None
    from_utc_s: float = 0.0


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of Suture on one cluster."""

    guarantees: tuple[Guarantee, ...]
    operators: tuple[OperatorLine, ...]
    quarantined: Mapping[str, str] = {}
    exceptions: tuple[Standing, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether what every cluster can have is there: registration, answers, guards, policies."""
        needed = {"registration", "answers", "itself", "quarantine", "policies"}
        return all(one.holds is Holds.YES for one in self.guarantees if one.name in needed)


class Client(Protocol):
    """What the probes need of an API server."""

    async def get(self, path: str) -> dict[str, Any]:
        """Read an object. Errors: SutureError."""

    async def get_raw(self, path: str, *, query: dict[str, Any] | None = None) -> bytes:
        """Read a document as it is served. Errors: NotFoundError and other SutureErrors."""
        ...

    async def create(self, path: str, body: dict[str, Any], *, dry_run: bool = False) -> Any:
        """Create an object. Errors: SutureError."""

    def impersonating(self, user: str, groups: Sequence[str] = ()) -> Self:
        """Return the same client as another identity."""

    def hearing(self, on_warning: Any) -> Self:
        """Return the same client, telling of warnings."""


async def status(client: Client, namespace: str, now: Now, base: Sequence[Document]) -> Status:
    """Probe every guarantee; `base` are the policies beside those of the cluster.

    Errors: UnavailableError when the cluster cannot be reached.
    """
    quarantined = await _quarantined(client, namespace)
    guarantees = (
        await _registration(client),
        await _answers(client),
        await _policy(client, "itself", NAMESPACE_POLICY, "changes of Suture's own namespace"),
        await _policy(client, "itself-registration", REGISTRATION_POLICY, "changes of its hooks"),
        await _policy(client, "webhook-safety", REACH_POLICY, "webhooks that would match too much"),
        await _policy(client, "webhook-labels", SYSTEM_POLICY, "webhooks that match kube-system"),
        await _policy(client, "quarantine", QUARANTINE, "writes of the quarantined"),
        await policies_in_force(client, base),
        await _authorizer(client),
        await _controllers(client),
    )
    return Status(
        guarantees=guarantees,
        operators=await _operators(client, quarantined),
        quarantined=quarantined,
        exceptions=(*await _grants(client, now), *await _freezes(client, now)),
    )


async def _registration(client: Client) -> Guarantee:
    probe = f"read ValidatingWebhookConfiguration {REGISTRATION}"
    path = f"{_ADMISSION}/validatingwebhookconfigurations/{REGISTRATION}"
    try:
        hooks = (await client.get(path)).get("webhooks", [])
    except NotFoundError:
        return Guarantee(
            name="registration", holds=Holds.NO, probe=probe,
            advice="run `suture install --apply`",
        )  # fmt: skip
    return Guarantee(name="registration", holds=Holds.YES, probe=f"{probe}: {len(hooks)} lanes")


async def _answers(client: Client) -> Guarantee:
    """Ask for a dry run that Suture answers with a word of its own."""
    heard: list[str] = []
    probe = f"dry-run create of a ConfigMap as {PROBE_USER}"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": PROBE_NAME}}
    asking = client.impersonating(PROBE_USER, ("system:masters",)).hearing(heard.append)
    try:
        await asking.create("/api/v1/namespaces/default/configmaps", body, dry_run=True)
    except ForbiddenError as error:
        return Guarantee(
            name="answers", holds=Holds.UNKNOWN, probe=probe,
            advice=f"impersonation was refused: {error}",
        )  # fmt: skip
    if any(PROBE_WORD in warning for warning in heard):
        return Guarantee(name="answers", holds=Holds.YES, probe=probe)
    return Guarantee(
        name="answers", holds=Holds.NO, probe=probe,
        advice="the API server was not answered: is `suture serve` ready, is its Service reached?",
    )  # fmt: skip


async def _policy(client: Client, name: str, policy: str, what: str) -> Guarantee:
    """Read an in-process policy and its binding, and what the API server says of its types."""
    probe = f"read ValidatingAdmissionPolicy {policy} and its binding ({what})"
    try:
        found = await client.get(f"{_ADMISSION}/validatingadmissionpolicies/{policy}")
        await client.get(f"{_ADMISSION}/validatingadmissionpolicybindings/{policy}")
    except NotFoundError:
        return Guarantee(
            name=name, holds=Holds.NO, probe=probe, advice="run `suture install --apply`"
        )
    warnings = found.get("status", {}).get("typeChecking", {}).get("expressionWarnings", [])
    if warnings:
        return Guarantee(
            name=name, holds=Holds.UNKNOWN, probe=probe,
            advice=f"the API server warns: {warnings[0].get('warning', '')[:160]}",
        )  # fmt: skip
    return Guarantee(name=name, holds=Holds.YES, probe=probe)


async def policies_in_force(client: Reader, base: Sequence[Document]) -> Guarantee:
    """Compile the policies of the cluster as Suture does, beside `base`."""
    probe = "read templates and constraints, and compile them beside the safety pack"
    found, _ = await in_force(client, base)
    if not found.problems:
        return Guarantee(name="policies", holds=Holds.YES, probe=probe)
    at, problem = min(found.problems.items())
    more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
    return Guarantee(
        name="policies", holds=Holds.NO, probe=probe,
        advice=f"{at} is out of force: {problem}{more}; see `suture policies list`",
    )  # fmt: skip


async def _authorizer(client: Client) -> Guarantee:
    """Ask a question that RBAC has no answer to and Suture's authorizer always refuses."""
    probe = f"access review of {PROBE_USER} for the verb {PROBE_NAME}"
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": PROBE_USER,
            "resourceAttributes": {"verb": "deletecollection", "resource": PROBE_NAME,
                                   "namespace": "default"},
        },
    }  # fmt: skip
    answer = await client.create(_ACCESS, body)
    if PROBE_WORD in answer.get("status", {}).get("reason", ""):
        return Guarantee(name="authorizer", holds=Holds.YES, probe=probe)
    return Guarantee(
        name="authorizer", holds=Holds.NO, probe=probe,
        advice=(
            "collections are stopped at their first foreign object instead of before it; "
            "see `suture install --authorizer` (self-managed control planes, from 1.32)"
        ),
    )  # fmt: skip


async def _controllers(client: Client) -> Guarantee:
    """Tell whether controllers have identities of their own."""
    account = "generic-garbage-collector"
    probe = f"read ServiceAccount kube-system/{account}"
    try:
        await client.get(f"/api/v1/namespaces/kube-system/serviceaccounts/{account}")
    except NotFoundError:
        return Guarantee(
            name="controllers", holds=Holds.NO, probe=probe,
            advice="start kube-controller-manager with --use-service-account-credentials",
        )  # fmt: skip
    return Guarantee(name="controllers", holds=Holds.YES, probe=probe)


async def _quarantined(client: Client, namespace: str) -> dict[str, str]:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{QUARANTINE}"
    try:
        data = (await client.get(path)).get("data") or {}
    except NotFoundError:
        return {}
    entries = (value.partition("\n") for value in data.values())
    return {who.strip(): why.strip() for who, _, why in entries}


async def _operators(client: Client, quarantined: Mapping[str, str]) -> tuple[OperatorLine, ...]:
    try:
        items = (await client.get(PROFILES_PATH)).get("items", [])
    except NotFoundError:
        return ()
    lines = []
    for item in items:
        spec = item.get("spec", {})
        users, groups = spec.get("users", []), spec.get("groups", [])
        names = (*(f"user {one}" for one in users), *(f"group {one}" for one in groups))
        lines.append(
            OperatorLine(
                name=item["metadata"]["name"],
                stage=spec.get("stage", "observe"),
                when_dead=spec.get("whenDead", "pass"),
                identities=("everyone else",) if spec.get("default") else names,
                quarantined=next((quarantined[one] for one in names if one in quarantined), ""),
            )
        )
    return tuple(lines)


async def _grants(client: Client, now: Now) -> list[Standing]:
    grants, _ = read_grants(await _listed(client, GRANTS_PATH))
    return [
        Standing(
            kind=GRANT,
            name=one.name,
            who=f"{one.operator}, by {one.approver}",
            until_utc_s=one.expires_utc_s,
            reason=one.reason,
            left=one.uses - one.used if one.uses else None,
        )
        for one in grants
        if one.expires_utc_s > now.utc_s and (not one.uses or one.used < one.uses)
    ]


async def _freezes(client: Client, now: Now) -> list[Standing]:
    windows, _ = read_freezes(await _listed(client, FREEZES_PATH))
    return [
        Standing(
            kind=FREEZE,
            name=one.name,
            who=", ".join((*one.operators, *one.namespaces)) or "every machine",
            from_utc_s=one.from_utc_s,
            until_utc_s=one.until_utc_s,
            reason=one.reason,
        )
        for one in windows
        if one.until_utc_s > now.utc_s
    ]


async def _listed(client: Client, path: str) -> bytes:
    """Return a list as its readers want it: an empty one where the kind is not served."""
    try:
        return msgspec.json.encode(await client.get(path))
    except NotFoundError:
        return NONE_SERVED
