"""Services to which a route sends nothing any more: their weight there was set to nothing.

Beside `turned`, where a route leaves a Service for another: here it names both before and after,
and says how much goes to each. So a delivery in steps that is given up sends all traffic back to
what runs, and then the next version away, whose Service is left without a pod and is asked by
nobody. Routes are of many kinds, and few of them have a schema that says what is a Service; that an
item has a weight and a name is what they have in common.
Source: Gateway API `backendRefs`, Istio `destination.host`, SMI and Traefik `services`.
LIMIT: it is remembered for an hour, or until a route that weighs something sends something there
again; one that weighs nothing, and did not before, is not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from suture.impact.causes.counters import idled
from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.turned import NO_READERS
from suture.impact.ground.kinds import is_custom, is_route
from suture.impact.ground.readers import one_of_each
from suture.model.clock import Now
from suture.model.difference import all_parts, map_in
from suture.model.graph import GraphView
from suture.model.names import RESERVED, SERVICES, ObjectKey, Resource
from suture.model.objects import LOAD_BALANCER, ServiceFacts
from suture.model.request import Request
from suture.model.writes import HOUR_S

DEEP: Final = 8
"""LIMIT: levels of a spec at which weights are looked for."""

NAMES: Final = ("name", "host", "service", "serviceName")
"""How a route calls the field that names a Service, in an item with a weight or one level below."""

KINDS: Final = 64
"""LIMIT: kinds of pods behind one Service that are asked whose they are."""


def remember_idled(request: Request, view: GraphView, now: Now) -> None:
    """Remember which Services a route sends nothing to any more, and which it does again.

    Only where as many endpoints as those had are behind others to which it sends something.
    """
    old, writes, space = request.old, view.history.writes, request.key.namespace
    bodies = request.old_body, request.new_body
    if request.subresource or not _may_lead(request.gvr.resource):
        return
    # WHY first: of most nothing is weighed, and then nothing is decoded.
    if not any(b'"weight"' in one for one in bodies):
        return
    (had, _), (has, weighed) = (_weights(one, space) for one in bodies)
    idle = {key for key in weighed if not has[key] and had[key]}
    asked = {key for key in weighed if has[key]}
    if old is not None and idle and _serving(view, asked) >= _serving(view, idle):
        for uid in _uids(view, idle):
            writes.count(idled(uid), now)
            writes.count(idled(uid, old.uid), now)
    for uid in _uids(view, {key for key in has if has[key] and not had[key]}):
        writes.take_back(idled(uid), now)


def is_idle(view: GraphView, service: int, now: Now | None) -> bool:
    """Whether within the hour a route has ceased to send anything to a Service, and nobody asks it.

    Who names it is a route that has, or the custom resource whose pods are behind it: that says by
    which Service it is delivered. It has no balancer of its own, and is not of the cluster itself.
    """
    counted, uid = view.history.writes.counted, view.uid(service)
    # WHY first: hardly any Service was, and who names one costs more to ask.
    if now is None or not counted(idled(uid), now, HOUR_S):
        return False
    facts = view.facts(service)
    if not isinstance(facts, ServiceFacts) or facts.type == LOAD_BALANCER:
        return False
    if view.namespace(service).startswith(RESERVED):
        return False
    pods = one_of_each(view, view.classes_selected(service)[:KINDS])
    above = {one for pod in pods for one in view.controllers(pod, CLIMBED)}
    return all(
        link.row in above or counted(idled(uid, view.uid(link.row)), now, HOUR_S) > 0
        for link in view.needed_by(service)
        if link.present and link.edge not in NO_READERS
    )


def _may_lead(resource: Resource) -> bool:
    return is_route(resource) or is_custom(resource)


def _serving(view: GraphView, keys: set[ObjectKey]) -> int:
    return sum(map(view.serving_count, _rows(view, keys)))


def _rows(view: GraphView, keys: set[ObjectKey]) -> list[int]:
    return [row for key in keys if (row := view.find(key)) is not None]


def _uids(view: GraphView, keys: set[ObjectKey]) -> list[str]:
    return [view.uid(row) for row in _rows(view, keys)]


def _weights(body: bytes, namespace: str) -> tuple[Counter[ObjectKey], set[ObjectKey]]:
    """Return how much a route sends to each Service that it names, and those it weighs.

    What has no weight is sent something. WHY whatever has such a name: of what names a Service
    without a weight it is not known how the route calls it, and one too many is none let go.
    """
    found, weighed = Counter[ObjectKey](), set[ObjectKey]()
    for item in _items(map_in(all_parts(body).get("spec")), DEEP):
        weight, key = item.get("weight"), _named(item, namespace)
        if key is None:
            continue
        if isinstance(weight, int):
            weighed.add(key)
        found[key] += weight if isinstance(weight, int) else 1
    return found, weighed


def _named(item: dict[str, object], namespace: str) -> ObjectKey | None:
    """Return the Service that an item names; one with a weight names it one level below, too."""
    below = [one for one in item.values() if isinstance(one, dict)] if "weight" in item else []
    for part in (item, *below):
        for field in NAMES:
            if isinstance(text := part.get(field), str):
                # A host within the cluster has its namespace behind its name.
                name, *rest = text.split(".")
                said = rest[0] if rest else part.get("namespace")
                return ObjectKey(SERVICES, said if isinstance(said, str) else namespace, name)
    return None


def _items(part: object, depth: int) -> Iterator[dict[str, object]]:
    """Yield the maps below a part of a spec; of one that has a weight itself alone."""
    if isinstance(part, list) and depth:
        for item in part:
            yield from _items(item, depth - 1)
    elif isinstance(part, dict) and depth:
        yield part
        if not isinstance(part.get("weight"), int):
            for value in part.values():
                yield from _items(value, depth - 1)
