"""Custom resources that hold something for living pods or nodes which they name: their addresses.

Networks keep in records of their own which addresses a pod has, and which a node may give out. Who
clears those away must know that the pod or node is gone; one that lost its list takes those of the
living, and the same address is given out twice, or none any more. So does who strikes the living
from a pool that is one object, with a line for each pod. A pool from which addresses are given says
in its status how many are. Read from the object itself, as the request shows it: the model keeps no
text of it.
Source: Calico `IPAMBlock` (`attributes.secondary.pod`) and `BlockAffinity` (`node`), Whereabouts
`OverlappingRangeIPReservation` and `IPPool` (`podref`); MetalLB `IPAddressPool` (`assignedIPv4`),
Kube-OVN `Subnet` (`v4usingIPs`), Cluster API's `InClusterIPPool` (`ipAddresses.used`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from suture.impact.causes.drained import closes
from suture.impact.effects import EntriesDropped
from suture.impact.ground.bodies import status_bytes
from suture.impact.ground.change import Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene, victim_of
from suture.model.difference import map_in, parts_of
from suture.model.names import NODES, PODS, ObjectKey
from suture.model.objects import NodeFacts

POD: Final = frozenset({"pod", "podName"})
POD_OF: Final = frozenset({"podref", "podRef"})
"""How a record names a pod: beside its namespace, or with it, as `namespace/name`."""

NODE: Final = frozenset({"node", "nodeName"})

_RANGE: Final = re.compile(rb'"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:]+)/\d{1,3}"')
"""A range of addresses, as a block of them says which are its."""

_POOLS: Final = ("pools", "subnets", "ranges")
"""How types are called from which addresses are given, at their end."""

_GIVEN: Final = re.compile(rb'"(?:assigned|allocated|used|v[46]using)\w*"\s*:\s*[1-9]')
"""How the status of a pool counts what it has given, where that is anything."""

_WORDS: Final = tuple(f'"{one}"'.encode() for one in sorted(POD | POD_OF | NODE))

LARGEST: Final = 262_144
"""LIMIT: bytes of an object that is looked through: a block of 256 addresses has 40,000."""

DEEP: Final = 5
"""LIMIT: levels of a spec at which pods are named."""

NAMED: Final = 512
"""LIMIT: pods of one record that are looked up, 1 us each."""

ALIKE_ASKED: Final = 20_000
"""LIMIT: records of one type whose names are looked at, 0.3 us each; of more, none is the last."""


def is_reserved(scene: Scene, row: int) -> bool:
    """Whether the one object that is deleted holds something for a living pod, or last for a node.

    Or is a pool of which something is given out.

    WHY no owner: what hangs on a pod or node goes with it, and another rule asks for that.
    """
    view, body = scene.view, scene.request.old_body
    if scene.change.direct != (row,) or view.has_owner(row) or not 0 < len(body) <= LARGEST:
        return False
    if not is_custom(view.resource(row)):
        return False
    if view.resource(row).plural.endswith(_POOLS) and _GIVEN.search(status_bytes(body)):
        return True
    # WHY the bytes: hardly any body has such a field, and then none is read.
    if not any(word in body for word in _WORDS):
        return False
    spec = map_in(parts_of(body).get("spec"))
    return (
        _holds_last_of_node(scene, row, spec)
        or any(_runs(scene, key, row) for key in islice(_pods(spec), NAMED))
        or (_RANGE.search(body) is not None and _holds_of_node(scene, spec))
    )


def struck_out(scene: Scene, made: Rewritten) -> Iterator[EntriesDropped]:
    """Yield what a pool of addresses no longer says of pods that run: that it gave them one.

    WHY several: of one pod that ends its network may know before the model does.
    """
    body, row = scene.request.old_body, made.row
    if row is None or len(body) > LARGEST or not any(word in body for word in _WORDS):
        return
    old, new = (_pods(map_in(parts_of(one).get("spec"))) for one in (body, scene.request.new_body))
    had, has = dict.fromkeys(islice(old, NAMED)), frozenset(new)
    if had.keys() <= has:
        return
    running = [key for key in had if _runs(scene, key, row)]
    gone = [key for key in running if key not in has]
    if len(gone) > 1:
        yield EntriesDropped(
            holder=victim_of(made.after),
            field="spec",
            before=len(running),
            dropped=len(gone),
            entries=tuple(f"{key.namespace}/{key.name}" for key in gone[: scene.limit]),
            readers=0,
            critical=True,
        )


def _pods(spec: dict[str, object]) -> Iterator[ObjectKey]:
    """Yield the pods that a spec names, in its maps and in the items of its lists."""
    for part in _parts(spec):
        yield from _named(part)


def _parts(spec: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield a spec, its maps, and the maps in its lists."""
    level: list[dict[str, object]] = [spec]
    for _ in range(DEEP):
        below: list[dict[str, object]] = []
        for part in level:
            yield part
            for value in part.values():
                items = value if isinstance(value, list) else [value]
                below += [one for one in items if isinstance(one, dict)]
        level = below


def _named(part: dict[str, object]) -> Iterator[ObjectKey]:
    namespace = part.get("namespace")
    for field, value in part.items():
        if not isinstance(value, str) or not value:
            continue
        if field in POD and isinstance(namespace, str) and namespace:
            yield ObjectKey(PODS, namespace, value)
        elif field in POD_OF and "/" in value:
            space, _, name = value.partition("/")
            yield ObjectKey(PODS, space, name)


def _runs(scene: Scene, key: ObjectKey, row: int) -> bool:
    """Whether a pod runs that stays, and that is no part of what names it."""
    view = scene.view
    pod = view.find(key)
    return (
        pod is not None
        and scene.stays(pod)
        and not view.finished(pod)
        and view.node_of(pod) is not None
        and view.controller(pod) != row
    )


def _holds_of_node(scene: Scene, spec: dict[str, object]) -> bool:
    """Whether a block of addresses has given one to a node itself, as for its end of a tunnel.

    WHY not by the node alone whose the block is: one that has several gives back what is empty.
    """
    return any(
        _is_up(scene, name)
        for part in islice(_parts(spec), 1, NAMED)
        if not any(field in POD or field in POD_OF for field in part)
        for field, name in part.items()
        if field in NODE and isinstance(name, str) and name
    )


def _is_up(scene: Scene, name: str) -> bool:
    """Whether a node is there, Ready, and not on its way out."""
    view = scene.view
    node = view.find(ObjectKey(NODES, "", name))
    if node is None:
        return False
    facts = view.facts(node)
    return isinstance(facts, NodeFacts) and facts.ready and not closes(view, node, scene.now)


def _holds_last_of_node(scene: Scene, row: int, spec: dict[str, object]) -> bool:
    """Whether a record says for which node it is, is called after it, and is the last of that."""
    view, resource = scene.view, scene.view.resource(row)
    if view.namespace(row):
        return False
    for field, name in spec.items():
        if field not in NODE or not isinstance(name, str) or not name:
            continue
        called = f"{name}-"
        if not view.name(row).startswith(called) or not _is_up(scene, name):
            continue
        if view.count(resource) > ALIKE_ASKED:
            return False
        return not any(
            one != row and view.name(one).startswith(called) and scene.stays(one)
            for one in view.rows(resource)
        )
    return False
