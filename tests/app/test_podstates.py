"""A pod's state read alone comes to the same as the whole pod read, whatever else changed of it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.observing import Told
from support.smallworld import scaled
from suture.app.intake import Intake
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import PODS, Gvk
from suture.model.objects import ClusterObject, PodFacts
from suture.wire.pages import Restated
from suture.wire.podstates import pod_state
from suture.wire.trim import Trimmer
from suture.wire.watch import Delta, Reflector

POD = Gvk("", "v1", "Pod")

ODD = ',"managedFields":[],"status":{"phase":"Failed"}'
"""What stands in the texts of a pod that is odd on purpose."""


def document(**parts: Any) -> dict[str, Any]:
    """Return a pod as an API server writes it; `parts` say what it is like."""
    meta = {
        "name": "web-1",
        "namespace": "shop",
        "uid": parts.get("uid", "11111111-1111-4111-8111-111111111111"),
        "resourceVersion": "1",
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    if parts.get("deleted"):
        meta["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    if parts.get("labels"):
        meta["labels"] = parts["labels"]
    meta["annotations"] = {"note": ODD if parts.get("odd") else "none"}
    if parts.get("owners"):
        meta["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": name,
                "uid": f"22222222-2222-4222-8222-{name:0>12}",
                "controller": number == 0,
                "blockOwnerDeletion": True,
            }
            for number, name in enumerate(parts["owners"])
        ]
    if parts.get("finalizers"):
        meta["finalizers"] = ["example.com/keep"]
    if parts.get("managed", True):
        meta["managedFields"] = [{"manager": "kubelet", "subresource": "status"}]
    container = {"name": "web", "env": [{"name": "A", "value": ODD if parts.get("odd") else "1"}]}
    volume = {"name": "settings", "configMap": {"name": "settings"}}
    spec: dict[str, Any] = {"volumes": [volume], "containers": [container]}
    if parts.get("debugged"):
        source = {"configMapKeyRef": {"name": "debug", "key": "level"}}
        debugger = {"name": "debugger", "env": [{"name": "L", "valueFrom": source}]}
        spec["ephemeralContainers"] = [debugger]
    if parts.get("node"):
        spec["nodeName"] = parts["node"]
    status: dict[str, Any] = {
        "phase": parts.get("phase", "Running"),
        "conditions": [{"type": "Ready", "status": "True" if parts.get("ready") else "False"}],
    }
    if parts.get("message"):
        status["message"] = ODD
    if parts.get("claims"):
        status["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "web-1-gpu"}]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}


def line(kind: str, pod: dict[str, Any], version: int) -> bytes:
    """Return a watch line as an API server writes it."""
    pod["metadata"]["resourceVersion"] = str(version)
    return json.dumps({"type": kind, "object": pod}, separators=(",", ":")).encode() + b"\n"


class Followed:
    """A reflector and a graph, with who is told."""

    def __init__(self) -> None:
        self.graph, self.told = Graph(), Told()
        self.reflector = Reflector(Trimmer().reader(PODS, POD))
        self.reflector.resume("1")
        self.intake = Intake(self.graph, lambda: Now(1, 0.0), [self.told])

    async def hear(self, block: bytes) -> list[Delta]:
        """Take a block of lines."""
        deltas = self.reflector.lines(block)
        await self.intake.take(PODS, self.reflector.resource_version, deltas)
        return deltas

    def pod(self) -> tuple[ClusterObject, list[Any]]:
        """Return the one pod that there is, its needs read."""
        [row] = self.graph.rows(PODS)
        found = self.graph.at(row)
        return found, list(found.needs)


PODS_LIKE = st.fixed_dictionaries(
    {
        "node": st.sampled_from(["n1", "n1", "n1", ""]),
        "owners": st.sampled_from([("a",), ("a",), ("a",), ("b",), (), ("a", "b")]),
        "labels": st.sampled_from([{"a": "1"}, {"a": "1"}, {"a": "2"}, {"b": "1", "a": "1"}, {}]),
        "ready": st.booleans(),
        "phase": st.sampled_from(["Running", "Running", "Succeeded", "Pending"]),
        "deleted": st.sampled_from([False, False, False, True]),
        "finalizers": st.sampled_from([False, False, False, True]),
        "managed": st.sampled_from([True, True, True, False]),
        "debugged": st.sampled_from([False, False, False, True]),
        "claims": st.sampled_from([False, False, False, True]),
        "odd": st.booleans(),
        "message": st.booleans(),
        "uid": st.sampled_from(["11111111-1111-4111-8111-111111111111"] * 4 + ["odd"]),
    }
)


@settings(max_examples=scaled(100))
@given(like=st.lists(PODS_LIKE, min_size=2, max_size=8), together=st.integers(1, 8))
async def test_states_alone_come_to_the_same_as_whole_pods(
    like: list[dict[str, Any]], together: int
) -> None:
    """After any history of a pod, in blocks of any size, the graph is what whole pods make it."""
    followed, whole, reader = Followed(), Graph(), Trimmer().reader(PODS, POD)
    # WHY: a pod that is bound stays where it is, keeps the claims that were made for it, and nobody
    # takes a container out of it; API servers see to that.
    for before, parts in pairwise(like):
        if before["uid"] == parts["uid"]:
            parts["node"] = before["node"] or parts["node"]
            parts["claims"] = parts["claims"] or before["claims"]
            parts["debugged"] = parts["debugged"] or before["debugged"]
    lines = [
        line("ADDED" if version == 2 else "MODIFIED", document(**parts), version)
        for version, parts in enumerate(like, 2)
    ]
    for at in range(0, len(lines), together):
        await followed.hear(b"".join(lines[at : at + together]))
        for one in lines[at : at + together]:
            whole.put(reader.one(json.dumps(json.loads(one)["object"]).encode()))
        [row] = whole.rows(PODS)
        assert followed.pod()[0] == whole.at(row)
        assert followed.pod()[1] == list(whole.at(row).needs)
        followed.graph.check()


async def test_a_change_of_state_is_read_alone() -> None:
    """The usual event of a running pod: nothing between its metadata and its status is read."""
    followed = Followed()
    pod = document(node="n1", owners=["a"], labels={"a": "1"})
    await followed.hear(line("ADDED", pod, 2))
    turned = document(node="n1", owners=["a"], labels={"a": "1"}, ready=True)
    [delta] = await followed.hear(line("MODIFIED", turned, 3))
    assert isinstance(delta, Restated)
    assert followed.told.states == ["web-1"]
    found, _ = followed.pod()
    assert found.facts == PodFacts(ready=True, node="n1")
    assert found.resource_version == "3"


@pytest.mark.parametrize(
    "parts",
    [
        {"labels": {"a": "2"}},
        {"owners": ["b"]},
        {"finalizers": True},
        {"debugged": True},
        {"deleted": True},
        {"uid": "33333333-3333-4333-8333-333333333333"},
    ],
    ids=lambda parts: next(iter(parts)),
)
async def test_whatever_else_changed_is_read_whole(parts: dict[str, Any]) -> None:
    """What the graph can see to be another pod, or more than its state, is not taken for it."""
    followed, usual = Followed(), {"node": "n1", "owners": ["a"], "labels": {"a": "1"}}
    await followed.hear(line("ADDED", document(**usual), 2))
    await followed.hear(line("MODIFIED", document(**{**usual, **parts}), 3))
    assert followed.told.states == []
    assert len(followed.told) >= 2


def test_marks_in_texts_are_no_fields() -> None:
    """A text that looks like what is searched for is escaped where it stands."""
    usual = {"node": "n1", "owners": ["a"], "odd": True, "message": True}
    state = pod_state(line("MODIFIED", document(**usual, ready=True), 3)[:-1], PODS)
    assert state is not None
    assert (state.ready, state.finished) == (True, False)


@pytest.mark.parametrize("where", ["spec", "status"])
def test_marks_in_other_places_are_not_taken_for_fields(where: str) -> None:
    """A field of the same name further in leads to the whole line being read."""
    pod = document(node="n1", owners=["a"], managed=where != "spec")
    if where == "spec":
        pod["spec"] = {"template": {}, "managedFields": [], **pod["spec"]}
    else:
        pod["status"] = {"inner": {"a": 1, "status": {"phase": "Failed"}}, **pod["status"]}
    assert pod_state(line("MODIFIED", pod, 3)[:-1], PODS) is None
