"""Writing into the storage: what an object becomes in its row, and how it leaves again.

Pods are counted in their class and linked to their node; everything else has labels, facts and
links of its own. Whoever selects pods is linked to their classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final

from suture.model.graph.derived import DERIVES
from suture.model.graph.places import POD_CLASSES, Kind
from suture.model.graph.reading import Readable, chosen, selected
from suture.model.graph.rows import (
    ALIVE,
    FINISHED,
    LEAVING,
    POD_CLASS,
    READY,
    TERMINATING,
    WHOLE,
    pack_uid,
)
from suture.model.graph.selecting import Matcher
from suture.model.graph.storage import name_bytes
from suture.model.graph.written import (
    labels_bytes,
    needs_bytes,
    owners_bytes,
    pack_facts,
    pack_traits,
)
from suture.model.labels import canonical
from suture.model.names import PODS, Resource
from suture.model.objects import NO_LABELS, ClusterObject, CrdFacts, PodFacts, PodState
from suture.model.references import SELECTING
from suture.model.selectors import Selector

_NOTHING: Final = ()

_Parts = tuple[int, int, int, str]

CLASSES: Final = 4096
"""LIMIT: classes found again without a digest, 0.3 KB each and what they keep alive; siblings come
one after another in a list, and those of the busiest rollouts in a watch."""


class Writable(Readable):
    """The storage, as one caller writes it."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self._classes: dict[_Parts, tuple[int, object]] = {}
        """Classes by the identities of what they were found by, which are kept so that they stay
        theirs. INVARIANT: an entry goes with its class."""
        self._parts_of: dict[int, list[_Parts]] = {}
        self.crd_of: dict[Resource, list[int]] = {}
        """The definitions that serve each custom type: one, unless something is amiss."""
        self.kinds: dict[tuple[str, str], Resource] = {}
        """Which type a (group, kind) is: ownerReferences name kinds, never plurals."""

    # ---- writing: a row begins, is written, ends

    def begin(self, row: int, thing: ClusterObject, *, leaving: bool) -> None:
        """Let an object live in the row of its name, in which nothing is but its uid."""
        rows, gvk = self.rows_of, thing.gvk
        place = rows.place[row]
        kind = self.places.kind[place]
        if kind.gvk is not gvk and kind.gvk != gvk:
            kind.gvk = gvk
            self.kinds.setdefault((gvk.group, gvk.kind), thing.key.resource)
        kind.count += 1
        kind.changes += 1
        rows.set_version(row, thing.resource_version)
        rows.set_created(row, thing.created)
        if thing.finalizers or thing.managers:
            traits = pack_traits(thing.finalizers, thing.managers)
            rows.traits[row] = self.trait_sets.use(traits)
        if kind.of_pods:
            flags = rows.flags[row] = self._flags(row, thing, kind, leaving=leaving)
            self._begin_pod(row, thing, flags)
            return
        rows.flags[row] = ALIVE | LEAVING if leaving else ALIVE
        if thing.deleted > 0:
            rows.flags[row] |= TERMINATING
            rows.deleted[row] = thing.deleted
        self.enter(place, row)
        self.labelled.pop(place, None)
        self._begin_other(row, thing, kind)

    def _flags(self, row: int, thing: ClusterObject, kind: Kind, *, leaving: bool) -> int:
        flags = ALIVE | LEAVING if leaving else ALIVE
        if thing.deleted > 0:
            flags |= TERMINATING
            self.rows_of.deleted[row] = thing.deleted
        if kind.of_pods:
            facts = thing.facts
            if isinstance(facts, PodFacts):
                flags |= WHOLE
                if facts.ready:
                    flags |= READY
                if facts.finished:
                    flags |= FINISHED
        return flags

    def _begin_pod(self, row: int, thing: ClusterObject, flags: int) -> None:
        """Count a new pod in its class and link it to its node."""
        rows, classes, facts = self.rows_of, self.classes, thing.facts
        class_row = rows.extra[row] = self._class_of(thing)
        number = rows.extra[class_row]
        self.chain.add(classes.head[number], row)
        classes.count(number, flags, 1)
        if isinstance(facts, PodFacts) and facts.node:
            self.links.add(row, self.node_row(facts.node), self.details.node)

    def _begin_other(self, row: int, thing: ClusterObject, kind: Kind) -> None:
        """Write what is not a pod into a row that has nothing yet to compare it with."""
        rows, labels, facts = self.rows_of, thing.labels, thing.facts
        if labels is not NO_LABELS:
            rows.labels[row] = self.label_sets.use(labels_bytes(labels))
        if thing.owners:
            self.owners.add_all(row, self.wanted_owners(thing))
        if thing.needs is not _NOTHING or type(facts) in DERIVES:
            self.links.add_all(row, self.wanted_needs(thing))
        if facts is not None:
            rows.extra[row] = self.facts_sets.use(pack_facts(facts))
            if type(facts) in SELECTING:
                self._select(row, thing.key.namespace, selected(facts, thing.key.namespace))
                self._choose(row, {}, chosen(facts))
            if kind.of_definitions and isinstance(facts, CrdFacts):
                self.crd_of.setdefault(facts.resource, []).append(row)
        if kind.of_policies:
            self._rebind(row)

    def write(self, row: int, thing: ClusterObject, had: int, *, leaving: bool) -> None:
        """Write an object over its earlier state; `had` are the flags that the row had."""
        rows = self.rows_of
        kind = self.places.kind[rows.place[row]]
        kind.changes += 1
        rows.set_version(row, thing.resource_version)
        rows.set_created(row, thing.created)
        if had & TERMINATING:
            del rows.deleted[row]
        flags = rows.flags[row] = self._flags(row, thing, kind, leaving=leaving)
        if thing.finalizers or thing.managers or rows.traits[row]:
            traits = pack_traits(thing.finalizers, thing.managers)
            rows.traits[row] = self.trait_sets.swap(rows.traits[row], traits)
        if kind.of_pods:
            self._write_pod(row, thing, had, flags)
        else:
            self._write_other(row, thing, kind)

    def _write_pod(self, row: int, thing: ClusterObject, had: int, flags: int) -> None:
        """Count a pod in its class and link it to its node."""
        rows, classes = self.rows_of, self.classes
        before, after = rows.extra[row], self._class_of(thing)
        if before == after:
            if had != flags:
                number = rows.extra[after]
                classes.count(number, had, -1)
                classes.count(number, flags, 1)
        else:
            number = rows.extra[after]
            self._leave_class(row, before, had)
            self.chain.add(classes.head[number], row)
            rows.extra[row] = after
            classes.count(number, flags, 1)
        facts = thing.facts
        node = facts.node if isinstance(facts, PodFacts) else ""
        link = self.links.out_head[row]
        if link >= 0:
            if node and self.links.target[link] == self.node_row(node):
                return
            self.unlink(self.links, link)
        if node:
            self.links.add(row, self.node_row(node), self.details.node)

    def _is_in(self, class_row: int, state: PodState) -> bool:
        """Whether a pod has the labels and the owner of a class still."""
        rows, owners, owner = self.rows_of, self.owners, state.owner
        texts, labels = self.label_sets.texts, rows.labels[class_row]
        # WHY: an API server writes maps in our order, so that the bytes are mostly the same.
        if not (texts.same(labels, state.labels) or texts.same(labels, canonical(state.labels))):
            return False
        link = owners.out_head[class_row]
        if link < 0 or owners.out_next[link] >= 0:
            return False
        target = owners.target[link]
        if rows.uids[target << 4 : (target << 4) + 16] != pack_uid(owner.uid):
            return False
        called = "" if rows.names.same(target, name_bytes(owner.name)) else owner.name
        return owners.detail[link] == self.details.of_owner(owner, called)

    def _restate(self, row: int, state: PodState, had: int) -> None:
        """Write what changes of a pod as it runs; `had` are the flags that the row had."""
        rows = self.rows_of
        self.places.kind[rows.place[row]].changes += 1
        rows.set_version(row, state.resource_version)
        flags = had & ~(READY | FINISHED)
        if state.ready:
            flags |= READY
        if state.finished:
            flags |= FINISHED
        if flags != had:
            rows.flags[row] = flags
            number = rows.extra[rows.extra[row]]
            self.classes.count(number, had, -1)
            self.classes.count(number, flags, 1)

    def _write_other(self, row: int, thing: ClusterObject, kind: Kind) -> None:
        rows, facts = self.rows_of, thing.facts
        self.labelled.pop(rows.place[row], None)
        rows.labels[row] = self.label_sets.swap(rows.labels[row], labels_bytes(thing.labels))
        had: tuple[Selector, ...] = ()
        will = had
        before = rows.extra[row]
        if facts is not None or before:
            packed = pack_facts(facts)
            if packed != self.facts_sets[before]:
                had, will = self.selectors(row), selected(facts, thing.key.namespace)
                self._choose(row, self.chosen(row), chosen(facts))
                rows.extra[row] = self.facts_sets.swap(before, packed)
        if thing.owners or self.owners.out_head[row] >= 0:
            self.relink(self.owners, row, self.wanted_owners(thing))
        # WHY not the truth of needs: it would read them.
        needy = thing.needs is not _NOTHING or type(facts) in DERIVES
        if needy or self.links.out_head[row] >= 0:
            self.relink(self.links, row, self.wanted_needs(thing))
        if had != will:
            self._reselect(row, thing.key.namespace, had, will)
        if kind.of_definitions:
            self._forget_definition(row)
            if isinstance(facts, CrdFacts):
                self.crd_of.setdefault(facts.resource, []).append(row)
        if kind.of_policies:
            self._rebind(row)

    def end(self, row: int) -> None:
        """Let the object in a row end; the row stays where others refer to it."""
        rows, flags = self.rows_of, self.rows_of.flags[row]
        place = rows.place[row]
        kind = self.places.kind[place]
        kind.count -= 1
        kind.changes += 1
        self.ended += 1
        if kind.of_pods:
            self._leave_class(row, rows.extra[row], flags)
        else:
            self.chain.take_out(row)
            self.labelled.pop(place, None)
            selectors = self.selectors(row)
            if selectors:
                self.selecting.clear(row, self.places.namespace[place], selectors)
            self._choose(row, self.chosen(row), {})
            self.label_sets.release(rows.labels[row])
            self.facts_sets.release(rows.extra[row])
            if kind.of_definitions:
                self._forget_definition(row)
        self.trait_sets.release(rows.traits[row])
        rows.labels[row] = rows.extra[row] = rows.traits[row] = 0
        rows.deleted.pop(row, None)
        rows.set_version(row, "")
        rows.set_created(row, 0.0)
        self.unlink_all(row)
        self.part_from_twin(row)
        # WHY last: an object may own itself, and must not be dropped twice.
        rows.flags[row] = 0
        if kind.of_policies:
            self._rebind(row)
        self.drop_if_unused(row)

    def _rebind(self, row: int) -> None:
        """Link the bindings of a policy, which came, changed or went, to their parameters."""
        for binding in self.bindings_of(row):
            thing = self.read(binding, self.needs_of(binding))
            self.relink(self.links, binding, self.wanted_needs(thing))

    def _forget_definition(self, row: int) -> None:
        for resource in [one for one, rows in self.crd_of.items() if row in rows]:
            rows = self.crd_of[resource]
            rows.remove(row)
            if not rows:
                del self.crd_of[resource]

    def mark_leaving(self, uid: str, mark: int) -> None:
        """Mark the object of a uid as leaving, or as staying, and count it so."""
        rows = self.rows_of
        for row in self.rows_of_uid(uid):
            had = rows.flags[row]
            flags = had & ~LEAVING | mark
            rows.flags[row] = flags
            if flags != had and self.resource(row) == PODS:
                number = rows.extra[rows.extra[row]]
                self.classes.count(number, had, -1)
                self.classes.count(number, flags, 1)

    # ---- pod classes and selectors

    def _class_of(self, thing: ClusterObject) -> int:
        """Return the row of a pod's class, a new one where it is the first of its kind."""
        namespace = thing.key.namespace
        # The reader shares equal parts between siblings: mostly they are the very same ones.
        labels, owners, needs = thing.labels, thing.owners, thing.needs
        asked = (id(labels), id(owners), id(needs), namespace)
        known = self._classes.get(asked)
        if known is not None:
            return known[0]
        raw = labels_bytes(labels)
        parts = (namespace.encode(), raw, owners_bytes(owners), needs_bytes(needs))
        name = blake2b(b"\0".join(parts), digest_size=16).digest()
        row = self._class_named(thing, raw, name)
        if len(self._classes) >= CLASSES:
            self._classes.clear()
            self._parts_of.clear()
        self._classes[asked] = row, (labels, owners, needs)
        self._parts_of.setdefault(row, []).append(asked)
        return row

    def _class_named(self, thing: ClusterObject, labels: bytes, name: bytes) -> int:
        place = self.places.make(POD_CLASSES, thing.key.namespace)
        hashed = self.rows_of.hash_name(place, name)
        row = self.rows_of.find_hashed(place, name, hashed)
        if row < 0:
            row = self.named_row(place, name, hashed)
            self._begin_class(row, thing, labels)
        return row

    def _begin_class(self, row: int, thing: ClusterObject, labels: bytes) -> None:
        rows, namespace = self.rows_of, thing.key.namespace
        rows.flags[row] = POD_CLASS
        rows.labels[row] = self.label_sets.use(labels)
        rows.extra[row] = self.classes.new(row, self.chain)
        self.enter(rows.place[row], row)
        if thing.owners:
            self.owners.add_all(row, self.wanted_owners(thing))
        if thing.needs is not _NOTHING or type(thing.facts) in DERIVES:
            self.links.add_all(row, self.wanted_needs(thing))
        for other in self.selecting_rows(namespace, thing.labels):
            self.links.add(other, row, self.details.selects)

    def _leave_class(self, row: int, class_row: int, flags: int) -> None:
        self.chain.take_out(row)
        number = self.rows_of.extra[class_row]
        self.classes.count(number, flags, -1)
        if not self.classes.total[number]:
            self._end_class(class_row, number)

    def _end_class(self, row: int, number: int) -> None:
        for link in self.links.ins(row):
            self.links.remove(link)
        for asked in self._parts_of.pop(row, ()):
            del self._classes[asked]
        self.chain.take_out(row)
        self.classes.end(number)
        self.label_sets.release(self.rows_of.labels[row])
        self.rows_of.labels[row] = self.rows_of.extra[row] = 0
        self.unlink_all(row)
        self.rows_of.flags[row] = 0
        self.drop_if_unused(row)

    def _reselect(
        self, row: int, namespace: str, had: tuple[Selector, ...], selectors: tuple[Selector, ...]
    ) -> None:
        """Draw anew which pods a row selects, which is not what it `had` selected."""
        if had:
            self.selecting.clear(row, namespace, had)
            links, selects = self.links, self.details.selects
            for link in links.outs(row):
                if links.detail[link] == selects:
                    links.remove(link)
        self._select(row, namespace, selectors)

    def _select(self, row: int, namespace: str, selectors: tuple[Selector, ...]) -> None:
        """Draw which pods a row selects that has selected none so far."""
        if selectors:
            self.selecting.set(row, namespace, selectors)
            for class_row in self.classes_matching(namespace, selectors):
                self.links.add(row, class_row, self.details.selects)

    def _choose(
        self,
        row: int,
        had: Mapping[str, tuple[Selector, ...]],
        will: Mapping[str, tuple[Selector, ...]],
    ) -> None:
        """Note what a row selects beside pods, and forget what it `had` selected."""
        if had == will:
            return
        for key, selectors in had.items():
            self.selecting.clear(row, key, selectors)
        for key, selectors in will.items():
            self.selecting.set(row, key, selectors)

    def classes_matching(self, namespace: str, selectors: Iterable[Selector]) -> list[int]:
        """Return the rows of the pod classes of a namespace that any selector matches."""
        labels, texts = self.rows_of.labels, self.label_sets.texts
        found: dict[int, None] = {}
        for selector in selectors:
            rows = Matcher(selector).among(self.classes_in(namespace), labels, texts)
            found.update(dict.fromkeys(rows))
        return list(found)
