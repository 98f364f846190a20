"""Which second networks pods are attached to: what an annotation of their template names.

Beside `workloadshapes`, which reads what the template's spec names. Pure, and total on odd JSON:
what is no name, or too long for one, names nothing.
Source: Kubernetes Network Custom Resource Definition De-facto Standard, 4.1 (Network Plumbing
Working Group): names by commas, `namespace/name@interface`, or a JSON list of objects with `name`.
LIMIT: of pods that no workload's template stands for it is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from suture.model.edges import Edge, Need
from suture.model.names import ObjectKey, Resource
from suture.wire.projections import UNREADABLE, plain

NETWORKS = Resource("k8s.cni.cncf.io", "network-attachment-definitions")
ATTACHED = "k8s.v1.cni.cncf.io/networks"
_MARK = ATTACHED.encode()

NAMED = 32
"""LIMIT: networks of one pod, which has an interface in each; a node's cards offer fewer."""

NAME = 253
"""LIMIT: characters of the longest name that the API server takes."""


class _Meta(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _Template(msgspec.Struct, gc=False):
    metadata: _Meta | None = None


_decoder = msgspec.json.Decoder(_Template | None)


def network_needs(template: bytes, namespace: str) -> tuple[Need, ...]:
    """Return the networks without which a template's pods would not start, each once."""
    # WHY first: hardly any template has such an annotation.
    if _MARK not in template:
        return ()
    try:
        found = _decoder.decode(template)
    except UNREADABLE:
        return ()
    said = (found.metadata.annotations or {}) if found is not None and found.metadata else {}
    named = dict.fromkeys(_named(said.get(ATTACHED, ""), namespace))
    return tuple(
        Need(Edge.RULE, ObjectKey(NETWORKS, space, name))
        for space, name in named
        if 0 < len(name) <= NAME and 0 < len(space) <= NAME
    )[:NAMED]


def _named(said: str, namespace: str) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of each network that an annotation names."""
    if said.lstrip().startswith("["):
        items = plain(said.encode())
        for item in items if isinstance(items, list) else ():
            name, space = (
                (item.get("name"), item.get("namespace")) if isinstance(item, dict) else ("", "")
            )
            if isinstance(name, str):
                yield space if isinstance(space, str) and space else namespace, name
        return
    for one in said.split(","):
        space, _, name = one.strip().partition("@")[0].rpartition("/")
        yield space or namespace, name
