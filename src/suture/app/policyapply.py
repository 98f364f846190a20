"""A person puts policies on a cluster, or asks which are in force: definitions, then documents.

With the rights of who asks: what serves only reads. Everything is compiled before anything is
written, so that nothing is put there that would not come into force.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from suture.app.apply import apply_documents, await_kind
from suture.app.clusterpolicies import InForce, combine, documents_of, kinds_of, merged
from suture.app.operators import Client, profiles_of, register
from suture.errors import InputError, NotFoundError
from suture.install.manifests import reads_of
from suture.install.policies import (
    TEMPLATES_PATH,
    constraints_path,
    policy_definitions,
)
from suture.model.documents import Document
from suture.policy.compile import compile_policies
from suture.policy.format import TEMPLATE_KIND

Report = Callable[[str], None]


class Reader(Protocol):
    """What reading policies needs of an API server."""

    async def get_raw(self, path: str, *, query: dict[str, Any] | None = None) -> bytes:
        """Read a document as it is served. Errors: NotFoundError and other SutureErrors."""
        ...


class Cluster(Reader, Client, Protocol):
    """What putting policies there needs of an API server."""


async def on_cluster(client: Reader, base: Sequence[Document]) -> tuple[Document, ...]:
    """Return the templates and constraints of a cluster; none where their kinds are not served."""
    templates = await _list(client, TEMPLATE_KIND, TEMPLATES_PATH)
    found = list(templates)
    for kind in kinds_of([*base, *templates]):
        found += await _list(client, kind, constraints_path(kind))
    return tuple(found)


async def in_force(client: Reader, base: Sequence[Document]) -> tuple[InForce, frozenset[str]]:
    """Return what a cluster's policies come to with a base, and which of them are the cluster's."""
    cluster = await on_cluster(client, base)
    return combine(base, cluster), frozenset(document.source for document in cluster)


def definitions_for(
    documents: Sequence[Document], base: Sequence[Document]
) -> tuple[dict[str, Any], ...]:
    """Return the definitions that documents need: of their templates, and of those they bind."""
    kinds = {document.at(("kind",)) for document in documents} | set(kinds_of(documents))
    templates = [
        one
        for one in merged(base, documents)
        if one.at(("kind",)) == TEMPLATE_KIND and one.at(("spec", "constraintKind")) in kinds
    ]
    return policy_definitions(templates)


def checked(documents: Sequence[Document], base: Sequence[Document]) -> None:
    """Compile documents in the place of those of the same name. Errors: PoliciesError, all told."""
    compile_policies(merged(base, documents))


async def apply_policies(
    client: Cluster, documents: Sequence[Document], base: Sequence[Document], report: Report
) -> InForce:
    """Put policies on a cluster and the registration into line; return what is then in force.

    Errors: PoliciesError for what makes no sense (then nothing was written), InputError where
    Suture is not installed, SutureError of the cluster.
    """
    known = merged(base, await on_cluster(client, base))
    checked(documents, known)
    profiles = await profiles_of(client)
    definitions = definitions_for(documents, known)
    await apply_documents(client, definitions, report)
    for definition in definitions:
        await await_kind(client, constraints_path(definition["spec"]["names"]["plural"]), report)
    ordered = sorted(documents, key=lambda one: one.at(("kind",)) != TEMPLATE_KIND)
    await apply_documents(client, [body_of(one) for one in ordered], report)
    found, _ = await in_force(client, base)
    await register(client, profiles, report, reads=reads_of(found.policies.reads))
    return found


def body_of(document: Document) -> dict[str, Any]:
    """Return a document's object. Errors: InputError when it is none."""
    if not isinstance(document.value, dict):
        raise InputError(f"{document.source}: is no object")
    return document.value


async def _list(client: Reader, kind: str, path: str) -> tuple[Document, ...]:
    try:
        return documents_of(await client.get_raw(path), kind)
    except NotFoundError:
        return ()
    except msgspec.MsgspecError as error:
        raise InputError(f"`{path}` cannot be read: {error}") from error
