"""Whether claims can be afforded: what accounts hold and have spent, against their windows.

Apart from the ledger, which keeps the accounts: this is asked for every delete, and machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from suture.budget.claims import Account, Claim, Part, Shortfall
from suture.budget.sliding import Peak, SlidingSum
from suture.model.clock import Now, Window


class Balance:
    """One account: what is settled, what is held, and the windows it was last asked under."""

    __slots__ = ("held", "spent", "windows")

    def __init__(self) -> None:
        self.spent = SlidingSum()
        self.held = 0
        self.windows: tuple[Window, ...] = ()


def shortfalls(
    claims: Iterable[Claim],
    now: Now,
    own: Mapping[Account, Part],
    balances: Mapping[Account, Balance],
    peaks: Mapping[str, Peak],
    *,
    blind: bool,
) -> tuple[Shortfall, ...]:
    """List every claim and window that cannot be afforded; `own` is asked again, not added.

    `peaks` are of populations, by their keys. `blind`: every account counts as fully spent.
    """
    asked: dict[Account, int] = {}
    found: list[Shortfall] = []
    now_ns = now.mono_ns
    for claim in claims:
        if claim.amount <= 0:
            continue
        account = claim.account
        total = asked[account] = asked.get(account, 0) + claim.amount
        balance = balances.get(account)
        held = balance.held if balance is not None else 0
        if account in own:
            held -= own[account].amount
        peak = peaks.get(claim.key)
        for window in claim.windows:
            seconds, used = window.seconds, held
            if balance is not None:
                used += balance.spent.within(seconds, now_ns)
            # WHY first: what the fixed count affords, no share of a population takes back.
            if not blind and used + total <= window.count:
                continue
            population = claim.population
            if peak is not None:
                population = max(population, peak.within(seconds, now_ns))
            allowance = window.allowance(population)
            if blind:
                used = max(used, allowance)
            if used + total > allowance:
                found.append(Shortfall(claim, window, allowance, used))
    return tuple(found)
