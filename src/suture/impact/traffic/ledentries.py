"""Entries of a ConfigMap that lead to Services, each under a port or name of its own.

Beside routes, which are objects: who balances TCP or UDP is told in one list for everybody which
port leads where, so that a team that writes the list as it knows it takes the others' entries out.
Source: ingress-nginx, `tcp-services` and `udp-services` (`PORT: NAMESPACE/SERVICE:PORT`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.scene import Scene, victim_of
from suture.model.names import SERVICES, ObjectKey
from suture.model.objects import ClusterObject

_LEADS: Final = re.compile(r"([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9-]{0,62}):[a-z0-9-]+(:.*)?")

_LED: Final = re.compile(rb'"[a-z0-9][a-z0-9-]{0,62}/[a-z0-9][a-z0-9-]{0,62}:[a-z0-9-]')

FEW: Final = 3
"""From how many entries on, of Services in two namespaces or more, they are somebody else's too."""


def may_lead(data: bytes) -> bool:
    """Whether a value may lead to a Service. WHY the bytes: hardly any does, and none is read."""
    return _LED.search(data) is not None


def led_left(
    scene: Scene, after: ClusterObject, had: Mapping[str, object], has: Mapping[str, object]
) -> Iterator[EntriesDropped]:
    """Tell of entries that led to Services which serve, and lead there no more.

    `had` and `has` are the entries before and after, by key.
    """
    leading = {
        key: service
        for key, value in had.items()
        if (service := _service(value)) is not None and _serves(scene, service)
    }
    left = {service for value in has.values() if (service := _service(value)) is not None}
    gone = [key for key, service in leading.items() if service not in left]
    if len(gone) < FEW or len({leading[key].namespace for key in gone}) == 1:
        return
    yield EntriesDropped(
        holder=victim_of(after),
        field="data",
        before=len(leading),
        dropped=len(gone),
        entries=tuple(f"{key} to {leading[key].namespace}/{leading[key].name}" for key in gone)[
            : scene.limit
        ],
        readers=0,
        critical=True,
    )


def _service(value: object) -> ObjectKey | None:
    found = _LEADS.fullmatch(value) if isinstance(value, str) else None
    return ObjectKey(SERVICES, found[1], found[2]) if found is not None else None


def _serves(scene: Scene, service: ObjectKey) -> bool:
    row = scene.view.find(service)
    return row is not None and scene.stays(row) and scene.view.serving_count(row) > 0
