"""What one has without Suture does what it says, on a scenario of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from suture.lab.exam.result import Column, Result
from suture.lab.exam.sitting import sit_offline
from suture.lab.scenarios.reading import load

SWEEP = """
kind: incident
cluster: {shapes: [{shape: services-with-deployments, count: 40, namespaces: "team-{0..3}"}]}
actors: {sweeper: {serviceAccount: %s}}
steps:
  - {by: sweeper, verb: delete, resource: services, namespaces: "team-{0..3}", select: all, over: 5s}
harm: {kinds: [services]}
"""


def sat(folder: Path, column: Column, account: str = "tools/sweeper") -> Result:
    """Return what a sweep of forty Services came to."""
    path = folder / "sweep.yaml"
    path.write_text(SWEEP.replace("%s", account))
    return sit_offline(load(path), column, "key")


def test_the_rate_limiter_stops_at_twenty(tmp_path: Path) -> None:
    """Whatever the writes are: it knows nothing but how many."""
    found = sat(tmp_path, "limiter")

    assert (found.lost, found.stopped_at, found.key) == (20, 21, "key")


def test_the_rate_limiter_exempts_the_control_plane(tmp_path: Path) -> None:
    """Whose ordinary work would trip it."""
    found = sat(tmp_path, "limiter", "kube-system/endpoint-controller")

    assert (found.refused, found.lost) == (0, 40)


def test_plain_policies_know_kinds(tmp_path: Path) -> None:
    """Services are of the kinds that are listed: none goes."""
    found = sat(tmp_path, "plain")

    assert (found.verdict, found.lost) == ("stopped", 0)


@pytest.mark.parametrize("column", ["managed", "full"])
def test_suture_stops_at_its_budget(tmp_path: Path, column: Column) -> None:
    """In both clusters, within the bound that its constraint states."""
    found = sat(tmp_path, column)

    assert found.verdict in ("stopped", "bounded")
    assert found.bound is not None
    assert found.lost <= found.bound


def test_a_world_that_cannot_be_built_is_void(tmp_path: Path) -> None:
    """And says why; the examination goes on."""
    path = tmp_path / "bad.yaml"
    path.write_text(
        SWEEP.replace("%s", "tools/sweeper")
        + "---\n{apiVersion: no.example.com/v1, kind: Thing, metadata: {name: a}}\n"
    )

    found = sit_offline(load(path), "none", "key")

    assert found.verdict == "void"
    assert "Thing" in found.words
