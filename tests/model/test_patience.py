"""Who was asked to come again, did, and is told at last that it does not help."""

from __future__ import annotations

import pytest

from support.cluster import START
from suture.model.names import PODS, SERVICES, ObjectKey, Operation, Resource
from suture.model.patience import PATIENCE_S, SERIES_S, Patience
from suture.model.request import Intent


def intent(
    name: str = "web-0", by: str = "me", space: str = "prod", kind: Resource = PODS
) -> Intent:
    return Intent(by, Operation.DELETE, ObjectKey(kind, space, name), "", f"uid-{name}")


def waited(patience: Patience, one: Intent, seconds: int, *, every: int = 10) -> None:
    for at_s in range(0, seconds + 1, every):
        patience.note_waiting(one, START.plus_s(at_s))


def test_one_intent_waits_for_minutes_and_no_longer() -> None:
    patience = Patience()
    waited(patience, intent(), PATIENCE_S - 10)
    assert not patience.is_over(intent(), START.plus_s(PATIENCE_S - 10))
    patience.note_waiting(intent(), START.plus_s(PATIENCE_S))
    assert patience.is_over(intent(), START.plus_s(PATIENCE_S))
    assert not patience.is_over(intent(), START.plus_s(PATIENCE_S + SERIES_S + 1))


def test_who_comes_again_after_a_long_while_waits_anew() -> None:
    patience = Patience()
    waited(patience, intent(), 60)
    patience.note_waiting(intent(), START.plus_s(60 + SERIES_S + 1))
    assert not patience.is_over(intent(), START.plus_s(60 + SERIES_S + 1))


@pytest.mark.parametrize(
    ("other", "over"),
    [
        (intent("web-1"), True),
        (intent("web-1", by="another"), False),
        (intent("web-1", space="elsewhere"), False),
        (intent("web", kind=SERVICES), False),
    ],
)
def test_the_next_of_its_kind_is_told_at_once(other: Intent, *, over: bool) -> None:
    """Of the same hand, until one of them is let through."""
    patience = Patience()
    waited(patience, intent(), PATIENCE_S)
    now = START.plus_s(PATIENCE_S)
    assert patience.is_over(other, now) is over
    patience.note_passed(intent("web-2"))
    assert not patience.is_over(other, now)
    assert patience.is_over(intent(), now)
    patience.note_passed(intent())
    assert not patience.asked
