"""The digest of a change: the same for every attempt at it, another for anything else.

By it a person allows one thing and nothing beside it. Pure. What differs between two attempts at
one change is left out: the review's id, versions, times, who manages which field, and, of what is
made anew, its uid. Of a Secret the names of its entries count and not their values, since the
journal keeps the digest and a short secret could be guessed from it.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from suture.model.difference import UNREADABLE, UNSAID
from suture.model.names import SECRETS, Operation
from suture.model.request import Collection, Request

DIGEST_BYTES = 16
"""LIMIT: 128 bits: nobody finds a second change of the same digest, and it can be read aloud."""

SECRET_PARTS = frozenset({"data", "stringData"})


class _Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a write may wish for in an object's metadata."""

    generate_name: str = ""
    labels: msgspec.Raw = msgspec.Raw()
    annotations: msgspec.Raw = msgspec.Raw()
    finalizers: msgspec.Raw = msgspec.Raw()
    owner_references: msgspec.Raw = msgspec.Raw()


_metadata_decoder = msgspec.json.Decoder(_Metadata)
_entries_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NO_METADATA = _Metadata()


def digest_of(request: Request) -> str:
    """Return the digest of what a request asks for and who asks."""
    made = _metadata(_parts(request.new_body)).generate_name if _creates(request) else ""
    extent = request.extent
    parts: list[str | bytes] = [
        request.user.username,
        request.operation.value,
        str(request.key.resource),
        request.namespace,
        # WHY: a name that the API server makes up is another at each attempt.
        made or request.key.name,
        request.subresource,
        request.object_uid,
        request.options.propagation.value if request.options.propagation else "",
        repr(extent.selector) if isinstance(extent, Collection) else "",
    ]
    if isinstance(extent, Collection) and not extent.fields.everything:
        parts.append(str(extent.fields))
    if request.operation is not Operation.DELETE and request.old_body != request.new_body:
        parts += _written(request)
    bodies = [part if isinstance(part, bytes) else part.encode() for part in parts]
    said = b"".join([piece for body in bodies for piece in (len(body).to_bytes(8), body)])
    return blake2b(said, digest_size=DIGEST_BYTES).hexdigest()


def _creates(request: Request) -> bool:
    return request.operation is Operation.CREATE and not request.subresource


def _written(request: Request) -> list[str | bytes]:
    """Return what would be written: the parts that would differ, as they would be then."""
    secret = request.key.resource == SECRETS
    before, after = _wishes(request.old_body, secret), _wishes(request.new_body, secret)
    found: list[str | bytes] = []
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            found += [name, after.get(name, b"")]
    return found


def _wishes(body: bytes, secret: bool) -> dict[str, bytes]:
    """Return the parts of an object that somebody wishes for."""
    parts = _parts(body)
    found = {
        name: _names_of(raw) if secret and name in SECRET_PARTS else bytes(raw)
        for name, raw in parts.items()
        if name not in UNSAID
    }
    metadata = _metadata(parts)
    for name, raw in (
        ("labels", metadata.labels),
        ("annotations", metadata.annotations),
        ("finalizers", metadata.finalizers),
        ("ownerReferences", metadata.owner_references),
    ):
        if wish := bytes(raw):
            found[f"metadata.{name}"] = wish
    return found


def _parts(body: bytes) -> dict[str, msgspec.Raw]:
    if not body:
        return {}
    try:
        return _entries_decoder.decode(body)
    except UNREADABLE:
        return {}


def _metadata(parts: dict[str, msgspec.Raw]) -> _Metadata:
    raw = parts.get("metadata")
    if raw is None:
        return _NO_METADATA
    try:
        return _metadata_decoder.decode(raw)
    except UNREADABLE:
        return _NO_METADATA


def _names_of(raw: msgspec.Raw) -> bytes:
    try:
        return "\n".join(sorted(_entries_decoder.decode(raw))).encode()
    except UNREADABLE:
        return b""
