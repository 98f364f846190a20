"""Effects of what goes, at their edges: what they must not say, and how they count."""

from __future__ import annotations

from typing import TypeVar

import msgspec
import pytest

from support.asking import update
from support.cluster import (
    START,
    delete,
    graph_of,
    namespace,
    operator,
    owner,
    service,
    thing,
    view_of,
    webhook,
    workload,
)
from suture.impact.causes.counters import remover
from suture.impact.causes.recent import remember
from suture.impact.effects import (
    AdmissionPathBroken,
    DataLost,
    DeletionStuck,
    DisruptionExceeded,
    Effect,
    ExternalDeleted,
    ObjectsRemoved,
    PodsLost,
    QuorumLost,
    ReferenceBroken,
    ServiceEmptied,
)
from suture.impact.estimate import estimate
from suture.impact.ground.change import Change, Resized, Rewritten
from suture.impact.project import project
from suture.impact.traffic.declared import declared_size
from suture.impact.workloads.disruption import desired_healthy, majority
from suture.model.actor import Actor, UserInfo
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import (
    Amount,
    AutoscalerFacts,
    DisruptionBudgetFacts,
    KeysFacts,
    SnapshotContentFacts,
    SnapshotFacts,
    VolumeFacts,
)
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import (
    AUTOSCALERS,
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    DISRUPTION_BUDGETS,
    JOBS,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    SNAPSHOT_CONTENTS,
    SNAPSHOTS,
    STATEFUL_SETS,
    VOLUMES,
    Gvr,
    ObjectKey,
    Operation,
    Propagation,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CrdFacts,
    CustomFacts,
    PodFacts,
    ServiceFacts,
    ServiceRef,
    WorkloadFacts,
)
from suture.model.request import DeleteOptions, Request
from suture.model.selectors import Selector

E = TypeVar("E", bound=Effect)
READY = PodFacts(ready=True)


def effects(request: Request, view: GraphView, kind: type[E]) -> list[E]:
    impact = estimate(request, project(request, view), view, operator(), now=START)
    return [one for one in impact.effects if isinstance(one, kind)]


def of_change(change: Change, view: GraphView, kind: type[E], by: Actor | None = None) -> list[E]:
    by = by or operator()
    request = msgspec.structs.replace(delete(thing(SERVICES, "any")), user=by.user)
    found = estimate(request, change, view, by, now=START).effects
    return [one for one in found if isinstance(one, kind)]


def needing(one: ClusterObject, *needs: Need) -> ClusterObject:
    return msgspec.structs.replace(one, needs=needs)


def held(one: ClusterObject, *finalizers: str) -> ClusterObject:
    return msgspec.structs.replace(one, finalizers=finalizers)


def row_of(view: GraphView, one: ClusterObject) -> int:
    row = view.find(one.key)
    assert row is not None
    return row


# ---------------------------------------------------------------- how things go


def test_an_orphan_finalizer_leaves_the_dependents_where_the_delete_says_nothing() -> None:
    """What the delete says stands above it."""
    deployment, *rest = workload("web")
    kept = held(deployment, "orphan")
    view = view_of(kept, rest)
    background = DeleteOptions(Propagation.BACKGROUND)

    assert project(delete(kept), view).cascaded == ()
    assert project(delete(kept), view).orphaned
    assert len(project(delete(kept, options=background), view).cascaded) == len(rest)


def test_an_eviction_is_told_as_one() -> None:
    """The pod is a lost pod of its maker, which brings it back."""
    objects = workload("web", replicas=2)
    view = view_of(objects)
    request = msgspec.structs.replace(
        delete(objects[2]), operation=Operation.CREATE, subresource="eviction", old=None
    )
    (lost,) = effects(request, view, PodsLost)

    assert (lost.evicted, lost.self_healing, lost.before) == (True, 1, 2)


@pytest.mark.parametrize(("held", "along"), [(True, 1), (False, 0)])
def test_what_owns_the_record_of_a_release_takes_that_along(*, held: bool, along: int) -> None:
    """So operators do that are made of a chart; without their finalizer nobody uninstalls it."""
    config = thing(Resource("operator.example.com", "configs"), "main", "prod")
    if held:
        config = msgspec.structs.replace(config, finalizers=("example.com/uninstall",))
    labels = {"owner": "helm", "name": "shop", "status": "deployed"}
    record = thing(
        SECRETS, "sh.helm.release.v1.shop.v1", "prod", labels=labels, owners=[owner(config)]
    )
    kept = Need(Edge.MANAGED_BY, ObjectKey(RELEASES, "prod", "shop"))
    facing = msgspec.structs.replace(service("web"), needs=(kept,))
    found = effects(delete(config), view_of(config, record, facing), ObjectsRemoved)
    assert sum(one.count for one in found if one.resource == "services") == along


def test_an_application_that_a_finalizer_holds_takes_its_inventory_along() -> None:
    """And what that keeps in turn; taken off before, the finalizer leaves everything in place."""
    kind = Resource("deploy.example.com", "apps")
    parent = held(thing(kind, "all", "cd"), "deploy.example.com/prune")
    child = needing(
        held(thing(kind, "shop", "cd"), "deploy.example.com/prune"),
        Need(Edge.MANAGED_BY, parent.key),
    )
    kept = [
        needing(one, Need(Edge.MANAGED_BY, child.key))
        for one in (*workload("web")[:1], service("web"))
    ]
    rest = workload("web")[1:]
    view = view_of(parent, child, kept, rest)
    bare = view_of(held(parent), child, kept, rest)

    gone = {view.at(row).key for row in project(delete(parent), view).cascaded}

    assert gone == {one.key for one in (child, *kept, *rest)}
    assert project(delete(held(parent)), bare).cascaded == ()


@pytest.mark.parametrize(("said", "along"), [("", 1), ("Delete", 1), ("Orphan", 0), ("retain", 0)])
def test_an_application_that_leaves_what_it_keeps(said: str, along: int) -> None:
    """Its finalizer then has nothing to do but to go."""
    kind = Resource("deploy.example.com", "apps")
    facts = CustomFacts(outside=said)
    parent = held(thing(kind, "all", "cd", facts=facts), "deploy.example.com/prune")
    kept = needing(service("web"), Need(Edge.MANAGED_BY, parent.key))

    assert len(project(delete(parent), view_of(parent, kept)).cascaded) == along


@pytest.mark.parametrize(("said", "stays"), [("suspend", True), ("shutdown", False)])
def test_an_application_that_was_suspended(*, said: str, stays: bool) -> None:
    """Nothing goes along with it, and what goes afterwards is not explained by its end either."""
    parent = held(thing(Resource("deploy.example.com", "apps"), "all", "cd"), "example.com/prune")
    kept = needing(service("web"), Need(Edge.MANAGED_BY, parent.key))
    going = msgspec.structs.replace(parent, deleted=1.0)
    there, later = view_of(parent, kept), view_of(going, kept)
    bodies = (b'{"spec":{}}', msgspec.json.encode({"spec": {said: True}}))
    for view in (there, later):
        request = update(parent, parent, bodies=bodies)
        remember(request, project(request, view), view, START)

    assert len(project(delete(parent), there).cascaded) == (0 if stays else 1)
    (removed,) = effects(delete(kept), later, ObjectsRemoved)
    assert removed.explained == (0 if stays else 1)


# ---------------------------------------------------------------- pods


@pytest.mark.parametrize("kind", [SERVICES, STATEFUL_SETS])
def test_what_hangs_on_a_service_is_no_part_of_it(kind: Resource) -> None:
    """Pods of a workload are one loss with it; those that were hung on a Service are each one."""
    facts = WorkloadFacts(replicas=3) if kind == STATEFUL_SETS else None
    maker = thing(kind, "hub", "prod", facts=facts)
    pods = [
        thing(
            PODS, f"hub-{number}", "prod", labels={"app": "web"}, owners=[owner(maker)],
            facts=PodFacts(ready=True),
        )
        for number in range(3)
    ]  # fmt: skip
    found = effects(delete(maker), view_of(maker, pods, service("web")), ObjectsRemoved)
    (told,) = [one for one in found if one.resource == "pods"]

    assert (told.lasting, told.counted_cascaded) == (3, 3 if kind == SERVICES else 0)


def test_pods_of_nobody_are_each_their_own_maker() -> None:
    """Two bare pods that are alike are two losses of one pod, and last."""
    bare = [thing(PODS, f"tool-{number}", "shop", facts=READY) for number in range(2)]
    view = view_of(namespace("shop"), bare)
    found = effects(delete(namespace("shop")), view, PodsLost)

    assert [(one.count, one.declared, one.lasting) for one in found] == [(1, 1, 1), (1, 1, 1)]


def test_a_finished_pod_is_no_loss() -> None:
    """It did its work."""
    pod = thing(PODS, "done", "shop", facts=PodFacts(finished=True))

    assert effects(delete(pod), view_of(pod), PodsLost) == []


def test_a_scale_down_loses_the_surplus_and_lasts_unless_somebody_declared_it() -> None:
    """An autoscaler whose bounds allow the new size explains it; one that does not, does not."""
    objects = workload("web", replicas=4)
    deployment = objects[0]
    scaler = needing(
        thing(AUTOSCALERS, "web", "prod", facts=AutoscalerFacts(2, 9)),
        Need(Edge.SCALES, deployment.key),
    )
    view = view_of(objects, scaler)
    row = row_of(view, deployment)

    own = operator("system:serviceaccount:kube-system:horizontal-pod-autoscaler")
    (within,) = of_change(Change(resized=Resized(row, 4, 2)), view, PodsLost, own)
    (below,) = of_change(Change(resized=Resized(row, 4, 1)), view, PodsLost, own)
    (foreign,) = of_change(Change(resized=Resized(row, 4, 2)), view, PodsLost)

    assert (within.count, within.explained, within.lasting) == (2, 2, 0)
    assert (below.count, below.explained, below.lasting) == (3, 0, 3)
    assert (foreign.count, foreign.explained, foreign.lasting) == (2, 0, 2)


def test_bounds_that_are_written_explain_no_size() -> None:
    """Who lowers an autoscaler's most takes the pods; another autoscaler that allows it explains."""
    objects = workload("web", replicas=6)
    deployment = objects[0]

    def scaler(name: str, most: int) -> ClusterObject:
        one = thing(AUTOSCALERS, name, "prod", facts=AutoscalerFacts(1, most))
        return needing(one, Need(Edge.SCALES, deployment.key))

    old, other = scaler("web", 9), scaler("other", 4)
    request = update(old, scaler("web", 2))

    (lost,) = effects(request, view_of(objects, old), PodsLost)
    (explained,) = effects(request, view_of(objects, old, other), PodsLost)

    assert (lost.count, lost.lasting, lost.explained) == (4, 4, 0)
    assert (explained.lasting, explained.explained) == (0, 4)
    assert effects(update(old, scaler("web", 7)), view_of(objects, old), PodsLost) == []


def test_pods_do_not_come_back_through_a_webhook_that_goes_with_them() -> None:
    """The last pod of a fail-closed webhook that is asked about its own pods: a loss, no dip."""
    objects = workload("guard", "guard")
    things = [namespace("guard"), service("guard", "guard"), *objects]
    hook = webhook("guard", ServiceRef("guard", "guard"))
    alone, open_ = view_of(things, hook), view_of(things)

    (lost,) = effects(delete(objects[2]), alone, PodsLost)
    (emptied,) = effects(delete(objects[2]), alone, ServiceEmptied)
    (dip,) = effects(delete(objects[2]), open_, PodsLost)

    assert (lost.self_healing, lost.lasting) == (0, 1)
    assert not emptied.self_healing
    assert (dip.self_healing, dip.lasting) == (1, 0)


def test_a_broken_path_names_the_namespaces_that_it_closes() -> None:
    """Those that the webhook's selector matches, and no others."""
    labelled = thing(namespace("shop").key.resource, "shop", labels={"guarded": "yes"})
    hook = webhook(
        "guard", ServiceRef("guard", "guard"), namespaces=Selector.of({"guarded": "yes"})
    )
    view = view_of(
        namespace("guard"), labelled, namespace("free"), service("guard", "guard"),
        workload("guard", "guard"), hook,
    )  # fmt: skip
    (path,) = effects(delete(service("guard", "guard")), view, AdmissionPathBroken)

    assert (path.namespaces, path.namespaces_count) == (("shop",), 1)
    assert not path.blocks_recovery


# ---------------------------------------------------------------- budgets and majorities


@pytest.mark.parametrize(
    ("least", "most", "expected", "desired"),
    [
        pytest.param("50%", None, 7, 4, id="half-of-seven-is-four"),
        pytest.param(None, "30%", 7, 4, id="thirty-percent-of-seven-is-three"),
        pytest.param(2, None, 7, 2, id="a-number"),
        pytest.param(None, 9, 7, 0, id="more-than-there-are"),
        pytest.param(None, None, 7, 7, id="neither-allows-nothing"),
        pytest.param("half", None, 7, 7, id="unreadable-is-all"),
    ],
)
def test_what_a_budget_wants_healthy(
    least: Amount | None, most: Amount | None, expected: int, desired: int
) -> None:
    """As the disruption controller computes it."""
    facts = DisruptionBudgetFacts(min_available=least, max_unavailable=most)

    assert desired_healthy(facts, expected) == desired


def budget(least: int) -> ClusterObject:
    selector = Selector.of({"app": "web"})
    return thing(DISRUPTION_BUDGETS, "web", "prod", facts=DisruptionBudgetFacts(selector, least))


def test_a_budget_counts_what_was_admitted_and_not_what_is_not_ready() -> None:
    """The second of two deletes exceeds it; a pod that does not serve costs nothing."""
    objects = workload("web", replicas=4, ready=3)
    graph = graph_of(objects, budget(2))
    view = GraphView(graph, History())
    first, second, _, waiting = objects[2:]

    assert effects(delete(first), view, DisruptionExceeded) == []
    graph.leave(first.uid)
    (exceeded,) = effects(delete(second), view, DisruptionExceeded)

    assert (exceeded.asked, exceeded.allowed, exceeded.self_healing) == (1, 0, True)
    assert effects(delete(waiting), view, DisruptionExceeded) == []


def test_a_budget_that_goes_along_is_not_broken() -> None:
    """Nobody is left to whom anything was promised."""
    view = view_of(namespace("prod"), workload("web", replicas=2), budget(2))

    assert effects(delete(namespace("prod")), view, DisruptionExceeded) == []


def test_a_majority_is_more_than_half() -> None:
    """Of an even number as well."""
    assert [majority(members) for members in (3, 4, 5)] == [2, 3, 3]


def stateful(replicas: int, ready: int) -> list[ClusterObject]:
    maker = thing(STATEFUL_SETS, "db", "shop", facts=WorkloadFacts(replicas=replicas))
    return [
        maker,
        *(
            thing(
                PODS,
                f"db-{number}",
                "shop",
                owners=[owner(maker)],
                facts=PodFacts(ready=number < ready),
            )
            for number in range(replicas)
        ),
    ]


def test_a_restart_of_one_member_of_a_whole_set_keeps_the_majority() -> None:
    """Serial restarts are ordinary life; so is one of a set of two."""
    three, two = stateful(3, 3), stateful(2, 2)

    assert effects(delete(three[1]), view_of(three), QuorumLost) == []
    assert effects(delete(two[1]), view_of(two), QuorumLost) == []


def test_a_member_that_is_down_already_costs_no_majority() -> None:
    """Recreating it is how the set recovers."""
    members = stateful(3, 1)

    assert effects(delete(members[3]), view_of(members), QuorumLost) == []


def test_members_may_be_workloads_of_one_custom_resource() -> None:
    """One Deployment a member; those of another part are no members."""
    parent = thing(Resource("db.example.com", "clusters"), "c", "prod", facts=CustomFacts(3))
    parts = [workload(f"c-mon-{letter}") for letter in "abc"] + [workload("c-store-a")]
    owned = [
        [msgspec.structs.replace(part[0], owners=(owner(parent),)), *part[1:]] for part in parts
    ]
    view = view_of(parent, *owned)
    mons = [row_of(view, part[0]) for part in owned]

    (lost,) = of_change(Change(tuple(mons[:2])), view, QuorumLost)

    assert (lost.owner.name, lost.members, lost.before, lost.after) == ("c", 3, 3, 1)
    assert of_change(Change((mons[0],)), view, QuorumLost) == []
    assert of_change(Change((mons[3],)), view, QuorumLost) == []


def test_a_set_that_is_scaled_under_its_majority() -> None:
    """From five to two; to three it stays."""
    view = view_of(stateful(5, 5))
    row = row_of(view, stateful(5, 5)[0])

    (lost,) = of_change(Change(resized=Resized(row, 5, 2)), view, QuorumLost)

    assert (lost.members, lost.after) == (5, 2)
    assert of_change(Change(resized=Resized(row, 5, 3)), view, QuorumLost) == []


@pytest.mark.parametrize(
    ("members", "data", "asked"), [(9, False, True), (10, False, False), (10, True, True)]
)
def test_a_large_set_without_data_is_a_pool(members: int, *, data: bool, asked: bool) -> None:
    """Who votes does so among few; what holds data needs those that have it."""
    claim = Need(Edge.CLAIM, ObjectKey(CLAIMS, "shop", "data"))
    things = [
        msgspec.structs.replace(one, needs=(claim,)) if data and one.key.resource == PODS else one
        for one in stateful(members, members)
    ]
    view = view_of(things)
    row = row_of(view, things[0])
    pods = tuple(row_of(view, one) for one in things[1:])

    for change in (Change(resized=Resized(row, members, 3)), Change(pods[3:])):
        assert bool(of_change(change, view, QuorumLost)) is asked


# ---------------------------------------------------------------- data


def claimed(reclaim: str = "Delete") -> tuple[ClusterObject, ClusterObject]:
    claim = thing(CLAIMS, "photos", "shop", facts=ClaimFacts(bound=True, volume="pv-1"))
    return claim, thing(VOLUMES, "pv-1", facts=VolumeFacts(reclaim, "Bound"))


def test_the_last_copy_of_a_claim() -> None:
    """A snapshot that stays is a copy; one that goes along is none."""
    claim, volume = claimed()
    snapshot = needing(
        thing(SNAPSHOTS, "nightly", "shop", facts=SnapshotFacts(ready=True)),
        Need(Edge.SNAPSHOT_SOURCE, claim.key),
    )
    view = view_of(namespace("shop"), claim, volume, snapshot)

    (alone,) = effects(delete(claim), view_of(claim, volume), DataLost)
    (copied,) = effects(delete(claim), view, DataLost)
    whole = effects(delete(namespace("shop")), view, DataLost)

    assert (alone.last_copy, alone.reclaim, alone.reversible) == (True, "Delete", False)
    assert (copied.last_copy, copied.copies) == (False, 1)
    assert [one.last_copy for one in whole] == [True, True]


@pytest.mark.parametrize(
    ("controls", "others", "copies"), [(True, 1, 1), (False, 0, 1), (False, 1, 0)]
)
def test_claims_of_one_owner_are_copies(*, controls: bool, others: int, copies: int) -> None:
    """Of its controller, or of what alone owns it and does not call itself that."""
    parent = thing(Resource("db.example.com", "databases"), "db", "shop", facts=CustomFacts())
    beside = [thing(CONFIG_MAPS, f"of-{at}", "shop") for at in range(others)]
    owners = [owner(parent, controller=controls), *(owner(one, controller=False) for one in beside)]
    claims = [
        thing(CLAIMS, name, "shop", owners=owners, facts=ClaimFacts(bound=True, volume=name))
        for name in ("one", "two")
    ]
    (lost,) = effects(delete(claims[0]), view_of(parent, beside, claims), DataLost)
    assert lost.copies == copies


@pytest.mark.parametrize(
    ("policy", "mounted", "kept"),
    [
        pytest.param("Retain", False, (False, 0), id="its content stays"),
        pytest.param("Retain", True, (False, 1), id="a pod mounts the claim"),
        pytest.param("Delete", False, (True, 1), id="its content goes too"),
    ],
)
def test_a_snapshot_that_goes_and_leaves_its_content(
    policy: str, *, mounted: bool, kept: tuple[bool, int]
) -> None:
    """Who empties a namespace keeps its data so; what nobody mounts is not in use then."""
    claim, volume = claimed()
    snapshot = needing(
        thing(SNAPSHOTS, "last", "shop", facts=SnapshotFacts(ready=True)),
        Need(Edge.SNAPSHOT_SOURCE, claim.key),
    )
    content = needing(
        thing(SNAPSHOT_CONTENTS, "c-1", facts=SnapshotContentFacts(policy)),
        Need(Edge.BOUND_SNAPSHOT, snapshot.key),
    )
    user = needing(
        thing(PODS, "web", "shop", facts=PodFacts(ready=True)), Need(Edge.CLAIM, claim.key)
    )
    things = [namespace("shop"), claim, volume, snapshot, content, *([user] if mounted else [])]

    view = view_of(*things)
    lost = effects(delete(namespace("shop")), view, DataLost)
    removed = effects(delete(namespace("shop")), view, ObjectsRemoved)

    (last,) = [one.last_copy for one in lost if one.holder.name == "photos"]
    (in_use,) = [one.in_use for one in removed if one.resource == str(CLAIMS)]
    assert (last, in_use) == kept


@pytest.mark.parametrize("going", [False, True], ids=["its snapshot stays", "its snapshot goes"])
def test_the_contents_of_a_snapshot_are_no_copy_of_another_while_it_is_wanted(going: bool) -> None:
    """Which claim it was taken of only the snapshot says; where that is going, it is the cause."""
    claim, volume = claimed()
    snapshot = needing(
        thing(SNAPSHOTS, "nightly", "shop", facts=SnapshotFacts(ready=True), deleted=float(going)),
        Need(Edge.SNAPSHOT_SOURCE, claim.key),
    )
    content = needing(
        thing(SNAPSHOT_CONTENTS, "c-1", facts=SnapshotContentFacts("Delete")),
        Need(Edge.BOUND_SNAPSHOT, snapshot.key),
    )

    (found,) = effects(delete(content), view_of(claim, volume, snapshot, content), DataLost)
    (orphan,) = effects(delete(content), view_of(content), DataLost)

    assert (found.last_copy, found.explained) == (not going, going)
    assert (orphan.last_copy, orphan.explained) == (True, False)


def test_a_content_may_go_once_its_snapshot_was_seen_to_go() -> None:
    """Nobody knows any more what it was taken of; who deleted the snapshot has given it up."""
    snapshot = thing(SNAPSHOTS, "nightly", "shop", facts=SnapshotFacts(ready=True))
    content = needing(
        thing(SNAPSHOT_CONTENTS, "c-1", facts=SnapshotContentFacts("Delete")),
        Need(Edge.BOUND_SNAPSHOT, snapshot.key),
    )
    view = GraphView(graph_of(content), History())
    view.history.note_removed(snapshot.uid, snapshot.key, START)

    (found,) = effects(delete(content), view, DataLost)

    assert (found.last_copy, found.explained) == (True, True)


@pytest.mark.parametrize("another", [False, True], ids=["its own content", "another's too"])
def test_the_content_that_was_there_first_is_no_copy_of_its_snapshot(*, another: bool) -> None:
    """What a snapshot is made of by name goes with it; of another snapshot of it a copy stays."""
    content = thing(SNAPSHOT_CONTENTS, "c-1", facts=SnapshotContentFacts("Delete"))
    own = needing(
        thing(SNAPSHOTS, "first", "shop", facts=SnapshotFacts(ready=True)),
        Need(Edge.SNAPSHOT_SOURCE, content.key),
        Need(Edge.SNAPSHOT_CONTENT, content.key),
    )
    other = needing(
        thing(SNAPSHOTS, "second", "shop", facts=SnapshotFacts(ready=True)),
        Need(Edge.SNAPSHOT_SOURCE, thing(CLAIMS, "data", "shop").key),
    )
    claim = thing(CLAIMS, "data", "shop", facts=ClaimFacts(bound=True, volume="pv"))
    view = view_of(content, own, other, claim)
    (found,) = effects(delete(other if another else own), view, DataLost)
    assert (found.last_copy, found.explained) == (not another, False)


@pytest.mark.parametrize(
    ("maker", "explained"),
    [
        pytest.param("system:serviceaccount:lb:operator", True, id="by itself"),
        pytest.param("system:serviceaccount:csi:snapshotter", False, id="by another"),
    ],
)
def test_a_content_that_the_actor_made_is_its_own_to_erase(maker: str, *, explained: bool) -> None:
    """A backup that has expired is erased by a name made for that."""
    content = thing(SNAPSHOT_CONTENTS, "c-1", facts=SnapshotContentFacts("Delete"))
    view = view_of(content)
    view.history.note_created(content.uid, maker, "", content.key, START)
    (lost,) = effects(delete(content), view, DataLost)
    (outside,) = effects(delete(content), view, ExternalDeleted)
    assert (lost.explained, bool(outside.explained)) == (explained, explained)


@pytest.mark.parametrize(
    ("volume", "after_s", "wanted", "explained"),
    [
        pytest.param("csi/vol-1", 86_400, False, True, id="a later one of its volume"),
        pytest.param("csi/vol-2", 86_400, False, False, id="a later one of another volume"),
        pytest.param("csi/vol-1", -86_400, False, False, id="the last one of its volume"),
        pytest.param("csi/vol-1", 86_400, True, False, id="its snapshot stays"),
        pytest.param("", 86_400, False, False, id="nobody knows of which volume"),
    ],
)
def test_a_content_of_which_a_later_one_stays(
    volume: str, after_s: float, *, wanted: bool, explained: bool
) -> None:
    """Retention takes the old ones, long after their snapshots are forgotten; never the last."""
    snapshot = thing(SNAPSHOTS, "nightly", "shop", facts=SnapshotFacts(ready=True))
    old = needing(
        thing(
            SNAPSHOT_CONTENTS, "c-1", facts=SnapshotContentFacts("Delete", volume and "csi/vol-1")
        ),
        Need(Edge.BOUND_SNAPSHOT, snapshot.key),
    )
    other = thing(SNAPSHOT_CONTENTS, "c-2", facts=SnapshotContentFacts("Retain", volume))
    other = msgspec.structs.replace(other, created=old.created + after_s)
    view = view_of(old, other, *([snapshot] if wanted else []))

    (lost,) = effects(delete(old), view, DataLost)
    (outside,) = effects(delete(old), view, ExternalDeleted)

    assert (lost.explained, bool(outside.explained)) == (explained, explained)


def test_a_service_for_a_role_declares_one() -> None:
    """Of three members it reaches the one that bears the label; nobody declared two of those."""
    members = workload("db", "shop", replicas=3)
    primary = msgspec.structs.replace(members[2], labels={"app": "db", "role": "primary"})
    reached = Selector.of({"role": "primary"})
    role = thing(SERVICES, "db-rw", "shop", facts=ServiceFacts(reached))
    view = view_of([*members[:2], primary, *members[3:]], role, service("db", "shop"))

    (emptied,) = effects(delete(primary), view, ServiceEmptied)

    assert (emptied.service.name, emptied.before, emptied.declared) == ("db-rw", 1, 1)
    whole = view_of(members, service("db", "shop"))
    assert declared_size(whole, row_of(whole, service("db", "shop"))) == 3


@pytest.mark.parametrize(
    ("by", "hours", "lately"),
    [("me", 1, 1), ("me", 25, 0), ("somebody", 1, 0)],
    ids=["this morning", "the day before", "another's"],
)
def test_what_the_actor_made_within_the_day_is_told(by: str, hours: int, lately: int) -> None:
    """It counts as any other, and policies may let it go."""
    one, history = service("web", "shop"), History()
    me = operator().user.username
    history.note_created(one.uid, me if by == "me" else by, by, one.key, START)
    view = GraphView(graph_of(one), history)
    now = Now(START.mono_ns + hours * 3600 * 10**9, START.utc_s + hours * 3600)

    impact = estimate(delete(one), project(delete(one), view), view, operator(), now=now)

    (found,) = [one for one in impact.effects if isinstance(one, ObjectsRemoved)]
    assert (found.counted, found.made_lately) == (1, lately)


def test_a_claim_whose_volume_is_kept_can_come_back() -> None:
    """Retain; and a claim that was never bound holds nothing."""
    claim, volume = claimed("Retain")
    empty = thing(CLAIMS, "new", "shop", facts=ClaimFacts())

    (kept,) = effects(delete(claim), view_of(claim, volume), DataLost)
    (unbound,) = effects(delete(empty), view_of(empty), DataLost)

    assert kept.reversible
    assert (unbound.bound, unbound.last_copy, unbound.reversible) == (False, False, True)


def test_a_claim_in_use_waits_for_pods_that_stay() -> None:
    """With the protection finalizer; pods that go along do not hold it."""
    claim, volume = claimed()
    protected = held(claim, "kubernetes.io/pvc-protection")
    pod = needing(thing(PODS, "p", "shop", facts=READY), Need(Edge.CLAIM, claim.key))
    view = view_of(namespace("shop"), protected, volume, pod)

    (used,) = effects(delete(protected), view, DataLost)
    (whole,) = effects(delete(namespace("shop")), view, DataLost)

    assert (used.mounted, used.stuck) == (1, True)
    assert (whole.mounted, whole.stuck) == (1, False)


@pytest.mark.parametrize("stays", [True, False])
def test_a_finished_job_does_not_take_its_claim_from_under_pods_that_stay(stays: bool) -> None:
    """It filled the claim, and others work with that since; what nobody uses goes with the Job."""
    facts = WorkloadFacts(1, None, finished=True)
    job = thing(JOBS, "restore", "shop", facts=facts)
    claim, volume = claimed()
    owned = msgspec.structs.replace(claim, owners=(owner(job),))
    pod = needing(thing(PODS, "p", "shop", facts=READY), Need(Edge.CLAIM, claim.key))

    view = view_of(job, owned, volume, [pod] if stays else [])
    background = delete(job, options=DeleteOptions(propagation=Propagation.BACKGROUND))
    (lost,) = effects(background, view, DataLost)

    assert (lost.direct, lost.explained) == (stays, not stays)
    assert lost.mounted == stays


# ---------------------------------------------------------------- references


def config(keys: tuple[str, ...] = ("a", "b")) -> ClusterObject:
    return thing(CONFIG_MAPS, "settings", "prod", facts=KeysFacts(keys))


def using(objects: list[ClusterObject], key: str = "", *, optional: bool = False) -> None:
    """Let a whole workload name the settings: template, ReplicaSet and pods."""
    need = Need(Edge.CONFIG_MAP, config().key, key, optional)
    objects[:] = [needing(one, need) for one in objects]


def test_what_todays_template_names_is_current_and_old_replicasets_are_past() -> None:
    """A hashed ConfigMap of an earlier rollout is nobody's any more."""
    objects = workload("web", replicas=2)
    using(objects)
    old = needing(
        thing(
            REPLICA_SETS, "web-0", "prod", owners=[owner(objects[0])],
            facts=WorkloadFacts(replicas=0),
        ),
        Need(Edge.CONFIG_MAP, ObjectKey(CONFIG_MAPS, "prod", "yesterday")),
    )  # fmt: skip
    yesterday = thing(CONFIG_MAPS, "yesterday", "prod")
    view = view_of(objects, old, config(), yesterday)

    (used,) = effects(delete(config()), view, ReferenceBroken)
    (past,) = effects(delete(yesterday), view, ReferenceBroken)

    assert (used.current, used.past, used.pods) == (1, 1, 2)
    assert used.users[0].resource == "deployments"
    assert (past.current, past.past, past.pods) == (0, 1, 0)


def test_an_optional_need_is_none_and_users_that_go_along_need_nothing() -> None:
    """Nor does anything break where everybody goes."""
    objects = workload("web")
    using(objects, optional=True)
    needed = workload("api")
    using(needed)

    assert effects(delete(config()), view_of(objects, config()), ReferenceBroken) == []
    view = view_of(namespace("prod"), needed, config())
    assert effects(delete(namespace("prod")), view, ReferenceBroken) == []


def test_only_the_entries_in_use_of_an_update_break_anything() -> None:
    """Dropping `a` breaks who reads `a`; dropping `b` breaks nobody."""
    objects = workload("web")
    using(objects, key="a")
    view = view_of(objects, config())
    row = row_of(view, config())

    def broken(*keys: str) -> list[ReferenceBroken]:
        rewritten = Rewritten(row, config(), config(keys))
        return of_change(Change(rewritten=rewritten), view, ReferenceBroken)

    (lost,) = broken("b")
    assert (lost.key, lost.current) == ("a", 1)
    assert broken("a") == []


def test_a_definition_that_serves_no_version_any_more() -> None:
    """Its instances cannot be reached; with one version left they can."""
    boxes = Resource("x.example.com", "boxes")

    def definition(*served: str) -> ClusterObject:
        facts = CrdFacts(boxes, "Box", namespaced=True, served_versions=served)
        return thing(CRDS, str(boxes), facts=facts)

    before = definition("v1", "v2")
    view = view_of(before, thing(boxes, "one", "shop"))
    row = row_of(view, before)

    def broken(*served: str) -> list[ReferenceBroken]:
        rewritten = Rewritten(row, before, definition(*served))
        return of_change(Change(rewritten=rewritten), view, ReferenceBroken)

    assert [one.current for one in broken()] == [1, 1]
    assert broken("v2") == []


# ---------------------------------------------------------------- finalizers


def known_lifter() -> History:
    history = History()
    account = "system:serviceaccount:ops:lake"
    before = held(thing(SECRETS, "s", "shop"), "drain.example.com/lake")
    history.habits.note(
        Request(
            uid="1",
            operation=Operation.UPDATE,
            gvr=Gvr("", "v1", "secrets"),
            gvk=before.gvk,
            namespace="shop",
            name="s",
            user=UserInfo(account),
            old=before,
            new=held(before),
        )
    )
    return history


def test_a_finalizer_is_stuck_when_who_was_seen_to_remove_it_has_no_ready_pod() -> None:
    """Where one serves, or nobody is known, nothing is said."""
    stuck = held(thing(SECRETS, "s", "shop"), "drain.example.com/lake")
    account = thing(SERVICE_ACCOUNTS, "lake", "ops")
    pod = needing(
        thing(PODS, "lake-0", "ops", facts=READY), Need(Edge.SERVICE_ACCOUNT, account.key)
    )

    absent = GraphView(graph_of(stuck, account), known_lifter())
    there = GraphView(graph_of(stuck, account, pod), known_lifter())
    unknown = view_of(stuck, account)

    (one,) = effects(delete(stuck), absent, DeletionStuck)
    assert (one.controller, one.why) == ("ops:lake", "has no ready pod")
    assert effects(delete(stuck), there, DeletionStuck) == []
    assert effects(delete(stuck), unknown, DeletionStuck) == []


def test_a_finalizer_of_a_kind_whose_keeper_is_gone_is_stuck() -> None:
    """Who writes the status of a kind is the one who would act on its finalizers."""
    lakes = Resource("water.example.com", "lakes")
    lake = held(thing(lakes, "blue", "shop"), "other.example.org/hold")
    history = History()
    status = msgspec.structs.replace(
        delete(lake), operation=Operation.UPDATE, subresource="status", new=lake,
        user=UserInfo("system:serviceaccount:ops:keeper"),
    )  # fmt: skip
    history.habits.note(status)
    account = thing(SERVICE_ACCOUNTS, "someone", "ops")

    (one,) = effects(delete(lake), GraphView(graph_of(lake, account), history), DeletionStuck)

    assert (one.controller, one.why) == ("ops:keeper", "is gone")


# ---------------------------------------------------------------- outside


def test_only_a_policy_that_deletes_reaches_outside() -> None:
    """Orphan keeps; an id reaches as long as a finalizer has somebody act on it."""
    machines = Resource("cloud.example.com", "machines")

    def machine(said: str, *finalizers: str) -> list[ExternalDeleted]:
        one = held(thing(machines, "m", "shop", facts=CustomFacts(outside=said)), *finalizers)
        return effects(delete(one), view_of(one), ExternalDeleted)

    assert [one.why for one in machine("Delete")] == ["deletion-policy"]
    assert machine("Orphan") == []
    assert machine("cloud:///zone/1") == []
    assert [one.why for one in machine("cloud:///zone/1", "x.example.com/m")] == ["finalizer"]
    (yes,) = machine("destroyResourcesOnDeletion", "x.example.com/m")
    assert (yes.why, yes.policy) == ("deletion-policy", "destroyResourcesOnDeletion")
    assert machine("destroyResourcesOnDeletion") == []


@pytest.mark.parametrize(
    ("said", "by", "old_s", "gone", "replaced"),
    [
        pytest.param("cloud:///new", "me", 60, 0, 1, id="made anew"),
        pytest.param("", "me", 60, 0, 0, id="not there yet"),
        pytest.param("cloud:///new", "another", 60, 0, 0, id="made by another"),
        pytest.param("cloud:///new", "me", 4000, 0, 0, id="long there"),
        pytest.param("cloud:///new", "me", 60, 1, 0, id="in another's place"),
    ],
)
def test_a_machine_in_whose_place_another_was_made(
    said: str, by: str, old_s: float, gone: int, replaced: int
) -> None:
    """By the same actor, within the hour, with its id; each stands in for one."""
    machines, me = Resource("cloud.example.com", "machines"), operator().user.username
    old = held(thing(machines, "old", facts=CustomFacts(outside="cloud:///old")), "x.example.com/m")
    new = thing(machines, "new", facts=CustomFacts(outside=said))
    new = msgspec.structs.replace(new, created=START.utc_s - old_s)
    history = History()
    history.note_created(new.uid, me if by == "me" else by, by, new.key, START)
    history.writes.count(remover(me, machines), START, gone)
    view = GraphView(graph_of(old, new), history)

    impact = estimate(delete(old), project(delete(old), view), view, operator(), now=START)

    (found,) = [one for one in impact.effects if isinstance(one, ExternalDeleted)]
    assert (found.why, found.replaced) == ("finalizer", replaced)


@pytest.mark.parametrize(
    ("by", "ago_s", "owned", "explained"),
    [
        pytest.param("me", 1200, False, 1, id="tried out"),
        pytest.param("me", 100_000, False, 0, id="made before today"),
        pytest.param("another", 1200, False, 0, id="made by another"),
        pytest.param("me", 1200, True, 0, id="made for what keeps it"),
    ],
)
def test_a_thing_outside_that_the_actor_made_for_itself(
    by: str, ago_s: float, *, owned: bool, explained: int
) -> None:
    """Within the day and for nobody else: it gives up its own errand."""
    keeper = thing(Resource("cloud.example.com", "stacks"), "stack", "shop")
    owners = [owner(keeper)] if owned else []
    buckets = Resource("cloud.example.com", "buckets")
    bucket = thing(buckets, "b", "shop", owners=owners, facts=CustomFacts(outside="Delete"))
    history, made = History(), START.plus_s(-ago_s)
    who = operator().user.username if by == "me" else by
    history.note_created(bucket.uid, who, who, bucket.key, made)
    bucket = msgspec.structs.replace(bucket, created=made.utc_s)
    view = GraphView(graph_of(keeper, bucket), history)

    impact = estimate(delete(bucket), project(delete(bucket), view), view, operator(), now=START)

    (found,) = [one for one in impact.effects if isinstance(one, ExternalDeleted)]
    assert (found.why, found.explained) == ("deletion-policy", explained)


@pytest.mark.parametrize(
    ("by", "ago_s", "younger_s", "kept", "explained"),
    [
        pytest.param("me", 7200, 60, "", 3, id="tried out"),
        pytest.param("me", 100_000, 60, "", 0, id="made before today"),
        pytest.param("another", 7200, 60, "", 0, id="made by another"),
        pytest.param("me", 7200, 60, "owner", 0, id="made for what keeps it"),
        pytest.param("me", 7200, 60, "mark", 0, id="of an application"),
        pytest.param("me", 7200, -60, "", 0, id="what was there before it"),
    ],
)
def test_things_outside_that_go_with_what_the_actor_made_for_itself(
    by: str, ago_s: float, younger_s: float, kept: str, explained: int
) -> None:
    """A cluster of this morning's tests goes with its machines, one of last week counts them."""
    fleet = thing(Resource("cloud.example.com", "fleets"), "fleet", "shop")
    clusters = Resource("cloud.example.com", "clusters")
    cluster = thing(clusters, "e2e", "shop", owners=[owner(fleet)] if kept == "owner" else [])
    if kept == "mark":
        shop = ObjectKey(Resource("argoproj.io", "applications"), "argocd", "shop")
        cluster = needing(cluster, Need(Edge.MANAGED_BY, shop))
    made = START.plus_s(-ago_s)
    cluster = msgspec.structs.replace(cluster, created=made.utc_s)
    machines = [
        msgspec.structs.replace(
            held(
                thing(
                    Resource("cloud.example.com", "machines"), f"m-{at}", "shop",
                    owners=[owner(cluster)], facts=CustomFacts(outside=f"cloud:///{at}"),
                ),
                "x.example.com/m",
            ),
            created=made.utc_s + younger_s,
        )
        for at in range(3)
    ]  # fmt: skip
    who, history = operator().user.username if by == "me" else by, History()
    history.note_created(cluster.uid, who, who, cluster.key, made)
    view = GraphView(graph_of(fleet, cluster, *machines), history)

    impact = estimate(delete(cluster), project(delete(cluster), view), view, operator(), now=START)

    (found,) = [one for one in impact.effects if isinstance(one, ExternalDeleted)]
    assert (found.why, found.count, found.explained) == ("finalizer", 3, explained)


def test_a_load_balancer_stands_for_an_address_outside() -> None:
    """A Service inside the cluster does not."""
    inside = service("web")
    outside = thing(
        SERVICES, "front", "prod", facts=ServiceFacts(Selector.of({"app": "web"}), "LoadBalancer")
    )

    assert effects(delete(inside), view_of(inside), ExternalDeleted) == []
    (one,) = effects(delete(outside), view_of(outside), ExternalDeleted)
    assert (one.why, one.count, one.direct) == ("load-balancer", 1, 1)


@pytest.mark.parametrize("kind", [SNAPSHOTS, CLAIMS])
@pytest.mark.parametrize(
    ("bound", "going", "wanted"),
    [
        pytest.param(False, False, 1, id="it has no volume yet"),
        pytest.param(True, False, 0, id="it has its data"),
        pytest.param(False, True, 0, id="it goes itself"),
    ],
)
def test_what_a_claim_is_to_be_filled_from(
    kind: Resource, wanted: int, *, bound: bool, going: bool
) -> None:
    """A snapshot or claim that goes before it was read leaves a claim that never binds."""
    facts = ClaimFacts(bound=True) if kind == CLAIMS else None
    source = thing(kind, "nightly", "prod", facts=facts)
    claim = msgspec.structs.replace(
        thing(CLAIMS, "restored", "prod", facts=ClaimFacts(bound=bound)),
        needs=(Need(Edge.DATA_SOURCE, source.key),),
        deleted=1.0 if going else 0.0,
    )
    found = effects(delete(source), view_of(source, claim), ObjectsRemoved)
    assert sum(one.wanted for one in found if one.resource == str(kind)) == wanted
