"""Where the writes of a step go: names, counters, namespaces in turn."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from suture.errors import InputError
from suture.lab.scenarios.format import Step
from suture.lab.scenarios.merge import merged, patched
from suture.lab.scenarios.targets import named_targets


def places(spaces: list[str], **fields: Any) -> list[str]:
    """Return where a step's writes go, as namespace/name."""
    step = msgspec.convert({"verb": "delete", "resource": "pods", **fields}, Step)
    return [f"{one.namespace}/{one.name}" for one in named_targets(step, spaces, "run")]


@pytest.mark.parametrize(
    ("spaces", "fields", "wanted"),
    [
        (["a"], {"names": "x"}, ["a/x"]),
        (["a", "b"], {"names": ["x", "y"]}, ["a/x", "a/y", "b/x", "b/y"]),
        (["a"], {"names": "x-{0..2}"}, ["a/x-0", "a/x-1", "a/x-2"]),
        (["a"], {"names": "x", "n": 3}, ["a/x", "a/x", "a/x"]),
        (["a", "b"], {"names": "x-{i}", "n": 4}, ["a/x-0", "b/x-1", "a/x-2", "b/x-3"]),
        (["a", "b"], {"names": ["x-{i}"]}, ["a/x-0", "b/x-1"]),
        (["a"], {"names": ["x-{i}", "y-{i}"], "n": 2}, ["a/x-0", "a/y-0", "a/x-1", "a/y-1"]),
        (["a"], {"names": ["other/x"]}, ["other/x"]),
        (["a"], {"names": ["x-{run}"]}, ["a/x-run"]),
        ([""], {"names": "n-{i+1}", "n": 2}, ["/n-1", "/n-2"]),
        (
            ["a", "b"],
            {"verb": "create", "body": {"metadata": {"name": "p-{i}"}}, "n": 3},
            ["a/p-0", "b/p-1", "a/p-2"],
        ),
        (
            ["a"],
            {"verb": "create", "body": {"metadata": {"generateName": "p-"}}, "n": 2},
            ["a/", "a/"],
        ),
    ],
)
def test_places(spaces: list[str], fields: dict[str, Any], wanted: list[str]) -> None:
    """Every name in every namespace; where a name counts, namespaces take turns."""
    assert places(spaces, **fields) == wanted


def test_merge_patch() -> None:
    """Null removes, maps go deeper, everything else replaces. SOURCE: RFC 7386."""
    live = {"spec": {"a": 1, "b": [1, 2], "c": {"d": 1}}, "kind": "K"}
    change = {"spec": {"a": None, "b": [3], "c": {"e": 2}}}

    assert merged(live, change) == {"spec": {"b": [3], "c": {"d": 1, "e": 2}}, "kind": "K"}


def test_json_patch() -> None:
    """Every operation, with escapes; what it starts from is left as it was. SOURCE: RFC 6902."""
    live = {"a": {"b/c": 1}, "l": [1, 2, 3]}
    found = patched(
        live,
        [
            {"op": "test", "path": "/a/b~1c", "value": 1},
            {"op": "replace", "path": "/a/b~1c", "value": 2},
            {"op": "add", "path": "/l/-", "value": 4},
            {"op": "remove", "path": "/l/0"},
            {"op": "copy", "from": "/l/0", "path": "/first"},
            {"op": "move", "from": "/a", "path": "/z"},
        ],
    )

    assert found == {"l": [2, 3, 4], "first": 2, "z": {"b/c": 2}}
    assert live == {"a": {"b/c": 1}, "l": [1, 2, 3]}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "remove", "path": "/nowhere"},
        {"op": "replace", "path": "/nowhere", "value": 1},
        {"op": "shrug", "path": "/a"},
    ],
)
def test_json_patches_that_do_not_fit(operation: dict[str, Any]) -> None:
    """Are refused."""
    with pytest.raises(InputError):
        patched({"a": 1}, [operation])
