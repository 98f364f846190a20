"""The words of budgets as values: what is asked, what was granted, what fell short.

Pure data. `ledger` keeps the account; `verdict` makes claims of findings and reads receipts.
"""

from __future__ import annotations

import msgspec

from suture.model.clock import Window
from suture.model.names import ObjectKey


class Claim(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An amount of effect that one intent asks of one account.

    The account is `budget`, `holder` (the operator's name, or an owner root) and `key` (the
    population that is counted, e.g. `services`). `population` is how many of it live now.
    `victims` names counted objects, at most `amount` of them; each is given back when the holder
    re-creates it.
    """

    budget: str
    holder: str
    key: str
    amount: int
    population: int
    windows: tuple[Window, ...]
    victims: tuple[ObjectKey, ...] = ()
    retry_after_s: int | None = None
    """Set: what is asked for heals by itself, so that a shortfall is passing."""

    @property
    def account(self) -> Account:
        """Where this claim is counted."""
        return Account(self.budget, self.holder, self.key)


class Account(msgspec.Struct, frozen=True, gc=False, order=True):
    """Who is counted for what: one sum a window."""

    budget: str
    holder: str
    key: str


class Part(msgspec.Struct, frozen=True, gc=False):
    """What one intent holds of one account."""

    amount: int
    victims: tuple[ObjectKey, ...] = ()


class Shortfall(msgspec.Struct, frozen=True, gc=False):
    """A claim that one of its windows cannot afford. `used` is spent and reserved, without it."""

    claim: Claim
    window: Window
    allowance: int
    used: int


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What the ledger says of an intent's claims, all or nothing.

    `granted`: every claim fits every window. `forced`: it does not, and was counted all the same
    (stages observe and warn). Neither: nothing was counted.
    """

    granted: bool
    shortfalls: tuple[Shortfall, ...] = ()
    forced: bool = False

    @property
    def counted(self) -> bool:
        """Whether the ledger holds the amounts."""
        return self.granted or self.forced


class Spent(msgspec.Struct, frozen=True, gc=False):
    """What an account has used in the window with the least room left; for messages and views."""

    account: Account
    window: Window
    used: int
    allowance: int
