"""Marks that people set are held against a slow and obvious history of writes."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from suture.model.bounded import SHARE
from suture.model.clock import Now
from suture.model.consent import (
    CONFIRM_DELETE,
    CONSENT_VALID_S,
    CONSENTS_KEPT,
    RECONSIDER_S,
    Consents,
    confirmed_uid,
)
from suture.model.names import SERVICES, ObjectKey, Operation
from suture.model.request import Intent

UIDS = ("u1", "u2", "u3")


def body(mark: str) -> bytes:
    annotations = {CONFIRM_DELETE: mark} if mark else {}
    return json.dumps({"metadata": {"annotations": annotations}}).encode()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(UIDS),
            st.sampled_from(("", "other", *UIDS)),
            st.booleans(),
            st.integers(0, CONSENT_VALID_S),
        ),
        max_size=30,
    )
)
def test_only_the_latest_write_by_a_person_counts(
    writes: list[tuple[str, str, bool, int]],
) -> None:
    """A mark stands since the write that set it, if a person made that write."""
    consents, now = Consents(), Now(0, 0.0)
    marks, since = dict.fromkeys(UIDS, ""), dict[str, int]()
    for uid, mark, person, seconds in writes:
        now = now.plus_s(seconds)
        consents.note_write(uid, body(marks[uid]), body(mark), now, person=person)
        if mark != uid:
            since.pop(uid, None)
        elif marks[uid] != uid:
            since.pop(uid, None)
            if person:
                since[uid] = now.mono_ns
        marks[uid] = mark
    for uid in UIDS:
        stands = uid in since and now.mono_ns - since[uid] <= CONSENT_VALID_S * 1_000_000_000
        assert consents.confirms(uid, body(marks[uid]), now) is stands


def test_a_mark_that_is_off_by_now_confirms_nothing() -> None:
    """What Suture remembers and what the object bears must agree."""
    consents, now = Consents(), Now(0, 0.0)
    consents.note_write("u1", b"", body("u1"), now, person=True)
    assert consents.confirms("u1", body("u1"), now)
    assert not consents.confirms("u1", body(""), now)
    assert not consents.confirms("", body(""), now)


def test_memory_is_bounded() -> None:
    """The oldest marks go first; forgetting refuses, it never allows."""
    consents, now = Consents(), Now(0, 0.0)
    for number in range(CONSENTS_KEPT + 1):
        consents.note_write(f"u{number}", b"", body(f"u{number}"), now, person=True)
    assert not consents.confirms("u0", body("u0"), now)
    for kept in (f"u{CONSENTS_KEPT // SHARE}", f"u{CONSENTS_KEPT}"):
        assert consents.confirms(kept, body(kept), now)


def test_a_refusal_is_remembered_for_a_while() -> None:
    """Long enough to read it and go on."""
    consents, now = Consents(), Now(0, 0.0)
    intent = Intent("alice", Operation.DELETE, ObjectKey(SERVICES, "prod", "web"), "", "u1")
    consents.note_refused(intent, now)
    assert consents.was_refused(intent, now.plus_s(RECONSIDER_S))
    assert not consents.was_refused(intent, now.plus_s(RECONSIDER_S + 1))


def test_what_is_no_object_has_no_mark() -> None:
    for wrong in (b"", b"[]", b'{"metadata": null}', b'{"metadata": {"annotations": null}}'):
        assert confirmed_uid(wrong + CONFIRM_DELETE.encode()) == ""
        assert confirmed_uid(wrong) == ""
