"""Writes upon what another manages: deletes, and edits of owners, selectors, size and the rest.

A fact, not a fault: fields are contested every day by autoscalers, injectors and reloaders. So
`what` says exactly what is written, for policies to choose.
Source: see `keepers`; meta/v1 ManagedFieldsEntry (the API server enters a writer into the object
before admission, so that a first write by another shows as a manager more).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.causes import MADE_ANEW
from suture.impact.effects import ForeignWrite, Victim
from suture.impact.ground.bars import answering
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.stamps import template_changed
from suture.impact.ordinary.brokenmember import of_broken_member
from suture.impact.ordinary.keeper import Keeper
from suture.impact.ordinary.keepers import (
    BUILT_IN,
    CONTROLLER,
    CREATOR,
    FIELDS,
    HELM,
    is_newcomer,
    is_own,
    keeper_at,
    keeper_of,
    keeps,
    kept_by,
    records_of,
    works_for,
)
from suture.impact.ordinary.metered import is_unread
from suture.impact.ordinary.reissued import is_given_anew
from suture.impact.ordinary.setsanew import grows
from suture.impact.reach.beside import at_work_on, written_beside
from suture.impact.reach.inuse import gives_people_rights, used
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.choosing import matched
from suture.impact.traffic.selection import selected
from suture.model.actor import CARRIERS, account_of, is_person
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.habits import DEPLOYED, managers_of, release_of
from suture.model.names import (
    AUTOSCALERS,
    CLAIMS,
    DAEMON_SETS,
    DEPLOYMENTS,
    SCALED_OBJECTS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
)
from suture.model.objects import ApiServiceFacts, ClusterObject
from suture.model.writes import MONTH_S, number

LOOKED_AT: Final = 64
"""LIMIT: objects of one collection that are asked whose they are, and releases and applications
that are told to lose something: a refusal needs one."""

DELETE, OWNERS, ADOPTION = "delete", "owners", "adoption"
SELECTOR, LABELS = "selector", "labels"
FINALIZERS, SCALE, TEMPLATE, SPEC = "finalizers", "scale", "template", "spec"

HELD: Final = frozenset({OWNERS, SELECTOR})
"""What nobody but its controller has business with, however often it was written before."""

GOVERNED: Final = frozenset({OWNERS, ADOPTION, SELECTOR, SCALE, TEMPLATE, SPEC})
"""What a built-in controller keeps as it wants it; labels and finalizers it leaves to others."""

CLAIMED: Final = frozenset({OWNERS, ADOPTION, SELECTOR, LABELS, FINALIZERS})
"""What tells that somebody else than the creator takes an object over."""

MOVED_S: Final = MONTH_S
"""How long it is looked back who moved a Service last; a failover may be weeks ago."""

RUNNING: Final = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS)
_FOR_OTHERS: Final = frozenset({DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, SERVICES})


def may_be_foreign(change: Change) -> bool:
    """Whether a change removes or rewrites what somebody may manage."""
    made = change.rewritten
    return bool(change.direct or change.resized) or (made is not None and made.before is not None)


def foreign_effects(scene: Scene) -> list[ForeignWrite]:
    """Return what a change writes that another manages."""
    found: list[ForeignWrite] = []
    if scene.actor.kind in CARRIERS:
        return found
    change = scene.change
    made = change.rewritten
    if made is not None:
        found += _edits(scene, made)
    elif change.direct and not change.evicted:
        found += _removals(scene)
    # WHY not asked for: it is of what keeps the workload that the write is.
    if change.resized is not None and not change.resized.asked:
        found += _resize(scene, change.resized.row)
    return found


# ---- removals


def _removals(scene: Scene) -> list[ForeignWrite]:
    view, causes = scene.view, scene.causes
    found: list[ForeignWrite] = []
    for row in scene.change.direct[:LOOKED_AT]:
        if causes.heals(row) or is_own(scene, row) or is_given_anew(scene, row):
            continue
        keeper = keeper_at(scene, row)
        # WHY it lives: it makes the set again, which has left its pods.
        if keeper is not None and keeper.lives and grows(scene, row):
            continue
        known = keeper is not None and keeper.by != CREATOR
        account = None if known else at_work_on(scene, row)
        if account is not None:
            keeper = Keeper(str(account), CONTROLLER, lives=True)
            explained = causes.explains(row)
            found.append(_told(scene.victim(row), keeper, DELETE, used=True, explained=explained))
        elif keeper is not None:
            explained = causes.explains(row) or of_broken_member(scene, row)
            needed = used(view, row) or (keeper.by != HELM and gives_people_rights(scene, row))
            found.append(_told(scene.victim(row), keeper, DELETE, used=needed, explained=explained))
        elif (release := _recorded(scene, row)) is not None:
            # WHY it lives: with its record it goes for Helm, and stays for all others.
            keeper = Keeper(str(release), HELM, lives=True)
            explained = causes.explains(row)
            found.append(_told(scene.victim(row), keeper, DELETE, used=True, explained=explained))
    if scene.change.cascaded and view.names_by(Edge.MANAGED_BY):
        found += _taken_along(scene)
    return found


def _recorded(scene: Scene, row: int) -> ObjectKey | None:
    """Return the release of which an object is the record in force, and that is at work.

    The actor is not seen to work for it, and something of it, which nobody else keeps too, is in
    use: without its record nobody can upgrade it, or take it away. An uninstall has written the
    record before, and what is trimmed are records of the past. Where all that runs or serves has
    another keeper, which is there, the rest is of use to that: so a release is handed over.
    """
    view = scene.view
    if view.resource(row) != SECRETS:
        return None
    thing = view.at(row)
    release = release_of(thing)
    if release is None or thing.labels.get("status") != DEPLOYED or works_for(scene, release):
        return None
    beside = [one for one in records_of(scene, release) if one != row and one not in scene.removed]
    if view.labelled(beside, "status", DEPLOYED):
        return None
    kept = [one for one in view.named_by(release, Edge.MANAGED_BY)[:LOOKED_AT] if scene.stays(one)]
    alone = [one for one in kept if len(view.targets(one, Edge.MANAGED_BY)) == 1]
    runs = [one for one in kept if view.resource(one) in _FOR_OTHERS]
    if runs and all(view.there(one, Edge.MANAGED_BY) for one in runs):
        return None
    at_work = any(
        # WHY no claims: releases leave them, and who mounts one is at work itself.
        view.resource(one) != CLAIMS and used(view, one)
        for one in alone
    )
    return release if at_work else None


def _taken_along(scene: Scene) -> list[ForeignWrite]:
    """Tell of releases and applications that stay, and lose what goes with the request's object."""
    view = scene.view
    # WHY the last: what the request names itself is told of already.
    if all(kind in MADE_ANEW or rows[-1] in scene.direct for kind, rows in scene.kinds.items()):
        return []
    own = view.marked(scene.change.direct)
    found: list[ForeignWrite] = []
    for mark, row in scene.causes.marks().items():
        if mark in own or row in scene.direct or view.resource(row) in MADE_ANEW:
            continue
        manager = view.key(mark)
        if works_for(scene, manager) and not own:
            continue
        keeper = kept_by(scene, manager)
        if keeper.lives:
            explained = scene.causes.explains(row)
            found.append(_write(scene, row, keeper, DELETE, explained=explained))
            if len(found) == LOOKED_AT:
                break
    return found


# ---- edits


def _edits(scene: Scene, made: Rewritten) -> Iterable[ForeignWrite]:
    before = made.before
    if before is None:
        return
    if _turns_back(scene, before, made):
        # WHY it lives: nobody has the Service lead there but who watches over the members.
        mover = Keeper(_writer(scene, before).manager, FIELDS, lives=True)
        yield _told(victim_of(before), mover, SELECTOR, used=True)
        return
    if is_own(scene, made.row):
        return
    what = list(_what(scene, before, made))
    if not what:
        return
    newcomer = not before.managers or is_newcomer(before, made.after)
    keeper = keeper_of(scene, before)
    if keeper is not None and keeper.by == HELM and _by_release(before, made.after):
        return
    if keeper is not None and _led_away(scene, before, made.after, keeper):
        what.append(SELECTOR)
    if keeper is None:
        if not is_newcomer(before, made.after):
            return
        keeper = _writer(scene, before)
    for one in what:
        if not _held(scene, before, keeper, one):
            continue
        if not (newcomer or (keeper.by == CONTROLLER and one in HELD)):
            continue
        if made.row is None:
            yield _told(victim_of(before), keeper, one, used=False)
        else:
            asked = one == SELECTOR and (
                _named_by_own(scene, made.row) or _leads_itself(scene, before, made)
            )
            asked = asked or (one == OWNERS and _sets_free(scene, before, made))
            yield _write(scene, made.row, keeper, one, explained=asked)


def _by_release(before: ClusterObject, after: ClusterObject) -> bool:
    """Whether what keeps releases writes an object of one, under its own name, and leaves it there.

    WHY its name: whoever upgrades a release, from whatever account, does so by that tool. Another
    release that takes the object over marks it as its own; owners are nothing that it sets.
    """
    if before.owners != after.owners:
        return False
    added = set(after.managers) - set(before.managers)
    return added == {HELM} and managers_of(after) == managers_of(before)


def _writer(scene: Scene, before: ClusterObject) -> Keeper:
    """Return who wrote an object so far; they live where a workload of that name runs beside it.

    Or one that runs as the account that was seen to write it last.
    """
    view, managers = scene.view, before.managers
    beside = (ObjectKey(kind, before.key.namespace, one) for one in managers for kind in RUNNING)
    there = any(view.find(key) is not None for key in beside)
    lives = there or written_beside(scene, before.key, before.uid) is not None
    return Keeper(",".join(managers[:2]), FIELDS, lives)


def _named_by_own(scene: Scene, row: int) -> bool:
    """Whether a custom resource that the actor may run names an object: it was asked to write it.

    Who delivers in steps turns the selectors of Services that its resources name.
    """
    return any(
        link.edge is Edge.RULE and link.present and keeps(scene, link.other.resource) is not False
        for link in scene.view.needed_by(row)
    )


def _turns_back(scene: Scene, before: ClusterObject, made: Rewritten) -> bool:
    """Whether a release turns its Service back from the member to which another has moved it.

    From Ready pods of one set to others of it, which are there by their names or roles: whoever
    moved it since, and does not work for the release, knew which of them is the primary.
    """
    view, now, row = scene.view, scene.now, made.row
    if now is None or row is None or before.key.resource != SERVICES:
        return False
    # WHY first: of most writes of a Service it is the same.
    if selected(before) == selected(made.after):
        return False
    marks = scene.marks(row)
    known = any(works_for(scene, mark) for mark in marks) or _by_release(before, made.after)
    if not known or _leads_itself(scene, before, made):
        return False
    last = view.history.writes.last(before.key, What.WROTE, now, MOVED_S)
    if last is None or last == number(scene.actor.user.username):
        return False
    workers = view.history.habits.workers
    if any(last == number(one) for mark in marks for one in workers(mark)):
        return False
    had, will = matched(view, selected(before)), matched(view, selected(made.after))
    sets = {view.controller(pod) for pod in had | will}
    if not had or not will or had & will or len(sets) != 1:
        return False
    (one,) = sets
    return one >= 0 and (view.resource(one) == STATEFUL_SETS or is_custom(view.resource(one)))


def _leads_itself(scene: Scene, before: ClusterObject, made: Rewritten) -> bool:
    """Whether the actor runs as an account of the release whose Service it is, or of its members.

    Who fails a database over moves the selector of its Service from one member to the next: the
    release brought the account, or the set whose members run as it. WHY not `default`: so runs
    whatever says nothing.
    """
    view, key = scene.view, account_of(scene.actor.user.username)
    account = view.find(key) if key is not None else None
    if key is None or account is None or made.row is None:
        return False
    marks = scene.marks(made.row)
    if any(one in marks for one in scene.marks(account)):
        return True
    if not marks or key.name == "default" or before.key.resource != SERVICES:
        return False
    return any(
        (account, True) in view.targets(pod, Edge.SERVICE_ACCOUNT)
        and (of := view.controller(pod)) >= 0
        and any(one in marks for one in scene.marks(of))
        for pod in matched(view, (*selected(before), *selected(made.after)))
    )


def _what(scene: Scene, before: ClusterObject, made: Rewritten) -> Iterable[str]:
    """Yield what an update writes, in words."""
    after, resized = made.after, scene.change.resized
    if before.owners != after.owners:
        yield from _handed_over(before, made)
    if selected(before) != selected(after):
        yield SELECTOR
    if any(after.labels.get(key) != value for key, value in before.labels.items()):
        yield LABELS
    if set(before.finalizers) - set(after.finalizers):
        yield FINALIZERS
    template = template_changed(before, after)
    if template:
        yield TEMPLATE
    # The size has a line of its own: see `_resize`.
    sized = resized is not None and resized.row == made.row
    if made.parts and not (template or sized or selected(before) != selected(after)):
        yield SPEC


def _led_away(scene: Scene, before: ClusterObject, after: ClusterObject, keeper: Keeper) -> bool:
    """Whether an API that a manager's backend serves is led to one that the manager does not keep.

    WHY not one of its own: whoever mends a release may lead its API from one part to another. And
    not one that nobody asks: another may come to answer for it.
    """
    old, new = before.facts, after.facts
    if not isinstance(old, ApiServiceFacts) or not isinstance(new, ApiServiceFacts):
        return False
    if old.service is None or old.service == new.service or not answering(scene.view, old.service):
        return False
    if is_unread(scene, before):
        return False
    row = scene.view.service(new.service) if new.service is not None else None
    held = keeper_at(scene, row) if row is not None else None
    return held is None or held.manager != keeper.manager


def _handed_over(before: ClusterObject, made: Rewritten) -> Iterable[str]:
    """Yield what a change of owners is: taken from one, or a first one for what had none.

    WHY two: who is asked to look after an object becomes its owner, and writes nothing else; who
    writes its content too has taken it. Not of an autoscaler: by what it sizes is for whoever looks
    after it to say, and where it goes with its owner the size stays.
    """
    had = {one.uid for one in before.owners}
    has = {one.uid for one in made.after.owners}
    written = made.parts and before.key.resource != AUTOSCALERS
    if had - has or (has - had and written):
        yield OWNERS
    elif has - had:
        yield ADOPTION


def _sets_free(scene: Scene, before: ClusterObject, made: Rewritten) -> bool:
    """Whether a person takes owners off an object and writes nothing else: it stays where they go.

    So people save what would be collected along with its owner, and less goes for it, never more.
    """
    only = set(made.after.owners) < set(before.owners) and not made.parts
    return only and is_person(scene.actor.user.username)


def _held(scene: Scene, thing: ClusterObject, keeper: Keeper, what: str) -> bool:
    """Whether a manager of this sort keeps this part of an object."""
    if keeper.by == CREATOR:
        return what in CLAIMED
    if keeper.by != CONTROLLER:
        return True
    view = scene.view
    owners = (view.find_uid(one.uid) for one in thing.owners if one.controller)
    built_in = any(row is not None and view.resource(row) in BUILT_IN for row in owners)
    return not built_in or what in GOVERNED


def _resize(scene: Scene, row: int) -> Iterable[ForeignWrite]:
    """Tell of a size that an autoscaler keeps, or another manager of the object."""
    view, asked = scene.view, scene.request.key.resource
    if asked in {AUTOSCALERS, SCALED_OBJECTS} or is_own(scene, row):
        return
    for link in view.needed_by(row):
        if link.edge is Edge.SCALES and link.present:
            if keeps(scene, link.other.resource) is False:
                stays = not view.terminating(link.row)
                yield _write(scene, row, Keeper(str(link.other), CONTROLLER, stays), SCALE)
            return
    keeper = keeper_at(scene, row)
    if keeper is not None and keeper.by != CREATOR:
        yield _write(scene, row, keeper, SCALE)


# ---- what all have in common


def _write(
    scene: Scene, row: int, keeper: Keeper, what: str, *, explained: bool = False
) -> ForeignWrite:
    victim = scene.victim(row)
    return _told(victim, keeper, what, used=used(scene.view, row), explained=explained)


def _told(
    target: Victim, keeper: Keeper, what: str, *, used: bool, explained: bool = False
) -> ForeignWrite:
    return ForeignWrite(
        target=target,
        manager=keeper.manager,
        by=keeper.by,
        what=what,
        manager_lives=keeper.lives,
        in_use=used,
        explained=explained,
    )
