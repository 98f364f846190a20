"""What the cluster's DNS would answer no more: names outside, and zones that others have put there.

Beside `dropped`, which counts entries: each of these is one line or block of many, and without it
a whole part of all names is not found. Told only of a configuration of blocks by zone, and where
nothing new stands in the place of what goes.
Source: the format of CoreDNS' Corefile (`zone… { plugin … }`; zones may have a scheme and a port;
`forward`, formerly `proxy`, asks other servers).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Final

from suture.impact.effects import EntriesDropped
from suture.impact.ground.readers import one_of_each
from suture.impact.ordinary.keepers import is_newcomer
from suture.impact.scene import Scene, victim_of
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.objects import ClusterObject
from suture.model.writes import DAY_S

ROOT: Final = "."
"""The zone of all names: what no other block is for."""

ASKING: Final = frozenset({"forward", "proxy"})
"""Plugins that ask other servers."""

_READ: Final = frozenset({Edge.CONFIG_MAP})

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
    if strange and not _put_beside(scene, after):
        yield from _hosts_left(after, texts, readers, scene.limit)
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


def _hosts_left(
    after: ClusterObject, texts: tuple[str, str], readers: int, limit: int
) -> Iterable[EntriesDropped]:
    """Tell of names that stand in the configuration itself, and in no line of it any more.

    WHY not where others come: then they are of another file, or of the next version of this.
    """
    old, new = hosts_of(texts[0]), hosts_of(texts[1])
    lost = [one for one in old if one not in new]
    if lost and all(one in old for one in new):
        yield EntriesDropped(
            holder=victim_of(after),
            field="data",
            before=len(old),
            dropped=len(lost),
            entries=tuple(lost[:limit]),
            readers=readers,
            critical=True,
        )


def _put_beside(scene: Scene, after: ClusterObject) -> bool:
    """Whether a person made or changed another configuration of the same pods within the day.

    So names are moved to where the distribution does not write.
    """
    view, now = scene.view, scene.now
    row = view.find(after.key)
    if row is None or now is None:
        return False
    pods = one_of_each(view, (use.row for use in view.uses(row, _READ) if use.of_pods))
    beside = {one for pod in pods for one in view.there(pod, Edge.CONFIG_MAP)} - {row}
    return any(scene.changed(one) or _made_by_hand(scene, one, now) for one in beside)


def _made_by_hand(scene: Scene, row: int, now: Now) -> bool:
    creation = scene.view.history.creation(scene.view.uid(row))
    return (
        creation is not None and is_person(creation.identity) and now.ago_s(creation.at_ns) < DAY_S
    )


def hosts_of(text: str) -> dict[str, None]:
    """Return the names that lines of a configuration give an address, in their order.

    Such a line begins with the address, as in a file of hosts.
    """
    found: dict[str, None] = {}
    for raw in text.splitlines():
        words = raw.partition("#")[0].split()
        if len(words) > 1 and _is_address(words[0]):
            found.update(dict.fromkeys(words[1:]))
    return found


def _is_address(word: str) -> bool:
    try:
        ip_address(word)
    except ValueError:
        return False
    return True


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
