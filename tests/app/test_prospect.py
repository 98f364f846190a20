"""Bodies on their way to the miner: from texts, and from a cluster that is listed once."""

from __future__ import annotations

import json
from typing import Any

from support.fakecluster import FakeCluster, api, forbidden
from support.following import CRD, WIDGETS
from suture.app.prospect import Prospected, Prospector
from suture.model.names import CONFIG_MAPS, CRDS, PODS, SECRETS, SERVICES
from suture.model.rules import Place, Reference, TypeName

SECRET = TypeName("", "Secret")
OTHER = "a-value-that-nobody-may-see"


def widget(at: int, **spec: Any) -> dict[str, Any]:
    metadata = {"name": f"w-{at}", "namespace": "shop"}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec}


def named(kind: str, at: int, **body: Any) -> dict[str, Any]:
    metadata = {"name": f"{kind.lower()}-{at}", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **body}


def objects(field: str = "creds") -> list[dict[str, Any]]:
    """Return widgets that name Secrets, and much else beside."""
    return [
        *(widget(at, **{field: f"secret-{at}"}) for at in range(8)),
        *(named("Secret", at, data={"password": OTHER}) for at in range(10)),
        *(named("Service", at) for at in range(90)),
    ]


def prospected(*texts: str) -> Prospected:
    prospector = Prospector()
    for text in texts:
        prospector.add(text.encode(), "a file")
    return prospector.finish(support=5, confidence=0.9)


def listed(items: list[dict[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def said(found: Prospected) -> list[tuple[str, TypeName]]:
    return [(str(one.says.field), one.says.to) for one in found.mined.proposals]


def test_objects_of_texts_are_mined() -> None:
    """Of a list as kubectl writes it, and of several files, in any order."""
    items = objects()
    whole = prospected(listed(items))
    assert said(whole) == [("spec.creds", SECRET)]
    assert whole.mined.objects == len(items)
    assert whole.notes == ()
    assert said(prospected(listed(items[20:]), listed(items[:20]))) == said(whole)


def test_what_a_schema_tells_is_not_proposed_again() -> None:
    """Wherever in the texts the definition is."""
    schema = {
        "openAPIV3Schema": {
            "properties": {"spec": {"properties": {"secretName": {"type": "string"}}}}
        }
    }
    version = {"name": "v1", "served": True, "schema": schema}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        **CRD,
        "spec": {**CRD["spec"], "versions": [version]},
    }
    items = objects("secretName")
    assert said(prospected(listed(items))) == [("spec.secretName", SECRET)]
    assert said(prospected(listed([*items, definition]))) == []


def test_what_is_declared_is_not_proposed_again() -> None:
    """A ReferenceRule among the texts says that a person knows; one that is wrong is noted."""
    rule = {
        "apiVersion": "policies.suture.dev/v1alpha1",
        "kind": "ReferenceRule",
        "metadata": {"name": "told"},
        "spec": {
            "from": {"group": "example.com", "kind": "Widget"},
            "field": "spec.creds",
            "to": {"kind": "Secret"},
        },
    }
    assert said(prospected(listed([*objects(), rule]))) == []
    wrong = {**rule, "spec": {"from": {"kind": "Widget"}}}
    found = prospected(listed([*objects(), wrong]))
    assert said(found) == [("spec.creds", SECRET)]
    assert "ReferenceRule told" in found.notes[0]


def test_what_is_no_object_is_noted() -> None:
    """And the rest is mined."""
    found = prospected(listed(objects()), "a: [", listed([]))
    assert said(found) == [("spec.creds", SECRET)]
    assert len(found.notes) == 1


def filled() -> FakeCluster:
    cluster = FakeCluster()
    widgets = api(WIDGETS, "Widget")
    cluster.apis[widgets.path()] = widgets
    for one in objects():
        resource = {"Widget": WIDGETS, "Secret": SECRETS, "Service": SERVICES}[one["kind"]]
        body = {key: value for key, value in one.items() if key in ("spec", "data")}
        cluster.write(resource, one["metadata"]["name"], "shop", **body)
    return cluster


async def test_a_cluster_is_listed_and_mined() -> None:
    """Secrets, and what controllers stamp out, are asked for as metadata only."""
    cluster = filled()
    cluster.write(PODS, "p", "shop")
    prospector = Prospector()
    await prospector.survey(cluster)
    found = prospector.finish(support=5, confidence=0.9)
    assert said(found) == [("spec.creds", SECRET)]
    whole = {path for _, path, metadata_only in cluster.asked if not metadata_only}
    assert cluster.path(WIDGETS) in whole
    assert not whole & {cluster.path(one) for one in (SECRETS, CONFIG_MAPS, PODS)}
    asked = {path for _, path, _ in cluster.asked}
    assert not any("leases" in path or "events" in path for path in asked)
    assert cluster.path(CRDS) in asked


async def test_what_may_not_be_listed_is_noted() -> None:
    """The rest is mined all the same."""
    cluster = filled()
    cluster.faults.refused[cluster.path(SERVICES)] = forbidden()
    prospector = Prospector()
    await prospector.survey(cluster)
    found = prospector.finish(support=5, confidence=0.9)
    assert len(found.notes) == 1
    assert "services" in found.notes[0]


def test_names_in_no_namespace_are_of_the_cluster() -> None:
    """Manifests that leave out the namespace are in the default one, if they can be in any."""
    items = [{**named("Service", at), "metadata": {"name": f"service-{at}"}} for at in range(90)]
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"space-{at}"}}
        for at in range(10)
    ]
    found = prospected(
        listed([*items, *spaces, *(widget(at, into=f"space-{at}") for at in range(8))])
    )
    (one,) = found.mined.proposals
    assert isinstance(one.says, Reference)
    assert one.says.place is Place.CLUSTER
