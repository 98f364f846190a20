"""Effects of the writes that disasters are made of, and of their harmless look-alikes."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from support.cluster import (
    BALANCERS,
    START,
    crd,
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
from suture.impact.effects import (
    AdmissionPathBroken,
    Effect,
    EndpointsLost,
    Impact,
    ObjectsRemoved,
    SelectionChanged,
    ServiceEmptied,
)
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.names import API_SERVICES, DEPLOYMENTS, PODS, SERVICES, Gvr, Operation
from suture.model.objects import ApiServiceFacts, ClusterObject, ServiceRef, WebhookFacts
from suture.model.overlay import Overlay
from suture.model.request import Collection, Request, intent_of
from suture.model.selectors import Selector

E = TypeVar("E", bound=Effect)


def impact_of(request: Request, view: GraphView) -> Impact:
    return estimate(request, project(request, view), view, operator())


def only(impact: Impact, kind: type[E]) -> list[E]:
    return [effect for effect in impact.effects if isinstance(effect, kind)]


def removed(impact: Impact, resource: str) -> ObjectsRemoved:
    (found,) = [one for one in only(impact, ObjectsRemoved) if one.resource == resource]
    return found


def test_a_serving_service_is_counted_lasting_and_in_use() -> None:
    """Deleting a Service with endpoints is a lasting loss of it and of all its endpoints."""
    view = view_of(service("checkout"), workload("checkout", replicas=3))

    impact = impact_of(delete(service("checkout")), view)

    gone = removed(impact, "services")
    assert (gone.count, gone.lasting, gone.counted, gone.foreign, gone.in_use) == (1, 1, 1, 1, 1)
    (lost,) = only(impact, EndpointsLost)
    assert (lost.before, lost.after, lost.removed) == (3, 0, True)


def test_an_idle_service_counts_too() -> None:
    """A Service that serves nobody now is tomorrow's failover: its loss is lasting and counted."""
    view = view_of(service("idle", app=""))

    impact = impact_of(delete(service("idle", app="")), view)

    assert removed(impact, "services").counted == 1
    assert only(impact, EndpointsLost) == []


def test_a_child_of_a_going_parent_is_explained() -> None:
    """A Service whose balancer is being deleted, or is gone, is charged to that delete."""
    going = thing(BALANCERS, "front", "prod", deleted=1.0)
    gone = thing(BALANCERS, "past", "prod")
    children = [
        service("a", owners=[owner(going)]),
        service("b", owners=[owner(gone)]),
    ]
    view = view_of(going, children)

    for child in children:
        tally = removed(impact_of(delete(child), view), "services")
        assert (tally.explained, tally.lasting, tally.counted) == (1, 0, 0)


def test_a_child_of_a_live_parent_is_wanted() -> None:
    """The parent lives and still asks for it: nothing explains the removal."""
    live = thing(BALANCERS, "front", "prod")
    child = service("checkout", owners=[owner(live)])
    view = view_of(live, child, workload("checkout"))

    tally = removed(impact_of(delete(child), view), "services")

    assert (tally.explained, tally.wanted, tally.in_use) == (0, 1, 1)


def test_the_old_name_of_a_renamed_service_is_explained() -> None:
    """Another Service reaches the same pods and nothing refers to the old name: a rename."""
    view = view_of(
        service("old", app="checkout"), service("new", app="checkout"), workload("checkout")
    )

    assert removed(impact_of(delete(service("old", app="checkout")), view), "services").explained


def test_both_names_at_once_are_no_rename() -> None:
    """A replacement that the same request takes away replaces nothing."""
    view = view_of(
        service("old", app="checkout"), service("new", app="checkout"), workload("checkout")
    )
    whole = Request(
        uid="r",
        operation=Operation.DELETE,
        gvr=Gvr("", "v1", "services"),
        gvk=service("x").gvk,
        namespace="prod",
        user=operator().user,
        extent=Collection(None),
    )

    assert removed(impact_of(whole, view), "services").counted == 2


def test_an_old_name_that_a_webhook_calls_is_not_explained() -> None:
    """A rename is not finished while something still calls the old name."""
    hook = webhook("guard", ServiceRef("prod", "old"))
    view = view_of(
        service("old", app="g"), service("new", app="g"), workload("g"), hook, namespace("prod")
    )

    impact = impact_of(delete(service("old", app="g")), view)

    assert removed(impact, "services").explained == 0
    (broken,) = only(impact, AdmissionPathBroken)
    assert (broken.fail_closed, broken.service_removed, broken.before) == (True, True, 1)
    assert broken.blocks_recovery


def test_a_webhook_without_a_backend_has_nothing_to_lose() -> None:
    """A fail-closed webhook that is dead already does not lose its last backend."""
    hook = webhook("guard", ServiceRef("prod", "guard"))
    view = view_of(service("guard"), hook)

    assert only(impact_of(delete(service("guard")), view), AdmissionPathBroken) == []


def test_a_webhook_that_leaves_its_own_pods_alone_does_not_block_recovery() -> None:
    """Its namespace selector excludes its home, so that its pod can come back."""
    hook = webhook("guard", ServiceRef("prod", "guard"), namespaces=Selector.of({"team": "x"}))
    others = replace(namespace("other"), labels={"team": "x"})
    view = view_of(service("guard"), workload("guard"), hook, namespace("prod"), others)

    (broken,) = only(impact_of(delete(service("guard")), view), AdmissionPathBroken)

    assert not broken.blocks_recovery


def test_a_webhook_that_no_namespace_asks_for_loses_nothing() -> None:
    """A mesh's old revision: its webhook is there still, and no namespace has its label any more.

    That is told of pods alone, which are in namespaces: what is not is never left out.
    """
    namespaces = Selector.of({"revision": "old"})
    hook = webhook("guard", ServiceRef("prod", "guard"), namespaces=namespaces)
    things = (service("guard"), workload("guard"), namespace("prod"))
    asked = replace(namespace("other"), labels={"revision": "old"})

    def broken(*more: ClusterObject) -> int:
        return len(only(impact_of(delete(things[0]), view_of(*things, *more)), AdmissionPathBroken))

    assert broken(hook) == 0
    assert broken(hook, asked) == 1
    assert isinstance(hook.facts, WebhookFacts)
    (one,) = hook.facts.webhooks
    wide = replace(one, rules=(replace(one.rules[0], resources=("*",)),))
    assert broken(replace(hook, facts=replace(hook.facts, webhooks=(wide,)))) == 1


def test_a_webhook_on_types_of_which_nothing_is_there_loses_nothing() -> None:
    """Who uninstalls takes the resources first; their webhook may outlive its Service by a moment."""
    hook = webhook("guard", ServiceRef("prod", "guard"))
    assert isinstance(hook.facts, WebhookFacts)
    (one,) = hook.facts.webhooks
    served = ApiServiceFacts("served.example.com", "v1", ServiceRef("prod", "api"))
    others = (crd(), thing(API_SERVICES, "v1.served.example.com", facts=served))
    things = (service("guard"), workload("guard"), namespace("prod"), *others)

    def broken(group: str, *more: ClusterObject) -> int:
        rules = (replace(one.rules[0], groups=(group,), resources=("*",)),)
        facts = WebhookFacts((replace(one, rules=rules),))
        view = view_of(*things, replace(hook, facts=facts), *more)
        return len(only(impact_of(delete(things[0]), view), AdmissionPathBroken))

    assert broken(BALANCERS.group) == 0
    assert broken(BALANCERS.group, thing(BALANCERS, "one", "prod")) == 1
    assert broken("served.example.com") == 1
    assert broken("networking.k8s.io") == 1
    assert broken("*") == 1


def test_the_last_pods_of_a_service_are_a_dip() -> None:
    """Deleting pods that a ReplicaSet brings back heals by itself; the floors still see it."""
    pods = workload("checkout", replicas=2)
    graph = graph_of(service("checkout"), pods)
    view = GraphView(graph)
    first = impact_of(delete(pods[2]), view)
    (lost,) = only(first, EndpointsLost)
    assert (lost.before, lost.after, lost.peak, lost.self_healing) == (2, 1, 2, True)

    Overlay(graph).admit(intent_of(delete(pods[2])), [pods[2].uid], START)
    (emptied,) = only(impact_of(delete(pods[3]), view), ServiceEmptied)
    assert (emptied.self_healing, emptied.declared) == (True, 2)
    (lost,) = only(impact_of(delete(pods[3]), view), EndpointsLost)
    assert (lost.before, lost.peak) == (1, 2)


def test_a_deleted_workload_empties_its_service_for_good() -> None:
    """The Service stays, with no pod left and nobody to bring one back; it is one workload."""
    pods = workload("checkout", replicas=2)
    view = view_of(service("checkout"), pods)

    impact = impact_of(delete(pods[0]), view)

    (emptied,) = only(impact, ServiceEmptied)
    assert (emptied.before, emptied.self_healing, emptied.explained) == (2, False, False)
    assert removed(impact, "deployments.apps").counted == 1
    assert removed(impact, "pods").counted == 0


def test_scaling_to_zero_empties_the_service() -> None:
    """A scale subresource update is projected onto its workload."""
    pods = workload("checkout", replicas=4)
    view = view_of(service("checkout"), pods)

    def scaled(to: int) -> Impact:
        request = Request(
            uid="r", operation=Operation.UPDATE, gvr=Gvr("apps", "v1", "deployments"),
            gvk=pods[0].gvk, subresource="scale", namespace="prod", name="checkout",
            user=operator().user, scale_to=to,
        )  # fmt: skip
        return impact_of(request, view)

    assert only(scaled(0), ServiceEmptied)
    (lost,) = only(scaled(3), EndpointsLost)
    assert (lost.before, lost.after) == (4, 3)
    assert scaled(4).effects == ()
    assert scaled(9).effects == ()


def test_an_eviction_is_a_pod_delete() -> None:
    """CREATE of pods/eviction takes the pod, with no DELETE review to follow."""
    pods = workload("checkout", replicas=1)
    view = view_of(service("checkout"), pods)
    request = Request(
        uid="r", operation=Operation.CREATE, gvr=Gvr("", "v1", "pods"), gvk=pods[2].gvk,
        subresource="eviction", namespace="prod", name="checkout-1-0", user=operator().user,
    )  # fmt: skip

    (emptied,) = only(impact_of(request, view), ServiceEmptied)

    assert (emptied.self_healing, emptied.declared) == (True, 1)


def test_a_selector_that_selects_nothing() -> None:
    """A Service whose new selector matches no ready pod loses all of its endpoints."""
    before, after = service("checkout"), service("checkout", app="chekout")
    view = view_of(before, workload("checkout", replicas=2))

    impact = impact_of(_updated(before, after), view)

    (changed,) = only(impact, SelectionChanged)
    assert (changed.before, changed.after, changed.kept, changed.empty) == (2, 0, 0, False)
    assert only(impact, ServiceEmptied)


def test_blue_to_green_keeps_the_endpoints() -> None:
    """A switch to as many ready pods of another workload loses nothing."""
    before, after = service("web", app="blue"), service("web", app="green")
    view = view_of(before, workload("blue", replicas=2), workload("green", replicas=2))

    impact = impact_of(_updated(before, after), view)

    (changed,) = only(impact, SelectionChanged)
    assert (changed.before, changed.after) == (2, 2)
    assert only(impact, EndpointsLost) == []
    assert only(impact, ServiceEmptied) == []


def test_handing_an_object_to_a_missing_owner_deletes_it() -> None:
    """The collector deletes what has owners and none that exists: a delete in disguise."""
    before = service("checkout")
    after = service("checkout", owners=[owner(thing(BALANCERS, "gone", "prod"))])
    view = view_of(before, workload("checkout"))

    impact = impact_of(_updated(before, after), view)

    assert removed(impact, "services").count == 1


def test_a_definition_counts_its_instances() -> None:
    """The instances go without a review of their own: they are in the definition's impact."""
    instances = [thing(BALANCERS, f"b{n}", "prod") for n in range(50)]
    view = view_of(crd(), instances)

    impact = impact_of(delete(crd()), view)

    tally = removed(impact, str(BALANCERS))
    assert (tally.count, tally.direct, tally.lasting) == (50, 0, 50)


def test_a_terminating_object_is_not_lost_again() -> None:
    """The later reviews of one graceful delete change nothing more."""
    pod = thing(PODS, "p", "prod", deleted=1.0)
    view = view_of(pod)

    assert impact_of(delete(pod), view).effects == ()


def test_an_unknown_type_is_a_doubt_not_an_error() -> None:
    """A delete of something that the model cannot list says so."""
    stranger = thing(DEPLOYMENTS.__class__("x.io", "things"), "t", "prod")

    assert impact_of(delete(stranger), view_of()).doubt


def _updated(before: ClusterObject, after: ClusterObject) -> Request:
    return Request(
        uid="r", operation=Operation.UPDATE, gvr=Gvr("", "v1", SERVICES.plural), gvk=before.gvk,
        namespace="prod", name=before.key.name, user=operator().user, old=before, new=after,
    )  # fmt: skip
