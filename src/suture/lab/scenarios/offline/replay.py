"""What real controllers did, played again over an offline run until the run is another.

Lives apart from the controllers because it takes their place: the run's world is that of the
recording, uid by uid, and after each write everything is put as controllers left it. The first
write that comes out otherwise, or event that fits nothing, ends it; from there on predictions
alone apply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.base import kinds_of
from suture.lab.scenarios.offline.controllers.owners import api_of
from suture.lab.scenarios.offline.store import BEGAN, Store
from suture.lab.scenarios.recording import Recording, Saw, Wrote
from suture.lab.scenarios.written import Written
from suture.model.clock import Now
from suture.model.names import CRDS, Gvk
from suture.wire.discovery import ApiResource


class Replay:
    """One recording over one run."""

    def __init__(self, recording: Recording, store: Store, diverged: Callable[[], None]) -> None:
        """Take what was recorded, and whom to tell when it holds no more."""
        self._store = store
        self._stood = recording.stood
        self._wrote = {one.number: one for one in recording.wrote}
        self._saw = deque(recording.saw)
        self._diverged = diverged
        self._heard: set[int] = set()
        self._followed = 0
        self.ended = ""
        """Why it holds no more; empty while it does."""

    def furnish(self) -> None:
        """Put the recorded world into the store, and say which uids will come."""
        self._store.began = _after(self._stood)
        kinds = kinds_of()
        for api in kinds.values():
            self._store.serve(api)
        first = [one for one in self._stood if one["kind"] == "CustomResourceDefinition"]
        for definition in first:
            thing = self._store.put(self._store.apis[CRDS], definition)
            api = api_of(thing)
            self._store.serve(api)
            kinds[api.group, api.kind] = api
        for one in self._stood:
            known = kinds.get(_kind_of(one))
            if known is not None and one["kind"] != "CustomResourceDefinition":
                self._store.put(known, one)
        for event in self._saw:
            known = kinds.get(_kind_of(event.object))
            if event.change == "ADDED" and known is not None:
                metadata = event.object["metadata"]
                place = (known.resource, metadata.get("namespace", ""), metadata["name"])
                self._store.foretold.setdefault(place, deque()).append(metadata["uid"])

    def begin(self) -> None:
        """Apply what came before the first write."""
        self._apply()

    def wrote(self, one: Written) -> None:
        """Compare a write with the recorded one, and apply what followed it."""
        if self.ended:
            return
        known = self._wrote.get(one.number)
        if known is None or not _same(known, one):
            self._end(f"write {one.number} came out otherwise")
            return
        self._heard.add(one.number)
        while self._followed + 1 in self._heard:
            self._followed += 1
        self._apply()

    def _apply(self) -> None:
        while self._saw and self._saw[0].after <= self._followed and not self.ended:
            event = self._saw.popleft()
            if not self._put(event):
                kind, metadata = event.object["kind"], event.object["metadata"]
                self._end(f"{kind} {metadata.get('name')} was {event.change.lower()}, and is not")

    def _put(self, event: Saw) -> bool:
        """Put an object as it was left; False where it fits nothing here."""
        uid = str(event.object["metadata"]["uid"])
        thing = self._store.life(uid)
        if event.change == "DELETED":
            if thing is not None:
                self._store.remove(thing)
            # WHY: what a write itself took is gone already.
            return thing is not None or event.own
        api = self._api(event.object)
        if api is None or (event.change == "MODIFIED" and thing is None):
            return False
        stored = self._store.put(api, event.object)
        if stored.key.resource == CRDS and not stored.seen.terminating:
            self._store.serve(api_of(stored))
        return True

    def _api(self, thing: Object) -> ApiResource | None:
        group, kind = _kind_of(thing)
        resource = self._store.graph.kinds.get((group, kind))
        return None if resource is None else self._store.apis.get(resource)

    def _end(self, why: str) -> None:
        self.ended = f"{why}; followed until write {self._followed}"
        self._store.foretold.clear()
        self._diverged()


def _kind_of(thing: Object) -> tuple[str, str]:
    gvk = Gvk.of(str(thing.get("apiVersion", "")), str(thing.get("kind", "")))
    return gvk.group, gvk.kind


def _same(known: Wrote, one: Written) -> bool:
    """Whether two writes are one, and came out alike."""
    return (known.verb, known.resource, known.namespace, known.name, known.outcome) == (
        one.verb,
        one.resource,
        one.namespace,
        one.name,
        one.outcome,
    )


def _after(stood: Iterable[Object]) -> Now:
    """Return a moment after everything that stood was made.

    WHY: what is older is told by creation times, and the run's own objects must be the youngest.
    """
    stamps = (one["metadata"].get("creationTimestamp") for one in stood)
    last = max((stamp for stamp in stamps if stamp), default="")
    if not last:
        return BEGAN
    moment = datetime.strptime(last, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return Now(BEGAN.mono_ns, moment.timestamp() + 1)
