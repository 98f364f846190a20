"""The cluster as a scenario's runner sees it: kinds by any name people use, paths, plain lists.

Lives in the scenarios because only they take `deployments`, `Deployment` and `deployments.apps`
for the same thing and must read whatever kinds a stranger's file brings along. Talks through
`adapters.kube` and knows no scenario.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from suture.adapters.kube import KubeClient, resource_path
from suture.errors import InputError, NotFoundError
from suture.model.documents import did_you_mean
from suture.model.names import Gvk
from suture.wire.discovery import ApiResource, Discovery

Object = dict[str, Any]
T = TypeVar("T")
R = TypeVar("R")

CONNECTIONS = 16
"""LIMIT: writes under way while a world is built: more do not make two cores faster (16 give
240 namespaces or 159 Services a second), and the webhooks in between are one process."""

MORE_LIKELY = ("", "apps", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io")
"""Groups in which a bare name is looked for first."""


class Listed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The metadata of a listed object, as far as a step or a count needs it."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = {}
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] = ()


class _Item(msgspec.Struct):
    metadata: Listed


class _Page(msgspec.Struct):
    items: list[_Item] | None = None


class _RawPage(msgspec.Struct):
    items: list[Object] | None = None


_pages = msgspec.json.Decoder(_Page)
_raw_pages = msgspec.json.Decoder(_RawPage)


class Kinds:
    """Every kind that the cluster serves, found by any of its names."""

    def __init__(self, discovery: Discovery) -> None:
        """Index what was discovered."""
        self.all = discovery.resources
        self._by_kind = {(r.group, r.kind): r for r in self.all}
        self._by_plural = {(r.group, r.plural): r for r in self.all}
        words: dict[str, list[ApiResource]] = {}
        for resource in self.all:
            for word in {resource.plural, resource.kind.lower()}:
                words.setdefault(word, []).append(resource)
        self._by_word = {word: sorted(found, key=_likelihood) for word, found in words.items()}

    def find(self, text: str) -> ApiResource:
        """Return the kind called `services`, `deployments.apps`, `Deployment` or `apps/Deployment`.

        Errors: InputError, with the nearest known name.
        """
        word, _, group = text.partition(".")
        if "/" in text:
            group, _, word = text.rpartition("/")
            group = group.partition("/")[0] if "/" in group else group
        word = word.lower()
        found = [r for r in self._by_word.get(word, ()) if not group or r.group == group]
        if not found:
            known = [str(resource.resource) for resource in self.all]
            raise InputError(f"the cluster serves no `{text}`{did_you_mean(text, known)}")
        return found[0]

    def of(self, body: Mapping[str, Any]) -> ApiResource:
        """Return the kind of an object, at the version that the object names."""
        gvk = Gvk.of(str(body.get("apiVersion", "")), str(body.get("kind", "")))
        found = self._by_kind.get((gvk.group, gvk.kind))
        if found is None:
            raise InputError(
                f"the cluster serves no kind `{gvk.kind}` in `{body.get('apiVersion')}`; "
                "give its CustomResourceDefinition too"
            )
        return msgspec.structs.replace(found, version=gvk.version)

    def get(self, group: str, plural: str) -> ApiResource | None:
        """Return a kind by its exact name, None when the cluster does not serve it."""
        return self._by_plural.get((group, plural))


def _likelihood(resource: ApiResource) -> tuple[int, str]:
    group = resource.group
    at = MORE_LIKELY.index(group) if group in MORE_LIKELY else len(MORE_LIKELY)
    # WHY last: metrics and the older events show the same words for other things.
    return (at if resource.verbs else at + len(MORE_LIKELY), group)


class Cluster:
    """One cluster under an identity with all rights."""

    def __init__(self, client: KubeClient, kinds: Kinds) -> None:
        """Take a client and what was discovered through it."""
        self.client = client
        self.kinds = kinds

    @classmethod
    async def reach(cls, client: KubeClient) -> Cluster:
        """Discover what the cluster serves."""
        return cls(client, Kinds(await client.discover()))

    async def rediscover(self) -> None:
        """Learn of kinds that came since."""
        self.kinds = Kinds(await self.client.discover())


def path_of(
    api: ApiResource, namespace: str = "", name: str | None = None, sub: str | None = None
) -> str:
    """Return the path of a collection, an object or a subresource."""
    space = namespace if api.namespaced else None
    return resource_path(api.group, api.version, api.plural, space, name, sub or None)


async def listed(
    client: KubeClient,
    api: ApiResource,
    namespace: str = "",
    *,
    labels: str | None = None,
    fields: str | None = None,
) -> list[Listed]:
    """Return the metadata of a list, in the API server's order; a kind that went has none."""
    pages = client.list_pages(
        path_of(api, namespace), label_selector=labels, field_selector=fields, metadata_only=True
    )
    try:
        return [item.metadata async for page in pages for item in _pages.decode(page).items or ()]
    except NotFoundError:
        return []


async def whole(
    client: KubeClient, api: ApiResource, namespace: str = "", *, labels: str | None = None
) -> list[Object]:
    """Return the objects of a list, with the kind that items of lists lack."""
    pages = client.list_pages(path_of(api, namespace), label_selector=labels)
    try:
        found = [item async for page in pages for item in _raw_pages.decode(page).items or ()]
    except NotFoundError:
        return []
    for item in found:
        item.setdefault("apiVersion", f"{api.group}/{api.version}" if api.group else api.version)
        item.setdefault("kind", api.kind)
    return found


async def each(
    things: Iterable[T], do: Callable[[T], Awaitable[R]], *, at_once: int = CONNECTIONS
) -> list[R]:
    """Do something for each thing, `at_once` at a time; results in order, first error raised."""
    queue = list(enumerate(things))
    results: dict[int, R] = {}
    queue.reverse()

    async def work() -> None:
        while queue:
            number, one = queue.pop()
            results[number] = await do(one)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(min(at_once, len(queue))):
            tasks.create_task(work())
    return [results[number] for number in sorted(results)]
