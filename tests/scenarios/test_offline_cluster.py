"""The predicted cluster behaves as a real one does, as far as scenarios can tell."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import pytest

from suture.errors import (
    AlreadyExistsError,
    ApiConflictError,
    ApiError,
    ApiUnavailableError,
    ForbiddenError,
    NotFoundError,
    TooManyRequestsError,
)
from suture.impact.project import project
from suture.lab.scenarios.cluster import Cluster, Object
from suture.lab.scenarios.offline.client import OfflineClient
from suture.lab.scenarios.offline.defaults import defaulted, filled
from suture.lab.scenarios.offline.loop import run_jumping
from suture.lab.scenarios.offline.nulls import without_nulls
from suture.lab.scenarios.offline.place import Offline
from suture.lab.scenarios.populate import populate
from suture.lab.scenarios.shapes import SHAPES
from suture.lab.scenarios.world import World
from suture.model.actor import UserInfo
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    Gvk,
    ObjectKey,
    Operation,
    Propagation,
    Resource,
)
from suture.model.request import DeleteOptions, Request

PODS_OF = "/api/v1/namespaces/shop/pods"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web-0"

Body = Callable[[Offline, OfflineClient], Awaitable[None]]


def on_a_cluster(body: Body, *shapes: dict[str, Any]) -> None:
    """Run a test on a predicted cluster with these shapes in it."""

    async def main() -> None:
        place = Offline()
        async with place.reached() as cluster:
            await furnished(cluster, *shapes)
            await body(place, OfflineClient(place.server))

    run_jumping(main())


async def furnished(cluster: Cluster, *shapes: dict[str, Any]) -> None:
    """Build shapes as a scenario does."""

    async def as_they_are(things: Any) -> Any:
        return things

    objects: list[Object] = []
    for one in shapes:
        parameters = {key: value for key, value in one.items() if key != "shape"}
        objects += SHAPES[one["shape"]](**parameters).objects()
    await populate(cluster, World("test", "run"), objects, (), as_they_are)


def web(replicas: int = 3, **more: Any) -> dict[str, Any]:
    """Return the shape of a Deployment web-0 with a Service in namespace shop."""
    return {
        "shape": "services-with-deployments",
        "count": 1,
        "namespaces": ("shop",),
        "prefix": "web",
        "replicas": replicas,
        **more,
    }


def predicted(place: Offline, key: ObjectKey, propagation: Propagation | None = None) -> set[str]:
    """Return the uids that `impact` says would go with the delete of an object."""
    view = GraphView(place.store.graph)
    resource = key.resource
    request = Request(
        uid="",
        operation=Operation.DELETE,
        gvr=place.store.apis[resource].gvr,
        gvk=Gvk("", "", ""),
        namespace=key.namespace,
        name=key.name,
        user=UserInfo("somebody"),
        options=DeleteOptions(propagation=propagation),
    )
    return {view.at(row).uid for row in project(request, view).removed}


@pytest.mark.parametrize(
    ("key", "path"),
    [
        pytest.param(ObjectKey(DEPLOYMENTS, "shop", "web-0"), WEB, id="deployment"),
        pytest.param(ObjectKey(NAMESPACES, "", "shop"), "/api/v1/namespaces/shop", id="namespace"),
        pytest.param(
            ObjectKey(
                Resource("apiextensions.k8s.io", "customresourcedefinitions"),
                "",
                "widgets.widgets.example.com",
            ),
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.widgets.example.com",
            id="definition",
        ),
    ],
)
def test_what_goes_is_what_impact_predicts(key: ObjectKey, path: str) -> None:
    """The controllers remove one by one what the projection of the delete names at once."""

    async def body(place: Offline, client: OfflineClient) -> None:
        wanted = predicted(place, key)
        before = {one.uid for one in place.store}

        await client.delete(path)

        assert len(wanted) > 3
        assert before - {one.uid for one in place.store} == wanted

    instances = {"shape": "crd-with-instances", "count": 4, "children": "secrets"}
    on_a_cluster(body, web(), instances)


def test_dependents_can_be_left_behind() -> None:
    """Orphaned, a ReplicaSet stays with its pods and without its owner."""

    async def body(place: Offline, client: OfflineClient) -> None:
        await client.delete(WEB, propagation_policy=Propagation.ORPHAN)

        (left,) = place.store.all(REPLICA_SETS)
        assert left.seen.owners == ()
        assert place.store.count(PODS) == 3

    on_a_cluster(body, web())


def test_in_the_foreground_the_owner_goes_last() -> None:
    """It is gone only after what blocks it; nothing of it is left."""

    async def body(place: Offline, client: OfflineClient) -> None:
        gone: list[str] = []
        place.store.observers.append(
            lambda before, after: gone.append(before.body["kind"]) if before and not after else None
        )
        await client.delete(WEB, propagation_policy=Propagation.FOREGROUND)

        assert [kind for kind in gone if kind != "EndpointSlice"] == [
            "Pod",
            "Pod",
            "Pod",
            "ReplicaSet",
            "Deployment",
        ]

    on_a_cluster(body, web())


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ({"metadata": {"finalizers": None}}, "merge"),
        ([{"op": "replace", "path": "/metadata/finalizers", "value": None}], "json"),
    ],
)
def test_a_finalizer_keeps_an_object_and_what_it_owns(
    patch: Any, kind: Literal["merge", "json"]
) -> None:
    """Until it is lifted, by an update, which then is the deletion."""

    async def body(place: Offline, client: OfflineClient) -> None:
        path = "/apis/balancers.example.com/v1/namespaces/edge/loadbalancers/balancer-0"
        await client.delete(path)
        assert "deletionTimestamp" in (await client.get(path))["metadata"]
        assert len(place.store.all(SERVICES, "edge")) == 2

        await client.patch(path, patch, type=kind)

        with pytest.raises(NotFoundError):
            await client.get(path)
        assert place.store.all(SERVICES, "edge") == []

    on_a_cluster(body, {"shape": "owned", "children_each": 2, "namespaces": ("edge",)})


@pytest.mark.parametrize("replicas", [1, 7, 100])
def test_a_rollout_replaces_every_pod_and_empties_no_service(replicas: int) -> None:
    """Within surge and unavailability, and the Service has endpoints all along."""

    async def body(place: Offline, client: OfflineClient) -> None:
        before = {one.uid for one in place.store.all(PODS)}
        row = place.store.graph.row(ObjectKey(SERVICES, "shop", "web-0"))
        assert row is not None
        fewest = replicas

        def looked(_before: Any, after: Any) -> None:
            nonlocal fewest
            if after is not None and after.key.resource == PODS:
                fewest = min(fewest, len(place.store.view.ready_endpoints(row)))

        place.store.observers.append(looked)
        change = {"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "b"}]}}}}
        await client.patch(WEB, change, type="strategic")

        after = {one.uid for one in place.store.all(PODS)}
        assert len(after) == replicas
        assert not before & after
        assert fewest >= replicas - replicas // 4
        status = (await client.get(WEB))["status"]
        assert (status["updatedReplicas"], status["readyReplicas"]) == (replicas, replicas)

    on_a_cluster(body, web(replicas))


def test_a_scale_changes_the_number_of_pods() -> None:
    """Up and down, through the subresource."""

    async def body(place: Offline, client: OfflineClient) -> None:
        for wanted in (5, 0, 2):
            body = {"spec": {"replicas": wanted}}
            answer = await client.patch(f"{WEB}/scale", body, type="merge")
            assert answer["kind"] == "Scale"
            assert place.store.count(PODS) == wanted

    on_a_cluster(body, web())


def test_a_lost_pod_comes_back_under_another_uid() -> None:
    """Its maker brings it back; a bare one stays away."""

    async def body(place: Offline, client: OfflineClient) -> None:
        before = {one.uid for one in place.store.all(PODS)}

        for pod in place.store.all(PODS):
            await client.delete(f"/api/v1/namespaces/{pod.key.namespace}/pods/{pod.key.name}")

        after = place.store.all(PODS)
        assert sorted(one.key.name.partition("-")[0] for one in after) == ["db", "db", "db", "web"]
        assert not before & {one.uid for one in after}

    on_a_cluster(
        body,
        web(1),
        {"shape": "statefulsets", "namespaces": ("shop",)},
        {"shape": "pods", "count": 2, "namespaces": ("shop",)},
    )


def test_a_dead_fail_closed_webhook_stops_pods() -> None:
    """Those that people create, and those that controllers want: the second wave."""

    async def body(place: Offline, client: OfflineClient) -> None:
        await client.delete("/api/v1/namespaces/gate-system/services/gate")

        with pytest.raises(ApiUnavailableError, match="failed calling webhook"):
            await client.create(PODS_OF, {"metadata": {"name": "one"}, "spec": {"containers": []}})
        (pod, *_) = place.store.all(PODS, "shop")
        await client.delete(f"{PODS_OF}/{pod.key.name}")
        assert len(place.store.all(PODS, "shop")) == 2

    on_a_cluster(body, web(), {"shape": "webhook"})


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        pytest.param("request.namespace != 'shop'", False, id="of-the-request"),
        pytest.param("!('app' in object.metadata.labels)", False, id="of-the-object"),
        pytest.param("object.kind == 'Pod' && request.operation == 'CREATE'", True, id="it-holds"),
        pytest.param("authorizer.group('').check('x').allowed()", True, id="it-cannot-be-told"),
        pytest.param("object.spec.nothing", True, id="it-fails"),
    ],
)
def test_a_dead_webhook_stops_the_pods_that_its_conditions_match(
    condition: str, *, asked: bool
) -> None:
    """Those that controllers want, too; where it cannot be told, it is asked."""

    async def body(place: Offline, client: OfflineClient) -> None:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"]}
        hook = configuration(
            clientConfig={"service": {"namespace": "shop", "name": "nobody"}},
            rules=[{**rule, "resources": ["pods"], "operations": ["CREATE"]}],
            matchConditions=[
                {"name": "always", "expression": "true"},
                {"name": "some", "expression": condition},
            ],
        )
        await client.create(HOOKS, hook)
        (pod, *_) = place.store.all(PODS, "shop")
        await client.delete(f"{PODS_OF}/{pod.key.name}")
        assert len(place.store.all(PODS, "shop")) == (2 if asked else 3)

    on_a_cluster(body, web())


def test_a_collection_is_gone_before_anybody_replaces_it() -> None:
    """Pods behind a webhook that is asked about them, too: taken in one call, none comes back."""

    async def body(place: Offline, client: OfflineClient) -> None:
        await client.create(HOOKS, configuration())
        pods = place.store.all(PODS, "shop")
        assert len(pods) == 3
        await client.delete(f"{PODS_OF}/{pods[0].key.name}")
        assert len(place.store.all(PODS, "shop")) == 3

        await client.delete_collection(PODS_OF, label_selector=None)
        assert place.store.all(PODS, "shop") == []
        await client.delete(f"{HOOKS}/gate")
        assert len(place.store.all(PODS, "shop")) == 3

    on_a_cluster(body, web())


def test_a_disruption_budget_holds_an_eviction() -> None:
    """As the API server answers: ask again later."""

    async def body(place: Offline, client: OfflineClient) -> None:
        (pod, *_) = place.store.all(PODS, "shop")
        path = f"{PODS_OF}/{pod.key.name}/eviction"
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {}}

        with pytest.raises(TooManyRequestsError, match="disruption budget"):
            await client.create(path, eviction)

    on_a_cluster(body, web(2, disruption_budget=2))


def test_jobs_end_and_expire() -> None:
    """After the time that life takes, which here is none."""

    async def body(place: Offline, client: OfflineClient) -> None:
        path = "/apis/batch/v1/namespaces/job-0/jobs/job-0"
        await asyncio.sleep(2)
        status = (await client.get(path))["status"]
        assert status["succeeded"] == 1
        assert status["conditions"][0]["type"] == "Complete"
        await asyncio.sleep(30)
        with pytest.raises(NotFoundError):
            await client.get(path)
        assert place.store.count(PODS) == 0

    on_a_cluster(body, {"shape": "jobs", "count": 1, "ttl": 20})


def test_claims_are_bound_and_kept_while_used() -> None:
    """A deleted claim stays until its pod is gone."""

    async def body(place: Offline, client: OfflineClient) -> None:
        path = "/api/v1/namespaces/data-0/persistentvolumeclaims/data-0"
        assert (await client.get(path))["status"]["phase"] == "Bound"
        assert place.store.count(PODS) == 1
        await client.delete(path)
        assert "deletionTimestamp" in (await client.get(path))["metadata"]

        await client.delete("/apis/apps/v1/namespaces/data-0/deployments/data-0")

        with pytest.raises(NotFoundError):
            await client.get(path)

    on_a_cluster(body, {"shape": "claims", "count": 1})


@pytest.mark.parametrize(
    ("field", "thing"),
    [
        pytest.param("stringData.on", {"stringData": {"on": True}}, id="a-value-of-a-secret"),
        pytest.param("metadata.labels.tier", {"metadata": {"labels": {"tier": 1}}}, id="a-label"),
    ],
)
def test_what_must_be_text_is_refused_where_it_is_none(field: str, thing: dict[str, Any]) -> None:
    """As the API server's decoder does: YAML reads an unquoted `y` as a truth value."""

    async def body(_: Offline, client: OfflineClient) -> None:
        path = "/api/v1/namespaces/default/secrets"
        head = {"apiVersion": "v1", "kind": "Secret"}
        named = {**(thing.get("metadata") or {}), "name": "one"}
        with pytest.raises(ApiError, match=field):
            await client.create(path, {**head, **thing, "metadata": named})

        await client.create(path, {**head, "metadata": {"name": "one"}})
        with pytest.raises(ApiError, match=field):
            await client.patch(f"{path}/one", thing, type="merge")

    on_a_cluster(body)


HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


def configuration(**hook: Any) -> Object:
    """Return a configuration of one webhook that is asked about pods."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
    service = {"namespace": "shop", "name": "web-0"}
    least = {"name": "a.example.com", "clientConfig": {"service": service}, "rules": [rule]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "gate"},
        "webhooks": [{**least, "sideEffects": "None", **hook}],
    }


def test_a_webhook_without_a_selector_is_asked_about_all() -> None:
    """Whether none was given or it was taken away: the API server fills in what is not said."""

    async def body(_: Offline, client: OfflineClient) -> None:
        def checked(found: Object, selector: Object) -> None:
            [hook] = found["webhooks"]
            assert hook["namespaceSelector"] == selector
            assert (hook["objectSelector"], hook["failurePolicy"]) == ({}, "Fail")
            assert (hook["matchPolicy"], hook["timeoutSeconds"]) == ("Equivalent", 10)
            assert [rule["scope"] for rule in hook["rules"]] == ["*"]

        some = {"matchLabels": {"gate": "on"}}
        given = configuration(namespaceSelector=some, failurePolicy=None)
        checked(await client.create(HOOKS, given), some)
        checked(await client.update(f"{HOOKS}/gate", configuration(namespaceSelector=None)), {})
        checked(await client.update(f"{HOOKS}/gate", given), some)
        checked(await client.update(f"{HOOKS}/gate", configuration()), {})
        checked(await client.update(f"{HOOKS}/gate", given), some)
        path = "/webhooks/0/namespaceSelector"
        patch = [{"op": "replace", "path": path, "value": None}]
        checked(await client.patch(f"{HOOKS}/gate", patch, type="json"), {})

    on_a_cluster(body, web())


def test_a_size_that_is_taken_away_is_one() -> None:
    """As the API server fills it in, by whatever verb; a null is no size."""

    async def body(_: Offline, client: OfflineClient) -> None:
        patch = [{"op": "replace", "path": "/spec/replicas", "value": None}]
        assert (await client.patch(WEB, patch, type="json"))["spec"]["replicas"] == 1
        await client.patch(f"{WEB}/scale", {"spec": {"replicas": 3}}, type="merge")
        live = await client.get(WEB)
        del live["spec"]["replicas"]
        assert (await client.update(WEB, live))["spec"]["replicas"] == 1

    on_a_cluster(body, web())


def test_a_null_is_what_is_not_there() -> None:
    """In a type that the API server decodes; in a map of text it is the empty text."""

    async def body(_: Offline, client: OfflineClient) -> None:
        head = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "new", "labels": None}}
        spec = {"selector": {"app": "web-0", "role": None}, "ports": [{"port": 80, "name": None}]}
        made = await client.create("/api/v1/namespaces/shop/services", {**head, "spec": spec})
        assert "labels" not in made["metadata"]
        assert made["spec"]["selector"] == {"app": "web-0", "role": ""}
        assert made["spec"]["ports"] == [{"port": 80}]

    on_a_cluster(body, web())


def test_what_is_called_as_a_kind_of_kubernetes_is_left_as_it_is() -> None:
    """A custom resource has its nulls and no defaults of somebody else's type."""
    body = {"apiVersion": "serving.example.com/v1", "kind": "Service", "spec": {"a": None}}
    assert without_nulls(body) is body
    assert filled(body) is body
    assert defaulted(body, has_status=True) == body


CONFIG = "/api/v1/namespaces/shop/configmaps/settings"


async def applies(client: OfflineClient, path: str, manager: str, **wish: Any) -> Object:
    """Apply a wish as a manager; return the object as it then is."""
    given = {"apiVersion": "v1", "kind": "ConfigMap", **wish}
    given["metadata"] = {"name": path.rpartition("/")[2], **given.get("metadata", {})}
    return await client.patch(path, given, type="apply", field_manager=manager, force=True)


def test_what_an_applier_leaves_out_goes() -> None:
    """A field that it alone had written; where a map loses all, the map goes too."""

    async def body(_: Offline, client: OfflineClient) -> None:
        both = {"a": "1", "b": "2"}
        await applies(client, CONFIG, "tool", data=both, metadata={"labels": {"team": "x"}})
        assert (await applies(client, CONFIG, "other", data={"c": "3"}))["data"] == {
            **both,
            "c": "3",
        }
        left = await applies(client, CONFIG, "tool", data={"a": "1"})
        assert left["data"] == {"a": "1", "c": "3"}
        assert "labels" not in left["metadata"]
        left = await applies(client, CONFIG, "other")
        assert left["data"] == {"a": "1"}

    on_a_cluster(body, web())


def test_what_somebody_else_has_written_stays() -> None:
    """Before the apply, with it or after it; a refused or dry apply owns nothing."""

    async def body(_: Offline, client: OfflineClient) -> None:
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
        old = {"before": "1"}
        await client.create(CONFIG.rpartition("/")[0], {**head, "data": old})
        wish = {**old, "shared": "2", "changed": "3", "own": "4"}
        await applies(client, CONFIG, "tool", data=wish)
        await applies(client, CONFIG, "other", data={"shared": "2"})
        await client.patch(CONFIG, {"data": {"changed": "5"}}, type="merge")
        dry = {**head, "data": {"shared": "2", "own": "4"}}
        await client.patch(CONFIG, dry, type="apply", field_manager="third", dry_run=True)

        left = await applies(client, CONFIG, "tool", data={})
        assert left["data"] == {"before": "1", "shared": "2", "changed": "5"}
        left = await applies(client, CONFIG, "other", data={})
        assert left["data"] == {"before": "1", "changed": "5"}

    on_a_cluster(body, web())


def test_a_value_taken_over_by_force_goes_with_the_one_who_took_it() -> None:
    """It is no longer its first writer's: nothing puts it back."""

    async def body(_: Offline, client: OfflineClient) -> None:
        await client.patch(f"{WEB}/scale", {"spec": {"replicas": 5}}, type="merge")
        head: Object = {"apiVersion": "apps/v1", "kind": "Deployment"}
        await applies(client, WEB, "tool", **head, spec={"replicas": 2})
        left = await applies(client, WEB, "tool", **head, spec={})
        assert left["spec"]["replicas"] == 1
        assert left["spec"]["template"]

    on_a_cluster(body, web())


def test_entries_of_lists_go_by_their_key() -> None:
    """A container that an applier left out goes; of one that others have, only its own part."""

    async def body(_: Offline, client: OfflineClient) -> None:
        head: Object = {"apiVersion": "apps/v1", "kind": "Deployment"}

        async def containers(*wished: Object) -> dict[str, Object]:
            spec = {"template": {"spec": {"containers": list(wished)}}}
            found = await applies(client, WEB, "mesh", **head, spec=spec)
            return {one["name"]: one for one in found["spec"]["template"]["spec"]["containers"]}

        first = await containers({"name": "proxy", "image": "p"})
        [app] = first.keys() - {"proxy"}
        both = await containers({"name": "proxy", "image": "p"}, {"name": app, "tty": True})
        assert both.keys() == {app, "proxy"}
        assert both[app]["tty"] is True
        assert await containers() == {app: first[app]}

    on_a_cluster(body, web())


def test_a_selector_is_applied_as_one() -> None:
    """What others have in it does not stay beside it."""

    async def body(_: Offline, client: OfflineClient) -> None:
        some = {"matchLabels": {"gate": "on"}}
        given = configuration(namespaceSelector=some)
        await client.create(HOOKS, given)
        wish = configuration(namespaceSelector={})
        found = await applies(client, f"{HOOKS}/gate", "tool", **wish)
        assert found["webhooks"][0]["namespaceSelector"] == {}

    on_a_cluster(body, web())


def test_claims_of_a_set_bear_what_it_selects_by() -> None:
    """As its controller makes them, for a member that is new."""

    async def body(place: Offline, client: OfflineClient) -> None:
        before = {one.key.name for one in place.store.all(CLAIMS)}
        path = "/apis/apps/v1/namespaces/data-0/statefulsets/data-0"
        selected = (await client.get(path))["spec"]["selector"]["matchLabels"]
        await client.patch(f"{path}/scale", {"spec": {"replicas": 3}}, type="merge")
        (made,) = [one for one in place.store.all(CLAIMS) if one.key.name not in before]
        assert selected.items() <= made.metadata["labels"].items()

    sets = {"shape": "statefulsets", "count": 1, "namespaces": ["data-0"], "prefix": "data"}
    on_a_cluster(body, {**sets, "replicas": 2, "claims": True})


@pytest.mark.parametrize("policy", [{"whenScaled": "Delete"}, {"whenDeleted": "Delete"}])
def test_claims_of_a_set_go_as_its_policy_says(policy: dict[str, str]) -> None:
    """With the pods that it no longer wants, or with the set itself; else they stay."""

    async def body(place: Offline, client: OfflineClient) -> None:
        def claims() -> set[str]:
            return {one.key.name for one in place.store.all(CLAIMS)}

        path = "/apis/apps/v1/namespaces/data-0/statefulsets/data-0"
        change = {"spec": {"persistentVolumeClaimRetentionPolicy": policy}}
        await client.patch(path, change, type="merge")
        last, first = sorted(claims(), reverse=True)

        await client.patch(f"{path}/scale", {"spec": {"replicas": 1}}, type="merge")
        await asyncio.sleep(60)
        assert claims() == ({first} if "whenScaled" in policy else {first, last})

        await client.delete(path)
        await asyncio.sleep(60)
        assert claims() == ({first} if "whenScaled" in policy else set())

    sets = {"shape": "statefulsets", "count": 1, "namespaces": ["data-0"], "prefix": "data"}
    on_a_cluster(body, {**sets, "replicas": 2, "claims": True})


def test_daemons_run_on_every_node() -> None:
    """Also on a new one."""

    async def body(place: Offline, client: OfflineClient) -> None:
        nodes = place.store.count(Resource("", "nodes"))
        assert place.store.count(PODS) == nodes
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}}
        await client.create("/api/v1/nodes", node)
        assert place.store.count(PODS) == nodes + 1

    on_a_cluster(body, {"shape": "daemonsets"})


def test_mistakes_have_the_api_servers_own_answers() -> None:
    """Each with the error that the real client raises."""

    async def body(place: Offline, client: OfflineClient) -> None:
        service = {"metadata": {"name": "web-0"}, "spec": {"ports": [{"port": 80}]}}
        with pytest.raises(AlreadyExistsError):
            await client.create("/api/v1/namespaces/shop/services", service)
        with pytest.raises(NotFoundError, match="namespaces"):
            await client.create("/api/v1/namespaces/nowhere/services", service)
        with pytest.raises(NotFoundError):
            await client.get("/apis/nobody.example.com/v1/things")
        with pytest.raises(ApiConflictError):
            await client.delete(WEB, uid="another")
        with pytest.raises(ForbiddenError):
            await client.delete("/api/v1/namespaces/kube-system")
        live = await client.get(WEB)
        await client.patch(WEB, {"metadata": {"labels": {"a": "b"}}}, type="merge")
        with pytest.raises(ApiConflictError):
            await client.update(WEB, live)
        with pytest.raises(ApiError, match="nowhere"):
            await client.patch(WEB, [{"op": "remove", "path": "/spec/nothing"}], type="json")

    on_a_cluster(body, web())


def test_a_dry_run_changes_nothing() -> None:
    """Of any verb."""

    async def body(place: Offline, client: OfflineClient) -> None:
        before = {one.uid: one.raw for one in place.store}
        service = {"metadata": {"name": "new"}, "spec": {"ports": [{"port": 80}]}}
        await client.create("/api/v1/namespaces/shop/services", service, dry_run=True)
        await client.patch(WEB, {"spec": {"replicas": 0}}, type="merge", dry_run=True)
        await client.patch(f"{WEB}/scale", {"spec": {"replicas": 0}}, type="merge", dry_run=True)
        await client.delete(WEB, dry_run=True)
        await client.delete_collection(PODS_OF, label_selector=None, dry_run=True)
        assert {one.uid: one.raw for one in place.store} == before

    on_a_cluster(body, web())


def test_what_says_nothing_has_no_manager() -> None:
    """As the API server keeps it: who gives but a name manages no field."""

    async def body(place: Offline, client: OfflineClient) -> None:
        del place
        accounts = "/api/v1/namespaces/shop/serviceaccounts"
        head = {"apiVersion": "v1", "kind": "ServiceAccount"}
        named: dict[str, Any] = {"name": "bare", "namespace": "shop"}
        bare = await client.create(accounts, {**head, "metadata": named})
        assert "managedFields" not in bare["metadata"]
        named = {"name": "said", "labels": {"app": "web"}}
        said = await client.create(accounts, {**head, "metadata": named})
        assert len(said["metadata"]["managedFields"]) == 1

    on_a_cluster(body, web())


def test_a_token_dies_with_its_account() -> None:
    """As the API server has it: 401 from then on."""

    async def body(place: Offline, client: OfflineClient) -> None:
        account = "/api/v1/namespaces/shop/serviceaccounts/default"
        answer = await client.create(f"{account}/token", {})
        mine = client.with_token(answer["status"]["token"])
        await mine.patch(WEB, {"metadata": {"labels": {"a": "b"}}}, type="merge")
        await client.delete(account)
        with pytest.raises(ApiError) as caught:
            await mine.delete(WEB)
        assert caught.value.status == 401

    on_a_cluster(body, web())


def test_kinds_called_like_kubernetes_own_come_after_their_definition() -> None:
    """A `Node` of somebody's group has no readiness to wait for, and its definition may be owned."""

    async def body(place: Offline, client: OfflineClient) -> None:
        for kind in ("Node", "Role"):
            resource = Resource("store.example.com", f"{kind.lower()}s")
            assert place.store.count(resource) == 2

    provider = {"apiVersion": "pkg.example.com/v1", "kind": "Provider", "name": "provider-0"}
    own = {"shape": "crd-with-instances", "group": "store.example.com", "count": 2}
    on_a_cluster(
        body,
        {
            "shape": "crd-with-instances",
            "kind": "Provider",
            "group": "pkg.example.com",
            "scope": "Cluster",
            "prefix": "provider",
            "count": 1,
        },
        *({**own, "kind": kind, "defined_by": provider} for kind in ("Node", "Role")),
    )


def test_whoever_starts_now_reads_marks_by_the_applications_that_are_there() -> None:
    """The label of charts led nowhere when it was read first, as the application came later."""

    async def body(place: Offline, client: OfflineClient) -> None:
        view = GraphView(place.store.graph)
        row = view.find(ObjectKey(DEPLOYMENTS, "shop", "web-0"))
        assert row is not None
        place.store.read_anew()
        marks = [view.key(one) for one, _ in view.targets(row, Edge.MANAGED_BY)]
        assert [str(one) for one in marks] == ["applications.argoproj.io gitops/app-0"]

    on_a_cluster(
        body,
        web(labels={"app.kubernetes.io/instance": "app-0"}),
        {
            "shape": "crd-with-instances",
            "kind": "Application",
            "group": "argoproj.io",
            "prefix": "app",
            "namespaces": ("gitops",),
            "count": 1,
        },
    )


def on_a_cluster_of(body: Body, *objects: Object) -> None:
    """Run a test on a predicted cluster with these objects in it."""

    async def as_they_are(things: Any) -> Any:
        return things

    async def main() -> None:
        place = Offline()
        async with place.reached() as cluster:
            await populate(cluster, World("test", "run"), objects, (), as_they_are)
            await body(place, OfflineClient(place.server))

    run_jumping(main())


def dressed(shape: str, **parameters: Any) -> list[Object]:
    """Return the objects of a shape, with what all of them get."""
    return SHAPES[shape](**parameters).dressed()


def pinned(name: str, **spec: Any) -> Object:
    """Return a pod that says where it may run."""
    metadata = {"name": name, "namespace": "shop", "labels": {"app": name}}
    containers = [{"name": "app", "image": "registry.example/app:1"}]
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }  # fmt: skip


def on_hosts(*names: str, label: str = "kubernetes.io/hostname") -> Object:
    expression = {"key": label, "operator": "In", "values": list(names)}
    return {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}


def test_what_comes_last_has_owners_too() -> None:
    """A quota is made after the pods that it would refuse, and its owner before it."""
    owner = {"apiVersion": "tenants.example.com/v1", "kind": "Tenant", "name": "instance-0"}
    tenants = dressed(
        "crd-with-instances", count=1, kind="Tenant", group="tenants.example.com", scope="Cluster"
    )
    quota = {
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "pods", "namespace": "shop", "ownerReferences": [owner]},
        "spec": {"hard": {"pods": "1"}},
    }  # fmt: skip

    async def body(_: Offline, client: OfflineClient) -> None:
        made = await client.get("/api/v1/namespaces/shop/resourcequotas/pods")
        above = await client.get("/apis/tenants.example.com/v1/tenants/instance-0")
        assert made["metadata"]["ownerReferences"][0]["uid"] == above["metadata"]["uid"]

    on_a_cluster_of(body, quota, *tenants, pinned("web"))


DISK: Object = {
    "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
    "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
        "persistentVolumeReclaimPolicy": "Retain",
    },
}  # fmt: skip


def of_disk(name: str) -> Object:
    """Return a claim that asks for the volume by its name."""
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "disk",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }  # fmt: skip


def test_a_volume_is_free_again_once_its_claim_is_taken_off_it() -> None:
    """Kept when its claim went, it is offered to the next only then."""

    async def body(place: Offline, client: OfflineClient) -> None:
        claims = "/api/v1/namespaces/shop/persistentvolumeclaims"

        async def phase(path: str) -> str:
            return str((await client.get(path))["status"]["phase"])

        volume = "/api/v1/persistentvolumes/disk"
        assert await phase(f"{claims}/data") == "Bound"
        await client.delete(f"{claims}/data")
        await client.create(claims, of_disk("next"))
        assert (await phase(volume), await phase(f"{claims}/next")) == ("Released", "Pending")

        await client.patch(volume, {"spec": {"claimRef": None}}, type="merge")

        assert (await phase(volume), await phase(f"{claims}/next")) == ("Bound", "Bound")

    on_a_cluster_of(body, pinned("web"), DISK, of_disk("data"))


def test_a_pod_goes_where_its_affinity_and_its_volume_are() -> None:
    """And waits where no node is that; what asks for nothing goes to the emptiest."""
    nodes = dressed("nodes", count=3)
    local = {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "storageClassName": "", "local": {"path": "/disk"},
            "claimRef": {"namespace": "shop", "name": "data"},
            "nodeAffinity": {"required": on_hosts("worker-2")},
        },
    }  # fmt: skip
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "disk",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }  # fmt: skip

    def near(*names: str) -> Object:
        asked = {"requiredDuringSchedulingIgnoredDuringExecution": on_hosts(*names)}
        return {"nodeAffinity": asked}

    mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]

    async def body(place: Offline, _: OfflineClient) -> None:
        def node(name: str) -> str:
            pod = place.store.find(PODS, "shop", name)
            assert pod is not None
            return str(pod.spec.get("nodeName", ""))

        assert node("near") == "worker-1"
        assert node("far") == ""
        assert node("with-disk") == "worker-2"
        assert node("elsewhere") == ""

    on_a_cluster_of(
        body, *nodes, local, claim,
        pinned("near", affinity=near("worker-1")), pinned("far", affinity=near("worker-9")),
        pinned("with-disk", volumes=mounted),
        pinned("elsewhere", volumes=mounted, affinity=near("worker-1")),
    )  # fmt: skip


def test_pods_find_nodes_that_a_custom_resource_owns() -> None:
    """What owns nodes is made before them, and not with the workloads that are to run there."""
    machine = {"apiVersion": "machines.example.com/v1", "kind": "Machine", "name": "pool-0"}
    group = machine["apiVersion"].partition("/")[0]
    shapes = dressed(
        "crd-with-instances", count=1, kind="Machine", group=group, scope="Cluster", prefix="pool"
    ) + dressed("nodes", count=2, owner=machine)
    pods = [pinned(f"pod-{at}") for at in range(12)]

    async def body(place: Offline, _: OfflineClient) -> None:
        used = {pod.spec["nodeName"] for pod in place.store.all(PODS)}
        assert used >= {"worker-0", "worker-1"}

    on_a_cluster_of(body, *pods, *shapes)


def test_the_pods_of_one_workload_go_to_different_nodes() -> None:
    """Also those that are made in one moment: a drain takes one of them, and not all."""

    async def body(place: Offline, client: OfflineClient) -> None:
        where = [pod.spec["nodeName"] for pod in place.store.all(PODS)]
        assert len(set(where)) == len(where) == 3

    on_a_cluster(body, web())


def test_a_node_takes_no_more_pods_than_it_has_places() -> None:
    """Whoever finds none waits, also beside a node that is not Ready."""
    pool = {"pool": "small"}
    nodes = dressed("nodes", count=1, prefix="full", pods=2, labels=pool)
    nodes += dressed("nodes", count=1, prefix="dead", labels=pool, dead=True)

    async def body(place: Offline, client: OfflineClient) -> None:
        where = [pod.spec.get("nodeName", "") for pod in place.store.all(PODS)]
        assert sorted(where) == ["", "full-0", "full-0"]

    on_a_cluster_of(body, *nodes, *dressed(**web(node_selector=pool)))
