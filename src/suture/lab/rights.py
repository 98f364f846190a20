"""All rights for somebody on a lab, and the wait until the API server knows of them.

Lives in the lab because nobody else hands them out. The API server decides from copies of its own
of roles and bindings, which follow what is stored: a binding that was answered with 201 is not in
force yet, and for a while on a busy machine.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from suture.adapters.kube import KubeClient
from suture.errors import AlreadyExistsError, UnavailableError

RBAC = "rbac.authorization.k8s.io"
BINDINGS = f"/apis/{RBAC}/v1/clusterrolebindings"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

IN_FORCE_S = 60.0
"""LIMIT: from the answer to a binding until the API server goes by it: milliseconds, and some
seconds while it starts; a busy machine is given a minute."""

Subject = Mapping[str, str]


def service_account(namespace: str, name: str) -> Subject:
    """Return a service account as a binding names it."""
    return {"kind": "ServiceAccount", "namespace": namespace, "name": name}


def user(name: str) -> Subject:
    """Return a user as a binding names it."""
    return {"kind": "User", "apiGroup": RBAC, "name": name}


async def give_all_rights(
    client: KubeClient,
    name: str,
    subjects: Sequence[Subject],
    *,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Bind subjects to `cluster-admin` under a name, in place of whom it bound before.

    Errors: UnavailableError when the API server does not go by it within `IN_FORCE_S`.
    """
    # WHY a witness: whether the others have rights could be answered from the binding before.
    witness = f"witness-{secrets.token_hex(8)}"
    bound = [*(dict(one) for one in subjects), dict(user(witness))]
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": bound,
    }
    try:
        await client.create(BINDINGS, binding)
    except AlreadyExistsError:
        # WHY not deleted and made anew: whoever stays would have no rights in between.
        await client.patch(f"{BINDINGS}/{name}", {"subjects": bound}, type="merge")
    deadline = time.monotonic() + IN_FORCE_S
    while not await _may_do_everything(client, witness):
        if time.monotonic() > deadline:
            raise UnavailableError(
                f"the API server does not go by the binding `{name}` after {IN_FORCE_S:g} s"
            )
        await asyncio.sleep(0.02)


async def _may_do_everything(client: KubeClient, name: str) -> bool:
    everything = {"group": "*", "resource": "*", "verb": "*"}
    review: dict[str, Any] = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": name, "resourceAttributes": everything},
    }
    answer = await client.create(REVIEWS, review)
    return bool(answer["status"]["allowed"])
