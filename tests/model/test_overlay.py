"""The overlay against the plain sum of what each intent holds."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from suture.model.clock import Now
from suture.model.names import SERVICES, ObjectKey, Operation
from suture.model.overlay import HORIZON_S, Overlay
from suture.model.request import Intent

NOW = Now(10**12, 0.0)


def intent(number: int) -> Intent:
    return Intent("op", Operation.DELETE, ObjectKey(SERVICES, "a", f"s{number}"), "", f"u{number}")


def test_a_removal_counts_until_it_is_seen() -> None:
    """An admitted removal is gone at once, and no longer the overlay's business once seen."""
    overlay = Overlay()
    overlay.admit(intent(1), ["u1", "u2"], NOW)
    assert overlay.gone("u1")
    assert overlay.seen("u1") == (intent(1),)
    assert not overlay.gone("u1")
    assert overlay.holds(intent(1))
    assert overlay.seen("u2") == (intent(1),)
    assert not overlay.holds(intent(1))
    assert overlay.seen("u2") == ()


def test_what_is_written_is_proven_by_its_next_state() -> None:
    """Whoever wrote it; what goes along is still to be seen then."""
    overlay = Overlay()
    overlay.admit(intent(1), [], NOW, written="w")
    overlay.admit(intent(2), ["u2"], NOW, written="w")
    assert not overlay.gone("w")
    assert overlay.seen("w") == ()
    assert overlay.seen_written("w") == (intent(1), intent(2))
    assert not overlay.holds(intent(1))
    assert overlay.gone("u2")
    assert overlay.seen_written("w") == ()
    assert overlay.seen("u2") == (intent(2),)
    assert len(overlay) == 0


def test_a_retry_is_judged_without_itself() -> None:
    """Inside `without` the intent's own removal is not there; afterwards it is again."""
    overlay = Overlay()
    overlay.admit(intent(1), ["u1"], NOW)
    overlay.admit(intent(2), ["u1", "u2"], NOW)
    with overlay.without(intent(2)):
        assert overlay.gone("u1")
        assert not overlay.gone("u2")
    assert overlay.gone("u2")
    with overlay.without(intent(2)):
        overlay.admit(intent(2), ["u3"], NOW)
    assert not overlay.gone("u2")
    assert overlay.gone("u3")


def test_what_was_never_seen_is_due_at_the_horizon() -> None:
    """An admitted removal that nobody saw is due past the horizon of its latest attempt."""
    overlay = Overlay()
    overlay.admit(intent(1), ["u1"], NOW)
    overlay.admit(intent(2), ["u2"], NOW)
    overlay.admit(intent(1), ["u1"], NOW.plus_s(10))
    assert overlay.due(NOW.plus_s(HORIZON_S)) == (intent(2),)
    assert overlay.expire(intent(2))
    assert overlay.due(NOW.plus_s(HORIZON_S + 10)) == (intent(1),)


UIDS = st.sampled_from([f"u{n}" for n in range(6)])
INTENTS = st.integers(0, 4).map(intent)


class OverlayMachine(RuleBasedStateMachine):
    """Random admissions, sightings and failures."""

    def __init__(self) -> None:
        super().__init__()
        self.overlay = Overlay()
        self.removed: dict[Intent, set[str]] = {}
        self.written: dict[Intent, str] = {}

    @rule(one=INTENTS, removed=st.sets(UIDS), written=st.just("") | UIDS)
    def admit(self, one: Intent, removed: set[str], written: str) -> None:
        self.overlay.admit(one, removed, NOW, written=written)
        self.removed[one], self.written[one] = set(removed), written

    @rule(one=INTENTS)
    def expire(self, one: Intent) -> None:
        self.overlay.expire(one)
        self.removed[one], self.written[one] = set(), ""

    @rule(uid=UIDS)
    def seen(self, uid: str) -> None:
        held = {one for one, removed in self.removed.items() if uid in removed}
        assert set(self.overlay.seen(uid)) == held
        for one in held:
            self.removed[one].discard(uid)

    @rule(uid=UIDS)
    def seen_written(self, uid: str) -> None:
        held = {one for one, written in self.written.items() if written == uid}
        assert set(self.overlay.seen_written(uid)) == held
        for one in held:
            self.written[one] = ""

    @rule(one=INTENTS)
    def look_without(self, one: Intent) -> None:
        with self.overlay.without(one):
            others = [held for other, held in self.removed.items() if other != one]
            assert set(self.overlay.gone_uids) == set().union(*others)

    @invariant()
    def agrees(self) -> None:
        assert set(self.overlay.gone_uids) == set().union(*self.removed.values())
        assert len(self.overlay) == sum(
            bool(self.removed[one] or self.written[one]) for one in self.removed
        )


OverlayMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=30)
TestOverlayMachine = OverlayMachine.TestCase
