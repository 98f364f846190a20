"""Why each object of one change goes, looked up once however many effects ask.

Beside `explained`, whose functions say what is a cause; here they are asked of all that goes, of
pods by class, and what a parent can spare is handed out once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from suture.impact.causes.agreed import goes_with_member, idle_as_agreed, is_agreed
from suture.impact.causes.apart import Apart
from suture.impact.causes.explained import (
    KEPT_BY_NAME,
    RECREATED_BY,
    going_spaces,
    home_ends,
    of_account,
    owner_ends,
    self_healing,
    space_ends,
    type_ends,
)
from suture.impact.causes.leftout import left_out, set_aside
from suture.impact.causes.lowered import Lowered
from suture.impact.causes.marked import others_marked
from suture.impact.causes.oftype import cause_of_type
from suture.impact.causes.over import is_over, outlived
from suture.impact.causes.parents import GENERATION, all_end, has_sets, manager_ends, wanted
from suture.impact.causes.resting import keeper_rests
from suture.impact.causes.surplus import Surplus
from suture.impact.causes.within import ends_whole, holds_others
from suture.impact.ground.change import Change
from suture.impact.ground.kinds import is_custom
from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.graph import GraphView, Lot
from suture.model.names import (
    CLAIMS,
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    JOBS,
    PODS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)

FEW: Final = 8
"""LIMIT: objects of a kind that are asked one by one, about where columns begin to cost less."""

USED_WITH_ALL: Final = frozenset({CLAIMS, DAEMON_SETS, DEPLOYMENTS, SERVICES, STATEFUL_SETS})
"""Of what a release or application keeps, what is in use where anything of it is."""

MADE_ANEW: Final = frozenset({PODS, REPLICA_SETS, ENDPOINT_SLICES})
"""What goes along in numbers, and is kept by its controller alone."""

MANY: Final = 1_000
"""From how many objects on it is asked once whether all of them go with their owners: to ask costs
0.1 µs each, and of a workload nearly all are pods, which are asked by class as it is."""


class Causes:
    """Why the objects of one change go: each looked up once, however many effects ask.

    `removed` is the whole set that the request takes away: a replacement must stand outside it.
    What goes with the request's one object goes for that object's reason; the objects of a
    collection each have their own, and lend it to nobody. `identity` asks. `renames` False: that
    another has taken the place of an object explains nothing (the actor has removed such a
    replacement lately). `body` is what the request names, as the API server has it. What rests on
    owners is looked up once for all pods that are alike.
    """

    def __init__(
        self,
        view: GraphView,
        change: Change,
        identity: str = "",
        *,
        now: Now | None = None,
        renames: bool = True,
        body: bytes = b"",
    ) -> None:
        self._rows = change.removed
        self._identity = identity
        self._account = account_of(identity)
        self.removed = frozenset(self._rows)
        self._settled: bool | None = None
        self._view = view
        self._renames = renames
        self._now = now
        self._known: dict[int, bool] = {}
        self._judged: dict[Resource, frozenset[int]] = {}
        self._of_lots: dict[int, int] = {}
        self._homes: dict[int, bool] = {}
        self._spaces: dict[str, bool] = {}
        self._kinds: dict[Resource, list[int]] | None = None
        self._marks: dict[int, int] | None = None
        self._parents: tuple[list[int], dict[int, list[int]]] = [], {}
        self._owned: tuple[list[int], list[int]] = [], []
        self._any_home: bool | None = None
        self._ending: dict[int, bool] = {}
        self._overs: dict[int, bool] = {}
        self._healing: dict[int, bool] = {}
        self._wanted: dict[int, bool] = {}
        self._services: dict[int, list[int]] = {}
        self._surplus, self._lowered = Surplus(view), Lowered(view)
        self._barred: Callable[[int], bool] | None = None
        self._root = False
        root = change.direct[0] if len(change.direct) == 1 else -1
        self._apart = Apart(view, identity, now, root, body)
        if root >= 0:
            self._root = ends_whole(view, root, self.removed, identity, now) or (
                self.explains(root)
                and not holds_others(view, root, self.removed, self.marks, identity)
            )

    @property
    def few(self) -> bool:
        """Whether so little goes that each is asked what its own labels say of it."""
        # WHY not the slices of Services: they go with those, and are asked nothing.
        going = len(self._rows)
        if GENERATION < going <= 2 * GENERATION:
            going -= len(self.kinds.get(ENDPOINT_SLICES, ()))
        return going <= GENERATION

    @property
    def settled(self) -> bool:
        """Whether all that goes goes with its owners, and nothing of it was going before.

        WHY: then no controller brings any of it back, asks for it or has ended already. That is so
        of namespaces and most workloads, and is asked once and not of each object.
        """
        if self._settled is None:
            many = len(self._rows) > MANY
            self._settled = many and self._view.owned_within(self._rows, self.removed)
        return self._settled

    def explains(self, row: int) -> bool:
        """Whether a recorded cause accounts for the removal of an object.

        Causes: it is finished; it is going already; its owner is gone or going, or wants fewer, or
        has done its work, or is a pod that runs as the actor; the node is gone on which it was;
        its namespace or definition is going, or what keeps it is; it is left over from a rollout;
        another Service, workload or route has taken its place; it is a namespace that the actor
        made, with nothing of others in it.
        """
        if self._root:
            return True
        known = self._known.get(row)
        if known is None:
            judged = self._judged
            known = not (judged and row in judged.get(self._view.resource(row), ()))
            known = self._known[row] = known and self._explains(row)
        return known

    def _explains(self, row: int) -> bool:
        view = self._view
        service = view.controller(row) if view.resource(row) == ENDPOINT_SLICES else -1
        if service in self.removed:
            # WHY no more: it says where its Service leads, and goes for that one's reasons.
            return view.terminating(row) or view.terminating(service)
        if view.terminating(row) or view.finished(row) or self._ends(row) or self._over(row):
            return True
        if of_account(view, row, self._account) or self._left_out(row):
            return True
        resource = view.resource(row)
        if (is_custom(resource) or resource == SERVICES) and is_agreed(view, row, self._now):
            return True
        if resource == CLAIMS and (
            idle_as_agreed(view, row, self._now) or goes_with_member(view, row, self._now)
        ):
            return True
        if resource == PODS and keeper_rests(view, row, self._now):
            return True
        own = self._of_type(resource)
        if own is not None and own(row):
            return True
        # WHY the owner: what a controller made is its affair, and says of nobody else's.
        if self._surplus.lets_go(row, resource) or self._lowered.lets_go(row, resource):
            return not (is_custom(resource) and others_marked(view, row, self._now))
        if view.has_owner(row):
            return False
        return manager_ends(view, row) or (self.few and self._apart.ends(row))

    def unexplained(self, resource: Resource, rows: list[int]) -> list[int]:
        """Return which of some objects of a type, no pods, no recorded cause accounts for."""
        if self._root:
            return []
        if len(rows) <= FEW:
            return [row for row in rows if not self.explains(row)]
        known, judged = self._known, frozenset(rows)
        all_fresh = judged.isdisjoint(known)
        fresh = rows if all_fresh else [row for row in rows if row not in known]
        explained = self._explained(resource, fresh)
        known.update(dict.fromkeys(explained, True))
        self._judged[resource] = judged
        # WHY the list itself: what is asked of it next was looked up for it already.
        if all_fresh and not explained:
            return rows
        return [row for row in rows if not known.get(row)]

    def _explained(self, resource: Resource, rows: list[int]) -> set[int]:
        """Return the same as `_explains` of many objects of a type, no pods: cause by cause."""
        view = self._view
        found = set(view.going(rows))
        if resource == JOBS:
            found.update(filter(view.finished, rows))
        found.update(
            row
            for row in self._owned_apart(rows)
            if owner_ends(view, row)
            or self._over(row)
            or of_account(view, row, self._account)
            or self._left_out(row)
        )
        # WHY first: instances live in thousands of namespaces, of which hardly ever one is going.
        if rows and (self._spaces_end() or home_ends(view, rows[0])):
            found.update(filter(self._home_ends, rows))
        own = self._of_type(resource)
        if own is not None:
            found.update(row for row in rows if row not in found and own(row))
        of_sets = self._owned_apart(rows) if has_sets(view, resource) else []
        for row in (*self._by_parent(rows), *of_sets):
            if row not in found and self._surplus.lets_go(row, resource):
                found.add(row)
        if view.history.writes.lowered:
            found.update(
                row for row in rows if row not in found and self._lowered.lets_go(row, resource)
            )
        if self.few:
            found.update(row for row in rows if row not in found and self._apart.ends(row))
        if any(map(view.terminating, self.marks())):
            owned_too, managers = set(view.owned(rows)), view.pointing(rows, Edge.MANAGED_BY)
            found.update(
                row
                for row, kept_by in managers.items()
                if row not in owned_too and all_end(view, kept_by)
            )
        return found

    def marks(self) -> dict[int, int]:
        """Return the releases and applications that keep what goes, no pods, each with one of it.

        What serves or runs where there is any, as that tells whether they are at work; else one
        that is not made anew.
        """
        if self._marks is None:
            kept = [kind for kind in self.kinds if kind not in MADE_ANEW]
            kept.sort(key=lambda kind: kind not in USED_WITH_ALL)
            anew = [kind for kind in self.kinds if kind in MADE_ANEW and kind != PODS]
            rows: list[int] = []
            for kind in (*kept, *anew):
                rows += self.kinds[kind]
            self._marks = self._view.marked(rows)
        return self._marks

    @property
    def kinds(self) -> dict[Resource, list[int]]:
        """What goes by its type, the request's own first."""
        if self._kinds is None:
            self._kinds = self._view.by_resource(self._rows)
        return self._kinds

    def _of_type(self, resource: Resource) -> Callable[[int], object] | None:
        """Return what else may account for the removal of objects of a type."""
        return cause_of_type(
            self._view,
            resource,
            self.removed,
            self._now,
            identity=self._identity,
            renames=self._renames,
            few=self.few,
        )

    def _spaces_end(self) -> bool:
        """Whether any namespace is going."""
        if self._any_home is None:
            rows = going_spaces(self._view).values()
            self._any_home = any(not self._view.gone(row) for row in rows)
        return self._any_home

    def explained_of(self, lot: Lot) -> int:
        """Return for how many pods of a lot a recorded cause accounts."""
        known = self._of_lots.get(lot.first)
        if known is None:
            known = self._of_lots[lot.first] = self._explained_of(lot)
        return known

    def _explained_of(self, lot: Lot) -> int:
        if self._root or not lot.running or self._ends(lot.first) or self._over(lot.first):
            return lot.count
        if self._left_out(lot.first) or keeper_rests(self._view, lot.first, self._now):
            return lot.count
        spared = 0
        while spared < lot.count and (
            self._surplus.lets_go(lot.first, PODS) or self._lowered.lets_go(lot.first, PODS)
        ):
            spared += 1
        if spared:
            return spared
        return lot.count if manager_ends(self._view, lot.first) else 0

    def heals(self, row: int) -> bool:
        """Whether a controller that stays would bring an object back, and can."""
        alike = self._view.alike(row)
        known = self._healing.get(alike)
        if known is None:
            known = (
                not self._goes_with_makers(row)
                and self_healing(self._view, row, self.removed)
                and not self.barred(row)
            )
            # WHY not of bare pods: of these the name tells, in which alike ones differ.
            if self._view.resource(row) != PODS or self._view.controller(row) >= 0:
                self._healing[alike] = known
        return known

    def _goes_with_makers(self, row: int) -> bool:
        """Whether an object is of those that only their owners bring back, and these go."""
        # WHY last: whether all goes with its owners is asked of all of it.
        return self._view.resource(row) in RECREATED_BY and row in self.removed and self.settled

    def healing(self, resource: Resource, rows: list[int]) -> set[int]:
        """Return which of some objects of a type would be brought back."""
        if resource in RECREATED_BY:
            return set() if self.settled else {row for row in rows if self.heals(row)}
        names = KEPT_BY_NAME.get(resource, ())
        if not names:
            return set()
        # WHY by name: one of 500 in a namespace is kept.
        view = self._view
        spaces = {view.place(row): view.namespace(row) for row in rows}.values()
        keys = (ObjectKey(resource, space, name) for space in spaces for name in names)
        asked = {row for row in map(view.find, keys) if row is not None}.intersection(rows)
        return {row for row in asked if self.heals(row)}

    def barred(self, pod: int) -> bool:
        """Whether a pod like this one could not be created anew."""
        return self._barred is not None and self._barred(pod)

    def bar(self, barred: Callable[[int], bool]) -> None:
        """Take note of pods that could not be created anew: the way into the API is broken."""
        self._barred = barred
        self._healing.clear()

    def wanted(self, row: int) -> bool:
        """Whether a live parent, itself not going, still asks for an object."""
        alike = self._view.alike(row)
        known = self._wanted.get(alike)
        if known is None:
            known = wanted(self._view, row, self.removed, self._account) or (
                self.few and self._apart.wanted(row, self.removed)
            )
            self._wanted[alike] = known
        return known

    def asked_for(self, rows: list[int]) -> int:
        """Return how many of some objects that go, no pods, a live parent still asks for."""
        if len(rows) <= FEW:
            return sum(map(self.wanted, rows))
        asked = dict.fromkeys(self._by_parent(rows))
        asked.update(dict.fromkeys(self._owned_apart(rows)))
        if self.few:
            asked.update(dict.fromkeys(rows))
        return sum(map(self.wanted, asked))

    def _owned_apart(self, rows: list[int]) -> list[int]:
        """Return which of some objects have an owner, where not all goes with its owners.

        WHY first whether any has: instances of a definition hardly ever do, and that is less than
        to ask of all whether their owners go too. Looked up as `_by_parent` is.
        """
        if self._settled:
            return []
        if self._owned[0] is not rows:
            self._owned = rows, self._view.owned(rows)
        owned = self._owned[1]
        return [] if owned and self.settled else owned

    def _by_parent(self, rows: list[int]) -> dict[int, list[int]]:
        """Return which of some objects custom resources find by label or name, and by which.

        Looked up once for one list after the other: all of a type, then what is left of it.
        """
        if self._parents[0] is not rows:
            self._parents = rows, self._view.pointing(rows, Edge.PARENT)
        return self._parents[1]

    def services_of(self, pod: int) -> list[int]:
        """Return the Services that select a pod."""
        alike = self._view.alike(pod)
        known = self._services.get(alike)
        if known is None:
            known = self._services[alike] = self._view.services_of(pod)
        return known

    def _ends(self, row: int) -> bool:
        alike = self._view.alike(row)
        known = self._ending.get(alike)
        if known is None:
            view = self._view
            known = (
                owner_ends(view, row) and not (row in self.removed and self.settled)
            ) or self._home_ends(row)
            self._ending[alike] = known
        return known

    def _over(self, row: int) -> bool:
        """Whether the work for which an object was made is over."""
        view = self._view
        controller = view.controller(row)
        if controller < 0:
            return False
        known = self._overs.get(controller)
        if known is None:
            known = self._overs[controller] = is_over(view, controller)
        return known and outlived(view, row)

    def _left_out(self, row: int) -> bool:
        """Whether what keeps an object has left it out; data that goes along asks for more."""
        view = self._view
        if not (left_out(view, row) and outlived(view, row)):
            return False
        return CLAIMS not in self.kinds or (
            len(self.kinds) == 1 and set_aside(view, row, self._now)
        )

    def _home_ends(self, row: int) -> bool:
        place = self._view.place(row)
        known = self._homes.get(place)
        if known is None:
            known = self._space_ends(self._view.namespace(row))
            known = known or type_ends(self._view, self._view.resource(row))
            self._homes[place] = known
        return known

    def _space_ends(self, namespace: str) -> bool:
        known = self._spaces.get(namespace)
        if known is None:
            known = self._spaces[namespace] = space_ends(self._view, namespace)
        return known
