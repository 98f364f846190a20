"""What is remembered of each write that was let through, to compare the next one with.

Beside `churn` and `growth`, which read it. One caller, `judge`, after its verdict. What controllers
write every few seconds without changing anything that lasts is not remembered.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import Final

import msgspec

from suture.impact.causes.agreed import (
    remember_agreed_end,
    remember_leave,
    remember_member,
    remember_next_life,
    remember_replaced,
    remember_replaced_by_service,
)
from suture.impact.causes.counters import (
    annotated,
    before_users,
    creator,
    creator_in,
    creator_like,
    cut_down,
    not_back,
    ordered,
    ordered_by,
    part_taken,
    put_down,
    put_down_in,
    removals,
    remover,
    restarter,
    restarts_by,
    spaces_entered,
    stood_still,
    taken_apart,
    taken_from,
    takings,
    with_machine,
)
from suture.impact.causes.expired import remember_expired
from suture.impact.causes.given import remember_given
from suture.impact.causes.idled import remember_idled
from suture.impact.causes.leftout import remember_parts
from suture.impact.causes.letgo import remember_let_go
from suture.impact.causes.lowered import remember_numbers
from suture.impact.causes.marked import forget_mark, remember_mark, remember_scale
from suture.impact.causes.nodesclosed import (
    remember_closing,
    remember_labels,
    remember_node_end,
)
from suture.impact.causes.records import remember_pruned, remember_release
from suture.impact.causes.releases import remember_release_given_up
from suture.impact.causes.rerun import remember_ended, remember_rounds
from suture.impact.causes.resting import remember_rest, serves_last
from suture.impact.causes.rolled import remember_rolled, takes_down
from suture.impact.causes.spoken import remember_spoken
from suture.impact.causes.storedanew import remember_version
from suture.impact.causes.together import remember_cut, remember_least, remember_pause
from suture.impact.causes.turned import remember_turn
from suture.impact.causes.unsettled import note_taken
from suture.impact.ground.bodies import annotations_of, status_bytes
from suture.impact.ground.change import Change, Resized, Rewritten
from suture.impact.ground.kinds import is_custom, is_route
from suture.impact.ground.machines import holder, node_behind
from suture.impact.ground.stamps import restarts
from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.difference import asks_for_another, parts_of
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CONFIG_MAPS,
    CRON_JOBS,
    DEPLOYMENTS,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    RBAC,
    ROLE_BINDINGS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    ObjectKey,
    Operation,
)
from suture.model.objects import ClusterObject, NodeFacts
from suture.model.request import Request
from suture.model.writes import HOUR_S, TEN_MINUTES_S, number

STATUS_NOTED: Final = 4
"""How many writes of a status within ten minutes are waved through before its content is compared:
a rollout writes as many, and comparing costs as much as all the rest of a usual write."""

DIRECT_NOTED: Final = 64
"""LIMIT: objects of a collection that are remembered one by one; its size is counted in full."""

MOUNTED: Final = frozenset({SECRETS, CONFIG_MAPS, SERVICE_ACCOUNTS})
"""What pods need to start, by the name that their templates give it."""

_MOUNTS: Final = frozenset({Edge.SECRET, Edge.CONFIG_MAP, Edge.SERVICE_ACCOUNT, Edge.PULL_SECRET})

PARTS: Final = frozenset({SERVICES, DEPLOYMENTS, CRON_JOBS})
"""What a release or application keeps under another name when that changes.
WHY no sets: what they hold is not there under another name."""

COPIED: Final = frozenset({CONFIG_MAPS, NETWORK_POLICIES, ROLE_BINDINGS, SECRETS})
"""What is copied into namespaces, and is of use there without anybody who names it."""

_MEMBERS: Final = {PODS: remember_member, SERVICES: remember_replaced_by_service}
"""What is remembered of members that people mark, on themselves or on the Service of one."""

_ORDERED: Final = COPIED | {NAMESPACES}
"""Of what annotations say whether it is copied, and where to."""


def shape_number(thing: ClusterObject, body: bytes) -> int:
    """Return a number that is equal for equal labels and content, whatever else was written.

    Of a Secret only the names of its entries count: a digest of a password is kept nowhere.
    """
    digest = blake2b(digest_size=8)
    for key in sorted(thing.labels):
        digest.update(f"{key}={thing.labels[key]}\0".encode(errors="replace"))
    parts = {} if thing.key.resource == SECRETS else parts_of(body)
    for name in sorted(parts):
        digest.update(name.encode(errors="replace"))
        digest.update(bytes(parts[name]))
    if not parts and thing.facts is not None:
        digest.update(msgspec.msgpack.encode(thing.facts))
    return int.from_bytes(digest.digest()) >> 1


def status_number(body: bytes) -> int:
    """Return a number that is equal for equal statuses."""
    return int.from_bytes(blake2b(status_bytes(body), digest_size=8).digest()) >> 1


def rewrites_status(request: Request) -> bool:
    """Whether a request writes a status that differs from the one before."""
    return (
        request.subresource == "status"
        and request.operation is Operation.UPDATE
        and bool(request.old_body)
        and request.old_body != request.new_body
    )


def rewrites_custom(request: Request) -> bool:
    """Whether a request writes a custom resource itself, and anything of it differs.

    WHY not the change: annotations, by which some are told to stop, the model does not read.
    """
    return (
        request.operation is Operation.UPDATE
        and not request.subresource
        and is_custom(request.key.resource)
        and request.old_body != request.new_body
    )


def asks_removal(request: Request) -> bool:
    """Whether a request asks for an object to go; what lifts its last finalizer does not."""
    return request.operation is Operation.DELETE or request.subresource == "eviction"


def remember(request: Request, change: Change, view: GraphView, now: Now) -> None:
    """Remember what a request that was let through does."""
    if change.direct and asks_removal(request):
        _remember_removal(request, change, view, now)
    elif change.direct and request.gvr.resource == NODES:
        remember_node_end(view, change.direct[0], now)
    if change.resized is not None:
        _remember_stop(request, change.resized, view, now)
        if not change.resized.asked:
            _remember_size(request, change.resized, view, now)
            remember_cut(view, request.user.username, change.resized, now)
    made = change.rewritten
    if made is not None:
        if made.before is None:
            _remember_creation(request, made.after, view, now)
            remember_release(request, view, now)
        elif not change.direct:
            _remember_rewriting(request, made, made.before, view, now)
            if made.row is not None and "spec" in made.parts:
                remember_numbers(request, made.row, view, now)
                remember_least(view, request.user.username, made, now)
            if request.key.resource == PODS:
                _remember_role(request, made, view, now)
    elif rewrites_status(request):
        _remember_status(request, view, now)
        remember_given(request, view, now)
        remember_expired(request, view, now)
        remember_rounds(request, view, now)
    elif _gives_orders(request):
        deed = Deed.apart(What.WROTE, request.user.username, now)
        view.history.writes.note(request.key, deed, now)
    if request.operation is Operation.UPDATE and request.gvr.resource in _MEMBERS:
        _MEMBERS[request.gvr.resource](request, view, now)
    remember_release_given_up(request, view, now)
    remember_spoken(request, view, now)
    remember_idled(request, view, now)
    if is_custom(request.gvr.resource) and request.operation is not Operation.DELETE:
        _remember_custom(request, change, view, now)


def _remember_custom(request: Request, change: Change, view: GraphView, now: Now) -> None:
    """Remember what a write of a custom resource says of what its operator does next."""
    if request.subresource == "scale":
        remember_scale(request, view, now)
    remember_replaced(request, view, now)
    if not rewrites_custom(request) or change.direct:
        return
    remember_parts(request, view, now)
    remember_expired(request, view, now)
    remember_pruned(request, view, now)
    remember_let_go(request, view, now)
    remember_leave(request, view, now)
    writes, old = view.history.writes, request.old
    if old is not None and asks_for_another(request.old_body, request.new_body):
        writes.count(ordered(old.uid), now)
        writes.count(ordered_by(old.uid, request.user.username), now)
    if old is not None and _annotates(request):
        writes.count(annotated(old.uid), now)
        remember_mark(request, view, now)
        remember_pause(request, view, now)


def _gives_orders(request: Request) -> bool:
    """Whether a request changes annotations by which controllers go, and nothing else that is read.

    WHY: what they keep of a route, its certificate and the record of its name, they keep as its
    annotations say; and copies of an object, as its own do or those of a namespace.
    """
    return (
        request.operation is Operation.UPDATE
        and not request.subresource
        and (is_route(request.gvr.resource) or request.gvr.resource in _ORDERED)
        and request.old_body != request.new_body
        and _annotates(request)
    )


def _annotates(request: Request) -> bool:
    return annotations_of(request.old_body) != annotations_of(request.new_body)


def _remember_removal(request: Request, change: Change, view: GraphView, now: Now) -> None:
    writes, identity = view.history.writes, request.user.username
    evicted = change.evicted or request.subresource == "eviction"
    what = What.EVICTED if evicted else What.DELETED
    for row in change.direct[:DIRECT_NOTED]:
        key = view.key(row)
        writes.note(key, Deed(what, identity, number(view.uid(row))), now)
        for manager, present in view.targets(row, Edge.MANAGED_BY):
            if present and not view.terminating(row):
                writes.count(taken_apart(view.uid(manager), key.resource), now)
            if key.resource in PARTS:
                writes.count(part_taken(view.key(manager), key.resource), now)
        _remember_gone(request, row, view, now)
    if len(change.direct) == 1:
        resource, by_machine = view.resource(change.direct[0]), account_of(identity) is not None
        used = view.uses(change.direct[0], _MOUNTS) if resource in MOUNTED else []
        if used and not by_machine:
            writes.count(before_users(identity), now)
        # WHY a person's tokens too: one who renews them makes each again before the next goes.
        pulled = bool(used) and all(use.edge is Edge.PULL_SECRET for use in used)
        if resource in RBAC or (used and by_machine) or pulled:
            writes.count(not_back(identity, resource), now)
    for resource, count in Counter(map(view.resource, change.direct)).items():
        if is_custom(resource):
            writes.count(remover(identity, resource), now, count)
            writes.count(removals(resource), now, count)
    for owner, resource, count in takings(view, change.direct):
        writes.count(taken_from(owner, resource), now, count)
    remember_rest(view, change.direct[:DIRECT_NOTED], identity, now)
    note_taken(view, change.direct[:DIRECT_NOTED], what, identity, now)


def _remember_gone(request: Request, row: int, view: GraphView, now: Now) -> None:
    """Remember what the end of one pod, node or custom resource says of others."""
    resource = view.resource(row)
    if resource == PODS:
        remember_ended(view, row, now)
    elif resource == NODES:
        # WHY not while it is kept: whether it was drained meanwhile tells only its end.
        remember_node_end(view, row, now, goes=not holder(view, row))
    elif is_custom(resource):
        remember_agreed_end(view, row, request.user.username, now)
        if (node := node_behind(request, view, row)) is not None:
            view.history.writes.note_closed(view.name(node), now)
            view.history.writes.count(with_machine(view.uid(node)), now)
        forget_mark(view, row, now)


def _remember_size(request: Request, resized: Resized, view: GraphView, now: Now) -> None:
    writes, identity, key = view.history.writes, request.user.username, view.key(resized.row)
    for size in (resized.before, resized.after):
        writes.note(key, Deed(What.SCALED, identity, size), now)
    if 0 < resized.after * 2 < resized.before:
        writes.count(cut_down(identity), now)


def _remember_stop(request: Request, resized: Resized, view: GraphView, now: Now) -> None:
    """Remember of a workload that is scaled to nothing who stops it, or asks what keeps it to."""
    if resized.after or not resized.before:
        return
    writes, identity = view.history.writes, request.user.username
    space = view.namespace(resized.row)
    if not writes.counted(put_down_in(identity, space), now, HOUR_S):
        writes.count(spaces_entered(identity), now)
    writes.count(put_down(identity), now)
    writes.count(put_down_in(identity, space), now)
    still = stood_still(identity, space)
    if not writes.counted(still, now, HOUR_S) and serves_last(view, resized.row):
        writes.count(still, now)
        writes.count(stood_still(identity), now)


def _remember_creation(request: Request, after: ClusterObject, view: GraphView, now: Now) -> None:
    writes, identity, key = view.history.writes, request.user.username, after.key
    bound = key.resource in RBAC
    again = (bound or key.resource in MOUNTED) and _took_away(view, key, identity, now)
    if again and (bound or any(view.named_by(key, edge) for edge in _MOUNTS)):
        writes.count(not_back(identity, key.resource), now, -1)
    if is_custom(key.resource):
        remember_next_life(key, view, now)
    writes.count(creator(identity, key.resource), now)
    writes.count(creator_in(identity, key.resource, key.namespace), now)
    writes.count(creator_like(identity, key), now)


def _took_away(view: GraphView, key: ObjectKey, identity: str, now: Now) -> bool:
    """Whether an actor was the last to take away what had a name, and has not made up for all."""
    writes = view.history.writes
    if not writes.counted(not_back(identity, key.resource), now, HOUR_S):
        return False
    return writes.last(key, What.DELETED, now, HOUR_S) == number(identity)


def _remember_rewriting(
    request: Request, made: Rewritten, before: ClusterObject, view: GraphView, now: Now
) -> None:
    writes, identity, after = view.history.writes, request.user.username, made.after
    value = shape_number(after, request.new_body)
    # WHY not again: a write that came too late is reviewed once more, and is one restart.
    if restarts(request, made) and writes.latest(request.key, What.WROTE) != value:
        writes.count(restarter(identity, before), now)
        writes.count(restarts_by(identity), now)
    if request.key.resource == NODES and writes.latest(request.key, What.WROTE) != value:
        remember_labels(before, after, identity, view, now)
    if is_route(request.gvr.resource) or request.key.resource == SERVICES:
        remember_turn(made, view, now)
    if request.key.resource == NAMESPACES:
        remember_let_go(request, view, now)
    remember_version(request, made, view, now)
    if takes_down(request, made) and writes.latest(request.key, What.WROTE) != value:
        remember_rolled(request, made, view, now)
    for shape in (shape_number(before, request.old_body), value):
        writes.note(request.key, Deed(What.WROTE, identity, shape), now)
    old, new = before.facts, after.facts
    if isinstance(old, NodeFacts) and isinstance(new, NodeFacts):
        remember_closing(request, old, new, view, now)


def emptied_by(view: GraphView, made: Rewritten) -> list[int]:
    """Return the Services that a pod leaves by its new labels, and that have no other Ready one."""
    pod, before, after = made.row, made.before, made.after
    if pod is None or before is None or before.labels == after.labels or not view.serves(pod):
        return []
    stays = set(view.services_selecting(after))
    left = [one for one in view.services_selecting(before) if one not in stays]
    return [one for one in left if view.serving_count(one) <= 1]


def _remember_role(request: Request, made: Rewritten, view: GraphView, now: Now) -> None:
    """Remember which Services a pod leaves empty by its new labels, and which it fills."""
    writes, pod, before = view.history.writes, made.row, made.before
    if pod is None or before is None or before.labels == made.after.labels or not view.serves(pod):
        return
    for service in emptied_by(view, made):
        writes.note_vacant(view.uid(service), view.uid(pod), request.user.username, now)
    for service in view.services_selecting(made.after):
        writes.note_filled(view.uid(service))


def _remember_status(request: Request, view: GraphView, now: Now) -> None:
    writes, key, identity = view.history.writes, request.key, request.user.username
    if writes.written(key, What.STATUS, now, TEN_MINUTES_S) < STATUS_NOTED:
        writes.note(key, Deed.apart(What.STATUS, identity, now), now)
        return
    for body in (request.old_body, request.new_body):
        writes.note(key, Deed(What.STATUS, identity, status_number(body)), now)
