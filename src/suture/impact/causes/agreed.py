"""Custom resources whose end a person agreed to in their own words, and what goes with them.

Beside `model.consent`, where the word is Suture's and holds for one request: here it is the
object's, which its operator asks for before it lets go of data. Such a word is believed for an hour
and of people only: what a machine writes before it deletes is part of the same mistake. It holds
for whoever deletes then, as operators do what they were asked for. Pure; `recent` remembers it.
LIMIT: what says so in labels, or by a finalizer that is added or taken off, is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.leave import gives_leave
from suture.model.names import CLAIMS
from suture.model.request import Request
from suture.model.writes import HOUR_S

_SYSTEM: Final = "system:"


def remember_leave(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a person gave leave for a custom resource to be deleted."""
    identity, old = request.user.username, request.old
    if old is None or account_of(identity) is not None or identity.startswith(_SYSTEM):
        return
    own = frozenset({request.key.name, old.uid})
    if gives_leave(request.old_body, request.new_body, own):
        view.history.writes.count(_leave(old.uid), now)


def remember_agreed_end(view: GraphView, row: int, now: Now) -> None:
    """Remember the name of a custom resource that is deleted with leave: what is called so ends."""
    namespace = view.namespace(row)
    if namespace and is_agreed(view, row, now):
        view.history.writes.count(_ended(namespace), now)
        view.history.writes.count(_ended(namespace, view.name(row)), now)


def is_agreed(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a person gave leave within the hour for an object to be deleted."""
    if now is None:
        return False
    return view.history.writes.counted(_leave(view.uid(row)), now, HOUR_S) > 0


def ends_as_agreed(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether an object without owner is called after a custom resource deleted with leave.

    In its namespace: it has that one's name, or that and more behind it. A claim has the name of
    its volume before it.
    """
    namespace = view.namespace(row)
    if now is None or not namespace or view.has_owner(row):
        return False
    counted = view.history.writes.counted
    # WHY first: hardly any namespace has one, and each part of a name costs as much to ask of.
    if not counted(_ended(namespace), now, HOUR_S):
        return False
    return any(
        counted(_ended(namespace, stem), now, HOUR_S) > 0
        for stem in _stems(view.name(row), claim=view.resource(row) == CLAIMS)
    )


def _stems(name: str, *, claim: bool) -> Iterator[str]:
    """Yield a name and what is left of it word by word: `a-b-c`, `a-b`, `a`."""
    if claim:
        # SOURCE: StatefulSet controller: `<template>-<set>-<ordinal>`.
        _, _, name = name.rpartition("-")[0].partition("-")
    while name:
        yield name
        at = max(name.rfind("-"), name.rfind("."))
        name = name[:at] if at > 0 else ""


def _leave(uid: str) -> str:
    return f"leave/{uid}"


def _ended(namespace: str, name: str = "") -> str:
    return f"ended/{namespace}/{name}"
