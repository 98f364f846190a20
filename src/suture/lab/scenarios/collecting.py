"""When the garbage collector of a real control plane knows the kinds that a world has just defined.

Lives apart from `ready`: objects are up long before. The collector looks for new kinds each 30
seconds; until it follows a kind, what an object of that kind owns outlives it, and a story of a few
seconds would end before its harm is done. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from suture.lab.scenarios.cluster import Object

FOLLOWED_S = 33.0
"""How long after a definition the collector follows its kind.

SOURCE: kube-controller-manager, garbageCollector.Sync each 30 s; and what the new watch needs, on
a busy machine.
"""


def unfollowed_s(made: Iterable[Object], written: Iterable[Any], now_utc_s: float) -> float:
    """Return how long the collector may not know yet who owns what in a world.

    `made` are the live objects of the world, `written` what its steps will write. 0 where nothing
    is owned by an object of a kind that the world defined.
    """
    things = list(made)
    defined = {
        (one["spec"]["group"], one["spec"]["names"]["kind"]): created_s(one)
        for one in things
        if one["kind"] == "CustomResourceDefinition"
    }
    owning = {owner for one in (*things, *written) for owner in _owners(one)}
    latest_s = max((since for kind, since in defined.items() if kind in owning), default=0.0)
    return max(0.0, latest_s + FOLLOWED_S - now_utc_s)


def created_s(thing: Object) -> float:
    """Return when an object was created, in whole seconds since the epoch."""
    stamp = str(thing["metadata"]["creationTimestamp"])
    return datetime.fromisoformat(stamp).timestamp()


def _owners(value: Any) -> Iterator[tuple[str, str]]:
    """Return group and kind of each owner that is named anywhere in a document."""
    if isinstance(value, Mapping):
        for owner in value.get("ownerReferences") or ():
            yield str(owner.get("apiVersion", "")).rpartition("/")[0], str(owner.get("kind", ""))
        for one in value.values():
            yield from _owners(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _owners(one)
