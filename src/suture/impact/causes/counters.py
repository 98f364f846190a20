"""What is counted lately, of whom: the names of counters, which who counts and who asks share.

`recent` counts; `model.writes` keeps what is counted for an hour.
"""

from __future__ import annotations

import re
from typing import Final

from suture.model.graph import GraphView
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject

_DRAWN: Final = re.compile(
    r"(-[a-z0-9]{5}|-[0-9a-f]{6,10}(-[a-z0-9]{5})?|-[0-9]{1,12}|\.v[0-9]{1,12})$"
)
"""What generateName and its kin draw by lot, or count up, at the end of a name; so does Helm."""


def pattern_of(name: str) -> str:
    """Return a name without the part that is drawn by lot."""
    return _DRAWN.sub("-*", name[-253:])


def creator(identity: str, resource: Resource) -> str:
    """Name the counter of an actor's creations of a type."""
    return f"created/{resource}/{identity}"


def remover(identity: str, resource: Resource) -> str:
    """Name the counter of an actor's removals of a custom type."""
    return f"removed/{resource}/{identity}"


def removals(resource: Resource) -> str:
    """Name the counter of all removals of a custom type, whoever made them."""
    return f"removed/{resource}"


def creator_in(identity: str, resource: Resource, namespace: str) -> str:
    """Name the counter of an actor's creations of a type in a namespace."""
    return f"created/{resource}/{namespace}/{identity}"


def creator_like(identity: str, key: ObjectKey) -> str:
    """Name the counter of an actor's creations under names that differ by lot only."""
    return f"created/{key.resource}/{key.namespace}/{pattern_of(key.name)}/{identity}"


def taken_from(uid: str, resource: Resource) -> str:
    """Name the counter of what was taken away, type by type, from one owner."""
    return f"taken/{resource}/{uid}"


def back_again(uid: str) -> str:
    """Name the counter of how often a custom resource got back a part that it had left out."""
    return f"back/{uid}"


def takings(view: GraphView, rows: tuple[int, ...]) -> list[tuple[str, Resource, int]]:
    """Return from which controllers some objects are taken: uid, type and how many.

    WHY not what has ended: its controller runs another by now, or none, and nothing comes back for
    it. Evicted pods of one workload are hundreds after a node was short of disk.
    """
    found: dict[tuple[int, Resource], int] = {}
    owner_of: dict[int, int] = {}
    for row in rows:
        if view.finished(row):
            continue
        alike = view.alike(row)
        owner = owner_of.get(alike)
        if owner is None:
            owner = owner_of[alike] = view.controller(row)
        if owner >= 0:
            at = owner, view.resource(row)
            found[at] = found.get(at, 0) + 1
    return [(view.uid(row), resource, count) for (row, resource), count in found.items()]


def taken_apart(uid: str, resource: Resource) -> str:
    """Name the counter of what was taken away, type by type, of what one manager keeps."""
    return f"apart/{resource}/{uid}"


def part_taken(keeper: ObjectKey, resource: Resource) -> str:
    """Name the counter of what was taken away of a type of what a release or application keeps."""
    return f"part/{resource}/{keeper}"


def release_given_up(release: ObjectKey, runner: str) -> str:
    """Name the counter of how a person took away what asked for a release, less its return.

    `runner`: who runs the type of that.
    """
    return f"given-up/{release}/{runner}"


def before_users(identity: str) -> str:
    """Name the counter of what a person took away while something named it."""
    return f"before-users/{identity}"


def kept_back(identity: str, uid: str = "") -> str:
    """Name the counter of workloads that an actor was refused to delete; `uid`: of this one."""
    return f"kept-back/{uid}/{identity}"


def put_down(identity: str) -> str:
    """Name the counter of workloads that an actor scaled to nothing."""
    return f"put-down/{identity}"


def put_down_in(identity: str, namespace: str) -> str:
    """Name the counter of workloads of one namespace that an actor scaled to nothing."""
    return f"put-down/{namespace}/{identity}"


def spaces_entered(identity: str) -> str:
    """Name the counter of namespaces in which an actor began to scale workloads to nothing."""
    return f"put-down-spaces/{identity}"


def stood_still(identity: str, namespace: str = "") -> str:
    """Name the counter of namespaces in which an actor scaled the last to nothing that served.

    `namespace`: of this one.
    """
    return f"stood-still/{namespace}/{identity}"


def cleared(identity: str) -> str:
    """Name the counter of workloads at rest that an actor took away."""
    return f"cleared/{identity}"


def ran_in(namespace: str) -> str:
    """Name the counter of workloads that were taken away from a namespace, and not at rest."""
    return f"ran/{namespace}"


def kept_up(identity: str) -> str:
    """Name the counter of workloads that an actor was refused to scale to nothing."""
    return f"kept-up/{identity}"


def cut_down(identity: str) -> str:
    """Name the counter of workloads that an actor made smaller by more than half."""
    return f"cut-down/{identity}"


def not_back(identity: str, resource: Resource) -> str:
    """Name the counter of what an actor took away of a type, less what it made again at once."""
    return f"not-back/{resource}/{identity}"


def let_go(namespace: str, home: str) -> str:
    """Name the counter of how a person took a namespace from another, and gave none back."""
    return f"let-go/{namespace}/{home}"


def unlabelled(identity: str, label: str) -> str:
    """Name the counter of nodes that an actor took a label off, less those it gave it back to."""
    return f"unlabelled/{label}/{identity}"


def annotated(uid: str) -> str:
    """Name the counter of changes of a custom resource's annotations, which may be orders."""
    return f"annotated/{uid}"


def with_machine(uid: str) -> str:
    """Name the counter of machines of a node that were let go: with them it ends."""
    return f"machine-gone/{uid}"


def ended_in_use(node: str) -> str:
    """Name the counter of the ends of a node that was closed, and not drained before it went."""
    return f"ended-in-use/{node}"


def ended_dead(node: str = "") -> str:
    """Name the counter of the ends of a node that was not Ready any more; without one, of all."""
    return f"ended-dead/{node}"


def parted(uid: str, part: str) -> str:
    """Name the counter of how a person took a part out of a custom resource, and not back in."""
    return f"parted/{uid}/{part}"


def ordered(uid: str) -> str:
    """Name the counter of orders of another version, or a restart, of a custom resource."""
    return f"ordered/{uid}"


def ordered_by(uid: str, identity: str) -> str:
    """Name the counter of such orders of one actor."""
    return f"ordered/{uid}/{identity}"


def least_lowered(uid: str, least: int) -> str:
    """Name the counter of how an autoscaler's least size was lowered from a number."""
    return f"least-lowered/{uid}/{least}"


def least_lowered_by(uid: str, least: int, identity: str) -> str:
    """Name the counter of how one actor did so."""
    return f"least-lowered/{uid}/{least}/{identity}"


def restarter(identity: str, workload: ClusterObject) -> str:
    """Name the counter of an actor's restarts of one life of a workload, by another template."""
    key = workload.key
    return f"restarted/{key.resource}/{key.namespace}/{key.name}/{workload.uid}/{identity}"


def restarts_by(identity: str) -> str:
    """Name the counter of an actor's restarts of whatever workloads."""
    return f"restarts/{identity}"


def dropped(uid: str) -> str:
    """Name the counter of how an object's keeper has left it out."""
    return f"dropped/{uid}"


def followed(uid: str) -> str:
    """Name the counter of how an object's keeper has left it out for the next of its kind."""
    return f"followed/{uid}"


def to_change(uid: str) -> str:
    """Name the counter of how an object's keeper has said that it is about to change it."""
    return f"to-change/{uid}"


def turned(uid: str) -> str:
    """Name the counter of routes and webhooks that left a Service, and of Services a workload."""
    return f"turned/{uid}"


def idled(uid: str, route: str = "") -> str:
    """Name the counter of routes, or one, that have ceased to send anything to a Service."""
    return f"idled/{uid}/{route}"


def expired(uid: str) -> str:
    """Name the counter of how something was given up that was to be kept until a moment ago."""
    return f"expired/{uid}"
