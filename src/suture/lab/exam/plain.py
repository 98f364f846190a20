"""Plain admission policies, as a baseline: what a careful team writes today, without a model.

Lives in the examination because only it wants such a guard. The policies are data, in `plain/`:
ValidatingAdmissionPolicies that keep listed and labelled kinds from being deleted, scaled to none
or emptied. They are the same on a lab and offline, since both evaluate them.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib import resources

from suture.adapters.kube import KubeClient
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.report import GuardMode
from suture.lab.scenarios.written import Written
from suture.model.documents import read_as
from suture.wire.yaml import read_documents

_GROUP = "/apis/admissionregistration.k8s.io/v1"
_PATHS = {
    "ValidatingAdmissionPolicy": f"{_GROUP}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_GROUP}/validatingadmissionpolicybindings",
}


def text() -> bytes:
    """Return the policies as they are written."""
    return (resources.files("suture.lab.exam") / "plain" / "policies.yaml").read_bytes()


def documents() -> list[Object]:
    """Return the policies, each with a binding that denies."""
    found: list[Object] = []
    for document in read_documents(text(), "plain/policies.yaml"):
        policy = read_as(document, Object)
        name = policy["metadata"]["name"]
        binding = {
            "apiVersion": policy["apiVersion"],
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        }
        found += [policy, binding]
    return found


class PlainPolicies:
    """Applies the policies for the length of a run."""

    mode: GuardMode = "enforce"

    def __init__(self, client: KubeClient) -> None:
        """Take a client of the cluster's administrator."""
        self._client = client

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[PlainPolicies]:
        """Create them, and delete them at the end of the block."""
        made: list[str] = []
        try:
            for document in documents():
                path = _PATHS[document["kind"]]
                await self._client.create(path, document)
                made.append(f"{path}/{document['metadata']['name']}")
            yield self
        finally:
            for path in reversed(made):
                await self._client.delete(path)

    async def enrol(self, voices: Sequence[Voice]) -> None:
        """Know nobody by name."""

    async def would_refuse(self, writes: Sequence[Written]) -> int:
        """Return how many of the writes were refused."""
        return sum(one.outcome == "refused" for one in writes)

    async def bound(self, populations: Mapping[str, int], span_s: float) -> int | None:  # noqa: ARG002 - the protocol's
        """Return nothing: what they name is not lost at all."""
        return 0
