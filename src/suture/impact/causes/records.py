"""What a release or an application says that it keeps no more, before it takes that away.

Beside `leftout`, which reads parts out of custom resources: here the keeper names its objects
itself. What it takes away in one go depends on one another, and goes in an order of its own: a
Secret before the Deployment that mounts it. Pure; what is remembered is a count for each object,
never what a record holds. What stays although it is no longer kept (`helm.sh/resource-policy`) is
not told apart.
Source: Helm, `action/upgrade`: the record of a revision is written, pending, before anything
changes; what its manifest names no more is deleted last, in the order of installation. Helm,
storage driver `secrets`: `data.release` is base64 of base64 of gzip of JSON. Argo CD,
`status.resources`: what the next synchronization prunes says `requiresPruning`, what it changes or
makes says `OutOfSync`; it prunes first.
"""

from __future__ import annotations

import binascii
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from suture.impact.causes.counters import dropped, followed, to_change
from suture.impact.ground.bodies import decoded
from suture.model.clock import Now
from suture.model.difference import UNREADABLE
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.habits import release_of
from suture.model.names import ObjectKey
from suture.model.request import Request
from suture.model.writes import HOUR_S

MANIFEST_BYTES: Final = 16 * 1024 * 1024
"""LIMIT: a record that is longer when it is unpacked is not read."""

KEPT_NOTED: Final = 1_024
"""LIMIT: objects of one release or application that are looked at, 1 us each; with more, none."""

_AHEAD: Final = ("pending-upgrade", "pending-rollback")
_PRUNED: Final = b'"requiresPruning":true'
_DIFFERS: Final = "OutOfSync"
_GZIP: Final = 16 + zlib.MAX_WBITS
_HASHED: Final = re.compile(r"(.+)-([0-9a-z]{5,64})")
"""SOURCE: kustomize, `api/hasher`: ten letters and digits; others take another part of a digest."""


class Named(NamedTuple):
    """An object as a manifest names it; an empty namespace is that of the release, or none."""

    group: str
    kind: str
    namespace: str
    name: str


def remember_release(request: Request, view: GraphView, now: Now) -> None:
    """Remember which objects a release leaves out by a new record, and take back what it names.

    Nothing unless the record is of a change that comes.
    """
    made = request.new
    release = release_of(made) if made is not None else None
    if made is None or release is None or made.labels.get("status") not in _AHEAD:
        return
    named = _manifest(request.new_body)
    if named:
        _remember(view, release, named, now, these=False)


def remember_pruned(request: Request, view: GraphView, now: Now) -> None:
    """Remember what an application says that its next synchronization prunes, as above.

    And which of that has a next one among what it keeps, and what it is about to change.
    """
    # WHY the old one too: what it said and says no more is taken back.
    if _PRUNED not in request.new_body and _PRUNED not in request.old_body:
        return
    pruned, kept, differing = _said(request.new_body)
    _remember(view, request.key, pruned, now, these=True)
    _remember(view, request.key, _followed(pruned, kept), now, these=True, counter=followed)
    _remember(view, request.key, differing, now, these=True, counter=to_change)


def follows(new: str, old: str) -> bool:
    """Whether a name is the next that a generator makes of the same: one stem, another hash.

    WHY a digit and one length: of words, as `blue` and `gray`, neither comes after the other. A
    digit in one of the two: a hash of ten has none once in three hundred times.
    """
    one, two = _HASHED.fullmatch(new), _HASHED.fullmatch(old)
    if one is None or two is None or one[1] != two[1]:
        return False
    mine, its = one[2], two[2]
    return mine != its and len(mine) == len(its) and not (mine.isalpha() and its.isalpha())


def is_generated(name: str) -> bool:
    """Whether a name may end with a hash of what it names."""
    return _HASHED.fullmatch(name) is not None


def _followed(pruned: Iterable[Named], kept: Iterable[Named]) -> frozenset[Named]:
    """Return what goes while the next of it, by kind, place and stem, stays or is made."""
    beside: dict[tuple[str, str, str, str], list[str]] = {}
    for one in kept:
        if (fits := _HASHED.fullmatch(one.name)) is not None:
            beside.setdefault((one.group, one.kind, one.namespace, fits[1]), []).append(one.name)
    return frozenset(
        one
        for one in pruned
        if (fits := _HASHED.fullmatch(one.name)) is not None
        and any(
            follows(name, one.name)
            for name in beside.get((one.group, one.kind, one.namespace, fits[1]), ())
        )
    )


def _remember(
    view: GraphView,
    keeper: ObjectKey,
    said: frozenset[Named],
    now: Now,
    *,
    these: bool,
    counter: Callable[[str], str] = dropped,
) -> None:
    """Remember what a keeper leaves out: what it said of, or (not `these`) all that it did not."""
    writes = view.history.writes
    kept = view.named_by(keeper, Edge.MANAGED_BY)
    if len(kept) > KEPT_NOTED:
        return
    told = frozenset(_keys(view, said, keeper.namespace))
    for row in kept:
        holder = counter(view.uid(row))
        before = writes.counted(holder, now, HOUR_S)
        left_out = (view.key(row) in told) is these
        if left_out is not bool(before):
            writes.count(holder, now, 1 if left_out else -before)


def _keys(view: GraphView, said: Iterable[Named], home: str) -> Iterable[ObjectKey]:
    for one in said:
        resource = view.kind(one.group, one.kind)
        if resource is not None:
            yield ObjectKey(resource, one.namespace, one.name)
            # WHY both: whether a kind has namespaces, a manifest does not say.
            if not one.namespace:
                yield ObjectKey(resource, home, one.name)


# ---------------------------------------------------------------- what Argo CD writes


class _Resource(msgspec.Struct, rename="camel", gc=False):
    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    status: str = ""
    requires_pruning: bool | None = None


class _Status(msgspec.Struct, gc=False):
    resources: tuple[_Resource, ...] | None = None


class _Application(msgspec.Struct, gc=False):
    status: _Status | None = None


_application_decoder = msgspec.json.Decoder(_Application)


def _said(body: bytes) -> tuple[frozenset[Named], frozenset[Named], frozenset[Named]]:
    """Return what an application says that it prunes next, that it keeps, and changes or makes."""
    status = decoded(_application_decoder, body, _Application()).status
    found = (status.resources if status is not None else None) or ()
    kept = [one for one in found if not one.requires_pruning]
    return (
        frozenset(_name_of(one) for one in found if one.requires_pruning),
        frozenset(map(_name_of, kept)),
        frozenset(_name_of(one) for one in kept if one.status == _DIFFERS),
    )


def _name_of(one: _Resource) -> Named:
    return Named(one.group, one.kind, one.namespace, one.name)


# ---------------------------------------------------------------- what Helm writes


class _Data(msgspec.Struct, gc=False):
    release: str = ""


class _Secret(msgspec.Struct, gc=False):
    data: _Data | None = None


class _Release(msgspec.Struct, gc=False):
    manifest: str = ""


_secret_decoder = msgspec.json.Decoder(_Secret)
_release_decoder = msgspec.json.Decoder(_Release)

_CONTENT: Final = re.compile(r"^[^\s#]", re.MULTILINE)
_METADATA: Final = re.compile(
    r"^[\"']?metadata[\"']?:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n|[ \t]*\n|#.*\n)+)", re.MULTILINE
)
_FIRST: Final = re.compile(r"^([ \t]+)[^\s#]", re.MULTILINE)
_WORD: Final = re.compile(r"[ \t]*([\"']?)([A-Za-z0-9][^\s\"'#]*)\1[ \t]*(?:#.*)?")


def _manifest(body: bytes) -> frozenset[Named]:
    """Return what the record of a release names; nothing where it cannot be read whole."""
    try:
        data = _secret_decoder.decode(body).data
        packed = b64decode(b64decode(data.release if data is not None else ""))
        unpacking = zlib.decompressobj(_GZIP)
        raw = unpacking.decompress(packed, MANIFEST_BYTES)
        if not unpacking.eof:
            return frozenset()
        return objects_of(_release_decoder.decode(raw).manifest)
    except (*UNREADABLE, binascii.Error, zlib.error):
        return frozenset()


def objects_of(manifest: str) -> frozenset[Named]:
    """Return the objects that a rendered manifest names; nothing where one of them is not told.

    WHY no YAML reader: four lines of each document are asked for, of up to megabytes, in the path
    of a write. A document begins a line with nothing but its own keys, whatever texts it holds.
    """
    found: set[Named] = set()
    # WHY the first line of each: it is what stands behind the three dashes.
    for part in f"\n---\n{manifest}".split("\n---"):
        document = part.partition("\n")[2] + "\n"
        if not _CONTENT.search(document):
            continue
        one = _named(document)
        if one is None:
            return frozenset()
        found.add(one)
    return frozenset(found)


def _named(document: str) -> Named | None:
    metadata = _METADATA.search(document)
    first = _FIRST.search(metadata[1]) if metadata is not None else None
    if metadata is None or first is None:
        return None
    version, kind = (_word(key, "", document) for key in ("apiVersion", "kind"))
    name, namespace = (_word(key, first[1], metadata[1]) for key in ("name", "namespace"))
    if not (version and kind and name) or namespace is None:
        return None
    return Named(version.rpartition("/")[0], kind, namespace, name)


def _word(key: str, indent: str, block: str) -> str | None:
    """Return the one word that a key of a block says; empty without the key, None for another."""
    line = re.search(rf"^{indent}[\"']?{key}[\"']?[ \t]*:(.*)$", block, re.MULTILINE)
    if line is None:
        return ""
    found = _WORD.fullmatch(line[1])
    return found[2] if found is not None else None
