"""Spans of time as people write them in scenario files: `90s`, `5m`, `1h30m`, `10 min`.

Lives beside the format because only scenario files hold such spans; everywhere else a number
carries its unit in its name. Pure.
"""

from __future__ import annotations

import re

from suture.errors import InputError

_UNITS: dict[str, float] = {
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
}
_WORDS = {
    "second": "s",
    "sec": "s",
    "minute": "m",
    "min": "m",
    "hour": "h",
    "hr": "h",
    "day": "d",
    "week": "w",
    "millisecond": "ms",
}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]+)")

# LIMIT: ten weeks; a longer pace in a scenario is a slip of the pen.
LONGEST_S = 10 * 604800.0


class DurationError(InputError):
    """A span of time cannot be read."""

    code = "duration_malformed"


def seconds(text: str | float) -> float:
    """Return a span in seconds; a bare number is seconds already.

    Errors: DurationError for anything that is not a span, for negative and for absurd ones.
    """
    found = _number(text) if isinstance(text, int | float) else _parse(text.strip())
    if found > LONGEST_S:
        raise DurationError(f"`{text}` is longer than ten weeks")
    return found


def _number(value: float) -> float:
    if isinstance(value, bool) or value < 0:
        raise DurationError(f"`{value}` is not a span of time; write `90s` or `5m`")
    return float(value)


def _parse(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            break
        unit = part[2].lower()
        unit = unit if unit in _UNITS else _WORDS.get(unit.rstrip("s") or unit, "")
        if not unit:
            break
        total += float(part[1]) * _UNITS[unit]
        at = part.end()
        while at < len(text) and text[at] == " ":
            at += 1
    if not text or at < len(text):
        raise DurationError(f"`{text}` is not a span of time; write `90s`, `5m` or `1h30m`")
    return total


def spoken(span_s: float) -> str:
    """Return a span as a person would say it: `45 s`, `2 min 5 s`."""
    if span_s < 60:
        return f"{span_s:.3g} s"
    minutes, rest = divmod(round(span_s), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
