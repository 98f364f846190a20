"""What is the actor's own: made by it within the day, or for what it made.

Apart from `keepers`, who keeps an object of others: here it is asked what the actor may give up.
LIMIT: of what was made before Suture was there, or is no longer remembered, nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from suture.impact.causes.counters import back_again, dropped, kept_back, ran_in, taken_from
from suture.impact.causes.explained import RECREATED_BY, lives_beside
from suture.impact.causes.parents import SIBLINGS, maker_of, mounting, selects_apart, wanted_count
from suture.impact.causes.resting import rests
from suture.impact.causes.standsfor import stands_for_living
from suture.impact.causes.turned import NO_READERS
from suture.impact.ground.cascade import closure
from suture.impact.ground.claims import naming, set_names
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import ready_of
from suture.impact.ordinary.keepers import has_run, works_for
from suture.impact.ordinary.uninstalled import taken_apart
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.graph import GraphView, Lot
from suture.model.names import (
    CLAIMS,
    KUBE_SYSTEM,
    NAMESPACES,
    PODS,
    STATEFUL_SETS,
    WORKLOADS,
    ObjectKey,
)
from suture.model.objects import CustomFacts, ServiceFacts, WorkloadFacts
from suture.model.writes import DAY_S, HOUR_S, WEEK_S

_KEPT_BY: Final = Edge.MANAGED_BY

READERS: Final = 64
"""LIMIT: objects that name one Service and are asked whose they are; what more of them read is
nobody's to give up."""

REFUSED: Final = 5
"""LIMIT: workloads that an actor was refused to delete within the hour, and may still give up its
own: who was refused more takes whatever it finds, and that is a sweep."""

RUNNING: Final = WORKLOADS | {PODS}

AT_WORK: Final = 64
"""LIMIT: objects below a custom resource that are asked whether they run, 1 us each; what has more
is no errand."""


def made_lately(scene: Scene, row: int) -> bool:
    """Whether the actor made an object within the last day, or that for which it was made.

    That is an owner, or the application that keeps it, and no younger: what was there before is
    looked after since, and was not made. Where the namespace is new as well, a week is as good.
    """
    view = scene.view
    born = view.created(row)
    queue, seen = [row], set[int]()
    while queue:
        current = queue.pop()
        if current in seen or view.created(current) > born:
            continue
        # WHY last: whose the namespace is matters only of what the actor made.
        if scene.made(current, WEEK_S) and (
            scene.made(current, DAY_S) or _in_new_space(scene, row)
        ):
            return True
        seen.add(current)
        queue += view.owner_rows(current)
        queue += view.there(current, _KEPT_BY)
    return False


def _in_new_space(scene: Scene, row: int) -> bool:
    """Whether a namespace is the actor's own work of the week, or that of an account beside it.

    So previews live for as long as their branch: who may take all of it, may take a part of it.
    """
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    home = view.find(ObjectKey(NAMESPACES, "", view.namespace(row)))
    made = view.history.creation(view.uid(home)) if home is not None else None
    return (
        made is not None
        and now is not None
        and now.ago_s(made.at_ns) < WEEK_S
        and (made.identity == identity or lives_beside(made.identity, identity))
    )


def made_before(scene: Scene, lot: Lot) -> int:
    """Return how many pods the actor made in the place of one that a custom resource keeps.

    Within the last hour, for the same custom resource, serving behind the same Services at least;
    less what was taken from it in that hour. None where more than one goes.
    """
    view = scene.view
    parent = view.controller(lot.first)
    if scene.change.direct != (lot.first,) or parent < 0:
        return 0
    if view.resource(parent) in RECREATED_BY[PODS]:
        return 0
    services = frozenset(scene.causes.services_of(lot.first))
    made = sum(
        view.serves(pod)
        and scene.made_young(pod)
        and services.issubset(scene.causes.services_of(pod))
        for kind in view.classes_owned(parent)
        for pod in view.pods_alike(kind)
        if pod != lot.first
    )
    return max(0, made - scene.counted(taken_from(view.uid(parent), PODS)))


def claim_replaced(scene: Scene, row: int) -> bool:
    """Whether the actor has made another claim in the place of one that no running pod mounts.

    Within the last hour, for the same custom resource, and mounted by a Ready pod; less what was
    taken from it in that hour. So a member is built anew beside the one that it replaces.
    """
    view = scene.view
    parent = view.controller(row)
    if scene.change.direct != (row,) or parent < 0:
        return False
    if not isinstance(view.facts(parent), CustomFacts) or mounting(view, row):
        return False
    made = sum(
        view.resource(claim) == CLAIMS
        and view.controller(claim) == parent
        and scene.made_young(claim)
        and any(map(view.serves, mounting(view, claim)))
        for claim in view.children_of(parent)[:SIBLINGS]
        if claim != row and not view.gone(claim)
    )
    return made > scene.counted(taken_from(view.uid(parent), CLAIMS))


def member_replaced(scene: Scene, row: int) -> bool:
    """Whether the actor has made another workload in the place of one member of several.

    Within the last hour, for the same custom resource, of the same selector but for one value, with
    all of its pods Ready and as many as the one has. So a monitor that lost its node for long is
    replaced by the next. No more of all its parts were taken in that hour than such were made: a
    host has one of each, and they follow it together. Not with claims along, nor under a custom
    resource of this hour: its member may be taken for one of a life before it.
    """
    view = scene.view
    parent, mine = view.controller(row), view.facts(row)
    if scene.change.direct != (row,) or CLAIMS in scene.kinds:
        return False
    if not isinstance(mine, WorkloadFacts) or not has_run(scene, parent):
        return False
    made = [
        other
        for other in view.children_of(parent)[:SIBLINGS]
        if other != row
        and view.resource(other) == view.resource(row)
        and not (view.gone(other) or view.terminating(other))
        and isinstance(its := view.facts(other), WorkloadFacts)
        and scene.made(other)
        and ready_of(view, other) >= max(1, its.replicas or 0, mine.replicas or 0)
    ]
    taken = taken_from(view.uid(parent), view.resource(row))
    return len(made) > scene.counted(taken) and any(selects_apart(view, row, one) for one in made)


def own_errand(scene: Scene, row: int) -> bool:
    """Whether a claim is one that the actor made for an errand, which has been run.

    Made by it within the day, of a snapshot or a claim that stays, or for pods that have ended; no
    running pod mounts it, and nothing below its custom resource runs, is to run or is to be
    reached. So movers of backups copy a volume, and workflows take one to work in; both clear it
    away before their status says that they are done.
    """
    view = scene.view
    parent = view.controller(row)
    if scene.change.direct != (row,) or parent < 0 or not scene.made(row, DAY_S):
        return False
    if not is_custom(view.resource(parent)) or mounting(view, row):
        return False
    copied = any(
        not (view.gone(source) or view.terminating(source))
        for source in view.there(row, Edge.DATA_SOURCE)
    )
    if not (copied or any(map(view.finished, naming(view, row)))):
        return False
    below = closure(view, (parent,))
    return len(below) <= AT_WORK and not any(_at_work(view, one) for one in below)


def of_own_set(scene: Scene, row: int) -> bool:
    """Whether a claim was made within the day for a StatefulSet that the actor made, and that went.

    No pod uses it, and nothing stays that asks for it or owned the set. So a copy of a database
    ends that was made this morning. WHY the claim's age: a set that is made anew takes over the
    claims of the one before it, and what they hold is older.
    """
    view, now = scene.view, scene.now
    if now is None or view.created(row) < now.utc_s - DAY_S:
        return False
    if mounting(view, row) or scene.causes.wanted(row):
        return False
    key, identity = view.key(row), scene.actor.user.username
    keys = [ObjectKey(STATEFUL_SETS, key.namespace, name) for name, _ in set_names(key)]
    if any(view.find(one) is not None for one in keys):
        return False
    went = [one for one in map(view.history.removed_at, keys) if one is not None]
    owners = [view.find_uid(owner.uid) for one in went for owner in one.owners]
    return any(one.created_by == identity for one in went) and not any(
        owner is not None and not (view.gone(owner) or view.terminating(owner)) for owner in owners
    )


def is_trial(scene: Scene, row: int) -> bool:
    """Whether a workload was only tried: the actor made it within the hour.

    It goes alone, Services that reach it have others, and what it is of was there before that hour:
    where both are new, it may be a child of the next life that is taken for one of the last. Nor
    where that got a part back within the hour: what is made then was asked for. So operators try
    out whether a pod would fit before they give it a place.
    """
    view = scene.view
    parent = view.controller(row)
    # WHY both: where the making of the one is remembered, that of the other would be.
    if scene.change.direct != (row,) or not scene.made(row) or parent < 0 or scene.is_new(parent):
        return False
    if scene.counted(back_again(view.uid(parent))):
        return False
    pods = scene.kinds.get(PODS, ())
    reaching = {service for pod in pods for service in scene.causes.services_of(pod)}
    return all(view.serving_count(service) > len(pods) for service in reaching)


def is_passing(scene: Scene, row: int) -> bool:
    """Whether a custom resource comes and goes by design, and is the actor's own.

    The actor made it within the week, for another that names no number of what it wants, and that
    was not new itself: where both are, it may be a child of the next life that is taken for one of
    the last. So a generator makes an application for each branch, and gives it up with the branch.
    Not what a Ready pod or an open node is known by: that ends with it, however new it is.
    """
    view = scene.view
    parent = view.controller(row)
    if parent < 0 or scene.change.direct != (row,) or wanted_count(view, parent) is not None:
        return False
    if stands_for_living(view, row, scene.now):
        return False
    made, of = (view.history.creation(view.uid(one)) for one in (row, parent))
    if made is None or (of is not None and made.at_ns - of.at_ns < HOUR_S * 10**9):
        return False
    return scene.made(row, WEEK_S)


def _at_work(view: GraphView, row: int) -> bool:
    """Whether an object runs, is to run, or is a Service, which is there to be reached."""
    if view.gone(row) or view.terminating(row):
        return False
    if view.resource(row) == PODS:
        return not view.finished(row)
    facts = view.facts(row)
    if isinstance(facts, WorkloadFacts):
        return facts.replicas != 0 and not facts.finished
    return isinstance(facts, ServiceFacts)


def given_up(scene: Scene, service: int, lost: Collection[int]) -> bool:
    """Whether the actor takes its own from behind its own Service, which nobody else reads.

    `lost` are what the Service loses: workloads that go or shrink to nothing, or pods whose
    controller stays. All of it, the Service, and what names the Service (routes, webhooks, custom
    resources) has to be of one hand: made by the actor, or kept by one release or application that
    it works for. So is an application retired, workload first. Where what keeps the pods stays,
    readers are not named, or a manager that stays is taken apart, all of it has to be of the day:
    work that comes and goes.
    """
    # WHY twice: most go by another hand than they were made by, and then nothing more is read.
    if not lost or scene.change.evicted or not of_one_hand(scene, [service, *lost]):
        return False
    if scene.counted(kept_back(scene.actor.user.username)) > REFUSED:
        return False
    readers = readers_of(scene, service)
    if readers is None or not of_one_hand(scene, [service, *lost, *readers]):
        return False
    retired = all(row in scene.removed and scene.view.resource(row) != PODS for row in lost)
    if retired and read_by_name(scene.view, service) and not taken_apart(scene, lost):
        return True
    return all(made_lately(scene, row) for row in (service, *lost))


def idle_of_hand(scene: Scene, row: int) -> bool:
    """Whether an object is at rest, and goes by the hand of who keeps it and all that names it.

    That is one release or application, for which the actor works. What is at rest `resting` says.
    """
    view = scene.view
    marks = [one for one in scene.marks(row) if works_for(scene, one)]
    # WHY first: hardly anything goes by such a hand, and then nothing more is read.
    if not marks or not rests(view, row, scene.now) or scene.causes.wanted(row):
        return False
    readers = readers_of(scene, row)
    return readers is not None and any(
        all(mark in scene.marks(one) for one in readers) for mark in marks
    )


def idle_along(scene: Scene, row: int) -> bool:
    """Whether an object is at rest, and goes along with all that names it.

    Who deletes what keeps a stopped application takes nothing away that anybody uses.
    """
    view = scene.view
    if not rests(view, row, scene.now) or scene.causes.wanted(row):
        return False
    return readers_of(scene, row) == []


def leads_nowhere(scene: Scene, row: int) -> bool:
    """Whether a Service without pods goes with a namespace in which nothing runs or is to run.

    Nothing that goes runs, or has anything run, and all that names the Service goes along. Not
    within the hour after a workload was taken from there that ran: that may be the same sweep.
    """
    view = scene.view
    facts = view.facts(row)
    if not isinstance(facts, ServiceFacts) or facts.selector is None:
        return False
    if any(kind in RUNNING or is_custom(kind) for kind in scene.kinds):
        return False
    if scene.counted(ran_in(view.namespace(row))) or view.serving_count(row):
        return False
    return not scene.causes.wanted(row) and readers_of(scene, row) == []


def is_dropped(scene: Scene, row: int) -> bool:
    """Whether the actor works for what keeps an object, and that has left the object out lately."""
    marks = scene.marks(row) if scene.now is not None else []
    # WHY last: thousands may name one object, and who takes it works for hardly any of them.
    return (
        bool(marks)
        and all(works_for(scene, one) for one in marks)
        and scene.counted(dropped(scene.view.uid(row))) > 0
    )


def own_of_the_day(scene: Scene, service: int) -> bool:
    """Whether the actor made a Service within the day, and all that names it."""
    # WHY first: hardly any Service is, and then nobody is asked who names it.
    if not made_lately(scene, service):
        return False
    readers = readers_of(scene, service)
    return readers is not None and all(made_lately(scene, row) for row in readers)


def read_by_name(view: GraphView, service: int) -> bool:
    """Whether a Service has no readers whom nothing names: the world outside, or the whole cluster.

    WHY the namespace: what is in it answers for the cluster (its DNS, its metrics).
    """
    facts = view.facts(service)
    return (
        isinstance(facts, ServiceFacts)
        and facts.type == "ClusterIP"
        and view.namespace(service) != KUBE_SYSTEM
    )


def readers_of(scene: Scene, service: int) -> list[int] | None:
    """Return what stays and names a Service; None where that is too much to ask.

    Not a route that sends it nothing, or copies alone, whatever its fields are called.
    """
    view = scene.view
    links = [
        link
        for link in view.needed_by(service)
        if link.present and link.edge not in NO_READERS and link.row not in scene.removed
    ]
    routed = [link for link in links if link.edge is Edge.ROUTES_TO]
    idle = {link.row for link in routed} - {link.row for link in routed if not link.optional}
    found = dict.fromkeys(
        maker_of(view, link.row) if view.resource(link.row) == PODS else link.row
        for link in links
        if link.row not in idle
    )
    return list(found) if len(found) <= READERS else None


def of_one_hand(scene: Scene, rows: Collection[int]) -> bool:
    """Whether the actor made all of some objects, or works for the application that keeps all."""
    if all(owns(scene, row) for row in rows):
        return True
    if any(map(scene.causes.wanted, rows)):
        return False
    kept = frozenset.intersection(*(frozenset(scene.marks(row)) for row in rows))
    return any(works_for(scene, one) for one in kept)


def owns(scene: Scene, row: int) -> bool:
    """Whether the actor made an object, or where something has it made, what that is.

    WHY not the object itself then: an operator makes what another asked it for, and that is not
    its own to give up.
    """
    view, identity = scene.view, scene.actor.user.username
    askers = [owner.row for owner in view.owners(row) if owner.present]
    askers += view.there(row, Edge.PARENT)
    return all(view.history.created_by(view.uid(one)) == identity for one in askers or [row])
