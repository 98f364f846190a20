"""Whose an object is, and what the actor writes of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import (
    BALANCERS,
    START,
    crd,
    delete,
    namespace,
    operator,
    owner,
    service,
    thing,
    view_of,
    workload,
)
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import ForeignWrite
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.names import (
    API_SERVICES,
    AUTOSCALERS,
    CLAIMS,
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    ROLE_BINDINGS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Propagation,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.request import DeleteOptions, Request
from suture.model.selectors import Selector

APPLICATIONS = Resource("argoproj.io", "applications")
PERSON = Actor(UserInfo("jo@example.com"), "jo@example.com", IdentityKind.PERSON, Stage.ENFORCE)
KEEPER = operator("system:serviceaccount:lb-system:lb-manager")
STRANGER = operator("system:serviceaccount:tools:cleaner")


def told(view: GraphView, request: Request, by: Actor) -> list[ForeignWrite]:
    impact = estimate(request, project(request, view), view, by, {"foreign_write"})
    return [one for one in impact.effects if isinstance(one, ForeignWrite)]


def charted(name: str, release: str, resource: Resource, kind: str, space: str = "prod") -> Body:
    annotations = {
        "meta.helm.sh/release-name": release,
        "meta.helm.sh/release-namespace": space,
    }
    where = "" if resource == CLUSTER_ROLE_BINDINGS else space
    made = body(kind, name, where, metadata={"annotations": annotations})
    if resource == CLUSTER_ROLE_BINDINGS:
        made["subjects"] = [{"kind": "ServiceAccount", "namespace": space, "name": "app"}]
    return made


def release(name: str, space: str = "prod") -> Body:
    return body(
        "Secret",
        f"sh.helm.release.v1.{name}.v1",
        space,
        metadata={"labels": {"owner": "helm", "name": name, "status": "deployed"}},
    )


def running_as(account: str, space: str = "prod") -> list[ClusterObject]:
    needs = (Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, space, account)),)
    pod = thing(PODS, f"{account}-1", space, facts=PodFacts(ready=True, node="n"))
    return [
        thing(SERVICE_ACCOUNTS, account, space),
        ClusterObject(key=pod.key, uid=pod.uid, gvk=pod.gvk, facts=pod.facts, needs=needs),
    ]


def test_a_binding_of_another_release_is_deleted() -> None:
    """By who is not seen to work for the release: its pods would lose their rights."""
    binding = trimmed(
        CLUSTER_ROLE_BINDINGS, charted("app", "app", CLUSTER_ROLE_BINDINGS, "ClusterRoleBinding")
    )
    view = view_of(binding, trimmed(SECRETS, release("app")), running_as("app"))

    (found,) = told(view, delete(binding, by=STRANGER), STRANGER)

    assert (found.by, found.what, found.manager_lives) == ("helm", "delete", True)
    assert (found.in_use, found.explained) == (True, False)


def test_a_release_whose_records_are_kept_elsewhere() -> None:
    """It lives as long as the namespace that it is in."""
    kind = "ClusterRoleBinding"
    binding = trimmed(CLUSTER_ROLE_BINDINGS, charted("app", "app", CLUSTER_ROLE_BINDINGS, kind))
    home, none = view_of(binding, namespace("prod")), view_of(binding)

    (there,) = told(home, delete(binding, by=STRANGER), STRANGER)
    (gone,) = told(none, delete(binding, by=STRANGER), STRANGER)

    assert (there.manager_lives, gone.manager_lives) == (True, False)


def test_who_writes_the_release_works_for_it() -> None:
    """An uninstall writes its release first; after that its deletes are its own."""
    binding = trimmed(
        CLUSTER_ROLE_BINDINGS, charted("app", "app", CLUSTER_ROLE_BINDINGS, "ClusterRoleBinding")
    )
    recorded = release("app")
    view = view_of(binding, trimmed(SECRETS, recorded))
    uninstalling = changed(
        recorded, metadata={"labels": {"owner": "helm", "name": "app", "status": "uninstalling"}}
    )
    view.history.habits.note(write(SECRETS, recorded, uninstalling, by=STRANGER))

    assert told(view, delete(binding, by=STRANGER), STRANGER) == []


def test_the_record_of_a_release_at_work_is_deleted() -> None:
    """By who is not seen to work for it: nobody could upgrade the release any more."""
    served = trimmed(SERVICES, charted("app", "app", SERVICES, "Service"))
    served = replace(served, facts=ServiceFacts(Selector.of({"app": "app"})))
    one = trimmed(SECRETS, release("app"))
    view = view_of(one, served, workload("app"))

    (found,) = told(view, delete(one, by=STRANGER), STRANGER)
    assert (found.by, found.what, found.manager_lives) == ("helm", "delete", True)
    assert (found.in_use, found.explained) == (True, False)

    view.history.habits.note(write(SECRETS, None, release("app"), by=STRANGER))
    assert told(view, delete(one, by=STRANGER), STRANGER) == []


def test_the_record_of_a_release_that_leaves_a_claim() -> None:
    """All else of it is gone, and what it was told to keep needs no record."""
    kept = trimmed(CLAIMS, charted("files", "app", CLAIMS, "PersistentVolumeClaim"))
    kept = replace(kept, facts=ClaimFacts(bound=True, volume="pv"))
    one = trimmed(SECRETS, release("app"))
    view = view_of(one, kept, workload("another"))
    assert told(view, delete(one, by=STRANGER), STRANGER) == []


def test_of_two_records_in_force_one_is_trimmed() -> None:
    """Another one of the release stays, which is as good."""
    served = trimmed(SERVICES, charted("app", "app", SERVICES, "Service"))
    served = replace(served, facts=ServiceFacts(Selector.of({"app": "app"})))
    one = trimmed(SECRETS, release("app"))
    other = replace(one, key=ObjectKey(SECRETS, "prod", "sh.helm.release.v1.app.v2"), uid="v2")

    view = view_of(one, other, served, workload("app"))
    assert told(view, delete(one, by=STRANGER), STRANGER) == []


@pytest.mark.parametrize(
    ("status", "mark", "pods"),
    [
        pytest.param("superseded", None, 1, id="past"),
        pytest.param("uninstalling", None, 1, id="uninstalled"),
        pytest.param("deployed", None, 0, id="idle"),
        pytest.param("deployed", "b:/Service:prod/app", 1, id="kept-by-another-too"),
    ],
)
def test_the_record_of_anything_else_is_trimmed(status: str, mark: str | None, pods: int) -> None:
    """What was, what is taken away, what serves nobody, and what has moved to another keeper."""
    chart = charted("app", "app", SERVICES, "Service")
    if mark is not None:
        chart["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = mark
    served = replace(trimmed(SERVICES, chart), facts=ServiceFacts(Selector.of({"app": "app"})))
    labels = {"owner": "helm", "name": "app", "status": status}
    one = trimmed(SECRETS, changed(release("app"), metadata={"labels": labels}))
    view = view_of(one, served, workload("app", replicas=pods))

    assert told(view, delete(one, by=STRANGER), STRANGER) == []


@pytest.mark.parametrize(
    ("marks", "there", "lost"),
    [
        pytest.param(("b:/Service:prod/app",), True, False, id="all that serves"),
        pytest.param(("b:/Service:prod/app", None), True, True, id="one of two"),
        pytest.param(("b:/Service:prod/app",), False, True, id="to one that is gone"),
    ],
)
def test_the_record_of_a_release_that_was_handed_over(
    marks: tuple[str | None, ...], *, there: bool, lost: bool
) -> None:
    """What is left of it alone, rights of its pods, is of use to who keeps what serves."""
    served = []
    for at, mark in enumerate(marks):
        chart = charted("app" if not at else "more", "app", SERVICES, "Service")
        if mark is not None:
            chart["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = mark
        serves = ServiceFacts(Selector.of({"app": "app"}))
        served.append(replace(trimmed(SERVICES, chart), facts=serves))
    binding = trimmed(
        CLUSTER_ROLE_BINDINGS, charted("app", "app", CLUSTER_ROLE_BINDINGS, "ClusterRoleBinding")
    )
    one = trimmed(SECRETS, release("app"))
    keeper = [thing(APPLICATIONS, "b", "argocd")] if there else []
    view = view_of(one, binding, running_as("app"), workload("app"), *served, *keeper)

    assert bool(told(view, delete(one, by=STRANGER), STRANGER)) is lost


@pytest.mark.parametrize(
    ("grown", "by", "policy", "there", "lost"),
    [
        pytest.param(2, PERSON, Propagation.ORPHAN, True, False, id="of all claims"),
        pytest.param(1, PERSON, Propagation.ORPHAN, True, True, id="of one claim"),
        pytest.param(2, KEEPER, Propagation.ORPHAN, True, True, id="by another"),
        pytest.param(2, PERSON, Propagation.BACKGROUND, True, True, id="with its pods"),
        pytest.param(2, PERSON, Propagation.ORPHAN, False, True, id="nobody makes it again"),
    ],
)
def test_a_set_whose_claims_were_made_larger(
    grown: int, by: Actor, policy: Propagation, *, there: bool, lost: bool
) -> None:
    """Who raised them leaves its pods, and what keeps it makes it again, of the new size."""
    marks = {"argocd.argoproj.io/tracking-id": "b:apps/StatefulSet:prod/db"}
    made = trimmed(
        STATEFUL_SETS,
        body("StatefulSet", "db", apiVersion="apps/v1", metadata={"annotations": marks}),
    )
    made = replace(made, facts=WorkloadFacts(2, Selector.of({"app": "db"})))
    claims = [thing(CLAIMS, f"data-db-{at}", "prod") for at in range(2)]
    pods = [
        replace(
            thing(
                PODS, f"db-{at}", "prod", owners=[owner(made)], labels={"app": "db"},
                facts=PodFacts(ready=True, node="n"),
            ),
            needs=(Need(Edge.CLAIM, claim.key),),
        )
        for at, claim in enumerate(claims)
    ]  # fmt: skip
    keeper = [thing(APPLICATIONS, "b", "argocd")] if there else []
    view = view_of(made, claims, pods, service("db"), *keeper)
    for claim in claims[:grown]:
        for shape in (1, 2):
            view.history.writes.note(claim.key, Deed(What.WROTE, by.user.username, shape), START)

    request = delete(made, by=PERSON, options=DeleteOptions(policy))
    impact = estimate(
        request, project(request, view), view, PERSON, {"foreign_write"}, now=START.plus_s(60)
    )
    assert any(isinstance(one, ForeignWrite) for one in impact.effects) is lost


def test_an_application_that_stays_loses_what_is_in_anothers_namespace() -> None:
    """A namespace of one application holds a workload of another one that lives."""
    space = thing(Resource("", "namespaces"), "shared")
    marked = {
        "metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "b:/Service:shared/web"}}
    }
    inside = trimmed(
        SERVICES, body("Service", "web", "shared", metadata=marked["metadata"], spec={})
    )
    first, second = (
        thing(APPLICATIONS, name, "argocd", deleted=gone) for name, gone in (("a", 1.0), ("b", 0.0))
    )
    home = body(
        "Namespace",
        "shared",
        "",
        metadata={
            "annotations": {"argocd.argoproj.io/tracking-id": "a:/Namespace:/shared"},
            "uid": space.uid,
        },
    )
    view = view_of(trimmed(Resource("", "namespaces"), home), inside, first, second)
    syncer = operator("system:serviceaccount:argocd:application-controller")

    (found,) = told(view, delete(trimmed(Resource("", "namespaces"), home), by=syncer), syncer)

    assert (found.target.name, found.by, found.manager_lives) == ("web", "gitops", True)
    assert found.manager.endswith("argocd/b")


def test_an_application_prunes_what_is_its_own() -> None:
    """What lives where the application does keeps what carries its mark."""
    marked = {
        "metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "b:/Service:prod/web"}}
    }
    pruned = trimmed(SERVICES, body("Service", "web", metadata=marked["metadata"], spec={}))
    view = view_of(pruned, thing(APPLICATIONS, "b", "argocd"))
    syncer = operator("system:serviceaccount:argocd:application-controller")

    assert told(view, delete(pruned, by=syncer), syncer) == []
    assert len(told(view, delete(pruned, by=STRANGER), STRANGER)) == 1


def test_what_serves_tells_of_the_application_that_loses_what_goes_along() -> None:
    """Whatever else of it goes too, in any order: it is in use; without what serves it is not."""
    made = workload("web", replicas=2)
    kept = [
        ClusterObject(
            key=one.key,
            uid=one.uid,
            gvk=one.gvk,
            labels=one.labels,
            owners=one.owners,
            facts=one.facts,
            needs=(*one.needs, Need(Edge.MANAGED_BY, ObjectKey(APPLICATIONS, "argocd", "b"))),
        )
        for one in (thing(CONFIG_MAPS, "settings", "prod"), made[0])
    ]
    space = thing(Resource("", "namespaces"), "prod")
    rest = (space, thing(APPLICATIONS, "b", "argocd"), kept[0])

    (found,) = told(view_of(*rest, kept[1], *made[1:]), delete(space, by=STRANGER), STRANGER)
    assert (found.target.resource, found.in_use, found.by) == ("deployments", True, "gitops")
    (found,) = told(view_of(*rest), delete(space, by=STRANGER), STRANGER)
    assert (found.target.resource, found.in_use) == ("configmaps", False)


def test_a_size_that_an_autoscaler_keeps() -> None:
    """An apply that resets the replicas writes what the autoscaler keeps; other templates do not."""
    made = workload("web", replicas=4)
    target = Need(Edge.SCALES, made[0].key)
    scaler = thing(AUTOSCALERS, "web", "prod", facts=AutoscalerFacts(2, 8))
    scaler = ClusterObject(
        key=scaler.key, uid=scaler.uid, gvk=scaler.gvk, facts=scaler.facts, needs=(target,)
    )

    def deployment(size: int) -> Body:
        spec = {"replicas": size, "selector": {"matchLabels": {"app": "web"}}}
        return body(
            "Deployment", "web", apiVersion="apps/v1", metadata={"uid": made[0].uid}, spec=spec
        )

    view = view_of(made, scaler)

    (found,) = told(view, write(DEPLOYMENTS, deployment(4), deployment(1), by=STRANGER), STRANGER)

    assert (found.what, found.by, found.in_use) == ("scale", "controller", True)
    assert told(view, write(DEPLOYMENTS, deployment(4), deployment(4), by=STRANGER), STRANGER) == []


def test_a_child_of_a_kind_whose_keeper_is_known() -> None:
    """Who writes the status of a kind keeps what it owns; another one is a stranger."""
    parent = thing(BALANCERS, "front", "prod")
    child = service("front", owners=[owner(parent)])
    view = view_of(crd(), parent, child)

    assert told(view, delete(child, by=STRANGER), STRANGER) == []
    status = body("Balancer", "front", apiVersion="lb.example.com/v1")
    view.history.habits.note(write(BALANCERS, status, status, subresource="status", by=KEEPER))

    assert told(view, delete(child, by=KEEPER), KEEPER) == []
    (found,) = told(view, delete(child, by=STRANGER), STRANGER)
    assert (found.by, found.what, found.manager_lives) == ("controller", "delete", True)
    assert len(told(view, delete(child, by=PERSON), PERSON)) == 1


def test_a_child_whose_parent_does_not_call_itself_its_controller() -> None:
    """It is kept by who runs the parent's kind all the same; of two parents by either's."""
    parent, other = thing(BALANCERS, "front", "prod"), thing(APPLICATIONS, "shop", "prod")
    child = service("front", owners=[owner(parent, controller=False)])
    shared = service("both", owners=[owner(one, controller=False) for one in (parent, other)])
    view = view_of(crd(), parent, other, child, shared)
    status = body("Balancer", "front", apiVersion="lb.example.com/v1")
    view.history.habits.note(write(BALANCERS, status, status, subresource="status", by=KEEPER))

    assert told(view, delete(child, by=KEEPER), KEEPER) == []
    (found,) = told(view, delete(child, by=STRANGER), STRANGER)
    assert (found.by, found.manager_lives) == ("controller", True)
    assert told(view, delete(shared, by=STRANGER), STRANGER) == []


@pytest.mark.parametrize(
    ("runs_as", "kind", "strange"),
    [
        pytest.param("lb-manager", DEPLOYMENTS, 0, id="the actor's own"),
        pytest.param("web", DEPLOYMENTS, 1, id="another's"),
        pytest.param("default", DEPLOYMENTS, 1, id="nobody's own"),
        pytest.param("lb-manager", STATEFUL_SETS, 1, id="a set, which has makes of its own"),
    ],
)
def test_what_an_operator_hangs_on_its_own_deployment(
    runs_as: str, kind: Resource, strange: int
) -> None:
    """It goes with that one, and until then who runs there is what keeps it."""
    account = ObjectKey(SERVICE_ACCOUNTS, "lb-system", runs_as)
    parent = replace(thing(kind, "lb", "lb-system"), needs=(Need(Edge.SERVICE_ACCOUNT, account),))
    child = service("front", "lb-system", owners=[owner(parent)])
    view = view_of(parent, child, thing(SERVICE_ACCOUNTS, runs_as, "lb-system"))
    by = operator(f"system:serviceaccount:lb-system:{runs_as}") if runs_as == "default" else KEEPER

    assert len(told(view, delete(child, by=by), by)) == strange
    assert len(told(view, delete(child, by=STRANGER), STRANGER)) == 1


def test_a_part_of_a_release_that_something_else_owns_as_well() -> None:
    """What groups the objects of a release owns them; they are deleted by the release all the same.

    The labels of an application are found on what its resources made, too: those are theirs.
    """
    parent = thing(BALANCERS, "front", "prod")
    status = body("Balancer", "front", apiVersion="lb.example.com/v1")
    reference = {**reference_to(parent), "apiVersion": "lb.example.com/v1"}
    charts = charted("web", "app", SERVICES, "Service")
    charts["metadata"]["ownerReferences"] = [reference]
    labels = {
        "kustomize.toolkit.fluxcd.io/name": "apps",
        "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    }
    copied = body("Service", "api", "prod", metadata={"labels": labels})
    copied["metadata"]["ownerReferences"] = [reference]
    one, two = trimmed(SERVICES, charts), trimmed(SERVICES, copied)
    view = view_of(crd(), parent, one, two)
    view.history.habits.note(write(BALANCERS, status, status, subresource="status", by=KEEPER))
    view.history.habits.note(write(SECRETS, None, release("app"), by=STRANGER))
    view.history.habits.note(write(SERVICES, None, copied, by=STRANGER))

    assert told(view, delete(one, by=STRANGER), STRANGER) == []
    (found,) = told(view, delete(two, by=STRANGER), STRANGER)
    assert (found.by, found.manager_lives) == ("controller", True)


@pytest.mark.parametrize(
    ("subject", "labels", "kept", "told_of"),
    [
        pytest.param("Group", {}, "flux", True, id="a group"),
        pytest.param("User", {}, "flux", True, id="a person"),
        pytest.param("ServiceAccount", {}, "flux", False, id="an account as which nothing runs"),
        pytest.param("Group", {}, "helm", False, id="of a release, which may go"),
        pytest.param(
            "Group", {"hnc.example.com/inherited-from": "team"}, "flux", False, id="a copy"
        ),
    ],
)
def test_a_binding_that_gives_people_rights(
    subject: str, labels: dict[str, str], kept: str, *, told_of: bool
) -> None:
    """Nobody sees them at work: who is not their keeper takes rights from whoever has them."""
    if kept == "helm":
        one = charted("team", "app", ROLE_BINDINGS, "RoleBinding")
    else:
        flux = "kustomize.toolkit.fluxcd.io"
        marks = {f"{flux}/name": "apps", f"{flux}/namespace": "flux-system", **labels}
        one = body("RoleBinding", "team", metadata={"labels": marks})
    one["subjects"] = [{"kind": subject, "name": "team", "namespace": "prod"}]
    binding = trimmed(ROLE_BINDINGS, one)
    kustomization = thing(
        Resource("kustomize.toolkit.fluxcd.io", "kustomizations"), "apps", "flux-system"
    )
    view = view_of(binding, kustomization, trimmed(SECRETS, release("app")))

    (found,) = told(view, delete(binding, by=STRANGER), STRANGER)
    assert (found.manager_lives, found.in_use) == (True, told_of)


def test_a_child_whose_parent_is_going() -> None:
    """The manager does not live: whoever clears up after it takes nothing from it."""
    parent = replace(thing(BALANCERS, "front", "prod"), deleted=1.0)
    child = service("front", owners=[owner(parent, controller=False)])
    view = view_of(crd(), parent, child)

    (found,) = told(view, delete(child, by=PERSON), PERSON)

    assert (found.by, found.manager_lives) == ("controller", False)


def test_what_another_identity_made() -> None:
    """Its creation was let through to somebody else; the creator itself is no stranger."""
    made = service("web")
    view = view_of(made, workload("web"))
    view.history.note_created(made.uid, KEEPER.user.username, "keeper", made.key, START)

    (found,) = told(view, delete(made, by=STRANGER), STRANGER)

    assert (found.by, found.manager_lives, found.in_use) == ("creator", False, True)
    assert told(view, delete(made, by=KEEPER), KEEPER) == []


def test_a_secret_that_another_takes_over() -> None:
    """A first write by a new manager that wipes keys and adds an owner is told of twice."""
    metadata = {"managedFields": [{"manager": "server"}]}
    old = body("Secret", "shared", metadata=metadata, data={"a": "MQ==", "b": "Mg=="})
    parent = thing(BALANCERS, "sync", "prod")
    reference = {
        "apiVersion": "lb.example.com/v1",
        "kind": "Balancer",
        "name": "sync",
        "uid": parent.uid,
    }
    both = [{"manager": "server"}, {"manager": "sync"}]
    new = changed(
        old, metadata={"managedFields": both, "ownerReferences": [reference]}, data={"a": "MQ=="}
    )
    view = view_of(trimmed(SECRETS, old), parent)

    found = told(view, write(SECRETS, old, new, by=STRANGER), STRANGER)

    assert [(one.what, one.by, one.manager) for one in found] == [
        ("owners", "field-manager", "server"),
        ("spec", "field-manager", "server"),
    ]


def test_who_has_written_before_is_no_newcomer() -> None:
    """A reconcile by one of the managers changes the spec as ever: nothing is told."""
    metadata = {"managedFields": [{"manager": "helm"}, {"manager": "reloader"}]}
    old = body("ConfigMap", "settings", metadata=metadata, data={"a": "1"})
    view = view_of(trimmed(CONFIG_MAPS, old))

    assert told(view, write(CONFIG_MAPS, old, changed(old, data={"a": "2"})), STRANGER) == []


@pytest.mark.parametrize(
    ("tool", "release", "what"),
    [("helm", "shop", []), ("kubectl", "shop", ["selector"]), ("helm", "other", ["selector"])],
)
def test_a_release_is_upgraded_by_its_tool(tool: str, release: str, what: list[str]) -> None:
    """By whatever account: what keeps releases writes it, and no other release takes it over."""
    old = charted("web", "shop", SERVICES, "Service") | {"spec": {"selector": {"app": "old"}}}
    old["metadata"]["managedFields"] = [{"manager": "installer"}]
    new = charted("web", release, SERVICES, "Service") | {"spec": {"selector": {"app": "new"}}}
    new["metadata"]["managedFields"] = [{"manager": "installer"}, {"manager": tool}]
    view = view_of(trimmed(SERVICES, old), namespace("prod"))

    found = told(view, write(SERVICES, old, new, by=STRANGER), STRANGER)

    assert [one.what for one in found if one.by == "helm"] == what


def test_pods_that_come_back_are_nobodys_loss() -> None:
    """Deleting a pod of a ReplicaSet is no foreign write: what keeps it makes another."""
    things = workload("web", replicas=2)
    view = view_of(things, namespace("prod"))
    pod = next(one for one in things if one.key.resource == PODS)

    assert told(view, delete(pod, by=STRANGER), STRANGER) == []


def reference_to(parent: ClusterObject) -> Body:
    kind = {"apiVersion": f"{parent.gvk.group}/v1", "kind": parent.gvk.kind}
    return {**kind, "name": parent.key.name, "uid": parent.uid}


def test_who_is_asked_to_look_after_an_object_adopts_it() -> None:
    """A first owner for what had none, and nothing else written: an adoption, no hand-over."""
    metadata = {"managedFields": [{"manager": "kubectl"}]}
    old = body("Secret", "shared", metadata=metadata, data={"a": "MQ=="})
    parent = thing(BALANCERS, "front", "prod")
    both = [{"manager": "kubectl"}, {"manager": "manager"}]
    owned = {"managedFields": both, "ownerReferences": [reference_to(parent)]}
    view = view_of(trimmed(SECRETS, old), parent)

    (found,) = told(view, write(SECRETS, old, changed(old, metadata=owned)), STRANGER)

    assert (found.what, found.manager_lives) == ("adoption", False)


@pytest.mark.parametrize(
    ("by", "more", "explained"),
    [
        pytest.param(PERSON, {}, True, id="a person"),
        pytest.param(STRANGER, {}, False, id="a machine"),
        pytest.param(PERSON, {"data": {"a": "Mg=="}}, False, id="who writes it too"),
    ],
)
def test_a_person_saves_what_would_go_with_its_owner(
    by: Actor, more: Body, *, explained: bool
) -> None:
    """The owners come off and nothing else is written: less goes along with anything."""
    parent = thing(BALANCERS, "front", "prod")
    first = [{"manager": "manager"}]
    owned = {"managedFields": first, "ownerReferences": [reference_to(parent)]}
    old = body("Secret", "keys", metadata=owned, data={"a": "MQ=="})
    both = [*first, {"manager": "kubectl"}]
    free = changed(old, metadata={"managedFields": both, "ownerReferences": []}, **more)
    view = view_of(trimmed(SECRETS, old), parent)

    found = told(view, write(SECRETS, old, free, by=by), by)

    assert [one.explained for one in found if one.what == "owners"] == [explained]


def test_an_owner_in_the_place_of_another_saves_nothing() -> None:
    parents = [thing(BALANCERS, name, "prod") for name in ("front", "back")]
    first = [{"manager": "manager"}]
    old, new = (
        body(
            "Secret", "keys", metadata={"managedFields": by, "ownerReferences": [reference_to(one)]}
        )
        for one, by in zip(parents, (first, [*first, {"manager": "kubectl"}]), strict=True)
    )
    view = view_of(trimmed(SECRETS, old), *parents)

    found = told(view, write(SECRETS, old, new, by=PERSON), PERSON)

    assert [one.explained for one in found if one.what == "owners"] == [False]


def test_an_autoscaler_may_be_looked_after_by_another() -> None:
    """What it sizes by is for that one to say; what takes it from an owner still takes it."""
    scaled = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 8}
    metadata = {"managedFields": [{"manager": "helm"}]}
    old = body("HorizontalPodAutoscaler", "web", metadata=metadata, spec=scaled)
    parents = [thing(BALANCERS, name, "prod") for name in ("front", "back")]
    both = [{"manager": "helm"}, {"manager": "manager"}]
    first, second = (
        {"managedFields": both, "ownerReferences": [reference_to(one)]} for one in parents
    )
    more = {**scaled, "maxReplicas": 9}
    taken = changed(old, metadata=first, spec=more)
    view = view_of(trimmed(AUTOSCALERS, old), *parents)

    found = told(view, write(AUTOSCALERS, old, taken), STRANGER)
    assert {one.what for one in found} == {"adoption", "spec"}

    apart = changed(taken, metadata={**second, "managedFields": [*both, {"manager": "third"}]})
    found = told(
        view_of(trimmed(AUTOSCALERS, taken), *parents), write(AUTOSCALERS, taken, apart), STRANGER
    )
    assert "owners" in {one.what for one in found}


def test_who_wrote_it_lives_beside_it() -> None:
    """A workload of the writer's name in the same namespace: the manager is there."""
    metadata = {"managedFields": [{"manager": "web"}]}
    old = body("ConfigMap", "settings", metadata=metadata, data={"a": "1"})
    both = {"managedFields": [{"manager": "web"}, {"manager": "other"}]}
    view = view_of(trimmed(CONFIG_MAPS, old), workload("web"))

    (found,) = told(view, write(CONFIG_MAPS, old, changed(old, metadata=both, data={})), STRANGER)

    assert (found.what, found.manager_lives) == ("spec", True)


@pytest.mark.parametrize(
    ("account", "running", "lives"),
    [
        pytest.param("console", True, True, id="its own pods run"),
        pytest.param("console", False, False, id="nothing runs as it"),
        pytest.param("other", True, False, id="another runs"),
    ],
)
def test_who_wrote_it_last_runs_beside_it(account: str, *, running: bool, lives: bool) -> None:
    """By whatever name it writes: a Secret that a console fills for itself is the console's."""
    old = body("Secret", "console", metadata={"managedFields": [{"manager": "tool"}]}, data={})
    both = {"managedFields": [{"manager": "tool"}, {"manager": "other"}]}
    beside = running_as(account)
    view = view_of(trimmed(SECRETS, old), beside if running else beside[:1])
    writer = "system:serviceaccount:prod:console"
    view.history.writes.note(trimmed(SECRETS, old).key, Deed(What.WROTE, writer, 1), START)

    request = write(SECRETS, old, changed(old, metadata=both, data={"a": "MQ=="}))
    impact = estimate(request, project(request, view), view, STRANGER, {"foreign_write"}, now=START)
    (found,) = impact.effects

    assert isinstance(found, ForeignWrite)
    assert (found.what, found.manager_lives) == ("spec", lives)


def test_a_selector_that_a_delivery_was_asked_to_turn() -> None:
    """A custom resource names the Service: whoever may run its kind was asked to write it."""
    marks = charted("web", "web", SERVICES, "Service")
    old = {**marks, "spec": {"selector": {"app": "blue"}}}
    new = {**marks, "spec": {"selector": {"app": "green"}}}
    delivery = thing(BALANCERS, "web", "prod")
    need = Need(Edge.RULE, ObjectKey(SERVICES, "prod", "web"))
    delivery = ClusterObject(key=delivery.key, uid=delivery.uid, gvk=delivery.gvk, needs=(need,))
    things = [crd(), trimmed(SERVICES, old), trimmed(SECRETS, release("web"))]

    (asked,) = told(view_of(things, delivery), write(SERVICES, old, new), STRANGER)
    (alone,) = told(view_of(things), write(SERVICES, old, new), STRANGER)

    assert (asked.what, asked.by, asked.explained) == ("selector", "helm", True)
    assert (alone.explained, alone.manager_lives) == (False, True)


@pytest.mark.parametrize(
    ("group", "reads", "taken"),
    [
        pytest.param("external.metrics.k8s.io", (), False, id="no autoscaler goes by it"),
        pytest.param("external.metrics.k8s.io", ("external.metrics.k8s.io",), True, id="one does"),
        pytest.param("metrics.k8s.io", (), True, id="others ask it too"),
    ],
)
def test_an_api_for_autoscalers_that_none_goes_by(
    group: str, reads: tuple[str, ...], *, taken: bool
) -> None:
    """Whose it is by its release, another may answer for: nobody asks."""
    marks = charted("adapter", f"v1.{group}", API_SERVICES, "APIService")
    spec = {"group": group, "version": "v1"}
    old = {**marks, "spec": {**spec, "service": {"name": "adapter", "namespace": "prod"}}}
    new = {**marks, "spec": {**spec, "service": {"name": "other", "namespace": "prod"}}}
    need = Need(Edge.SCALES, ObjectKey(DEPLOYMENTS, "prod", "web"))
    scaler = thing(AUTOSCALERS, "web", "prod", facts=AutoscalerFacts(1, 9, reads=reads))
    scaler = replace(scaler, needs=(need,))
    things = [trimmed(API_SERVICES, old), trimmed(SECRETS, release("adapter")), scaler]
    view = view_of(things, workload("web"), workload("adapter"), service("adapter"))

    found = told(view, write(API_SERVICES, old, new), STRANGER)

    assert ("selector" in [one.what for one in found]) is taken


def test_a_selector_that_a_part_of_the_release_moves() -> None:
    """Who fails a database over runs as an account that its release brought."""
    marks = charted("db", "db", SERVICES, "Service")
    old = {**marks, "spec": {"selector": {"app": "db", "pod": "db-0"}}}
    new = {**marks, "spec": {"selector": {"app": "db", "pod": "db-1"}}}
    things = [trimmed(SERVICES, old), trimmed(SECRETS, release("db"))]
    updater = operator("system:serviceaccount:prod:db")
    own = trimmed(SERVICE_ACCOUNTS, charted("db", "db", SERVICE_ACCOUNTS, "ServiceAccount"))
    other = trimmed(SERVICE_ACCOUNTS, charted("db", "web", SERVICE_ACCOUNTS, "ServiceAccount"))

    for account, explained in ((own, True), (other, False)):
        (found,) = told(view_of(things, account), write(SERVICES, old, new, by=updater), updater)
        assert (found.what, found.by, found.explained) == ("selector", "helm", explained)


@pytest.mark.parametrize(
    ("account", "release_of_set", "explained"),
    [
        pytest.param("db-failover", "db", True, id="its members run as it"),
        pytest.param("other", "db", False, id="they run as another"),
        pytest.param("default", "db", False, id="as whatever says nothing"),
        pytest.param("db-failover", "web", False, id="to pods of another release"),
    ],
)
def test_a_selector_that_a_member_moves(
    account: str, release_of_set: str, *, explained: bool
) -> None:
    """Nobody marks the account as the release's, but the members of its set run as that."""
    marks = charted("db", "db", SERVICES, "Service")
    old = {**marks, "spec": {"selector": {"pod": "db-0"}}}
    new = {**marks, "spec": {"selector": {"pod": "db-1"}}}
    kept = trimmed(STATEFUL_SETS, charted("db", release_of_set, STATEFUL_SETS, "StatefulSet"))
    runs_as = ObjectKey(
        SERVICE_ACCOUNTS, "prod", "default" if account == "default" else "db-failover"
    )
    pod = thing(
        PODS, "db-1", "prod", labels={"pod": "db-1"}, owners=[owner(kept)],
        facts=PodFacts(ready=True, node="n"),
    )  # fmt: skip
    pod = replace(pod, needs=(Need(Edge.SERVICE_ACCOUNT, runs_as),))
    accounts = [thing(SERVICE_ACCOUNTS, one, "prod") for one in ("db-failover", "other", "default")]
    view = view_of(trimmed(SERVICES, old), trimmed(SECRETS, release("db")), kept, pod, accounts)
    mover = operator(f"system:serviceaccount:prod:{account}")
    (found,) = told(view, write(SERVICES, old, new, by=mover), mover)
    assert (found.what, found.by, found.explained) == ("selector", "helm", explained)


SETS = Resource("db.example.com", "sets")


@pytest.mark.parametrize(
    ("mover", "kind", "app", "refused"),
    [
        pytest.param("prod:db", STATEFUL_SETS, "db", True, id="members of a set"),
        pytest.param("prod:db", SETS, "db", True, id="members of a custom resource"),
        pytest.param("prod:db", REPLICA_SETS, "db", False, id="pods that are all alike"),
        pytest.param("ci:deployer", STATEFUL_SETS, "db", False, id="moved by itself"),
        pytest.param("ci:other", STATEFUL_SETS, "db", False, id="by another who deploys it"),
        pytest.param("", STATEFUL_SETS, "db", False, id="by nobody that is known"),
        pytest.param("prod:db", STATEFUL_SETS, "web", False, id="to another set"),
    ],
)
def test_a_release_turns_its_service_back(
    mover: str, kind: Resource, app: str, *, refused: bool
) -> None:
    """Another has moved it from one member to the next, and there the primary is."""
    marks = charted("db", "db", SERVICES, "Service")
    old = {**marks, "spec": {"selector": {"pod": "db-1"}}}
    new = {**marks, "spec": {"selector": {"pod": "db-0"}}}
    parents = [thing(kind, name, "prod") for name in ("db", "web")]
    pods = [
        thing(
            PODS, f"{of}-{number}", "prod", labels={"pod": f"db-{number}"},
            owners=[owner(parents[of == "web"])], facts=PodFacts(ready=True, node="n"),
        )
        for number, of in ((0, app), (1, "db"))
    ]  # fmt: skip
    view = view_of(trimmed(SERVICES, old), trimmed(SECRETS, release("db")), parents, pods)
    deployer = operator("system:serviceaccount:ci:deployer")
    for one in (deployer, operator("system:serviceaccount:ci:other")):
        view.history.habits.note(write(SECRETS, None, release("db"), by=one))
    if mover:
        moved = Deed(What.WROTE, f"system:serviceaccount:{mover}", 1)
        view.history.writes.note(ObjectKey(SERVICES, "prod", "db"), moved, START)
    request = write(SERVICES, old, new, by=deployer)
    impact = estimate(
        request, project(request, view), view, deployer, {"foreign_write"}, now=START.plus_s(86400)
    )
    found = [(one.what, one.by) for one in impact.effects if isinstance(one, ForeignWrite)]
    assert found == ([("selector", "field-manager")] if refused else [])


@pytest.mark.parametrize(("manager", "refused"), [("helm", True), ("edit", False)])
def test_a_tool_that_nobody_has_seen_turns_a_service_back(manager: str, *, refused: bool) -> None:
    """Whoever upgrades a release for the first time, by that tool; a person's own edit is theirs."""
    marks = charted("db", "db", SERVICES, "Service")
    fields = [{"manager": "mover"}]
    old = {**marks, "spec": {"selector": {"pod": "db-1"}}}
    old = changed(old, metadata={**old["metadata"], "managedFields": fields})
    new = changed(
        old,
        metadata={**old["metadata"], "managedFields": [*fields, {"manager": manager}]},
        spec={"selector": {"pod": "db-0"}},
    )
    parent = thing(STATEFUL_SETS, "db", "prod")
    pods = [
        thing(
            PODS, f"db-{number}", "prod", labels={"pod": f"db-{number}"}, owners=[owner(parent)],
            facts=PodFacts(ready=True, node="n"),
        )
        for number in (0, 1)
    ]  # fmt: skip
    view = view_of(trimmed(SERVICES, old), trimmed(SECRETS, release("db")), parent, pods)
    moved = Deed(What.WROTE, "system:serviceaccount:prod:operator", 1)
    view.history.writes.note(ObjectKey(SERVICES, "prod", "db"), moved, START)
    request = write(SERVICES, old, new, by=STRANGER)
    impact = estimate(
        request, project(request, view), view, STRANGER, {"foreign_write"}, now=START.plus_s(86400)
    )
    found = {(one.what, one.by) for one in impact.effects if isinstance(one, ForeignWrite)}
    assert (("selector", "field-manager") in found) is refused


def metrics_api(service: str, space: str, manager: str = "adapter") -> Body:
    kept = charted("v1.metrics.example.com", "adapter", CLUSTER_ROLE_BINDINGS, "APIService")
    kept.pop("subjects")
    kept["metadata"]["managedFields"] = [{"manager": manager}]
    spec = {
        "group": "metrics.example.com", "version": "v1",
        "service": {"name": service, "namespace": space},
    }  # fmt: skip
    return {**kept, "apiVersion": "apiregistration.k8s.io/v1", "spec": spec}


def led(before: Body, after: Body, *things: ClusterObject) -> list[str]:
    """Return what a stranger writes of an API that a release's adapter serves."""
    view = view_of(
        namespace("prod"), trimmed(API_SERVICES, before), service("adapter"), *things,
        workload("other", "other"), service("other", "other"),
    )  # fmt: skip
    found = told(view, write(API_SERVICES, before, after, by=STRANGER), STRANGER)
    assert all((one.by, one.manager_lives) == ("helm", True) for one in found)
    return [one.what for one in found]


def test_an_api_of_one_release_is_led_to_the_backend_of_another() -> None:
    """Where the release's own backend answers; who points it there chooses anew, as a selector."""
    old, new = metrics_api("adapter", "prod"), metrics_api("other", "other", "apply")

    assert led(old, new, *workload("adapter")) == ["spec", "selector"]


def test_an_api_that_nobody_loses() -> None:
    """Its backend is gone; it stays with it; or it is led to another part of the same release."""
    old, new = metrics_api("adapter", "prod"), metrics_api("other", "other", "apply")
    assert led(old, new) == ["spec"]
    same = metrics_api("adapter", "prod", "apply")
    assert "selector" not in led(old, changed(same, spec={**same["spec"], "versionPriority": 5}))
    own = trimmed(SERVICES, charted("second", "adapter", SERVICES, "Service"))
    second = metrics_api("second", "prod", "apply")
    assert led(old, second, *workload("adapter"), own) == ["spec"]
