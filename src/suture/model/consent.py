"""What people said with their own hands: objects marked for deletion, and refusals that they read.

Pure and in memory, with one caller, who tells it the time. Bounded: what falls out is no consent,
so that forgetting makes Suture stricter and nothing else.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.difference import UNREADABLE
from suture.model.request import Intent

CONFIRM_DELETE = "suture.dev/confirm-delete"
"""The annotation that confirms the deletion of one life of an object: its value is the uid."""

CONSENT_VALID_S = 3_600
"""LIMIT: how long an object stays marked: a change that somebody watches ends within the hour."""

RECONSIDER_S = 600
"""LIMIT: how long a person who was refused may go on after confirming: longer, and it is another
day's change."""

CONSENTS_KEPT = 16_384
"""LIMIT: marks remembered: a script that marks a namespace of 10,000 objects; 0.2 kB each, 3 MB."""

REFUSED_KEPT = 4_096
"""LIMIT: refusals of people remembered: thousands of deletes of one script; 0.4 kB each, 2 MB."""

NS = 1_000_000_000
_NEEDLE = CONFIRM_DELETE.encode()

K = TypeVar("K")


class _Metadata(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _Document(msgspec.Struct, gc=False):
    metadata: _Metadata | None = None


_decoder = msgspec.json.Decoder(_Document)


def confirmed_uid(body: bytes) -> str:
    """Return the uid whose deletion an object's annotation confirms; empty where none does."""
    # WHY first: hardly any body has it, and then nothing is decoded.
    if _NEEDLE not in body:
        return ""
    try:
        metadata = _decoder.decode(body).metadata
    except UNREADABLE:
        return ""
    annotations = metadata.annotations if metadata is not None else None
    return (annotations or {}).get(CONFIRM_DELETE, "")


class Consents:
    """Marks that people set, by the uid of what they marked, and the refusals that they were told.

    A mark that was there before Suture looked is none: nobody knows who set it.
    """

    __slots__ = ("_marked", "_refused")

    def __init__(self) -> None:
        self._marked: dict[str, int] = {}
        self._refused: dict[Intent, int] = {}

    def note_write(self, uid: str, before: bytes, after: bytes, now: Now, *, person: bool) -> None:
        """Learn from an admitted write of the object `uid` whether its mark came or went.

        Only a person's mark counts, and only where their own write set it; whoever takes it off
        takes it back.
        """
        # WHY in this order: what machines write is looked at only where a mark is known.
        if uid not in self._marked and not (person and uid and _NEEDLE in after):
            return
        marked = confirmed_uid(after) == uid
        if not marked:
            self._marked.pop(uid, None)
        elif confirmed_uid(before) != uid:
            self._marked.pop(uid, None)
            if person:
                _keep(self._marked, uid, now.mono_ns, CONSENTS_KEPT)

    def confirms(self, uid: str, body: bytes, now: Now, *, within_s: int = CONSENT_VALID_S) -> bool:
        """Whether a person marked this life of an object lately, and the mark is still on it."""
        since = self._marked.get(uid) if uid else None
        if since is None or now.mono_ns - since > within_s * NS:
            return False
        return confirmed_uid(body) == uid

    def note_refused(self, intent: Intent, now: Now) -> None:
        """Remember that a person was refused and told why."""
        _keep(self._refused, intent, now.mono_ns, REFUSED_KEPT)

    def was_refused(self, intent: Intent, now: Now) -> bool:
        """Whether the same intent was refused within `RECONSIDER_S`."""
        since = self._refused.get(intent)
        return since is not None and now.mono_ns - since <= RECONSIDER_S * NS


def _keep(kept: dict[K, int], key: K, at_ns: int, limit: int) -> None:
    """Remember a moment; the oldest entries past the limit are forgotten."""
    kept.pop(key, None)
    kept[key] = at_ns
    for one in oldest(kept, limit):
        del kept[one]
