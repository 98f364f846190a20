"""With Suture in place, a server-side dry run tells anybody what the write would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.recorder import until
from support.scene import operators
from suture.lab.guard import guarded
from suture.lab.identities import Person, ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Rest

pytestmark = pytest.mark.lab

SPACE = "asking"
HOME = f"/api/v1/namespaces/{SPACE}"
SERVICE = f"{HOME}/services/web"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{SPACE}/deployments/web"
ACCOUNT = ServiceAccount(SPACE, "operator")
PERSON = Person("alice", ("system:masters",))


@pytest.fixture(scope="module")
def shop(plane: Plane) -> Iterator[Plane]:
    """Return a lab with Suture, nobody enrolled, and a Service before two Ready pods."""
    admin = plane.admin
    operators(plane, SPACE, ACCOUNT)
    labels = {"app": "web"}
    admin.create(
        f"{HOME}/services",
        {"metadata": {"name": "web"}, "spec": {"selector": labels, "ports": [{"port": 80}]}},
    )
    admin.create(
        f"{HOME}/secrets",
        {"metadata": {"name": "database"}, "stringData": {"password": "a", "former": "b"}},
    )
    word = {"secretKeyRef": {"name": "database", "key": "password"}}
    container = {"name": "main", "image": "none", "env": [{"name": "PASSWORD", "valueFrom": word}]}
    pod = {"containers": [container]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    admin.create(DEPLOYMENT.rpartition("/")[0], {"metadata": {"name": "web"}, "spec": spec})

    def ready() -> bool:
        return bool(admin.get(DEPLOYMENT).get("status", {}).get("readyReplicas") == 2)

    until("two Ready pods", ready)
    with guarded(plane):
        yield plane
    admin.delete(HOME)


def warnings(client: Rest, method: str, path: str, body: Any = None, **params: str) -> str:
    """Return what a dry run is told beside its answer."""
    answer = client.request(method, path, body=body, params={"dryRun": "All", **params})
    assert answer.is_success, answer.text
    return "\n".join(answer.headers.get_list("warning"))


@pytest.mark.parametrize("identity", [PERSON, ACCOUNT], ids=["person", "operator"])
def test_a_dry_run_tells_the_impact(shop: Plane, identity: Person | ServiceAccount) -> None:
    """Of a delete and of an apply, to a person and to an operator that nobody enrolled."""
    client = shop.client(identity)

    deleted = warnings(client, "DELETE", SERVICE)
    gone = warnings(client, "DELETE", DEPLOYMENT, propagationPolicy="Background")
    live = client.get(DEPLOYMENT)
    scaled = warnings(client, "PUT", DEPLOYMENT, {**live, "spec": {**live["spec"], "replicas": 0}})

    assert "impact, " in deleted
    assert "endpoint" in deleted
    assert "pods" in gone
    assert "pods" in scaled
    assert client.exists(SERVICE)
    assert client.get(DEPLOYMENT)["spec"]["replicas"] == 2


def test_entries_of_secrets_are_read_where_they_are_written(shop: Plane) -> None:
    """Secrets are listed by their names alone here; a write shows which entries it takes."""
    client, secret = shop.client(ACCOUNT), f"{HOME}/secrets/database"

    def without(entry: str) -> str:
        live = client.get(secret)
        del live["data"][entry]
        return warnings(client, "PUT", secret, live)

    named, unnamed = without("password"), without("former")

    assert "secrets asking/database password: " in named
    assert "could not start again" in named
    assert "could not start again" not in unnamed


def test_what_changes_nothing_is_told_nothing(shop: Plane) -> None:
    """A dry run of an annotation is as quiet as ever."""
    client = shop.client(PERSON)
    live = client.get(SERVICE)
    live["metadata"]["annotations"] = {"example.com/seen": "yes"}
    assert warnings(client, "PUT", SERVICE, live) == ""
