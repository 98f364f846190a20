"""Selections counted anew, slowly, before and after a pod's label changes or a selector does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from support.cluster import operator, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import SelectionChanged
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.names import PODS, SERVICES
from suture.model.objects import ClusterObject, PodFacts
from suture.model.request import Request

_labels = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"), max_size=3)
_pods = st.lists(st.tuples(_labels, st.booleans()), min_size=1, max_size=5)
_selectors = st.lists(_labels.filter(bool), min_size=1, max_size=3)


def pods_of(told: list[tuple[dict[str, str], bool]]) -> list[ClusterObject]:
    return [
        thing(PODS, f"p{at}", "prod", labels=labels, facts=PodFacts(ready=ready, node="n"))
        for at, (labels, ready) in enumerate(told)
    ]


def service_body(at: int, selector: dict[str, str]) -> Body:
    return body("Service", f"s{at}", spec={"selector": selector})


def counted(selector: dict[str, str], told: list[tuple[dict[str, str], bool]]) -> int:
    """Count the Ready pods that carry every pair of a selector."""
    return sum(ready and selector.items() <= labels.items() for labels, ready in told)


def changes(view: GraphView, request: Request) -> dict[str, SelectionChanged]:
    change = project(request, view)
    impact = estimate(request, change, view, operator(), {"selection_changed"})
    return {one.source.name: one for one in impact.effects if isinstance(one, SelectionChanged)}


@given(told=_pods, selectors=_selectors, labels=_labels)
def test_a_pod_that_is_relabelled(
    told: list[tuple[dict[str, str], bool]],
    selectors: list[dict[str, str]],
    labels: dict[str, str],
) -> None:
    """Every Service that has fewer Ready pods afterwards is told, with the counts; no other is."""
    services = [trimmed(SERVICES, service_body(*one)) for one in enumerate(selectors)]
    view = view_of(services, pods_of(told))
    metadata = {"uid": "uid:pods:prod/p0", "labels": told[0][0]}
    old = body("Pod", "p0", metadata=metadata)
    after = [(labels, told[0][1]), *told[1:]]

    found = changes(view, write(PODS, old, changed(old, metadata={"labels": labels})))

    expected = {
        f"s{at}": (counted(one, told), counted(one, after))
        for at, one in enumerate(selectors)
        if counted(one, after) < counted(one, told)
    }
    fewer = {name: one for name, one in found.items() if one.after < one.before}
    assert {name: (one.before, one.after) for name, one in fewer.items()} == expected
    assert all(one.foreign for name, one in found.items() if name not in expected)


@given(told=_pods, old=_labels.filter(bool), new=_labels.filter(bool))
def test_a_selector_that_changes(
    told: list[tuple[dict[str, str], bool]], old: dict[str, str], new: dict[str, str]
) -> None:
    """Before, after and what is in both are counted as anybody would count them."""
    before = service_body(0, old)
    view = view_of(trimmed(SERVICES, before), pods_of(told))

    found = changes(view, write(SERVICES, before, service_body(0, new)))

    had, will = counted(old, told), counted(new, told)
    both = counted({**old, **new}, told) if {**new, **old} == {**old, **new} else 0
    if had == will == both:
        assert found == {}
    else:
        (one,) = found.values()
        assert (one.before, one.after, one.kept) == (had, will, both)
