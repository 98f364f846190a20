"""`suture impact` tells what a change would do, for people, programs and pull requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.shop import PODS_READY, shop
from suture.adapters.snapshots import save_graph
from suture.cli import impact
from suture.errors import SutureError
from suture.model.clock import Now
from suture.model.names import DEPLOYMENTS

TAKEN = Now(1_000_000_000_000, 1_795_280_000.0)
MANIFESTS = Path(__file__).parents[2] / "docs" / "how-to" / "model-shop.yaml"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Save the shop to a file."""
    path = tmp_path / "shop.snapshot"
    save_graph(shop(), path, now=TAKEN, cluster="demo")
    return path


def run(*words: str | Path) -> int:
    """Run a command and return its exit status."""
    try:
        status = impact.app([str(word) for word in words], result_action="return_value")
    except SystemExit as ended:
        status = ended.code
    return int(status or 0)


def told(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    """Run a command that answers in JSON."""
    run(*words, "--output", "json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def effects(report: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the effects of one type."""
    return [one for one in report["effects"] if one["type"] == kind]


def test_a_delete_names_what_goes_and_who_loses(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything removed, by type, with every victim whole when all are asked for."""
    found = told(capsys, "delete", "deploy/web", "-n", "shop", "--from", snapshot,
                 "--victims", "all")  # fmt: skip
    removed = {one["subject"]: one for one in effects(found, "objects_removed")}

    assert removed["deployments.apps"]["count"] == 1
    pods = removed["pods"]
    assert pods["count"] == len(pods["victims"]) == len({one["uid"] for one in pods["victims"]})
    assert set(pods["victims"][0]) == {"group", "version", "resource", "namespace", "name", "uid"}
    assert pods["victims"][0]["version"] == "v1"
    [emptied] = effects(found, "service_emptied")
    assert (emptied["before"], emptied["after"]) == (PODS_READY, 0)
    assert {"type", "count", "confidence", "reversible", "victims"} <= set(emptied)


@pytest.mark.parametrize("words", [("deploy/none",), ("deploy", "--selector", "app=none")])
def test_of_what_may_not_be_listed_nothing_is_claimed(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """Neither that it is not there, nor that nothing matches."""
    graph, path = shop(), tmp_path / "a"
    graph.mark_unknown(DEPLOYMENTS, "403 Forbidden")
    save_graph(graph, path, now=TAKEN)

    with pytest.raises(SutureError, match="unknown: 403 Forbidden"):
        run("delete", *words, "-n", "shop", "--from", path)


def test_orphans_stay(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--propagation orphan` is as in kubectl: only the object itself goes."""
    found = told(capsys, "delete", "deploy/web", "--from", snapshot, "--propagation", "orphan")

    assert found["changes"][0]["objects_removed"] == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("delete", "deploy/web"), 12),
        (("scale", "deploy/web", "--replicas", "0"), 12),
        (("scale", "deploy/web", "--replicas", "12"), 0),
        (("delete", "cm", "no-such-thing"), 2),
        (("delete", "gizmo/web"), 2),
        (("delete", "svc"), 2),
        (("scale", "svc/web", "--replicas", "1"), 2),
        (("delete", "svc/web", "--selector", "a=b"), 2),
        ((), 2),
    ],
)
def test_the_exit_status_is_for_ci(
    snapshot: Path, words: tuple[str, ...], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """By severity, refusal, or what was wrong with the question."""
    try:
        ended = run(*words, "--from", snapshot)
    except SutureError:
        ended = 2

    assert ended == status, capsys.readouterr()


def test_each_bad_document_is_a_line_and_the_rest_is_answered(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown kinds, half documents and a kind that the same file defines."""
    change = tmp_path / "change.yaml"
    change.write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
        "spec: {selector: {app: nobody}, ports: [{port: 80}]}\n"
        "---\nkind: nothing\n"
        "---\napiVersion: made.up/v1\nkind: Unheard\nmetadata: {name: x}\n"
        "---\napiVersion: made.up/v1\nkind: Gizmo\nmetadata: {name: one, namespace: shop}\n"
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: gizmos.made.up}\n"
        "spec: {group: made.up, scope: Namespaced, names: {plural: gizmos, kind: Gizmo},\n"
        "  versions: [{name: v1, served: true, storage: true,\n"
        "    schema: {openAPIV3Schema: {type: object}}}]}\n"
    )
    assert run("-f", change, "--from", snapshot, "--output", "json") == 2
    said = capsys.readouterr()
    found = json.loads(said.out)

    assert [one["title"] for one in found["changes"]] == [
        "apply services shop/web",
        "create gizmos.made.up shop/one",
        "create customresourcedefinitions.apiextensions.k8s.io gizmos.made.up",
    ]
    assert len(found["problems"]) == 2
    assert f"{change}:6: lacks the field `apiVersion`" in said.err
    assert f"{change}:8: no kind `Unheard` of `made.up`" in said.err
    assert effects(found, "service_emptied")


def test_what_a_manifest_does_not_say_stays(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Deployment without `replicas` keeps its size: an autoscaler may have set it."""
    change = tmp_path / "change.yaml"
    change.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"
        "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}}}\n"
    )
    found = told(capsys, "-f", change, "--from", snapshot)

    assert not effects(found, "endpoints_lost")
    assert not effects(found, "service_emptied")


def test_a_patch_needs_a_body(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which manifests have and a snapshot has not; what does not fit is said."""
    with pytest.raises(SutureError, match="which a snapshot does not keep"):
        run("patch", "svc/web", "-p", '{"spec":{"selector":{"app":"x"}}}', "--from", snapshot)
    found = told(capsys, "patch", "svc/web", "-n", "shop", "--from", MANIFESTS,
                 "-p", '{"spec":{"selector":{"app":"nobody"}}}')  # fmt: skip
    assert (found["changes"][0]["title"], found["problems"]) == ("patch services shop/web", [])
    with pytest.raises(SutureError, match="spec/nowhere"):
        run("patch", "svc/web", "--from", MANIFESTS, "--type", "json",
            "-p", '[{"op":"remove","path":"/spec/nowhere"}]')  # fmt: skip
    with pytest.raises(SutureError, match="--patch"):
        run("patch", "svc/web", "--from", MANIFESTS, "-p", "nonsense")


def test_a_restart_is_told_by_the_whole_workload_where_it_is_at_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its history, which a snapshot does not keep: the old set goes at the end."""
    labels = "{app: web}"
    template = f"{{metadata: {{labels: {labels}}}, spec: {{containers: []}}}}"
    head = f"spec: {{replicas: 0, selector: {{matchLabels: {labels}}}, template: {template}"
    owned = "{apiVersion: apps/v1, kind: Deployment, name: web, uid: u1, controller: true}"
    files = tmp_path / "web.yaml"
    files.write_text(
        "apiVersion: apps/v1\nkind: Deployment\n"
        "metadata: {name: web, namespace: shop, uid: u1}\n"
        f"{head}, revisionHistoryLimit: 0, strategy: {{type: Recreate}}}}\n---\n"
        "apiVersion: apps/v1\nkind: ReplicaSet\n"
        f"metadata: {{name: web-1, namespace: shop, uid: u2, ownerReferences: [{owned}]}}\n"
        f"{head}}}\n"
    )

    found = told(capsys, "restart", "deploy/web", "-n", "shop", "--from", files)

    (gone,) = effects(found, "objects_removed")
    assert [one["name"] for one in gone["victims"]] == ["web-1"]


def test_a_report_for_a_pull_request(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Markdown with the worst on top, and the refusal."""
    run("delete", "deploy/web", "--from", snapshot, "--output", "markdown")
    said = capsys.readouterr().out

    assert said.startswith("### 🛑 Impact: severe")
    assert "| severe | `services shop/web` | would lose all of its" in said
    assert "> **Refused** by `serving-floor`" in said


def test_the_drawing_shows_what_goes_and_who_is_hit(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What goes along stands with its owner, what loses stands beside it."""
    picture, page = tmp_path / "a.svg", tmp_path / "a.html"
    run("delete", "deploy/web", "--from", snapshot, "--svg", picture, "--html", page)
    capsys.readouterr()
    text = picture.read_text()

    assert "delete deployments.apps shop/web" in text
    assert "would be gone" in text
    assert "ReplicaSet" in text
    assert "ready endpoints" in text
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_what_an_earlier_document_did_counts_for_the_next(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two deletes of one command are one change; the second is not told the first again."""
    found = told(capsys, "delete", "deploy/web", "svc/web", "--from", snapshot)

    assert len(found["changes"]) == 1
    assert not effects(found, "service_emptied")
