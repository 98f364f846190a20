"""All that a replay server holds: a shelf a type, one version over all, and what is to go wrong.

The one lock is here. Everything that streams waits on its type's condition.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from suture.lab.clusters.pages import read_index
from suture.lab.replay.shelf import Change, Made, Shelf
from suture.lab.replay.state import ALL, Break, Fault, OrderError
from suture.model.bounded import oldest
from suture.model.names import Resource

LISTS = 64
"""LIMIT: lists in parts that go on while pods come and go; each holds 8 bytes a new pod. The
oldest is answered with 410, as one is that is read too slowly."""


class Trouble:
    """What goes wrong with one type from now on."""

    def __init__(self) -> None:
        self.cuts = 0
        """How often streams were cut; one that began before the last is to end."""
        self.stalled_until = 0.0
        self.left: Counter[Fault] = Counter()
        """Events that are still to be dropped, repeated, put out of order."""

    def disturbed(self, changes: Sequence[Change]) -> list[Change]:
        """Return what of some changes is sent, and how."""
        found = list(changes)
        if not self.left:
            return found
        reverse = min(self.left.pop(Fault.REORDER, 0), len(found))
        found[:reverse] = found[:reverse][::-1]
        drop = min(self.left[Fault.DROP], len(found))
        found, self.left[Fault.DROP] = found[drop:], self.left[Fault.DROP] - drop
        repeat = min(self.left[Fault.REPEAT], len(found))
        self.left[Fault.REPEAT] -= repeat
        found[:repeat] = [one for one in found[:repeat] for _ in range(2)]
        self.left += Counter()
        return found


class Store:
    """The shelves of a folder of pages."""

    def __init__(self, folder: Path) -> None:
        index = read_index(folder)
        self.folder = folder
        self.lock = threading.RLock()
        self.version = int(index.resource_version)
        self.shelves = {
            one.resource: Shelf(folder, one, self.version, self.lock) for one in index.kinds
        }
        self.troubles = {resource: Trouble() for resource in self.shelves}
        self.news = {resource: threading.Condition(self.lock) for resource in self.shelves}
        self.events: Counter[str] = Counter()
        self._begun: dict[tuple[Resource, int], Sequence[Made]] = {}

    @property
    def objects(self) -> int:
        """How many objects there are."""
        return sum(shelf.count for shelf in self.shelves.values())

    def happen(self, resource: Resource, kind: bytes, at: Callable[[int], bytes]) -> Made:
        """Let a thing happen to an object, written `at` a version; under the lock."""
        self.version += 1
        made = partial(at, self.version)
        self.shelves[resource].note(Change(self.version, kind, made))
        self.events[kind.decode()] += 1
        return made

    def begin(self, resource: Resource) -> tuple[int, Sequence[Made]]:
        """Begin a list: return its version, and what came since the pages were written."""
        with self.lock:
            added = tuple(self.shelves[resource].added.values())
            if added:
                self._begun[resource, self.version] = added
                for one in oldest(self._begun, LISTS):
                    del self._begun[one]
            return self.version, added

    def begun(self, resource: Resource, version: int) -> Sequence[Made] | None:
        """Return the same for a list that goes on; None where it cannot."""
        with self.lock:
            added = self._begun.get((resource, version))
            return () if added is None and version >= self.shelves[resource].oldest else added

    def break_(self, order: Break) -> None:
        """Let something go wrong. Errors: OrderError."""
        if order.resource == ALL:
            chosen = list(self.shelves)
        else:
            chosen = [Resource.parse(order.resource)]
            if chosen[0] not in self.shelves:
                raise OrderError(f"`{order.resource}` is not served; name one like `pods` or none")
        for resource in chosen:
            with self.news[resource]:
                self._break_one(resource, order)
                self.news[resource].notify_all()

    def _break_one(self, resource: Resource, order: Break) -> None:
        trouble, shelf = self.troubles[resource], self.shelves[resource]
        match order.what:
            case Fault.CUT:
                trouble.cuts += 1
            case Fault.GONE:
                # WHY a step on: what was told until now is to be too old, for quiet types too.
                self.version += 1
                shelf.forget(self.version)
                self._begun = {}
            case Fault.STALL:
                trouble.stalled_until = time.monotonic() + order.seconds
            case _:
                trouble.left[order.what] += order.count
