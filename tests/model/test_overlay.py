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


def test_a_size_counts_until_it_is_true() -> None:
    """The lowest admitted size holds until the graph shows it or less."""
    overlay = Overlay()
    overlay.admit(intent(1), [], NOW, resized={"w": 5})
    overlay.admit(intent(2), [], NOW, resized={"w": 3})
    assert overlay.resized == {"w": 3}
    assert overlay.seen_size("w", 6) == ()
    assert overlay.seen_size("w", 5) == (intent(1),)
    assert overlay.resized == {"w": 3}
    assert overlay.seen_size("w", 0) == (intent(2),)
    assert overlay.resized == {}


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
        self.resized: dict[Intent, dict[str, int]] = {}

    @rule(one=INTENTS, removed=st.sets(UIDS), resized=st.dictionaries(UIDS, st.integers(0, 9)))
    def admit(self, one: Intent, removed: set[str], resized: dict[str, int]) -> None:
        self.overlay.admit(one, removed, NOW, resized=resized)
        self.removed[one], self.resized[one] = set(removed), dict(resized)

    @rule(one=INTENTS)
    def expire(self, one: Intent) -> None:
        self.overlay.expire(one)
        self.removed[one], self.resized[one] = set(), {}

    @rule(uid=UIDS)
    def seen(self, uid: str) -> None:
        self.overlay.seen(uid)
        for one in self.removed:
            self.removed[one].discard(uid)
            self.resized[one].pop(uid, None)

    @rule(uid=UIDS, replicas=st.integers(0, 9))
    def seen_size(self, uid: str, replicas: int) -> None:
        self.overlay.seen_size(uid, replicas)
        for sizes in self.resized.values():
            if sizes.get(uid, -1) >= replicas:
                del sizes[uid]

    @rule(one=INTENTS)
    def look_without(self, one: Intent) -> None:
        with self.overlay.without(one):
            others = [held for other, held in self.removed.items() if other != one]
            assert set(self.overlay.gone_uids) == set().union(*others)

    @invariant()
    def agrees(self) -> None:
        assert set(self.overlay.gone_uids) == set().union(*self.removed.values())
        lowest: dict[str, int] = {}
        for sizes in self.resized.values():
            for uid, size in sizes.items():
                lowest[uid] = min(size, lowest.get(uid, size))
        assert self.overlay.resized == lowest
        assert len(self.overlay) == sum(
            bool(self.removed[one] or self.resized[one]) for one in self.removed
        )


OverlayMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestOverlayMachine = OverlayMachine.TestCase
