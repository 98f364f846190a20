"""Cases built from effects directly: what a policy sees, without a cluster behind it."""

from __future__ import annotations

import msgspec

from suture.impact.effects import (
    AdmissionPathBroken,
    Effect,
    EndpointsLost,
    Impact,
    ObjectsRemoved,
    SelectionChanged,
    ServiceEmptied,
    Victim,
)
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import Gvk, Gvr, Operation
from suture.model.request import Extent, One, Request
from suture.policy.rules import Case, Point

OPERATOR = "system:serviceaccount:balancers:load-balancer"


def request(
    resource: str = "services",
    name: str = "web",
    *,
    namespace: str = "shop",
    operation: Operation = Operation.DELETE,
    subresource: str = "",
    extent: Extent = One(),  # noqa: B008 a frozen value
) -> Request:
    """Return a request for `plural` or `plural.group`."""
    plural, _, group = resource.partition(".")
    return Request(
        uid="review-1",
        operation=operation,
        gvr=Gvr(group, "v1", plural),
        gvk=Gvk(group, "v1", plural.title()),
        subresource=subresource,
        namespace=namespace,
        name=name,
        user=UserInfo(OPERATOR, ("system:serviceaccounts",)),
        extent=extent,
    )


def actor(username: str = OPERATOR) -> Actor:
    return Actor(UserInfo(username), username, IdentityKind.OPERATOR, Stage.ENFORCE)


def case(
    *effects: Effect,
    asked: Request | None = None,
    by: Actor | None = None,
    point: Point = Point.ADMISSION,
    selector_known: bool = False,
) -> Case:
    return Case(
        request=asked or request(),
        actor=by or actor(),
        impact=Impact(effects),
        point=point,
        selector_known=selector_known,
    )


def victim(name: str = "web", namespace: str = "shop", resource: str = "services") -> Victim:
    return Victim("", resource, namespace, name, f"uid-{name}")


def removed(resource: str = "services", count: int = 1, **counts: int) -> ObjectsRemoved:
    """Return a removal of `count` objects, all lasting, counted and foreign unless told."""
    all_matter = ObjectsRemoved(
        resource=resource,
        count=count,
        direct=1,
        lasting=count,
        counted=count,
        foreign=count,
        population=1000,
        victims=(victim(resource=resource),),
    )
    return msgspec.structs.replace(all_matter, **counts)


def lost(
    before: int,
    after: int,
    *,
    peak: int | None = None,
    name: str = "web",
    namespace: str = "shop",
    healing: bool = False,
    gone: bool = False,
    explained: bool = False,
) -> EndpointsLost:
    return EndpointsLost(
        service=victim(name, namespace),
        before=before,
        after=after,
        peak=before if peak is None else peak,
        self_healing=healing,
        removed=gone,
        explained=explained,
    )


def emptied(
    before: int = 3,
    *,
    declared: int = 3,
    healing: bool = False,
    explained: bool = False,
    name: str = "web",
    namespace: str = "shop",
) -> ServiceEmptied:
    return ServiceEmptied(
        service=victim(name, namespace),
        before=before,
        self_healing=healing,
        declared=declared,
        explained=explained,
    )


def reselected(before: int, after: int, *, empty: bool = False) -> SelectionChanged:
    return SelectionChanged(source=victim(), before=before, after=after, kept=0, empty=empty)


def broken(
    *,
    fail_closed: bool = True,
    healing: bool = False,
    blocks: bool = False,
    gone: bool = True,
    namespace: str = "admission",
) -> AdmissionPathBroken:
    return AdmissionPathBroken(
        source=Victim("admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "v"),
        path="pods.example.org",
        service=victim("hook", namespace),
        fail_closed=fail_closed,
        self_healing=healing,
        service_removed=gone,
        blocks_recovery=blocks,
        calls="CREATE of pods",
        before=2,
    )
