"""What real controllers did during a run, kept so that the run can be played again without them.

Lives in the scenarios beside the runner that takes it and the offline run that plays it. A
recording is the world before the first step, then each write with its outcome, and after each
write the state in which controllers left whatever they touched. What came and went between two
writes is left out: nobody was asked anything then. Secrets' values are never kept.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from suture.errors import InputError
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object, each, whole
from suture.lab.scenarios.quiet import OWN_GROUPS, OWN_SPACE
from suture.lab.scenarios.reading import Loaded
from suture.lab.scenarios.written import Outcome, Written
from suture.wire.discovery import ApiResource

VERSION = 1
SUFFIX = ".recording.zst"

# LIMIT: the largest bundled recording is 60 MB of text; a file that unpacks to more is none.
MOST_BYTES = 512 << 20
LEVEL = 19
"""Slow to write and small to keep: recordings are committed once and read by every test run."""

_NOISE = frozenset(
    {"Event", "Lease", "Endpoints", "ComponentStatus", "ControllerRevision", "IPAddress"}
)

EventType = Literal["ADDED", "MODIFIED", "DELETED"]
_TYPES: dict[str, EventType] = {"ADDED": "ADDED", "DELETED": "DELETED"}


class Header(msgspec.Struct, frozen=True, kw_only=True, tag="header"):
    """Of what this is a recording."""

    version: int = VERSION
    scenario: str
    digest: str
    """Of the scenario's steps and objects: another file has another story."""
    guard: str
    kubernetes: str = ""


class Stood(msgspec.Struct, frozen=True, kw_only=True, tag="stood"):
    """An object that was there before the first step."""

    object: Object


class Wrote(msgspec.Struct, frozen=True, kw_only=True, tag="wrote"):
    """One write of an actor and what came of it."""

    number: int
    step: int
    verb: str
    resource: str
    namespace: str
    name: str
    outcome: Outcome
    at_s: float


class Saw(msgspec.Struct, frozen=True, kw_only=True, tag="saw"):
    """How a controller left an object after that many writes. `own`: it was the write's doing."""

    after: int
    at_s: float
    change: EventType
    object: Object
    own: bool = False


Line = Header | Stood | Wrote | Saw
_line = msgspec.json.Decoder(Line)


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A whole recording."""

    header: Header
    stood: tuple[Object, ...]
    wrote: tuple[Wrote, ...]
    saw: tuple[Saw, ...]


class Recorder:
    """Listens during a run; told of every event by the watch of every kind."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._stood: list[Object] = []
        self._versions: dict[str, int] = {}
        self._events: list[tuple[float, EventType, Object]] = []
        self._began = 0.0

    async def remember(self, cluster: Cluster) -> None:
        """Take down the world as it stands, before the first step."""
        self._began = now_s()
        apis = [api for api in cluster.kinds.all if "list" in api.verbs and api.kind not in _NOISE]

        async def read(api: ApiResource) -> list[Object]:
            return [one for one in await whole(cluster.client, api) if not _is_guard(one)]

        found = await each(apis, read)
        self._stood = [pruned(one) for several in found for one in several]
        self._versions = {one["metadata"]["uid"]: _version(one) for one in self._stood}

    def on_event(self, api: ApiResource, kind: str, thing: dict[str, Any]) -> None:
        """Take down one event."""
        if api.kind in _NOISE or _is_guard(thing):
            return
        thing.setdefault("apiVersion", f"{api.group}/{api.version}" if api.group else api.version)
        thing.setdefault("kind", api.kind)
        self._events.append((now_s(), _TYPES.get(kind, "MODIFIED"), thing))

    def recording(self, header: Header, writes: Iterable[Written]) -> Recording:
        """Return what was heard, each event after the writes that it followed."""
        ordered = sorted(writes, key=lambda one: one.number)
        wrote = tuple(
            Wrote(
                number=one.number,
                step=one.step,
                verb=one.verb,
                resource=one.resource,
                namespace=one.namespace,
                name=one.name,
                outcome=one.outcome,
                at_s=round(one.answered_s - self._began, 3),
            )
            for one in ordered
        )
        return Recording(
            header=header,
            stood=tuple(map(_plain, self._stood)),
            wrote=wrote,
            saw=tuple(self._settled(ordered)),
        )

    def _settled(self, writes: Sequence[Written]) -> Iterator[Saw]:
        """Yield the last state of each object in each span between two writes."""
        # WHY when sent: what a write causes may be seen before its answer is, never before it.
        sent = sorted(one.answered_s - one.took_s for one in writes)
        own_versions = {one.resource_version for one in writes if one.resource_version}
        own_deletes = {uid for one in writes if one.outcome == "done" for uid in one.deleted}
        spans: dict[int, dict[str, Saw]] = {}
        for moment, kind, thing in self._events:
            metadata = thing["metadata"]
            uid = str(metadata.get("uid", ""))
            # WHY: the watch was open before the world was listed; what the list had is old news.
            if _version(thing) <= self._versions.get(uid, -1):
                continue
            after = bisect_right(sent, moment)
            own = metadata.get("resourceVersion") in own_versions
            own = own or (kind == "DELETED" and uid in own_deletes)
            span = spans.setdefault(after, {})
            known = span.get(uid)
            if kind == "DELETED" and known is not None and known.change == "ADDED":
                # It came and went between two writes.
                del span[uid]
                continue
            span[uid] = Saw(
                after=after,
                at_s=round(moment - self._began, 3),
                change="ADDED" if known is not None and known.change == "ADDED" else kind,
                object=_gone(thing) if kind == "DELETED" else _plain(pruned(thing)),
                own=own or (known is not None and known.own),
            )
        for after in sorted(spans):
            yield from spans[after].values()


def header_of(loaded: Loaded, guard: str, kubernetes: str) -> Header:
    """Return the header of a recording of that scenario."""
    return Header(scenario=loaded.name, digest=loaded.digest, guard=guard, kubernetes=kubernetes)


def _version(thing: Object) -> int:
    # WHY as a number: one etcd stands behind every kind of the lab, and counts all writes.
    found = str(thing["metadata"].get("resourceVersion", ""))
    return int(found) if found.isdigit() else 0


def pruned(thing: Object) -> Object:
    """Return an object without what no model reads, and without any secret."""
    metadata = {
        key: value
        for key, value in thing["metadata"].items()
        if key not in ("managedFields", "selfLink")
    }
    found = {**thing, "metadata": metadata}
    if thing.get("kind") == "Secret":
        found["data"] = dict.fromkeys(thing.get("data") or {}, "")
    return found


def _plain(thing: Object) -> Object:
    """Return an object without what whoever plays it makes anew; a quarter of a large recording."""
    metadata = {
        key: value
        for key, value in thing["metadata"].items()
        if key not in ("resourceVersion", "generateName")
    }
    return {**thing, "metadata": metadata}


def _gone(thing: Object) -> Object:
    metadata = thing["metadata"]
    kept = {key: metadata[key] for key in ("name", "namespace", "uid") if key in metadata}
    return {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "metadata": kept}


def _is_guard(thing: Object) -> bool:
    metadata = thing.get("metadata") or {}
    group = str(thing.get("apiVersion", "")).rpartition("/")[0]
    return metadata.get("namespace") == OWN_SPACE or group.endswith(OWN_GROUPS)


def beside(path: Path, guard: str) -> Path:
    """Return where the recording of a scenario file lies."""
    return path.with_name(f"{path.stem}.{guard}{SUFFIX}")


def write(path: Path, recording: Recording) -> int:
    """Write a recording; return its size in bytes."""
    encoder = msgspec.json.Encoder()
    lines: list[Line] = [
        recording.header,
        *(Stood(object=one) for one in recording.stood),
        *recording.wrote,
        *recording.saw,
    ]
    text = b"\n".join(encoder.encode(line) for line in lines)
    content = zstd.compress(text, level=LEVEL)
    path.write_bytes(content)
    return len(content)


def read(path: Path) -> Recording:
    """Read a recording. Errors: InputError for what is none, or of another version."""
    try:
        content = zstd.ZstdDecompressor().decompress(path.read_bytes(), max_length=MOST_BYTES)
        lines = [_line.decode(line) for line in content.splitlines()]
    except (OSError, ValueError, msgspec.MsgspecError, zstd.ZstdError) as error:
        raise InputError(f"`{path}` is not a recording: {error}") from error
    header = lines[0] if lines else None
    if not isinstance(header, Header) or header.version != VERSION:
        raise InputError(f"`{path}` is not a recording of this version; take it again")
    return Recording(
        header=header,
        stood=tuple(line.object for line in lines if isinstance(line, Stood)),
        wrote=tuple(line for line in lines if isinstance(line, Wrote)),
        saw=tuple(line for line in lines if isinstance(line, Saw)),
    )
