"""The reflector ends up with what the cluster has, whatever happened to its connection."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.scriptedserver import Server, bookmark, event
from suture.model import names
from suture.model.names import Gvk
from suture.wire.trim import Trimmer
from suture.wire.watch import (
    RESUMES,
    Ask,
    AskPages,
    AskStream,
    AskWatch,
    Delta,
    Listed,
    Lost,
    Phase,
    Reflector,
    Removal,
    Signal,
    Upsert,
)


class Follower:
    """A reflector with the smallest model that its deltas can be applied to."""

    def __init__(self, *, streams: bool) -> None:
        gvk = Gvk("", "v1", "ConfigMap")
        self.reflector = Reflector(Trimmer().reader(names.CONFIG_MAPS, gvk), streams=streams)
        self.model: dict[str, tuple[str, int]] = {}
        self.seen: set[str] = set()

    def ask(self) -> Ask:
        """Ask; of a list, what it does not have will be gone."""
        ask = self.reflector.ask()
        if not isinstance(ask, AskWatch):
            self.seen = set()
        return ask

    def apply(self, deltas: list[Delta]) -> bool:
        """Apply what came; tell whether the stream can go on."""
        for delta in deltas:
            match delta:
                case Upsert(thing=found):
                    self.model[found.key.name] = (found.uid, int(found.resource_version))
                    self.seen.add(found.uid)
                case Removal(key=key, uid=uid):
                    if self.model.get(key.name, ("",))[0] == uid:
                        del self.model[key.name]
                case Listed():
                    kept = self.seen
                    self.model = {n: state for n, state in self.model.items() if state[0] in kept}
                case Lost(status=status):
                    self.reflector.ended(Signal.GONE if status == 410 else Signal.REFUSED)
                    return False
        return True

    def feed(self, lines: list[bytes], together: int = 1) -> bool:
        """Feed lines, some in one block."""
        return all(
            self.apply(self.reflector.lines(b"".join(lines[at : at + together])))
            for at in range(0, len(lines), together)
        )

    def catch_up(self, server: Server) -> None:
        """Ask and feed until all is known, over a connection that works."""
        for _ in range(RESUMES + 3):
            match self.ask():
                case AskPages():
                    for page in server.pages():
                        self.apply(self.reflector.page(page))
                    lines: list[bytes] | None = []
                case AskStream():
                    lines = server.stream()
                case AskWatch(resource_version=version):
                    lines = server.since(version)
            if lines is None:
                self.reflector.ended(Signal.GONE)
                continue
            if self.feed(lines):
                self.reflector.ended(Signal.ENDED)
            if self.reflector.listed:
                return
        raise AssertionError("never caught up")


STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from("abcde"), st.booleans()),
    st.tuples(st.just("deliver"), st.integers(1, 4), st.integers(1, 3)),
    st.tuples(st.just("repeat"), st.integers(1, 4), st.just(0)),
    st.tuples(st.just("swap"), st.just(0), st.just(0)),
    st.tuples(st.just("lose"), st.integers(1, 3), st.just(0)),
    st.tuples(st.just("break"), st.sampled_from([Signal.BROKEN, Signal.ENDED]), st.just(0)),
    st.tuples(st.just("compact"), st.just(0), st.just(0)),
    st.tuples(st.just("bookmark"), st.just(0), st.just(0)),
    st.tuples(st.just("half a list"), st.integers(0, 2), st.just(0)),
)


@settings(max_examples=300)
@given(steps=st.lists(STEPS, max_size=40), streams=st.booleans())
def test_the_model_equals_the_cluster_after_any_history(
    steps: list[tuple[str, Any, Any]], streams: bool
) -> None:
    """Repeats, disorder and broken connections leave no trace, nor do losses after a list."""
    server, follower = Server(), Follower(streams=streams)
    server.write("a", delete=False)
    follower.catch_up(server)
    assert isinstance(follower.ask(), AskWatch)
    pending: list[bytes] = []
    told: list[bytes] = []
    swapped = lost = False
    for step, first, second in steps:
        match step:
            case "write":
                before = len(server.history)
                server.write(first, delete=second)
                pending += [line for _, line in server.history[before:]]
            case "deliver":
                cut, pending = pending[:first], pending[first:]
                follower.feed(cut, together=second)
                told += cut
            case "repeat":
                follower.feed(told[-first:])
            case "swap":
                swapped = swapped or len(pending) > 1
                pending[:2] = pending[1::-1] + pending[2:2]
            case "lose":
                lost = lost or bool(pending)
                pending = pending[first:]
            case "bookmark":
                if not pending:
                    follower.feed([bookmark(server.version)])
            case "compact":
                server.compacted = server.version
            case "half a list":
                follower.reflector.ended(Signal.GONE)
                ask = follower.ask()
                if isinstance(ask, AskStream):
                    follower.feed(server.stream()[:-1][:first])
                else:
                    for page in server.pages(size=1)[:-1][:first]:
                        follower.apply(follower.reflector.page(page))
                follower.reflector.ended(Signal.BROKEN)
                follower.catch_up(server)
                follower.ask()
                pending, told = [], []
            case "break":
                # What overtook another is resumed from, and the other never comes.
                lost = lost or (swapped and bool(pending))
                follower.reflector.ended(first)
                pending, told = [], []
                follower.catch_up(server)
                follower.ask()
    follower.feed(pending)
    follower.reflector.ended(Signal.GONE if lost else Signal.ENDED)
    follower.catch_up(server)
    assert follower.model == server.stored


def test_a_lost_event_is_healed_by_the_next_list() -> None:
    """What a server never sent is found when the type is listed anew."""
    server, follower = Server(), Follower(streams=False)
    for name in "abc":
        server.write(name, delete=False)
    follower.catch_up(server)
    follower.ask()
    server.write("a", delete=True)
    server.write("d", delete=False)
    follower.feed(server.since(follower.reflector.resource_version)[-1:])  # type: ignore[index]
    assert follower.model.keys() == {"a", "b", "c", "d"}
    follower.reflector.ended(Signal.GONE)
    follower.catch_up(server)
    assert follower.model == server.stored


def test_a_repeated_event_is_counted_and_costs_nothing() -> None:
    """No new list follows from it."""
    server, follower = Server(), Follower(streams=True)
    follower.catch_up(server)
    follower.ask()
    server.write("a", delete=False)
    server.write("a", delete=True)
    lines = [line for _, line in server.history]
    follower.feed([*lines, *lines])
    assert follower.model == {}
    assert follower.reflector.counts["duplicates"] == 2
    follower.reflector.ended(Signal.ENDED)
    assert follower.reflector.listed


def test_a_type_whose_versions_have_no_order_is_taken_as_it_comes() -> None:
    """Aggregated API servers may number as they like."""
    server, follower = Server(), Follower(streams=False)
    follower.reflector.ordered = False
    follower.catch_up(server)
    assert isinstance(follower.ask(), AskWatch)
    follower.feed([event("ADDED", "x", "u", 5), event("MODIFIED", "x", "u", 3)])
    follower.reflector.ended(Signal.ENDED)
    assert follower.ask() == AskWatch("3")
    assert follower.model == {"x": ("u", 3)}


def test_a_version_that_the_server_never_knows_is_given_up() -> None:
    """A restored database has never heard of our version; after some attempts we list anew."""
    server, follower = Server(), Follower(streams=False)
    follower.catch_up(server)
    for _ in range(RESUMES):
        assert isinstance(follower.ask(), AskWatch)
        follower.reflector.ended(Signal.REFUSED)
    assert isinstance(follower.ask(), AskPages)


def test_a_refusal_in_the_stream_is_told() -> None:
    """An ERROR event reaches whoever paces the attempts, with its status."""
    server, follower = Server(), Follower(streams=False)
    follower.catch_up(server)
    follower.ask()
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    line = json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
    assert follower.reflector.lines(line) == [Lost(410, "Expired: too old")]


def test_a_stream_that_ends_before_its_bookmark_lists_nothing() -> None:
    """A list that did not come to its end must not make anything disappear."""
    server, follower = Server(), Follower(streams=True)
    for name in "abc":
        server.write(name, delete=False)
    follower.catch_up(server)
    follower.reflector.ended(Signal.GONE)
    assert isinstance(follower.ask(), AskStream)
    follower.feed(server.stream()[:1])
    follower.reflector.ended(Signal.ENDED)
    assert follower.reflector.phase is Phase.UNLISTED
    assert follower.model == server.stored


def test_a_deletion_within_the_list_part_of_a_stream() -> None:
    """An object that goes while it is being listed does not stay behind."""
    follower = Follower(streams=True)
    assert isinstance(follower.ask(), AskStream)
    follower.feed(
        [event("ADDED", "a", "u1", 3), event("DELETED", "a", "u1", 9), bookmark(9, initial=True)]
    )
    assert follower.model == {}
    assert follower.ask() == AskWatch("9")
