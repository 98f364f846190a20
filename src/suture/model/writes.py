"""What was written lately, by object, owner and actor: enough to tell repetition from work.

Pure and in memory, with one caller, which tells it the time. Bounded: the oldest is forgotten
first. Only writes that were let through are noted. Restart-safe: `encode` gives bytes, and
`decode` puts the past as far back as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, pairwise
from typing import Final, TypeVar

import msgspec

from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.deeds import Deed, Saved, What, WritesError
from suture.model.names import ObjectKey

MINUTE_S: Final = 60
TEN_MINUTES_S: Final = 600
HOUR_S: Final = 3600
DAY_S: Final = 24 * HOUR_S
WEEK_S: Final = 7 * DAY_S
MONTH_S: Final = 31 * DAY_S

TRACKS: Final = 32_768
"""LIMIT: objects whose writes are remembered: nine writes of others each second for an hour; the
busiest operators write some hundred objects over and over. At most 1.4 kB each, 46 MB."""

EVENTS: Final = 32
"""LIMIT: writes remembered of one object: a loop shows after three, of what is made to come and go
after twenty (`maxPods` of churn-growth), and of what goes there and back after fourteen
(`maxFlips`). WHY twice that: who writes a size writes content too, which is two."""

TALLIES: Final = 12_288
"""LIMIT: counters, one a maker, actor and type, or actor and workload that it restarts; 2.1 kB each
where something was counted in every half minute of an hour, 26 MB, most of them a tenth of that."""

BUCKET_S: Final = 30
"""How finely counters tell the time: a window may begin this much too early."""

CLOSED: Final = 32_768
"""LIMIT: nodes remembered that were closed or taken away: twice the largest cluster known."""

FEWER: Final = 8_192
"""LIMIT: parents of which it is remembered that a number of their children was lowered; 0.4 kB
each, 3 MB."""

LEFT_OUT: Final = 8_192
"""LIMIT: parents of which it is remembered that parts were left out; `PARTS` names of 253 bytes at
most, mostly one of ten: 0.4 kB each, 3 MB."""

PARTS: Final = 32
"""LIMIT: parts of one parent that are remembered as left out."""

VACANT: Final = 512
"""LIMIT: Services remembered that a pod's new labels left empty, 0.3 kB each: failovers of as many
databases at once, which is more than any cluster seen has."""

LIFTED: Final = 8_192
"""LIMIT: objects remembered from which a machine took the mark of people that they stay, 0.1 kB
each, 1 MB: people mark what is dear to them, by hand. Past it the first is protected no more."""

_NO_SIZES: Final[Mapping[str, int]] = {}
_STRIDE: Final = 4
_NS: Final = 1_000_000_000

NUMBERS: Final = 512
"""LIMIT: numbers of texts that are remembered, 0.2 kB each: a judgement asks for those of its actor
and of its objects again and again."""
_VERSION: Final = 1


@lru_cache(NUMBERS)
def number(text: str) -> int:
    """Return a number for a text: equal for equal texts, over restarts too; 63 bits."""
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest()) >> 1


def place_of(key: ObjectKey) -> int:
    """Return the number under which an object's writes are kept: by name, whatever its life."""
    return number(f"{key.resource}/{key.namespace}/{key.name}")


class Writes:
    """Recent writes by object, counts by maker and actor, nodes closed, sizes and roles changed."""

    __slots__ = ("_closed", "_fewer", "_left_out", "_lifted", "_tallies", "_tracks", "_vacant")

    def __init__(self) -> None:
        self._tracks: dict[int, array[int]] = {}
        self._tallies: dict[int, array[int]] = {}
        self._closed: dict[str, int] = {}
        self._fewer: dict[str, dict[str, int]] = {}
        self._left_out: dict[str, frozenset[str]] = {}
        self._vacant: dict[str, tuple[int, int, str]] = {}  # when, who, which pod
        self._lifted: dict[str, None] = {}

    # -- one object

    def note(self, key: ObjectKey, deed: Deed, now: Now) -> None:
        """Remember a write. The same again at once is one write, asked for twice."""
        at = place_of(key)
        track = self._tracks.pop(at, None)
        if track is None:
            track = array("q")
        self._tracks[at] = track
        past = _events(track, reverse=True)
        last = next((one for one in past if one[1] == deed.what), None)
        if last is not None and last[3] == deed.value:
            return
        track.extend((now.mono_ns, deed.what, number(deed.identity), deed.value))
        if len(track) > EVENTS * _STRIDE:
            del track[:_STRIDE]
        _bound(self._tracks, TRACKS)

    def knows(self, key: ObjectKey) -> bool:
        """Whether any write of an object is remembered."""
        return place_of(key) in self._tracks

    def times(self, key: ObjectKey, deed: Deed, now: Now, window_s: int) -> tuple[int, int]:
        """Return how often something was done in a window, this time included, and by how many."""
        seen, actors = {deed.value}, {number(deed.identity)}
        for at, done, actor, earlier in _events(self._tracks.get(place_of(key))):
            if done == deed.what and now.mono_ns - at <= window_s * _NS:
                seen.add(earlier)
                actors.add(actor)
        return len(seen), len(actors)

    def flips(self, key: ObjectKey, deed: Deed, now: Now, window_s: int) -> tuple[int, int]:
        """Return how often a value came back in a window, this time included, and by how many.

        A value comes back when the object had it, then another, then it again.
        """
        recent = [
            one
            for one in _events(self._tracks.get(place_of(key)))
            if one[1] == deed.what and now.mono_ns - one[0] <= window_s * _NS
        ]
        recent.append((now.mono_ns, deed.what, number(deed.identity), deed.value))
        seen: set[int] = set()
        back, actors, last = 0, set(), -1
        for _, _, actor, found in recent:
            if found == last:
                continue
            if found in seen:
                back += 1
            actors.add(actor)
            seen.add(found)
            last = found
        return back, len(actors)

    def written(self, key: ObjectKey, what: What, now: Now, window_s: int) -> int:
        """Return how many writes of a kind are remembered in a window."""
        return sum(
            done == what and now.mono_ns - at <= window_s * _NS
            for at, done, _, _ in _events(self._tracks.get(place_of(key)))
        )

    def raised(self, key: ObjectKey, what: What, now: Now, window_s: int) -> int:
        """Return how often a value became a larger one in a window."""
        values = [
            value
            for at, done, _, value in _events(self._tracks.get(place_of(key)))
            if done == what and now.mono_ns - at <= window_s * _NS
        ]
        return sum(after > before for before, after in pairwise(values))

    def last(self, key: ObjectKey, what: What, now: Now, window_s: int) -> int | None:
        """Return the number of who did something last in a window; None: nobody did."""
        for at, done, actor, _ in _events(self._tracks.get(place_of(key)), reverse=True):
            if done == what:
                return actor if now.mono_ns - at <= window_s * _NS else None
        return None

    def least(
        self, key: ObjectKey, what: What, identity: str, now: Now, window_s: int
    ) -> int | None:
        """Return the least value that someone found or left in a window; None: it wrote nothing."""
        who = number(identity)
        return min(
            (
                value
                for at, done, actor, value in _events(self._tracks.get(place_of(key)))
                if done == what and actor == who and now.mono_ns - at <= window_s * _NS
            ),
            default=None,
        )

    def deeds(self, key: ObjectKey, what: What, now: Now, window_s: int) -> list[tuple[float, int]]:
        """Return the writes of a kind in a window, newest last: how many s ago, and the value."""
        return [
            ((now.mono_ns - at) / _NS, value)
            for at, done, _, value in _events(self._tracks.get(place_of(key)))
            if done == what and now.mono_ns - at <= window_s * _NS
        ]

    def latest(self, key: ObjectKey, what: What) -> int | None:
        """Return the value of the last write of a kind that is remembered; None: there is none."""
        for _, done, _, value in _events(self._tracks.get(place_of(key)), reverse=True):
            if done == what:
                return value
        return None

    def changed(self, key: ObjectKey, what: What, now: Now, window_s: int) -> bool:
        """Whether a write in a window made something else of an object than it was before."""
        events = (one for one in _events(self._tracks.get(place_of(key))) if one[1] == what)
        # WHY not the first: it is noted as what was there, and is no news.
        return any(now.mono_ns - one[0] <= window_s * _NS for one in islice(events, 1, None))

    # -- counts

    def count(self, holder: str, now: Now, amount: int = 1) -> None:
        """Count something of a maker, an actor, or whatever else `holder` stands for."""
        at, bucket = number(holder), now.mono_ns // (BUCKET_S * _NS)
        tally = self._tallies.pop(at, None)
        if tally is None:
            tally = array("q")
        self._tallies[at] = tally
        if tally and tally[-2] == bucket:
            tally[-1] += amount
        else:
            tally.extend((bucket, amount))
            oldest = bucket - HOUR_S // BUCKET_S
            while tally[0] < oldest:
                del tally[:2]
        _bound(self._tallies, TALLIES)

    def counted(self, holder: str, now: Now, window_s: int) -> int:
        """Return how much was counted of it in a window."""
        tally = self._tallies.get(number(holder))
        if tally is None:
            return 0
        oldest = (now.mono_ns - window_s * _NS) // (BUCKET_S * _NS)
        return sum(tally[at + 1] for at in range(0, len(tally), 2) if tally[at] >= oldest)

    def take_back(self, holder: str, now: Now) -> None:
        """Take back what was counted of it within the hour: it holds no more."""
        if (counted := self.counted(holder, now, HOUR_S)) > 0:
            self.count(holder, now, -counted)

    # -- nodes

    def note_closed(self, node: str, now: Now) -> None:
        """Remember that a node was closed to new pods, or taken away."""
        self._closed.pop(node, None)
        self._closed[node] = now.mono_ns
        _bound(self._closed, CLOSED)

    def note_opened(self, node: str) -> None:
        """Take back that a node was closed."""
        self._closed.pop(node, None)

    def closed(self, now: Now, window_s: int = TEN_MINUTES_S) -> dict[str, int]:
        """Return the nodes that were closed or taken away in a window, and how many s ago."""
        found: dict[str, int] = {}
        for node in reversed(self._closed):
            ago_ns = now.mono_ns - self._closed[node]
            if ago_ns > window_s * _NS:
                break
            found[node] = ago_ns // _NS
        return found

    # -- sizes

    def note_fewer(self, uid: str, resource: str, wanted: int) -> None:
        """Remember that a parent's number of children of a type was lowered to `wanted`."""
        fewer = self._fewer.pop(uid, {})
        self._fewer[uid] = {**fewer, resource: wanted}
        _bound(self._fewer, FEWER)

    def note_raised(self, uid: str, before: int) -> None:
        """Take back what was lowered to a number that is raised again."""
        fewer = self._fewer.pop(uid, {})
        left = {one: wanted for one, wanted in fewer.items() if wanted != before}
        if left:
            self._fewer[uid] = left

    @property
    def lowered(self) -> bool:
        """Whether any parent's number is remembered to be lowered."""
        return bool(self._fewer)

    def sizes(self, uid: str) -> Mapping[str, int]:
        """Return to how many children a parent's numbers were lowered, by their type or group."""
        return self._fewer.get(uid, _NO_SIZES)

    # -- parts

    def note_left_out(self, uid: str, gone: frozenset[str], back: frozenset[str]) -> None:
        """Remember which parts a parent says no more that it has; `back`: those it has again."""
        names = (self._left_out.pop(uid, frozenset()) - back) | gone
        if names:
            self._left_out[uid] = frozenset(sorted(names)[:PARTS])
            _bound(self._left_out, LEFT_OUT)

    @property
    def any_left_out(self) -> bool:
        """Whether any parent is remembered to have left out a part."""
        return bool(self._left_out)

    def left_out(self, uid: str) -> frozenset[str]:
        """Return the names of the parts that a parent left out; an empty name is all of it."""
        return self._left_out.get(uid, frozenset())

    # -- roles

    def note_vacant(self, service: str, pod: str, identity: str, now: Now) -> None:
        """Remember that a pod was labelled out of a Service of which it was the last; both uids."""
        self._vacant.pop(service, None)
        self._vacant[service] = now.mono_ns, number(identity), pod
        _bound(self._vacant, VACANT)

    def note_filled(self, service: str) -> None:
        """Take back that a Service was left empty: a pod that serves was labelled into it."""
        self._vacant.pop(service, None)

    def vacant(self, identity: str, now: Now, window_s: int) -> list[tuple[str, str, int]]:
        """Return the Services that somebody left so in a window: uid, pod and how many s ago."""
        found: list[tuple[str, str, int]] = []
        who = number(identity) if self._vacant else 0
        for service in reversed(self._vacant):
            at, by, pod = self._vacant[service]
            ago_ns = now.mono_ns - at
            if ago_ns > window_s * _NS:
                break
            if by == who:
                found.append((service, pod, ago_ns // _NS))
        return found

    # -- marks

    def note_lifted(self, uid: str) -> None:
        """Remember that a machine took the mark off by which an object stays."""
        self._lifted.pop(uid, None)
        self._lifted[uid] = None
        _bound(self._lifted, LIFTED)

    def note_unlifted(self, uid: str) -> None:
        """Take back that a machine took it off: a person has said what is to be."""
        self._lifted.pop(uid, None)

    @property
    def any_lifted(self) -> bool:
        """Whether the mark of any object is remembered to be taken off."""
        return bool(self._lifted)

    def is_lifted(self, uid: str) -> bool:
        """Whether a machine took the mark off an object, and no person wrote it since."""
        return uid in self._lifted

    # -- over a restart

    def encode(self, now: Now) -> bytes:
        """Return all of it as bytes that `decode` reads in another process."""
        saved = Saved(
            version=_VERSION,
            mono_ns=now.mono_ns,
            utc_s=now.utc_s,
            tracks={at: track.tobytes() for at, track in self._tracks.items()},
            tallies={at: tally.tobytes() for at, tally in self._tallies.items()},
            closed=self._closed,
            fewer=self._fewer,
            left_out=self._left_out,
            vacant=self._vacant,
            lifted=list(self._lifted),
        )
        return msgspec.msgpack.encode(saved)

    @classmethod
    def decode(cls, raw: bytes, now: Now) -> Writes:
        """Read what `encode` wrote; what happened is as long ago as the wall clock says.

        Errors: WritesError.
        """
        try:
            saved = msgspec.msgpack.decode(raw, type=Saved)
        except msgspec.MsgspecError as error:
            raise WritesError(f"memory of writes cannot be read: {error}") from error
        if saved.version != _VERSION:
            raise WritesError(
                f"memory of writes has version `{saved.version}`, not `{_VERSION}`; start without"
            )
        # WHY not below zero: a wall clock that was set back tells nothing.
        away_ns = max(0, int((now.utc_s - saved.utc_s) * _NS))
        shift = now.mono_ns - away_ns - saved.mono_ns
        writes = cls()
        writes._tracks = {at: _shifted(raw, _STRIDE, shift) for at, raw in saved.tracks.items()}
        buckets = shift // (BUCKET_S * _NS)
        writes._tallies = {at: _shifted(raw, 2, buckets) for at, raw in saved.tallies.items()}
        writes._closed = {node: at + shift for node, at in saved.closed.items()}
        writes._fewer = saved.fewer
        writes._left_out = saved.left_out
        writes._vacant = {
            service: (at + shift, who, pod) for service, (at, who, pod) in saved.vacant.items()
        }
        writes._lifted = dict.fromkeys(saved.lifted)
        return writes


def _shifted(raw: bytes, stride: int, shift: int) -> array[int]:
    if len(raw) % (8 * stride):
        raise WritesError("memory of writes is cut short; start without")
    found = array("q", raw)
    for at in range(0, len(found), stride):
        found[at] += shift
    return found


def _events(
    track: array[int] | None, *, reverse: bool = False
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (when, what, who, value) of a track, the oldest first."""
    if track is None:
        return
    places = range(0, len(track), _STRIDE)
    for at in reversed(places) if reverse else places:
        yield track[at], track[at + 1], track[at + 2], track[at + 3]


K = TypeVar("K")
V = TypeVar("V")


def _bound(kept: dict[K, V], limit: int) -> None:
    """Forget the oldest entries past the limit."""
    for key in oldest(kept, limit):
        del kept[key]
