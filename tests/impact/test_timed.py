"""Objects that say themselves when they end: a label with a time to live, and whose time has come."""

from __future__ import annotations

import pytest
from msgspec.json import encode
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, service, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, DEPLOYMENTS, PODS, Resource
from suture.model.objects import ClaimFacts, ClusterObject, PodFacts, WorkloadFacts
from suture.model.request import Collection
from suture.model.selectors import Selector

HOUR = 3_600
TTL = {"cleanup.example.com/ttl": "3h"}


def preview(
    labels: dict[str, str] = TTL, age_s: float = 4 * HOUR, name: str = "pr-7"
) -> ClusterObject:
    facts = WorkloadFacts(1, Selector.of({"app": "pr-7"}))
    made = thing(DEPLOYMENTS, name, "previews", labels=labels, facts=facts)
    return replace(made, created=START.utc_s - age_s)


def explained(one: ClusterObject, *others: ClusterObject) -> int:
    view = GraphView(graph_of(one, *others), History())
    told = effects(impact_of(delete(one), view), ObjectsRemoved)
    return next(effect.explained for effect in told if effect.resource == str(one.key.resource))


def test_what_was_made_to_end_may_end() -> None:
    """Three hours were given, and four are over; a Service behind which it stood loses it."""
    one = preview()
    assert explained(one) == 1
    pod = thing(
        PODS, "pr-7-0", "previews", labels={"app": "pr-7"}, owners=[owner(one)],
        facts=PodFacts(ready=True),
    )  # fmt: skip
    view = GraphView(graph_of(one, pod, service("web", "previews", app="pr-7")), History())
    (emptied,) = effects(impact_of(delete(one), view), ServiceEmptied)
    assert emptied.explained


@pytest.mark.parametrize(
    ("label", "said"),
    [
        pytest.param("janitor.example.com/ttl", "1h30m", id="two units"),
        pytest.param("cleanup.example.com/ttl", "2023-11-14", id="a day"),
        pytest.param("cleanup.example.com/expires-at", "2023-11-14T210000Z", id="a moment"),
        pytest.param("ci.example.com/delete-after", "90m", id="another word"),
    ],
)
def test_ways_to_say_it(label: str, said: str) -> None:
    """A span counts from the object's beginning, a moment by itself."""
    assert explained(preview({label: said})) == 1


@pytest.mark.parametrize(
    ("labels", "age_s"),
    [
        pytest.param(TTL, 2 * HOUR, id="not yet"),
        pytest.param(TTL, 9 * 24 * HOUR, id="too old to be a preview"),
        pytest.param({"ttl": "3h"}, 4 * HOUR, id="nobody's word"),
        pytest.param({"dns.example.com/ttl": "300"}, 4 * HOUR, id="a number"),
        pytest.param({"dns.example.com/record-ttl": "5m"}, 4 * HOUR, id="another word"),
        pytest.param({"a.example.com/ttl": ""}, 4 * HOUR, id="nothing"),
        pytest.param({"a.example.com/expires-at": "2033-01-01"}, 4 * HOUR, id="years to come"),
        pytest.param({"a.example.com/ttl": "never"}, 4 * HOUR, id="never"),
    ],
)
def test_what_does_not_end_yet_or_does_not_say_so(labels: dict[str, str], age_s: float) -> None:
    """Nor is it believed of what was there long before."""
    assert explained(preview(labels, age_s)) == 0


def test_what_is_kept_by_another_or_holds_data_does_not_end_by_itself() -> None:
    """An owner knows better, and data outlives who asked for it."""
    above = thing(Resource("ci.example.com", "environments"), "all", "previews")
    one = replace(preview(), owners=(owner(above),))
    assert explained(one, above) == 0
    facts = ClaimFacts(bound=True, volume="pv")
    claim = replace(
        thing(CLAIMS, "data", "previews", labels=TTL, facts=facts), created=START.utc_s - 4 * HOUR
    )
    assert explained(claim) == 0


def test_a_label_that_was_put_on_lately_explains_nothing() -> None:
    """Who marks what was there before, by mistake, has no cause by it."""
    before, after = preview({}), preview()
    view = GraphView(graph_of(before), History())
    request = update(before, after)
    remember(request, project(request, view), view, START)
    marked = GraphView(graph_of(after), view.history)
    (told,) = effects(impact_of(delete(after), marked), ObjectsRemoved)
    assert told.explained == 0


def annotated(
    marks: dict[str, str], age_s: float = 4 * HOUR, labels: dict[str, str] | None = None
) -> int:
    """Return how many removals are explained of one object that has these annotations."""
    one = preview(labels or {}, age_s)
    body = encode({"kind": "Deployment", "metadata": {"name": "pr-7", "annotations": marks}})
    request = replace(delete(one), old_body=body)
    view = GraphView(graph_of(one), History())
    told = effects(impact_of(request, view), ObjectsRemoved)
    return next(effect.explained for effect in told if effect.resource == str(DEPLOYMENTS))


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        pytest.param("janitor/ttl", "3h", id="a span"),
        pytest.param("janitor/expires", "2023-11-14T21:00:00Z", id="a moment"),
        pytest.param("janitor/expires", "2023-11-14T21:00", id="a minute"),
    ],
)
def test_an_annotation_says_it_as_well(mark: str, said: str) -> None:
    """What the request names has its annotations in the review."""
    assert annotated({mark: said}) == 1


def test_an_annotation_is_believed_no_more_than_a_label() -> None:
    """Neither before its time, nor of what was there long before."""
    assert annotated({"janitor/ttl": "5h"}) == 0
    assert annotated({"janitor/ttl": "3h"}, 9 * 24 * HOUR) == 0
    assert annotated({"note": "see https://example.com/ttl"}) == 0


def test_one_annotation_says_nothing_of_what_else_goes() -> None:
    """Of a collection only one object is in the review, and the others have bodies of their own."""
    one, other = preview({}), preview({}, name="pr-8")
    body = encode({"metadata": {"annotations": {"janitor/ttl": "3h"}}})
    asked = delete(one, extent=Collection(Selector.of({})))
    request = replace(asked, name="", old_body=body)
    view = GraphView(graph_of(one, other), History())
    (told,) = effects(impact_of(request, view), ObjectsRemoved)
    assert (told.count, told.explained) == (2, 0)
