"""What is asked once of many objects, whether owners and users stand outside, is as one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.cluster import BALANCERS, graph_of, owner, thing
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import CONFIG_MAPS, DEPLOYMENTS, PODS
from suture.model.objects import ClusterObject, PodFacts

DRAWN = st.lists(
    st.tuples(
        st.sampled_from(["deployment", "pod"]),
        st.sampled_from(["", "a", "b"]),
        st.sampled_from(["", "x", "y"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)
"""Kind, owner, ConfigMap that is named, whether it is going, and whether it is among those asked."""

BREAKING = frozenset({Edge.CONFIG_MAP})


def drawn_object(
    number: int, kind: str, owned_by: str, names: str, *, going: bool
) -> ClusterObject:
    """Return an object that may have an owner and a need."""
    needs = [Need(Edge.CONFIG_MAP, thing(CONFIG_MAPS, names, "shop").key)] if names else []
    made = thing(
        PODS if kind == "pod" else DEPLOYMENTS,
        f"one-{number}",
        "shop",
        owners=[owner(thing(BALANCERS, owned_by, "shop"))] if owned_by else [],
        facts=PodFacts(ready=True) if kind == "pod" else None,
        deleted=1.0 if going else 0.0,
    )
    return replace(made, needs=tuple(needs))


def world(
    drawn: list[tuple[str, str, str, bool, bool]], *, with_owner: bool
) -> tuple[GraphView, list[int], list[int]]:
    """Return the cluster, the rows that are asked about, and those of the ConfigMaps."""
    things = [
        drawn_object(at, kind, owned_by, names, going=going)
        for at, (kind, owned_by, names, going, _) in enumerate(drawn)
    ]
    maker = thing(BALANCERS, "a", "shop")
    maps = [thing(CONFIG_MAPS, name, "shop") for name in "xy"]
    view = GraphView(graph_of(maker, maps, things))
    asked = [one for one, (*_, chosen) in zip(things, drawn, strict=True) if chosen]
    if with_owner:
        asked.append(maker)
    rows = [row for one in asked if (row := view.find(one.key)) is not None]
    named = [row for one in maps if (row := view.find(one.key)) is not None]
    return view, rows, named


@given(drawn=DRAWN, with_owner=st.booleans())
def test_owners_stand_inside_where_each_owner_does(
    drawn: list[tuple[str, str, str, bool, bool]], *, with_owner: bool
) -> None:
    """And nothing of it is going."""
    view, rows, _ = world(drawn, with_owner=with_owner)
    slow = not any(map(view.terminating, rows)) and all(
        one.row in rows for row in rows for one in view.owners(row)
    )

    assert view.owned_within(rows, rows) is slow


@given(DRAWN)
def test_what_is_used_from_outside_is_what_has_such_uses(
    drawn: list[tuple[str, str, str, bool, bool]],
) -> None:
    """Pods count by class: one is inside where all of its pods are."""
    view, rows, maps = world(drawn, with_owner=False)
    pods = [row for row in rows if view.resource(row) == PODS]
    inside = frozenset(rows) | view.whole_classes(view.lots(pods))

    assert view.used_from_outside(maps, BREAKING, inside) == [
        row for row in maps if view.uses(row, BREAKING, inside)
    ]


@given(DRAWN)
def test_classes_that_an_owner_controls_are_those_of_its_pods(
    drawn: list[tuple[str, str, str, bool, bool]],
) -> None:
    """A class that is controlled has a pod that is not gone, and the pod names the controller."""
    view, rows, _ = world(drawn, with_owner=True)
    maker = view.find(thing(BALANCERS, "a", "shop").key)
    assert maker is not None
    slow = {
        view.alike(row)
        for row in view.rows(PODS)
        if any(one.controller and one.row == maker for one in view.owners(row))
    }

    assert set(view.classes_controlled(maker)) == slow
    assert all(view.alike(view.one_alike(kind)) == kind for kind in slow)
    assert all(view.name(row) == view.key(row).name for row in rows)
