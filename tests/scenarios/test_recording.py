"""A recording keeps the last state between writes, whose doing it was, and no secret."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from suture.errors import InputError
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.recording import Header, Recorder, Recording, beside, read, write
from suture.lab.scenarios.written import Written
from suture.wire.discovery import ApiResource

HEADER = Header(scenario="s", digest="d", guard="off")


def api(kind: str, group: str = "") -> ApiResource:
    """Return a kind."""
    return ApiResource(
        group=group,
        version="v1",
        plural=f"{kind.lower()}s",
        kind=kind,
        namespaced=True,
        verbs=frozenset({"list", "watch"}),
    )


def thing(uid: str, version: int, **more: Any) -> dict[str, Any]:
    """Return an object as a watch tells of it."""
    metadata = {"uid": uid, "name": uid, "namespace": "a", "resourceVersion": str(version)}
    return {"metadata": {**metadata, "managedFields": [{}]}, **more}


def written(number: int, at_s: float, **more: Any) -> Written:
    """Return a write that was sent at that time."""
    return Written(
        number=number,
        step=0,
        guilty=True,
        verb="delete",
        resource="services",
        namespace="a",
        name="x",
        outcome="done",
        answered_s=at_s + 0.001,
        took_s=0.001,
        **more,
    )


async def told(recorder: Recorder, *events: tuple[str, dict[str, Any]], kind: str = "Pod") -> float:
    """Tell the recorder of events; return a moment after them."""
    for change, one in events:
        recorder.on_event(api(kind), change, one)
    await asyncio.sleep(0.002)
    return now_s()


async def test_only_the_last_state_between_two_writes_is_kept() -> None:
    """What came and went is left out; what came and changed came."""
    recorder = Recorder()
    first = await told(recorder)
    second = await told(
        recorder,
        ("ADDED", thing("p", 1)),
        ("MODIFIED", thing("p", 2, state="ready")),
        ("ADDED", thing("q", 3)),
        ("DELETED", thing("q", 4)),
        ("MODIFIED", thing("r", 5)),
        ("MODIFIED", thing("r", 6, state="done")),
    )
    await told(recorder, ("DELETED", thing("r", 7)))

    found = recorder.recording(HEADER, [written(2, second), written(1, first)])

    assert [(one.after, one.change, one.object["metadata"]["uid"]) for one in found.saw] == [
        (1, "ADDED", "p"),
        (1, "MODIFIED", "r"),
        (2, "DELETED", "r"),
    ]
    assert found.saw[0].object["state"] == "ready"
    assert found.saw[1].object["state"] == "done"
    assert [one.number for one in found.wrote] == [1, 2]


async def test_what_the_write_itself_did_is_marked() -> None:
    """By the version that it made, or the uid that it deleted."""
    recorder = Recorder()
    first = await told(recorder)
    await told(
        recorder,
        ("MODIFIED", thing("a", 11)),
        ("MODIFIED", thing("b", 12)),
        ("DELETED", thing("c", 13)),
        ("DELETED", thing("d", 14)),
    )
    writes = [written(1, first, resource_version="11"), written(2, first, deleted=("c",))]
    found = recorder.recording(HEADER, writes)

    assert {one.object["metadata"]["uid"]: one.own for one in found.saw} == {
        "a": True,
        "b": False,
        "c": True,
        "d": False,
    }


async def test_noise_and_secrets_stay_out() -> None:
    """Events, Leases, Suture's own and the values of Secrets; managed fields nobody reads."""
    recorder = Recorder()
    own = thing("own", 3)
    own["metadata"]["namespace"] = "suture-system"
    await told(recorder, ("ADDED", thing("e", 1)), kind="Event")
    await told(recorder, ("ADDED", thing("l", 2)), kind="Lease")
    await told(recorder, ("ADDED", own))
    await told(recorder, ("ADDED", thing("s", 4, data={"key": "c2VjcmV0"})), kind="Secret")
    [saw] = recorder.recording(HEADER, []).saw

    assert saw.object["data"] == {"key": ""}
    assert "managedFields" not in saw.object["metadata"]


async def test_a_recording_comes_back_as_it_was(tmp_path: Path) -> None:
    """Written and read."""
    recorder = Recorder()
    moment = await told(recorder)
    await told(recorder, ("ADDED", thing("p", 1)))
    found = recorder.recording(HEADER, [written(1, moment)])
    path = beside(tmp_path / "scenario.yaml", "off")
    assert path.name == "scenario.off.recording.zst"

    assert write(path, found) == path.stat().st_size
    assert read(path) == found


@pytest.mark.parametrize("content", [b"", b"not packed", b"\x28\xb5\x2f\xfd"])
def test_what_is_no_recording_is_refused(content: bytes, tmp_path: Path) -> None:
    """In one line."""
    path = tmp_path / "x.recording.zst"
    path.write_bytes(content)
    with pytest.raises(InputError, match="recording"):
        read(path)


def test_a_recording_of_another_version_is_refused(tmp_path: Path) -> None:
    """With what to do."""
    path = tmp_path / "x.recording.zst"
    header = Header(version=0, scenario="s", digest="d", guard="off")
    write(path, Recording(header=header, stood=(), wrote=(), saw=()))
    with pytest.raises(InputError, match="take it again"):
        read(path)
