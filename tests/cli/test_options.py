"""Each command takes a model's source as the documentation says, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EVENT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Event",
    "level": "Metadata",
    "auditID": "1",
    "stage": "ResponseComplete",
    "verb": "get",
    "requestURI": "/api/v1/namespaces/shop/services/web",
    "requestReceivedTimestamp": "2026-09-01T10:00:00.000000Z",
    "stageTimestamp": "2026-09-01T10:00:00.000000Z",
    "user": {"username": "jane"},
    "objectRef": {"resource": "services", "namespace": "shop", "name": "web", "apiVersion": "v1"},
    "responseStatus": {"code": 200},
}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}}


@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param(["snapshot", "save", "{folder}/a"], 0, id="snapshot-save"),
        pytest.param(["model", "show", "svc/web"], 0, id="model-show"),
        pytest.param(["model", "stats"], 0, id="model-stats"),
        pytest.param(["model", "mine"], 0, id="model-mine"),
        pytest.param(["impact", "delete", "svc/web"], 10, id="impact"),
        pytest.param(["check", "{folder}/new.json"], 0, id="check"),
        pytest.param(["replay", "{folder}/audit.jsonl"], 0, id="replay"),
    ],
)
def test_a_model_comes_by_standard_input(words: list[str], status: int, tmp_path: Path) -> None:
    """`--from -`, as `kubectl get -o json | suture ... --from -`."""
    (tmp_path / "new.json").write_text(json.dumps(SERVICE))
    (tmp_path / "audit.jsonl").write_text(json.dumps(EVENT))
    words = [word.format(folder=tmp_path) for word in words]
    ran = subprocess.run(
        [sys.executable, "-m", "suture", *words, "--from", "-"],
        input=json.dumps(SERVICE).encode(),
        capture_output=True,
        check=False,
    )

    assert ran.returncode == status, ran.stderr.decode()
