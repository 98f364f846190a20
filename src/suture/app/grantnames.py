"""The names in a grant, held against what a cluster has: one for what is not there lifts nothing.

Apart from the making of grants, which knows neither policies nor profiles.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from suture.app.operators import Client, profiles_of
from suture.app.policyapply import Reader, in_force
from suture.errors import ForbiddenError, InputError
from suture.model.documents import Document, did_you_mean
from suture.model.freezes import POLICY as FREEZE
from suture.model.grants import ANY, Grant
from suture.model.names import Resource
from suture.wire.discovery import Discovery

T = TypeVar("T")


class Cluster(Reader, Client, Protocol):
    """What looking names up needs of an API server."""

    async def discover(self) -> Discovery:
        """Return every kind that is served. Errors: SutureError."""
        ...


async def check_names(client: Cluster, base: Sequence[Document], grant: Grant) -> None:
    """Hold a grant of policies against a cluster whose policies stand on `base`.

    What the person may not read is not held against it. Errors: InputError with every name that
    nothing has, SutureError of the cluster.
    """
    mistakes = [
        *_unknown("policy", grant.policies, await _allowed(_policies(client, base))),
        *_unknown("profile", (grant.operator,), await _allowed(_operators(client, grant))),
    ]
    if grant.scope.resources:
        known = await _allowed(_resources(client))
        mistakes += _unknown("resource", grant.scope.resources, known)
    if mistakes:
        raise InputError(f"{'; '.join(mistakes)}; --force grants it all the same")


def _unknown(word: str, names: Iterable[str], known: set[str] | None) -> Iterator[str]:
    for name in names if known is not None else ():
        if name not in (known or ()):
            yield f"there is no {word} `{name}`{did_you_mean(name, known or ())}"


async def _allowed(asked: Awaitable[T]) -> T | None:
    try:
        return await asked
    except ForbiddenError:
        return None


async def _policies(client: Cluster, base: Sequence[Document]) -> set[str]:
    found, _ = await in_force(client, base)
    constraints = found.policies.constraints
    return {ANY, FREEZE, *(one.name for one in constraints), *(one.template for one in constraints)}


async def _operators(client: Cluster, grant: Grant) -> set[str]:
    profiles = await profiles_of(client)
    names = {name for one in profiles for name in (one.name, *one.users)}
    # WHY: a user needs no profile; a profile's name has no `:` or `@`, and users mostly have one.
    return {*names, grant.operator} if {":", "@"} & set(grant.operator) else names


async def _resources(client: Cluster) -> set[str] | None:
    found = await client.discover()
    if found.stale:
        return None
    return {str(Resource(one.group, one.plural)) for one in found.resources}
