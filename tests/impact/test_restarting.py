"""Members with a workload each that an operator restarts before the one before is back."""

from __future__ import annotations

from typing import Any

import pytest

from support.asking import effects, impact_of
from support.cluster import START, graph_of, operator, owner, service, thing, view_of
from support.writes import Body, body, trimmed, write
from suture.impact.causes.recent import remember
from suture.impact.effects import EndpointsLost, ServiceEmptied
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import PODS, STATEFUL_SETS, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts

CLUSTERS = Resource("db.example.com", "clusters")
PARENT = thing(CLUSTERS, "orders", "prod", facts=CustomFacts())
LABELS = {"app": "orders"}


def stamped(member: int, setting: str, image: str = "db:1", size: int = 1) -> Body:
    """Write the set of one member; each selects its own pod by a further label."""
    own = {**LABELS, "member": str(member)}
    pods = {
        "metadata": {"labels": own, "annotations": {"settings": setting}},
        "spec": {"containers": [{"name": "db", "image": image}]},
    }
    spec = {"replicas": size, "selector": {"matchLabels": own}, "template": pods}
    owned = {
        "apiVersion": "db.example.com/v1", "kind": "Clusters", "name": "orders",
        "uid": PARENT.uid, "controller": True,
    }  # fmt: skip
    metadata = {"uid": f"set-{member}", "ownerReferences": [owned]}
    return body(
        "StatefulSet", f"orders-{member}", apiVersion="apps/v1", metadata=metadata, spec=spec
    )


class Rolling:
    """A cluster of members in which an operator writes one set after the other."""

    def __init__(self, members: int, *, size: int = 1, ready: frozenset[int] | None = None) -> None:
        sets = [trimmed(STATEFUL_SETS, stamped(one, "a", size=size)) for one in range(members)]
        pods: list[ClusterObject] = [
            thing(
                PODS, f"orders-{one}-{at}", "prod", labels={**LABELS, "member": str(one)},
                owners=[owner(sets[one])],
                facts=PodFacts(ready=ready is None or one in ready, node=f"node-{one}"),
            )
            for one in range(members)
            for at in range(size)
        ]  # fmt: skip
        self.size = size
        self.now = START
        self.view: GraphView = view_of(PARENT, sets, pods, service("orders", app="orders"))

    def restart(
        self, member: int, *, after_s: float = 1, by: Actor | None = None, **how: Any
    ) -> list[tuple[int, int, int]]:
        """Return what the Service keeps, of how many it had, and how many are declared; 0: some."""
        self.now = self.now.plus_s(after_s)
        before, after = (
            stamped(member, "a", size=self.size), stamped(member, "b", size=self.size, **how)
        )  # fmt: skip
        request = write(STATEFUL_SETS, before, after, by=by)
        impact = impact_of(request, self.view, by=by or operator(), now=self.now)
        remember(request, project(request, self.view), self.view, self.now)
        emptied = {one.service: one.declared for one in effects(impact, ServiceEmptied)}
        return [
            (one.after, one.peak, emptied.get(one.service, 0))
            for one in effects(impact, EndpointsLost)
        ]


def test_the_first_may_go_and_the_next_may_not() -> None:
    """Whether the pod of the first is still told to be Ready, or not."""
    rolling = Rolling(3)
    assert rolling.restart(0) == []
    assert rolling.restart(1) == [(1, 3, 0)]
    assert rolling.restart(2) == [(0, 3, 3)]


def test_one_that_does_not_come_back() -> None:
    """It counts for as long as it is away, and its Service had it too."""
    rolling = Rolling(3, ready=frozenset({1, 2}))
    rolling.restart(0)
    assert rolling.restart(1, after_s=300) == [(1, 3, 0)]


def test_the_last_of_two() -> None:
    """One pod is left behind the Service, and two were to be there."""
    rolling = Rolling(2, ready=frozenset({1}))
    rolling.restart(0)
    assert rolling.restart(1) == [(0, 2, 2)]


@pytest.mark.parametrize(
    ("size", "how"),
    [
        pytest.param(1, {"after_s": 60}, id="it is back"),
        pytest.param(1, {"image": "db:2"}, id="another image is a delivery"),
        pytest.param(1, {"by": operator("ann@example.com")}, id="a person"),
        pytest.param(2, {}, id="each has others"),
    ],
)
def test_what_may_go_on(size: int, how: dict[str, Any]) -> None:
    """The twins: who waits, who delivers, who looks, and what its own controller restarts."""
    rolling = Rolling(3, size=size)
    rolling.restart(0, **how)
    assert rolling.restart(1, **how) == []


def test_what_was_asked_for() -> None:
    """Somebody changed the resource of which they are, and that may be what for."""
    rolling = Rolling(3)
    for value in (1, 2):
        rolling.view.history.writes.note(PARENT.key, Deed(What.WROTE, "ann", value), START)
    rolling.restart(0)
    assert rolling.restart(1) == []


def test_what_is_no_part_of_the_service() -> None:
    """Another member of the same resource, behind a Service of its own."""
    rolling = Rolling(2)
    view = view_of(
        PARENT, [trimmed(STATEFUL_SETS, stamped(one, "a")) for one in range(2)],
        service("other", app="other"),
    )  # fmt: skip
    rolling.view = view
    rolling.restart(0)
    assert rolling.restart(1) == []


class Kept:
    """Clusters of one set each, one after the other written by the next version of an operator."""

    def __init__(self, count: int, *, back: frozenset[int] = frozenset()) -> None:
        self.now, self.view = START, GraphView(graph_of(), History())
        self.sets = [self._set(one) for one in range(count)]
        things = [
            part
            for one in range(count)
            for part in (
                self._parent(one),
                trimmed(STATEFUL_SETS, self.sets[one]),
                thing(
                    PODS, f"db-{one}-0", "prod", labels={"app": f"db-{one}"},
                    owners=[owner(trimmed(STATEFUL_SETS, self.sets[one]))],
                    facts=PodFacts(ready=one in back, node="node-1"),
                ),
                service(f"db-{one}", app=f"db-{one}"),
            )
        ]  # fmt: skip
        self.view = view_of(*things)

    @staticmethod
    def _parent(at: int) -> ClusterObject:
        return thing(CLUSTERS, f"db-{at}", "prod", facts=CustomFacts())

    def _set(self, at: int, setting: str = "a") -> Body:
        parent, labels = self._parent(at), {"app": f"db-{at}"}
        owned = {
            "apiVersion": "db.example.com/v1", "kind": "Cluster", "name": f"db-{at}",
            "uid": parent.uid, "controller": True,
        }  # fmt: skip
        pods = {
            "metadata": {"labels": labels, "annotations": {"settings": setting}},
            "spec": {"containers": [{"name": "db", "image": "db:1"}]},
        }
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pods}
        metadata = {"uid": f"set-{at}", "ownerReferences": [owned]}
        return body("StatefulSet", f"db-{at}", apiVersion="apps/v1", metadata=metadata, spec=spec)

    def restart(self, at: int, *, after_s: float, by: Actor | None = None) -> list[bool]:
        """Return of what loses its last endpoint for good whether that heals."""
        self.now = self.now.plus_s(after_s)
        request = write(STATEFUL_SETS, self._set(at), self._set(at, "b"), by=by)
        impact = impact_of(request, self.view, by=by or operator(), now=self.now)
        remember(request, project(request, self.view), self.view, self.now)
        return [one.self_healing for one in effects(impact, ServiceEmptied)]


@pytest.mark.parametrize(
    ("first", "after_s", "back", "lost"),
    [
        pytest.param(3, 130, {9}, [False], id="three are not back"),
        pytest.param(2, 130, {9}, [], id="two are not"),
        pytest.param(3, 30, {9}, [], id="they are on their way"),
        pytest.param(3, 130, {0, 9}, [], id="one of them is back"),
        pytest.param(3, 700, {9}, [], id="it was long ago"),
    ],
)
def test_what_does_not_come_back_elsewhere(
    first: int, after_s: float, back: set[int], lost: list[bool]
) -> None:
    """The next is not expected back either, and its Service has nothing else."""
    kept = Kept(10, back=frozenset(back))
    for one in range(first):
        assert kept.restart(one, after_s=1) == []
    assert kept.restart(9, after_s=after_s) == lost


def test_a_person_looks_on() -> None:
    """The twin: who restarts by hand sees what comes of it."""
    kept, ann = Kept(10, back=frozenset({9})), operator("ann@example.com")
    for one in range(3):
        kept.restart(one, after_s=1, by=ann)
    assert kept.restart(9, after_s=130, by=ann) == []
