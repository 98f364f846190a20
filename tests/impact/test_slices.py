"""Endpoints by hand: what an update takes out of them is gone, since no controller writes it anew."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, operator, owner, service, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import EndpointsLost, ServiceEmptied
from suture.impact.ground.cascade import ENDPOINTS
from suture.impact.traffic.slices import MANAGED_BY, MIRRORING
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    ENDPOINT_SLICES,
    PODS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts

HAND = service("hand", app="")
MIRROR = {MANAGED_BY: MIRRORING}


def slice_of(
    *addresses: str, unready: tuple[str, ...] = (), labels: dict[str, str] | None = None
) -> Body:
    return body(
        "EndpointSlice",
        "hand-0",
        apiVersion="discovery.k8s.io/v1",
        metadata={"labels": {"kubernetes.io/service-name": "hand", **(labels or {})}},
        endpoints=[
            {"addresses": [one], "conditions": {"ready": one not in unready}}
            for one in (*addresses, *unready)
        ],
    )


def endpoints(*addresses: str) -> Body:
    subsets = [{"addresses": [{"ip": one} for one in addresses]}] if addresses else []
    return body("Endpoints", "hand", subsets=subsets)


def lost(
    view: GraphView, resource: Resource, old: Body, new: Body
) -> list[tuple[int, int, bool, bool]]:
    """Return ready endpoints before and after, whether it is explained, and whether none is left."""
    impact = impact_of(write(resource, old, new), view)
    empty = bool(effects(impact, ServiceEmptied))
    return [(o.before, o.after, o.explained, empty) for o in effects(impact, EndpointsLost)]


def world(*bodies: tuple[Resource, Body], of: ClusterObject = HAND) -> GraphView:
    return view_of(of, *(trimmed(*one) for one in bodies))


BOTH = slice_of("192.0.2.1", "192.0.2.2")


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (slice_of(), [(2, 0, False, True)]),
        (slice_of(unready=("192.0.2.1", "192.0.2.2")), [(2, 0, False, True)]),
        (slice_of("192.0.2.2"), [(2, 1, False, False)]),
        (slice_of("192.0.2.8", "192.0.2.9"), []),
        (slice_of("192.0.2.1", "192.0.2.2", "192.0.2.3"), []),
        (changed(BOTH, metadata={"labels": {"kubernetes.io/service-name": "no"}}),
         [(2, 0, False, True)]),
    ],
)  # fmt: skip
def test_what_a_write_takes_out_of_a_slice_is_lost(new: Body, found: list[Any]) -> None:
    """Emptied, made unready, given to another Service; a move to other addresses takes nothing."""
    assert lost(world((ENDPOINT_SLICES, BOTH)), ENDPOINT_SLICES, BOTH, new) == found


def test_slices_that_a_controller_writes_anew_lose_nothing() -> None:
    """Those of a Service with a selector, and those that mirror Endpoints."""
    mirrored = slice_of("192.0.2.1", labels=MIRROR)
    none = changed(mirrored, endpoints=[])
    selecting = world((ENDPOINT_SLICES, BOTH), of=service("hand"))

    assert lost(selecting, ENDPOINT_SLICES, BOTH, slice_of()) == []
    assert lost(world((ENDPOINT_SLICES, mirrored)), ENDPOINT_SLICES, mirrored, none) == []


def test_a_target_that_does_not_serve_explains_its_going() -> None:
    """Who takes a pod out that is not Ready says what is so."""

    def to(ready: bool) -> list[tuple[int, int, bool, bool]]:
        pod = thing(PODS, "db-0", "prod", facts=PodFacts(ready=ready))
        old = slice_of()
        old["endpoints"] = [{"addresses": ["192.0.2.1"], "targetRef": {"uid": pod.uid}}]
        view = view_of(HAND, pod, trimmed(ENDPOINT_SLICES, old))
        return lost(view, ENDPOINT_SLICES, old, slice_of())

    assert to(ready=True) == [(1, 0, False, True)]
    assert to(ready=False) == [(1, 0, True, True)]


def test_endpoints_stand_for_the_slices_that_mirror_them() -> None:
    """Emptied they take these along; what another slice lists stays, and so does a new address."""
    old = endpoints("192.0.2.1", "192.0.2.2")
    mirrored = slice_of("192.0.2.1", "192.0.2.2", labels=MIRROR)
    other = changed(slice_of("192.0.2.2"), metadata={"name": "hand-1", "uid": "other"})
    alone = world((ENDPOINTS, old), (ENDPOINT_SLICES, mirrored))
    beside = world((ENDPOINTS, old), (ENDPOINT_SLICES, mirrored), (ENDPOINT_SLICES, other))

    assert lost(alone, ENDPOINTS, old, endpoints()) == [(2, 0, False, True)]
    assert lost(beside, ENDPOINTS, old, endpoints()) == [(2, 1, False, False)]
    assert lost(alone, ENDPOINTS, old, endpoints("192.0.2.7", "192.0.2.8")) == []
    selecting = view_of(service("hand"), trimmed(ENDPOINTS, old))
    assert lost(selecting, ENDPOINTS, old, endpoints()) == []


def stepped(*, account: str, beside: bool, kind: str = "Pod") -> bool:
    """Return whether a leader that empties its Endpoints is explained."""
    db = thing(STATEFUL_SETS, "db", "prod", facts=WorkloadFacts(2))
    runs = (Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "prod", account)),)
    pods = [
        msgspec.structs.replace(
            thing(PODS, f"db-{at}", "prod", owners=[owner(db)]),
            facts=PodFacts(ready=at == 0 or beside),
            needs=runs,
        )
        for at in range(2)
    ]
    old = endpoints("192.0.2.1")
    old["subsets"][0]["addresses"][0]["targetRef"] = {"kind": kind, "name": "db-0"}
    mirrored = slice_of("192.0.2.1", labels=MIRROR)
    view = view_of(
        HAND, db, *pods, trimmed(ENDPOINTS, old), trimmed(ENDPOINT_SLICES, mirrored),
        thing(SERVICE_ACCOUNTS, account, "prod"),
    )  # fmt: skip
    by = operator("system:serviceaccount:prod:db-agent")
    impact = impact_of(write(ENDPOINTS, old, endpoints(), by=by), view, by=by)
    (told,) = effects(impact, EndpointsLost)
    return told.explained


def test_a_leader_that_steps_back_takes_itself_out() -> None:
    """Its account says that it is the member itself, and another can lead next."""
    assert stepped(account="db-agent", beside=True)
    assert not stepped(account="db-agent", beside=False)
    assert not stepped(account="other", beside=True)
    assert not stepped(account="db-agent", beside=True, kind="Node")


@pytest.mark.parametrize(
    ("made_by", "listed", "explained"),
    [
        pytest.param("mirror", True, True, id="who keeps them says that they do not answer"),
        pytest.param("mirror", False, False, id="they are listed no more"),
        pytest.param("another", True, False, id="another says so"),
    ],
)
def test_addresses_outside_that_do_not_answer(
    made_by: str, *, listed: bool, explained: bool
) -> None:
    """A mirror empties the Endpoints that it made, so that traffic goes to another cluster."""
    old = endpoints("192.0.2.1")
    new = changed(old, subsets=[{"notReadyAddresses": [{"ip": "192.0.2.1"}]}] if listed else [])
    mirrored = slice_of("192.0.2.1", labels=MIRROR)
    view = view_of(HAND, trimmed(ENDPOINTS, old), trimmed(ENDPOINT_SLICES, mirrored))
    mirror = operator("system:serviceaccount:links:mirror")
    by = mirror.user.username if made_by == "mirror" else "ann@example.com"
    kept = trimmed(ENDPOINTS, old)
    view.history.note_created(kept.uid, by, "", kept.key, START)
    (told,) = effects(
        impact_of(write(ENDPOINTS, old, new, by=mirror), view, by=mirror), EndpointsLost
    )
    assert told.explained == explained
