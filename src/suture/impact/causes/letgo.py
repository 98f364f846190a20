"""Namespaces that a person takes from another one, by which they were kept or led.

A tree of namespaces has its parents in custom resources, one in each child; a tool that works in
many namespaces finds those that are its own by a label. Both say the name of another namespace, and
that a person wrote another there, or none, is remembered: what is kept for the former one goes.
Pure. Never of machines, which write labels and specs anew by a file.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from suture.impact.causes.counters import let_go
from suture.impact.ground.kinds import is_custom
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.difference import texts_of
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, ObjectKey, Operation
from suture.model.request import Request

HOMES: Final = 4
"""LIMIT: namespaces that one write takes another from; a child has one parent, or a few keepers."""


def remember_let_go(request: Request, view: GraphView, now: Now) -> None:
    """Remember which other namespaces a write of a person names no more, for its own one."""
    if request.operation is not Operation.UPDATE or request.subresource:
        return
    key = request.key
    namespace = key.name if key.resource == NAMESPACES else key.namespace
    if not namespace or not is_person(request.user.username):
        return
    before, after = _said(request)
    writes = view.history.writes
    for home in _homes(view, before - after - {namespace}):
        writes.count(let_go(namespace, home), now)
    for home in _homes(view, after - before):
        writes.take_back(let_go(namespace, home), now)


def _said(request: Request) -> tuple[frozenset[str], frozenset[str]]:
    """Return what the labels of a namespace, or the own fields of a spec, said and say."""
    if is_custom(request.key.resource):
        return texts_of(request.old_body), texts_of(request.new_body)
    old, new = request.old, request.new
    if request.key.resource != NAMESPACES or old is None or new is None:
        return frozenset(), frozenset()
    return frozenset(old.labels.values()), frozenset(new.labels.values())


def _homes(view: GraphView, said: frozenset[str]) -> list[str]:
    """Return the namespaces that are there among some texts, the first few."""
    there = (
        one for one in sorted(said) if one and view.find(ObjectKey(NAMESPACES, "", one)) is not None
    )
    return list(islice(there, HOMES))
