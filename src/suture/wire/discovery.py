"""Aggregated discovery: what kinds a cluster serves, read from bytes into values.

Here and not in the client because it is parsing, and because rooms below the rim (who decides
what to watch) speak of `ApiResource` too. Pure.
Source: apidiscovery.k8s.io/v2 APIGroupDiscoveryList (v2beta1 has the same shape).
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from suture.errors import InputError
from suture.model.names import Gvk, Gvr, Resource


class DiscoveryError(InputError):
    """The answer is not an aggregated discovery document."""

    code = "discovery_malformed"


class ApiResource(msgspec.Struct, frozen=True, order=True):
    """One endpoint of the cluster, at the version its group prefers for it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]
    subresources: frozenset[str] = frozenset()
    """Names after the slash only: `status`, `scale`, `eviction`."""

    @property
    def gvr(self) -> Gvr:
        """The endpoint's name."""
        return Gvr(self.group, self.version, self.plural)

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of an object, or without a `name` of all objects, of all namespaces."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        return "/" + "/".join(quote(part, safe=":@") for part in parts)

    @property
    def gvk(self) -> Gvk:
        """The name of what the endpoint serves."""
        return Gvk(self.group, self.version, self.kind)

    @property
    def resource(self) -> Resource:
        """The storage identity behind the endpoint."""
        return Resource(self.group, self.plural)


class StaleGroup(msgspec.Struct, frozen=True, order=True):
    """A group version whose backend did not answer: its kinds may be missing or outdated."""

    group: str
    version: str


class Discovery(msgspec.Struct, frozen=True):
    """All that was discovered, and what could not be."""

    resources: tuple[ApiResource, ...]
    stale: tuple[StaleGroup, ...] = ()


class _Kind(msgspec.Struct):
    kind: str = ""


class _Subresource(msgspec.Struct):
    subresource: str


class _Resource(msgspec.Struct, rename="camel"):
    resource: str
    scope: str
    response_kind: _Kind | None = None
    singular_resource: str = ""
    verbs: list[str] = []
    subresources: list[_Subresource] = []


class _Version(msgspec.Struct):
    version: str
    resources: list[_Resource] = []
    freshness: str = "Current"


class _Metadata(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    versions: list[_Version] = []


class _GroupList(msgspec.Struct):
    kind: str = ""
    items: list[_Group] = []


_decoder = msgspec.json.Decoder(_GroupList)


def decode_discovery(documents: Iterable[bytes]) -> Discovery:
    """Read the answers of `/api` and `/apis` into one sorted `Discovery`.

    A resource that several versions of its group serve is listed once, at the first of them:
    the server orders versions by preference, and each version shows the same stored objects.
    Errors: `DiscoveryError` for anything that is not an APIGroupDiscoveryList.
    """
    found: dict[tuple[str, str], ApiResource] = {}
    stale: set[StaleGroup] = set()
    for document in documents:
        for group in _group_list(document).items:
            name = group.metadata.name
            for version in group.versions:
                if version.freshness != "Current":
                    stale.add(StaleGroup(name, version.version))
                for resource in version.resources:
                    found.setdefault(
                        (name, resource.resource), _resource(name, version.version, resource)
                    )
    return Discovery(
        tuple(found[key] for key in sorted(found)),
        tuple(sorted(stale)),
    )


def _group_list(document: bytes) -> _GroupList:
    try:
        groups = _decoder.decode(document)
    except msgspec.MsgspecError as error:
        raise DiscoveryError(f"discovery document cannot be read: {error}") from error
    if groups.kind != "APIGroupDiscoveryList":
        raise DiscoveryError(
            f"discovery document is a `{groups.kind}`, not an APIGroupDiscoveryList; "
            "aggregated discovery needs Kubernetes 1.27 or newer"
        )
    return groups


def _resource(group: str, version: str, resource: _Resource) -> ApiResource:
    return ApiResource(
        group=group,
        version=version,
        plural=resource.resource,
        # WHY: a stale or virtual endpoint may have no kind of its own; empty, not invented.
        kind=resource.response_kind.kind if resource.response_kind else "",
        namespaced=resource.scope == "Namespaced",
        verbs=frozenset(resource.verbs),
        subresources=frozenset(part.subresource for part in resource.subresources),
    )
