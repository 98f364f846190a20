"""Custom resources whose end a person agreed to in their own words, and what goes with them.

Beside `model.consent`, where the word is Suture's and holds for one request: here it is the
object's, which its operator asks for before it lets go of data. Such a word is believed for an hour
and of people only: what a machine writes before it deletes is part of the same mistake. It holds
for whoever deletes then, as operators do what they were asked for. Pure; `recent` remembers it.

A person who stops a resource and then deletes it, once nothing of it runs any more, has thought
twice, and said so without a word. And who made a resource within the day may take it away: then
the claims that were made for it go too, which nobody uses any more.
LIMIT: what says so in labels is read of a member's Service alone, and what says so by a finalizer
that is taken off not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.causes.explained import CLIMBED, was_made_by
from suture.impact.causes.parents import mounting, statefulset_of
from suture.impact.ground.cascade import closure
from suture.impact.ground.kinds import is_custom
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.leave import (
    gives_data_up,
    gives_leave,
    is_to_be_replaced,
    members_to_replace,
)
from suture.model.names import CLAIMS, DAEMON_SETS, DEPLOYMENTS, PODS, STATEFUL_SETS, ObjectKey
from suture.model.objects import WorkloadFacts
from suture.model.request import Request
from suture.model.writes import HOUR_S

BELOW: Final = 256
"""LIMIT: objects below a resource, or claims of its namespace, that are looked at, 1 us each; what
has more is not taken to be at rest, and no claims are known to be its."""

_RUN: Final = frozenset({DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS})


def remember_leave(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a person gave leave for a custom resource to be deleted."""
    identity, old = request.user.username, request.old
    if old is None or not is_person(identity):
        return
    own = frozenset({request.key.name, old.uid})
    if gives_leave(request.old_body, request.new_body, own):
        view.history.writes.count(_leave(old.uid), now)


def remember_member(request: Request, view: GraphView, now: Now) -> None:
    """Remember of a pod that a person marked it to be deleted with its data: which claims go."""
    if not is_person(request.user.username):
        return
    pod = view.find(request.key)
    if pod is not None and gives_data_up(request.old_body, request.new_body):
        _give_up(view, pod, now)


def remember_replaced(request: Request, view: GraphView, now: Now) -> None:
    """Remember which members a person named in a custom resource to be replaced: their claims go.

    What a member holds it gets from the others again, and who names one means it. Only pods of the
    resource's namespace, below one that is custom, and no more than half of what runs there.
    """
    if not is_person(request.user.username):
        return
    space = request.key.namespace
    named = members_to_replace(request.old_body, request.new_body)
    pods = [pod for one in named if (pod := view.find(ObjectKey(PODS, space, one))) is not None]
    for pod in pods:
        if 2 * len(pods) <= _members(view, pod):
            _give_up(view, pod, now)


def remember_replaced_by_service(request: Request, view: GraphView, now: Now) -> None:
    """Remember of a Service that a person marked its one member there to be replaced.

    The member has its name, and is not Ready: who marks one that serves has taken it for another.
    """
    old = request.old
    if old is None or not is_person(request.user.username):
        return
    pod = view.find(ObjectKey(PODS, request.key.namespace, request.key.name))
    if pod is None or view.serves(pod) or not is_to_be_replaced(request.old_body, request.new_body):
        return
    _give_up(view, pod, now)
    # WHY: some say to the next member by its Service whose place it takes, and make that anew.
    view.history.writes.count(_leave(old.uid), now)


def _members(view: GraphView, pod: int) -> int:
    """Return how many pods run in the workloads of the custom resource above one; 0 for none."""
    above = next((a for a in view.controllers(pod, CLIMBED) if is_custom(view.resource(a))), None)
    if above is None:
        return 0
    return sum(
        view.running_alike(kind)[0]
        for child in (above, *view.staying(view.children_of(above)[:BELOW]))
        for kind in view.classes_controlled(child)
    )


def _give_up(view: GraphView, pod: int, now: Now) -> None:
    """Remember that the claims of a pod go with it, and with the next of its name."""
    for uid in map(view.uid, view.there(pod, Edge.CLAIM)):
        view.history.writes.count(_member(uid), now)
        view.history.writes.count(_member(uid, view.name(pod)), now)


def remember_agreed_end(view: GraphView, row: int, identity: str, now: Now) -> None:
    """Remember the name of a custom resource that is deleted with leave: what is called so ends."""
    namespace, since = view.namespace(row), 0.0
    if not namespace:
        return
    if is_agreed(view, row, now) or is_given_up(view, row, identity):
        view.history.writes.count(_ended(namespace), now)
        view.history.writes.count(_ended(namespace, view.name(row)), now)
    elif was_made_by(view, row, identity, now):
        # WHY: what was there before it holds what another life of it has written.
        since = view.created(row)
    else:
        return
    for claim in _claims_of(view, row, since):
        view.history.writes.count(_leave(view.uid(claim)), now)


def remember_next_life(key: ObjectKey, view: GraphView, now: Now) -> None:
    """Remember that a custom resource is there again: what is called after it ends no more."""
    if key.namespace:
        view.history.writes.take_back(_ended(key.namespace, key.name), now)


def is_agreed(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a person gave leave within the hour for an object to be deleted."""
    if now is None:
        return False
    return view.history.writes.counted(_leave(view.uid(row)), now, HOUR_S) > 0


def is_given_up(view: GraphView, row: int, identity: str) -> bool:
    """Whether a person deletes a custom resource that was told to stop, and has stopped.

    WHY something below it at all: what an operator finds by name may run all the same.
    """
    if not (view.history.writes.any_left_out and is_person(identity)):
        return False
    if not is_custom(view.resource(row)) or "" not in view.history.writes.left_out(view.uid(row)):
        return False
    below = [one for one in closure(view, (row,)) if one != row]
    return (
        len(below) <= BELOW
        and any(view.resource(one) in _RUN or view.resource(one) == CLAIMS for one in below)
        and not any(_runs(view, one) for one in below)
    )


def _runs(view: GraphView, row: int) -> bool:
    """Whether an object is a pod at work, or keeps some."""
    if view.resource(row) == PODS:
        return not view.finished(row)
    if view.resource(row) == CLAIMS:
        return bool(mounting(view, row))
    facts = view.facts(row)
    return view.resource(row) in _RUN and isinstance(facts, WorkloadFacts) and facts.replicas != 0


def idle_as_agreed(view: GraphView, claim: int, now: Now | None) -> bool:
    """Whether a claim was made for a resource whose maker gave it up, and nobody uses it."""
    return is_agreed(view, claim, now) and not mounting(view, claim)


def goes_with_member(view: GraphView, claim: int, now: Now | None) -> bool:
    """Whether a person marked the pod that uses a claim to be deleted with it, within the hour.

    By the name of the pod: the next of that name is the same member, and waits for the claim to go.
    """
    uid, counted = view.uid(claim), view.history.writes.counted
    # WHY first: hardly any claim was marked, and who uses it costs more to ask.
    if now is None or not counted(_member(uid), now, HOUR_S):
        return False
    pods = mounting(view, claim)
    return len(pods) == 1 and counted(_member(uid, view.name(pods[0])), now, HOUR_S) > 0


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


def _claims_of(view: GraphView, row: int, since: float) -> list[int]:
    """Return the claims of the StatefulSets that a resource controls, made since a moment."""
    # WHY first: what tests and pipelines make and take away all day has hardly ever a set.
    sets = {one for one in view.children_of(row)[:BELOW] if view.resource(one) == STATEFUL_SETS}
    claims = view.rows(CLAIMS, view.namespace(row)) if sets else ()
    if len(claims) > BELOW:
        return []
    return [
        claim
        for claim in claims
        if view.created(claim) >= since
        and (found := statefulset_of(view, view.key(claim))) is not None
        and found[0] in sets
        and view.controller(found[0]) == row
    ]


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


def _member(uid: str, pod: str = "") -> str:
    return f"leave/{uid}/{pod}"


def _ended(namespace: str, name: str = "") -> str:
    return f"ended/{namespace}/{name}"
