"""Whose finalizer is taken off, and what was behind it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import BALANCERS, namespace, operator, owner, service, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import FinalizerRemoved
from suture.impact.estimate import estimate
from suture.impact.ground.change import Change
from suture.impact.ordinary.finalizers import SOURCE_PROTECTION, called_like
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.facts import SnapshotFacts, VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    NAMESPACES,
    NODES,
    PODS,
    SERVICES,
    SNAPSHOTS,
    STATEFUL_SETS,
    VOLUMES,
)
from suture.model.objects import ClaimFacts, CustomFacts, NodeFacts, PodFacts
from suture.model.request import Request

FINALIZER = "balancers.lb.example.com/teardown"
CONTROLLER = "system:serviceaccount:lb-system:balancer-manager"
PERSON = Actor(UserInfo("jo@example.com"), "jo@example.com", IdentityKind.PERSON, Stage.ENFORCE)


def told(view: GraphView, request: Request, by: Actor) -> FinalizerRemoved:
    impact = estimate(request, project(request, view), view, by, {"finalizer_removed"})
    (found,) = [one for one in impact.effects if isinstance(one, FinalizerRemoved)]
    return found


def balancer(*finalizers: str, going: bool = True) -> Body:
    metadata: Body = {"finalizers": list(finalizers), "uid": f"uid:{BALANCERS}:prod/front"}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return body("Balancer", "front", apiVersion="lb.example.com/v1", metadata=metadata)


def lift(by: Actor, *, going: bool = True) -> Request:
    return write(BALANCERS, balancer(FINALIZER, going=going), balancer(going=going), by=by)


def test_a_person_takes_off_what_is_a_controllers() -> None:
    """People are no controllers: whatever the finalizer is, it is not theirs."""
    view = view_of(thing(BALANCERS, "front", "prod", deleted=1.0))

    found = told(view, lift(PERSON), PERSON)

    assert (found.by_owner, found.terminating, found.data) == (False, True, False)
    assert found.finalizer == FINALIZER
    assert "balancers.lb.example.com" in found.owner


@pytest.mark.parametrize(
    ("status", "ready", "data"),
    [
        pytest.param({"nodeRef": {"name": "node-1"}}, True, True, id="its node runs"),
        pytest.param({"nodeRef": {"name": "node-1"}}, False, False, id="not Ready"),
        pytest.param({"nodeRef": {"name": "node-2"}}, True, False, id="its node is gone"),
        pytest.param({"phase": "Deleting"}, True, False, id="it never had one"),
    ],
)
def test_a_machine_whose_node_runs_on(status: Body, *, ready: bool, data: bool) -> None:
    """Without its finalizer nobody ends what is outside, and nobody looks after it."""
    view = view_of(
        thing(BALANCERS, "front", "prod", deleted=1.0),
        thing(NODES, "node-1", facts=NodeFacts(ready=ready)),
    )
    old, new = ({**balancer(*one), "status": status} for one in ((FINALIZER,), ()))
    assert told(view, write(BALANCERS, old, new, by=PERSON), PERSON).data == data


@pytest.mark.parametrize(("policy", "data"), [("Delete", True), ("Orphan", False), ("", False)])
def test_a_finalizer_of_what_is_outside(policy: str, *, data: bool) -> None:
    """It says itself that the thing outside is to go with it; without its controller it stays."""
    facts = CustomFacts(outside=policy)
    view = view_of(thing(BALANCERS, "front", "prod", facts=facts, deleted=1.0))
    request = lift(PERSON)
    assert request.old is not None
    assert request.new is not None
    request = replace(
        request, old=replace(request.old, facts=facts), new=replace(request.new, facts=facts)
    )
    assert told(view, request, PERSON).data is data


def front(*finalizers: str, kind: str = "LoadBalancer", given: bool = True, **more: str) -> Body:
    """Make a Service, with the address that it was given."""
    status: Body = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}} if given else {}
    metadata: Body = {"finalizers": list(finalizers), **more}
    return body("Service", "front", metadata=metadata, spec={"type": kind}, status=status)


@pytest.mark.parametrize(
    ("after", "data"),
    [
        pytest.param(front(), True, id="it is one still"),
        pytest.param(front(kind="ClusterIP"), False, id="it is given back"),
        pytest.param(front(given=False), False, id="it was given no address"),
        pytest.param(front(deletionTimestamp="2026-01-01T00:00:00Z"), False, id="it goes"),
    ],
)
def test_a_load_balancer_is_outside_as_long_as_it_is_one(after: Body, *, data: bool) -> None:
    """Whoever writes the list of finalizers anew takes off what another put there."""
    view = view_of(trimmed(SERVICES, front("lb.example.com/resources")))
    request = write(SERVICES, front("lb.example.com/resources"), after, by=PERSON)
    assert told(view, request, PERSON).data is data


def test_who_sets_a_finalizer_owns_it() -> None:
    """What an identity was let through to set it may take off, and another may not."""
    view = view_of(thing(BALANCERS, "front", "prod"))
    theirs, other = operator(CONTROLLER), operator("system:serviceaccount:ci:deployer")
    view.history.habits.note(write(BALANCERS, None, balancer(FINALIZER, going=False), by=theirs))

    assert told(view, lift(theirs), theirs).by_owner
    assert not told(view, lift(other), other).by_owner


@pytest.mark.parametrize("going", [True, False])
def test_who_does_the_work_may_take_off_what_another_set(*, going: bool) -> None:
    """One controller marks what another, who tells how far it is, takes down; not what stays."""
    view = view_of(thing(BALANCERS, "front", "prod"))
    marks, works = (operator(f"system:serviceaccount:ci:{one}") for one in ("marker", "worker"))
    habits = view.history.habits
    habits.note(write(BALANCERS, None, balancer(FINALIZER, going=False), by=marks))
    status = write(
        BALANCERS, balancer(going=False), balancer(going=False), by=works, subresource="status"
    )
    habits.note(status)

    assert told(view, lift(works, going=going), works).by_owner == going


def test_where_nobody_is_known_an_operator_is_no_stranger() -> None:
    """Before anything was learned, no operator is taken for a stranger; the first one is learned."""
    view = view_of(thing(BALANCERS, "front", "prod"))
    first, second = operator("system:serviceaccount:a:x"), operator("system:serviceaccount:b:y")

    assert told(view, lift(first), first).by_owner
    view.history.habits.note(lift(first))
    assert not told(view, lift(second), second).by_owner


def test_a_user_who_is_enrolled_is_no_controller_either() -> None:
    """Unless called like the finalizer, as a controller is that comes as a user; or seen with it."""
    view = view_of(thing(BALANCERS, "front", "prod"))
    admin, controller = operator("jo@example.com"), operator("balancers-controller")

    assert not told(view, lift(admin), admin).by_owner
    assert told(view, lift(controller), controller).by_owner
    view.history.habits.note(write(BALANCERS, None, balancer(FINALIZER, going=False), by=admin))
    assert told(view, lift(admin), admin).by_owner


def test_kubernetes_own_finalizers_have_known_owners() -> None:
    """The protection of a claim is the claim controller's, and the claim's data is behind it."""
    facts = ClaimFacts(bound=True, volume="pv")
    view = view_of(
        thing(CLAIMS, "data", "prod", facts=facts), thing(VOLUMES, "pv", facts=VolumeFacts())
    )
    protected = body(
        "PersistentVolumeClaim",
        "data",
        metadata={
            "finalizers": ["kubernetes.io/pvc-protection"],
            "uid": "uid:persistentvolumeclaims:prod/data",
        },
    )
    request = write(CLAIMS, protected, changed(protected, metadata={"finalizers": []}))
    keeper = operator("system:serviceaccount:kube-system:pvc-protection-controller")

    found = told(view, request, operator())

    assert (found.by_owner, found.data) == (False, True)
    assert told(view, request, keeper).by_owner


@pytest.mark.parametrize(
    ("going", "pod", "data"),
    [
        pytest.param(True, "", False, id="nobody uses it"),
        pytest.param(True, "finished", False, id="work that has ended"),
        pytest.param(True, "going", False, id="its owner goes"),
        pytest.param(True, "ready", True, id="in use"),
        pytest.param(False, "", True, id="not going"),
    ],
)
def test_the_protection_of_a_claim_that_goes(pod: str, *, going: bool, data: bool) -> None:
    """It waits for those who use the claim; where there are none anybody may lift it."""
    claim = thing(
        CLAIMS, "data", "prod", facts=ClaimFacts(bound=True, volume="pv"), deleted=float(going)
    )
    root = thing(STATEFUL_SETS, "db", "prod", deleted=float(pod == "going"))
    user = replace(
        thing(
            PODS, "db-0", "prod", facts=PodFacts(ready=True, finished=pod == "finished"),
            owners=[owner(root)],
        ),
        needs=(Need(Edge.CLAIM, claim.key),),
    )  # fmt: skip
    view = view_of(root, claim, thing(VOLUMES, "pv", facts=VolumeFacts()), [user] if pod else [])
    metadata: Body = {"finalizers": ["kubernetes.io/pvc-protection"], "uid": claim.uid}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    old = body("PersistentVolumeClaim", "data", metadata=metadata)
    request = write(CLAIMS, old, changed(old, metadata={"finalizers": []}))
    assert told(view, request, operator()).data is data


@pytest.mark.parametrize(
    ("ready", "data"),
    [(None, False), (True, False), (False, True)],
    ids=["no snapshot", "taken", "still being taken"],
)
def test_the_protection_of_a_claim_as_the_source_of_snapshots(
    ready: bool | None, data: bool
) -> None:
    """It waits for those that are being taken; nothing else reads the claim for them."""
    claim = thing(CLAIMS, "data", "prod", facts=ClaimFacts(bound=True, volume="pv"), deleted=1.0)
    snapshot = replace(
        thing(SNAPSHOTS, "nightly", "prod", facts=SnapshotFacts(ready=bool(ready))),
        needs=(Need(Edge.SNAPSHOT_SOURCE, claim.key),),
    )
    view = view_of(
        claim, thing(VOLUMES, "pv", facts=VolumeFacts()), [] if ready is None else [snapshot]
    )
    metadata: Body = {
        "finalizers": [SOURCE_PROTECTION],
        "uid": claim.uid,
        "deletionTimestamp": "2026-01-01T00:00:00Z",
    }
    old = body("PersistentVolumeClaim", "data", metadata=metadata)
    request = write(CLAIMS, old, changed(old, metadata={"finalizers": []}))
    assert told(view, request, operator()).data is data


def test_a_namespace_is_finalized_over_what_is_still_in_it() -> None:
    """What is still inside is counted; nothing of it goes."""
    view = view_of(namespace("prod"), service("web"), service("api"))
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z", "uid": "uid:namespaces:/prod"}
    old = body("Namespace", "prod", "", metadata=metadata, spec={"finalizers": ["kubernetes"]})
    request = write(NAMESPACES, old, changed(old, spec={}), subresource="finalize", by=PERSON)

    found = told(view, request, PERSON)

    assert (found.finalizer, found.remaining, found.by_owner) == ("kubernetes", 2, False)
    assert project(request, view).removed == ()


def test_a_mark_of_its_own_on_a_namespace_strands_nothing() -> None:
    """Another's finalizer on a namespace does not wait for what is in it."""
    view = view_of(namespace("prod"), service("web"))
    metadata = {"finalizers": ["tenants.example.com/quota"], "uid": "uid:namespaces:/prod"}
    old = body("Namespace", "prod", "", metadata=metadata, spec={"finalizers": ["kubernetes"]})
    request = write(NAMESPACES, old, changed(old, metadata={"finalizers": []}))

    assert told(view, request, operator()).remaining == 0


def test_the_last_finalizer_of_what_is_going_is_its_end() -> None:
    """No delete follows such an update: it is the removal, and explained by the delete before."""
    view = view_of(thing(BALANCERS, "front", "prod", deleted=1.0))
    row = view.find(thing(BALANCERS, "front", "prod").key)
    assert row is not None

    assert project(lift(operator()), view).direct == (row,)
    assert project(lift(operator(), going=False), view).direct == ()
    assert project(write(BALANCERS, balancer(FINALIZER), balancer(FINALIZER)), view) == Change()


def test_names_are_alike_by_the_words_that_tell_anybody_apart() -> None:
    """A word of a project counts; what every name has in it does not."""
    streams = operator("system:serviceaccount:streams-system:manager")

    assert called_like(streams, "volumes.streams.io")
    assert not called_like(operator("system:serviceaccount:apps:operator"), "apps.example.io")
    assert not called_like(PERSON, "balancers.lb.example.com")


def test_a_kind_is_called_after_a_product_in_one_word() -> None:
    """Behind the name stands what there is of it; anything else is another word."""
    redis = operator("system:serviceaccount:tools:redis-operator")

    assert called_like(redis, "redisfailovers.databases.example.com")
    assert called_like(operator("system:serviceaccount:a:postgres-operator"), "postgresqls.acid.io")
    assert not called_like(redis, "redistributions.example.com")
    assert not called_like(operator("system:serviceaccount:a:volume-cleaner"), "volumesnapshots.io")


def test_the_domain_of_a_user_is_no_name_of_theirs() -> None:
    """A pipeline and the definitions of one company share it; what stands before it may tell."""
    assert not called_like(operator("deploy@acme.io"), "databases.acme.io")
    assert called_like(operator("acme-deploy@corp.io"), "databases.acme.io")
