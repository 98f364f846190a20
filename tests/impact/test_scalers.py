"""Autoscalers: what size those explain that cannot read what they go by, and of what has none."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, operator, owner, thing, view_of, workload
from suture.impact.causes.sizes import resize_explained
from suture.impact.causes.together import cut_together, remember_cut, remember_least, remember_pause
from suture.impact.effects import PodsLost
from suture.impact.ground.change import Resized, Rewritten
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.names import (
    AUTOSCALERS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    SCALED_OBJECTS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector

WEB = workload("web", replicas=6)


def scaler(
    least: int, most: int, floor: int = 0, *, of: ClusterObject | None = None
) -> ClusterObject:
    """Return an autoscaler of the Deployment `web`; one that another made is `of` that."""
    resource, name = (AUTOSCALERS, "web") if of is not None else (SCALED_OBJECTS, "web")
    return msgspec.structs.replace(
        thing(resource, name, "prod", facts=AutoscalerFacts(least, most, floor)),
        needs=(Need(Edge.SCALES, WEB[0].key),),
        owners=() if of is None else (owner(of),),
    )


def explained(after: int, *scalers: ClusterObject) -> bool:
    view = view_of(WEB, *scalers)
    row = view.find(WEB[0].key)
    assert row is not None
    return resize_explained(view, row, after)


@pytest.mark.parametrize(("after", "floor"), [(2, 5), (4, 5), (0, 1), (2, 3)])
def test_who_cannot_read_its_metrics_explains_no_smaller_size(after: int, floor: int) -> None:
    """Within its bounds, and not: but for its upper bound, and what it falls back on."""
    assert explained(after, scaler(0, 5))
    assert not explained(after, scaler(0, 5, floor))
    assert explained(floor, scaler(0, 5, floor))


def test_who_made_an_autoscaler_sizes_by_it() -> None:
    """Where that one is blind so is its maker, of the sizes that are that one's and of a stop."""
    maker = scaler(0, 9)
    blind, well = scaler(1, 9, 9, of=maker), scaler(1, 9, of=maker)

    assert not explained(2, maker, blind)
    assert explained(2, maker, well)
    assert not explained(0, maker, blind)
    assert explained(0, maker, well)
    assert explained(2, scaler(0, 9, 9), well)
    assert not explained(0, scaler(0, 9, 9), well)


@pytest.mark.parametrize(
    ("by", "own", "custom"),
    [
        pytest.param("system:serviceaccount:kube-system:horizontal-pod-autoscaler", True, True),
        pytest.param("system:kube-controller-manager", True, True),
        pytest.param("system:serviceaccount:keda:keda-operator", False, True),
        pytest.param("dev@example.com", False, True),
    ],
)
def test_an_autoscaler_answers_for_what_its_own_controller_sets(
    by: str, *, own: bool, custom: bool
) -> None:
    """An apply that sets a size within its bounds takes away what it holds all the same."""
    built_in = msgspec.structs.replace(scaler(1, 9), key=ObjectKey(AUTOSCALERS, "prod", "web"))
    for one, explains in ((built_in, own), (scaler(1, 9), custom)):
        view = view_of(WEB, one)
        row = view.find(WEB[0].key)
        assert row is not None
        assert resize_explained(view, row, 2, by=by) is explains


APP = thing(Resource("app.example.com", "apps"), "web", "prod")


def colour(value: str, *, ready: int = 6, member: bool = False) -> list[ClusterObject]:
    """Return one of two Deployments that are alike but for one label."""
    labels = {"app": "web", "colour": value}
    facts = WorkloadFacts(6, Selector.of(labels))
    keeper = [owner(APP)] if member else []
    root = thing(DEPLOYMENTS, f"web-{value}", "prod", owners=keeper, facts=facts)
    below = thing(REPLICA_SETS, f"web-{value}-1", "prod", owners=[owner(root)], facts=facts)
    pods = [
        thing(
            PODS, f"web-{value}-1-{at}", "prod", labels=labels, owners=[owner(below)],
            facts=PodFacts(ready=at < ready, node="node-1"),
        )
        for at in range(6)
    ]  # fmt: skip
    return [root, below, *pods]


def wanted_of_blue(
    *beside: list[ClusterObject],
    leads: dict[str, str],
    by: Resource = AUTOSCALERS,
    size: int = 0,
    member: bool = False,
) -> int:
    """Return how many pods are asked for of the old colour, which an autoscaler sizes."""
    blue = colour("blue", member=member)
    sizes = msgspec.structs.replace(
        thing(by, "web", "prod", facts=AutoscalerFacts(4, 9)),
        needs=(Need(Edge.SCALES, blue[0].key),),
    )
    facing = thing(SERVICES, "web", "prod", facts=ServiceFacts(Selector.of(leads)))
    view = view_of(APP, blue, sizes, facing, *beside)
    after = msgspec.structs.replace(
        blue[0], facts=WorkloadFacts(size, Selector.of({"app": "web", "colour": "blue"}))
    )
    (lost,) = effects(impact_of(update(blue[0], after), view), PodsLost)
    return lost.wanted


GREEN = {"app": "web", "colour": "green"}


def test_the_old_colour_is_switched_off_with_its_autoscaler() -> None:
    """Once the new one serves: size 0 leaves an autoscaler with nothing to say."""
    assert wanted_of_blue(colour("green"), leads=GREEN) == -1
    assert wanted_of_blue(colour("green"), leads={"app": "web"}) == -1


def test_otherwise_an_autoscaler_asks_for_its_least() -> None:
    """Too little serves, traffic goes to the old, some of it stays, or another has a say."""
    green = colour("green")
    assert wanted_of_blue(leads=GREEN) == 4
    assert wanted_of_blue(colour("green", ready=5), leads=GREEN) == 4
    assert wanted_of_blue(green, leads={"app": "web", "colour": "blue"}) == 4
    assert wanted_of_blue(green, leads=GREEN, size=1) == 4
    assert wanted_of_blue(green, leads=GREEN, by=SCALED_OBJECTS) == 4
    assert wanted_of_blue(green, leads=GREEN, member=True) == 4


# ---- many at once


KEDA = "system:serviceaccount:keda:keda-operator"
LATER = Now(START.mono_ns + 91_000_000_000, START.utc_s + 91)


def scaled_in_turn(
    sizes: list[tuple[int, int]], *, scalers: int = 0, now: Now = START, bound: int = 0
) -> list[bool]:
    """Cut workloads one after the other, each that has a scaler; return what is told of each."""
    others = [thing(SCALED_OBJECTS, f"other-{at}", "prod") for at in range(scalers)]
    view = view_of(WEB, scaler(bound, 50), others)
    row = view.find(WEB[0].key)
    assert row is not None
    found = []
    for before, after in sizes:
        resized = Resized(row, before, after)
        found.append(cut_together(view, KEDA, resized, now))
        if not found[-1]:
            remember_cut(view, KEDA, resized, START)
    return found


def test_the_first_few_that_are_cut_deep_are_believed() -> None:
    """The sixth within a minute is not, by the same actor, of hardly more than so many scalers."""
    assert scaled_in_turn([(6, 0)] * 7) == [False] * 5 + [True] * 2
    assert scaled_in_turn([(20, 2)] * 6, bound=2)[-1]
    assert scaled_in_turn([(6, 0)] * 8, scalers=69) == [False] * 7 + [True]
    assert not any(scaled_in_turn([(6, 0)] * 7, scalers=100))
    assert not any(scaled_in_turn([(6, 0)] * 7, now=LATER))


@pytest.mark.parametrize("size", [(1, 0), (6, 3), (50, 45), (2, 1), (0, 4)])
def test_what_lets_one_go_or_goes_step_by_step_is_no_deep_cut(size: tuple[int, int]) -> None:
    """Idle consumers that had one left, tiers at night: however many they are."""
    assert not any(scaled_in_turn([size] * 30))


def test_what_nobody_sizes_is_not_counted() -> None:
    view = view_of(WEB)
    row = view.find(WEB[0].key)
    assert row is not None
    resized = Resized(row, 6, 0)
    for _ in range(9):
        remember_cut(view, KEDA, resized, START)
    assert not cut_together(view, KEDA, resized, START)
    assert not cut_together(view, KEDA, resized, None)


@pytest.mark.parametrize("of_hpa", [False, True])
def test_what_goes_by_the_clock_goes_together(*, of_hpa: bool) -> None:
    """And nothing else is doubted for it, by whatever of the two sets the size."""
    clock = msgspec.structs.replace(scaler(0, 9), facts=AutoscalerFacts(0, 9, timed=True))
    view = view_of(WEB, [clock, scaler(1, 9, of=clock)] if of_hpa else [clock])
    plain = view_of(WEB, scaler(0, 9))
    row, other = view.find(WEB[0].key), plain.find(WEB[0].key)
    assert row is not None
    assert other is not None
    resized = Resized(row, 6, 0)
    for _ in range(9):
        remember_cut(view, KEDA, resized, START)
        assert not cut_together(view, KEDA, resized, START)
    for _ in range(9):
        remember_cut(plain, KEDA, Resized(other, 6, 0), START)
    assert cut_together(plain, KEDA, Resized(other, 6, 0), START)


def seven_cuts(view: GraphView, resized: Resized, now: Now) -> list[bool]:
    """Cut a workload so seven times over, as many would be; return what is told of each."""
    found = []
    for _ in range(7):
        found.append(cut_together(view, KEDA, resized, now))
        remember_cut(view, KEDA, resized, now)
    return found


@pytest.mark.parametrize(
    ("lowered_from", "by", "seconds", "believed"),
    [
        pytest.param(6, "dev@example.com", 60, True, id="what its least size held"),
        pytest.param(4, "dev@example.com", 60, False, id="what was larger for its load"),
        pytest.param(6, KEDA, 60, False, id="who lowers the bound itself"),
        pytest.param(6, "dev@example.com", 7200, False, id="a bound of two hours ago"),
        pytest.param(0, "dev@example.com", 60, False, id="a bound that was raised"),
    ],
)
def test_what_a_lowered_least_size_lets_go_goes_together(
    lowered_from: int, by: str, seconds: int, *, believed: bool
) -> None:
    """At night a schedule lowers the least sizes of all: what stood there has a cause to go."""
    before, after = scaler(lowered_from, 50), scaler(1, 50)
    view = view_of(WEB, after)
    row = view.find(WEB[0].key)
    assert row is not None
    wrote = Rewritten(view.find(after.key), before, after, ("spec",))
    remember_least(view, by, wrote, START)
    now = Now(START.mono_ns + seconds * 10**9, START.utc_s + seconds)
    found = seven_cuts(view, Resized(row, 6, 1), now)
    assert found == ([False] * 7 if believed else [False] * 5 + [True] * 2)


@pytest.mark.parametrize(
    ("value", "by", "seconds", "believed"),
    [
        pytest.param("0", "dev@example.com", 60, True, id="held at nothing"),
        pytest.param("2", "dev@example.com", 60, False, id="at another size"),
        pytest.param("true", "dev@example.com", 60, False, id="as it is"),
        pytest.param("0", KEDA, 60, False, id="by the scaler itself"),
        pytest.param("0", "dev@example.com", 7200, False, id="two hours ago"),
    ],
)
def test_what_a_person_pauses_goes_together(
    value: str, by: str, seconds: int, *, believed: bool
) -> None:
    """Each autoscaler was told so: no source that is away is behind it."""
    held = scaler(0, 50)
    view = view_of(WEB, held)
    row = view.find(WEB[0].key)
    assert row is not None
    bodies = (
        b"{}",
        msgspec.json.encode(
            {"metadata": {"annotations": {"autoscaling.keda.sh/paused-replicas": value}}}
        ),
    )
    remember_pause(update(held, held, by=operator(by), bodies=bodies), view, START)
    now = Now(START.mono_ns + seconds * 10**9, START.utc_s + seconds)
    found = seven_cuts(view, Resized(row, 6, 0), now)
    assert found == ([False] * 7 if believed else [False] * 5 + [True] * 2)


def test_bounds_explain_nothing_of_what_all_let_go_together() -> None:
    """What asks for the size itself still does."""
    view = view_of(WEB, scaler(0, 5))
    row = view.find(WEB[0].key)
    assert row is not None
    assert resize_explained(view, row, 0)
    assert not resize_explained(view, row, 0, together=True)
