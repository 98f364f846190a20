"""Chance that is the same every time: dice by seed and place, and names made with them.

Apart from what it is used for, so that every part of a cluster has dice of its own: one kind can be
made without the others, and a change to one leaves the others as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import product
from random import Random

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes name suffixes of. SOURCE: k8s.io/apimachinery/pkg/util/rand."""

_TOKEN_PLACES = (0, 2, 4, 6, 9)

_PAIRS = tuple(map("".join, product(LETTERS, repeat=2)))


def dice(seed: int, *place: object) -> Random:
    """Return dice that fall the same way for the same seed and place, on every machine."""
    text = "/".join(map(str, (seed, *place)))
    return Random(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))  # noqa: S311


def suffix(rng: Random, length: int = 5) -> str:
    """Return a name's random end, as controllers write it."""
    draws = (length + 1) // 2
    return "".join([_PAIRS[int(rng.random() * len(_PAIRS))] for _ in range(draws)])[:length]


def word(seed: int, *place: object, length: int = 10) -> str:
    """Return the letters of a place, always the same: a hash as controllers put it in names."""
    text = "/".join(map(str, (seed, *place)))
    digest = blake2b(text.encode(), digest_size=length).digest()
    return "".join([LETTERS[byte % len(LETTERS)] for byte in digest])


def uid(seed: int, *place: object) -> str:
    """Return the uid of what stands at a place: the owner's, wherever it is asked for."""
    text = "/".join(map(str, (seed, *place)))
    digits = blake2b(text.encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def token(uid: str) -> str:
    """Return the five letters at the end of a name that goes with an object's life."""
    return "".join([LETTERS[int(uid[at : at + 2], 16) % len(LETTERS)] for at in _TOKEN_PLACES])


def shares(total: int, weights: Sequence[float], *, least: int = 0) -> list[int]:
    """Split `total` by weight into whole parts of at least `least`, exactly.

    Errors: ValueError when the parts cannot all have the least.
    """
    spare = total - least * len(weights)
    if spare < 0:
        raise ValueError(f"{total} cannot be split into {len(weights)} parts of {least} or more")
    sum_of = sum(weights)
    exact = [spare * weight / sum_of for weight in weights]
    parts = [int(part) for part in exact]
    # WHY by remainder: the parts that lost most to rounding get what is left over.
    order = sorted(range(len(parts)), key=lambda at: parts[at] - exact[at])
    for at in order[: spare - sum(parts)]:
        parts[at] += 1
    return [part + least for part in parts]
