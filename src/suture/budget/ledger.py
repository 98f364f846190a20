"""The account of what operators have spent: reserve, settle, refund, over sliding windows.

Pure and in memory, with one caller, who tells it the time. Admitted is not persisted: a claim is
reserved when its intent is admitted, settled when the effect is seen, refunded when the horizon
has passed and it was not. What is outstanding counts in every window; what is settled counts from
the moment it was seen. Only monotonic time is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeVar

import msgspec

from suture.budget.affording import Balance, shortfalls
from suture.budget.claims import Account, Claim, Part, Receipt, Shortfall, Spent
from suture.budget.sliding import NS, Peak
from suture.errors import InputError
from suture.model.bounded import oldest
from suture.model.clock import LONGEST_WINDOW_S, Now, Window
from suture.model.names import ObjectKey, Operation
from suture.model.overlay import HORIZON_S
from suture.model.request import Intent

__all__ = [
    "HORIZON_S",
    "Account",
    "CheckpointError",
    "Claim",
    "Ledger",
    "Receipt",
    "Shortfall",
    "Spent",
]

SETTLED_KEPT_S = 600
"""LIMIT: how long a settled delete is known, so that its later reviews (graceful mark, then
removal) count once; after that the model shows the object terminating or gone."""

SETTLED_KEPT = 65_536
"""LIMIT: settled deletes known at once: ten minutes at 100 a second; 0.3 kB each, 20 MB. One
forgotten early is counted twice at worst."""

REMOVALS_KEPT = 65_536
"""LIMIT: settled removals that a re-creation can still give back; 0.3 kB each, 20 MB. One
forgotten early is not given back."""

ACCOUNTS_SWEPT = 64
"""LIMIT: accounts looked at in one `due`, so that its cost is flat: 10,000 in 160 calls."""

VERSION = 1

K = TypeVar("K")
V = TypeVar("V")


class CheckpointError(InputError):
    """The bytes are no checkpoint of a ledger that this version can read."""

    code = "checkpoint_malformed"


class _Reservation(msgspec.Struct, frozen=True):
    """One live reservation: since when (its latest attempt), the answer, what it holds."""

    at_ns: int
    receipt: Receipt
    parts: Mapping[Account, Part]


class Ledger:
    """All accounts. Mutated by `reserve`, `settle`, `refund`, `recreated`, `observe_population`."""

    def __init__(self, *, blind_until: Now | None = None) -> None:
        """Start empty. Until `blind_until` every account counts as fully spent.

        WHY: a ledger that does not know what was admitted a moment ago must assume the worst.
        """
        self._blind_until_ns = blind_until.mono_ns if blind_until else None
        self._balances: dict[Account, Balance] = {}
        self._by_holder: dict[str, set[Account]] = {}
        self._live: dict[Intent, _Reservation] = {}  # oldest attempt first
        self._settled: dict[Intent, tuple[int, Receipt]] = {}  # oldest first
        self._removals: dict[tuple[str, ObjectKey], tuple[tuple[Account, int], ...]] = {}
        self._peaks: dict[str, Peak] = {}
        self._sweep_at: list[Account] = []

    # -- asking

    def peek(self, claims: Iterable[Claim], now: Now) -> Receipt:
        """Say what `reserve` would answer; change nothing."""
        shortfalls = self._shortfalls(claims, now, {})
        return Receipt(not shortfalls, shortfalls)

    def reserve(self, intent: Intent, claims: Iterable[Claim], now: Now, *, force: bool) -> Receipt:
        """Hold the amounts of `claims` for `intent`: all of them in all windows, or none.

        `claims` are the whole of what the intent would do, its own earlier reservation left out
        of the view. The same intent asked again counts once: the higher amount is held, and
        unless more is asked the earlier receipt returns. With `force` it is held in any case.
        """
        asked = tuple(claims)
        earlier = self._live.get(intent)
        if earlier is None:
            settled = self._settled.get(intent)
            if settled is not None and now.mono_ns - settled[0] < SETTLED_KEPT_S * NS:
                return settled[1]
        parts = _parts(asked)
        own: Mapping[Account, Part] = earlier.parts if earlier else {}
        receipt = earlier.receipt if earlier else Receipt(granted=True)
        more = any(
            part.amount > (own[account].amount if account in own else 0)
            for account, part in parts.items()
        )
        # WHY the second: what was counted by force is no leave, once the stage has become enforce.
        if more or (receipt.forced and not force):
            shortfalls = self._shortfalls(asked, now, own)
            receipt = Receipt(not shortfalls, shortfalls, forced=force and bool(shortfalls))
        if not receipt.counted or not (own or parts):
            return receipt
        merged = _merged(own, parts)
        self._hold(own, -1)
        self._hold(merged, +1)
        for claim in asked:
            if claim.amount > 0:
                self._balances[claim.account].windows = claim.windows
        # A retry may act as late as a first attempt, so the horizon starts again: to the end.
        self._live.pop(intent, None)
        self._live[intent] = _Reservation(now.mono_ns, receipt, merged)
        return receipt

    def usage(self, holder: str, now: Now) -> tuple[Spent, ...]:
        """Return what each account of `holder` has used, in its window with the least room."""
        found = []
        for account in sorted(self._by_holder.get(holder, ())):
            balance = self._balances[account]
            windows = [
                Spent(
                    account,
                    window,
                    balance.held + balance.spent.within(window.seconds, now.mono_ns),
                    window.allowance(self._peak(account.key, window, now)),
                )
                for window in balance.windows
            ]
            tightest = min(windows, key=lambda one: one.allowance - one.used, default=None)
            if tightest is not None and tightest.used:
                found.append(tightest)
        return tuple(found)

    # -- what became of it

    def settle(self, intent: Intent, now: Now) -> bool:
        """Make a reservation final: its effect was seen. False: there is none."""
        reservation = self._live.pop(intent, None)
        if reservation is None:
            return False
        self._hold(reservation.parts, -1)
        for account, part in reservation.parts.items():
            at_ns = self._balances[account].spent.add(now.mono_ns, part.amount)
            for victim in part.victims:
                self._remember_removal(account, victim, at_ns)
        # WHY deletes alone: one life ends once, but an object can be scaled down many times.
        if intent.operation is Operation.DELETE and intent.uid:
            self._settled.pop(intent, None)
            self._settled[intent] = (now.mono_ns, reservation.receipt)
            _bound(self._settled, SETTLED_KEPT)
        return True

    def refund(self, intent: Intent, now: Now) -> bool:  # noqa: ARG002 told the time like the rest
        """Give a reservation back: it did not happen. False: there is none."""
        reservation = self._live.pop(intent, None)
        if reservation is None:
            return False
        self._hold(reservation.parts, -1)
        for account in reservation.parts:
            self._drop_if_empty(account, reservation.at_ns)
        return True

    def due(self, now: Now) -> tuple[Intent, ...]:
        """Return the intents past the horizon, to be settled or refunded; forget what expired."""
        late_ns = now.mono_ns - HORIZON_S * NS
        found = []
        for intent, reservation in self._live.items():
            if reservation.at_ns > late_ns:
                break
            found.append(intent)
        self._sweep(now)
        return tuple(found)

    def recreated(self, holder: str, key: ObjectKey, now: Now) -> int:
        """Give back what the settled removal of `key` by `holder` cost; return how much."""
        at_ns = now.mono_ns - LONGEST_WINDOW_S * NS
        given = 0
        for account, spent_ns in self._removals.pop((holder, key), ()):
            balance = self._balances.get(account)
            if balance is not None and spent_ns > at_ns:
                given += balance.spent.give_back(spent_ns, 1)
        return given

    def observe_population(self, key: str, count: int, now: Now) -> None:
        """Learn how many objects of the population `key` live now."""
        self._peaks.setdefault(key, Peak()).observe(now.mono_ns, count)

    def forget_blindness(self) -> None:
        """Trust the accounts from here on: what was unknown has been accounted for."""
        self._blind_until_ns = None

    # -- inside

    def _peak(self, key: str, window: Window, now: Now) -> int:
        peak = self._peaks.get(key)
        return 0 if peak is None else peak.within(window.seconds, now.mono_ns)

    def _shortfalls(
        self, claims: Iterable[Claim], now: Now, own: Mapping[Account, Part]
    ) -> tuple[Shortfall, ...]:
        """List every claim and window that cannot be afforded; `own` is asked again, not added."""
        blind = self._blind_until_ns is not None and now.mono_ns < self._blind_until_ns
        return shortfalls(claims, now, own, self._balances, self._peaks, blind=blind)

    def _hold(self, parts: Mapping[Account, Part], sign: int) -> None:
        for account, part in parts.items():
            balance = self._balances.get(account)
            if balance is None:
                balance = self._balances[account] = Balance()
                self._by_holder.setdefault(account.holder, set()).add(account)
            balance.held += sign * part.amount

    def _remember_removal(self, account: Account, victim: ObjectKey, at_ns: int) -> None:
        spot = (account.holder, victim)
        known = self._removals.pop(spot, ())
        # Removed again under the same name: only the latest removal can be undone by a creation.
        kept = tuple(entry for entry in known if entry[0] != account)
        self._removals[spot] = (*kept, (account, at_ns))
        _bound(self._removals, REMOVALS_KEPT)

    def _sweep(self, now: Now) -> None:
        late_ns = now.mono_ns - SETTLED_KEPT_S * NS
        old = []
        for intent, (at_ns, _) in self._settled.items():
            if at_ns > late_ns:
                break
            old.append(intent)
        for intent in old:
            del self._settled[intent]
        if not self._sweep_at:
            self._sweep_at = list(self._balances)
        for account in islice(self._sweep_at, ACCOUNTS_SWEPT):
            self._drop_if_empty(account, now.mono_ns)
        del self._sweep_at[:ACCOUNTS_SWEPT]

    def _drop_if_empty(self, account: Account, now_ns: int) -> None:
        balance = self._balances.get(account)
        if balance is None or balance.held or not balance.spent.empty(now_ns):
            return
        del self._balances[account]
        accounts = self._by_holder[account.holder]
        accounts.discard(account)
        if not accounts:
            del self._by_holder[account.holder]

    # -- checkpoint

    def to_bytes(self, now: Now) -> bytes:
        """Return the whole ledger as bytes; times are ages, since clocks differ between hosts."""
        blind_ns = (self._blind_until_ns or 0) - now.mono_ns
        return _ENCODER.encode(
            _Checkpoint(
                version=VERSION,
                blind_ns=max(0, blind_ns) if self._blind_until_ns is not None else 0,
                accounts=[
                    (account, balance.windows, balance.spent.entries(now.mono_ns))
                    for account, balance in sorted(self._balances.items(), key=lambda one: one[0])
                    if balance.held or not balance.spent.empty(now.mono_ns)
                ],
                live=[
                    (intent, now.mono_ns - one.at_ns, one.receipt, list(one.parts.items()))
                    for intent, one in self._live.items()
                ],
                settled=[
                    (intent, now.mono_ns - at_ns, receipt)
                    for intent, (at_ns, receipt) in self._settled.items()
                    if now.mono_ns - at_ns < SETTLED_KEPT_S * NS
                ],
                removals=[
                    (holder, key, [(account, now.mono_ns - at_ns) for account, at_ns in entries])
                    for (holder, key), entries in self._removals.items()
                ],
                peaks=[
                    (key, peak.entries(now.mono_ns)) for key, peak in sorted(self._peaks.items())
                ],
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes, now: Now, *, complete: bool) -> Ledger:
        """Read a checkpoint. Down-time refills nothing: ages go on from what they were.

        `complete`: nothing can have been admitted since it was written (a planned hand-over, or
        a record written ahead of each answer). Otherwise what may have happened since counts as
        spent: every account is full for one horizon.
        Errors: CheckpointError for bytes of another version or of something else.
        """
        try:
            record = _DECODER.decode(data)
        except msgspec.DecodeError as problem:
            raise CheckpointError(f"ledger checkpoint cannot be read: {problem}") from problem
        if record.version != VERSION:
            raise CheckpointError(
                f"ledger checkpoint has version `{record.version}`, wanted `{VERSION}`"
            )
        blind_ns = record.blind_ns if complete else HORIZON_S * NS
        ledger = cls()
        if blind_ns > 0:
            ledger._blind_until_ns = now.mono_ns + blind_ns
        for account, windows, entries in record.accounts:
            ledger._hold({account: Part(0)}, +1)
            balance = ledger._balances[account]
            balance.windows = windows
            for age_ns, amount in entries:
                balance.spent.add(now.mono_ns - age_ns, amount)
        for intent, age_ns, receipt, parts in record.live:
            # WHY no older for the down-time: nobody watched then, so the horizon waits as well.
            held = dict(parts)
            ledger._live[intent] = _Reservation(now.mono_ns - age_ns, receipt, held)
            ledger._hold(held, +1)
        for intent, age_ns, receipt in record.settled:
            ledger._settled[intent] = (now.mono_ns - age_ns, receipt)
        for holder, key, known in record.removals:
            ledger._removals[holder, key] = tuple((a, now.mono_ns - age_ns) for a, age_ns in known)
        for key_, values in record.peaks:
            peak = ledger._peaks[key_] = Peak()
            peak.load([(now.mono_ns - age_ns, value) for age_ns, value in values])
        return ledger


class _Checkpoint(msgspec.Struct, array_like=True):
    """A ledger as it is written; ages in nanoseconds."""

    version: int
    blind_ns: int
    accounts: list[tuple[Account, tuple[Window, ...], list[tuple[int, int]]]]
    live: list[tuple[Intent, int, Receipt, list[tuple[Account, Part]]]]
    settled: list[tuple[Intent, int, Receipt]]
    removals: list[tuple[str, ObjectKey, list[tuple[Account, int]]]]
    peaks: list[tuple[str, list[tuple[int, int]]]]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Checkpoint)


def _parts(claims: Iterable[Claim]) -> dict[Account, Part]:
    """Add up what is asked of each account."""
    parts: dict[Account, Part] = {}
    for claim in claims:
        if claim.amount <= 0:
            continue
        # INVARIANT: a re-creation gives back one, so more victims than amount would give too much.
        victims = claim.victims if len(claim.victims) <= claim.amount else ()
        known = parts.get(claim.account, Part(0))
        parts[claim.account] = Part(known.amount + claim.amount, known.victims + victims)
    return parts


def _merged(own: Mapping[Account, Part], parts: Mapping[Account, Part]) -> dict[Account, Part]:
    """Keep the higher amount of each account."""
    more = {
        account: part
        for account, part in parts.items()
        if account not in own or part.amount > own[account].amount
    }
    return {**own, **more}


def _bound(kept: dict[K, V], limit: int) -> None:
    """Forget the oldest entries past the limit."""
    for key in oldest(kept, limit):
        del kept[key]
