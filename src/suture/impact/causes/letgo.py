"""Namespaces that a person takes from another one, by which they were kept or led.

A tree of namespaces has its parents in custom resources, one in each child; a tool that works in
many namespaces finds those that are its own by a label. Both say the name of another namespace, and
that a person wrote another there, or none, is remembered: what is kept for the former one goes. Or
the custom resource of a tool lists the namespaces in which it works, and lists one no more.
Pure. Never of machines, which write labels and specs anew by a file.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import Final

from suture.impact.causes.counters import let_go
from suture.impact.ground.kinds import is_custom
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.difference import spec_of, texts_of
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, ObjectKey, Operation
from suture.model.request import Request

HOMES: Final = 4
"""LIMIT: namespaces that one write takes another from; a child has one parent, or a few keepers."""

LISTED: Final = 64
"""LIMIT: namespaces that one write takes out of the lists of a custom resource."""


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
    if is_custom(key.resource):
        old, new = _listed(request.old_body), _listed(request.new_body)
        for place in _there(view, old - new - {namespace}, LISTED):
            writes.count(let_go(place, namespace), now)
        for place in _there(view, new - old, LISTED):
            writes.take_back(let_go(place, namespace), now)
    for home in _there(view, before - after - {namespace}, HOMES):
        writes.count(let_go(namespace, home), now)
    for home in _there(view, after - before, HOMES):
        writes.take_back(let_go(namespace, home), now)


def _said(request: Request) -> tuple[frozenset[str], frozenset[str]]:
    """Return what the labels of a namespace, or the own fields of a spec, said and say."""
    if is_custom(request.key.resource):
        return texts_of(request.old_body), texts_of(request.new_body)
    old, new = request.old, request.new
    if request.key.resource != NAMESPACES or old is None or new is None:
        return frozenset(), frozenset()
    return frozenset(old.labels.values()), frozenset(new.labels.values())


def _listed(body: bytes) -> frozenset[str]:
    """Return the texts in the lists of a spec, and of its parts."""
    spec = spec_of(body)
    parts = (part for part in spec.values() if isinstance(part, dict))
    lists = (
        value
        for each in chain((spec,), parts)
        for value in each.values()
        if isinstance(value, list)
    )
    return frozenset(one for value in lists for one in value if isinstance(one, str))


def _there(view: GraphView, said: frozenset[str], limit: int) -> list[str]:
    """Return the namespaces that are there among some texts, the first few."""
    there = (
        one for one in sorted(said) if one and view.find(ObjectKey(NAMESPACES, "", one)) is not None
    )
    return list(islice(there, limit))
