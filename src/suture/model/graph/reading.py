"""Reading the storage: rows by name, by type, by owner; and a row back as an object.

Knows what the columns mean; changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from suture.model.edges import Edge, Need
from suture.model.facts import PolicyBindingFacts
from suture.model.graph.columns import NONE
from suture.model.graph.places import POD_CLASSES
from suture.model.graph.rows import (
    ALIVE,
    FINISHED,
    NEED_SET,
    POD_CLASS,
    READY,
    TERMINATING,
    WHOLE,
    pack_uid,
)
from suture.model.graph.storage import Storage, name_bytes
from suture.model.graph.written import read_facts, unpack_traits
from suture.model.labels import Labels
from suture.model.names import PODS, Gvk, ObjectKey, Resource
from suture.model.objects import (
    NO_LABELS,
    ClusterObject,
    CustomFacts,
    Facts,
    OwnerReference,
    PodFacts,
    ServiceFacts,
)
from suture.model.references import POLICY_OF, SELECTING, parameters, selections_of
from suture.model.selectors import Selector

NO_GVK: Final = Gvk("", "", "")

LABEL_SETS: Final = 512
"""LIMIT: sets of labels that stay read, 1 kB each: a judgement asks several times for those of one
object, and of its namespace."""


@lru_cache(LABEL_SETS)
def _labels(raw: bytes) -> Labels:
    return Labels(raw)


class Readable(Storage):
    """The storage, as those read it who know rows."""

    # ---- what is there

    def row(self, key: ObjectKey) -> int | None:
        """Return the row of the object at `key`, or None where there is none."""
        place = self.places.find(key.resource, key.namespace)
        if place < 0:
            return None
        row = self.rows_of.find(place, name_bytes(key.name))
        return row if row >= 0 and self.rows_of.flags[row] & ALIVE else None

    def row_of_uid(self, uid: str) -> int | None:
        """Return the row of one life of an object, or None where it is not (or no longer) known."""
        row = self.rows_of.find_uid(pack_uid(uid)) if uid else NONE
        return row if row >= 0 and self.rows_of.flags[row] & ALIVE else None

    def rows_of_uid(self, uid: str) -> list[int]:
        """Return the rows of all objects of a uid: one, unless some are served under two types."""
        row = self.row_of_uid(uid)
        return [] if row is None else [row, *self.twins.get(pack_uid(uid), ())]

    def alive(self, row: int) -> bool:
        """Whether a row holds an object that the cluster has."""
        return bool(0 <= row < len(self.rows_of) and self.rows_of.flags[row] & ALIVE)

    def uid(self, row: int) -> str:
        """Return which life of an object a live row holds."""
        return self.rows_of.uid(row)

    def version(self, row: int) -> str:
        """Return the resourceVersion of the object in a live row."""
        return self.rows_of.version(row)

    def resource(self, row: int) -> Resource:
        """Return the type of the object in a row."""
        return self.places.resource(self.rows_of.place[row])

    def namespace(self, row: int) -> str:
        """Return the namespace of the object in a row."""
        return self.places.namespace[self.rows_of.place[row]]

    def key(self, row: int) -> ObjectKey:
        """Return where the object in a row is found."""
        place = self.rows_of.place[row]
        name = self.rows_of.names.text(row)
        return ObjectKey(self.places.resource(place), self.places.namespace[place], name)

    def labels(self, row: int) -> Labels | None:
        """Return the labels of the object in a row; None for none."""
        raw = self.label_bytes(row)
        return _labels(raw) if raw else None

    def label_bytes(self, row: int) -> bytes:
        """Return the labels of the object in a row as they are written; empty for none."""
        if self.rows_of.place[row] >= 0 and self.resource(row) == PODS:
            row = self.rows_of.extra[row]
        return self.label_sets[self.rows_of.labels[row]]

    def facts(self, row: int) -> Facts | None:
        """Return the facts of the object in a row."""
        if self.places.kind[self.rows_of.place[row]].of_pods:
            return self._pod_facts(row)
        raw = self.facts_sets[self.rows_of.extra[row]]
        return read_facts(raw) if raw else None

    def rows(self, resource: Resource, namespace: str | None = None) -> list[int]:
        """Return the rows of a type, in one namespace or in all."""
        places = self.places
        kept = POD_CLASSES if resource == PODS else resource
        if namespace is None:
            return self._in_places(places.of_kind(kept))
        place = places.find(kept, namespace)
        return [] if place < 0 else self._in_places((place,))

    def first(self, resource: Resource) -> int | None:
        """Return the row of some object of a type; None where there is none."""
        places = self.places
        for namespace in tuple(places.kinds[resource].places) if resource in places.kinds else ():
            rows = self.rows(resource, namespace)
            if rows:
                return rows[0]
        return None

    def members(self, namespace: str) -> list[int]:
        """Return the rows of a namespace."""
        return self._in_places(self.places.of_namespace(namespace).values())

    def _in_places(self, places: Iterable[int]) -> list[int]:
        """Return the rows of some places, pods for their classes."""
        found: list[int] = []
        heads, kinds = self.places.head, self.places.kind
        of_classes = self.places.kinds.get(POD_CLASSES)
        # The chain's `rows`, written out: of instances nearly each has a place of its own.
        first, following = self.chain.heads, self.chain.next
        for place in places:
            head = heads[place]
            if head < 0:
                continue
            if kinds[place] is of_classes:
                for class_row in self.chain.rows(head):
                    found += self.pods_of_class(class_row)
            else:
                row = first[head]
                while row >= 0:
                    found.append(row)
                    row = following[row]
        return found

    def classes_in(self, namespace: str) -> Iterator[int]:
        """Walk the rows of the pod classes of a namespace."""
        place = self.places.find(POD_CLASSES, namespace)
        head = self.places.head[place] if place >= 0 else NONE
        return self.chain.walk(head) if head >= 0 else iter(())

    def pods_of_class(self, class_row: int) -> list[int]:
        """Return the pods of a class."""
        return self.chain.rows(self.classes.head[self.rows_of.extra[class_row]])

    def count(self, resource: Resource) -> int:
        """Return how many objects of a type there are."""
        kind = self.places.kinds.get(resource)
        return 0 if kind is None else kind.count

    def children(self, uid: str) -> list[int]:
        """Return the rows of the objects that name `uid` as an owner, seen or not."""
        row = self.rows_of.find_uid(pack_uid(uid)) if uid else NONE
        return [] if row < 0 else self.children_of(row)

    def children_of(self, row: int) -> list[int]:
        """Return the rows of the objects that the object in a row owns."""
        owners, flags = self.owners, self.rows_of.flags
        found: list[int] = []
        link, following = owners.in_head[row], owners.in_next
        while link >= 0:
            source = owners.source[link]
            if flags[source] & POD_CLASS:
                found += self.pods_of_class(source)
            else:
                found.append(source)
            link = following[link]
        # WHY: nothing forbids an object to name an owner twice.
        return list(dict.fromkeys(found))

    # ---- policies of the API server

    def derived(self, thing: ClusterObject) -> Iterable[Need]:
        """Return the needs that follow from an object's facts, and from those of its policy."""
        facts, policies = thing.facts, POLICY_OF.get(thing.key.resource)
        if policies is None or not isinstance(facts, PolicyBindingFacts):
            return super().derived(thing)
        policy = self.row(ObjectKey(policies, "", facts.policy))
        return () if policy is None else parameters(thing, self.read(policy, ()))

    def bindings_of(self, row: int) -> list[int]:
        """Return the rows of the bindings of the policy in a row, be it there or not."""
        links, edges = self.links, self.details
        found = [link for link in links.ins(row) if edges[links.detail[link]].edge is Edge.POLICY]
        return [one for link in found for one in self.holders(links.source[link])]

    # ---- what selects pods

    def selectors(self, row: int) -> tuple[Selector, ...]:
        """Return what the object in a row, which is no pod, selects of its namespace's pods.

        Any that matches is enough.
        """
        raw = self.facts_sets[self.rows_of.extra[row]]
        return selected(read_facts(raw), self.namespace(row)) if raw else ()

    def chosen(self, row: int) -> dict[str, tuple[Selector, ...]]:
        """Return what the object in a row, which is no pod, selects beside pods, by index key."""
        raw = self.facts_sets[self.rows_of.extra[row]]
        return chosen(read_facts(raw)) if raw else {}

    def selecting_rows(self, namespace: str, labels: Mapping[str, str]) -> list[int]:
        """Return the rows of what selects pods of these labels in their namespace."""
        found, others = self.selecting.candidates(namespace, labels)
        for row in others:
            if any(one.matches(labels) for one in self.selectors(row)):
                found.append(row)
        return found

    # ---- reading back

    def read(self, row: int, needs: Sequence[Need]) -> ClusterObject:
        """Return the object in a row, with these needs."""
        rows = self.rows_of
        place, flags = rows.place[row], rows.flags[row]
        kind = self.places.kind[place]
        holder = rows.extra[row] if kind.of_pods else row
        raw = self.label_sets[rows.labels[holder]]
        finalizers, managers = unpack_traits(self.trait_sets[rows.traits[row]])
        return ClusterObject(
            self.key(row),
            rows.uid(row),
            kind.gvk,
            rows.version(row),
            Labels(raw) if raw else NO_LABELS,
            self._owners(holder),
            finalizers,
            rows.created_s(row),
            rows.deleted[row] if flags & TERMINATING else 0.0,
            self.facts(row),
            needs,
            managers,
        )

    def _owners(self, holder: int) -> tuple[OwnerReference, ...]:
        links, found = self.owners, []
        for link in links.outs(holder):
            detail, owner = self.details[links.detail[link]], links.target[link]
            found.append(
                OwnerReference(
                    detail.gvk or NO_GVK,
                    detail.name or self.rows_of.names.text(owner),
                    self.rows_of.uid(owner),
                    detail.controller,
                    detail.blocks_deletion,
                )
            )
        return tuple(found)

    def _pod_facts(self, row: int) -> Facts | None:
        flags = self.rows_of.flags[row]
        if not flags & WHOLE:
            return None
        link = self.links.out_head[row]
        node = "" if link < 0 else self.rows_of.names.text(self.links.target[link])
        return PodFacts(bool(flags & READY), bool(flags & FINISHED), node)

    def needs_of(self, row: int) -> tuple[Need, ...]:
        """Return what an object says that it needs, in its own order."""
        holder = self.rows_of.extra[row] if self.resource(row) == PODS else row
        found = []
        for link in self.need_links(holder):
            detail = self.details[self.links.detail[link]]
            if detail.edge is None or detail.edge is Edge.SELECTS or detail.derived:
                continue
            target = self.key(self.links.target[link])
            found.append(Need(detail.edge, target, detail.key, detail.optional))
        return tuple(found)

    def need_links(self, holder: int) -> list[int]:
        """Return the links from an object, or a pod class, to what it needs and selects.

        Where it shares its needs with others, the links are those of the set.
        """
        links, shared = self.links, self.details.shared
        found: list[int] = []
        for link in links.outs(holder):
            if links.detail[link] == shared:
                found += links.outs(links.target[link])
            else:
                found.append(link)
        return found

    def holders(self, row: int) -> list[int]:
        """Return the objects that a row at the beginning of a link stands for.

        Of a set of needs those that share it, of a pod class its pods, else itself.
        """
        flags = self.rows_of.flags[row]
        if flags & POD_CLASS:
            return self.pods_of_class(row)
        if flags & NEED_SET:
            links = self.links
            return [one for link in links.ins(row) for one in self.holders(links.source[link])]
        return [row]


def selected(facts: Facts | None, namespace: str) -> tuple[Selector, ...]:
    """Return what an object of these facts selects of the pods of its own namespace."""
    if type(facts) not in SELECTING:
        return ()
    return tuple(
        one.selector
        for one in selections_of(facts, namespace)
        if one.resource == PODS and one.namespace == namespace
    )


def chosen(facts: Facts | None) -> dict[str, tuple[Selector, ...]]:
    """Return what an object of these facts selects that is no pod, by the key of each type.

    And a Service by the addresses that it was given, as if each were a label. WHY in the index of
    pods' selectors: no namespace is called like such a key.
    """
    if type(facts) is ServiceFacts and facts.addresses:
        return {ADDRESSES: tuple(Selector.of({one: ""}) for one in facts.addresses)}
    if type(facts) is not CustomFacts or not facts.selections:
        return {}
    found: dict[str, tuple[Selector, ...]] = {}
    for one in facts.selections:
        if one.resource != PODS:
            key = key_of(one.resource)
            found[key] = (*found.get(key, ()), one.selector)
    return found


ADDRESSES: Final = "@"
"""The key under which the index has Services by the addresses that they were given."""


def key_of(resource: Resource) -> str:
    """Return under which key the index has the selectors of objects of a type that are no pods."""
    return f"@{resource}"
