"""Lines of an audit log become writes, or the reason why they are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suture.model.names import Gvr
from suture.model.selectors import parse_selector
from suture.wire.audit import (
    AuditLineError,
    EventDecoder,
    Level,
    Skipped,
    Write,
    events_of,
    is_list,
)


def line(verb: str = "delete", **more: Any) -> bytes:
    """Return an event as the API server writes it, one line in the order of its struct."""
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "a-1",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/shop/services/web",
        "verb": verb,
        "user": {"username": "system:serviceaccount:lb:operator", "groups": ["g"]},
        "objectRef": {"resource": "services", "namespace": "shop", "name": "web",
                      "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-11-20T20:13:12.500000Z",
        "stageTimestamp": "2026-11-20T20:13:12.600000Z",
    }  # fmt: skip
    return json.dumps({**event, **more}, separators=(",", ":")).encode()


def written(raw: bytes) -> Write:
    """Decode a line that is a write."""
    found = EventDecoder().decode(raw)
    assert isinstance(found, Write)
    return found


def test_a_delete_is_told_by_its_metadata() -> None:
    found = written(line())

    assert (found.verb, found.gvr, found.namespace, found.name) == (
        "delete", Gvr("", "v1", "services"), "shop", "web",
    )  # fmt: skip
    assert found.user.username == "system:serviceaccount:lb:operator"
    assert found.level is Level.METADATA
    assert found.time_s == 1795205592.5
    assert found.persisted
    assert (found.request, found.response) == (b"", b"")


def test_who_is_impersonated_is_who_asks() -> None:
    found = written(line(impersonatedUser={"username": "tenant", "groups": ["t"]}))

    assert (found.user.username, found.user.groups) == ("tenant", ("t",))


@pytest.mark.parametrize(
    ("code", "uri", "persisted"),
    [
        (200, "/x", True),
        (201, "/x", True),
        (404, "/x", False),
        (409, "/x", False),
        (0, "/x", False),
        (200, "/x?dryRun=All", False),
    ],
)
def test_what_was_not_done_is_told_apart(code: int, uri: str, persisted: bool) -> None:
    found = written(line(responseStatus={"code": code}, requestURI=uri))

    assert found.persisted is persisted


def test_an_apply_of_what_was_not_there_creates() -> None:
    created = line("patch", responseStatus={"code": 201})
    evicted = line("create", objectRef={"resource": "pods", "subresource": "eviction", "name": "p"})

    assert written(created).creates
    assert not written(line("patch")).creates
    assert not written(evicted).creates


def test_a_collection_has_its_selector() -> None:
    uri = "/api/v1/namespaces/shop/services?labelSelector=app%3Dweb%2Ctier+in+%28a%2Cb%29"
    found = written(line("deletecollection", requestURI=uri))
    without = written(line("deletecollection"))
    odd = written(
        line("deletecollection", requestURI="/x?labelSelector=a+in+b&fieldSelector=a%3Db")
    )

    assert found.selector == parse_selector("app=web,tier in (a,b)")
    assert without.selector is None
    assert odd.selector is not None
    assert odd.selector.everything
    assert odd.fields == parse_selector("a=b")


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
def test_reads_are_passed_over_undecoded(verb: str) -> None:
    assert EventDecoder().decode(line(verb)) is Skipped.READ
    # Also where the fields stand in another order than Go's.
    fields = json.loads(line(verb))
    turned = json.dumps(dict(reversed(fields.items()))).encode()
    assert EventDecoder().decode(turned) is Skipped.READ


def test_only_the_last_stage_counts() -> None:
    assert EventDecoder().decode(line(stage="ResponseStarted")) is Skipped.STAGE
    assert EventDecoder().decode(line(objectRef=None)) is Skipped.NO_OBJECT


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"nonsense", b"[]", b'{"verb":"delete"}', b'{"verb":"get"', line()[:200],
        line(level="Everything"), line(requestReceivedTimestamp=None), b"\xff\xfe",
        b"[" * 5000,
    ],
)  # fmt: skip
def test_a_line_that_is_no_event_is_said_to_be_none(raw: bytes) -> None:
    with pytest.raises(AuditLineError):
        EventDecoder().decode(raw)


def test_a_list_is_taken_apart() -> None:
    whole = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[%s,%s]}' % (
        line(), line("get"),
    )  # fmt: skip

    assert is_list(whole)
    assert not is_list(line())
    found = [EventDecoder().decode(one) for one in events_of(whole)]
    assert isinstance(found[0], Write)
    assert found[1] is Skipped.READ
    with pytest.raises(AuditLineError):
        list(events_of(b'{"kind":"EventList"}'))
