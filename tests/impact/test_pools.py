"""Parents whose parts each say how many they want: what that asks of one workload."""

from __future__ import annotations

import pytest

from support.cluster import owner, service, thing, view_of
from suture.impact.causes.sizes import asked_for, resize_explained
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, PODS, REPLICA_SETS, STATEFUL_SETS, Resource
from suture.model.objects import CustomFacts, PodFacts, WorkloadFacts
from suture.model.selectors import Selector

SEARCHES = Resource("search.example.com", "searches")
FIRST = "hot"


def world(
    pools: tuple[int, ...], *parts: int, going: bool = False, sizes: tuple[int, ...] = ()
) -> tuple[GraphView, int]:
    """Return a cluster with sets of these sizes under one parent, and the row of the first."""
    parent = thing(
        SEARCHES, "main", "shop", facts=CustomFacts(pools=pools, sizes=sizes), deleted=float(going)
    )
    names = (FIRST, "warm", "cold")
    sets = [
        thing(
            STATEFUL_SETS, name, "shop", owners=[owner(parent)], facts=WorkloadFacts(replicas=size)
        )
        for name, size in zip(names, parts, strict=False)
    ]
    other = thing(
        DEPLOYMENTS, "board", "shop", owners=[owner(parent)], facts=WorkloadFacts(replicas=9)
    )
    view = view_of(parent, sets, other)
    row = view.find(sets[0].key)
    assert row is not None
    return view, row


@pytest.mark.parametrize(
    ("pools", "sizes", "asked"),
    [
        pytest.param((2,), (2,), 2, id="one-set"),
        pytest.param((6,), (3, 2, 1), 3, id="several-sets-that-add-up"),
        pytest.param((9, 6), (3, 3), 3, id="one-of-several-sums-fits"),
        pytest.param((1,), (3,), -1, id="a-number-of-something-else"),
        pytest.param((6,), (3, 2), -1, id="a-parent-that-wants-more"),
        pytest.param((), (3,), -1, id="nothing-said"),
    ],
)
def test_a_sum_is_believed_of_what_it_fits(
    pools: tuple[int, ...], sizes: tuple[int, ...], asked: int
) -> None:
    """Workloads of another kind are not counted in."""
    assert asked_for(*world(pools, *sizes)) == asked


@pytest.mark.parametrize(
    ("says", "parts", "after", "asked"),
    [
        pytest.param((3,), (3,), 2, 3, id="one-set-of-that-size"),
        pytest.param((2,), (3,), 2, -1, id="made-smaller-first"),
        pytest.param((3,), (4,), 3, -1, id="one-more-for-a-while"),
        pytest.param((3,), (3, 3), 2, -1, id="two-sets-of-that-size"),
        pytest.param((9,), (9,), 8, -1, id="another-workload-of-that-size"),
        pytest.param((3,), (3,), 0, -1, id="stopped"),
    ],
)
def test_a_number_of_another_name_is_believed_of_the_one_set_that_it_fits(
    says: tuple[int, ...], parts: tuple[int, ...], after: int, asked: int
) -> None:
    """An operator scaled its set to the members that it saw; to nothing there are more reasons."""
    assert asked_for(*world((), *parts, sizes=says), after=after) == asked
    assert asked_for(*world((), *parts, sizes=says)) == -1


@pytest.mark.parametrize(
    ("says", "parts", "after", "asked"),
    [
        pytest.param((6,), (2, 2, 2), 1, 2, id="racks-of-a-ring"),
        pytest.param((7,), (3, 2, 2), 2, 3, id="racks-that-do-not-divide-it-evenly"),
        pytest.param((3,), (2, 2, 2), 1, -1, id="the-whole-made-smaller-first"),
        pytest.param((4,), (2, 2, 1), 1, -1, id="on-the-way-to-the-smaller-whole"),
        pytest.param((6,), (2, 2, 3), 1, -1, id="one-more-for-a-while"),
        pytest.param((6,), (2, 2, 2), 0, -1, id="stopped"),
        pytest.param((9,), (3, 3, 3), 2, -1, id="another-workload-is-so-large-alone"),
        pytest.param((6,), (6, 0), 5, 6, id="beside-it-one-that-is-stopped"),
    ],
)
def test_a_number_of_another_name_is_believed_of_all_sets_that_it_fits(
    says: tuple[int, ...], parts: tuple[int, ...], after: int, asked: int
) -> None:
    """An operator that read the former size of a ring took a member from each rack."""
    assert asked_for(*world((), *parts, sizes=says), after=after) == asked


def test_a_set_that_was_left_out_hands_its_members_on() -> None:
    """The whole is to be as large as before, and its other sets make up for it."""
    view, row = world((), 2, 2, 2, sizes=(6,))
    parent = view.controller(row)
    view.history.writes.note_left_out(view.uid(parent), frozenset({FIRST}), frozenset())
    assert asked_for(view, row, after=1) == -1


@pytest.mark.parametrize(
    ("says", "names", "after", "asked"),
    [
        pytest.param((("server", 5), ("proxy", 3)), ("main-server",), 3, 5, id="a-part"),
        pytest.param((("logServer", 5),), ("main-log-server",), 3, 5, id="of-two-words"),
        pytest.param((("server", 3),), ("main-server",), 3, -1, id="made-smaller-first"),
        pytest.param((("server", 4),), ("main-server",), 4, -1, id="one-more-for-a-while"),
        pytest.param((("proxy", 5),), ("main-server",), 3, -1, id="another-part"),
        pytest.param((("server", 5),), ("main-server-next",), 3, -1, id="something-beside-it"),
        pytest.param((("server", 5),), ("main-server", "b-server"), 3, -1, id="two-for-it"),
        pytest.param((("server", 5),), ("main-server",), 0, -1, id="stopped"),
    ],
)
def test_a_number_of_a_part_is_believed_of_the_set_called_after_it(
    says: tuple[tuple[str, int], ...], names: tuple[str, ...], after: int, asked: int
) -> None:
    """As long as that is so large: then nobody but who holds an older copy makes it smaller."""
    parent = thing(SEARCHES, "main", "shop", facts=CustomFacts(parts=says))
    sets = [
        thing(STATEFUL_SETS, name, "shop", owners=[owner(parent)], facts=WorkloadFacts(replicas=5))
        for name in names
    ]
    view = view_of(parent, sets)
    row = view.find(sets[0].key)
    assert row is not None
    assert asked_for(view, row, after=after) == asked


@pytest.mark.parametrize(
    ("says", "after", "explained"),
    [
        pytest.param((("server", 3), ("proxy", 5)), 3, True, id="what-the-part-asks-for"),
        pytest.param((("server", 3),), 2, False, id="fewer"),
        pytest.param((("server", 3),), 4, False, id="a-step-of-which-nobody-told"),
        pytest.param((("proxy", 3),), 3, False, id="another-part"),
        pytest.param((("server", 1), ("logServer", 3)), 3, True, id="the-longer-name"),
        pytest.param((("server", 3), ("logServer", 5)), 3, False, id="the-shorter-name"),
    ],
)
def test_a_smaller_size_is_explained_by_the_part_that_says_it(
    says: tuple[tuple[str, int], ...], after: int, *, explained: bool
) -> None:
    """Also where another set was as large, so that the number alone did not tell of which."""
    parent = thing(SEARCHES, "main", "shop", facts=CustomFacts(parts=says))
    sets = [
        thing(STATEFUL_SETS, name, "shop", owners=[owner(parent)], facts=WorkloadFacts(replicas=5))
        for name in ("main-log-server", "main-proxy")
    ]
    view = view_of(parent, sets)
    row = view.find(sets[0].key)
    assert row is not None
    assert resize_explained(view, row, after) is explained


def delivered(*, proxy: bool) -> tuple[GraphView, int]:
    """Return a rollout of two with its old set and another, Ready, and the row of the old one.

    `proxy`: the other set is behind a Service of its own.
    """
    rollout = thing(SEARCHES, "web", "prod", facts=CustomFacts(wanted=2))
    names = ("old", "proxy" if proxy else "new")
    sets = [
        thing(
            REPLICA_SETS, name, "prod", owners=[owner(rollout)],
            facts=WorkloadFacts(replicas=2, selector=Selector.of({"set": name})),
        )
        for name in names
    ]  # fmt: skip
    pods = [
        thing(
            PODS, f"{one.key.name}-{number}", "prod", owners=[owner(one)],
            labels={"set": one.key.name, "app": "proxy" if one.key.name == "proxy" else "web"},
            facts=PodFacts(ready=True),
        )
        for one in sets
        for number in range(2)
    ]  # fmt: skip
    view = view_of(rollout, sets, pods, service("web"), service("proxy"))
    row = view.find(sets[0].key)
    assert row is not None
    return view, row


def test_sets_behind_the_same_services_have_in_sum_what_their_parent_asks_for() -> None:
    """Progressive delivery: the old set may go to nothing; a database with a proxy may not."""
    assert asked_for(*delivered(proxy=False)) <= 0
    assert resize_explained(*delivered(proxy=False), 0)
    assert asked_for(*delivered(proxy=True)) == 2
    assert not resize_explained(*delivered(proxy=True), 0)


def test_a_parent_that_is_going_asks_for_nothing() -> None:
    """Its children go with it."""
    view, row = world((2,), 2, going=True)
    assert asked_for(view, row) == -1
    assert resize_explained(view, row, 0)
    assert not resize_explained(view, row, 1)


@pytest.mark.parametrize(
    ("pools", "after", "explained"),
    [((5,), 2, True), ((5,), 1, False), ((3,), 0, False), ((), 2, False)],
)
def test_a_smaller_size_is_explained_by_a_sum_that_it_makes_true(
    pools: tuple[int, ...], after: int, explained: bool
) -> None:
    """Never a stop: that a part wants none says too little of another."""
    view, row = world(pools, 3, 3)

    assert resize_explained(view, row, after) is explained


@pytest.mark.parametrize(
    ("sizes", "after", "explained"),
    [((0,), 0, True), ((0, 3), 0, False), ((), 0, False), ((0,), 1, False)],
)
def test_a_stop_is_explained_by_a_parent_that_wants_no_members(
    sizes: tuple[int, ...], after: int, explained: bool
) -> None:
    """By whatever name it says how many (`spec.instances`), where none of them says else."""
    view, row = world((), 3, sizes=sizes)

    assert resize_explained(view, row, after) is explained
