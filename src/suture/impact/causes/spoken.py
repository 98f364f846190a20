"""In which version of its API a type was last written by those who write its statuses.

Of objects it cannot be told: they are stored in one version, whatever they were written in, and
read in any that is served. So it is remembered of the writers, one version of each: a controller is
built for one, and has left a former one as soon as it writes in the next.
Source: admission.k8s.io/v1 AdmissionRequest: for rules of all versions, as Suture's are, `resource`
is what the request was made to, so that its version is the client's own.
"""

from __future__ import annotations

from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import ObjectKey, Resource
from suture.model.request import Request
from suture.model.writes import number


def remember_spoken(request: Request, view: GraphView, now: Now) -> None:
    """Remember in which version a type was written by one who writes its statuses.

    WHY by the definition and not the group: many types below `k8s.io` have one too.
    WHY of nobody else: strangers are never asked for, and so it is four identities of a type.
    """
    resource, identity = request.gvr.resource, request.user.username
    if view.crd(resource) is None or identity not in view.history.habits.keepers(resource):
        return
    deed = Deed(What.SPOKEN, identity, number(request.gvr.version))
    view.history.writes.note(_place(resource, identity), deed, now)


def speakers(view: GraphView, resource: Resource, version: str) -> list[str]:
    """Return who writes the statuses of a type, and wrote to it last in a version."""
    writes, wanted = view.history.writes, number(version)
    return [
        one
        for one in sorted(view.history.habits.keepers(resource))
        if writes.latest(_place(resource, one), What.SPOKEN) == wanted
    ]


def _place(resource: Resource, identity: str) -> ObjectKey:
    """Return the name, which no instance can have, under which it is remembered."""
    return ObjectKey(resource, "", f"/{identity}")
