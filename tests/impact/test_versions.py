"""Versions struck from those that a definition may be stored in: who wrote what is left in them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from support.asking import effects, impact_of
from support.cluster import START, graph_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.causes.recent import remember
from suture.impact.causes.storedanew import ASKED
from suture.impact.effects import ReferenceBroken
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CRDS, Resource

BOXES = Resource("example.com", "boxes")
BEGAN = 100
"""The version from which on the model was told of writes."""


def definition(*stored: str, written: int = 9_000) -> Body:
    """Make the definition of boxes, which may be stored in some versions; `written`: its own."""
    names = {"plural": "boxes", "kind": "Box"}
    versions = [{"name": one, "served": True, "storage": one == "v2"} for one in ("v1", "v2")]
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    version = "apiextensions.k8s.io/v1"
    kind, status = "CustomResourceDefinition", {"storedVersions": list(stored)}
    metadata = {"resourceVersion": str(written)}
    return body(
        kind, str(BOXES), "", apiVersion=version, spec=spec, status=status, metadata=metadata
    )


def cluster(
    boxes: Mapping[str, int | str],
    *,
    began: str = str(BEGAN),
    history: History | None = None,
    written: int = 9_000,
) -> GraphView:
    """See boxes of some versions, of which the model was told since `began`."""
    made = (
        trimmed(
            BOXES,
            body("Box", name, apiVersion="example.com/v2", metadata={"resourceVersion": str(one)}),
        )
        for name, one in boxes.items()
    )
    graph = graph_of(trimmed(CRDS, definition("v1", "v2", written=written)), made)
    graph.heard(BOXES, "9000", START.mono_ns)
    graph.freshness[BOXES].began = began
    return GraphView(graph, history or History())


def told(view: GraphView, *stored: str) -> list[ReferenceBroken]:
    """Strike what is not in `stored`."""
    request = write(CRDS, definition("v1", "v2"), definition(*stored), subresource="status")
    return effects(impact_of(request, view), ReferenceBroken)


def test_nobody_wrote_them_anew() -> None:
    """They were there before anybody looked; whether after the version came, nobody knows."""
    (found,) = told(cluster({"one": 7, "two": BEGAN}), "v2")

    assert (found.key, found.current, found.target.name) == ("v1", 2, str(BOXES))


@pytest.mark.parametrize(
    ("boxes", "left"),
    [
        pytest.param({"one": 101, "two": 300}, 0, id="all"),
        pytest.param({"one": 101, "two": 7, "three": 8000}, 1, id="all but one"),
        pytest.param({}, 0, id="there are none"),
        pytest.param({"one": "odd"}, 0, id="of versions that are no numbers"),
    ],
)
def test_they_were_written_anew(boxes: Mapping[str, int | str], left: int) -> None:
    """As they are, which changes nothing but their version: so they are migrated."""
    assert sum(one.current for one in told(cluster(boxes), "v2")) == left


@pytest.mark.parametrize(("written", "left"), [(50, 0), (70, 1), (100, 2), (200, 2)])
def test_what_was_written_after_the_definition_is_stored_as_that_says(
    written: int, left: int
) -> None:
    """To write it as it is changes nothing then, and it is in no former version."""
    view = cluster({"one": 60, "two": 80}, written=written)

    assert sum(one.current for one in told(view, "v2")) == left


def test_where_the_model_was_told_nothing_nothing_is_known() -> None:
    assert told(cluster({"one": 7}, began="odd"), "v2") == []


def came(view: GraphView) -> None:
    """Give the definition its last version."""
    request = write(CRDS, definition("v1"), definition("v1", "v2"))
    remember(request, project(request, view), view, START)


def test_a_version_that_came_since() -> None:
    """What was written before it came is in none that is as new."""
    history = History()
    came(cluster({"one": 200, "two": 300}, history=history))

    assert [
        one.current for one in told(cluster({"one": 200, "two": 301}, history=history), "v2")
    ] == [1]
    assert told(cluster({"one": 302, "two": 301}, history=history), "v2") == []


def test_a_version_that_came_before_there_was_any() -> None:
    history = History()
    came(cluster({}, history=history))

    assert told(cluster({"one": 101}, history=history), "v2") == []


def test_nothing_is_struck() -> None:
    view = cluster({"one": 7})
    assert told(view, "v1", "v2") == []
    assert told(view, "v2", "v1", "v3") == []


def test_of_very_many_nothing_is_known() -> None:
    boxes = {f"box-{number}": 7 for number in range(ASKED + 1)}

    assert told(cluster(boxes), "v2") == []
    boxes.popitem()
    assert [one.current for one in told(cluster(boxes), "v2")] == [ASKED]


def test_a_write_of_the_definition_itself_strikes_nothing() -> None:
    """The API server keeps its status as it was."""
    old = definition("v1", "v2")
    new = changed(old, metadata={"labels": {"app": "boxes"}}, status={})
    impact = impact_of(write(CRDS, old, new), cluster({"one": 7}))

    assert effects(impact, ReferenceBroken) == []
