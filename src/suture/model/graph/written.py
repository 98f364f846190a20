"""The parts of an object as bytes: what rows share, and what pod classes are told apart by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from suture.model.edges import Need, Needs
from suture.model.labels import Labels
from suture.model.objects import NO_LABELS, Facts, OwnerReference

OWNERS: Final = 4096
"""LIMIT: owner lists remembered as bytes, 1 KB each; pods come in the order of their names, so
that siblings, which share theirs, come together."""

FACTS, SMALL = 4096, 1024
"""LIMIT: facts remembered as values, of at most so many bytes each: 3 KB with the values, 12 MB.
17,000 nodes have some hundred different facts, and one decision asks for the same ones again."""

_encoder: Final = msgspec.msgpack.Encoder()
_facts_decoder: Final = msgspec.msgpack.Decoder(Facts)
_traits_decoder: Final = msgspec.msgpack.Decoder(tuple[tuple[str, ...], tuple[str, ...]])
_NO_TRAITS: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def labels_bytes(labels: Mapping[str, str]) -> bytes:
    """Return labels as canonical JSON; nothing for none."""
    if labels is NO_LABELS:
        return b""
    # WHY not `isinstance`: a mapping's is a function of Python, and each new object asks.
    raw = labels.raw if type(labels) is Labels else Labels.of(labels).raw
    return b"" if raw == b"{}" else raw


def needs_bytes(needs: Sequence[Need]) -> bytes:
    """Return needs as bytes that are equal for equal needs of one origin."""
    if isinstance(needs, Needs) and needs.raw:
        return needs.raw
    return _encoder.encode(list(needs)) if needs else b""


@lru_cache(OWNERS)
def owners_bytes(owners: tuple[OwnerReference, ...]) -> bytes:
    """Return owners as bytes that are equal for equal owners only."""
    return _encoder.encode(owners) if owners else b""


def pack_facts(facts: Facts | None) -> bytes:
    """Return facts as bytes; nothing for none."""
    return b"" if facts is None else _encoder.encode(facts)


def unpack_facts(raw: bytes) -> Facts:
    """Return the facts that were packed."""
    found: Facts = _facts_decoder.decode(raw)
    return found


def read_facts(raw: bytes) -> Facts:
    """Return the facts that were packed, which others may hold too."""
    return _known_facts(raw) if len(raw) <= SMALL else unpack_facts(raw)


_known_facts = lru_cache(FACTS)(unpack_facts)


@lru_cache(1024)
def pack_traits(finalizers: tuple[str, ...], managers: tuple[str, ...]) -> bytes:
    """Return finalizers and managers as bytes; nothing for none of either."""
    return _encoder.encode((finalizers, managers)) if finalizers or managers else b""


@lru_cache(1024)
def unpack_traits(raw: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the finalizers and managers that were packed."""
    return _traits_decoder.decode(raw) if raw else _NO_TRAITS
