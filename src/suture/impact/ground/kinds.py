"""What sort of type one is: somebody's own, or one that leads traffic."""

from __future__ import annotations

from suture.model.groups import is_kubernetes
from suture.model.names import GATEWAYS, INGRESSES, Resource


def is_custom(resource: Resource) -> bool:
    """Whether a type is somebody's own, and none of Kubernetes'."""
    return not is_kubernetes(resource.group)


def is_route(resource: Resource) -> bool:
    """Whether objects of a type may lead traffic to Services, from outside or through a gateway."""
    return resource == INGRESSES or resource.group == GATEWAYS.group
