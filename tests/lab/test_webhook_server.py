"""The webhook server asked by a real API server, with the API server's own client certificate."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvloop

from support.recorder import until
from support.serving import Running, running
from suture.adapters.webhook import MutualTls, Peer, WebhookServer, WebhookSettings
from suture.lab.plane import Plane
from suture.lab.rest import StatusError

pytestmark = pytest.mark.lab

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
CONFIG_MAPS = "/api/v1/namespaces/webhook-server/configmaps"


@dataclass
class Judge:
    """A handler that allows all but what is named `no`."""

    seen: list[tuple[str, Peer]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    async def __call__(self, path: str, body: bytes, peer: Peer) -> bytes:
        request = json.loads(body)["request"]
        self.seen.append((path, peer))
        self.sizes.append(len(body))
        refused = (request.get("object") or {}).get("metadata", {}).get("name") == "no"
        response: dict[str, Any] = {"uid": request["uid"], "allowed": not refused}
        if refused:
            response["status"] = {"code": 403, "message": "not this one (d-1)"}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return json.dumps(review | {"response": response}).encode()


@pytest.fixture(scope="module")
def namespace(plane: Plane) -> None:
    plane.admin.create("/api/v1/namespaces", {"metadata": {"name": "webhook-server"}})


@contextmanager
def registered(plane: Plane, port: int, timeout_s: int = 5) -> Iterator[None]:
    """Have ConfigMaps of the test's namespace reviewed by the server; wait until they are."""
    bundle = base64.b64encode(plane.webhook_server_ca.read_bytes()).decode()
    plane.admin.create(
        CONFIGURATIONS,
        {
            "metadata": {"name": "webhook-server"},
            "webhooks": [
                {
                    "name": "webhook-server.suture.dev",
                    "clientConfig": {
                        "url": f"https://127.0.0.1:{port}/admit",
                        "caBundle": bundle,
                    },
                    "rules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["*"],
                            "resources": ["configmaps"],
                        }
                    ],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": "webhook-server"}
                    },
                    "sideEffects": "None",
                    "failurePolicy": "Fail",
                    "timeoutSeconds": timeout_s,
                    "admissionReviewVersions": ["v1"],
                }
            ],
        },
    )
    try:
        until("the webhook to be asked", lambda: refused(plane, "no"))
        yield
    finally:
        plane.admin.delete(f"{CONFIGURATIONS}/webhook-server")


def refused(plane: Plane, name: str) -> str:
    """Return the words with which a dry-run create is refused, empty when it is not."""
    try:
        plane.admin.create(CONFIG_MAPS, {"metadata": {"name": name}}, dryRun="All")
    except StatusError as error:
        return str(error)
    return ""


@contextmanager
def served(
    plane: Plane, judge: Judge, *, ca: Path | None = None, drain_s: float = 1.0
) -> Iterator[Running[WebhookServer]]:
    pair = plane.issue_server("webhook-server", ["127.0.0.1"])
    settings = WebhookSettings(
        host="127.0.0.1",
        port=0,
        certificate=pair.certificate,
        key=pair.key,
        client_auth=MutualTls(ca or plane.webhook_client_ca),
        paths=frozenset({"/admit"}),
        drain_s=drain_s,
    )
    with running(lambda: WebhookServer(settings, judge), uvloop.new_event_loop) as server:
        yield server


def test_reviews_are_answered(plane: Plane, namespace: None) -> None:
    """The API server shows its certificate, keeps its connection, and hears the decision."""
    judge = Judge()
    with served(plane, judge) as server, registered(plane, server.server.port):
        assert "not this one (d-1)" in refused(plane, "no")
        assert refused(plane, "yes") == ""
        # The largest object an API server takes, nearly: a review holds it as JSON.
        large = {"metadata": {"name": "large"}, "data": {"a": "\\" * 900_000}}
        plane.admin.create(CONFIG_MAPS, large, dryRun="All")
        assert max(judge.sizes) > 1_800_000
        paths, peers = zip(*judge.seen, strict=True)
        assert set(paths) == {"/admit"}
        assert len(set(peers)) == 1
        assert peers[0].common_name
        assert server.server.connections <= 2
        assert set(server.server.answers) == {200}


def test_an_unknown_api_server_is_not_answered(plane: Plane, namespace: None) -> None:
    """An API server whose certificate another authority signed gets a TLS failure, no answer."""
    judge = Judge()
    with (
        served(plane, Judge()) as right,
        registered(plane, right.server.port),
        served(plane, judge, ca=plane.ca_file) as wrong,
    ):
        configuration = plane.admin.get(f"{CONFIGURATIONS}/webhook-server")
        url = f"https://127.0.0.1:{wrong.server.port}/admit"
        configuration["webhooks"][0]["clientConfig"]["url"] = url
        plane.admin.replace(f"{CONFIGURATIONS}/webhook-server", configuration)
        words = until("the change to be seen", lambda: tls_words(refused(plane, "yes")))
        assert "failed calling webhook" in words
        assert judge.seen == []
        assert wrong.server.answers == {}


def tls_words(words: str) -> str:
    return words if "tls:" in words or "EOF" in words or "reset" in words else ""


def test_a_replaced_replica_fails_no_write(plane: Plane, namespace: None) -> None:
    """While one replica drains and another takes its port over, fail-closed writes all pass."""
    failures: list[str] = []
    written = 0
    stopping = threading.Event()
    judge = Judge()

    def write() -> None:
        nonlocal written
        while not stopping.is_set():
            if words := refused(plane, "yes"):
                failures.append(words)
            written += 1

    with served(plane, judge, drain_s=1.5) as old, registered(plane, old.server.port):
        writer = threading.Thread(target=write)
        writer.start()
        try:
            until("writes to flow", lambda: written > 50)
            old.stop()  # it goes on serving for a moment, as it must until endpoints change
            with served(plane, judge) as new:
                configuration = plane.admin.get(f"{CONFIGURATIONS}/webhook-server")
                url = f"https://127.0.0.1:{new.server.port}/admit"
                configuration["webhooks"][0]["clientConfig"]["url"] = url
                plane.admin.replace(f"{CONFIGURATIONS}/webhook-server", configuration)
                until("the new replica to be asked", lambda: new.server.answers.get(200, 0) > 50)
                until("the old one to end", lambda: not old.server.ready())
                time.sleep(2.0)
                before = written
                until("writes to go on", lambda: written > before + 20)
                stopping.set()
                writer.join(10)
        finally:
            stopping.set()
            writer.join(10)
    assert failures == []
