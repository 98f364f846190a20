"""The graph beside a slow and obvious one, through any history that Hypothesis can think of."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec.structs import replace as changed

from support.smallworld import (
    ALL_SELECTORS,
    ALL_UIDS,
    LABELS,
    SOME_TYPES,
    Types,
    facts_of,
    keys,
    needs,
    objects,
    owners,
    scaled,
    uids,
)
from suture.lab.soak.compare import check_indexes, differences
from suture.lab.soak.slowgraph import SlowGraph
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.names import PODS, SERVICES, ObjectKey, Operation
from suture.model.objects import ClusterObject
from suture.model.overlay import Overlay
from suture.model.request import Intent

NOW = Now(10**12, 0.0)
INTENTS = st.integers(0, 3).map(
    lambda number: Intent("op", Operation.DELETE, ObjectKey(SERVICES, "p", f"s{number}"), "", "u")
)


class GraphMachine(RuleBasedStateMachine):
    """Puts, removals, relists and admissions, as a cluster and its operators would cause them."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        self.overlay = Overlay(self.graph)
        self.view = GraphView(self.graph)
        self.slow = SlowGraph()
        self.admitted: dict[Intent, set[str]] = {}
        self.types: Types = ()

    @initialize(types=SOME_TYPES)
    def be_about(self, types: Types) -> None:
        self.types = types

    # ---- objects come, change and go

    def _put(self, thing: ClusterObject) -> None:
        assert self.graph.put(thing) == self.slow.put(thing)

    @rule(data=st.data())
    def put(self, data: st.DataObject) -> None:
        self._put(data.draw(objects(self.types)))

    def _one(self, data: st.DataObject) -> ClusterObject:
        return self.slow.things[data.draw(st.sampled_from(sorted(self.slow.things)))]

    @precondition(lambda self: self.slow.things)
    @rule(data=st.data())
    def put_again(self, data: st.DataObject) -> None:
        """Tell the same state twice."""
        self._put(self._one(data))

    @precondition(lambda self: self.slow.things)
    @rule(data=st.data())
    def change_one_part(self, data: st.DataObject) -> None:
        """Tell another state of the same life: relabelled, owned by others, selecting others."""
        thing = self._one(data)
        parts: dict[str, st.SearchStrategy[Any]] = {
            "labels": LABELS,
            "owners": st.lists(owners(self.types), max_size=3).map(tuple),
            "facts": facts_of(thing.key.resource, self.types),
            "needs": needs(self.types),
            "deleted": st.just(1_700_000_099.0),
            "resource_version": st.sampled_from(["3", "4"]),
        }
        part = data.draw(st.sampled_from(sorted(parts)))
        self._put(changed(thing, **{part: data.draw(parts[part])}))

    @precondition(lambda self: self.slow.things)
    @rule(data=st.data())
    def replace_by_another_life(self, data: st.DataObject) -> None:
        """Use a name again before its earlier life was seen to go."""
        self._put(data.draw(objects(self.types, at=self._one(data).key)))

    @precondition(lambda self: self.slow.things)
    @rule(data=st.data(), says_which=st.booleans())
    def remove(self, data: st.DataObject, says_which: bool) -> None:
        thing = self._one(data)
        uid = thing.uid if says_which else ""
        assert self.graph.remove(thing.key, uid) == self.slow.remove(thing.key, uid)

    @rule(data=st.data())
    def remove_late(self, data: st.DataObject) -> None:
        """Tell a removal of a life that may be over, or of a name that is not there."""
        key, uid = data.draw(keys(self.types)), data.draw(uids(self.types))
        assert self.graph.remove(key, uid) == self.slow.remove(key, uid)

    @rule(data=st.data())
    def relist(self, data: st.DataObject) -> None:
        """List a type: some of it is what we have, some is new, some of ours is not in it."""
        resource = data.draw(st.sampled_from(self.types))
        ours = [thing for thing in self.slow if thing.key.resource == resource]
        kept = [thing for thing in ours if data.draw(st.booleans())]
        new = data.draw(st.lists(objects((resource,)), max_size=2))
        told = {thing.key: thing for thing in [*kept, *new]}.values()
        self.graph.replace(resource, told)
        self.slow.replace(resource, told)
        assert self.view.listed(resource)

    # ---- removals are admitted and seen

    @rule(intent=INTENTS, data=st.data())
    def admit_any(self, intent: Intent, data: st.DataObject) -> None:
        removed = data.draw(st.sets(uids(self.types), max_size=3))
        self.overlay.admit(intent, removed, NOW)
        self.admitted[intent] = set(removed)

    @precondition(lambda self: self.slow.things)
    @rule(intent=INTENTS, data=st.data())
    def admit_what_is_there(self, intent: Intent, data: st.DataObject) -> None:
        removed = {self._one(data).uid, self._one(data).uid}
        self.overlay.admit(intent, removed, NOW)
        self.admitted[intent] = removed

    @rule(intent=INTENTS)
    def expire(self, intent: Intent) -> None:
        self.overlay.expire(intent)
        self.admitted.pop(intent, None)

    @rule(data=st.data())
    def seen(self, data: st.DataObject) -> None:
        uid = data.draw(uids(self.types))
        self.overlay.seen(uid)
        for removed in self.admitted.values():
            removed.discard(uid)

    @rule(intent=INTENTS)
    def look_without(self, intent: Intent) -> None:
        """Look as a retry is judged: as if its first attempt had not been admitted."""
        others = [removed for one, removed in self.admitted.items() if one != intent]
        with self.overlay.without(intent):
            self._agree(frozenset[str]().union(*others))

    @rule(data=st.data(), key=st.sampled_from("abc"), value=st.sampled_from(["x", "y", ""]))
    def look_for_a_label(self, data: st.DataObject, key: str, value: str) -> None:
        """Ask what has a label, which is kept until something there changes."""
        others = [resource for resource in self.types if resource != PODS]
        if not others:
            return
        at = data.draw(keys((data.draw(st.sampled_from(others)),)))
        found = self.view.labelled_in(at.resource, at.namespace, key, value)
        gone = frozenset[str]().union(*self.admitted.values())
        assert {self.view.key(row) for row in found} == {
            thing.key
            for thing in self.slow
            if (thing.key.resource, thing.key.namespace) == (at.resource, at.namespace)
            and thing.labels.get(key) == value
            and thing.uid not in gone
        }

    # ---- what holds after every step

    def _agree(self, gone: frozenset[str]) -> None:
        self.slow.gone = gone
        found = differences(self.graph, self.view, self.slow, selectors=ALL_SELECTORS)
        assert not found, "\n".join(found)

    @invariant()
    def agrees(self) -> None:
        self._agree(frozenset[str]().union(*self.admitted.values()))

    @invariant()
    def knows_every_life(self) -> None:
        """Find no life that is over, but whoever names one as an owner, wherever that is."""
        alive = {thing.uid for thing in self.slow}
        for uid in ALL_UIDS:
            if uid not in alive:
                assert self.view.find_uid(uid) is None
            children = sorted(self.view.at(row).key for row in self.view.children(uid))
            assert children == self.slow.children(uid)

    def teardown(self) -> None:
        for intent in list(self.admitted):
            self.overlay.expire(intent)
        for thing in list(self.slow):
            assert self.graph.remove(thing.key) == self.slow.remove(thing.key)
        assert len(self.graph) == 0
        assert list(self.graph) == []
        check_indexes(self.graph)
        empty = differences(self.graph, self.view, SlowGraph())
        assert not empty, empty


GraphMachine.TestCase.settings = settings(max_examples=scaled(100), stateful_step_count=25)
TestGraphMachine = GraphMachine.TestCase
