"""Quotas and limit ranges under which the pods that run could not be made again.

Beside `hollow`: these take nothing, and what runs goes on; whatever ends does not come back.
Source: the admission plugins ResourceQuota (a pod beyond a hard limit is not created) and
LimitRanger (nor one that asks for more than the most, or less than the least, of its type).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.bodies import Limit, Spec, read_body
from suture.impact.change import Rewritten
from suture.impact.fit import Asked
from suture.impact.scene import Scene
from suture.model.names import Resource
from suture.model.placement import Placement
from suture.model.quantities import cpu_m, memory_mi

QUOTAS: Final = Resource("", "resourcequotas")
LIMIT_RANGES: Final = Resource("", "limitranges")

Told = Iterable[tuple[str, int, int]]
"""What is gone, in a word, and how much of it was there and is left."""

LIMITING: Final = (
    "pods", "count/pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu",
    "limits.memory",
)  # fmt: skip
"""Hard limits without which no pod is created, where they are nothing."""

COUNTING: Final = ("pods", "count/pods")

CONTAINERS: Final = 8
"""LIMIT: containers that one pod is taken to have, where a limit is for each: what a template asks
for is known in sum. Of more containers in a pod too little is told."""


def quota_room(scene: Scene, made: Rewritten) -> Told:
    """Tell of a quota under which pods that run could not be made again."""
    old, new = read_body(scene.request.old_body).spec, read_body(scene.request.new_body).spec
    view, space = scene.view, made.after.key.namespace
    running = sum(view.running_alike(kind)[0] for kind in view.classes_in(space))
    if running and _bars(new, running) and not _bars(old, running):
        yield "room", running, 0


def _bars(spec: Spec | None, running: int) -> bool:
    """Whether a quota of all pods lets in fewer than run, or nothing at all."""
    if spec is None or spec.scopes or spec.scope_selector is not None:
        return False
    hard = {name: str(amount) for name, amount in (spec.hard or {}).items()}
    counts = [hard[name] for name in COUNTING if name in hard]
    return any(one.isdecimal() and int(one) < running for one in counts) or any(
        hard.get(name, "").rstrip("mkMGTPEi") == "0" for name in LIMITING
    )


def limit_room(scene: Scene, made: Rewritten) -> Told:
    """Tell of a limit range under which hardly any of the pods that run could be made again."""
    old, new = _limits(scene.request.old_body), _limits(scene.request.new_body)
    view, asked = scene.view, Asked(scene.view)
    running = refused = 0
    for kind in view.classes_in(made.after.key.namespace):
        count, pod = view.running_alike(kind)[0], view.one_alike(kind)
        if not count or pod < 0:
            continue
        running += count
        wants = asked.of(pod)
        if _refused(new, wants) and not _refused(old, wants):
            refused += count
    if refused and (running - refused) * 10 <= running:
        yield "room", running, running - refused


def _limits(body: bytes) -> tuple[Limit, ...]:
    spec = read_body(body).spec
    limits = (spec.limits or ()) if spec is not None else ()
    return tuple(one for one in limits if one.type in {"Container", "Pod"})


def _refused(limits: Iterable[Limit], wants: Placement) -> bool:
    return any(_refuses(one, wants) for one in limits)


def _refuses(limit: Limit, wants: Placement) -> bool:
    """Whether no pod that asks for so much is let in.

    One that asks for nothing is given what the limit range says, and passes.
    """
    most, least = limit.max or {}, limit.min or {}
    containers = CONTAINERS if limit.type == "Container" else 1
    return any(
        (most_of is not None and wanted > most_of * containers)
        or (least_of is not None and wanted < least_of)
        for wanted, most_of, least_of in (
            (
                wants.cpu_m,
                cpu_m(most["cpu"], up=False) if "cpu" in most else None,
                cpu_m(least["cpu"], up=True) if "cpu" in least else None,
            ),
            (
                wants.memory_mi,
                memory_mi(most["memory"], up=False) if "memory" in most else None,
                memory_mi(least["memory"], up=True) if "memory" in least else None,
            ),
        )
        if wanted
    )
