"""Harm, counted by uid between two moments of a cluster; the arithmetic and nothing else.

Lives apart from `observe` so that what counts as lost is one page that can be tested without a
cluster. Source of the rule: an object is lost when it is gone, terminating, or, if it had a ready
endpoint or pod before, is without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

import msgspec

from suture.lab.scenarios.choosing import Meant
from suture.lab.scenarios.cluster import Object as Thing
from suture.lab.scenarios.expand import expand
from suture.lab.scenarios.observe import (
    Observation,
    is_ready,
    labels_of,
    owners_of,
    terminating,
)
from suture.model.selectors import parse_selector

PODS = "pods"
SLICES = "endpointslices.discovery.k8s.io"
SERVICES = "services"
NAMESPACES = "namespaces"
SERVICE_NAME = "kubernetes.io/service-name"
# Kinds between a pod and what people call its workload.
BETWEEN = ("replicasets.apps", "jobs.batch")
READS = (PODS, SLICES, *BETWEEN)
"""Resources that the count reads besides the kinds that are counted."""

# WHY: a finished Job has no pod any more, and that is what it is for.
_ENDS = frozenset({"jobs.batch", "cronjobs.batch"})

EXAMPLES = 10
"""LIMIT: lost objects named in a report; the counts are whole."""


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one kind."""

    population: int
    lost: int
    gone: int = 0
    terminating: int = 0
    unready: int = 0
    examples: tuple[str, ...] = ()


def losses(
    kinds: Iterable[str],
    meant: Iterable[Meant],
    before: Observation,
    after: Observation,
    *,
    among: Iterable[Meant] = (),
) -> dict[str, Loss]:
    """Return the loss of each kind; what is meant to go is in neither figure.

    With `among`, only what fits one of them is in either.
    """
    wanted = list(meant)
    counted = list(among)

    def counts(kind: str, thing: Thing) -> bool:
        if any(is_meant(kind, thing, one) for one in wanted):
            return False
        return not counted or any(is_meant(kind, thing, one) for one in counted)

    was_ready, is_ready_now = ready_of(before), ready_of(after)
    return {kind: _loss(kind, counts, before, after, was_ready, is_ready_now) for kind in kinds}


def _loss(  # noqa: PLR0917 - two moments, each seen twice
    kind: str,
    counted: Callable[[str, Thing], bool],
    before: Observation,
    after: Observation,
    was_ready: Mapping[str, int],
    is_ready_now: Mapping[str, int],
) -> Loss:
    counts = {"gone": 0, "terminating": 0, "unready": 0}
    examples: list[str] = []
    population = 0
    now = after.of(kind)
    for uid, thing in before.of(kind).items():
        # WHY: what was terminating before the first guilty step is not this scenario's harm.
        if terminating(thing) or not counted(kind, thing):
            continue
        population += 1
        left = now.get(uid)
        if left is None:
            why = "gone"
        elif terminating(left):
            why = "terminating"
        elif kind not in _ENDS and was_ready.get(uid, 0) and not is_ready_now.get(uid, 0):
            why = "unready"
        else:
            continue
        counts[why] += 1
        if len(examples) < EXAMPLES:
            examples.append(named(thing))
    return Loss(
        population=population, lost=sum(counts.values()), examples=tuple(examples), **counts
    )


def named(thing: Thing) -> str:
    """Return namespace and name, as people write them."""
    metadata = thing["metadata"]
    space = metadata.get("namespace")
    return f"{space}/{metadata['name']}" if space else str(metadata["name"])


def ready_of(moment: Observation) -> dict[str, int]:
    """Return by uid how many ready pods or endpoints are behind each object.

    A pod stands for itself and for every owner above it, for its namespace; an endpoint for the
    Service that its slice names.
    """
    ready: dict[str, int] = {}
    parents = {
        uid: owners_of(thing)
        for resource in moment.objects.values()
        for uid, thing in resource.items()
    }
    spaces = {s["metadata"]["name"]: uid for uid, s in moment.of(NAMESPACES).items()}
    for uid, pod in moment.of(PODS).items():
        if not is_ready(pod):
            continue
        above = [uid, *_ancestors(uid, parents)]
        space = spaces.get(pod["metadata"].get("namespace", ""))
        for one in [*above, *([space] if space else [])]:
            ready[one] = ready.get(one, 0) + 1
    services = {named(service): uid for uid, service in moment.of(SERVICES).items()}
    for piece in moment.of(SLICES).values():
        name = labels_of(piece).get(SERVICE_NAME, "")
        service = services.get(f"{piece['metadata'].get('namespace')}/{name}")
        if service is not None:
            ready[service] = ready.get(service, 0) + ready_endpoints(piece)
    return ready


def ready_endpoints(piece: Thing) -> int:
    """Return how many ready endpoints an EndpointSlice holds."""
    # WHY not False: an absent `ready` means unknown, which is to be read as ready (API docs).
    return sum(
        (endpoint.get("conditions") or {}).get("ready") is not False
        for endpoint in piece.get("endpoints") or ()
    )


def _ancestors(uid: str, parents: Mapping[str, list[str]]) -> list[str]:
    found: list[str] = []
    waiting = list(parents.get(uid, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.append(one)
            waiting += parents.get(one, ())
    return found


def is_meant(kind: str, thing: Thing, meant: Meant) -> bool:
    """Whether an object fits all that is given of what is meant to go."""
    metadata = thing["metadata"]
    if meant.resource and not same_kind(meant.resource, kind, thing):
        return False
    if not _among(metadata.get("namespace", ""), meant.namespaces):
        return False
    if not _among(metadata["name"], meant.names):
        return False
    selector = meant.label_selector
    return selector is None or parse_selector(selector).matches(labels_of(thing))


def same_kind(text: str, resource: str, thing: Thing) -> bool:
    """Whether `services`, `Service` or `deployments.apps` names this resource."""
    word = text.lower()
    plural = resource.partition(".")[0]
    return word in (resource, plural, str(thing.get("kind", "")).lower())


def _among(value: str, given: tuple[str, ...] | str | None) -> bool:
    if given is None or given == "all":
        return True
    patterns = expand((given,) if isinstance(given, str) else given)
    return any(fnmatchcase(value, pattern) for pattern in patterns)
