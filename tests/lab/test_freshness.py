"""How well the model is known, on a real control plane that is disturbed in every known way."""

from __future__ import annotations

import asyncio
import random
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog

from support.labmirror import Followed, following, settled, until
from support.wire import Wire
from suture.adapters.snapshots import open_snapshot, save_graph
from suture.app.follow import Pace
from suture.app.warmstart import same_cluster
from suture.errors import NotFoundError
from suture.lab.certificates import KeyPair, client_context
from suture.lab.identities import Person
from suture.lab.plane import Plane
from suture.model import names
from suture.model.names import ObjectKey, Resource

pytestmark = pytest.mark.lab

log = structlog.get_logger(__name__)

SPACE = "freshness-test"
MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
SERVICES = f"/api/v1/namespaces/{SPACE}/services"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SPROCKETS = Resource("freshness.test", "sprockets")
MOST_S = 90.0
"""A busy machine's share; the bounds themselves are in the reference, and are logged."""


@asynccontextmanager
async def over_a_wire(plane: Plane) -> AsyncIterator[tuple[Followed, Wire]]:
    """Follow the cluster over a wire that can be disturbed."""
    wire = Wire(plane.endpoint)
    async with wire.open():
        kubeconfig = wire.kubeconfig(plane.kubeconfig())
        async with following(plane, kubeconfig=kubeconfig) as followed:
            await space(plane)
            yield followed, wire


async def space(plane: Plane) -> None:
    """Make the test's namespace, unless it is there."""
    await apply(plane, f"/api/v1/namespaces/{SPACE}", "v1 Namespace", {})


async def apply(plane: Plane, path: str, gvk: str, body: dict[str, Any]) -> None:
    """Make an object as it should be, past whatever the test disturbs."""
    version, kind = gvk.split(" ")
    whole = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": path.rsplit("/", 1)[1]},
        **body,
    }
    await asyncio.to_thread(plane.admin.patch, path, whole, kind="apply", force="true")


def fresh(followed: Followed) -> list[Resource]:
    """Return the kinds that decisions rest on and that are known."""
    return [
        one.resource for one in followed.mirror.kinds() if one.fresh and one.age_s < float("inf")
    ]


def total(followed: Followed, what: str) -> int:
    """Return how often something happened to any watch."""
    return sum(one.counts.get(what, 0) for one in followed.mirror.kinds())


async def test_every_kind_is_proven_fresh_though_nothing_happens(plane: Plane) -> None:
    """The server's cache tells how far it has come, of kinds that nobody has ever written too."""
    async with following(plane) as followed:
        kinds = fresh(followed)
        assert len(kinds) >= 15

        def measured() -> bool:
            lags = {one.resource: one.lag_s for one in followed.mirror.kinds()}
            return all(lags[kind] is not None for kind in kinds)

        await until(measured, 30)
        for _ in range(100):
            await asyncio.sleep(0.1)
            assert followed.mirror.stale(kinds) == ()
        lags = [one.lag_s for one in followed.mirror.kinds() if one.lag_s is not None]
        log.info("quiet", kinds=len(lags), lag_s=(min(lags), max(lags)))
        assert total(followed, "stalls") == 0


async def test_a_stalled_wire_is_known_within_the_bound(plane: Plane) -> None:
    """All connections open, not a byte over them: every decision kind is stale, then equal again."""
    async with over_a_wire(plane) as (followed, wire):
        kinds = fresh(followed)
        wire.stall()
        took_s = await until(lambda: set(followed.mirror.stale(kinds)) == set(kinds), MOST_S)
        log.info("wire stalled", kinds=len(kinds), stale_after_s=took_s)
        await asyncio.to_thread(
            plane.admin.create, MAPS, {"metadata": {"name": f"late-{time.monotonic_ns()}"}}
        )
        wire.flow()
        took_s = await until(lambda: followed.mirror.stale(kinds) == (), MOST_S)
        log.info("wire flows", fresh_after_s=took_s)
        await followed.agrees()


async def test_a_server_without_its_store_is_not_taken_for_fresh(plane: Plane) -> None:
    """With etcd frozen the API server ends its watches in time, and knows nothing."""
    async with following(plane) as followed:
        passed = followed.mirror._prober._passed
        kinds = fresh(followed)
        await until(lambda: all(passed[kind] >= 3 for kind in kinds), 60)
        await asyncio.to_thread(plane.pause, "etcd")
        try:
            took_s = await until(lambda: set(followed.mirror.stale(kinds)) == set(kinds), MOST_S)
        finally:
            await asyncio.to_thread(plane.resume, "etcd")
        log.info("etcd frozen", kinds=len(kinds), stale_after_s=took_s)
        took_s = await until(lambda: followed.mirror.stale(kinds) == (), MOST_S)
        log.info("etcd goes on", fresh_after_s=took_s)
        await followed.agrees(40)


async def test_what_was_compacted_in_the_dark_is_listed_anew(plane: Plane) -> None:
    """A 410 for every kind; the model serves throughout, and what went is gone at the end."""
    async with over_a_wire(plane) as (followed, wire):
        admin = plane.admin
        for number in range(5):
            body = {"spec": {"ports": [{"port": 80}]}}
            await apply(plane, f"{SERVICES}/dark-{number}", "v1 Service", body)
        await followed.agrees()
        relists = total(followed, "relists")
        wire.refuses = True
        wire.cut()
        for number in range(3):
            await asyncio.to_thread(admin.delete, f"{SERVICES}/dark-{number}")
        await asyncio.to_thread(compact, plane)
        await asyncio.to_thread(plane.restart, "kube-apiserver")
        await settled(lambda: asyncio.to_thread(admin.get, "/api/v1/namespaces/default"))
        assert followed.mirror.ready()[0]
        assert followed.at(ObjectKey(names.SERVICES, SPACE, "dark-0")) is not None
        followed.told.clear()
        wire.refuses = False
        await followed.agrees(40)
        assert {"dark-0", "dark-1", "dark-2"} <= set(followed.told.names("ended"))
        assert "dark-3" not in followed.told.names("ended", "began")
        assert total(followed, "relists") > relists


def compact(plane: Plane) -> None:
    """Have etcd forget all that is older than now."""
    newest = plane.admin.get("/api/v1/namespaces?limit=1")["metadata"]["resourceVersion"]
    at = plane.folder.certificates
    pair = KeyPair(at / "etcd-client.crt", at / "etcd-client.key")
    with httpx2.Client(verify=client_context(at / "cluster-ca.crt", pair)) as client:
        answer = client.post(
            f"https://127.0.0.1:{plane.ports['etcd']}/v3/kv/compaction",
            json={"revision": newest, "physical": True},
        )
        assert answer.is_success, answer.text


async def test_rights_that_go_and_come(plane: Plane) -> None:
    """A kind that may not be read any more is unknown, the rest is not; granted, it is known."""
    reader = Person("freshness-reader")
    group = "rbac.authorization.k8s.io"

    async def grant(*resources: str) -> None:
        rights = [("", ("pods", "namespaces", *resources)), ("apps", ("*",))]
        rights += [("apiextensions.k8s.io", ("*",)), ("apiregistration.k8s.io", ("*",))]
        rules = [
            {"apiGroups": [of], "resources": list(names_), "verbs": ["get", "list", "watch"]}
            for of, names_ in rights
        ]
        body = {"rules": rules}
        await apply(plane, f"{ROLES}/{reader.user}", f"{group}/v1 ClusterRole", body)

    await grant("services")
    binding = {
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": reader.user},
        "subjects": [{"apiGroup": group, "kind": "User", "name": reader.user}],
    }
    await apply(plane, f"{BINDINGS}/{reader.user}", f"{group}/v1 ClusterRoleBinding", binding)
    async with following(plane, kubeconfig=plane.kubeconfig(reader)) as followed:
        freshness = followed.graph.freshness
        assert "forbidden" in freshness[names.NODES].unknown
        assert followed.mirror.stale([names.PODS, names.SERVICES]) == ()
        await grant()
        took_s = await until(lambda: freshness[names.SERVICES].unknown != "", MOST_S)
        log.info("right withdrawn", unknown_after_s=took_s)
        assert followed.mirror.stale([names.PODS, names.SERVICES]) == (names.SERVICES,)
        assert followed.mirror.ready()[0]
        await grant("services", "nodes")
        took_s = await until(
            lambda: not freshness[names.SERVICES].unknown and not freshness[names.NODES].unknown,
            60,
        )
        log.info("right granted", known_after_s=took_s)
        assert followed.mirror.stale([names.PODS, names.SERVICES]) == ()


async def test_a_definition_comes_goes_and_comes_with_another_scope(plane: Plane) -> None:
    """Its instances are there a moment after they can be, under either scope."""
    async with following(plane) as followed:
        await space(plane)
        client = followed.client
        for scope, namespace in (("Namespaced", SPACE), ("Cluster", "")):
            await client.create(CRDS, definition(scope))
            path = f"/apis/{SPROCKETS.group}/v1/"
            path += f"namespaces/{namespace}/sprockets" if namespace else "sprockets"
            sprocket = {
                "apiVersion": f"{SPROCKETS.group}/v1",
                "kind": "Sprocket",
                "metadata": {"name": "one"},
            }
            await settled(partial(client.create, path, sprocket))
            key = ObjectKey(SPROCKETS, namespace, "one")
            took_s = await until(partial(known, followed, key))
            log.info("instance of a new kind", scope=scope, known_after_s=took_s)
            await followed.mirror.refresh([key])
            await client.delete(f"{CRDS}/{SPROCKETS}")
            await until(lambda: SPROCKETS not in followed.graph.freshness, 30)
            assert followed.at(key) is None
            await until_gone(followed, f"{CRDS}/{SPROCKETS}")
        await followed.agrees()


def known(followed: Followed, key: ObjectKey) -> bool:
    """Whether the model has an object."""
    return followed.at(key) is not None


def definition(scope: str) -> dict[str, Any]:
    """Return the definition of a kind, in a scope."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    return {
        "metadata": {"name": str(SPROCKETS)},
        "spec": {
            "group": SPROCKETS.group,
            "names": {"plural": "sprockets", "singular": "sprocket", "kind": "Sprocket"},
            "scope": scope,
            "versions": [version],
        },
    }


async def until_gone(followed: Followed, path: str) -> None:
    """Wait until an object is gone from the cluster."""
    for _ in range(200):
        try:
            await followed.client.get(path)
        except NotFoundError:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(path)


async def test_what_the_model_lost_is_found_and_put_right(plane: Plane) -> None:
    """A real cluster against a model with holes: each is mended, once, and nothing else is."""
    pace = replace(Pace(), audit_rest_s=0.05)
    async with following(plane, pace=pace) as followed:
        await space(plane)
        for number in range(4):
            await apply(plane, f"{MAPS}/kept-{number}", "v1 ConfigMap", {"data": {}})
        await followed.agrees()
        lost = ObjectKey(names.CONFIG_MAPS, SPACE, "kept-1")
        assert followed.graph.remove(lost) is not None
        took_s = await until(lambda: followed.at(lost) is not None, 60)
        log.info("lost event", mended_after_s=took_s)
        await asyncio.sleep(0.5)
        assert dict(followed.mirror.repairs()) == {(names.CONFIG_MAPS, "missing"): 1}
        rounds = min(one.counts["audits"] for one in followed.mirror.kinds())
        await until(
            lambda: min(one.counts["audits"] for one in followed.mirror.kinds()) > rounds, 60
        )
        assert dict(followed.mirror.repairs()) == {(names.CONFIG_MAPS, "missing"): 1}


async def test_a_saved_model_goes_on_with_watches(plane: Plane, tmp_path: Path) -> None:
    """No kind is listed, what happened meanwhile is in, and it is ready within moments."""
    path = tmp_path / "model.suture"
    async with following(plane) as followed:
        await space(plane)
        await followed.agrees()
        await asyncio.sleep(1)
        save_graph(followed.graph, path)
    await asyncio.to_thread(
        plane.admin.create, MAPS, {"metadata": {"name": f"new-{time.monotonic_ns()}"}}
    )
    began = time.monotonic()
    header, graph = open_snapshot(path)
    async with following(plane, graph=graph) as followed:
        took_s = time.monotonic() - began
        log.info("warm start", ready_after_s=took_s)
        await followed.agrees()
        lists = total(followed, "relists")
        anew = {
            str(one.resource): one.counts["relists"]
            for one in followed.mirror.kinds()
            if one.counts.get("relists")
        }
        log.info("listed all the same", kinds=anew)
        assert lists <= len(followed.mirror.kinds()) // 4, anew
        assert await same_cluster(followed.client, header.cluster_uid, Pace(), random.random)
        assert not await same_cluster(followed.client, "another", Pace(), random.random)


async def test_restarts_of_the_api_server_leave_no_trace(plane: Plane) -> None:
    """Three in a row: the model is equal, ready, and nothing was lost on the way."""
    pace = replace(Pace(), audit_rest_s=0.05)
    async with following(plane, pace=pace) as followed:
        for _ in range(3):
            await asyncio.to_thread(plane.restart, "kube-apiserver")
            await settled(lambda: followed.client.get("/api/v1/namespaces/default"))
            await followed.agrees(40)
        kinds = fresh(followed)
        await until(lambda: followed.mirror.stale(kinds) == (), 30)
        assert followed.mirror.ready() == (True, {})
        assert dict(followed.mirror.repairs()) == {}


class Serving:
    """A `suture serve` of its own, and what it has said."""

    def __init__(self, plane: Plane, folder: Path, snapshot: Path) -> None:
        pair = plane.issue_server("freshness", ["127.0.0.1"])
        self.health_port = free_port()
        self.said = folder / f"serve-{time.monotonic_ns()}.log"
        command = [
            sys.executable, "-m", "suture", "serve",
            "--kubeconfig", str(plane.kubeconfig()),
            "--port", str(free_port()), "--health-port", str(self.health_port),
            "--certificate", str(pair.certificate), "--key", str(pair.key),
            "--secret-path", "a-path-of-this-test-that-nobody-knows", "--drain", "0",
            "--snapshot", str(snapshot), "--secret-keys",
        ]  # fmt: skip
        with self.said.open("wb") as log_file:
            self.process = subprocess.Popen(command, stdout=log_file, stderr=log_file)

    async def says(self, what: str) -> None:
        """Wait until it says something."""
        for _ in range(600):
            text = self.said.read_text()
            if f'"event":"{what}"' in text:
                return
            assert self.process.poll() is None, text
            await asyncio.sleep(0.1)
        raise AssertionError(self.said.read_text())

    def metrics(self) -> str:
        """Return what a scrape sees."""
        return httpx2.get(f"http://127.0.0.1:{self.health_port}/metrics").text

    async def stop(self) -> None:
        """Ask it to end, and wait."""
        self.process.terminate()
        assert await asyncio.to_thread(self.process.wait, 30) == 0, self.said.read_text()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_a_server_saves_its_model_and_starts_from_it(plane: Plane, tmp_path: Path) -> None:
    """On SIGTERM it writes the file, and the next one lists nothing."""
    snapshot = tmp_path / "model.suture"
    first = Serving(plane, tmp_path, snapshot)
    try:
        await first.says("model ready")
        text = await asyncio.to_thread(first.metrics)
        assert 'suture_model_staleness_seconds{kind="pods"}' in text
        assert "suture_model_staleness_max_seconds" in text
    finally:
        await first.stop()
    second = Serving(plane, tmp_path, snapshot)
    try:
        await second.says("model loaded")
        await second.says("model ready")
        text = await asyncio.to_thread(second.metrics)
        assert 'kind="pods",what="relists"' not in text
        assert "suture_gc_pause_seconds_count" in text
    finally:
        await second.stop()
