"""Definitions a served version of which would know no more what its instances say.

What a schema does not describe the API server drops: whoever reads an instance in that version is
told that it says nothing, and whoever writes it so stores nothing. Only of what stands at the top,
beside `metadata`: which deeper fields a version has changes with every release. What is not served
nobody reads, and what takes any fields keeps them.
Source: apiextensions/v1, pruning of unspecified fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import decoded
from suture.impact.ground.change import Rewritten
from suture.impact.scene import Scene, victim_of
from suture.model.objects import CrdFacts

_OWN: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
"""What every object has, or its controller writes anew."""
_ANYTHING: Final = frozenset({"all that it said"})


class _Root(msgspec.Struct, gc=False):
    properties: dict[str, msgspec.Raw] | None = None
    anything: bool = msgspec.field(default=False, name="x-kubernetes-preserve-unknown-fields")


class _Validation(msgspec.Struct, gc=False):
    root: _Root | None = msgspec.field(default=None, name="openAPIV3Schema")


class _Version(msgspec.Struct, gc=False):
    name: str = ""
    served: bool = False
    schema: _Validation | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    versions: tuple[_Version, ...] = ()
    preserve_unknown_fields: bool | None = None


class _Definition(msgspec.Struct, gc=False):
    spec: _Spec | None = None


_decoder = msgspec.json.Decoder(_Definition)


def parts_unknown(scene: Scene, made: Rewritten) -> Iterator[EntriesDropped]:
    """Yield the versions whose schema loses a part that instances have, as far as it was told."""
    facts = made.after.facts
    if not isinstance(facts, CrdFacts) or not scene.view.count(facts.resource):
        return
    old, new = _described(scene.request.old_body), _described(scene.request.new_body)
    for version, parts in new.items():
        if parts is None or version not in old:
            continue
        had = old[version]
        if had is None:
            # WHY all: what kept whatever came is not told by its schema, and now nothing is kept.
            had = frozenset() if parts else _ANYTHING
        gone = sorted(had - parts)
        if gone:
            yield EntriesDropped(
                holder=victim_of(made.after),
                field=f"the schema of version {version}",
                before=len(had),
                dropped=len(gone),
                entries=tuple(gone),
                readers=0,
                critical=True,
            )


def _described(body: bytes) -> dict[str, frozenset[str] | None]:
    """Return which parts each served version describes; None for one that keeps whatever comes."""
    spec = decoded(_decoder, body, _Definition()).spec
    if spec is None or spec.preserve_unknown_fields:
        return {}
    return {one.name: _parts(one) for one in spec.versions if one.served}


def _parts(version: _Version) -> frozenset[str] | None:
    root = version.schema.root if version.schema is not None else None
    if root is None or root.anything:
        return None
    return frozenset(root.properties or {}) - _OWN
