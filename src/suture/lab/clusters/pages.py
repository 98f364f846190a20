"""A made cluster as an API server lists it: a folder of pages, with the discovery beside them.

Apart from `cluster`, which makes objects and knows no file. One file a kind and page, whole and
as metadata only; one line an object, which JSON allows and which lets a page be cut without
reading it. Whoever serves or looks at a cluster of 8 GB reads these and makes nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from suture.errors import InputError, UnavailableError
from suture.lab.clusters.bodies import LIST_VERSION, api_version
from suture.lab.clusters.cluster import GENERATOR, Cluster
from suture.lab.clusters.discovery import discovery_documents
from suture.model.names import Gvk, Resource

PAGE_ITEMS = 500
"""Objects of a page, as kubectl and Suture ask for."""

INDEX = "cluster.json"
"""The file that says what is there; written last, so that a folder with it is whole."""

POD_BYTES = 16_000
"""Disk for each pod of a cluster with all that comes with it, both forms: 10 GB for L."""

PARTIAL_LIST = b"PartialObjectMetadataList"
_PARTIAL = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":%s}'

Told = Callable[[Resource, int, int], None]
"""Told after each page: the kind, and its objects and bytes so far."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One kind in a folder of pages. `first`: namespace and name of each page's first object."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    count: int
    size_bytes: int
    first: tuple[tuple[str, str], ...]

    @property
    def resource(self) -> Resource:
        """The type."""
        return Resource(self.group, self.plural)

    @property
    def gvk(self) -> Gvk:
        """The type, as its objects name it."""
        return Gvk(self.group, self.version, self.kind)

    @property
    def custom(self) -> bool:
        """Whether a definition serves it; lists of such a kind are written otherwise."""
        return not is_built_in(self.group)

    @property
    def pages(self) -> int:
        """How many pages there are; an empty kind has one."""
        return max(1, len(self.first))

    def items_of(self, page: int) -> int:
        """Return how many objects a page has."""
        return max(0, min(PAGE_ITEMS, self.count - page * PAGE_ITEMS))

    def path(self, page: int, *, partial: bool) -> Path:
        """Return where a page is, seen from the folder."""
        form = "metadata" if partial else "whole"
        return Path(self.group or "core", self.version, self.plural, form, f"{page:05d}.json")


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of pages holds."""

    generator: int
    nodes: int
    pods: int
    seed: int
    resource_version: str
    kinds: tuple[Listed, ...]

    @property
    def objects(self) -> int:
        """How many objects there are in all."""
        return sum(one.count for one in self.kinds)

    @property
    def size_bytes(self) -> int:
        """What all pages weigh, in one form each."""
        return sum(one.size_bytes for one in self.kinds)


class PagesError(InputError):
    """A folder cannot be read as pages of a cluster, or cannot be written."""

    code = "pages_unusable"


class _Meta(msgspec.Struct):
    metadata: msgspec.Raw


class _Names(msgspec.Struct):
    name: str
    namespace: str = ""


_meta_decoder = msgspec.json.Decoder(_Meta)
_names_decoder = msgspec.json.Decoder(_Names)


def is_built_in(group: str) -> bool:
    """Whether the API server itself serves a group; the rest comes from definitions."""
    own_domain = group.endswith(".k8s.io") and not group.endswith(
        ("gateway.networking.k8s.io", "snapshot.storage.k8s.io")
    )
    return "." not in group or own_domain


def token(version: int, page: int, offset: int) -> str:
    """Return what asks for a list's next part; nobody but who gave it reads it."""
    return urlsafe_b64encode(f"{version}:{page}:{offset}".encode()).decode()


def frame(kind: Listed, version: int, more: str, *, partial: bool) -> tuple[bytes, bytes]:
    """Return what stands before and after the items of a page; `more` asks for the next one."""
    meta = {"resourceVersion": str(version), **({"continue": more} if more else {})}
    text = msgspec.json.encode(meta)
    if partial:
        name, group = PARTIAL_LIST, b"meta.k8s.io/v1"
    else:
        name, group = f"{kind.kind}List".encode(), api_version(kind.gvk).encode()
    if kind.custom and not partial:
        # SOURCE: lists of custom resources are maps, and are written with their keys sorted.
        return (
            b'{"apiVersion":"%s","items":[\n' % group,
            b'\n],"kind":"%s","metadata":%s}\n' % (name, text),
        )
    head = b'{"kind":"%s","apiVersion":"%s","metadata":%s,"items":[\n' % (name, group, text)
    return head, b"\n]}\n"


def type_prefix(gvk: Gvk) -> bytes:
    """Return how objects of a type begin outside of lists."""
    return f'{{"kind":"{gvk.kind}","apiVersion":"{api_version(gvk)}",'.encode()


def partial_of(body: bytes) -> bytes:
    """Return an object without anything but its metadata."""
    return _PARTIAL % bytes(_meta_decoder.decode(body).metadata)


def key_of(body: bytes | memoryview) -> tuple[str, str]:
    """Return namespace and name of an object."""
    names = _names_decoder.decode(_meta_decoder.decode(body).metadata)
    return names.namespace, names.name


def read_index(folder: Path) -> Index:
    """Read what a folder holds. Errors: PagesError."""
    try:
        return msgspec.json.decode((folder / INDEX).read_bytes(), type=Index)
    except (OSError, msgspec.DecodeError) as error:
        raise PagesError(
            f"`{folder}` holds no pages of a cluster ({error}); make them with `suture generate`"
        ) from error


def write_pages(
    cluster: Cluster, folder: Path, *, told: Told = lambda _resource, _count, _size: None
) -> Index:
    """Write all pages of a cluster into a new folder, in one step: whole or not at all.

    Errors: PagesError where there is something already or nothing can be written,
    UnavailableError where the disk is too small.
    """
    check_space(folder, cluster.size.pods * POD_BYTES)
    beside = new_folder(folder)
    try:
        index = _write_all(cluster, beside, told)
        beside.rename(folder)
    except OSError as error:
        raise UnavailableError(
            f"writing into `{beside}` failed: {error}; free some disk"
        ) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return index


def new_folder(folder: Path) -> Path:
    """Return a folder beside one that is to be written, which takes its place when it is whole.

    Errors: PagesError where there is something already or nothing can be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PagesError(f"`{folder}` exists already; remove it or name another")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        beside.chmod(0o755)
    except OSError as error:
        raise PagesError(f"`{folder}` cannot be written: {error}; name another") from error
    return beside


def check_space(folder: Path, needed_bytes: int) -> None:
    """See that the disk has room. Errors: UnavailableError."""
    at = folder.absolute()
    while not at.exists():
        at = at.parent
    free_bytes = shutil.disk_usage(at).free
    if free_bytes < needed_bytes:
        raise UnavailableError(
            f"the disk of `{at}` has {free_bytes / 1e6:,.0f} MB left and {needed_bytes / 1e6:,.0f} "
            "MB are needed; free some, name another folder, or take a smaller scale"
        )


def _write_all(cluster: Cluster, folder: Path, told: Told) -> Index:
    kinds = tuple(_write_kind(cluster, resource, folder, told) for resource in cluster.kinds)
    for path, document in discovery_documents(cluster).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(document)
    index = Index(
        generator=GENERATOR,
        nodes=cluster.size.nodes,
        pods=cluster.size.pods,
        seed=cluster.seed,
        resource_version=str(LIST_VERSION),
        kinds=kinds,
    )
    (folder / INDEX).write_bytes(msgspec.json.encode(index))
    return index


def _write_kind(cluster: Cluster, resource: Resource, folder: Path, told: Told) -> Listed:
    gvk = cluster.kinds[resource]
    kind = Listed(
        group=gvk.group, version=gvk.version, kind=gvk.kind, plural=resource.plural,
        namespaced=resource not in cluster.cluster_scoped, count=0, size_bytes=0, first=(),
    )  # fmt: skip
    for partial in (False, True):
        (folder / kind.path(0, partial=partial)).parent.mkdir(parents=True)
    # SOURCE: items of a built-in kind's list carry no type, those of a custom kind's do.
    bare = b"" if kind.custom else type_prefix(gvk)
    first: list[tuple[str, str]] = []
    count = size = 0
    pages = _paged(cluster.documents(resource))
    waiting: list[bytes] | None = next(pages, [])
    while waiting is not None:
        bodies, waiting = waiting, next(pages, None)
        page = len(first)
        more = "" if waiting is None else token(LIST_VERSION, page + 1, 0)
        items = [b"{" + one[len(bare) :] for one in bodies] if bare else bodies
        size += _write_page(folder, kind, page, items, more, partial=False)
        _write_page(folder, kind, page, list(map(partial_of, bodies)), more, partial=True)
        if bodies:
            first.append(key_of(bodies[0]))
            count += len(bodies)
        told(resource, count, size)
    return msgspec.structs.replace(kind, count=count, size_bytes=size, first=tuple(first))


def _write_page(
    folder: Path, kind: Listed, page: int, items: list[bytes], more: str, *, partial: bool
) -> int:
    head, tail = frame(kind, LIST_VERSION, more, partial=partial)
    text = b"".join((head, b",\n".join(items), tail))
    (folder / kind.path(page, partial=partial)).write_bytes(text)
    return len(text)


def _paged(bodies: Iterator[bytes]) -> Iterator[list[bytes]]:
    while page := list(islice(bodies, PAGE_ITEMS)):
        yield page
