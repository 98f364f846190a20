"""Who holds which rights: bindings read with their roles, and all that one subject has by them.

Beside `privileges`, which says what a change does to these. Users and groups have no object of
their own: theirs are found by walking all bindings.
Source: rbac/v1; the RBAC authorizer adds up what all bindings grant.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from suture.model.actor import SERVICE_ACCOUNT, account_of
from suture.model.edges import Edge
from suture.model.facts import RoleBindingFacts, RoleFacts
from suture.model.graph import GraphView
from suture.model.names import CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS
from suture.model.objects import ClusterObject
from suture.model.rights import Right, rights_of

BINDINGS_WALKED = 20_000
"""LIMIT: bindings looked through for those of a user or group: 1 µs each."""

Rights = frozenset[Right]


class Subject(msgspec.Struct, frozen=True, gc=False, order=True):
    """Somebody as a binding names them: `user`, `group` or `account`; accounts by user name."""

    kind: str
    name: str


class Grant(msgspec.Struct, frozen=True, gc=False):
    """One binding, read: to whom it gives which rights; `namespace` empty: in the whole cluster."""

    subjects: frozenset[Subject]
    rights: Rights
    namespace: str


def read_binding(
    view: GraphView, binding: ClusterObject, *, role: ClusterObject | None = None
) -> Grant:
    """Return what a binding gives; `role`: its role as it would be, instead of as it is."""
    subjects: set[Subject] = set()
    facts = binding.facts
    if isinstance(facts, RoleBindingFacts):
        subjects |= {Subject("group", name) for name in facts.groups}
        subjects |= {
            Subject("user", name) for name in facts.users if not name.startswith(SERVICE_ACCOUNT)
        }
    role_key = None
    for need in binding.needs:
        if need.edge is Edge.SUBJECT:
            name = f"{SERVICE_ACCOUNT}{need.target.namespace}:{need.target.name}"
            subjects.add(Subject("account", name))
        elif need.edge is Edge.ROLE:
            role_key = need.target
    if role is None and role_key is not None:
        row = view.find(role_key)
        role = view.at(row) if row is not None else None
    granted = role.facts if role is not None else None
    rights = frozenset(rights_of(granted.rules)) if isinstance(granted, RoleFacts) else frozenset()
    return Grant(frozenset(subjects), rights, binding.key.namespace)


def held_by(view: GraphView, subject: Subject, without: set[int], namespace: str) -> Rights:
    """Return what a subject may do in a namespace, or everywhere, by its other bindings."""
    found: set[Right] = set()
    for row in bindings_of(view, subject):
        if row in without:
            continue
        grant = read_binding(view, view.at(row))
        if grant.namespace in ("", namespace):
            found |= grant.rights
    return frozenset(found)


def bindings_of(view: GraphView, subject: Subject) -> Iterable[int]:
    """Return the bindings that name somebody."""
    if subject.kind == "account":
        key = account_of(subject.name)
        return view.named_by(key, Edge.SUBJECT) if key is not None else []
    return [
        row
        for kind in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS)
        for row in view.rows(kind)[:BINDINGS_WALKED]
        if _names(view.facts(row), subject)
    ]


def _names(facts: object, subject: Subject) -> bool:
    if not isinstance(facts, RoleBindingFacts):
        return False
    return subject.name in (facts.groups if subject.kind == "group" else facts.users)
