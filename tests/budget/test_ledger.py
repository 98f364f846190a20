"""The ledger against a slow and obvious list of events, and its invariants."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from suture.budget.ledger import (
    HORIZON_S,
    Account,
    CheckpointError,
    Claim,
    Ledger,
    Receipt,
)
from suture.model.clock import LONGEST_WINDOW_S, Now, Window
from suture.model.names import SERVICES, ObjectKey, Operation
from suture.model.request import Intent

START = Now(10**12, 1.8e9)
WINDOWS = (
    Window(60, 5, 1.0),
    Window(3600, 5, 1.0),
    Window(86_400, 10, 2.0),
    Window(604_800, 20, 4.0),
    Window(LONGEST_WINDOW_S, 30, 6.0),
)


def key(number: int) -> ObjectKey:
    return ObjectKey(SERVICES, "shop", f"service-{number}")


def intent(number: int, *, holder: str = "op", life: int = 0, update: bool = False) -> Intent:
    operation = Operation.UPDATE if update else Operation.DELETE
    return Intent(holder, operation, key(number), "", f"uid-{number}-{life}")


def claim(
    amount: int = 1,
    *,
    holder: str = "op",
    population: int = 0,
    victims: tuple[ObjectKey, ...] = (),
    windows: tuple[Window, ...] = WINDOWS,
    budget: str = "share",
) -> Claim:
    return Claim(
        budget=budget,
        holder=holder,
        key="services",
        amount=amount,
        population=population,
        windows=windows,
        victims=victims,
    )


def test_the_sixth_removal_falls_short() -> None:
    """Five in a minute are granted; the sixth names every window that cannot afford it."""
    ledger = Ledger()
    for number in range(5):
        assert ledger.reserve(intent(number), [claim()], START, force=False).granted
    receipt = ledger.reserve(intent(5), [claim()], START, force=False)
    assert not receipt.counted
    assert [(one.window.seconds, one.used, one.allowance) for one in receipt.shortfalls] == [
        (60, 5, 5),
        (3600, 5, 5),
    ]


def test_all_or_nothing() -> None:
    """A claim that fits counts nothing when another of the same intent does not."""
    ledger = Ledger()
    before = ledger.to_bytes(START)
    claims = [claim(1, budget="a"), claim(6, budget="b")]
    assert not ledger.reserve(intent(0), claims, START, force=False).counted
    assert ledger.to_bytes(START) == before
    assert ledger.usage("op", START) == ()


def test_an_intent_counts_once() -> None:
    """A retry returns the earlier receipt, while live and after it was settled."""
    ledger = Ledger()
    first = ledger.reserve(intent(0), [claim(3)], START, force=False)
    assert ledger.reserve(intent(0), [claim(3)], START.plus_s(1), force=False) == first
    assert ledger.settle(intent(0), START.plus_s(2))
    assert ledger.reserve(intent(0), [claim(3)], START.plus_s(3), force=False) == first
    (spent,) = ledger.usage("op", START.plus_s(3))
    assert spent.used == 3


def test_two_scale_downs_count_twice() -> None:
    """Once settled, an update of the same object is a new one."""
    ledger = Ledger()
    down = intent(0, update=True)
    ledger.reserve(down, [claim(2)], START, force=False)
    ledger.settle(down, START)
    ledger.reserve(down, [claim(2)], START, force=False)
    assert ledger.usage("op", START)[0].used == 4


def test_more_of_the_same_intent_is_asked_anew() -> None:
    """A retry that asks for more is held at the higher amount, or refused and held as it was."""
    ledger = Ledger()
    ledger.reserve(intent(0), [claim(2)], START, force=False)
    assert ledger.reserve(intent(0), [claim(4)], START, force=False).granted
    assert ledger.usage("op", START)[0].used == 4
    assert not ledger.reserve(intent(0), [claim(6)], START, force=False).counted
    assert ledger.usage("op", START)[0].used == 4


def test_force_counts_past_the_allowance() -> None:
    """In observe and warn the claim is counted; once enforced, the same intent has no leave."""
    ledger = Ledger()
    receipt = ledger.reserve(intent(0), [claim(9)], START, force=True)
    assert (receipt.granted, receipt.forced, receipt.counted) == (False, True, True)
    assert ledger.usage("op", START)[0].used == 9
    assert not ledger.reserve(intent(0), [claim(9)], START, force=False).counted


def test_the_population_is_the_highest_of_the_window() -> None:
    """Removing most of a population does not shrink the share that the window started with."""
    ledger = Ledger()
    ledger.observe_population("services", 1000, START)
    ledger.observe_population("services", 10, START.plus_s(30))
    asked = [claim(10, population=10)]
    assert ledger.peek(asked, START.plus_s(80)).granted
    late = START.plus_s(30 + 60)
    assert [one.window.seconds for one in ledger.peek(asked, late).shortfalls] == [60]


def test_the_longest_window_is_kept() -> None:
    """What was spent counts to its end, over restarts and however often what is old is swept."""
    ledger, asked = Ledger(), [claim(windows=(Window(LONGEST_WINDOW_S, 1, 0.0),))]
    ledger.reserve(intent(0), asked, START, force=False)
    ledger.settle(intent(0), START)
    for day in range(31):
        now = START.plus_s(day * 86_400)
        ledger.due(now)
        ledger = Ledger.from_bytes(ledger.to_bytes(now), now, complete=True)
        assert not ledger.peek(asked, now).granted
    assert ledger.peek(asked, START.plus_s(LONGEST_WINDOW_S)).granted


def test_horizon() -> None:
    """An intent is due past the horizon of its latest attempt, and outstanding until then."""
    ledger = Ledger()
    ledger.reserve(intent(0), [claim()], START, force=False)
    ledger.reserve(intent(1), [claim()], START.plus_s(1), force=False)
    ledger.reserve(intent(0), [claim()], START.plus_s(2), force=False)
    assert ledger.due(START.plus_s(HORIZON_S)) == ()
    assert ledger.due(START.plus_s(HORIZON_S + 1)) == (intent(1),)
    assert ledger.due(START.plus_s(HORIZON_S + 2)) == (intent(1), intent(0))
    assert ledger.usage("op", START.plus_s(1000))[0].used == 2
    assert ledger.refund(intent(0), START.plus_s(70))
    assert not ledger.refund(intent(0), START.plus_s(70))


def test_own_recreation_gives_back() -> None:
    """Only the holder's own re-creation of that very object gives back, and only once."""
    ledger = Ledger()
    ledger.reserve(intent(0), [claim(victims=(key(0),))], START, force=False)
    assert ledger.recreated("op", key(0), START) == 0, "not settled yet"
    ledger.settle(intent(0), START)
    assert ledger.recreated("other", key(0), START) == 0
    assert ledger.recreated("op", key(1), START) == 0
    assert ledger.recreated("op", key(0), START) == 1
    assert ledger.recreated("op", key(0), START) == 0
    assert ledger.usage("op", START) == ()


def test_a_take_over_assumes_the_worst() -> None:
    """After an unplanned take-over every account is full for one horizon; a planned one goes on."""
    ledger = Ledger()
    ledger.reserve(intent(0), [claim()], START, force=False)
    data = ledger.to_bytes(START)
    elsewhere = Now(5, START.utc_s)
    planned = Ledger.from_bytes(data, elsewhere, complete=True)
    assert planned.peek([claim(4)], elsewhere).granted
    assert not planned.peek([claim(5)], elsewhere).granted
    unplanned = Ledger.from_bytes(data, elsewhere, complete=False)
    assert not unplanned.peek([claim()], elsewhere).granted
    assert not unplanned.peek([claim(holder="new")], elsewhere.plus_s(HORIZON_S - 1)).granted
    assert unplanned.peek([claim(4)], elsewhere.plus_s(HORIZON_S)).granted


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"not a checkpoint", b"\x97\x63\x00\x90\x90\x90\x90\x90"]
)
def test_foreign_bytes_are_refused(data: bytes) -> None:
    """Bytes that are no checkpoint of this version are an error with words."""
    with pytest.raises(CheckpointError):
        Ledger.from_bytes(data, START, complete=True)


@dataclass
class Oracle:
    """Everything that ever happened, as a list; every question is answered by walking it."""

    live: dict[Intent, dict[Account, int]] = field(default_factory=dict)
    spent: list[tuple[int, str, Account, ObjectKey]] = field(default_factory=list)

    def used(self, account: Account, seconds: int, now: Now) -> int:
        held = sum(parts.get(account, 0) for parts in self.live.values())
        start = now.mono_ns - seconds * 10**9
        return held + sum(1 for at, _, one, _ in self.spent if one == account and at > start)


class LedgerMachine(RuleBasedStateMachine):
    """Random lives of a ledger; deletes of one object each, by two operators."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.oracle = Oracle()
        self.now = START
        self.lives: dict[int, int] = {}
        self.settled: set[Intent] = set()

    numbers = st.integers(0, 11)
    holders = st.sampled_from(["op", "op2"])

    @initialize(count=st.sampled_from([0, 400, 3000]))
    def population(self, count: int) -> None:
        self.ledger.observe_population("services", count, self.now)
        self.count = count

    @rule(number=numbers, holder=holders, force=st.booleans())
    def reserve(self, number: int, holder: str, force: bool) -> None:
        """Ask for a first time or again; it counts once, and fits unless forced."""
        one = intent(number, holder=holder, life=self.lives.get(number, 0))
        asked = [claim(holder=holder, victims=(key(number),))]
        account = asked[0].account
        before = self.ledger.to_bytes(self.now)
        peeked = self.ledger.peek(asked, self.now)
        assert self.ledger.to_bytes(self.now) == before, "I5: a peek leaves no trace"
        known = one in self.oracle.live or one in self.settled
        receipt = self.ledger.reserve(one, asked, self.now, force=force)
        if known:
            return
        fits = all(
            self.oracle.used(account, window.seconds, self.now) + 1 <= window.allowance(self.count)
            for window in WINDOWS
        )
        assert receipt.granted == fits == peeked.granted
        assert receipt.counted == (fits or force)
        if receipt.counted:
            self.oracle.live[one] = {account: 1}
        else:
            assert self.ledger.to_bytes(self.now) == before, "a refusal counts nothing"

    @rule(number=numbers, holder=holders)
    def settle(self, number: int, holder: str) -> None:
        one = intent(number, holder=holder, life=self.lives.get(number, 0))
        parts = self.oracle.live.pop(one, None)
        assert self.ledger.settle(one, self.now) == (parts is not None)
        for account in parts or ():
            self.oracle.spent.append((self.now.mono_ns, holder, account, key(number)))
            self.settled.add(one)

    @rule(number=numbers, holder=holders)
    def refund(self, number: int, holder: str) -> None:
        one = intent(number, holder=holder, life=self.lives.get(number, 0))
        parts = self.oracle.live.pop(one, None)
        assert self.ledger.refund(one, self.now) == (parts is not None)

    @rule(number=numbers, holder=holders)
    def recreate(self, number: int, holder: str) -> None:
        """Create the object anew; the holder's latest removal of it is given back."""
        self.lives[number] = self.lives.get(number, 0) + 1
        start = self.now.mono_ns - LONGEST_WINDOW_S * 10**9
        mine = [
            entry
            for entry in self.oracle.spent
            if entry[1] == holder and entry[3] == key(number) and entry[0] > start
        ]
        given = self.ledger.recreated(holder, key(number), self.now)
        assert given <= 1
        if given:
            self.oracle.spent.remove(mine[-1])

    @rule(seconds=st.sampled_from([0.001, 1, 30, 61, 3000, 40_000, 200_000, 900_000]))
    def wait(self, seconds: float) -> None:
        self.now = self.now.plus_s(seconds)
        if seconds < 600:
            return
        self.settled.clear()
        for one in self.ledger.due(self.now):
            assert one in self.oracle.live
            self.oracle.live.pop(one)
            self.ledger.refund(one, self.now)
        assert not self.oracle.live, "I4: nothing is outstanding past the horizon"

    @rule()
    def hand_over(self) -> None:
        """Write and read a checkpoint: it is the same ledger, byte for byte."""
        data = self.ledger.to_bytes(self.now)
        self.ledger = Ledger.from_bytes(data, self.now, complete=True)
        assert self.ledger.to_bytes(self.now) == data

    @invariant()
    def agrees(self) -> None:
        """I2, I3: what is used is what the oracle counts, in every account and window."""
        for holder in ("op", "op2"):
            account = claim(holder=holder).account
            for window in WINDOWS:
                probe = Window(window.seconds, 0, 0.0)
                receipt = self.ledger.peek([claim(holder=holder, windows=(probe,))], self.now)
                assert receipt.shortfalls[0].used == self.oracle.used(
                    account, window.seconds, self.now
                )


LedgerMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestLedgerMachine = LedgerMachine.TestCase


def test_receipts_say_whether_they_count() -> None:
    """A refused receipt counts nothing; a granted or forced one does."""
    assert Receipt(granted=True).counted
    assert Receipt(granted=False, forced=True).counted
    assert not Receipt(granted=False).counted
