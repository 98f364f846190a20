"""What a create or update changes at all, and what it sizes."""

from __future__ import annotations

import msgspec
import pytest

from support.cluster import BALANCERS, operator, owner, service, thing, view_of, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.ground.change import NOTHING, Resized
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    AUTOSCALERS,
    DEPLOYMENTS,
    SCALED_OBJECTS,
    SERVICES,
    Gvk,
    Gvr,
    ObjectKey,
    Operation,
    Resource,
)
from suture.model.objects import ClusterObject, CustomFacts
from suture.model.request import Request

WEB = ObjectKey(DEPLOYMENTS, "prod", "web")


def row_of(view: GraphView, key: ObjectKey) -> int:
    row = view.find(key)
    assert row is not None
    return row


def test_a_reconcile_that_writes_the_same_is_nothing() -> None:
    """Two equal bodies are no change, whatever the object is."""
    same = body("Balancer", "front", apiVersion="lb.example.com/v1", spec={"size": 3})
    view = view_of(trimmed(BALANCERS, same))

    assert project(write(BALANCERS, same, same), view) is NOTHING


@pytest.mark.parametrize(
    "parts",
    [
        {"metadata": {"resourceVersion": "9", "annotations": {"seen": "now"}}},
        {"status": {"ready": True}},
    ],
)
def test_what_nothing_reads_is_no_change(parts: Body) -> None:
    """Another annotation, another status: the model reads neither."""
    old = body("Balancer", "front", apiVersion="lb.example.com/v1", spec={"size": 3})
    view = view_of(trimmed(BALANCERS, old))

    assert project(write(BALANCERS, old, changed(old, **parts)), view) == NOTHING


@pytest.mark.parametrize(
    ("parts", "differs"),
    [
        ({"spec": {"size": 4}}, ("spec",)),
        ({"metadata": {"labels": {"a": "b"}}}, ()),
        ({"metadata": {"finalizers": ["x.example.com/y"]}}, ()),
        ({"data": {"a": "b"}}, ("data",)),
    ],
)
def test_what_differs_is_a_change_of_any_kind(parts: Body, differs: tuple[str, ...]) -> None:
    """Any kind, read whole or not: what is read of it, or a part of its body."""
    old = body("Balancer", "front", apiVersion="lb.example.com/v1", spec={"size": 3})
    view = view_of(trimmed(BALANCERS, old))

    change = project(write(BALANCERS, old, changed(old, **parts)), view)

    assert change.rewritten is not None
    assert change.rewritten.parts == differs
    assert change.rewritten.row == row_of(view, ObjectKey(BALANCERS, "prod", "front"))


def test_an_object_that_the_model_has_not_heard_of() -> None:
    """The review shows it: it is a change without a row; another life of it has none either."""
    old = body("Service", "web", spec={"selector": {"app": "web"}})
    new = changed(old, spec={"selector": {"app": "api"}})
    other = service("web")

    unheard, reborn = (
        project(write(SERVICES, old, new), view).rewritten for view in (view_of(), view_of(other))
    )

    assert unheard is not None
    assert reborn is not None
    assert (unheard.row, reborn.row) == (None, None)


def test_a_create_is_a_change_and_subresources_are_none() -> None:
    """There is one object more; a binding, a token or a status is none."""
    made = body("Service", "web", spec={})

    assert project(write(SERVICES, None, made), view_of()).created is not None
    assert project(write(SERVICES, None, made, subresource="token"), view_of()) == NOTHING
    assert project(write(SERVICES, made, made, subresource="status"), view_of()) == NOTHING


def scaler(kind: str, version: str, **spec: object) -> Body:
    return body(kind, "web", apiVersion=version, spec=spec)


def hpa(least: int, most: int, target: str = "web") -> Body:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return scaler(
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        scaleTargetRef=reference,
        minReplicas=least,
        maxReplicas=most,
    )


@pytest.mark.parametrize(
    ("least", "most", "forced"),
    [(1, 10, None), (1, 2, 2), (6, 10, 6), (5, 5, None)],
)
def test_bounds_force_a_size(least: int, most: int, forced: int | None) -> None:
    """Bounds that the size is outside of resize the target; others change nothing now."""
    view = view_of(workload("web", replicas=5), trimmed(AUTOSCALERS, hpa(1, 20)))
    expected = None if forced is None else Resized(row_of(view, WEB), 5, forced)

    assert project(write(AUTOSCALERS, hpa(1, 20), hpa(least, most)), view).resized == expected
    assert project(write(AUTOSCALERS, None, hpa(least, most)), view).resized == expected


def test_another_target_gets_the_bounds() -> None:
    """A target that is new to the autoscaler is sized at once, if it is there and not at zero."""
    view = view_of(workload("web", replicas=5), workload("idle", replicas=0))
    request = write(AUTOSCALERS, hpa(1, 3, "none"), hpa(1, 3))

    assert project(request, view).resized == Resized(row_of(view, WEB), 5, 3)
    assert project(write(AUTOSCALERS, hpa(1, 3), hpa(2, 3, "idle")), view).resized is None


def test_a_scaled_object_is_an_autoscaler_too() -> None:
    """Its bounds force its target like those of the autoscaler that it makes."""

    def scaled(most: int) -> Body:
        target = {"name": "web"}
        return scaler(
            "ScaledObject", "keda.sh/v1alpha1", scaleTargetRef=target, maxReplicaCount=most
        )

    view = view_of(workload("web", replicas=5))

    change = project(write(SCALED_OBJECTS, scaled(9), scaled(2)), view)

    assert change.resized == Resized(row_of(view, WEB), 5, 2)


def scale(resource: Resource, name: str, before: int | None, after: int) -> Request:
    return Request(
        uid="review-1",
        operation=Operation.UPDATE,
        gvr=Gvr(resource.group, "v1", resource.plural),
        gvk=Gvk("autoscaling", "v1", "Scale"),
        subresource="scale",
        namespace="prod",
        name=name,
        user=operator().user,
        scale_from=before,
        scale_to=after,
    )


def test_whatever_has_a_scale_is_sized() -> None:
    """A custom resource by the count that it wants, or by what the request says it had."""
    counted = thing(BALANCERS, "counted", "prod", facts=CustomFacts(wanted=3))
    plain = thing(BALANCERS, "plain", "prod")
    view = view_of(counted, plain)

    assert project(scale(BALANCERS, "counted", 3, 0), view).resized == Resized(
        row_of(view, counted.key), 3, 0
    )
    assert project(scale(BALANCERS, "plain", 2, 1), view).resized == Resized(
        row_of(view, plain.key), 2, 1
    )
    assert project(scale(BALANCERS, "plain", None, 1), view) == NOTHING
    assert project(scale(BALANCERS, "gone", 2, 1), view) == NOTHING


def test_needs_are_a_part_of_what_is_read() -> None:
    """An object that names another one than before is changed, though its facts are the same."""
    need = Need(Edge.ROUTES_TO, ObjectKey(SERVICES, "prod", "web"))
    before = ClusterObject(ObjectKey(BALANCERS, "prod", "front"), "u", Gvk("", "v1", "Balancer"))
    after = msgspec.structs.replace(before, needs=(need,))
    shown = write(BALANCERS, None, body("Balancer", "front", apiVersion="lb.example.com/v1"))
    request = msgspec.structs.replace(
        shown, operation=Operation.UPDATE, old=before, new=after, new_body=b""
    )

    assert project(request, view_of(before)).rewritten is not None


def test_an_owner_that_is_gone_takes_the_object_along_and_shows_the_write() -> None:
    """Handed to nobody, an object goes: it stands among the removed, and its rewrite is shown."""
    parent = thing(BALANCERS, "front", "prod")
    child = service("web")
    orphan = msgspec.structs.replace(child, owners=(owner(parent),))
    request = write(SERVICES, None, body("Service", "web", spec={}))
    request = msgspec.structs.replace(
        request, operation=Operation.UPDATE, old=child, new=orphan, new_body=b""
    )
    view = view_of(child)

    change = project(request, view)

    assert change.direct == (row_of(view, child.key),)
    assert change.rewritten is not None
