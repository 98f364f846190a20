"""The identities of a scenario: each with rights to everything and a client of its own.

Lives in the scenarios because only a lab may hand out identities. A service account writes with
its own token, a person through impersonation, of which admission sees nothing but the person.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from suture.adapters.kube import KubeClient
from suture.errors import AlreadyExistsError
from suture.lab.rights import Subject, give_all_rights, service_account, user
from suture.lab.scenarios.cluster import Cluster
from suture.lab.scenarios.format import Actor
from suture.lab.scenarios.reading import account_of
from suture.lab.scenarios.world import World

# LIMIT: the shortest that the API server gives; no scenario lasts an hour.
TOKEN_S = 3600


@dataclass
class Voice:
    """One actor as the API server knows it."""

    name: str
    actor: Actor
    user: str
    groups: tuple[str, ...]
    client: KubeClient | None
    """None for a controller, which acts for itself."""
    stand_in: KubeClient | None = None
    """The same identity by impersonation: for when its token died with its service account."""


@contextlib.asynccontextmanager
async def voices(
    cluster: Cluster, world: World, actors: Mapping[str, Actor]
) -> AsyncIterator[dict[str, Voice]]:
    """Give every actor its identity, rights and client, for the length of a block."""
    async with contextlib.AsyncExitStack() as stack:
        found: dict[str, Voice] = {}
        for name, actor in actors.items():
            voice = await _voice(cluster, world, name, actor)
            if voice.client is not None:
                await stack.enter_async_context(voice.client)
            found[name] = voice
        await _bind(cluster, world, found)
        yield found


async def _voice(cluster: Cluster, world: World, name: str, actor: Actor) -> Voice:
    client = cluster.client
    if actor.controller:
        user = f"system:serviceaccount:kube-system:{actor.controller}"
        return Voice(name, actor, user, (), None)
    if actor.serviceAccount:
        namespace, account = account_of(actor.serviceAccount)
        user = f"system:serviceaccount:{namespace}:{account}"
        groups: tuple[str, ...] = (
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            "system:authenticated",
        )
        token = await _token(cluster, world, namespace, account)
        stand_in = client.impersonating(user, groups)
        return Voice(name, actor, user, groups, client.with_token(token), stand_in)
    given = (actor.groups,) if isinstance(actor.groups, str) else actor.groups
    user = actor.user or name
    groups = tuple(dict.fromkeys((*given, "system:authenticated")))
    return Voice(name, actor, user, groups, client.impersonating(user, groups))


async def _token(cluster: Cluster, world: World, namespace: str, account: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    body = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": account, "labels": world.mark},
    }
    with contextlib.suppress(AlreadyExistsError):
        await cluster.client.create(path, body)
    answer = await cluster.client.create(
        f"{path}/{account}/token",
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_S, "audiences": []},
        },
    )
    return str(answer["status"]["token"])


async def _bind(cluster: Cluster, world: World, found: Mapping[str, Voice]) -> None:
    """Give every actor all rights: what stops it is to be Suture alone."""
    subjects = [_subject(voice) for voice in found.values() if voice.client is not None]
    if not subjects:
        return
    await give_all_rights(
        cluster.client, f"suture-scenario-{world.name}", subjects, labels=world.mark
    )


def _subject(voice: Voice) -> Subject:
    if voice.actor.serviceAccount:
        return service_account(*account_of(voice.actor.serviceAccount))
    return user(voice.user)
