"""What budgets were spent outlives the process; after a crash the unknown counts as spent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.cluster import START, graph_of, service
from support.reviews import OPERATOR, review
from suture.adapters.files import load_policies
from suture.adapters.statefile import StateFile, StateFileError
from suture.judge import World, judge
from suture.model import names
from suture.model.actor import Operators, Profile, Stage
from suture.model.clock import Now
from suture.model.names import ObjectKey
from suture.model.request import intent_of
from suture.policy.policyset import PolicySet
from suture.wire.admission import decode_review

SERVICES = [service(f"a{number}") for number in range(30)]


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def world(pack: PolicySet) -> World:
    """Return a world in which one operator is enforced."""
    enforced = Profile("lb-operator", (OPERATOR,), stage=Stage.ENFORCE)
    return World(pack, graph=graph_of(SERVICES), operators=Operators([enforced]))


def refusals(of: World, begin: int, now: Now) -> int:
    """Return how many of five deletes are refused; the others happen."""
    found = 0
    for number in range(begin, begin + 5):
        request = decode_review(review(SERVICES[number], uid=f"r{number}"))
        actor = of.operators.attribute(request.user)
        denied = judge(request, actor, of, now).verdict.denies
        if not denied:
            of.ledger.settle(intent_of(request), now)
        found += denied
    return found


def test_a_planned_stop_hands_over_what_was_spent(pack: PolicySet, tmp_path: Path) -> None:
    """The next process refuses the sixth delete, and knows that nothing else happened."""
    before = world(pack)
    first = StateFile(tmp_path / "state", before, lambda: START)
    assert not first.load()
    assert refusals(before, 0, START) == 0
    first.save_here()

    after = world(pack)
    assert StateFile(tmp_path / "state", after, lambda: START.plus_s(1)).load()

    assert refusals(after, 5, START.plus_s(1)) == 5
    # An hour later there is room again, as there would have been without the restart.
    assert refusals(after, 10, START.plus_s(3 * 3600)) == 0


async def test_after_a_crash_the_unknown_counts_as_spent_for_one_horizon(
    pack: PolicySet, tmp_path: Path
) -> None:
    """Every account is full until what may have been admitted has been seen or cannot happen."""
    before = world(pack)
    state = StateFile(tmp_path / "state", before, lambda: START)
    refusals(before, 0, START)
    task = asyncio.create_task(state.run())
    while not (tmp_path / "state").exists():
        await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.wait([task])

    after = world(pack)
    StateFile(tmp_path / "state", after, lambda: START).load()
    later = START.plus_s(7300)

    assert refusals(after, 5, START.plus_s(2)) == 5
    assert refusals(after, 10, later) == 0


@pytest.mark.parametrize("body", [b"", b"nonsense", b"suture-state 1\n{}\n", b"suture-state 1\nx"])
def test_a_file_of_something_else_is_no_state(body: bytes, pack: PolicySet, tmp_path: Path) -> None:
    """And is left as it is."""
    path = tmp_path / "state"
    path.write_bytes(body)

    with pytest.raises(StateFileError, match="state"):
        StateFile(path, world(pack), lambda: START).load()
    assert path.read_bytes() == body


def test_what_was_removed_and_by_whom_is_remembered(pack: PolicySet, tmp_path: Path) -> None:
    """So that whoever puts it back is seen to restore it, also after a restart."""
    before = world(pack)
    key = ObjectKey(names.SERVICES, "shop", "web")
    before.history.note_removed("u1", key, START, by=OPERATOR)
    StateFile(tmp_path / "state", before, lambda: START).save_here()

    after = world(pack)
    assert StateFile(tmp_path / "state", after, lambda: START.plus_s(60)).load()

    gone = after.history.removed_at(key)
    assert gone is not None
    assert (gone.uid, gone.by) == ("u1", OPERATOR)
