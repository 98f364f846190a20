"""Objects spoilt at random places: the reader keeps what it can, and the graph takes all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.kubejson import dumps
from support.oddobjects import NEIGHBOURS, Taken, meta
from support.smallworld import scaled
from suture.model.graph import Graph
from suture.model.names import Gvk, Resource
from suture.wire.kinds import SHAPES
from suture.wire.trim import Trimmer

GOLDEN = {
    document["kind"]: document
    for document in (
        json.loads(path.read_text())
        for path in sorted((Path(__file__).parent / "golden").glob("*.json"))
    )
}
KINDS = sorted((resource for resource, shape in SHAPES.items() if shape.kind in GOLDEN), key=str)

SPOILT: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 2**31, 2**63 - 1, -(2**63), 2**64, 10**40, 1.5, 1e300]),
    st.text(alphabet="a/:\0é😀 ", max_size=5),
    st.just([]),
    st.just({}),
    st.just([None]),
    st.just({"": None}),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a document at which something stands: container and key."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


@pytest.mark.parametrize("resource", KINDS, ids=str)
@settings(max_examples=scaled(30))
@given(data=st.data())
def test_a_spoilt_object_spoils_nothing_else(resource: Resource, data: st.DataObject) -> None:
    """Whatever stands where in an object, its neighbours are whole and the graph is exact."""
    whole = GOLDEN[SHAPES[resource].kind]
    odd = json.loads(json.dumps(whole))
    for _ in range(data.draw(st.integers(1, 3))):
        spots = list(places(odd))
        container, key = spots[data.draw(st.integers(0, len(spots) - 1))]
        if data.draw(st.booleans()):
            container[key] = json.loads(json.dumps(data.draw(SPOILT)))
        else:
            del container[key]
    taken = Taken(data.draw(st.sampled_from(["list", "watch"])))
    neighbours = [{**whole, "metadata": {**meta(name)}} for name in NEIGHBOURS]
    kept = taken.take(resource, neighbours[0], odd, neighbours[1])
    assert {kept[0].key.name, kept[-1].key.name} == set(NEIGHBOURS)
    for one, neighbour in ((kept[0], neighbours[0]), (kept[-1], neighbours[1])):
        assert one == Trimmer().trim(dumps(neighbour), resource, one.gvk)
    for one in kept:
        taken.removes(one.key)
    taken.agree()


TOO_LARGE = (2**64, -(2**64), "9" * 25, "²", "9E18", "9E99", ["9" * 25, 2**64])


@pytest.mark.parametrize("resource", KINDS, ids=str)
def test_no_number_is_too_large_for_the_graph(resource: Resource) -> None:
    """A number past what is kept, wherever it stands, as a text too: the object is kept."""
    whole = GOLDEN[SHAPES[resource].kind]
    gvk = Gvk(resource.group, "v1", SHAPES[resource].kind)
    graph = Graph()
    for at in range(len(list(places(whole)))):
        for large in TOO_LARGE:
            odd = json.loads(json.dumps(whole))
            container, key = list(places(odd))[at]
            container[key] = large
            thing = Trimmer().trim(dumps(odd), resource, gvk)
            graph.put(thing)
            graph.remove(thing.key)
    assert len(graph) == 0


@settings(max_examples=scaled(100))
@given(
    value=st.recursive(
        SPOILT,
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "name", "uid", "labels", "ownerReferences", "spec", "status",
                 "selector", "finalizers", "kind", "apiVersion", "template", "containers"]
            ),
            inner,
            max_size=5,
        ),
        max_leaves=20,
    ),
    resource=st.sampled_from(KINDS),
)  # fmt: skip
def test_any_json_is_an_object_of_some_kind(value: Any, resource: Resource) -> None:
    """One object is read from any JSON, and the graph takes it, named or not."""
    gvk = Gvk(resource.group, "v1", SHAPES[resource].kind)
    thing = Trimmer().trim(dumps(value), resource, gvk)
    assert thing.key.resource == resource
    graph = Graph()
    graph.put(thing)
    assert graph.row(thing.key) is not None
    graph.remove(thing.key)
    assert len(graph) == 0
