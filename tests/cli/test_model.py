"""`suture model` shows an object's neighbours and a model's numbers, for people and programs."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry, Gauge
from rich.console import Console

from support.cluster import graph_of, thing
from support.cluster import namespace as space
from support.shop import PODS_READY, PODS_WANTED, shop
from suture.adapters.health import HealthServer
from suture.adapters.servermetrics import NoSutureError, server_stats
from suture.adapters.snapshots import save_graph
from suture.adapters.sources import open_graph
from suture.app.modelstats import KindStats, ModelStats
from suture.cli import model
from suture.cli.modelstatsview import age, bar, show, size
from suture.errors import InputError, SutureError, UnavailableError
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.kindnames import NoSuchObjectError, UnknownKindError
from suture.model.names import CLAIMS, DEPLOYMENTS, PODS

TAKEN = Now(1_000_000_000_000, 1_795_280_000.0)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Save the shop to a file."""
    path = tmp_path / "shop.snapshot"
    save_graph(shop(), path, now=TAKEN, cluster="demo")
    return path


def run(*words: str | Path) -> int:
    """Run a command and return its exit status."""
    try:
        status = model.app([str(word) for word in words], result_action="return_value")
    except SystemExit as ended:
        status = ended.code
    return int(status or 0)


# ---- show


def test_the_tree(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is needed stands under `needs`, what needs it under `is needed by`."""
    assert run("show", "svc/web", "--from", snapshot) == 0
    said = capsys.readouterr().out

    needs, needed_by = said.split("is needed by")
    assert f"{PODS_WANTED} Pods of ReplicaSet web-5d9  {PODS_READY} of {PODS_WANTED} ready" in needs
    assert "Secret web-payments [token]  missing" in needs
    assert "Secret web-flags  missing, optional" in needs
    assert "applications shop in argocd  unknown: no such type" in needs
    assert "Ingress web-internal  terminating" in needed_by
    assert "Deployment" not in needed_by


def test_one_side_and_one_step(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What lies further is announced, with how to see it."""
    assert run("show", "svc/web", "--from", snapshot, "--direction", "needs", "--depth", "1") == 0
    said = capsys.readouterr().out

    assert "is needed by" not in said
    assert "ReplicaSet web-5d9 " in said
    assert "Deployment" not in said
    assert "--depth 2" in said


def test_a_box_that_two_lead_to_is_shown_once(
    snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere the tree points there, and at the object itself."""
    assert run("show", "pv/pv-1", "--from", snapshot) == 0
    said = capsys.readouterr().out

    assert "PersistentVolume pv-1 ↑ the object itself" in said


def test_a_box_shown_elsewhere_has_the_count_of_those_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three pods in the namespace, one mounts its claim."""
    pods = [thing(PODS, f"p-{at}", "shop") for at in range(3)]
    claim = thing(CLAIMS, "data", "shop")
    pods[0] = msgspec.structs.replace(pods[0], needs=(Need(Edge.CLAIM, claim.key),))
    path = tmp_path / "a"
    save_graph(graph_of(space("shop"), claim, pods), path, now=TAKEN)

    assert run("show", "ns/shop", "--from", path) == 0
    assert "mounts ← 1 of 3 Pods ↑ see there" in capsys.readouterr().out


def test_json_has_it_all(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Boxes and the edges between them, and where they are from."""
    assert run("show", "deploy/web", "--from", snapshot, "--output", "json") == 0
    said = json.loads(capsys.readouterr().out)
    kinds = {box["number"]: box["kind"] for box in said["boxes"]}

    assert said["source"].startswith("demo, from ")
    assert said["taken"] == "2026-11-21T16:53:20+00:00"
    assert kinds[0] == "Deployment"
    assert ("ReplicaSet", "owner", "Deployment") in {
        (kinds[line["needer"]], line["edge"], kinds[line["needed"]]) for line in said["lines"]
    }


def test_drawings_are_files(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page and a picture, beside the tree; titled with cluster and time."""
    page, picture = tmp_path / "web.html", tmp_path / "web.svg"

    assert run("show", "deploy/web", "--from", snapshot, "--html", page, "--svg", picture) == 0

    assert page.read_text().startswith("<!DOCTYPE html>")
    assert picture.read_text().startswith("<svg ")
    for file in (page, picture):
        assert "Deployment shop/web" in file.read_text()
        assert "21 November 2026, 16:53 UTC" in file.read_text()
    told = capsys.readouterr()
    assert "Deployment shop/web" in told.out
    assert str(picture) in told.err


def test_a_drawing_that_cannot_be_written(snapshot: Path, tmp_path: Path) -> None:
    """The path is named, and why."""
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        run("show", "deploy/web", "--from", snapshot, "--svg", tmp_path)


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (("web",), InputError, "must be KIND/NAME"),
        (("deploy/",), InputError, "must be KIND/NAME"),
        (("widget/web",), UnknownKindError, "no kind `widget`"),
        (("deploy/wed",), NoSuchObjectError, "near it, of 1: `shop/web`"),
        (("deploy/web", "-n", "desk"), NoSuchObjectError, "in namespace `desk`"),
        (("deploy/web", "--depth", "0"), InputError, "must be 1 or more"),
    ],
)
def test_what_makes_no_sense(
    snapshot: Path, words: tuple[str, ...], error: type[SutureError], said: str
) -> None:
    """The given thing is named, and what would do."""
    with pytest.raises(error, match=said):
        run("show", *words, "--from", snapshot)


def test_a_custom_type_by_its_short_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As its definition says, from manifests and from a snapshot of them."""
    names = {"plural": "relays", "kind": "Relay", "shortNames": ["rl"]}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "relays.x.io"},
        "spec": {"group": "x.io", "names": names, "scope": "Namespaced"},
    }
    relay = {"apiVersion": "x.io/v1", "kind": "Relay", "metadata": {"name": "r", "namespace": "a"}}
    manifests, saved = tmp_path / "relay.jsonl", tmp_path / "saved"
    manifests.write_text(f"{json.dumps(definition)}\n{json.dumps(relay)}")
    save_graph(open_graph(manifests), saved)

    for source in (manifests, saved):
        assert run("show", "rl/r", "--from", source) == 0
        assert capsys.readouterr().out.startswith("Relay a/r")


def test_what_may_not_be_listed_is_not_said_to_be_away(tmp_path: Path) -> None:
    """Nobody knows whether it is there; the server's own words say why."""
    graph, path = shop(), tmp_path / "a"
    graph.mark_unknown(DEPLOYMENTS, "403 Forbidden")
    save_graph(graph, path, now=TAKEN)

    with pytest.raises(NoSuchObjectError, match="is unknown: 403 Forbidden"):
        run("show", "deploy/none", "-n", "shop", "--from", path)


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    """Bad input, not a crash."""
    with pytest.raises(InputError, match="cannot be read"):
        run("show", "deploy/web", "--from", tmp_path / "nothing")


def test_manifests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of manifests is a source too; what no file says is unknown, not missing."""
    file = tmp_path / "web.yaml"
    file.write_text(
        "apiVersion: networking.k8s.io/v1\n"
        "kind: Ingress\n"
        "metadata: {name: web, namespace: shop}\n"
        "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
    )

    assert run("show", "ing/web", "--from", file) == 0

    assert "routes to → Service web  unknown: there is none in" in " ".join(
        capsys.readouterr().out.split()
    ).replace("web unknown", "web  unknown")


# ---- stats


def test_stats_of_a_snapshot(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kinds with the most objects first; the shares add up."""
    assert run("stats", "--from", snapshot, "--output", "json") == 0
    said = json.loads(capsys.readouterr().out)

    assert said["objects"] == len(shop()) == sum(kind["objects"] for kind in said["kinds"])
    assert said["kinds"][0] == said["kinds"][0] | {"kind": "pods", "objects": 12, "listed": True}
    assert run("stats", "--from", snapshot) == 0
    table = capsys.readouterr().out
    assert "pods" in table
    assert "38.7%" in table


def test_every_number_fits_a_narrow_terminal() -> None:
    """Names of kinds lose their end first."""
    console = Console(width=80, file=io.StringIO(), record=True)
    kinds = (
        KindStats(f"{'a' * 60}.example.com", 2_000_000, listed=True, age_s=86_400 * 12.0),
        KindStats("pods", 1, listed=True, age_s=1.0),
    )

    show(ModelStats("here", 2_000_001, {"all": 1 << 30}, kinds), console, every=False)

    line = next(one for one in console.export_text().splitlines() if one.startswith("aaa"))
    assert line.split() == ["a" * 35 + "…", "2,000,000", "100.0%", "█" * 12, "12", "d", "ago"]


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """Serve the health port of a Suture that knows two kinds, and a third not at all."""
    registry = CollectorRegistry()
    Gauge("suture_model_objects", "", registry=registry).set(500)
    Gauge("suture_resident_bytes", "", registry=registry).set(50_000)
    objects = Gauge("suture_model_kind_objects", "", ("kind",), registry=registry)
    stale = Gauge("suture_model_staleness_seconds", "", ("kind",), registry=registry)
    for kind, count, seconds in (("pods", 480, 1.5), ("services", 20, 3.0)):
        objects.labels(kind).set(count)
        stale.labels(kind).set(seconds)
    stale.labels("secrets").set(float("inf"))
    async with HealthServer("127.0.0.1", 0, lambda: True, lambda: (True, {}), registry) as running:
        yield f"http://127.0.0.1:{running.port}"


async def test_stats_of_a_running_suture(server: str) -> None:
    """Read from its metrics; what it never heard of has no age."""
    assert await asyncio.to_thread(server_stats, server) == ModelStats(
        source=server,
        objects=500,
        memory={"whole process": 50_000},
        kinds=(
            KindStats("pods", 480, listed=True, age_s=1.5),
            KindStats("services", 20, listed=True, age_s=3.0),
            KindStats("secrets", None, listed=False, age_s=None),
        ),
    )
    with pytest.raises(NoSutureError, match="answers 404"):
        await asyncio.to_thread(server_stats, f"{server}/other")


def test_a_server_that_is_away() -> None:
    """Something needed is away; an address that is none is bad input."""
    with pytest.raises(UnavailableError, match="does not answer"):
        server_stats("http://127.0.0.1:9")
    with pytest.raises(InputError, match="must begin with http"):
        server_stats("127.0.0.1:9")


def test_one_source_at_a_time(snapshot: Path) -> None:
    """Two cannot be meant."""
    with pytest.raises(InputError, match="not both"):
        run("stats", "--from", snapshot, "--server", "http://127.0.0.1:9")


# ---- how numbers are written


def test_bars() -> None:
    """As long as the share, to an eighth; anything but nothing can be seen."""
    assert bar(1.0, plain=False) == "█" * 12
    assert bar(0.5, plain=True) == "######"
    assert bar(0.0001, plain=False) == "▏"
    assert not bar(0.0, plain=False)


def test_sizes_and_ages() -> None:
    """In the unit that people would take."""
    assert [size(one) for one in (0, 1_023, 2_048, 3 << 30)] == [
        "0 bytes", "1,023 bytes", "2 KiB", "3.0 GiB",
    ]  # fmt: skip
    assert [age(one) for one in (0.5, 120, 7_200, 172_800)] == ["0.5 s", "2 min", "2 h", "2 d"]
