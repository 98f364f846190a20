"""`suture verify` runs suites of policy tests, and says what did not come out as written."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from suture.cli.verify import verify
from suture.errors import DocumentError, InputError, SutureError
from suture.wire.yaml import read_documents

EXAMPLE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-policy"
POLICY = (EXAMPLE / "policy.yaml").read_text()

CASE = """
    - name: %s
      request: {verb: delete, target: configmap/%s}
      expect: {answer: %s}
"""
SUITE = """
apiVersion: policies.suture.dev/v1alpha1
kind: Suite
metadata: {name: mine}
spec:
  policies: [policy.yaml]
  tests:
  - name: one
    cluster:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop,
       labels: {example.com/keep: "yes"}}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}
    cases:
"""


def folder(tmp_path: Path, suite: str) -> Path:
    """Write a suite beside its policy."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "suite.yaml").write_text(suite)
    return tmp_path


def test_the_example_of_the_docs_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(EXAMPLE, require_coverage=True) == 0
    said = capsys.readouterr().out

    assert "kept-configuration: 2 of 2 rules spoke" in said
    assert "5 of 5 cases passed" in said


def test_what_failed_is_told_with_what_came_instead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = SUITE + CASE % ("stays", "a", "allow") + CASE % ("is not there", "c", "allow")
    assert verify(folder(tmp_path, suite)) == 1
    said = capsys.readouterr().out

    assert "answer: deny, not allow" in said
    assert "configmaps a is marked as kept" in said
    assert "no configmaps `c`" in said
    assert "0 of 2 cases passed" in said


def test_a_rule_that_no_case_makes_speak_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder(tmp_path, SUITE + CASE % ("goes", "b", "allow"))

    assert verify(path) == 0
    assert verify(path, require_coverage=True) == 1
    assert "never: kept-configuration/kept" in capsys.readouterr().out


def test_for_programs_and_for_ci(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder(tmp_path, SUITE + CASE % ("right", "a", "deny") + CASE % ("wrong", "a", "warn"))
    verify(path, output="json")
    told = json.loads(capsys.readouterr().out)
    verify(path, output="junit")
    root = ET.fromstring(capsys.readouterr().out)  # noqa: S314 our own words

    assert (told["passed"], told["failed"]) == (1, 1)
    assert [one["passed"] for one in told["cases"]] == [True, False]
    assert root.attrib["failures"] == "1"
    [failure] = root.iter("failure")
    assert "answer: deny, not warn" in failure.attrib["message"]


WORKLOAD = """
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web, namespace: shop}
      spec: {replicas: 2, selector: {matchLabels: {app: web}}}
"""
POD = """
    - {apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop, labels: {app: web}}}
"""


@pytest.mark.parametrize(("pods", "told"), [("", True), (POD, False)])
def test_workloads_without_pods_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pods: str, *, told: bool
) -> None:
    """No controller makes them in a world, and what is lost with them would not show."""
    head, cases = SUITE.rsplit("    cases:", 1)
    path = folder(
        tmp_path, f"{head}{WORKLOAD}{pods}    cases:{cases}" + CASE % ("goes", "b", "allow")
    )

    assert verify(path) == 0
    assert ("no pods mine / one: deployments.apps shop/web" in capsys.readouterr().out) is told
    verify(path, output="json")
    assert bool(json.loads(capsys.readouterr().out)["podless"]) is told


def test_one_case_can_be_run_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(EXAMPLE, run="the fourth is refused") == 0
    assert "1 of 1 cases passed" in capsys.readouterr().out
    with pytest.raises(InputError, match="no case contains"):
        verify(EXAMPLE, run="nothing like it")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("answer: deny", "answer: maybe"), "suite.yaml"),
        (("request:", "reqest:"), "did you mean `request`"),
        (("policies: [policy.yaml]", "policies: [nowhere.yaml]"), "nowhere.yaml"),
        (("policies: [policy.yaml]", "policies: []"), "tests nothing"),
    ],
)
def test_what_cannot_be_read_is_said_by_file_line_and_field(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    suite = (SUITE + CASE % ("stays", "a", "deny")).replace(*change)

    with pytest.raises(SutureError, match=words):
        verify(folder(tmp_path, suite))


def test_a_mistake_in_a_policy_is_found_before_any_case(tmp_path: Path) -> None:
    path = folder(tmp_path, SUITE + CASE % ("stays", "a", "deny"))
    wrong = POLICY.replace("request.operation", "request.operatoin")
    (path / "policy.yaml").write_text(wrong)

    with pytest.raises((InputError, DocumentError), match=r"policy.yaml:\d+: field"):
        verify(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("suite.yaml", ("kind: Suite", 'kind: "Suite"')),
        ("suite.yml", ("kind: Suite", "kind:   Suite   # mine")),
        ("suite.json", None),
    ],
)
def test_a_suite_is_told_by_its_kind_however_it_is_written(
    tmp_path: Path, name: str, change: tuple[str, str] | None
) -> None:
    """What is skipped without a word looks like what passed."""
    text = SUITE + CASE % ("fails", "a", "allow")
    if change is None:
        [document] = read_documents(text, name)
        text = json.dumps(document.value)
    else:
        text = text.replace(*change)
    (folder(tmp_path, SUITE + CASE % ("passes", "b", "allow")) / name).write_text(text)
    (tmp_path / "chart.yaml").write_text("{{ no YAML }}: at all")
    (tmp_path / "other.yaml").write_text("kind: TestSuite")

    assert verify(tmp_path) == 1


def test_a_suite_that_is_no_yaml_is_not_skipped(tmp_path: Path) -> None:
    (folder(tmp_path, "") / "suite.yaml").write_text(SUITE + "  - [")

    with pytest.raises(DocumentError, match=r"suite.yaml:\d+: "):
        verify(tmp_path)


def test_nothing_to_verify_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no suite"):
        verify(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        verify(tmp_path / "x")
    with pytest.raises(InputError, match="nothing to verify"):
        verify()
