"""All kinds of a made cluster but pods: which writer writes which.

The register of this room. A family of kinds has a module of its own; a kind that none of them
writes is a custom one, of which `customs` knows what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suture.lab.clusters import access, customs, ground, keeping, routing, serving, storage, working
from suture.lab.clusters.plan import Plan
from suture.lab.clusters.scribe import Scribe, Writer
from suture.model.names import Resource

WRITERS: Mapping[Resource, Writer] = {
    **ground.WRITERS,
    **working.WRITERS,
    **serving.WRITERS,
    **routing.WRITERS,
    **storage.WRITERS,
    **access.WRITERS,
    **keeping.WRITERS,
    **customs.WRITERS,
}


def write(plan: Plan, resource: Resource, *, full: bool) -> Iterator[bytes]:
    """Yield every object of a kind, in the order in which the API server lists them."""
    scribe = Scribe(plan, full=full)
    writer = WRITERS.get(resource)
    return customs.instances(scribe, resource) if writer is None else writer(scribe)
