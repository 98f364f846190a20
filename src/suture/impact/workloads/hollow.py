"""Updates that are removals in effect: the object stays, and no longer does what it is there for.

Beside `removal`, which counts what goes: a script that suspends every CronJob, or takes the address
of every Service, deletes nothing. Of selectors, sizes and templates others tell.
Source: batch/v1 CronJobSpec; core/v1 ServiceSpec (the service controller gives a load balancer
back when the type is another), ServiceAccount (its pull secrets are copied into new pods),
networking/v1 IngressRule (a host that no rule names is answered by nobody).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from suture.impact.causes.replaced import answered, hosts_of
from suture.impact.effects import Confidence, Hollowed
from suture.impact.ground.bodies import read_body
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.readers import is_read
from suture.impact.ordinary.paused import schedule_sleeps
from suture.impact.scene import Scene, victim_of
from suture.impact.workloads.room import (
    LIMIT_RANGES,
    QUOTAS,
    Told,
    pods_refused,
    quota_room,
    without_room,
)
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import CRON_JOBS, SERVICE_ACCOUNTS, SERVICES, Resource
from suture.model.objects import (
    EXTERNAL_NAME,
    LOAD_BALANCER,
    ClusterObject,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
)

MANY: Final = 5
"""Backends from which on a route that keeps a tenth of them counts as emptied: of fewer each is a
large part, and routes change by parts."""


def hollows(change: Change) -> bool:
    """Whether a change writes an object that may be as good as gone afterwards."""
    made = change.rewritten
    if made is None or change.direct:
        return False
    resource = made.after.key.resource
    if made.before is None:
        return resource in {QUOTAS, LIMIT_RANGES}
    return (
        resource in _TELLS or resource == LIMIT_RANGES or isinstance(made.after.facts, RouteFacts)
    )


def hollow_effects(scene: Scene) -> Iterator[Hollowed]:
    """Yield what an object that stays would no longer do."""
    made = scene.change.rewritten
    if made is None or made.after.terminating:
        return
    resource = made.after.key.resource
    if resource == LIMIT_RANGES:
        yield from without_room(scene, pods_refused(scene, made))
        return
    tell = _TELLS.get(resource, _backends)
    for what, before, after in tell(scene, made):
        yield Hollowed(
            target=victim_of(made.after),
            what=what,
            before=before,
            after=after,
            population=scene.view.count(resource),
            confidence=Confidence.EXACT,
            reversible=what != "address",
        )


def _suspended(scene: Scene, _made: Rewritten) -> Told:
    """Tell of a CronJob that would make no more Jobs."""
    old, new = read_body(scene.request.old_body).spec, read_body(scene.request.new_body).spec
    if old is None or new is None or old.suspend or not new.suspend:
        return
    if not schedule_sleeps(scene):
        yield "schedule", 1, 0


def _address(scene: Scene, made: Rewritten) -> Told:
    """Tell of a Service whose address outside is given back, or whose other name is gone."""
    old, new = made.facts_before, made.after.facts
    if not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return
    if old.type == LOAD_BALANCER != new.type:
        status = read_body(scene.request.old_body).status
        balancer = status.load_balancer if status is not None else None
        had = len(balancer.ingress or ()) if balancer is not None else 0
        if had:
            yield "address", had, 0
    elif (
        old.type == EXTERNAL_NAME != new.type
        and new.selector is None
        and (made.row is None or not scene.view.serving_count(made.row))
    ):
        yield "name", 1, 0


def _backends(scene: Scene, made: Rewritten) -> Told:
    """Tell of a route that would lead to none of the Services that answer now, nor to others.

    So does one that nobody reads any more.
    """
    old, new = set(_route(made.before).services), set(_route(made.after).services)
    view = scene.view
    if made.before is not None and _unread(view, made.before, made.after):
        led = sum(_serves(view, one) for one in old)
        if led:
            yield "backends", led, 0
        return
    # WHY there: to a Service that nobody has made nothing is led.
    if made.before is None or not old or any(view.service(one) is not None for one in new - old):
        return
    serving = {one for one in old if _serves(view, one)}
    lost = {one for one in serving - new if not _led_to_by_another(view, one, made.row)}
    left = len(serving) - len(lost)
    if lost and (not left or (len(lost) >= MANY and left * 10 <= len(serving))):
        yield "backends", len(serving), left
    else:
        yield from _hosts(scene, made)


def _unread(view: GraphView, before: ClusterObject, after: ClusterObject) -> bool:
    """Whether a route is given to a class or Gateway that is not there, in place of one that is.

    LIMIT: a class that is named nowhere but in a controller's own flags is not known to the model;
    a route of such a one was of none that is there before.
    """
    for edge in (Edge.CLASS, Edge.ATTACHED_TO):
        old = {one.target for one in before.needs if one.edge is edge}
        new = {one.target for one in after.needs if one.edge is edge}
        if (
            new
            and new != old
            and any(view.find(one) is not None for one in old)
            and all(view.find(one) is None and view.listed(one.resource) for one in new)
        ):
            return True
    return False


def _hosts(scene: Scene, made: Rewritten) -> Told:
    """Tell of a route that would answer for hardly any of its many hosts, and for no others."""
    before, after = frozenset(_route(made.before).hosts), frozenset(_route(made.after).hosts)
    # WHY none is enough: a route that names no host answers for any.
    if not after or after - before or len(after) * 10 > len(before):
        return
    view = scene.view
    routes = (one for one in view.rows(made.after.key.resource) if one != made.row)
    others = {host for one in routes if not view.terminating(one) for host in hosts_of(view, one)}
    kept = sum(answered(host, after | others) for host in before)
    if kept * 10 <= len(before):
        yield "hosts", len(before), kept


def _route(thing: ClusterObject | None) -> RouteFacts:
    """Return where a version of an object leads, and for which hosts; nowhere where it is none."""
    facts = thing.facts if thing is not None else None
    return facts if isinstance(facts, RouteFacts) else RouteFacts()


def _serves(view: GraphView, ref: ServiceRef) -> bool:
    row = view.service(ref)
    return row is not None and view.serving_count(row) > 0


def _led_to_by_another(view: GraphView, ref: ServiceRef, route: int | None) -> bool:
    row = view.service(ref)
    return row is not None and any(
        one != route and not view.terminating(one) for one in view.sources(row, Edge.ROUTES_TO)
    )


def _pull_secrets(scene: Scene, made: Rewritten) -> Told:
    """Tell of an account whose pods would pull no image of their own any more."""
    had, has = _pulls(made.before), _pulls(made.after)
    if had and not has and made.row is not None and _runs(scene.view, made.row):
        yield "pull-secrets", had, has


def _pulls(thing: ClusterObject | None) -> int:
    return sum(one.edge is Edge.PULL_SECRET for one in thing.needs) if thing is not None else 0


def _runs(view: GraphView, account: int) -> bool:
    """Whether any pod runs as an account."""
    return is_read(view, account, {Edge.SERVICE_ACCOUNT})


_TELLS: Final[Mapping[Resource, Callable[[Scene, Rewritten], Told]]] = {
    CRON_JOBS: _suspended,
    SERVICES: _address,
    SERVICE_ACCOUNTS: _pull_secrets,
    QUOTAS: quota_room,
}
"""Who tells of which type; of routes, which are of many types, `_backends` does."""
