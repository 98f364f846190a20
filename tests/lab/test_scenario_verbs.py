"""Files of strangers on a real control plane: every verb and form, and runs that do not count.

And hours that are not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from suture.errors import InputError
from suture.lab.assets import Assets
from suture.lab.plane import Plane
from suture.lab.scenarios.guard import NoGuard
from suture.lab.scenarios.place import Lab
from suture.lab.scenarios.reading import load
from suture.lab.scenarios.report import Report
from suture.lab.scenarios.run import Runner
from suture.lab.scenarios.suture import SutureGuard

pytestmark = pytest.mark.lab

DATA = Path(__file__).parents[1] / "scenarios" / "data"
VERBS, HOURS = DATA / "verbs.yaml", DATA / "hours-apart.yaml"


@pytest.fixture(scope="module")
def own(lab_assets: Assets) -> Iterator[Plane]:
    """Return a control plane for scenarios alone."""
    with Plane.up("verbs", binaries=lab_assets) as plane:
        yield plane


@pytest.fixture(scope="module")
def lab(own: Plane) -> Lab:
    """Return a lab for scenarios alone."""
    return Lab(own)


def run(lab: Lab, path: Path) -> Report:
    """Run a file without a guard."""
    return asyncio.run(Runner(load(path), lab, NoGuard()).run())


def test_every_verb(lab: Lab) -> None:
    """Written, waited for, counted, and all that was meant came about."""
    report = run(lab, VERBS)

    assert report.verdict == "passed", (report.void_reason, report.unreached, report.notes)
    assert report.unreached == ()
    assert report.notes == ()
    assert report.harm.lost == 0
    assert report.harm.probes["nodes_cordoned"] == 1
    assert report.harm.probes["replicas_lost"] == 1
    assert [step.missing for step in report.steps if step.missing] == [1], (
        "`not-there` is not there"
    )


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (
            "{by: a, verb: create, resource: configmaps, names: Not_A_Name, namespaces: v, body: {}}",
            "422",
        ),
        (
            "{by: a, verb: patch, resource: configmaps, names: here, namespaces: v, patch: {value: 7}}",
            "400",
        ),
        ("{by: a, verb: delete, resource: gadgets.example.com, names: x}", "serves no `gadgets"),
        (
            "{by: a, verb: delete, resource: configmaps, names: v/here, options: {preconditions: {uid: other}}}",
            "409",
        ),
    ],
)
def test_a_step_that_fails_makes_the_run_void(
    lab: Lab, step: str, reason: str, tmp_path: Path
) -> None:
    """Whatever fails for another reason than Suture: it measured something else.

    What is there already, or is not there, is what an earlier refusal may have left.
    """
    path = tmp_path / "void.yaml"
    path.write_text(
        "kind: benign\nactors: {a: {user: somebody}}\ncluster:\n  files:\n"
        "    - {apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: v}}\n"
        f"steps:\n  - {step}\n"
    )
    report = run(lab, path)

    assert report.verdict == "void"
    assert reason in report.void_reason
    assert not report.expected


def test_an_object_that_is_not_taken_is_the_files_mistake(lab: Lab, tmp_path: Path) -> None:
    """And said as such, with the API server's words."""
    path = tmp_path / "bad.yaml"
    path.write_text(
        "kind: benign\ncluster:\n  files:\n"
        "    - {apiVersion: v1, kind: Service, metadata: {name: Bad_Name}}\n"
        "steps: [{wait: 1s}]\n"
    )
    with pytest.raises(InputError, match="Service `default/Bad_Name` is not taken"):
        run(lab, path)


def test_what_an_apply_brought_into_being_is_taken_away(lab: Lab, tmp_path: Path) -> None:
    """Else the next run finds it there, and is another story."""
    path = tmp_path / "applied.yaml"
    for verb in ("apply", "create"):
        path.write_text(
            "kind: benign\nactors: {a: {user: somebody}}\nsteps:\n"
            f"  - {{by: a, verb: {verb}, resource: clusterroles.rbac.authorization.k8s.io, "
            "names: left-over, body: {rules: []}}\n"
        )
        report = run(lab, path)
        assert report.verdict == "passed", (report.void_reason, report.unreached)
        assert [step.missing for step in report.steps] == [0]


def test_hours_that_are_moved_pass_for_budgets(own: Plane, lab: Lab) -> None:
    """Five Services an hour go twice, hours apart, and then the day's ten are spent.

    It is not forgotten what was done, only longer ago; and it takes no hours.
    """
    guard = SutureGuard(own, "enforce", movable=True)

    report = asyncio.run(Runner(load(HOURS), lab, guard, move=guard.move).run())

    assert not report.void_reason
    assert (report.writes, report.refused, report.first_refused_write) == (11, 1, 11)
    assert report.harm.lost == 10
    assert report.stopped_by == ("share-budget",)
    assert "in 24h" in report.reasons[0]
    assert 3.9 * 3600 < report.moved_s < 4 * 3600
