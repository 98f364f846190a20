"""`suture impact` on a live cluster: what is there, what is applied, and what the server makes of it.

The prediction is compared with what the real controllers then did in `test_prediction` and the
differential; here is that the command asks a live cluster rightly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.scene import Scene
from suture.cli import impact
from suture.errors import SutureError

pytestmark = pytest.mark.lab


def told(
    scene: Scene, capsys: pytest.CaptureFixture[str], *words: str, status: int | None = None
) -> dict[str, Any]:
    """Ask about the scene's namespace; return the JSON."""
    options = ["--kubeconfig", str(scene.plane.kubeconfig()), "-n", scene.namespace, "-o", "json"]
    try:
        ended = impact.app([*words, *options], result_action="return_value")
    except SystemExit as error:
        ended = error.code
    assert status is None or ended == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def deployment(scene: Scene, name: str, **spec: Any) -> None:
    """Create a Deployment with a Service before it, and wait for its pods."""
    from support.recorder import until

    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {
            "containers": [{"name": "main", "image": "none", "envFrom": [
                {"configMapRef": {"name": "settings"}}]}],
        },
    }  # fmt: skip
    body = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template, **spec}
    scene.config_map("settings")
    scene.admin.create(
        scene.path("services"),
        {"metadata": {"name": name}, "spec": {"selector": labels, "ports": [{"port": 80}]}},
    )
    path = scene.path("deployments", group="apps/v1")
    scene.admin.create(path, {"metadata": {"name": name}, "spec": body})
    one = scene.path("deployments", name, group="apps/v1")
    until("its pods", lambda: scene.admin.get(one)["status"].get("readyReplicas") == 2, 60)


def kinds(report: dict[str, Any]) -> set[str]:
    """Return the types of the effects."""
    return {one["type"] for one in report["effects"]}


def test_ten_changes_of_a_live_cluster(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deletes, sizes, restarts, patches and manifests, alone and with the server's dry run."""
    deployment(scene, "web")
    gone = told(scene, capsys, "delete", "deploy/web", "--victims", "all")
    orphaned = told(scene, capsys, "delete", "deploy/web", "--cascade", "orphan")
    selected = told(scene, capsys, "delete", "pods", "-l", "app=web")
    scaled = told(scene, capsys, "scale", "deploy/web", "--replicas", "0")
    restarted = told(scene, capsys, "restart", "deploy/web")
    settings = told(scene, capsys, "delete", "cm/settings")
    patched = told(
        scene, capsys, "patch", "svc/web", "-p", '{"spec":{"selector":{"app":"nobody"}}}'
    )
    home = told(scene, capsys, "delete", f"ns/{scene.namespace}")
    manifest = tmp_path / "change.yaml"
    manifest.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},\n"
        "  spec: {containers: [{name: main, image: other}]}}}\n"
    )
    applied = told(scene, capsys, "apply", "-f", str(manifest))
    tried = told(scene, capsys, "apply", "-f", str(manifest), "--server")

    removed = {one["subject"]: one["count"] for one in gone["effects"]
               if one["type"] == "objects_removed"}  # fmt: skip
    assert removed == {"deployments.apps": 1, "replicasets.apps": 1, "pods": 2}
    assert "service_emptied" in kinds(gone)
    assert orphaned["changes"][0]["objects_removed"] == 1
    assert selected["changes"][0]["requests"] == 2
    assert "service_emptied" in kinds(scaled)
    assert "pods_restarted" in kinds(restarted)
    assert "reference_broken" in kinds(settings)
    assert {"selection_changed", "service_emptied"} <= kinds(patched)
    assert home["changes"][0]["objects_removed"] >= 6
    for report in (applied, tried):
        assert "pods_restarted" in kinds(report)
        assert "service_emptied" not in kinds(report)
    # Nothing of it happened.
    web = scene.admin.get(scene.path("deployments", "web", group="apps/v1"))
    assert (web["metadata"]["generation"], web["status"]["readyReplicas"]) == (1, 2)


def test_what_the_server_refuses_is_said(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its words, and the rest of the file is answered."""
    change = tmp_path / "change.yaml"
    change.write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: Not_A_Name}\nspec: {ports: [{port: 80}]}\n"
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n"
    )
    report = told(scene, capsys, "-f", str(change), "--server", status=2)

    assert len(report["changes"]) == 1
    [problem] = report["problems"]
    assert "Not_A_Name" in problem
    with pytest.raises(SutureError, match="no configmaps"):
        told(scene, capsys, "delete", "cm/not-there")
