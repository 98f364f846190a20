"""Pages and watch lines are read as what they say, in one pass or line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.kubejson import POD, SERVICE, dumps, meta
from suture.model import names
from suture.model.names import Gvk
from suture.model.objects import PodFacts
from suture.wire.pages import Bookmark, Decoders, Event, EventType, Failure, Seen, WatchError
from suture.wire.trim import Trimmer

GONE = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "too old resource version: 3 (9)",
    "reason": "Expired",
    "code": 410,
}


def pods(trimmer: Trimmer | None = None) -> Decoders:
    """Return the decoders of pods."""
    return Decoders((trimmer or Trimmer()).reader(names.PODS, Gvk("", "v1", "Pod")))


def line(kind: str, thing: object) -> bytes:
    """Return one watch line."""
    return dumps({"type": kind, "object": thing}) + b"\n"


def bookmark(version: str, **more: Any) -> dict[str, Any]:
    """Return what comes with a bookmark: the kind, empty but for a version."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": version, "creationTimestamp": None, **more},
        "spec": {"containers": None},
        "status": {},
    }


def test_a_page() -> None:
    """Items of a list carry no kind; the token tells whether more follows."""
    item = {key: value for key, value in POD.items() if key not in {"kind", "apiVersion"}}
    listing: dict[str, Any] = {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "99", "continue": "abc", "remainingItemCount": 7},
        "items": [item, item],
    }
    page = pods().page(dumps(listing))
    assert [thing.facts for thing in page.objects] == [PodFacts(ready=True, node="node-1")] * 2
    assert page.resource_version == "99"
    assert not page.last
    listing["metadata"] = {"resourceVersion": "99"}
    listing["items"] = None
    page = pods().page(dumps(listing))
    assert page.last
    assert page.objects == []


def test_one_odd_item_costs_only_itself() -> None:
    """A page with an item that cannot be kept still lists the others."""
    trimmer = Trimmer()
    listing = {"metadata": {"resourceVersion": "9"}, "items": [POD, 7, {"metadata": {"name": "x"}}]}
    page = pods(trimmer).page(dumps(listing))
    assert [thing.key.name for thing in page.objects] == ["web-7c9-abcde"]
    assert trimmer.odd["pods", "unnamed"] == 2


def test_lines() -> None:
    """Additions, changes, deletions and bookmarks, in the order in which they came."""
    block = (
        line("ADDED", POD)
        + line("MODIFIED", POD)
        + line("BOOKMARK", bookmark("100"))
        + line("DELETED", POD)
        + line("BOOKMARK", bookmark("101", annotations={"k8s.io/initial-events-end": "true"}))
    )
    events = pods().events(block)
    assert [event.type if isinstance(event, Seen) else event for event in events] == [
        EventType.ADDED,
        EventType.MODIFIED,
        Bookmark("100"),
        EventType.DELETED,
        Bookmark("101", initial=True),
    ]


def test_an_error_line_ends_the_block() -> None:
    """Its Status fits no projection, so that the block is read line by line; what precedes it counts."""
    events = pods().events(line("ADDED", POD) + line("ERROR", GONE))
    assert isinstance(events[0], Seen)
    assert events[1] == Failure(410, "Expired", "too old resource version: 3 (9)")
    # A kind without facts has a projection that a Status fits.
    secrets = Decoders(Trimmer().reader(names.SECRETS, Gvk("", "v1", "Secret")))
    assert secrets.events(line("ERROR", GONE)) == [
        Failure(410, "Expired", "too old resource version: 3 (9)")
    ]


def test_an_odd_object_in_a_line_keeps_its_neighbours() -> None:
    """One pod of odd shape in a block is read as far as it goes, the others whole."""
    odd = {**POD, "status": {"conditions": "fine"}}
    events = pods().events(
        line("ADDED", odd) + line("BOOKMARK", bookmark("5")) + line("ADDED", POD)
    )
    facts = [event.thing.facts for event in events if isinstance(event, Seen)]
    assert facts == [None, PodFacts(ready=True, node="node-1")]
    assert events[1] == Bookmark("5")


def test_an_object_whose_bytes_are_no_text_keeps_its_neighbours() -> None:
    """What stands raw until it is asked for may be no text: then that object alone is left out."""
    odd = {**POD, "metadata": {**POD["metadata"], "name": "odd", "labels": {"app": "SPOILT"}}}
    trimmer = Trimmer()
    block = (line("ADDED", odd) + line("ADDED", POD)).replace(b"SPOILT", b"\xff")
    events = pods(trimmer).events(block)
    assert [event.thing.key.name for event in events if isinstance(event, Seen)] == [
        "web-7c9-abcde"
    ]
    listing = dumps({"metadata": {"resourceVersion": "9"}, "items": [odd, POD]})
    page = pods(trimmer).page(listing.replace(b"SPOILT", b"\xff"))
    assert [thing.key.name for thing in page.objects] == ["web-7c9-abcde"]
    assert trimmer.odd["pods", "unreadable"] == 2


def test_an_unknown_line_type_is_counted() -> None:
    """A newer server may say more than we understand."""
    trimmer = Trimmer()
    assert pods(trimmer).events(line("WHISPER", POD) + b"\n") == []
    assert trimmer.odd["pods", "type"] == 1


@pytest.mark.parametrize(
    "block", [b"{", b"[]\n", b'{"type":"ADDED"}\n', b"\xff\n", b'{"type":"ERROR","object":7}\n']
)
def test_garbage_is_a_watch_error(block: bytes) -> None:
    """What is no watch line is not guessed at."""
    with pytest.raises(WatchError):
        pods().events(block)


@given(block=st.binary(max_size=120))
def test_bytes_are_events_or_a_watch_error(block: bytes) -> None:
    """Nothing else is raised, whatever comes over the wire."""
    for read in (pods().events, pods().page):
        try:
            read(block)
        except WatchError:
            continue


ONE_OF = st.sampled_from(
    [
        (b"ADDED", dumps(POD)),
        (b"DELETED", dumps(POD)),
        (b"ADDED", dumps({**POD, "spec": 7})),
        (b"BOOKMARK", dumps(bookmark("5"))),
        (b"ADDED", dumps({"metadata": meta("x")})),
        (b"ADDED", b"[]"),
        (b"ERROR", dumps(GONE)),
    ]
)


@given(chosen=st.lists(ONE_OF, max_size=6))
def test_a_block_reads_as_its_lines_do(chosen: list[tuple[bytes, bytes]]) -> None:
    """However lines are cut into blocks, the same events come out."""
    lines = [b'{"type":"%s","object":%s}\n' % one for one in chosen]
    together = pods().events(b"".join(lines))
    apart: list[Event] = [event for one in lines for event in pods().events(one)]
    assert together == apart


def test_metadata_only_is_read_the_same_way() -> None:
    """A metadata-only watch names its kind PartialObjectMetadata, pages and lines alike."""
    partial = {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": SERVICE["metadata"],
    }
    reader = Trimmer().reader(names.SERVICES, Gvk("", "v1", "Service"), full=False)
    listing = {
        "kind": "PartialObjectMetadataList",
        "metadata": {"resourceVersion": "7"},
        "items": [partial],
    }
    (thing,) = Decoders(reader).page(json.dumps(listing).encode()).objects
    assert thing.gvk == Gvk("", "v1", "Service")
    assert thing.facts is None
    (event,) = Decoders(reader).events(line("ADDED", partial))
    assert event == Seen(EventType.ADDED, thing)
