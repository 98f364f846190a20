"""What a link means beside its two ends: which edge it is, and what the reference says of it.

There are few different ones and millions of links, so that a link holds a number.
"""

from __future__ import annotations

from suture.model.edges import Edge, Need
from suture.model.graph.detail import Detail
from suture.model.names import Gvk
from suture.model.objects import OwnerReference


class Details:
    """Meanings by number.

    LIMIT: kept for good: a cluster has some thousand at most, since keys of ConfigMaps and Secrets,
    the most varied part, are written by people.
    """

    __slots__ = ("_needs", "_numbers", "_owners", "edges", "node", "selects", "shared", "values")

    def __init__(self) -> None:
        self.values: list[Detail] = []
        self.edges: dict[Edge | None, set[int]] = {}
        """The numbers of all that means an edge."""
        self._numbers: dict[Detail, int] = {}
        self._needs: dict[tuple[Edge, str, bool], int] = {}
        self._owners: dict[tuple[Gvk, bool, bool, str], int] = {}
        self.selects = self.number(Detail(Edge.SELECTS))
        self.node = self.number(Detail(Edge.NODE))
        self.shared = self.number(Detail(None))
        """The numbers of the links that are all alike, and most."""

    def __getitem__(self, number: int) -> Detail:
        return self.values[number]

    def restore(self, values: list[Detail]) -> None:
        """Take over the meanings of an equal one."""
        self.values, self._numbers, self._needs, self._owners = [], {}, {}, {}
        self.edges = {}
        for detail in values:
            self.number(detail)

    def of_need(self, need: Need) -> int:
        """Return the number of what a link to a need means."""
        asked = (need.edge, need.key, need.optional)
        found = self._needs.get(asked)
        if found is None:
            found = self._needs[asked] = self.number(Detail(*asked))
        return found

    def of_owner(self, owner: OwnerReference, called: str) -> int:
        """Return the number of what a link to an owner means, which it `called` like that."""
        asked = (owner.gvk, owner.controller, owner.blocks_deletion, called)
        found = self._owners.get(asked)
        if found is None:
            gvk, controller, blocks_deletion, _ = asked
            detail = Detail(
                Edge.OWNER,
                gvk=gvk,
                controller=controller,
                blocks_deletion=blocks_deletion,
                name=called,
            )
            found = self._owners[asked] = self.number(detail)
        return found

    def number(self, detail: Detail) -> int:
        """Return the number of a meaning."""
        found = self._numbers.get(detail)
        if found is None:
            found = self._numbers[detail] = len(self.values)
            self.values.append(detail)
            self.edges.setdefault(detail.edge, set()).add(found)
        return found
