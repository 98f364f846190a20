"""The parts of the graph under one roof, and the life of a row in them.

A row begins with a name or a life that somebody refers to, is the object's as long as that lives,
and goes when nothing is left of either. Whose names and lives they are is said here; what an
object writes into its row, next door.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from suture.model.edges import Need, Needs
from suture.model.graph.columns import NONE, Chain
from suture.model.graph.derived import DERIVES, derived_needs
from suture.model.graph.detail import Detail
from suture.model.graph.details import Details
from suture.model.graph.interned import Interned
from suture.model.graph.links import Links
from suture.model.graph.places import NEED_SETS, Places
from suture.model.graph.podclasses import PodClasses
from suture.model.graph.rows import NEED_SET, NO_UID, Rows, packed_uid
from suture.model.graph.selecting import Selecting
from suture.model.names import NODES, ObjectKey
from suture.model.objects import ClusterObject


class Storage:
    """Columns, chains, links and shared values; rows come and go by reference."""

    def __init__(self, secret: bytes) -> None:
        self.rows_of = Rows(secret)
        self.places = Places()
        self.chain = Chain()
        self.owners = Links()
        """From dependents to their owners, by uid."""
        self.links = Links()
        """From objects to what they need by name, and to the pod classes that they select."""
        self.classes = PodClasses()
        self.label_sets = Interned(secret)
        self.facts_sets = Interned(secret)
        self.trait_sets = Interned(secret)
        self.details = Details()
        self.selecting = Selecting()
        self.ended = 0
        """How many objects have ended so far: a row that was theirs may be another's since."""
        self.labelled: dict[int, dict[tuple[str, str], list[int]]] = {}
        """Rows that have a label of some value, no pods, by place, as far as they were asked for.
        INVARIANT: what is kept of a place goes when anything in it begins, is written or ends."""
        self.twins: dict[bytes, list[int]] = {}
        """Rows of objects whose uid another one has too, which is the one that the uid finds."""
        self._nodes: dict[str, int] = {}

    # ---- rows

    def _new_row(self) -> int:
        row = self.rows_of.new()
        if row < 0:
            self.rows_of.grow()
            self.links.grow()
            self.owners.grow()
            self.chain.grow()
            row = self.rows_of.new()
        return row

    def named_row(self, place: int, name: bytes, hashed: int) -> int:
        """Return a new row of a name that nobody has named yet."""
        row = self._new_row()
        self.places.uses[place] += 1
        self.rows_of.name(row, place, name, hashed)
        return row

    def target_row(self, key: ObjectKey) -> int:
        """Return the row of a name that is referred to, whether or not anything is there."""
        name = name_bytes(key.name)
        place = self.places.make(key.resource, key.namespace)
        hashed = self.rows_of.hash_name(place, name)
        row = self.rows_of.find_hashed(place, name, hashed)
        return row if row >= 0 else self.named_row(place, name, hashed)

    def node_row(self, node: str) -> int:
        """Return the row of a node's name: the one name that each pod asks for."""
        row = self._nodes.get(node)
        if row is None:
            row = self._nodes[node] = self.target_row(ObjectKey(NODES, "", node))
        return row

    def _life_row(self, uid: str, name: bytes) -> int:
        """Return the row of a life that is referred to, whether or not it was seen."""
        packed, odd = packed_uid(uid)
        row = self.rows_of.find_uid(packed) if uid else NONE
        return row if row >= 0 else self._unseen_life(packed, odd, name)

    def _unseen_life(self, uid: bytes, odd: str, name: bytes) -> int:
        row = self._new_row()
        rows = self.rows_of
        rows.place[row] = 0
        rows.names.set(row, name)
        rows.set_uid(row, uid, odd)
        if uid != NO_UID:
            rows.by_uid.insert(rows.hash_uid(uid), row)
        return row

    def drop_if_unused(self, row: int) -> None:
        """Free a row that holds nothing and that nobody refers to."""
        rows = self.rows_of
        if rows.flags[row] or self.links.in_head[row] >= 0 or self.owners.in_head[row] >= 0:
            return
        self._clear_uid(row)
        place = rows.place[row]
        if place:
            if self._nodes and self.places.kind[place].resource == NODES:
                self._nodes.pop(rows.names.text(row), None)
            rows.unname(row)
            self.places.release(place)
        else:
            rows.names.clear(row)
        rows.free(row)

    def enter(self, place: int, row: int) -> None:
        """Put a row into the chain of its place."""
        head = self.places.head[place]
        if head < 0:
            head = self.places.head[place] = self.chain.new_head()
        self.chain.add(head, row)

    # ---- lives

    def take_uid(self, row: int, uid: bytes, odd: str) -> None:
        """Let the life that `uid` names be the one in a row, with the children that wait for it."""
        rows = self.rows_of
        # WHY first: nearly all lives are seen before anybody refers to them.
        if not odd and uid != NO_UID and not rows.odd_uids and rows.enter_uid(row, uid) < 0:
            return
        rows.set_uid(row, uid, odd)
        if uid == NO_UID:
            return
        hashed = rows.hash_uid(uid)
        other = rows.find_uid_hashed(uid, hashed)
        if other >= 0:
            # WHY: some objects are served under two types, with one uid; the first keeps it.
            if rows.flags[other]:
                self.twins.setdefault(uid, []).append(row)
                return
            self._move_children(other, row)
            self._clear_uid(other)
            self.drop_if_unused(other)
        rows.by_uid.insert(hashed, row)

    def give_up_uid(self, row: int) -> None:
        """Let the life in a row be over, though its name goes on: its children stay with it."""
        if self.rows_of.uid_bytes(row) == NO_UID:
            return
        self.part_from_twin(row)
        uid, odd = self.rows_of.uid_bytes(row), self.rows_of.odd_uids.get(row, "")
        known = self._clear_uid(row)
        if known and self.owners.in_head[row] >= 0:
            name = self.rows_of.names.get(row)
            self._move_children(row, self._unseen_life(uid, odd, name))

    def part_from_twin(self, row: int) -> None:
        """Let another object of the same uid, where there is one, be the one that it finds."""
        uid = self.rows_of.uid_bytes(row)
        twins = self.twins.get(uid)
        if twins is None:
            return
        if row in twins:
            twins.remove(row)
        else:
            twin = twins.pop(0)
            self._move_children(row, twin)
            self._clear_uid(row)
            self.rows_of.by_uid.insert(self.rows_of.hash_uid(uid), twin)
        if not twins:
            del self.twins[uid]

    def _clear_uid(self, row: int) -> bool:
        rows = self.rows_of
        known = rows.by_uid.remove(rows.hash_uid(rows.uid_bytes(row)), row)
        rows.set_uid(row, NO_UID, "")
        return known

    def _move_children(self, row: int, other: int) -> None:
        """Let the children of one row be those of another; what references call it, stays."""
        names = self.rows_of.names
        was, becomes = names.text(row), names.text(other)
        for link in reversed(self.owners.ins(row)):
            detail = self.details[self.owners.detail[link]]
            called = detail.name or was
            called = "" if called == becomes else called
            number = self.details.number(msgspec.structs.replace(detail, name=called))
            self.owners.retarget(link, other, number)

    # ---- links

    def wanted_owners(self, thing: ClusterObject) -> list[tuple[int, int]]:
        """Return target and detail of the link to each of an object's owners."""
        wanted, names = [], self.rows_of.names
        for owner in thing.owners:
            name = name_bytes(owner.name)
            row = self._life_row(owner.uid, name)
            called = "" if names.same(row, name) else owner.name
            wanted.append((row, self.details.of_owner(owner, called)))
        return wanted

    def wanted_needs(self, thing: ClusterObject) -> list[tuple[int, int]]:
        """Return target and detail of the link to each thing that an object needs by name."""
        needs = thing.needs
        # WHY first: nearly all are the one or the other, and `isinstance` is a function of Python.
        if type(needs) is tuple:
            wanted = self._targets(needs)
        elif isinstance(needs, Needs) and needs.raw:
            alike, own = needs.apart()
            wanted = [
                (self._need_set(thing.key.namespace, alike), self.details.shared),
                *self._targets(own),
            ]
        else:
            wanted = self._targets(needs.read() if isinstance(needs, Needs) else needs)
        if type(thing.facts) in DERIVES:
            for need in self.derived(thing):
                detail = Detail(need.edge, derived=True)
                wanted.append((self.target_row(need.target), self.details.number(detail)))
        return wanted

    def derived(self, thing: ClusterObject) -> Iterable[Need]:
        """Return the needs that follow from an object's facts. Override: from others' facts too."""
        return derived_needs(thing)

    def _targets(self, needs: Iterable[Need]) -> list[tuple[int, int]]:
        of_need = self.details.of_need
        return [(self.target_row(need.target), of_need(need)) for need in needs]

    def _need_set(self, namespace: str, needs: Needs) -> int:
        """Return the row of needs that several objects share, new where they are the first.

        WHY: a Deployment and its ReplicaSets need the same, and so do all pods of a DaemonSet.
        """
        name = blake2b(needs.raw, digest_size=16).digest()
        place = self.places.make(NEED_SETS, namespace)
        hashed = self.rows_of.hash_name(place, name)
        row = self.rows_of.find_hashed(place, name, hashed)
        if row < 0:
            row = self.named_row(place, name, hashed)
            self.rows_of.flags[row] = NEED_SET
            self.links.add_all(row, self._targets(needs.read()))
        return row

    def relink(self, links: Links, row: int, wanted: list[tuple[int, int]]) -> None:
        """Make a row's links those that are wanted; what it selects is left alone."""
        old = links.outs(row)
        if old and links is self.links:
            selects = self.details.selects
            old = [link for link in old if links.detail[link] != selects]
        if [(links.target[link], links.detail[link]) for link in old] == wanted:
            return
        links.add_all(row, wanted)
        for link in old:
            self.unlink(links, link)

    def unlink(self, links: Links, link: int) -> None:
        """Take a link away, and what nobody refers to any more."""
        target = links.target[link]
        links.remove(link)
        if self.rows_of.flags[target] & NEED_SET and self.links.in_head[target] < 0:
            self.unlink_all(target)
            self.rows_of.flags[target] = 0
        self.drop_if_unused(target)

    def unlink_all(self, row: int) -> None:
        """Take away every link that begins at a row."""
        for links in (self.owners, self.links):
            for link in links.outs(row):
                self.unlink(links, link)


def name_bytes(name: str) -> bytes:
    """Return a name as it is kept; odd characters too."""
    try:
        return name.encode()
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")
