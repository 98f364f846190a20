"""What questions to the graph are answered with."""

from __future__ import annotations

import msgspec

from suture.model.edges import Edge
from suture.model.names import Gvk


class Owner(msgspec.Struct, frozen=True, gc=False):
    """One owner of an object. `present`: it lives, and its removal was not admitted."""

    row: int
    present: bool
    controller: bool
    gvk: Gvk


class Use(msgspec.Struct, frozen=True, gc=False):
    """One need of an object, seen from what is needed; `row` is the object or the pod class."""

    edge: Edge
    row: int
    key: str
    optional: bool
    of_pods: bool


class Lot(msgspec.Struct, frozen=True, gc=False):
    """Pods that owners, labels, needs and state do not tell apart.

    `kind` is the row of their class. `serves`: Ready, and not going. `running`: neither finished
    nor going.
    """

    kind: int
    pods: list[int]
    serves: bool
    running: bool

    @property
    def first(self) -> int:
        """One of them, which stands for all."""
        return self.pods[0]

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.pods)
