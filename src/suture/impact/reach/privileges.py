"""Rights that a change gives away, and rights that those at work would miss.

A binding gives the rights of its role to its subjects; a role that changes, to the subjects of all
its bindings. What a subject has by another binding it neither gains nor loses.
Source: rbac/v1; the RBAC authorizer adds up what all bindings grant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from suture.impact.effects import PrivilegeGained, PrivilegeLost
from suture.impact.ground.builtin import is_bootstrapped
from suture.impact.ground.change import Change
from suture.impact.ordinary.copies import is_for_former
from suture.impact.ordinary.hands import is_dropped
from suture.impact.ordinary.keepers import told_by_parent
from suture.impact.ordinary.rebound import is_rebound
from suture.impact.reach.atworkas import is_system, makers_as, running_as, running_of
from suture.impact.reach.holding import Grant, Rights, Subject, bindings_of, held_by, read_binding
from suture.impact.reach.narrowed import aggregating, emptied, is_strange, wholes
from suture.impact.scene import Scene, victim_of
from suture.model.actor import SERVICE_ACCOUNT, account_of
from suture.model.edges import Edge
from suture.model.facts import RoleFacts
from suture.model.graph import GraphView
from suture.model.names import (
    BINDINGS,
    CLUSTER_ROLES,
    RBAC,
    ROLES,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject
from suture.model.rights import Right, escalates

ROLE_TYPES = frozenset({ROLES, CLUSTER_ROLES})
GIVING = RBAC | {SERVICE_ACCOUNTS}
"""Types whose removal takes rights away: what grants them, and who has them."""

RIGHTS_NAMED = 16
"""LIMIT: rights written out in an effect; a rule on a message names three."""

SUBJECTS_TOLD = 64
"""LIMIT: subjects of one change that are told of, one effect each; a role of a platform that all
its tenants share has hundreds of bindings, and the first 64 tell as much."""

MOST = 3
"""From how many accounts at work on a binding that lets go of more than half of them was not meant
to: their list was replaced."""

LEAST = 3
"""How many times as many rights a role had where what is left is taken for none of them."""

REMOVED_READ = 256
"""LIMIT: bindings, roles and accounts among what a request takes away that are read: 20 µs each,
5 ms; the first ones tell."""


def touches_rights(change: Change) -> bool:
    """Whether a change may give or take rights."""
    made = change.rewritten
    if made is not None and made.after.key.resource in RBAC:
        return True
    return bool(change.direct)


def privilege_effects(scene: Scene) -> Iterator[PrivilegeGained | PrivilegeLost]:
    """Yield who would be allowed more, and who less."""
    made = scene.change.rewritten
    if scene.change.direct:
        yield from _removed(scene)
    elif made is not None:
        resource = made.after.key.resource
        if resource in BINDINGS:
            yield from _binding(scene, made.before, made.after)
        elif resource in ROLE_TYPES:
            yield from _role(scene, made.before, made.after)


# ---- what changes


def _removed(scene: Scene) -> Iterator[PrivilegeLost]:
    view, kinds = scene.view, scene.kinds
    gone = {row for kind in RBAC for row in kinds.get(kind, ())}
    accounts = kinds.get(SERVICE_ACCOUNTS, [])
    for row in accounts[:REMOVED_READ]:
        yield from _account(scene, row, gone)
    made_of = wholes(view) if CLUSTER_ROLES in kinds else []
    for row in sorted(gone)[:REMOVED_READ]:
        thing = view.at(row)
        if thing.key.resource in BINDINGS:
            grant = read_binding(view, thing)
            yield from _lost(scene, thing, [(grant, None)], gone, row)
        else:
            bound = [one for one in view.sources(row, Edge.ROLE) if one not in gone]
            grants = [(read_binding(view, view.at(one), role=thing), None) for one in bound]
            yield from _lost(scene, thing, grants, gone | set(bound), row)
            if thing.key.resource == CLUSTER_ROLES:
                yield from _of_wholes(scene, thing, gone, row, made_of)


def _of_wholes(
    scene: Scene, part: ClusterObject, gone: set[int], row: int, of: list[tuple[int, RoleFacts]]
) -> Iterator[PrivilegeLost]:
    """Yield what those lose who are bound to a role that the control plane fills from this one."""
    view = scene.view
    for whole, now, then in emptied(view, part, gone, of):
        bound = [one for one in view.sources(whole, Edge.ROLE) if one not in gone]
        yield from _lost(scene, part, _through(view, bound, now, then), gone | set(bound), row)


def _through(
    view: GraphView, bindings: Iterable[int], now: ClusterObject, then: ClusterObject
) -> list[tuple[Grant, Grant]]:
    """Return what bindings to a role give, as it is and as it will be."""
    read = [view.at(one) for one in bindings]
    return [(read_binding(view, one, role=now), read_binding(view, one, role=then)) for one in read]


def _account(scene: Scene, row: int, gone: set[int]) -> Iterator[PrivilegeLost]:
    """Yield what running pods lose with the account that they run as."""
    running = running_as(scene, row)
    if not running:
        return
    key = scene.view.key(row)
    subject = Subject("account", f"{SERVICE_ACCOUNT}{key.namespace}:{key.name}")
    rights = {
        right
        for binding in bindings_of(scene.view, subject)
        if binding not in gone
        for right in read_binding(scene.view, scene.view.at(binding)).rights
    }
    yield PrivilegeLost(
        subject=f"{subject.kind} {subject.name}", source=scene.victim(row), rights=len(rights),
        system=is_system(scene, subject), running=running, explained=scene.causes.explains(row),
    )  # fmt: skip


def _binding(
    scene: Scene, before: ClusterObject | None, after: ClusterObject
) -> Iterator[PrivilegeGained | PrivilegeLost]:
    view = scene.view
    new = read_binding(view, after)
    old = read_binding(view, before) if before is not None else None
    row = view.find(after.key)
    own = {row} if row is not None else set()
    yield from _gained(scene, after, [(old, new)], own)
    if old is not None and before is not None:
        strange = is_strange(scene, before, after)
        yield from _lost(scene, after, [(old, new)], own, None, strange=strange)


def _role(
    scene: Scene, before: ClusterObject | None, after: ClusterObject
) -> Iterator[PrivilegeGained | PrivilegeLost]:
    view = scene.view
    bindings = view.named_by(after.key, Edge.ROLE)
    changes = [
        (
            read_binding(view, view.at(one), role=before) if before is not None else None,
            read_binding(view, view.at(one), role=after),
        )
        for one in bindings
    ]
    through: set[int] = set()
    for row, now, then in aggregating(view, before, after):
        ones = view.sources(row, Edge.ROLE)
        through.update(ones)
        changes += _through(view, ones, now, then)
    # WHY not the bindings themselves: a subject's other bindings of this same role change as well.
    own = set(bindings)
    yield from _gained(scene, after, changes, own)
    if before is not None:
        lost = [(old, new) for old, new in changes if old is not None]
        strange = is_strange(scene, before, after)
        yield from _lost(scene, after, lost, own | through, None, strange=strange)


# ---- what is gained and lost


def _gained(
    scene: Scene,
    source: ClusterObject,
    changes: Sequence[tuple[Grant | None, Grant]],
    own: set[int],
) -> Iterator[PrivilegeGained]:
    told = 0
    for old, new in changes:
        for subject in sorted(new.subjects):
            had = old.rights if old is not None and subject in old.subjects else frozenset()
            fresh = new.rights - had
            if not fresh:
                continue
            rights = _beyond(fresh, held_by(scene.view, subject, own, new.namespace) | had)
            if not rights:
                continue
            told += 1
            if told > SUBJECTS_TOLD:
                return
            yield PrivilegeGained(
                subject=f"{subject.kind} {subject.name}",
                source=victim_of(source),
                cluster_wide=not new.namespace,
                rights=tuple(str(right) for right in rights[:RIGHTS_NAMED]),
                escalates=tuple(dict.fromkeys(word for one in rights for word in escalates(one))),
                own=_is_actor(scene, subject),
            )


def _lost(
    scene: Scene,
    source: ClusterObject,
    changes: Sequence[tuple[Grant, Grant | None]],
    gone: set[int],
    row: int | None,
    *,
    strange: bool = False,
) -> Iterator[PrivilegeLost]:
    told = 0
    for old, new in changes:
        none = new is not None and not (new.rights and _binds(scene.view, new.subjects))
        left_out = _left_out(scene, old, new) if new is not None else frozenset()
        other = new is not None and _is_another(old.rights, new.rights)
        for subject in sorted(old.subjects):
            left = new.rights if new is not None and subject in new.subjects else frozenset()
            lost = _missing(scene.view, subject, old, left, gone)
            if not lost:
                continue
            running = running_of(scene, subject)
            system = is_system(scene, subject, bootstrapped=is_bootstrapped(source))
            if not (running or system):
                continue
            told += 1
            if told > SUBJECTS_TOLD:
                return
            passed_on = new is not None and _passed_on(scene, subject, old, new)
            narrowed = (
                strange
                and new is not None
                and (new.rights < old.rights or subject not in new.subjects)
            )
            wiped = none or passed_on or narrowed or subject in left_out or (other and bool(left))
            yield PrivilegeLost(
                subject=f"{subject.kind} {subject.name}",
                source=victim_of(source),
                rights=len(lost),
                system=system,
                running=running,
                wiped=wiped,
                explained=row is not None
                and not _is_stripped(scene, subject, row, gone)
                and (
                    scene.causes.explains(row)
                    or (
                        not system
                        and (
                            is_rebound(scene, row)
                            or is_for_former(scene, row)
                            or told_by_parent(scene, row)
                        )
                    )
                ),
            )


def _is_stripped(scene: Scene, subject: Subject, row: int, gone: set[int]) -> bool:
    """Whether what leaves a binding out keeps the workload at work by it, and no other binding.

    WHY that is no cause: a manifest that has lost its rights looks like one that gave them up. What
    is given up runs no more, or as another account; what is renamed is there before.
    """
    view, key = scene.view, account_of(subject.name)
    account = view.find(key) if key is not None else None
    if account is None or not is_dropped(scene, row):
        return False
    if any(one not in gone for one in bindings_of(view, subject)):
        return False
    return any(
        scene.stays(maker)
        and (account, True) in view.targets(maker, Edge.SERVICE_ACCOUNT)
        and not is_dropped(scene, maker)
        for maker in makers_as(scene, subject)
    )


def _missing(
    view: GraphView, subject: Subject, old: Grant, left: Rights, gone: set[int]
) -> list[Right]:
    """Return which rights somebody has no more by any other binding, on what is there."""
    missing = old.rights - left
    if not missing:
        return []
    beyond = _beyond(missing, held_by(view, subject, gone, old.namespace) | left)
    return [one for one in beyond if not _of_nothing(view, one, old.namespace)]


def _is_another(old: Rights, new: Rights) -> bool:
    """Whether rights are others altogether, and next to none of as many as there were.

    So a list of rules comes to be that was replaced by the one which was to be added to it. What is
    given for another version of the same types is about as much.
    """
    return (
        LEAST * len(new) < len(old)
        and old.isdisjoint(new)
        and len(_beyond(new, old)) == len(new)
        and len(_beyond(old, new)) == len(old)
    )


def _of_nothing(view: GraphView, right: Right, namespace: str) -> bool:
    """Whether a right is on one object by its name, in one namespace, and that is not there.

    So the settings of a version that is over go, and next the right to read them.
    """
    if not (right.name and namespace):
        return False
    key = ObjectKey(Resource(right.group, right.resource), namespace, right.name)
    row = view.find(key)
    return view.listed(key.resource) and (row is None or view.gone(row))


def _left_out(scene: Scene, old: Grant, new: Grant) -> frozenset[Subject]:
    """Return whom a binding lets go of that are most of those at work by it, taking nobody in.

    WHY three: two of three go as tenants do; a list that was replaced by another loses nearly all.
    """
    if not new.subjects < old.subjects or len(old.subjects) > SUBJECTS_TOLD:
        return frozenset()
    working = {one for one in old.subjects if running_of(scene, one)}
    left = working - new.subjects
    return frozenset(left if len(left) >= MOST and 2 * len(left) > len(working) else ())


def _passed_on(scene: Scene, subject: Subject, old: Grant, new: Grant) -> bool:
    """Whether a binding leaves an account for others, all of which are at work as something else.

    One that is renamed goes to an account for which nothing runs yet, or the same workload does.
    """
    heirs = new.subjects - old.subjects
    if subject in new.subjects or not heirs:
        return False
    makers = makers_as(scene, subject)
    others = [makers_as(scene, one) for one in heirs]
    return bool(makers) and all(one and makers.isdisjoint(one) for one in others)


def _binds(view: GraphView, subjects: Iterable[Subject]) -> bool:
    """Whether a binding binds anybody: an account that is not there, and not on its way, is none.

    A user or a group has no object of its own, and is taken to exist.
    """
    if not view.listed(SERVICE_ACCOUNTS):
        return any(True for _ in subjects)
    return any(subject.kind != "account" or _exists(view, subject) for subject in subjects)


def _exists(view: GraphView, subject: Subject) -> bool:
    """Whether an account is there and stays, or was let through and has not been seen yet."""
    key = account_of(subject.name)
    row = view.find(key) if key is not None else None
    if key is None or row is not None:
        return row is not None and not view.terminating(row)
    made = view.history.created_at(key)
    return made is not None and view.history.removed(made.uid) is None


def _beyond(rights: Rights, held: Rights) -> list[Right]:
    """Return which rights are not covered by others."""
    wide = [one for one in held if "*" in (one.verb, one.group, one.resource) or not one.name]
    return sorted(
        one for one in rights if one not in held and not any(other.covers(one) for other in wide)
    )


def _is_actor(scene: Scene, subject: Subject) -> bool:
    user = scene.actor.user
    return subject.name in user.groups if subject.kind == "group" else subject.name == user.username
