"""`suture model mine`: what it prints, and what it prints can be applied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suture.cli.modelmine import mine
from suture.errors import InputError
from suture.model.ruleformat import read_rules
from suture.wire.snapshot import MAGIC
from suture.wire.yaml import read_documents


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """Return a folder of widgets that name Secrets, one file a kind."""
    widgets = [
        f"apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w-{at}, namespace: shop}}\n"
        f"spec: {{creds: secret-{at}}}\n"
        for at in range(8)
    ]
    others = [
        f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {kind.lower()}-{at}, namespace: shop}}\n"
        for kind, count in (("Secret", 10), ("Service", 90))
        for at in range(count)
    ]
    (tmp_path / "widgets.yaml").write_text("---\n".join(widgets))
    (tmp_path / "others.yaml").write_text("---\n".join(others))
    return tmp_path


def test_proposals_are_printed_as_rules_to_apply(
    manifests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the evidence in annotations."""
    assert mine(source=str(manifests), output="yaml") == 0
    text = capsys.readouterr().out
    (rule,) = read_rules(read_documents(text, "mined"))
    assert rule.name == "widget-creds-secret"
    assert "mined.suture.dev/support: '8'" in text
    assert "mined.suture.dev/confidence: '1.0000'" in text


def test_proposals_are_printed_for_people_and_programs(
    manifests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same figures in both."""
    assert mine(source=str(manifests)) == 0
    table = capsys.readouterr().out
    assert "spec.creds" in table
    assert "100.0%" in table
    assert mine(source=str(manifests), output="json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["objects"] == 108
    (proposal,) = found["proposals"]
    assert proposal["support"] == 8
    assert proposal["rule"]["spec"]["to"] == {"group": "", "kind": "Secret"}


def test_nothing_found_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what was looked at."""
    (tmp_path / "one.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}")
    assert mine(source=str(tmp_path)) == 0
    assert "nothing to propose, in 1 objects of 1 kinds" in capsys.readouterr().out
    assert mine(source=str(tmp_path), output="yaml") == 0
    assert capsys.readouterr().out == ""


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    """Bounds out of bounds, and a snapshot, which keeps no bodies."""
    with pytest.raises(InputError, match="min-support 0"):
        mine(source=str(tmp_path), min_support=0)
    with pytest.raises(InputError, match=r"min-confidence 1\.5"):
        mine(source=str(tmp_path), min_confidence=1.5)
    (tmp_path / "odd.yaml").write_text("- a\n")
    with pytest.raises(InputError, match="no object that can be read"):
        mine(source=str(tmp_path))
    snapshot = tmp_path / "a.snapshot"
    snapshot.write_bytes(MAGIC + b"...")
    with pytest.raises(InputError, match="keeps no bodies"):
        mine(source=str(snapshot))
