"""Budgets of a template and their windows, as a constraint sets them: in general and per key.

Windows are parameters, but not of the rules: the ledger alone reads them, so they have a shape of
their own and no place in the template's schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from suture.errors import DocumentError
from suture.model.clock import LONGEST_WINDOW_S, Window
from suture.model.documents import Document, Path, read_as
from suture.policy.format import BudgetFormat, KeyWindowsFormat, WindowFormat
from suture.policy.parameters import Report
from suture.policy.rules import BudgetRef

_SPAN = re.compile(r"(\d{1,9})(s|m|h|d)\Z")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
MAX_WINDOWS = 8
"""LIMIT: windows of one budget; each is looked at for every claim."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget of one constraint: what may be spent, for keys in general and for some by name."""

    constraint: str
    name: str
    windows: tuple[Window, ...]
    by_key: Mapping[str, tuple[Window, ...]]
    retry_after_s: int | None = None

    def ref(self, key: str) -> BudgetRef:
        """Return the budget as a claim on `key` names it."""
        windows = self.by_key.get(key, self.windows)
        return BudgetRef(self.constraint, self.name, windows, self.retry_after_s)

    def at_speed(self, speed: float) -> Budget:
        """Return the budget with windows `speed` times as short, each at least a second long."""
        return replace(
            self,
            windows=_shorter(self.windows, speed),
            by_key={key: _shorter(windows, speed) for key, windows in self.by_key.items()},
        )


def _shorter(windows: tuple[Window, ...], speed: float) -> tuple[Window, ...]:
    return tuple(
        Window(max(1, round(one.seconds / speed)), one.count, one.percent) for one in windows
    )


def windows_parameters(budgets: tuple[BudgetFormat, ...]) -> frozenset[str]:
    """Return the parameters that belong to budgets, and so not to the schema."""
    names = {budget.parameter for budget in budgets}
    return frozenset(names | {budget.by_key for budget in budgets if budget.by_key})


def read_windows(
    written: list[WindowFormat], document: Document, path: Path, report: Report
) -> tuple[Window, ...]:
    """Check windows and return them, the shortest first."""
    windows: dict[int, Window] = {}
    if not written:
        report(document.error(path, "needs at least one window"))
    if len(written) > MAX_WINDOWS:
        report(document.error(path, f"has {len(written)} windows, at most {MAX_WINDOWS}"))
    for index, window in enumerate(written):
        at = (*path, index)
        seconds = _seconds(window.seconds, document, (*at, "seconds"), report)
        if window.count < 0:
            report(document.error((*at, "count"), f"is {window.count}, must be at least 0"))
        if not 0 <= window.percent <= 100:
            report(document.error((*at, "percent"), f"is {window.percent}, must be 0 to 100"))
        if seconds in windows:
            report(document.error((*at, "seconds"), f"another window has {seconds} seconds too"))
        windows[seconds] = Window(seconds, window.count, float(window.percent))
    return tuple(windows[seconds] for seconds in sorted(windows))


def _seconds(written: int | str, document: Document, path: Path, report: Report) -> int:
    seconds = written if isinstance(written, int) else 0
    if isinstance(written, str):
        found = _SPAN.match(written)
        if found is None:
            problem = f"is `{written}`, must be seconds or a span such as `90s`, `5m`, `24h`, `7d`"
            report(document.error(path, problem))
            return 1
        seconds = int(found[1]) * _UNITS[found[2]]
    if not 1 <= seconds <= LONGEST_WINDOW_S:
        bounds = f"1 to {LONGEST_WINDOW_S} ({LONGEST_WINDOW_S // 86_400}d)"
        report(document.error(path, f"is {seconds} seconds, must be {bounds}"))
    return seconds


def read_budget(
    written: BudgetFormat,
    defaults: tuple[Window, ...] | None,
    constraint: str,
    document: Document,
    path: Path,
    *,
    report: Report,
) -> Budget:
    """Return a template's budget as a constraint sets it. `path`: the constraint's parameters."""
    windows = defaults
    try:
        at = (*path, written.parameter)
        if document.at(at) is not None:
            given = read_as(document, list[WindowFormat], at)
            windows = read_windows(given, document, at, report)
        at = (*path, written.by_key)
        keyed: dict[str, KeyWindowsFormat] = {}
        if written.by_key and document.at(at) is not None:
            keyed = read_as(document, dict[str, KeyWindowsFormat], at)
        by_key = {
            key: read_windows(value.windows, document, (*at, key, "windows"), report)
            for key, value in keyed.items()
        }
    except DocumentError as error:
        report(error)
        return Budget(constraint, written.name, (), {})
    if windows is None:
        report(document.error(path, f"lacks the parameter `{written.parameter}`"))
    return Budget(
        constraint, written.name, windows or (), by_key, written.retry_after_seconds or None
    )
