"""Names that stand for many: ranges, the counter `{i}` and the run's own mark `{run}`.

Lives beside the format because these are its only two notations; pure, and used alike by steps,
shapes and what is meant to go.

    pod-{0..29}     thirty names, also {00..29} and {a..e}
    pod-{i}         the number of the write, from 0; {i+1} counts from 1, {i:03} pads
    {red,blue}      two names
    {run}           six letters that no other run has
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from suture.errors import InputError

# LIMIT: more objects than one scenario file should make; the largest known incident has 2,000.
MOST_NAMES = 20_000

_RANGE = re.compile(r"\{(-?\d+|[a-z])\.\.(-?\d+|[a-z])\}")
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_COUNTER = re.compile(r"\{i(?:([+-])(\d+))?(?::(0?\d+))?\}")
_RUN = "{run}"


class ExpansionError(InputError):
    """A range of names cannot be read."""

    code = "expansion_malformed"


def expand(texts: Iterable[str]) -> list[str]:
    """Return the names with every range and choice written out, in order."""
    found = [name for text in texts for name in _expand_one(text)]
    if len(found) > MOST_NAMES:
        raise ExpansionError(f"stands for {len(found)} names; {MOST_NAMES} is the most")
    return found


def _expand_one(text: str) -> list[str]:
    spread, choice = _RANGE.search(text), _CHOICE.search(text)
    if spread is not None and (choice is None or spread.start() < choice.start()):
        match, options = spread, _span(spread[1], spread[2])
    elif choice is not None:
        match, options = choice, [option.strip() for option in choice[1].split(",")]
    else:
        return [text]
    rest = _expand_one(text[match.end() :])
    if len(options) * len(rest) > MOST_NAMES:
        raise ExpansionError(f"`{text}` stands for more than {MOST_NAMES} names")
    head = text[: match.start()]
    return [head + option + tail for option, tail in itertools.product(options, rest)]


def _span(first: str, last: str) -> list[str]:
    if first.isalpha() != last.isalpha():
        raise ExpansionError(f"`{{{first}..{last}}}` mixes letters and numbers")
    if first.isalpha():
        return [chr(code) for code in _steps(ord(first), ord(last))]
    width = len(first) if first.startswith("0") and len(first) > 1 else 0
    if abs(int(last) - int(first)) >= MOST_NAMES:
        raise ExpansionError(f"`{{{first}..{last}}}` stands for more than {MOST_NAMES} names")
    return [f"{number:0{width}d}" for number in _steps(int(first), int(last))]


def _steps(first: int, last: int) -> range:
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)


def counts(value: Any) -> bool:
    """Whether `{i}` stands anywhere in a value."""
    if isinstance(value, str):
        return _COUNTER.search(value) is not None
    if isinstance(value, Mapping):
        return any(counts(key) or counts(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(map(counts, value))
    return False


def fill(value: Any, i: int, run: str = "") -> Any:
    """Return a value with `{i}` and `{run}` written in, in every string and key of it."""
    if isinstance(value, str):
        return _fill_text(value, i, run)
    if isinstance(value, Mapping):
        return {fill(key, i, run): fill(item, i, run) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, i, run) for item in value]
    return value


def _fill_text(text: str, i: int, run: str) -> str:
    if "{" not in text:
        return text

    def number(match: re.Match[str]) -> str:
        sign, offset, width = match[1], match[2], match[3]
        shown = i
        if offset:
            shown += int(offset) if sign == "+" else -int(offset)
        return f"{shown:0{int(width or 0)}d}"

    text = _COUNTER.sub(number, text)
    return text.replace(_RUN, run) if run else text
