"""What the cluster's DNS would answer no more: names outside, and zones that others have put there.

Beside `dropped`, which counts entries: each of these is one line or block of many, and without it
a whole part of all names is not found. Told only of a configuration of blocks by zone, and where
nothing new stands in the place of what goes.
Source: the format of CoreDNS' Corefile (`zone… { plugin … }`; zones may have a scheme and a port;
`forward`, formerly `proxy`, asks other servers).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ordinary.keepers import is_newcomer
from suture.impact.scene import Scene, victim_of
from suture.model.actor import is_person
from suture.model.objects import ClusterObject

ROOT: Final = "."
"""The zone of all names: what no other block is for."""

ASKING: Final = frozenset({"forward", "proxy"})
"""Plugins that ask other servers."""

Zones = Mapping[str, frozenset[str]]
"""The plugins of each zone that is served."""


def answers_left(
    scene: Scene, before: ClusterObject, after: ClusterObject, texts: tuple[str, str], readers: int
) -> Iterable[EntriesDropped]:
    """Tell of the zones of which names would not be found any more.

    `texts` are what is configured, before and after; `readers` how many pods read it.
    """
    old, new = zones_of(texts[0]), zones_of(texts[1])
    lost = [ROOT] if _asks_nobody(old, new) else []
    # WHY no person: who takes a zone out by hand has read it.
    strange = not is_person(scene.actor.user.username) and is_newcomer(before, after)
    if strange and new and not new.keys() - old.keys():
        # WHY by name: what another block answers for from now on is named there.
        lost += [one for one in sorted(old.keys() - new.keys() - {ROOT}) if one not in texts[1]]
    for zone in lost:
        yield EntriesDropped(
            holder=victim_of(after),
            field="data",
            before=1,
            dropped=1,
            entries=(f"names outside (zone {zone})" if zone == ROOT else zone,),
            readers=readers,
            critical=True,
        )


def _asks_nobody(old: Zones, new: Zones) -> bool:
    """Whether other servers are not asked any more, and nothing new is there that may answer."""
    had, has = old.get(ROOT, frozenset()), new.get(ROOT, frozenset())
    return bool(had & ASKING) and not has & ASKING and not has - had and not new.keys() - old.keys()


def zones_of(text: str) -> Zones:
    """Return the zones that a configuration has blocks for; none where it has another format."""
    found: dict[str, frozenset[str]] = {}
    zones: list[str] = []
    depth = 0
    for raw in text.splitlines():
        words = raw.partition("#")[0].split()
        if not words:
            continue
        if depth == 0:
            zones = (
                [_name(one) for one in words if one not in {"{", "}"}] if words[-1] == "{" else []
            )
            found.update({zone: found.get(zone, frozenset()) for zone in zones})
        elif depth == 1 and words[0] != "}":
            for zone in zones:
                found[zone] |= {words[0]}
        depth = max(0, depth + words.count("{") - words.count("}"))
    return found


def _name(zone: str) -> str:
    """Return a zone without its scheme, its port and the comma behind it."""
    name = zone.rstrip(",").rpartition("://")[2].partition(":")[0]
    return name if name == ROOT else name.rstrip(ROOT)
