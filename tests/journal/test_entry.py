"""Decision ids, what a line says, and that no secret gets into it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.budget.claims import Claim, Receipt, Shortfall
from suture.impact.effects import Impact, ObjectsRemoved, ServiceEmptied, Victim
from suture.journal.entry import DecisionIdError, decision_id, read_decision_id
from suture.journal.writing import LAST_APPLIED, entry_of, redacted
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.clock import Now, Window
from suture.model.names import Gvk, Gvr, Operation
from suture.model.request import Request
from suture.policy.rules import Case
from suture.verdict import Answer, Verdict

NOW = Now(0, 1_800_000_000.25)


def case(plural: str = "services", kind: str = "Service", body: bytes = b"") -> Case:
    user = UserInfo("system:serviceaccount:infra:balancer")
    return Case(
        request=Request(
            uid="review",
            operation=Operation.DELETE,
            gvr=Gvr("", "v1", plural),
            gvk=Gvk("", "v1", kind),
            namespace="shop",
            name="web",
            user=user,
            old_body=body,
        ),
        actor=Actor(user, "balancer", IdentityKind.OPERATOR, Stage.ENFORCE),
        impact=Impact(
            (
                ObjectsRemoved(resource="services", count=1, counted=1, population=40),
                ServiceEmptied(
                    service=Victim("", "services", "shop", "web"),
                    before=3,
                    self_healing=False,
                    declared=3,
                ),
            )
        ),
    )


DENIED = Verdict(answer=Answer.DENY, would=Answer.DENY, message="no")


@given(st.floats(0, 1e10), st.floats(0, 1e10), st.integers(0), st.integers(0))
def test_ids_sort_by_time(one_s: float, other_s: float, chance: int, other: int) -> None:
    """An id has 13 characters, is read back, and sorts as its time to the centisecond."""
    first, second = decision_id(Now(0, one_s), chance), decision_id(Now(0, other_s), other)
    assert len(first) == 13
    assert read_decision_id(first.upper()) == first
    if int(one_s * 100) < int(other_s * 100):
        assert first < second


@pytest.mark.parametrize("text", ["", "abc", "!" * 13, "0" * 14])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(DecisionIdError):
        read_decision_id(text)


def test_a_line_tells_effects_and_claims() -> None:
    """The worst shortfall of a claim is told, with what was used and what is allowed."""
    claim = Claim(
        budget="share/all", holder="balancer", key="services", amount=2, population=40, windows=()
    )
    short = [
        Shortfall(claim, Window(60, 5, 1.0), 5, 4),
        Shortfall(claim, Window(3600, 5, 1.0), 5, 9),
    ]
    line = entry_of(
        decision_id(NOW, 7),
        case(),
        DENIED,
        NOW,
        lane="destructive",
        claims=[claim],
        receipt=Receipt(granted=False, shortfalls=tuple(short)),
    )
    removed, emptied = line.effects
    assert (removed.subject, removed.before, removed.after) == ("services", 40, 39)
    assert (emptied.effect, emptied.before, emptied.after) == ("service_emptied", 3, 0)
    (asked,) = line.claims
    assert (asked.granted, asked.window_s, asked.used, asked.allowance) == (False, 3600, 9, 5)
    assert str(line.asked.key) == "services shop/web"


SECRET = {
    "kind": "Secret",
    "metadata": {"name": "a", "annotations": {LAST_APPLIED: '{"data":{"k":"hunter2"}}', "x": "y"}},
    "data": {"key": "aHVudGVyMg==", "other": "hunter2"},
    "stringData": {"key": "hunter2"},
}


def test_secret_values_are_never_kept() -> None:
    """Keys stay, values go, also from kubectl's own annotation."""
    line = entry_of(
        "0" * 13,
        case("secrets", "Secret", json.dumps(SECRET).encode()),
        DENIED,
        NOW,
        lane="destructive",
        keep_body=True,
    )
    assert b"hunter2" not in line.body
    assert b"aHVudGVyMg" not in line.body
    kept = json.loads(line.body)
    assert kept["data"] == {"key": "redacted", "other": "redacted"}
    assert kept["metadata"]["annotations"] == {"x": "y"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"hunter2"', b"\xff", b"[" * 100_000])
def test_a_secret_that_cannot_be_read_is_not_kept(body: bytes) -> None:
    assert redacted(body) == b""


@given(
    st.dictionaries(st.text(), st.one_of(st.text(), st.none(), st.integers(), st.lists(st.text())))
)
def test_redaction_is_total(document: dict[str, object]) -> None:
    """Whatever the fields hold, redaction returns JSON or nothing."""
    document = document | {"data": "hunter2", "metadata": ["odd"]}
    assert b"hunter2" not in redacted(json.dumps(document).encode("utf-8", "surrogatepass"))


def test_other_bodies_are_kept_whole() -> None:
    body = b'{"kind":"Service"}'
    line = entry_of("0" * 13, case(body=body), DENIED, NOW, lane="other", keep_body=True)
    assert line.body == body
    assert entry_of("0" * 13, case(body=body), DENIED, NOW, lane="other").body == b""
