"""A number of children that was lowered, by whatever name: how many of them may go."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, update
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.impact.recent import remember
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import STATEFUL_SETS, Resource
from suture.model.objects import WorkloadFacts

MONITORS = Resource("monitoring.example.com", "monitors")
MONITOR = thing(MONITORS, "main", "prod")
SETS = [
    thing(STATEFUL_SETS, f"shard-{at}", "prod", owners=[owner(MONITOR)], facts=WorkloadFacts(2))
    for at in range(4)
]


class Monitored:
    """A custom resource with four sets, and what was written of it."""

    def __init__(self) -> None:
        self.view = GraphView(graph_of(MONITOR, SETS), History())

    def rewrite(self, old: dict[str, object], new: dict[str, object]) -> None:
        bodies = (msgspec.json.encode({"spec": old}), msgspec.json.encode({"spec": new}))
        request = update(MONITOR, MONITOR, bodies=bodies)
        remember(request, project(request, self.view), self.view, START)

    def explained(self, *going: int) -> int:
        """Return for how many of some sets that go at once a cause accounts."""
        first = delete(SETS[going[0]])
        change = project(first, self.view)
        rows = tuple(self.view.find(SETS[one].key) for one in going)
        change = msgspec.structs.replace(
            change, direct=tuple(row for row in rows if row is not None)
        )
        impact = estimate(first, change, self.view, operator(), now=START)
        (found,) = [
            one for one in effects(impact, ObjectsRemoved) if one.resource == str(STATEFUL_SETS)
        ]
        return found.explained


@pytest.mark.parametrize(
    ("old", "new", "explained"),
    [
        pytest.param({"shards": 4}, {"shards": 3}, 1, id="one fewer"),
        pytest.param({"shards": 4}, {"shards": 2}, 2, id="two fewer"),
        pytest.param({"of": {"shards": 4}}, {"of": {"shards": 3}}, 1, id="within a part"),
        pytest.param({"days": 9}, {"days": 3}, 0, id="a number of something else"),
        pytest.param({"shards": 4}, {"shards": 0}, 0, id="none, which may be of anything"),
        pytest.param({"shards": 3}, {"shards": 4}, 0, id="more"),
        pytest.param({"on": True}, {"on": False}, 0, id="no number"),
    ],
)
def test_a_number_that_was_as_many_as_the_children(
    old: dict[str, object], new: dict[str, object], explained: int
) -> None:
    """Two that go at once are explained as far as the parent can spare them."""
    monitored = Monitored()
    monitored.rewrite(old, new)
    assert monitored.explained(2, 3) == explained


def test_without_such_a_write_nothing_is_explained() -> None:
    """A set that goes under a parent that says what it said is a loss; so once it was raised."""
    monitored = Monitored()
    assert monitored.explained(3) == 0
    monitored.rewrite({"shards": 4}, {"shards": 3})
    assert monitored.explained(3) == 1
    monitored.rewrite({"shards": 3}, {"shards": 4})
    assert monitored.explained(3) == 0
