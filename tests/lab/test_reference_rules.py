"""On a real control plane: what of a ReferenceRule is refused, and how rules come into force."""

from __future__ import annotations

from typing import Any

import pytest

from support.labmirror import following, settled, until
from suture.adapters.kube import KubeClient
from suture.app.prospect import Prospector
from suture.app.rules import Rules
from suture.errors import ApiError
from suture.install.paths import path_of
from suture.install.referencerules import rule_definition
from suture.lab.plane import Plane
from suture.model.edges import Edge, Need, Selection
from suture.model.names import CONFIG_MAPS, PODS, SECRETS, ObjectKey, Resource
from suture.model.objects import CustomFacts
from suture.model.rules import TypeName
from suture.model.selectors import Selector

pytestmark = pytest.mark.lab

SPACE = "rules-test"
STORES = Resource("rules.test", "stores")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RULES = "/apis/policies.suture.dev/v1alpha1/referencerules"
MAPS = f"/api/v1/namespaces/{SPACE}/configmaps"
STORE_PATH = f"/apis/rules.test/v1/namespaces/{SPACE}/stores"

TEXT = {"type": "string"}
LABELS = {"type": "object", "additionalProperties": TEXT}
EXPRESSION = {
    "type": "object",
    "properties": {
        "key": TEXT,
        "operator": TEXT,
        "values": {"type": "array", "items": TEXT},
    },
}
SELECTOR = {
    "type": "object",
    "properties": {
        "matchLabels": LABELS,
        "matchExpressions": {"type": "array", "items": EXPRESSION},
    },
}
DEFINITION: dict[str, Any] = {
    "metadata": {"name": "stores.rules.test"},
    "spec": {
        "group": "rules.test",
        "names": {"plural": "stores", "singular": "store", "kind": "Store"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.size",
                        "statusReplicasPath": ".status.size",
                    },
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "secretRef": {"type": "object", "properties": {"name": TEXT}},
                                    "selector": SELECTOR,
                                    "settings": TEXT,
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"size": {"type": "integer"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}


def store(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "rules.test/v1",
        "kind": "Store",
        "metadata": {"name": name},
        "spec": spec,
    }


def rule(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policies.suture.dev/v1alpha1",
        "kind": "ReferenceRule",
        "metadata": {"name": name},
        "spec": {"from": {"group": "rules.test", "kind": "Store"}, **spec},
    }


async def prepared(client: KubeClient) -> None:
    """Have the ReferenceRule kind served, and a namespace."""
    definition = rule_definition()
    await client.patch(path_of(definition), definition, type="apply", force=True)
    await settled(lambda: client.get(RULES))
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    await client.patch(f"/api/v1/namespaces/{SPACE}", body, type="apply", force=True)


GOOD: list[dict[str, Any]] = [
    {"field": "spec.settings", "to": {"kind": "ConfigMap"}},
    {
        "field": "spec.users[*].secret.name",
        "to": {
            "resource": "secrets",
            "namespace": "spec.users[*].secret.namespace",
            "key": "spec.users[*].secret.key",
        },
        "optional": True,
    },
    {"wanted": "spec.size"},
    {"children": [{"kind": "ConfigMap", "by": "label", "label": "rules.test/store"}]},
    {"children": [{"kind": "Pod", "by": "name", "name": "{name}-*", "parent": "cluster"}]},
    {"children": [{"group": "apps", "kind": "StatefulSet", "by": "owner"}], "wanted": "spec.size"},
    {"selector": {"field": "spec.selector", "of": "pods"}},
    {"selector": {"field": "spec.nodes", "of": {"kind": "Node"}, "form": "matchLabels"}},
]
BAD: list[dict[str, Any]] = [
    {},
    {"field": "spec.settings"},
    {"to": {"kind": "ConfigMap"}},
    {"field": "spec.settings", "to": {}},
    {"field": "spec.settings", "to": {"kind": "A", "resource": "b"}},
    {"field": "spec.settings", "to": {"kind": "A"}, "wanted": "spec.size"},
    {"wanted": "spec.size", "optional": True},
    {"children": [{"kind": "Pod", "by": "label"}]},
    {"children": [{"kind": "Pod", "by": "owner", "label": "x"}]},
    {"children": [{"kind": "Pod", "by": "guess"}]},
    {"selector": {"of": "pods"}},
    {"selector": {"field": "spec.a", "form": "set"}},
]


async def test_the_api_server_refuses_rules_that_make_no_sense(plane: Plane) -> None:
    """And takes those that do, in each of their forms."""
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        await prepared(client)
        for at, spec in enumerate(GOOD):
            await client.create(RULES, rule(f"good-{at}", **spec), dry_run=True)
        for at, spec in enumerate(BAD):
            with pytest.raises(ApiError) as refused:
                await client.create(RULES, rule(f"bad-{at}", **spec), dry_run=True)
            assert refused.value.status == 422, spec


async def test_rules_come_into_force_as_they_are_written(plane: Plane) -> None:
    """What the schema tells at once, what a ReferenceRule tells when it comes, until it goes."""
    async with following(plane) as followed:
        client = followed.client
        rules = Rules(followed.trimmer, followed.mirror.watches, followed.graph)
        followed.mirror._intake.join(rules)
        rules.load(followed.graph)
        await prepared(client)
        await client.create(CRDS, DEFINITION)
        selector = {"matchLabels": {"app": "db"}}
        body = store("main", size=3, secretRef={"name": "key"}, selector=selector, settings="tuned")
        try:
            await settled(lambda: client.create(STORE_PATH, body))
            labels = {"rules.test/store": "main"}
            metadata = {"name": "child", "labels": labels}
            await client.create(
                MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            )
            main = ObjectKey(STORES, SPACE, "main")
            child = ObjectKey(CONFIG_MAPS, SPACE, "child")

            def needs(key: ObjectKey) -> list[Need]:
                found = followed.at(key)
                wanted = (Edge.RULE, Edge.PARENT)
                return [] if found is None else [one for one in found.needs if one.edge in wanted]

            key = Need(Edge.RULE, ObjectKey(SECRETS, SPACE, "key"), optional=True)
            await until(lambda: needs(main) == [key], 20)
            selection = Selection(PODS, SPACE, Selector.of({"app": "db"}))
            assert followed.at(main).facts == CustomFacts(3, (selection,))

            await client.create(RULES, rule("settings", **GOOD[0]))
            await client.create(RULES, rule("children", **GOOD[3]))
            tuned = Need(Edge.RULE, ObjectKey(CONFIG_MAPS, SPACE, "tuned"))
            await until(lambda: needs(main) == [tuned, key], 20)
            await until(lambda: needs(child) == [Need(Edge.PARENT, main)], 20)

            await client.delete(f"{RULES}/settings")
            await client.delete(f"{RULES}/children")
            await until(lambda: needs(main) == [key] and needs(child) == [], 20)
            assert rules.problems == {}
            assert rules.waiting == ()
        finally:
            await client.delete(f"{CRDS}/stores.rules.test")


async def test_a_live_cluster_is_mined(plane: Plane) -> None:
    """A field that no schema gives away is found by what its values name."""
    async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
        await prepared(client)
        definition = {
            **DEFINITION,
            "metadata": {"name": "shops.rules.test"},
            "spec": {
                **DEFINITION["spec"],
                "names": {"plural": "shops", "singular": "shop", "kind": "Shop"},
            },
        }
        await client.create(CRDS, definition)
        try:
            path = STORE_PATH.replace("stores", "shops")
            shop = {**store("shop-0", settings="map-0"), "kind": "Shop"}
            await settled(lambda: client.create(path, shop))
            for at in range(12):
                metadata = {"name": f"map-{at}"}
                body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
                await client.create(MAPS, body)
            for at in range(1, 10):
                body = {**store(f"shop-{at}", settings=f"map-{at}"), "kind": "Shop"}
                await client.create(path, body)
            prospector = Prospector()
            await prospector.survey(client)
            found = prospector.finish(support=5, confidence=0.9).mined
            (one,) = [one for one in found.proposals if one.of == TypeName("rules.test", "Shop")]
            assert str(one.says.field) == "spec.settings"
            assert one.says.to == TypeName("", "ConfigMap")
            assert (one.support, one.confidence) == (10, 1.0)
        finally:
            await client.delete(f"{CRDS}/shops.rules.test")
