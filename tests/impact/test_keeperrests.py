"""Pods that hang on a Service, and go when the program behind it was put to sleep."""

from __future__ import annotations

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, owner, thing
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import PODS, SERVICES, STATEFUL_SETS
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector

API, WEB = {"app": "inner-api"}, {"app": "web"}


def explained(replicas: int, *, selector: dict[str, str] = API, controlled: bool = False) -> bool:
    """Return whether it is explained that a pod goes, and that the Service over it is emptied."""
    keeper = thing(SERVICES, "inner-api", "tenant", facts=ServiceFacts(Selector.of(selector)))
    program = thing(
        STATEFUL_SETS, "inner-api", "tenant", facts=WorkloadFacts(replicas, Selector.of(API))
    )
    running: list[ClusterObject] = [
        thing(
            PODS, f"inner-api-{at}", "tenant", labels=API, owners=[owner(program)],
            facts=PodFacts(ready=True),
        )
        for at in range(replicas)
    ]  # fmt: skip
    pod = thing(
        PODS, "web-1", "tenant", labels=WEB, facts=PodFacts(ready=True),
        owners=[owner(keeper, controller=controlled)],
    )  # fmt: skip
    web = thing(SERVICES, "web", "tenant", facts=ServiceFacts(Selector.of(WEB)))
    view = GraphView(graph_of(keeper, program, running, pod, web), History())
    impact = impact_of(delete(pod), view, now=START)
    (gone,), (emptied,) = effects(impact, ObjectsRemoved), effects(impact, ServiceEmptied)
    assert (gone.explained == 1) is emptied.explained
    return emptied.explained


def test_of_a_program_put_to_sleep() -> None:
    """It is to have no pods and has none: it lets go of its own, and makes them when it wakes."""
    assert explained(0)


def test_of_a_program_that_runs() -> None:
    """Nobody put it to sleep: nothing says that its pods may go."""
    assert not explained(1)


def test_of_a_service_that_leads_nowhere() -> None:
    """A Service without pods alone says nothing of what hangs on it."""
    assert not explained(0, selector={"app": "somebody"})


def test_of_a_controller() -> None:
    """What a pod is controlled by answers for it itself."""
    assert not explained(0, controlled=True)
