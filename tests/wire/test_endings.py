"""Statuses of custom work: which say that it is over, and how surely."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from suture.model.fieldpath import FieldPath
from suture.model.names import Resource
from suture.model.objects import Ended
from suture.model.rulebook import KindRules
from suture.model.rules import Family
from suture.wire.declared import Declared
from suture.wire.endings import paths_of
from suture.wire.schemas import rules_of_schema

RUNS = Resource("ci.example.com", "runs")
WHEN = "2026-01-01T00:00:00Z"


def condition(name: str, status: str = "True") -> dict[str, str]:
    return {"type": name, "status": status}


def ended(status: Any) -> Ended:
    """Read an object of a kind that takes any fields."""
    declared = Declared(KindRules(ended=paths_of(None)))
    whole = msgspec.json.encode({"metadata": {"name": "one"}, "status": status})
    document = msgspec.json.decode(whole, type=declared.document)
    return declared.facts(document, "ns", {}).ended


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({"conditions": [condition("Succeeded")]}, Ended.SURE, id="a-condition"),
        pytest.param(
            {"conditions": [condition("Failed"), condition("Running", "False")]},
            Ended.SURE,
            id="failed-and-at-rest",
        ),
        pytest.param({"conditions": [condition("Failed")]}, Ended.FAILED, id="failed"),
        pytest.param(
            {"conditions": [condition("Succeeded", "False")], "completionTime": WHEN},
            Ended.SURE,
            id="no-success-with-its-time",
        ),
        pytest.param(
            {"conditions": [condition("Succeeded", "False")]}, Ended.NO, id="no-success-yet"
        ),
        pytest.param(
            {"conditions": [condition("Succeeded", "Unknown")], "completionTime": WHEN},
            Ended.NO,
            id="at-work",
        ),
        pytest.param(
            {"conditions": [condition("Succeeded"), condition("Ready")]}, Ended.NO, id="in-use"
        ),
        pytest.param({"phase": "Succeeded"}, Ended.DONE, id="a-word"),
        pytest.param({"state": {"phase": "Completed"}}, Ended.DONE, id="a-word-within"),
        pytest.param({"jobStatus": "SUCCEEDED", "endTime": WHEN}, Ended.SURE, id="with-its-time"),
        pytest.param({"phase": "Failed", "finishedAt": WHEN}, Ended.SURE, id="failed-then"),
        pytest.param({"phase": "Failed"}, Ended.FAILED, id="a-word-of-failure"),
        pytest.param({"phase": "Running", "completionTime": WHEN}, Ended.NO, id="runs-again"),
        pytest.param({"completionTime": WHEN}, Ended.NO, id="a-time-alone"),
        pytest.param({"phase": 7, "conditions": {"type": []}}, Ended.NO, id="odd"),
        pytest.param({"conditions": [7, {"type": "Succeeded"}]}, Ended.NO, id="no-status"),
        pytest.param("Succeeded", Ended.NO, id="no-object"),
        pytest.param(None, Ended.NO, id="absent"),
    ],
)
def test_a_status_says_that_it_is_over(status: Any, expected: Ended) -> None:
    """By a condition or by a time it is sure; a word alone is less."""
    assert ended(status) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({"phase", "completionTime"}, {"status.phase", "status.completionTime"}, id="run"),
        pytest.param({"phase", "conditions"}, set(), id="nothing-tells-when"),
        pytest.param({"message"}, set(), id="nothing-at-all"),
    ],
)  # fmt: skip
def test_what_describes_when_it_ends_is_asked(status: set[str], expected: set[str]) -> None:
    """Of other kinds no more of the status is read than before."""
    text = {"type": "string"}
    schema = {"properties": {"status": {"properties": dict.fromkeys(status, text)}}}
    raw = msgspec.Raw(msgspec.json.encode({"openAPIV3Schema": schema}))
    told = [rule.says for rule in rules_of_schema(RUNS, raw) if isinstance(rule.says, Family)]
    assert {str(path) for one in told for path in one.ended} == expected


def test_a_definition_that_takes_any_fields_may_have_any_of_them() -> None:
    """Nobody describes them, and yet they are there."""
    raw = msgspec.Raw(
        b'{"openAPIV3Schema": {"properties": {"status": {"x-kubernetes-preserve-unknown-fields": true}}}}'
    )
    (ended,) = [
        one.says.ended for one in rules_of_schema(RUNS, raw) if isinstance(one.says, Family)
    ]
    assert FieldPath(("status", "phase")) in ended
