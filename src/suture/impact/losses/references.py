"""What others name and would be gone: those could not start again, or would stop working.

An object that goes whole, an entry of a ConfigMap or Secret that goes, a version of a type that is
no longer served. Told apart: what today's templates name, and what only history names.
Source: kubelet (a missing required ConfigMap, Secret or key is CreateContainerConfigError), pod
admission (ServiceAccount, PriorityClass, RuntimeClass), apiextensions (a definition without a
served version).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, islice
from typing import Final

from suture.impact.causes.over import is_over
from suture.impact.causes.parents import maker_of, wants_none
from suture.impact.effects import ReferenceBroken
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.losses.listeners import detached
from suture.impact.losses.versions import unserved_effects
from suture.impact.ordinary.byhand import goes_next
from suture.impact.ordinary.keepers import keeps, works_for
from suture.impact.ordinary.nextgenerated import leaves_for_next, next_of
from suture.impact.ordinary.reissued import is_remade
from suture.impact.ordinary.writtennext import is_written_next
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.facts import KeysFacts
from suture.model.fieldnames import is_template
from suture.model.graph import GraphView, Use
from suture.model.names import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    GATEWAYS,
    JOBS,
    PODS,
    REPLICA_SETS,
    SECRETS,
    WORKLOADS,
    Resource,
)
from suture.model.objects import CrdFacts

BREAKING: Final = frozenset(
    {
        Edge.CONFIG_MAP, Edge.SECRET, Edge.SERVICE_ACCOUNT, Edge.PULL_SECRET, Edge.CLAIM,
        Edge.PRIORITY_CLASS, Edge.RUNTIME_CLASS, Edge.RESOURCE_CLAIM, Edge.GOVERNING_SERVICE,
        Edge.STORAGE_CLASS, Edge.CLASS, Edge.CERTIFICATE, Edge.ATTACHED_TO, Edge.DATA_SOURCE,
        Edge.SNAPSHOT_CONTENT, Edge.PARAMETERS, Edge.RULE, Edge.PROVIDER,
    }
)  # fmt: skip
"""Needs without which something cannot start or work. Others have effects of their own: routes,
paths into the API, rights, volumes."""

SHARED: Final = 3
"""From how many objects on that come by what they are for through another, that one is shared: one
that was made for a single user of it comes and goes with that, in whatever order."""

ENDS_ASKED: Final = 256
"""LIMIT: objects that come by what they are for through one that goes, and are asked whether they
end with it, 3 us each; of more it is told as if they stayed. So many custom resources are asked,
too, whether they miss a Secret."""

NEXT_ASKED: Final = 1_024
"""LIMIT: users of one object that are asked whether they go next, 3 us each: nobody takes away what
more of them name in order to take away these."""

RUNS: Final = 16
"""LIMIT: objects of a collection that are asked whether they are runs or revisions: all are of one
type."""

_BY_RULE: Final = frozenset({Edge.RULE})

_READ: Final = frozenset({SECRETS, CONFIG_MAPS})

_RUNS: Final = frozenset({JOBS, PODS})

_NAMED_BY_NONE: Final = frozenset({PODS, REPLICA_SETS, ENDPOINT_SLICES})


def breaks_references(change: Change) -> bool:
    """Whether a change may take away what others name."""
    if change.direct or change.cascaded:
        return True
    made = change.rewritten
    if made is None or made.before is None:
        return False
    of_keys = isinstance(made.after.facts, (KeysFacts, CrdFacts))
    return of_keys or made.after.key.resource == GATEWAYS


def may_be_named(resource: Resource) -> bool:
    """Whether anything that could not do without names objects of a type."""
    return resource not in _NAMED_BY_NONE


def reference_effects(scene: Scene) -> Iterable[ReferenceBroken]:
    """Yield what is named and goes, one effect for each kind of need."""
    view = scene.view
    gone = scene.removed | scene.whole
    for resource, rows in scene.kinds.items():
        if not may_be_named(resource):
            continue
        for row in view.used_from_outside(rows, BREAKING, gone):
            uses = view.uses(row, BREAKING, gone)
            if uses and not scene.causes.heals(row):
                explained = scene.causes.explains(row) and not _hangs_on_run(scene, row)
                yield from _broken(scene, row, "", uses, explained=explained)
    yield from _from_elsewhere(scene)
    made = scene.change.rewritten
    if made is None or made.row is None or made.row in scene.removed:
        return
    keys = _keys_gone(made)
    for key in keys:
        uses = [one for one in view.uses(made.row, BREAKING, gone) if one.key == key]
        yield from _broken(scene, made.row, key, uses, explained=False)
    if keys and _is_emptied(made):
        # WHY no pods: of what they mount whole the files may be called otherwise each time.
        named = [one for one in view.uses(made.row, BREAKING, gone) if one.edge is Edge.RULE]
        whole = [one for one in named if not (one.key or one.of_pods)]
        yield from _broken(scene, made.row, ", ".join(sorted(keys)), whole, explained=False)
    yield from unserved_effects(scene, made)
    if made.after.key.resource == GATEWAYS and made.before is not None:
        # WHY not of who keeps both: they are written next.
        lost = [one for one in detached(scene, made.row) if not _ends_with(view, one.row, made.row)]
        yield from _broken(scene, made.row, "", lost, explained=False)


def _from_elsewhere(scene: Scene) -> Iterable[ReferenceBroken]:
    """Yield who names a Secret from another namespace, where there is none of that name.

    A gateway reads the Secrets beside itself by the bare names that the routes of other namespaces
    give; so does whoever serves many from one place. Where the name is that of one Secret only, it
    is meant. Not where anybody names it beside it.
    """
    view, direct = scene.view, scene.change.direct
    # WHY of one alone: all namespaces are asked, 0.5 us each; each of many comes by itself too.
    if len(direct) != 1 or view.resource(direct[0]) != SECRETS:
        return
    row = direct[0]
    # WHY: of a person's and of an owner's it would not be told.
    if account_of(scene.actor.user.username) is None or view.has_owner(row):
        return
    if view.uses(row, BREAKING):
        return
    named: list[Use] = []
    for other, present in view.named_elsewhere(row):
        if present:
            return
        named += (one for one in view.uses(other, _BY_RULE) if not one.key)
    yield from _broken(scene, row, "", named, explained=scene.causes.explains(row))


def _hangs_on_run(scene: Scene, row: int) -> bool:
    """Whether an object goes along with one run of something, or with one revision of a workload.

    WHY not explained then: that nobody needs the run or the revision says nothing of what others
    read. Drivers and operators give what they make to whichever pods asked for it first.
    """
    view = scene.view
    if row in scene.direct:
        return False
    for one in scene.change.direct[:RUNS]:
        of, resource = view.controller(one), view.resource(one)
        if resource == REPLICA_SETS and of >= 0 and scene.stays(of):
            return True
        # WHY not where its maker goes: then what reads goes with that, in whatever order.
        if resource in _RUNS and (of < 0 or scene.stays(of)):
            return True
    return False


class _Users:
    """Who names one object for one reason: `objects` of today, and `makers` of pods, by row."""

    __slots__ = ("current", "makers", "objects", "past", "pods")

    def __init__(self) -> None:
        self.current = self.past = self.pods = 0
        self.objects: dict[int, None] = {}
        self.makers: dict[int, None] = {}

    def named(self, limit: int) -> list[int]:
        """Return the first of them, the object that was met last before all."""
        rows = chain(reversed(self.objects), self.makers)
        return list(islice(dict.fromkeys(rows), limit))


def _broken(
    scene: Scene, row: int, key: str, uses: list[Use], *, explained: bool
) -> Iterable[ReferenceBroken]:
    """Yield what names an object, or one entry of it where `key` is not empty."""
    for edge, found in _users(scene, row, key, uses).items():
        if edge is Edge.PROVIDER and not _is_shared(scene.view, row, found.current):
            continue
        if found.current or found.past or found.pods:
            yield ReferenceBroken(
                target=scene.victim(row),
                key=key,
                edge=edge,
                current=found.current,
                past=found.past,
                pods=found.pods,
                users=tuple(map(scene.victim, found.named(scene.limit))),
                explained=explained,
            )


def _is_shared(view: GraphView, row: int, users: int) -> bool:
    """Whether so many users could not do without what provides them, and it is but named.

    WHY one of a template: nobody makes one for a thing that there is already.
    """
    least = 1 if is_template(view.resource(row)) else SHARED
    return users >= least and not view.children_of(row)


def _users(scene: Scene, row: int, key: str, uses: list[Use]) -> dict[Edge, _Users]:
    """Return who names an object, or one entry of it, and cannot do without, for each reason."""
    view = scene.view
    users: defaultdict[Edge, _Users] = defaultdict(_Users)
    met: set[tuple[Edge, int]] = set()
    asked, missing = 0, _missing(scene, row, uses) | _worked_by(scene, row, uses)
    # WHY not of one key: what stays is not followed by anything.
    comes = next_of(scene, row) if not key else None
    again = not key and is_remade(scene, row, uses)
    template = is_template(view.resource(row))

    def follows(user: int) -> bool:
        """Whether a user is written next, to name something else or to do without."""
        if key:
            return is_written_next(scene, user, row)
        return comes is not None and leaves_for_next(scene, user, row, comes, uses)

    for use in uses:
        provided = use.edge is Edge.PROVIDER
        if use.optional and not provided and use not in missing:
            continue
        if (use.edge, use.row) in met:
            continue
        met.add((use.edge, use.row))
        if provided:
            asked += 1
            if asked <= ENDS_ASKED and _ends_with(view, use.row, row):
                continue
        found = users[use.edge]
        if use.of_pods:
            _pods(scene, found, use.row)
        elif not view.terminating(use.row):
            near = len(met) <= NEXT_ASKED
            past = again or (near and (follows(use.row) or (template and _left(scene, use.row))))
            _object(scene, found, use.row, past=past, asked=near)
    return users


def _missing(scene: Scene, row: int, uses: list[Use]) -> frozenset[Use]:
    """Return which custom resources name a Secret or ConfigMap that a stranger takes.

    What such a field is called tells that it is named, and not who needs whom: what is made for
    the resource goes by the hand that made it, and whoever keeps one of the two may know better. A
    machine that has to do with neither knows neither.
    """
    view = scene.view
    if view.resource(row) not in _READ or account_of(scene.actor.user.username) is None:
        return frozenset()
    named = [one for one in uses if one.edge is Edge.RULE and one.optional][:ENDS_ASKED]
    if not named or view.has_owner(row) or scene.tied(row):
        return frozenset()
    if any(works_for(scene, one) for one in scene.marks(row)):
        return frozenset()
    return frozenset(one for one in named if _is_strange(scene, one.row))


def _worked_by(scene: Scene, row: int, uses: list[Use]) -> frozenset[Use]:
    """Return what stands for a running pod and says in its status that it works by an object.

    What a status names else may be long done: it tells what was. Of a pod that runs it is what its
    node knows it by: an identity, an address.
    """
    if not is_custom(scene.view.resource(row)):
        return frozenset()
    named = [one for one in uses if one.edge is Edge.RULE and one.optional][:ENDS_ASKED]
    return frozenset(one for one in named if _stands_for_running(scene, one.row))


def _stands_for_running(scene: Scene, row: int) -> bool:
    view = scene.view
    pods = [one.row for one in view.owners(row) if one.present and view.resource(one.row) == PODS]
    return any(scene.stays(pod) and not view.finished(pod) for pod in pods)


def _is_strange(scene: Scene, user: int) -> bool:
    """Whether a custom resource is at work, and the actor has nothing to do with it."""
    view, resource = scene.view, scene.view.resource(user)
    return (
        is_custom(resource)
        and not (view.terminating(user) or is_over(view, user))
        and not (scene.tied(user) or keeps(scene, resource))
    )


def _left(scene: Scene, user: int) -> bool:
    """Whether who names a template makes nothing of it any more, as far as anybody but it can tell.

    It goes with an owner. Or its controller names templates too, and says itself what comes next:
    what it made of the last one is history. Or the actor runs the kind, and knows.
    """
    view = scene.view
    above = view.controller(user)
    named = view.targets(above, Edge.PROVIDER) if above >= 0 else ()
    return (
        any(view.terminating(one.row) for one in view.owners(user) if one.present)
        or any(is_template(view.resource(one)) for one, _ in named)
        or keeps(scene, view.resource(user)) is True
    )


def _ends_with(view: GraphView, user: int, row: int) -> bool:
    """Whether an object may go after what provides it: its work is over, or one keeper has both."""
    if is_over(view, user):
        return True
    keepers = {one for one, _ in view.targets(row, Edge.MANAGED_BY)}
    return any(one in keepers for one, _ in view.targets(user, Edge.MANAGED_BY))


def _pods(scene: Scene, found: _Users, kind: int) -> None:
    """Count the pods of a class that stay; current are those that no template stands for."""
    view = scene.view
    pods = view.pods_alike(kind)
    if PODS in scene.kinds:
        pods = [pod for pod in pods if pod not in scene.removed]
    if not pods:
        return
    running = [pod for pod in pods if not view.terminating(pod) and not view.finished(pod)]
    found.pods += len(running)
    found.past += len(pods) - len(running)
    controller = view.controller(running[0]) if running else -1
    # WHY first: most pods are of a workload, which a template stands for.
    if not running or (controller >= 0 and view.resource(controller) in WORKLOADS):
        return
    maker = maker_of(view, running[0])
    if view.resource(maker) == PODS:
        found.current += len(running)
        found.makers.update(dict.fromkeys(running[: scene.limit]))
    elif view.resource(maker) not in WORKLOADS:
        found.current += maker not in found.makers and maker not in found.objects
        found.makers[maker] = None


def _object(scene: Scene, found: _Users, row: int, *, past: bool, asked: bool) -> None:
    """Count an object: a template of today, or history; one that is about to be that is `past`.

    `asked`: whether it may go next.
    """
    view = scene.view
    resource = view.resource(row)
    if resource == REPLICA_SETS:
        past = past or _is_revision(view, row)
    elif resource == JOBS:
        past = past or view.finished(row)
    if past or (asked and goes_next(scene, row)):
        found.past += 1
        return
    found.current += 1
    found.objects[row] = None


def _is_revision(view: GraphView, replica_set: int) -> bool:
    """Whether a ReplicaSet is one of a Deployment, which stands for it, or wants no pods."""
    controller = view.controller(replica_set)
    if controller >= 0 and view.resource(controller) == DEPLOYMENTS:
        return True
    return wants_none(view, replica_set)


def _keys_gone(made: Rewritten) -> list[str]:
    """Return the entries that an update takes out of a ConfigMap or Secret."""
    before, after = made.facts_before, made.after.facts
    if not isinstance(before, KeysFacts) or not isinstance(after, KeysFacts):
        return []
    kept = frozenset(after.keys)
    return [key for key in before.keys if key not in kept]


def _is_emptied(made: Rewritten) -> bool:
    """Whether an update leaves none of the entries that a ConfigMap or Secret had.

    Whoever names it whole looks for one that it knows, and it is not told which.
    """
    before, after = made.facts_before, made.after.facts
    return (
        isinstance(before, KeysFacts)
        and isinstance(after, KeysFacts)
        and set(before.keys).isdisjoint(after.keys)
    )
