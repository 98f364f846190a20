"""What files of the examination need beyond a plain scenario: shared worlds, followers, whose loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suture.errors import DocumentError
from suture.lab.exam.result import Result
from suture.lab.exam.sitting import sit_offline
from suture.lab.scenarios.observe import Observation
from suture.lab.scenarios.probes import PROBES
from suture.lab.scenarios.reading import load, namespaces_of

WORLD = """
kind: incident
cluster: {shapes: [{shape: services-with-deployments, count: 3, namespaces: [shop]}]}
actors: {a: {user: a@example.com}}
steps:
  - {by: a, verb: delete, resource: services, namespaces: [shop], names: app-0, guilty: true}
harm: {kinds: [services], among: {namespaces: [shop], names: app-0}}
"""


def written(folder: Path, name: str, text: str) -> Path:
    """Return a scenario file."""
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path


def free(folder: Path, text: str) -> Result:
    """Return what a scenario comes to without a guard."""
    return sit_offline(load(written(folder, "free", text)), "none", "key")


def test_a_twin_stands_in_the_world_of_another_file(tmp_path: Path) -> None:
    """Its own shapes come after those that it takes over."""
    written(tmp_path, "first", WORLD)
    twin = WORLD.replace("cluster: {", "cluster: {like: first, ").replace("[shop]}]}", "[mine]}]}")

    objects = load(written(tmp_path, "twin", twin)).objects

    assert {one["metadata"].get("namespace") for one in objects} >= {"shop", "mine"}


@pytest.mark.parametrize(
    ("like", "problem"),
    [
        pytest.param("fist", "did you mean `first`", id="no-such-file"),
        pytest.param("chained", "takes its own cluster over", id="a-file-that-does-so-itself"),
    ],
)
def test_a_world_is_found_in_two_files_at_most(tmp_path: Path, like: str, problem: str) -> None:
    """So that nothing leads back to where it began."""
    written(tmp_path, "first", WORLD)
    written(tmp_path, "chained", WORLD.replace("cluster: {", "cluster: {like: first, "))
    path = written(tmp_path, "twin", WORLD.replace("cluster: {", f"cluster: {{like: {like}, "))

    with pytest.raises(DocumentError, match=problem):
        load(path)


def test_only_what_a_file_is_about_is_counted(tmp_path: Path) -> None:
    """The other Services of the world are there beside it."""
    found = free(tmp_path, WORLD)

    assert (found.population, found.lost) == (1, 1)


def test_a_step_does_not_follow_from_what_did_not_happen(tmp_path: Path) -> None:
    """A consequence is left out where its cause wrote nothing."""
    steps = """
  - {by: a, verb: delete, resource: services, namespaces: [shop], names: not-there, guilty: true}
  - {by: a, verb: delete, resource: services, namespaces: [shop], names: app-0, guilty: true, follows: 0}
harm: {kinds: [services], among: {names: app-0}}
"""

    found = free(tmp_path, WORLD[: WORLD.index("  - {by")] + steps.lstrip("\n"))

    assert (found.writes, found.lost) == (1, 0)


def test_a_step_cannot_follow_one_that_comes_later(tmp_path: Path) -> None:
    """Nor itself."""
    path = written(tmp_path, "first", WORLD.replace("guilty: true}", "guilty: true, follows: 0}"))

    with pytest.raises(DocumentError, match="earlier step"):
        load(path)


def test_a_daemon_set_takes_over_what_it_selects(tmp_path: Path) -> None:
    """And ends it where it has a pod on that node already."""
    text = """
kind: incident
cluster: {shapes: [{shape: daemonsets, namespaces: [research], prefix: agent}]}
actors: {a: {user: a@example.com}}
steps:
  - by: a
    verb: create
    resource: pods
    namespaces: [research]
    names: mine
    body:
      metadata: {labels: {app: agent-0}}
      spec: {containers: [{name: app, image: "registry.example/app:1"}]}
harm: {probes: {created_lost: 0, writes_admitted: 5}}
"""

    found = free(tmp_path, text)

    assert found.probes == {"created_lost": 1, "writes_admitted": 1}
    assert found.verdict == "missed"


def test_an_owner_elsewhere_is_none_to_the_collector(tmp_path: Path) -> None:
    """The uid is the real one; the namespace is not where it is looked for."""
    text = """
kind: incident
cluster:
  shapes:
    - {shape: configs, count: 1, namespaces: [far], prefix: owner, used: "no"}
    - {shape: configs, count: 1, namespaces: [near], prefix: child, used: "no"}
actors: {a: {user: a@example.com}}
steps:
  - by: a
    verb: patch
    resource: configmaps
    namespaces: [near]
    names: child-0
    patch:
      value: {metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner-0, namespace: far}]}}
harm: {kinds: [configmaps], among: {namespaces: [near], names: child-0}}
"""

    assert free(tmp_path, text).lost == 1


def moment(**resources: list[dict[str, Any]]) -> Observation:
    """Return an observation of objects, each with a uid of its own."""
    return Observation(
        {kind: {str(one["uid"]): one for one in several} for kind, several in resources.items()}
    )


def test_lines_lost_counts_lines_of_values_that_stay() -> None:
    """A line more is none lost; a ConfigMap that goes is counted elsewhere."""
    before = moment(
        configmaps=[
            {"uid": "1", "metadata": {}, "data": {"roles": "a\nb\nc"}},
            {"uid": "2", "metadata": {}, "data": {"roles": "a"}},
        ]
    )
    after = moment(configmaps=[{"uid": "1", "metadata": {}, "data": {"roles": "a\nd"}}])

    assert PROBES["lines_lost"].measure(before, after) == 2


def test_objects_stranded_are_those_without_their_namespace() -> None:
    """A namespace that was never there strands nobody."""
    pod: dict[str, Any] = {"uid": "p", "metadata": {"namespace": "gone"}}
    odd: dict[str, Any] = {"uid": "q", "metadata": {"namespace": "never"}}
    before = moment(namespaces=[{"uid": "n", "metadata": {"name": "gone"}}], pods=[pod, odd])
    after = moment(namespaces=[], pods=[pod, odd])

    assert PROBES["objects_stranded"].measure(before, after) == 1


def test_a_write_that_changes_nothing_is_answered_and_not_counted(tmp_path: Path) -> None:
    """Where the writing is the harm, only what is stored does it."""
    text = """
kind: incident
cluster: {shapes: [{shape: configs, count: 1, namespaces: [shop], prefix: turn, used: "no"}]}
actors: {a: {user: a@example.com}}
steps:
  - &one {by: a, verb: patch, resource: configmaps, namespaces: [shop], names: turn-0, patch: {value: {data: {turn: "1"}}}}
  - &other {by: a, verb: update, resource: configmaps, namespaces: [shop], names: turn-0, body: {data: {turn: "2"}}}
  - *other
  - *one
  - *one
harm: {probes: {writes_admitted: 2}}
"""

    assert free(tmp_path, text).probes == {"writes_admitted": 3}


def test_a_namespace_that_a_step_makes_is_its_makers(tmp_path: Path) -> None:
    """It is not there before, unless an earlier step writes into it."""
    text = """
kind: benign
cluster: {shapes: [{shape: configs, count: 1, namespaces: [shop], used: "no"}]}
actors: {a: {user: a@example.com}}
steps:
  - {by: a, verb: delete, resource: configmaps, namespaces: ["late-0"], select: all}
  - {by: a, verb: create, resource: namespaces, names: "late-{0..1}", body: {}}
  - by: a
    verb: create
    resource: configmaps
    namespaces: "late-{0..1}"
    names: made
    body: {data: {key: value}}
harm: {kinds: [configmaps]}
"""
    path = written(tmp_path, "free", text)

    assert namespaces_of(load(path).scenario) == ["late-0"]
    assert free(tmp_path, text).verdict == "passed"
    counted = text.replace('names: "late-{0..1}", body', 'names: "late-{i}", n: 2, body')
    path = written(tmp_path, "counted", counted)
    assert namespaces_of(load(path).scenario) == ["late-0"]
