"""What is said of a box and of an edge, in the terminal's tree and in the drawing alike."""

from __future__ import annotations

from collections.abc import Sequence

from suture.model.boxes import Box, Line, Neighbourhood, Presence
from suture.model.edges import Edge
from suture.model.names import NAMESPACES, plural_of

NAMES = 3
"""LIMIT: names of a box that stands for several; more are a count."""

KEYS = 3
"""LIMIT: keys of a ConfigMap or Secret that are named; more are a count."""

WORDS = {
    Edge.OWNER: "owned by",
    Edge.NAMESPACE: "in",
    Edge.DEFINITION: "defined by",
    Edge.SLICE_OF: "slice of",
    Edge.ROUTES_TO: "routes to",
    Edge.ATTACHED_TO: "attached to",
    Edge.SERVICE_ACCOUNT: "runs as",
    Edge.PULL_SECRET: "pulls with",
    Edge.CLAIM: "mounts",
    Edge.NODE: "runs on",
    Edge.CONFIG_MAP: "reads",
    Edge.SECRET: "reads",
    Edge.GOVERNING_SERVICE: "named by",
    Edge.PRIORITY_CLASS: "priority",
    Edge.RUNTIME_CLASS: "runtime",
    Edge.RESOURCE_CLAIM: "device claim",
    Edge.VOLUME: "stored on",
    Edge.BOUND_CLAIM: "bound to",
    Edge.STORAGE_CLASS: "class",
    Edge.DRIVER: "registers",
    Edge.ATTACHED_NODE: "attached to",
    Edge.SNAPSHOT_SOURCE: "taken from",
    Edge.SNAPSHOT_CONTENT: "kept in",
    Edge.BOUND_SNAPSHOT: "bound to",
    Edge.DATA_SOURCE: "filled from",
    Edge.WEBHOOK: "calls",
    Edge.API_SERVICE: "answered by",
    Edge.CONVERSION: "converted by",
    Edge.PARAMETERS: "reads",
    Edge.ROLE: "grants",
    Edge.SUBJECT: "grants to",
    Edge.HOLDER: "held by",
    Edge.MANAGED_BY: "managed by",
    Edge.PARENT: "made by",
    Edge.RULE: "refers to",
    Edge.LEADS_TO: "leads to",
    Edge.PROVIDER: "provided by",
}
"""Said from the needing object to the needed one; the others are their own words."""


def title(box: Box, some: int | None = None) -> str:
    """Return what a box is: `Service web`, `12 Pods of ReplicaSet web-5d`, `… and 8 more Pods`.

    `some` are those that are meant, where it is not all: `5 of 12 Pods`.
    """
    count = f"{box.count:,}" if some in (None, box.count) else f"{some:,} of {box.count:,}"
    if box.rest:
        what = plural_of(box.kind) if box.count > 1 else box.kind
        return f"… and {count} more {what}"
    if box.count == 1:
        return f"{box.kind} {box.names[0]}"
    of = f" of {box.owner}" if box.owner else ""
    return f"{count} {plural_of(box.kind)}{of}"


def names(box: Box) -> str:
    """Return the first names of a box that stands for several and says of whom by no owner."""
    if box.count == 1 or box.rest or box.owner:
        return ""
    return _some(box.names, NAMES, box.count)


def states(found: Neighbourhood, box: Box) -> list[str]:
    """Return how the objects of a box are, in words; the gravest first."""
    if box.presence is Presence.MISSING:
        return ["missing, optional" if all_optional(found, box) else "missing"]
    if box.presence is Presence.UNKNOWN:
        return [f"unknown: {box.why}"]
    how, parts = box.condition, []
    if lost := lost_keys(found, box):
        parts.append(f"lacks {_some(lost, KEYS, len(lost))}")
    if how.terminating:
        parts.append("terminating" if box.count == 1 else f"{how.terminating:,} terminating")
    if how.countable == box.count == 1:
        parts.append("ready" if how.ready else "not ready")
    elif how.countable:
        parts.append(f"{how.ready:,} of {how.countable:,} ready")
    if how.finished:
        parts.append("finished" if box.count == 1 else f"{how.finished:,} finished")
    if how.wanted is not None:
        parts.append(f"wants {how.wanted:,}")
    if how.endpoints is not None:
        parts.append(_endpoints(how.endpoints, how.backing))
    parts += how.marks
    return parts


def _endpoints(ready: int, backing: int | None) -> str:
    if not backing or backing == ready:
        return f"{ready:,} endpoint{'' if ready == 1 else 's'} ready" if ready else "no endpoints"
    return f"{ready:,} of {backing:,} endpoints ready"


def bad(found: Neighbourhood, box: Box) -> bool:
    """Whether something in a box is not as it should be."""
    how = box.condition
    if how.grave or lost_keys(found, box):
        return True
    return how.ready < how.countable or (how.endpoints == 0 and how.backing != 0) or (
        how.endpoints is not None and how.endpoints < (how.backing or 0)
    )  # fmt: skip


def share(box: Box) -> tuple[int, int] | None:
    """Return how many are ready, of how many; None where that is no share: nothing, or just one."""
    how = box.condition
    if how.countable > 1:
        return how.ready, how.countable
    if how.endpoints is not None and how.backing:
        return how.endpoints, how.backing
    return None


def edge(line: Line) -> str:
    """Return an edge in words: `reads`, `reads LOG_LEVEL`."""
    return WORDS.get(line.edge, line.edge.value.replace("-", " "))


def keys(line: Line) -> str:
    """Return which keys an edge reads; empty where it reads the whole."""
    return _some(line.keys, KEYS, len(line.keys))


def _some(words: Sequence[str], limit: int, count: int) -> str:
    shown = words[:limit]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def all_optional(found: Neighbourhood, box: Box) -> bool:
    """Whether every edge to a box is optional."""
    lines = [line for line in found.lines if line.needed == box.number]
    return bool(lines) and all(line.optional for line in lines)


def lost_keys(found: Neighbourhood, box: Box) -> tuple[str, ...]:
    """Return the keys that are read of a box's objects and that they do not have."""
    lines = [line for line in found.lines if line.needed == box.number and not line.optional]
    return tuple(sorted({key for line in lines for key in line.lost}))


def home(found: Neighbourhood) -> str:
    """Return the namespace that needs no saying: the centre's, or the one that it is."""
    centre = found.centre
    return centre.names[0] if centre.resource == NAMESPACES else centre.namespace
