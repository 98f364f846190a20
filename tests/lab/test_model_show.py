"""On a real control plane `suture model show` finds what a workload of every usual kind has."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from suture.adapters.kube import KubeClient
from suture.cli import model
from suture.errors import NotFoundError
from suture.lab.plane import Plane
from suture.wire.discovery import ApiResource

pytestmark = pytest.mark.lab

SHOP = Path(__file__).parents[2] / "docs" / "how-to" / "model-shop.yaml"
READY_S = 60.0
CLUSTER_SCOPED = ("PersistentVolume", "StorageClass", "IngressClass",
                  "ValidatingWebhookConfiguration", "Namespace")  # fmt: skip


async def apply(client: KubeClient, documents: list[dict[str, Any]]) -> None:
    """Apply documents in their order."""
    found = {
        ((api.group + "/" if api.group else "") + api.version, api.kind): api
        for api in (await client.discover()).resources
    }
    for document in documents:
        api = found[document["apiVersion"], document["kind"]]
        await client.patch(path_of(api, document), document, type="apply", force=True)


def path_of(api: ApiResource, document: dict[str, Any]) -> str:
    meta = document["metadata"]
    return api.path(meta.get("namespace", ""), meta["name"])


async def ready(client: KubeClient) -> None:
    """Wait for the Deployment's pods, and for the claim."""
    async with asyncio.timeout(READY_S):
        while True:
            web = await client.get("/apis/apps/v1/namespaces/shop/deployments/web")
            claim = await client.get("/api/v1/namespaces/shop/persistentvolumeclaims/images")
            if web["status"].get("readyReplicas") == 12 and claim["status"]["phase"] == "Bound":
                return
            await asyncio.sleep(0.2)


async def staged(kubeconfig: Path) -> None:
    async with KubeClient.from_kubeconfig(kubeconfig) as client:
        await apply(client, list(yaml.safe_load_all(SHOP.read_text())))
        await ready(client)


async def cleared(kubeconfig: Path) -> None:
    async with KubeClient.from_kubeconfig(kubeconfig) as client:
        found = {api.kind: api for api in (await client.discover()).resources}
        for document in yaml.safe_load_all(SHOP.read_text()):
            if document["kind"] in CLUSTER_SCOPED:
                try:
                    await client.delete(path_of(found[document["kind"]], document))
                except NotFoundError:
                    continue


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert model.app(["show", *words, "--output", "json"], result_action="return_value") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def edges(document: dict[str, Any]) -> set[tuple[str, str, str]]:
    boxes = {box["number"]: f"{box['kind']} {box['names'][0]}" for box in document["boxes"]}
    kinds = {box["number"]: box["kind"] for box in document["boxes"]}

    def name(number: int) -> str:
        return kinds[number] if kinds[number] in ("Pod", "ReplicaSet") else boxes[number]

    return {
        (name(line["needer"]), line["edge"], name(line["needed"])) for line in document["lines"]
    }


def test_a_shop(plane: Plane, capsys: pytest.CaptureFixture[str]) -> None:
    """Every edge of the example in the documentation, by listing the live cluster once."""
    kubeconfig = plane.kubeconfig()
    try:
        asyncio.run(staged(kubeconfig))
        deployment = shown(capsys, "deploy/web", "-n", "shop", "--kubeconfig", str(kubeconfig))
        service = shown(capsys, "svc/web", "-n", "shop", "--kubeconfig", str(kubeconfig))
    finally:
        asyncio.run(cleared(kubeconfig))

    web = "Deployment web"
    assert edges(deployment) >= {
        (web, "namespace", "Namespace shop"),
        (web, "config-map", "ConfigMap web-settings"),
        (web, "secret", "Secret web-database"),
        (web, "secret", "Secret web-payments"),
        (web, "service-account", "ServiceAccount web"),
        (web, "claim", "PersistentVolumeClaim images"),
        ("PersistentVolumeClaim images", "volume", "PersistentVolume shop-images"),
        ("PersistentVolumeClaim images", "storage-class", "StorageClass fast"),
        ("ReplicaSet", "owner", web),
        ("Pod", "owner", "ReplicaSet"),
        ("HorizontalPodAutoscaler web", "scales", web),
        ("Service web", "selects", "Pod"),
        ("PodDisruptionBudget web", "selects", "Pod"),
        ("NetworkPolicy web", "selects", "Pod"),
        ("Ingress web", "routes-to", "Service web"),
        ("ValidatingWebhookConfiguration shop-prices", "webhook", "Service web"),
    }
    assert ("Pod", "node") in {(needer, edge) for needer, edge, _ in edges(service)}
    boxes = {(box["kind"], box["names"][0]): box for box in service["boxes"]}
    assert boxes["Secret", "web-payments"]["presence"] == "missing"
    assert service["boxes"][0]["condition"]["endpoints"] == 12
    assert [line["lost"] for line in service["lines"] if line["lost"]] == [["CURRENCY"]]
