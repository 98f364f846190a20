"""`suture check` judges manifests at rest, and speaks the tongues of CI."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
import yaml

from suture.cli.check import check

HOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: everything}
webhooks:
- name: all.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: hook, namespace: hooks}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
"""
HARMLESS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {a: b}
"""


def written(tmp_path: Path, *documents: str) -> str:
    """Write documents to a file."""
    path = tmp_path / "change.yaml"
    path.write_text("---".join(documents))
    return str(path)


def test_ordinary_manifests_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(written(tmp_path, HARMLESS)) == 0
    assert "1 objects checked: 0 would be refused" in capsys.readouterr().out


def test_a_finding_has_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, HARMLESS, HOOK)
    assert check(path, output="json") == 12
    found = json.loads(capsys.readouterr().out)

    [grave] = [one for one in found["findings"] if one["level"] == "error"]
    assert grave["policy"] == "webhook-safety"
    assert (grave["file"], grave["line"]) == (path, 7)
    assert grave["object"]["kind"] == "ValidatingWebhookConfiguration"


def test_sarif_is_what_code_scanning_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, HOOK)
    check(path, output="sarif")
    log = json.loads(capsys.readouterr().out)

    jsonschema.validate(log, SARIF)
    [run] = log["runs"]
    result = run["results"][0]
    assert result["ruleId"] in {one["id"] for one in run["tool"]["driver"]["rules"]}
    [place] = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == path


def test_a_resource_list_is_answered_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a function runner hands it over, with the items as they came."""
    items = [yaml.safe_load(HARMLESS), yaml.safe_load(HOOK)]
    whole = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    stdin = SimpleNamespace(buffer=io.BytesIO(yaml.safe_dump(whole).encode()))
    monkeypatch.setattr("sys.stdin", stdin)

    assert check("-") == 12
    answer = yaml.safe_load(capsys.readouterr().out)

    assert answer["items"] == items
    grave = [one for one in answer["results"] if one["severity"] == "error"]
    assert grave[0]["resourceRef"]["name"] == "everything"
    assert grave[0]["tags"]["policy"] == "webhook-safety"


def test_what_cannot_be_read_is_told_and_the_rest_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, HOOK, "\nkind: nothing\n", HARMLESS)

    assert check(path) == 2
    said = capsys.readouterr()
    assert "2 objects checked: 1 would be refused" in said.out
    assert "lacks the field `apiVersion`" in said.err


def test_against_a_cluster_an_object_is_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The very Service that is there, pointed at nothing."""
    cluster = tmp_path / "cluster.yaml"
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, labels: {app: web}}\n"
        "spec: {nodeName: node-1, containers: []}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}]}"
    )
    service = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
        "spec: {selector: {app: %s}, ports: [{port: 80}]}"
    )
    cluster.write_text(f"{pod}\n---\n{service % 'web'}")
    path = written(tmp_path, "\n" + service % "nobody")

    assert check(path) == 0
    capsys.readouterr()
    assert check(path, source=str(cluster)) == 12
    assert "selector-safety" in capsys.readouterr().out


SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["message", "ruleId", "level"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                            },
                        },
                    },
                },
            },
        },
    },
}
"""What of the SARIF 2.1.0 schema concerns what is written here."""
