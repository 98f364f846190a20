"""Releases of charts that a custom resource asked for, and that a person took away with it.

A release says nothing of its own end: a tool takes away what it keeps, and its record last. Where a
custom resource asks for the release, by its name, its end is that. Told by the deletes of people
alone: a controller that takes such resources away may have lost its list, and what follows is its
work too. Pure.
Source: Fleet `spec.options.helm.releaseName`, Cluster API's add-on provider `spec.releaseName`;
controllers of charts, whose resources are called after Helm and a release after the resource.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.causes.counters import release_given_up
from suture.impact.ground.kinds import is_custom
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.difference import map_in, parts_of
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.habits import RELEASES, release_of
from suture.model.names import SECRETS, ObjectKey, Operation
from suture.model.request import Request
from suture.model.writes import HOUR_S

RELEASE: Final = "releaseName"
SPACES: Final = frozenset(
    {"namespace", "releaseNamespace", "targetNamespace", "defaultNamespace", "storageNamespace"}
)
"""How a custom resource calls the name of a release, and where its record may be."""

CHARTED: Final = "helm"
"""What the name of a type has in it of whose resources each is a release of its own name."""

DEEP: Final = 4
"""LIMIT: levels of a spec at which a release is named."""

NAMED: Final = 8
"""LIMIT: releases that one custom resource may mean, each in each of its namespaces."""


def remember_release_given_up(request: Request, view: GraphView, now: Now) -> None:
    """Remember which releases a person gives up with a custom resource, or asks for again."""
    writes = view.history.writes
    if not is_custom(request.key.resource) or request.subresource:
        return
    # WHY of those who run the type alone: they take apart what the resource asked for.
    runners = view.history.habits.keepers(request.key.resource)
    if request.operation is Operation.DELETE and is_person(request.user.username):
        for release in _asked_for(request.key, request.old_body) if runners else ():
            for one in runners:
                writes.count(release_given_up(release, one), now)
    elif request.operation is Operation.CREATE:
        for release in _asked_for(request.key, request.new_body) if runners else ():
            for one in runners:
                writes.take_back(release_given_up(release, one), now)


def release_ends(view: GraphView, row: int, identity: str, now: Now | None) -> bool:
    """Whether all releases that keep an object, or whose record it is, were given up lately.

    And `identity`, who asks, runs what asked for each of them.
    """
    if now is None:
        return False
    kept_by = [one for one, _ in view.targets(row, Edge.MANAGED_BY)]
    # WHY first: most is kept by something else, of which no key is made then.
    if any(view.resource(one) != RELEASES for one in kept_by):
        return False
    releases = [view.key(one) for one in kept_by]
    if view.resource(row) == SECRETS and (record := release_of(view.at(row))) is not None:
        releases.append(record)
    counted = view.history.writes.counted
    return bool(releases) and all(
        counted(release_given_up(one, identity), now, HOUR_S) > 0 for one in releases
    )


def _asked_for(key: ObjectKey, body: bytes) -> list[ObjectKey]:
    """Return the releases that a custom resource may mean, the first few."""
    names, spaces = dict[str, None](), {key.namespace: None}
    for field, value in _texts(map_in(parts_of(body).get("spec"))):
        if field == RELEASE:
            names[value] = None
        elif field in SPACES:
            spaces[value] = None
    if not names and CHARTED in str(key.resource):
        names[key.name] = None
    return [ObjectKey(RELEASES, space, name) for name in names for space in spaces][:NAMED]


def _texts(spec: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a spec that are texts, and of the maps in it."""
    level = [spec]
    for _ in range(DEEP):
        below: list[dict[str, object]] = []
        for part in level:
            for field, value in part.items():
                if isinstance(value, str):
                    yield field, value
                elif isinstance(value, dict):
                    below.append(value)
        level = below
