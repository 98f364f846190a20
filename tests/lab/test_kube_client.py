"""The API server client against a real API server: what a scripted one cannot promise."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from suture.adapters.kube import KubeClient, resource_path
from suture.adapters.kubeconfig import Login
from suture.errors import (
    AlreadyExistsError,
    ApiConflictError,
    ApiError,
    ApiUnavailableError,
    ForbiddenError,
    GoneError,
    InputError,
    NotFoundError,
)
from suture.lab.identities import ADMIN
from suture.lab.plane import Plane
from suture.model.names import Propagation
from suture.wire.discovery import StaleGroup

pytestmark = pytest.mark.lab

REVIEWS = resource_path("authentication.k8s.io", "v1", "selfsubjectreviews")
_numbers = itertools.count(1)


@pytest.fixture
async def client(plane: Plane) -> AsyncIterator[KubeClient]:
    async with KubeClient.from_kubeconfig(plane.kubeconfig(ADMIN)) as made:
        yield made


@pytest.fixture
async def namespace(client: KubeClient) -> AsyncIterator[str]:
    """Return a namespace of the test's own."""
    name = f"kube-client-{next(_numbers)}"
    await client.create(resource_path("", "v1", "namespaces"), {"metadata": {"name": name}})
    # Made by a controller, soon: lists are to be the same from here on.
    await retried(lambda: client.get(config_maps(name, "kube-root-ca.crt")))
    yield name
    await client.delete(resource_path("", "v1", "namespaces", None, name))


def config_maps(namespace: str, name: str | None = None) -> str:
    return resource_path("", "v1", "configmaps", namespace, name)


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": {"a": "1"},
    }


async def names(client: KubeClient, namespace: str) -> list[str]:
    listed = await client.get(config_maps(namespace))
    found = [item["metadata"]["name"] for item in listed["items"]]
    return [name for name in found if name != "kube-root-ca.crt"]


async def test_what_says_nothing_has_no_manager(client: KubeClient) -> None:
    """The API server keeps no manager of an object of which nothing but its name was written.

    What is sent with a dry run has one, too, where it says anything: a namespace is given a label.
    """
    accounts = resource_path("", "v1", "serviceaccounts", "default")
    bare: dict[str, Any] = {"metadata": {"name": "says-nothing"}}
    told: dict[str, Any] = {"metadata": {"name": "says-a-label", "labels": {"a": "b"}}}
    space = {"metadata": {"name": "says-nothing"}}

    made = await client.create(accounts, bare)
    labelled = await client.create(accounts, told)
    dry = await client.create(resource_path("", "v1", "namespaces"), space, dry_run=True)

    assert "managedFields" not in made["metadata"]
    assert [one["manager"] for one in labelled["metadata"]["managedFields"]] != []
    assert dry["metadata"]["managedFields"] != []


async def test_objects_are_written_and_read(client: KubeClient, namespace: str) -> None:
    """Create, read, replace, patch in all four ways and delete do what they say."""
    path = config_maps(namespace, "one")
    made = await client.create(config_maps(namespace), config_map("one"))
    assert await client.get(path) == made
    assert json.loads(await client.get_raw(path)) == made
    assert "data" not in await client.get(path, metadata_only=True)

    made["data"]["a"] = "2"
    replaced = await client.update(path, made)
    assert replaced["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    with pytest.raises(ApiConflictError, match="the object has been modified"):
        await client.update(path, made)

    await client.patch(path, [{"op": "add", "path": "/data/b", "value": "x"}], type="json")
    await client.patch(path, {"data": {"c": "x"}}, type="merge")
    await client.patch(path, {"metadata": {"labels": {"l": "1"}}}, type="strategic")
    applied = config_map("one") | {"data": {"a": "3"}}
    with pytest.raises(ApiConflictError, match="conflict with"):
        await client.patch(path, applied, type="apply", field_manager="other")
    after = await client.patch(path, applied, type="apply", field_manager="other", force=True)
    assert after["data"] == {"a": "3", "b": "x", "c": "x"}
    assert after["metadata"]["labels"] == {"l": "1"}

    await client.delete(path)
    with pytest.raises(NotFoundError, match='configmaps "one" not found') as caught:
        await client.get(path)
    assert (caught.value.status, caught.value.reason) == (404, "NotFound")
    assert caught.value.details["name"] == "one"


async def test_dry_runs_leave_nothing(client: KubeClient, namespace: str) -> None:
    """Every write has a dry run that answers like it and changes nothing."""
    path = config_maps(namespace, "kept")
    kept = await client.create(config_maps(namespace), config_map("kept"))
    dry = await client.create(config_maps(namespace), config_map("ghost"), dry_run=True)
    assert dry["metadata"]["uid"]
    await client.update(path, config_map("kept") | {"data": {}}, dry_run=True)
    for kind in ("merge", "strategic"):
        await client.patch(path, {"data": {"z": "z"}}, type=kind, dry_run=True)
    await client.patch(path, [{"op": "remove", "path": "/data"}], type="json", dry_run=True)
    ghost = config_map("ghost")
    await client.patch(config_maps(namespace, "ghost"), ghost, type="apply", dry_run=True)
    await client.delete(path, dry_run=True)
    await client.delete(path, propagation_policy=Propagation.ORPHAN, dry_run=True)
    await client.delete_collection(config_maps(namespace), label_selector=None, dry_run=True)
    assert await names(client, namespace) == ["kept"]
    assert await client.get(path) == kept


async def test_deletes_keep_to_their_preconditions(client: KubeClient, namespace: str) -> None:
    """A delete of another life or version of the object is a conflict; the name taken, another."""
    path = config_maps(namespace, "one")
    made = await client.create(config_maps(namespace), config_map("one"))
    with pytest.raises(AlreadyExistsError, match="already exists"):
        await client.create(config_maps(namespace), config_map("one"))
    with pytest.raises(ApiConflictError, match="UID in the precondition"):
        await client.delete(path, uid="another")
    with pytest.raises(ApiConflictError, match="ResourceVersion in the precondition"):
        await client.delete(path, resource_version="1")
    await client.delete(
        path,
        uid=made["metadata"]["uid"],
        resource_version=made["metadata"]["resourceVersion"],
        grace_period_seconds=0,
        propagation_policy=Propagation.BACKGROUND,
    )
    assert await names(client, namespace) == []


async def test_collections_go_by_selector(client: KubeClient, namespace: str) -> None:
    """A collection is deleted as far as its selector reaches; None reaches everywhere."""
    for number in range(6):
        labels = {"odd": str(number % 2)}
        await client.create(config_maps(namespace), config_map(f"n{number}", labels=labels))
    path = config_maps(namespace)
    await client.delete_collection(path, label_selector="odd=1")
    assert await names(client, namespace) == ["n0", "n2", "n4"]
    await client.delete_collection(path, label_selector="odd", field_selector="metadata.name=n2")
    assert await names(client, namespace) == ["n0", "n4"]
    await client.delete_collection(path, label_selector=None)
    assert await names(client, namespace) == []


async def test_lists_come_in_pages(client: KubeClient, namespace: str) -> None:
    """Pages hold every object once, whole or as metadata, for built-in and custom kinds."""
    for number in range(7):
        await client.create(config_maps(namespace), config_map(f"n{number}"))
    for metadata_only in (False, True):
        pages = [
            msgspec.json.decode(page)
            async for page in client.list_pages(
                config_maps(namespace), 3, metadata_only=metadata_only
            )
        ]
        assert [len(page["items"]) for page in pages] == [3, 3, 2]
        found = [item for page in pages for item in page["items"]]
        assert len({item["metadata"]["name"] for item in found}) == 8
        assert all(("data" in item) is not metadata_only for item in found)
        assert len({page["metadata"]["resourceVersion"] for page in pages}) == 1


async def test_custom_resources_come_in_pages(client: KubeClient, namespace: str) -> None:
    """A list of custom resources, whose metadata comes last, is followed to its end too."""
    group = f"{namespace}.example.dev"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                    "subresources": {"status": {}},
                }
            ],
        },
    }
    definitions = resource_path(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions", None, None
    )
    await client.create(definitions, definition)
    path = resource_path(group, "v1", "things", namespace)
    try:
        for number in range(5):
            thing = {
                "apiVersion": f"{group}/v1",
                "kind": "Thing",
                "metadata": {"name": f"t{number}"},
            }
            await retried(lambda body=thing: client.create(path, body))
        pages = [msgspec.json.decode(page) async for page in client.list_pages(path, 2)]
        assert [len(page["items"]) for page in pages] == [2, 2, 1]
        found = await client.discover()
        thing_kind = next(kind for kind in found.resources if kind.group == group)
        assert (thing_kind.version, thing_kind.plural, thing_kind.kind) == ("v1", "things", "Thing")
        assert thing_kind.subresources == {"status"}
        # The API server knows nothing of this kind from before it was there.
        with pytest.raises(GoneError, match="too old resource version"):
            await first_block(client, path, "1")
    finally:
        await client.delete(f"{definitions}/things.{group}")


async def retried(call: Any, within_s: float = 15.0) -> Any:
    """Call until it is found: the API server serves a new kind a moment after saying so."""
    deadline = asyncio.get_running_loop().time() + within_s
    while True:
        try:
            return await call()
        except NotFoundError:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.1)


async def test_discovery_knows_kinds_and_silent_backends(
    client: KubeClient, namespace: str
) -> None:
    """Kinds with scope, verbs and subresources; an aggregated group without backend is stale."""
    found = {(kind.group, kind.plural): kind for kind in (await client.discover()).resources}
    pods = found["", "pods"]
    assert (pods.version, pods.kind, pods.namespaced) == ("v1", "Pod", True)
    assert {"list", "watch", "deletecollection"} <= pods.verbs
    assert {"eviction", "status", "log", "exec"} <= pods.subresources
    assert found["apps", "deployments"].subresources == {"scale", "status"}
    assert not found["", "nodes"].namespaced
    assert found["apiextensions.k8s.io", "customresourcedefinitions"].version == "v1"

    group = f"{namespace}.silent.dev"
    services = resource_path("apiregistration.k8s.io", "v1", "apiservices")
    await client.create(
        services,
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"v1.{group}"},
            "spec": {
                "group": group,
                "version": "v1",
                "service": {"namespace": namespace, "name": "nobody"},
                "insecureSkipTLSVerify": True,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        },
    )
    try:
        for _ in range(150):
            discovery = await client.discover()
            if StaleGroup(group, "v1") in discovery.stale:
                break
            await asyncio.sleep(0.1)
        assert StaleGroup(group, "v1") in discovery.stale
        assert any(kind.plural == "pods" for kind in discovery.resources)
    finally:
        await client.delete(f"{services}/v1.{group}")


async def first_block(client: KubeClient, path: str, version: str) -> bytes:
    """Return what a watch says first, or raise what its ERROR event means."""
    async with aclosing(client.watch_lines(path, version, timeout_s=5)) as blocks:
        block = await anext(blocks)
    for event in events(block):
        if event["type"] == "ERROR" and event["object"]["code"] == 410:
            raise GoneError(410, event["object"]["reason"], event["object"]["message"])
    return block


def events(block: bytes) -> Iterator[dict[str, Any]]:
    for line in block.splitlines():
        yield msgspec.json.decode(line)


async def test_watches_begin_with_what_is_there(client: KubeClient, namespace: str) -> None:
    """A streamed list: every object as ADDED, a bookmark that ends it, then what happens."""
    for number in range(3):
        await client.create(config_maps(namespace), config_map(f"n{number}"))
    seen: list[tuple[str, str]] = []
    stream = client.watch_lines(config_maps(namespace), None, send_initial_events=True)
    async with aclosing(stream) as blocks, asyncio.timeout(20):
        async for block in blocks:
            for event in events(block):
                meta = event["object"]["metadata"]
                seen.append((event["type"], meta.get("name", "")))
                if "k8s.io/initial-events-end" in meta.get("annotations", {}):
                    await client.delete(config_maps(namespace, "n1"))
            if seen[-1] == ("DELETED", "n1"):
                break
    initial = {("ADDED", name) for name in ("n0", "n1", "n2", "kube-root-ca.crt")}
    assert initial - {("ADDED", "kube-root-ca.crt")} <= set(seen[:-2]) - {("BOOKMARK", "")}
    assert ("BOOKMARK", "") in seen


async def test_watches_resume_and_can_be_of_metadata(client: KubeClient, namespace: str) -> None:
    """A watch from a list's version sees what came after it, as metadata when that is asked."""
    await client.create(config_maps(namespace), config_map("before"))
    listed = await client.get(config_maps(namespace))
    version = listed["metadata"]["resourceVersion"]
    await client.create(config_maps(namespace), config_map("after"))
    selected = "metadata.name!=kube-root-ca.crt"
    stream = client.watch_lines(
        config_maps(namespace), version, field_selector=selected, metadata_only=True, timeout_s=1
    )
    seen = [event async for block in stream for event in events(block)]
    objects = [event["object"] for event in seen if event["type"] == "ADDED"]
    assert [one["metadata"]["name"] for one in objects] == ["after"]
    assert objects[0]["kind"] == "PartialObjectMetadata"


async def test_versions_of_another_time_are_told(client: KubeClient, namespace: str) -> None:
    """A version yet to come is unavailable for now, a token that is none is a bad request."""
    future = {"resourceVersion": "999999999999", "resourceVersionMatch": "NotOlderThan"}
    with pytest.raises(ApiUnavailableError, match="Too large resource version") as caught:
        await client.get(config_maps(namespace), query=future)
    assert caught.value.retry_after_s == 1
    with pytest.raises(ApiError, match="continue key is not valid") as refused:
        await client.get(config_maps(namespace), query={"limit": "1", "continue": "no"})
    assert refused.value.status == 400


async def test_somebody_else_can_be_played(client: KubeClient, namespace: str) -> None:
    """User, groups, uid and extra arrive; what they may not do is refused in their name."""
    extra = {"authentication.kubernetes.io/pod-name": ["p-1"], "example.dev/Mixed_Case": ["ü", "2"]}
    someone = client.impersonating("alice", ["dev", "system:authenticated"], uid="7", extra=extra)
    who = (await someone.create(REVIEWS, {"kind": "SelfSubjectReview"}))["status"]["userInfo"]
    assert who["username"] == "alice"
    assert set(who["groups"]) >= {"dev", "system:authenticated"}
    assert who["uid"] == "7"
    assert who["extra"]["authentication.kubernetes.io/pod-name"] == ["p-1"]
    assert who["extra"]["example.dev/mixed_case"] == ["ü", "2"]
    with pytest.raises(ForbiddenError, match='User "alice" cannot delete resource "configmaps"'):
        await someone.delete(config_maps(namespace, "any"))
    assert (await client.create(REVIEWS, {}))["status"]["userInfo"]["username"] != "alice"


async def test_a_token_is_who_one_is(
    client: KubeClient, plane: Plane, namespace: str, tmp_path: Path
) -> None:
    """A token of a service account lets in as that account, given or from a pod's folder."""
    accounts = resource_path("", "v1", "serviceaccounts", namespace)
    await client.create(accounts, {"metadata": {"name": "op"}})
    answer = await client.create(f"{accounts}/op/token", {"spec": {"expirationSeconds": 3600}})
    token = answer["status"]["token"]
    expected = f"system:serviceaccount:{namespace}:op"
    async with client.with_token(token) as operator:
        who = await operator.create(REVIEWS, {})
        assert who["status"]["userInfo"]["username"] == expected
        with pytest.raises(ForbiddenError, match=f'User "{expected}" cannot list'):
            _ = [page async for page in operator.list_pages(config_maps(namespace))]
    async with client.with_token("nonsense") as nobody:
        with pytest.raises(ApiError, match="401"):
            await nobody.create(REVIEWS, {})

    (tmp_path / "token").write_text(token)
    (tmp_path / "namespace").write_text(namespace)
    (tmp_path / "ca.crt").write_bytes(plane.ca_file.read_bytes())
    host, _, port = plane.endpoint.removeprefix("https://").rpartition(":")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("KUBERNETES_SERVICE_HOST", host)
        environment.setenv("KUBERNETES_SERVICE_PORT", port)
        login = Login.in_cluster(tmp_path)
    async with KubeClient(login) as in_cluster:
        who = await in_cluster.create(REVIEWS, {})
        assert who["status"]["userInfo"]["username"] == expected


async def test_warnings_and_invalid_objects_are_told(client: KubeClient, namespace: str) -> None:
    """The API server's warnings and reasons arrive as it wrote them."""
    heard: list[str] = []
    odd = config_map("odd", finalizers=["unqualified"])
    with pytest.raises(ApiError, match="name is neither a standard finalizer name") as caught:
        await client.create(config_maps(namespace), odd)
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    pod = {
        "metadata": {"name": "p"},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
                }
            ]
        },
    }
    pods = resource_path("", "v1", "pods", namespace)
    await client.hearing(heard.append).create(pods, pod, dry_run=True)
    assert any("hides previous definition" in text for text in heard)
    with pytest.raises(InputError):
        resource_path("", "v1", "pods", namespace, "../secrets")


async def test_readiness_is_readable(client: KubeClient) -> None:
    """What is not JSON is read raw."""
    assert await client.get_raw("/readyz") == b"ok"
    assert (await client.get("/version"))["major"] == "1"
