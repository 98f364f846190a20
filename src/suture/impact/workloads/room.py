"""Quotas, limits and levels of Pod Security under which pods that run could not be made again.

Beside `hollow`: these take nothing, and what runs goes on; whatever ends does not come back.
Source: the admission plugins ResourceQuota (a pod beyond a hard limit is not created) and
LimitRanger (nor one that asks for more than the most, or less than the least, of its type), and
PodSecurity (nor one that asks for what its namespace's level forbids).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from suture.impact.effects import Confidence, Hollowed
from suture.impact.ground.bodies import Limit, Spec, read_body
from suture.impact.ground.change import Rewritten
from suture.impact.ground.fit import Asked
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import PODS, Resource
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

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
RESTRICTED: Final = 2
LEVELS: Final[Mapping[str, int]] = {"baseline": 1, "restricted": RESTRICTED}
"""Levels that forbid anything. SOURCE: pod-security-admission `api.Level`."""

PODS_TOLD: Final = 64
"""LIMIT: pods of a namespace that are told of one by one: more than any budget lets pass."""


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


def pods_refused(scene: Scene, made: Rewritten) -> tuple[int, list[int]]:
    """Return how many pods run, and which of them a limit range would not let be made again.

    None unless that is nearly all of them: limits are set for what is too large.
    """
    old, new = _limits(scene.request.old_body), _limits(scene.request.new_body)
    if not new:
        return 0, []
    view, asked = scene.view, Asked(scene.view)
    running, kinds = _barred(
        view,
        made.after.key.namespace,
        lambda pod: _refused(new, asked.of(pod)) and not _refused(old, asked.of(pod)),
    )
    refused = sum(view.running_alike(kind)[0] for kind in kinds)
    if (running - refused) * 10 > running:
        return running, []
    return running, list(islice(_running(view, kinds), PODS_TOLD))


def pods_confined(scene: Scene, made: Rewritten) -> tuple[int, list[int]]:
    """Return how many pods run in a namespace, and which its level would not let be made again.

    Only where the write enforces a higher level than before. WHY all of those: unlike a limit, a
    level is of kinds of pods, and agents of nodes are a few among others.
    """
    old, new = made.before, made.after
    if old is None:
        return 0, []
    before, after = (LEVELS.get(one.labels.get(ENFORCE, ""), 0) for one in (old, new))
    if after <= before:
        return 0, []
    asked = Asked(scene.view)
    running, kinds = _barred(
        scene.view,
        new.key.name,
        lambda pod: _keeps_out(after, asked, pod) and not _keeps_out(before, asked, pod),
    )
    return running, list(islice(_running(scene.view, kinds), PODS_TOLD))


def _keeps_out(level: int, asked: Asked, pod: int) -> bool:
    """Whether a level would not let a pod be made, as far as its template is known."""
    wants = asked.of(pod)
    return (level > 0 and wants.unconfined) or (
        level == RESTRICTED and not wants.restricted and asked.knows(pod)
    )


def _barred(view: GraphView, namespace: str, bars: Callable[[int], bool]) -> tuple[int, list[int]]:
    """Return how many pods run in a namespace, and of which classes are those that it bars."""
    running, kinds = 0, list[int]()
    for kind in view.classes_in(namespace):
        count, pod = view.running_alike(kind)[0], view.one_alike(kind)
        running += count
        if count and pod >= 0 and bars(pod):
            kinds.append(kind)
    return running, kinds


def without_room(scene: Scene, found: tuple[int, list[int]]) -> Iterator[Hollowed]:
    """Tell of each pod that could not be made again, beside how many run in its namespace.

    WHY each: what takes their room is set for a whole namespace, and takes as much as runs there.
    """
    running, pods = found
    for pod in pods:
        yield Hollowed(
            target=scene.victim(pod),
            what="room",
            before=running,
            after=0,
            population=scene.view.count(PODS),
            confidence=Confidence.BOUNDED,
        )


def _running(view: GraphView, kinds: Iterable[int]) -> Iterator[int]:
    for kind in kinds:
        for pod in view.pods_alike(kind):
            if not view.finished(pod) and not view.terminating(pod):
                yield pod


def _limits(body: bytes) -> tuple[Limit, ...]:
    spec = read_body(body).spec
    limits = (spec.limits or ()) if spec is not None else ()
    return tuple(one for one in limits if one.type in {"Container", "Pod"})


def _refused(limits: Iterable[Limit], wants: Placement) -> bool:
    return any(_refuses(one, wants) for one in limits)


def _refuses(limit: Limit, wants: Placement) -> bool:
    """Whether no pod that asks for so much is let in, or has a container that may use so much.

    One that asks for nothing is given what the limit range says, and passes. WHY the sum, too, of
    what is the least for each container: if all of them have less, so has each.
    """
    # WHY all rounded up: what asks for exactly as much as is allowed passes.
    most, least = limit.max or {}, limit.min or {}
    each = limit.type == "Container"
    cpu, memory = (
        (wants.most_cpu_m, wants.most_memory_mi) if each else (wants.cpu_m, wants.memory_mi)
    )
    return (
        ("cpu" in most and cpu > cpu_m(most["cpu"], up=True))
        or ("memory" in most and memory > memory_mi(most["memory"], up=True))
        or ("cpu" in least and 0 < wants.cpu_m < cpu_m(least["cpu"], up=True))
        or ("memory" in least and 0 < wants.memory_mi < memory_mi(least["memory"], up=True))
    )
