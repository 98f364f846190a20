"""What the differential found wrong about owners: who keeps an object, or takes it for its own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import (
    BALANCERS,
    delete,
    namespace,
    operator,
    owner,
    service,
    thing,
    view_of,
    workload,
)
from support.writes import body, write
from suture.impact.effects import SelectionChanged
from suture.impact.estimate import estimate
from suture.impact.ground.cascade import ENDPOINTS, closure, collectable
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    JOBS,
    PODS,
    STATEFUL_SETS,
    VALIDATING_WEBHOOKS,
    VOLUMES,
    ObjectKey,
    Propagation,
    Resource,
)
from suture.model.objects import ClusterObject, OwnerReference, PodFacts, WorkloadFacts
from suture.model.request import DeleteOptions


def taken(view: GraphView, root: ClusterObject, *, orphan: bool = False) -> list[str]:
    row = view.find(root.key)
    assert row is not None
    return sorted(str(view.key(one)) for one in closure(view, [row], orphan=orphan))


def test_a_reference_of_another_kind_or_name_is_no_owner() -> None:
    """Seed 1, case 56: a Deployment was given an owner with the uid of a ReplicaSet, called Secret.

    The collector looks an owner up by kind and name; the uid that it finds must be that one. Only
    a kind that is not served keeps the object, since nobody can ask for it.
    """
    vault = Resource("secret.example.com", "vaults")
    one, other = thing(BALANCERS, "one", "prod"), thing(CONFIG_MAPS, "other", "prod")
    right = owner(one)
    view = view_of(one, other)

    def kept(reference: OwnerReference) -> bool:
        child = thing(CONFIG_MAPS, "child", "prod", owners=[reference])
        return not collectable(view, child)

    assert kept(right)
    assert not kept(replace(right, name="two"))
    assert not kept(replace(right, gvk=other.gvk))
    assert kept(replace(right, gvk=thing(vault, "vault").gvk))


def test_a_cluster_wide_object_stays_for_an_owner_in_a_namespace() -> None:
    """Seed 2, case 193: a webhook configuration was given a Secret as its owner, and stayed.

    The collector cannot ask for such an owner and gives the object up, whatever becomes of it.
    """
    claim, home = thing(BALANCERS, "claim", "prod"), namespace("elsewhere")
    wide = thing(VALIDATING_WEBHOOKS, "wide", owners=[owner(claim)])
    both = thing(VALIDATING_WEBHOOKS, "both", owners=[owner(claim), owner(home)])
    right = thing(VALIDATING_WEBHOOKS, "right", owners=[owner(home)])
    view = view_of(claim, wide, home, both, right)

    assert taken(view, claim) == []
    assert taken(view, home) == [str(right.key)]
    # Seed 61, case 742: its kind was that of something in a namespace, its uid was not.
    misnamed = thing(VALIDATING_WEBHOOKS, "wide", owners=[replace(owner(home), gvk=claim.gvk)])
    assert taken(view_of(claim, home, misnamed), home) == []
    assert not collectable(view, wide)


def test_the_endpoints_of_a_service_go_with_it_and_what_mirrors_them() -> None:
    """Seed 2, case 188: a Service without a selector took along a slice that it does not own.

    The slice mirrored its Endpoints and is owned by them; the endpoints controller takes those by
    name, for whatever reason the Service goes.
    """
    keeper = thing(BALANCERS, "keeper", "prod")
    web, other = service("web"), service("other", owners=[owner(keeper)])
    endpoints = [thing(ENDPOINTS, name, "prod") for name in ("web", "other")]
    mirrored = thing(ENDPOINT_SLICES, "web-x", "prod", owners=[owner(endpoints[0])])
    own = thing(ENDPOINT_SLICES, "web-y", "prod", owners=[owner(web)])
    view = view_of(web, other, endpoints, mirrored, own, keeper)
    behind = sorted(map(str, (endpoints[0].key, mirrored.key)))

    assert taken(view, web) == sorted([*behind, str(own.key)])
    assert taken(view, web, orphan=True) == behind
    assert taken(view, keeper) == sorted(map(str, (other.key, endpoints[1].key)))


def test_pods_that_are_left_behind_are_adopted_by_whoever_selects_them() -> None:
    """Seed 3, case 177: the pod of a Job carried the label of a ReplicaSet, and the Job went.

    A Job leaves its pods behind by default; the ReplicaSet adopted it and had one too many.
    """
    maker = thing(JOBS, "made", "prod", facts=WorkloadFacts())
    lone = workload("lone", replicas=1)[1:]
    lone[0] = replace(lone[0], owners=())
    pod = thing(
        PODS, "made-1", "prod", labels={"app": "lone"}, owners=[owner(maker)],
        facts=PodFacts(ready=True),
    )  # fmt: skip
    view = view_of(maker, lone, pod)
    request = delete(maker)

    impact = estimate(request, project(request, view), view, operator(), {"selection_changed"})

    (joined,) = [one for one in impact.effects if isinstance(one, SelectionChanged)]
    assert (joined.source.name, joined.before, joined.after, joined.foreign) == ("lone-1", 1, 2, 1)


@pytest.mark.parametrize("had", [1, 0])
def test_a_pod_that_is_released_is_adopted_by_whoever_selects_it_then(had: int) -> None:
    """Its controller lets go of it for its labels; another takes it and has one too many.

    Seed 906, case 51: also one that wants none, and deleted what it took.
    """
    web, lone = workload("web", replicas=2), workload("lone", replicas=had)[1:]
    lone[0] = replace(lone[0], owners=())
    pod = web[2]
    view = view_of(web, lone)
    shown = body("Pod", pod.key.name, metadata={"labels": {"app": "web"}})
    renamed = body("Pod", pod.key.name, metadata={"labels": {"app": "lone"}})
    request = replace(
        write(PODS, shown, renamed), old=pod, new=replace(pod, labels={"app": "lone"})
    )

    impact = estimate(request, project(request, view), view, operator(), {"selection_changed"})

    joined = [one for one in impact.effects if isinstance(one, SelectionChanged)]
    assert [(one.source.name, one.after) for one in joined if one.after > one.before] == [
        ("lone-1", had + 1)
    ]


def test_a_claim_does_not_go_before_the_pods_that_go_with_it() -> None:
    """Seed 602, case 304: a claim owned the StatefulSet whose pods use it, and was deleted.

    Its protection lasts as long as the pods, which last as long as the claim is there: nothing
    of it went.
    """
    claim = replace(
        thing(CLAIMS, "data-db-0", "prod"), finalizers=("kubernetes.io/pvc-protection",)
    )
    need = Need(Edge.CLAIM, claim.key)
    db = thing(STATEFUL_SETS, "db", "prod", owners=[owner(claim)], facts=WorkloadFacts(replicas=1))
    pod = thing(PODS, "db-0", "prod", owners=[owner(db)], facts=PodFacts(ready=True))
    bound, free = view_of(claim, db, replace(pod, needs=(need,))), view_of(claim, db, pod)

    assert not project(delete(claim), bound).cascaded
    assert len(project(delete(claim), free).cascaded) == 2
    foreground = DeleteOptions(propagation=Propagation.FOREGROUND)
    assert len(project(delete(claim, options=foreground), bound).cascaded) == 2


@pytest.mark.parametrize(
    ("deleted", "finalizers", "goes"),
    [
        (1.0, ("kubernetes.io/pv-protection",), True),
        (1.0, ("kubernetes.io/pv-protection", "example.com/detach"), False),
        (0.0, ("kubernetes.io/pv-protection",), False),
    ],
    ids=["deleted-before", "held-by-another-too", "not-deleted"],
)
def test_what_a_deleted_volume_owns_goes_with_the_claim_that_held_it(
    deleted: float, finalizers: tuple[str, ...], *, goes: bool
) -> None:
    """Seed 905, case 431: a namespace went, the volume of its claim at last, and what it owned."""
    volume = replace(thing(VOLUMES, "disk", deleted=deleted), finalizers=finalizers)
    claim = thing(CLAIMS, "data", "prod")
    claim = replace(claim, needs=(Need(Edge.VOLUME, volume.key),))
    owned = thing(BALANCERS, "owned", "prod", owners=[owner(volume)])
    home = namespace("data")
    held = replace(claim, key=ObjectKey(CLAIMS, "data", "data"), uid="held")

    expected = [str(owned.key)] if goes else []
    assert taken(view_of(volume, claim, owned), claim) == expected
    assert taken(view_of(volume, held, owned, home), home) == sorted([str(held.key), *expected])
