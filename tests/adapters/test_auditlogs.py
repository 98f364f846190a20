"""Audit logs are read from files as they are kept: compressed, rotated, side by side, damaged."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from suture.adapters.auditlogs import AuditLogError, Recorded, files_of
from suture.wire.audit import Write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def line(second: int, verb: str = "delete") -> bytes:
    """Return an event of a second, as the API server writes it."""
    event = {
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata",
        "auditID": f"a-{second}", "stage": "ResponseComplete", "requestURI": "/x", "verb": verb,
        "user": {"username": "u"},
        "objectRef": {"resource": "services", "namespace": "shop", "name": f"s{second}"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": f"2026-11-20T10:00:{second:02}.000000Z",
    }  # fmt: skip
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def silent(_events: int, _bytes: int) -> None:
    """Say nothing."""


def both(recorded: Recorded) -> list[Write]:
    """Go through a log twice; return its writes, which are the same both times."""
    first = list(recorded.first(silent))
    assert list(recorded.again(silent)) == first
    return first


def test_logs_of_several_servers_are_one_in_the_order_of_time(tmp_path: Path) -> None:
    """Folders are searched, rotated and compressed files are known, others are left alone."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "audit.log").write_bytes(line(0) + line(3) + line(4, "get"))
    rotated = tmp_path / "two" / "audit-2026-11-20T10-00-00.000.log.gz"
    rotated.write_bytes(gzip.compress(line(1)))
    (tmp_path / "two" / "audit.jsonl.zst").write_bytes(zstd.compress(line(2)))
    (tmp_path / "two" / "README").write_bytes(b"of no concern")

    recorded = Recorded(files_of([str(tmp_path)]))

    assert [one.name for one in both(recorded)] == ["s0", "s1", "s2", "s3"]
    assert (recorded.tally.events, recorded.tally.reads) == (5, 1)


@pytest.mark.parametrize("kept_bytes", [0, 1 << 20])
def test_a_long_log_is_read_twice_and_tells_the_same(tmp_path: Path, kept_bytes: int) -> None:
    """Whether it is kept is a matter of memory; what it tells and counts is not."""
    path = tmp_path / "audit.log"
    path.write_bytes(b"".join(map(line, range(50))))

    recorded = Recorded([path], kept_bytes=kept_bytes)

    assert len(both(recorded)) == 50
    assert recorded.tally.events == 50


def test_lines_that_are_none_are_located_and_the_rest_counts(tmp_path: Path) -> None:
    """One damaged line costs itself; a file that is cut short, its end."""
    damaged, cut = tmp_path / "damaged.log", tmp_path / "cut.log.gz"
    damaged.write_bytes(line(0) + b"hello\n\n" + line(1)[:80] + b"\n" + line(2))
    cut.write_bytes(gzip.compress(b"".join(map(line, range(3, 50))))[:-20])

    recorded = Recorded([damaged, cut])
    found = both(recorded)

    tally = recorded.tally
    assert {"s0", "s2", "s3"} <= {one.name for one in found}
    assert tally.malformed == 3
    assert tally.events == len(found)
    places = [one.removeprefix(f"{tmp_path}/").rpartition(": ")[0] for one in tally.where]
    assert {one.partition(":")[0] for one in places} == {"damaged.log", "cut.log.gz"}
    assert any(one.startswith("damaged.log:2") for one in places)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"no log\n", b"\x00\xff\n"])
def test_what_holds_no_event_is_refused(tmp_path: Path, content: bytes) -> None:
    """That nothing would have been refused is never said of what is no log; reads alone are one."""
    path = tmp_path / "audit.log"
    path.write_bytes(content)
    with pytest.raises(AuditLogError, match="no audit event"):
        list(Recorded([path]).first(silent))

    path.write_bytes(content + line(0, "get"))
    assert both(Recorded([path])) == []


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuditLogError, match="does not exist"):
        files_of([str(tmp_path / "none.log")])
    with pytest.raises(AuditLogError, match="holds no audit logs"):
        files_of([str(tmp_path)])
