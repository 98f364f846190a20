"""What a parent lets go of, one of whose numbers somebody lowered.

By whatever name, the number was as many as the parent had children of a type, or as many of them as
are labelled alike: the workers of a group; or up to it they are numbered by a label, as shards are;
or as many as there were twos or threes of a type, as two hosts for each shard; or as many as the
pods that its children of types of their own keep for it, as a pool has a set of brokers.
LIMIT: of what was lowered before Suture was there nobody knows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from suture.impact.causes.marked import note_lowered
from suture.impact.causes.parents import has_idle, wants_none
from suture.impact.causes.stepdown import note_size
from suture.impact.ground.kinds import is_custom
from suture.model.clock import Now
from suture.model.difference import numbers_changed
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, PODS, REPLICA_SETS, SERVICES, WORKLOADS, Resource
from suture.model.objects import ServiceFacts
from suture.model.request import Request

CHILDREN_COUNTED: Final = 1_000
"""LIMIT: children of a custom resource that are counted by type, 1 us each."""

EACH: Final = 4
"""LIMIT: children of a type that there may be for each that a number counts: two hosts for each
shard, a standby for each server, three volumes for each member. More would fit any number."""

MANIFOLD: Final = frozenset({str(SERVICES), str(REPLICA_SETS)})
"""Ways in, and what is left over of rollouts: of these there are many for other reasons."""

BELOW: Final = "pods below"
"""By what it is remembered that a number of pods was lowered that custom children keep."""


class Lowered:
    """How many children each parent can spare still, while those that go are told one by one."""

    __slots__ = ("_beyond", "_view")

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._beyond: dict[tuple[int, str], int] = {}

    def lets_go(self, row: int, resource: Resource, *, awake: bool = False) -> bool:
        """Whether an object's parent can spare it, which is then this one.

        `awake`: of its workloads only those count that are not stopped: this one is to be.
        """
        view = self._view
        writes = view.history.writes
        parent = view.controller(row) if writes.lowered else -1
        if parent < 0:
            return False
        sizes, group = writes.sizes(view.uid(parent)), str(resource)
        if sizes and is_beyond(view, parent, resource, row):
            return True
        wanted = sizes.get(group, _for_each(sizes, group))
        # WHY first: hardly any parent had a number lowered, and to read labels costs more.
        if wanted is None and sizes:
            group = next((one for one in _groups_of(view, row) if one in sizes), group)
            wanted = sizes.get(group)
        if wanted is None:
            return resource == PODS and any(
                self._lets_go_below(owner.row, row)
                for owner in view.owners(parent)
                if owner.present
            )
        if has_idle(view, parent, row, resource):
            return False
        at = parent, group
        if at not in self._beyond:
            self._beyond[at] = self._count(parent, resource, group, awake=awake) - wanted
        self._beyond[at] -= 1
        return self._beyond[at] >= 0

    def _lets_go_below(self, above: int, pod: int) -> bool:
        """Whether what keeps a pod's keeper can spare the pod, which is then this one.

        WHY others where none is to be left: who empties one pool has another to go on with, and who
        empties the last has written a wrong number.
        """
        view = self._view
        wanted = view.history.writes.sizes(view.uid(above)).get(BELOW)
        if wanted is None or view.terminating(above):
            return False
        at = above, BELOW
        if at not in self._beyond:
            self._beyond[at] = pods_below(view, view.staying(view.children_of(above))) - wanted
        if not wanted and not _others_serve(view, pod, self._beyond[at]):
            return False
        self._beyond[at] -= 1
        return self._beyond[at] >= 0

    def _count(self, parent: int, resource: Resource, group: str, *, awake: bool) -> int:
        """Return how many children of a type a parent has, in a group where it is one."""
        view, of_type = self._view, group == str(resource)
        return sum(
            view.resource(one) == resource and (of_type or group in _groups_of(view, one))
            for one in view.staying(view.children_of(parent))
            if not view.terminating(one) and not (awake and wants_none(view, one))
        )


def is_beyond(view: GraphView, parent: int, resource: Resource, row: int) -> bool:
    """Whether a parent was lowered to fewer of a type than an object's label says which it is.

    WHY the type: what belongs to a child is labelled as that is, and goes with it.
    """
    sizes, start = view.history.writes.sizes(view.uid(parent)), _numbered(resource, "")
    labels = view.labels(row) if any(one.startswith(start) for one in sizes) else {}
    return any(
        _number(labels.get(group.removeprefix(start), "")) >= wanted
        for group, wanted in sizes.items()
        if group.startswith(start)
    )


def stops(view: GraphView, row: int) -> bool:
    """Whether a parent can spare a workload, of those of its type that are not stopped yet."""
    return Lowered(view).lets_go(row, view.resource(row), awake=True)


def _for_each(sizes: Mapping[str, int], kind: str) -> int | None:
    """Return how many children of a type a parent wants of which it has a few for each."""
    for times in range(2, EACH + 1) if sizes else ():
        number = sizes.get(_times(kind, times))
        if number is not None:
            return number * times
    return None


def _times(kind: str, times: int) -> str:
    return f"{kind} x{times}"


def _others_serve(view: GraphView, pod: int, alike: int) -> bool:
    """Whether every Service that reaches a pod, but its own, reaches more than `alike` pods Ready.

    Its own asks for it by its name.
    """
    name = (view.name(pod),)
    shared = [
        service
        for service in view.services_of(pod)
        if not (
            isinstance(facts := view.facts(service), ServiceFacts)
            and facts.selector is not None
            and any(one.values == name for one in facts.selector.requirements)
        )
    ]
    return bool(shared) and all(view.serving_count(service) > alike for service in shared)


def remember_numbers(request: Request, row: int, view: GraphView, now: Now) -> None:
    """Remember of a custom resource that a number of its children was lowered.

    By whatever name: it was as many as the children of one type, or as those of them that are
    labelled alike, or as the numbers that they bear, or there were a few of a type for each, and is
    less; or as many as the pods of its custom children, and is less or nothing; or as many as the
    pods that one of its workloads, and no other, is to have.
    WHY else not none: a number that goes from one to nothing is mostly of something else.
    """
    if not is_custom(view.resource(row)):
        return
    writes = view.history.writes
    children = view.staying(view.children_of(row))
    if not 0 < len(children) <= CHILDREN_COUNTED:
        return
    alive = _Children(view, [one for one in children if not view.terminating(one)])
    for before, after in numbers_changed(request.old_body, request.new_body):
        if after > before:
            writes.note_raised(view.uid(row), before)
            continue
        note_lowered(view, row, now)
        if before > 1 and before == pods_below(view, children):
            writes.note_fewer(view.uid(row), BELOW, after)
        if after <= 0:
            continue
        if before > 1:
            note_size(view, row, alive.rows, before, after)
        for kind in alive.that_are(before):
            writes.note_fewer(view.uid(row), kind, after)


class _Children:
    """What the children of one parent have in common, counted once each when it is asked for."""

    __slots__ = ("_groups", "_kinds", "_labelled", "_numbers", "_view", "rows")

    def __init__(self, view: GraphView, rows: list[int]) -> None:
        self._view, self.rows = view, rows
        self._kinds = Counter(str(view.resource(one)) for one in rows)
        self._groups: Counter[str] | None = None
        self._labelled: dict[str, dict[str, list[int]]] | None = None
        self._numbers: dict[tuple[Resource, str], set[int]] | None = None

    def that_are(self, count: int) -> list[str]:
        """Return by what those are remembered of which there are so many, or a few for each."""
        # WHY these tell nothing of what is labelled: of such there may be as many for any reason.
        by_chance = [kind for kind in MANIFOLD if self._kinds.get(kind) == count]
        found = [
            kind for kind, has in self._kinds.items() if has == count and kind not in by_chance
        ]
        if not found and count < len(self.rows):
            self._groups = self._groups or Counter(group_of(self._view, one) for one in self.rows)
            found = [group for group, has in self._groups.items() if has == count]
            found = found or self._labelled_alike(count)
        found += by_chance
        found += [one for one in self._members_alike(count) if one not in found]
        numbered: list[tuple[Resource, str]] = []
        if not found and 1 < count < len(self.rows):
            numbered = self._numbered_to(count)
            found = _alone(numbered)
        # WHY not of what is numbered: there it is known which of them go, or meant by two numbers.
        named = {str(resource) for resource, _ in numbered}
        return found + [
            _times(kind, has // count)
            for kind, has in self._kinds.items()
            if kind not in MANIFOLD and not has % count and 1 < has // count <= EACH
            if kind not in named
        ]

    def _labelled_alike(self, count: int) -> list[str]:
        """Return by which label those of a type are the same of which there are so many.

        Where each bears another label too, as its own id. Not where other labels make out others
        of the type that are as many: of those nobody knows which a number is of.
        """
        alike: list[str] = []
        for groups in self._by_label().values():
            fit = [group for group, rows in groups.items() if len(rows) == count]
            if len({tuple(groups[group]) for group in fit}) == 1:
                alike += fit
        return alike

    def _members_alike(self, count: int) -> list[str]:
        """Return by which labels so many workloads and as many of their claims are the same.

        Whatever else there are so many of: members, each with its volume, are what numbers count.
        Not where other labels make out other claims that are as many.
        """
        if self._kinds.get(str(CLAIMS), 0) < count:
            return []
        labelled = self._by_label()
        claims = labelled.get(str(CLAIMS), {})
        fit = [
            (group, kind)
            for group, rows in claims.items()
            for kind in map(str, WORKLOADS)
            if len(rows) == count == len(labelled.get(kind, {}).get(_of(group, kind), ()))
        ]
        if len({tuple(claims[group]) for group, _ in fit}) != 1:
            return []
        return list(
            dict.fromkeys(_of(group, of) for group, kind in fit for of in (kind, str(CLAIMS)))
        )

    def _by_label(self) -> dict[str, dict[str, list[int]]]:
        """Return the children of each type by what they may have in common, one label each."""
        if self._labelled is None:
            found: defaultdict[str, defaultdict[str, list[int]]]
            found = defaultdict(lambda: defaultdict(list))
            for one in self.rows:
                for group in _groups_of(self._view, one)[1:]:
                    found[str(self._view.resource(one))][group].append(one)
            self._labelled = {kind: dict(groups) for kind, groups in found.items()}
        return self._labelled

    def _numbered_to(self, count: int) -> list[tuple[Resource, str]]:
        """Return which types are numbered from 0 to below `count`, and by which labels."""
        if self._numbers is None:
            found: defaultdict[tuple[Resource, str], set[int]] = defaultdict(set)
            for one in self.rows:
                resource = self._view.resource(one)
                for label, value in self._view.labels(one).items():
                    found[resource, label].add(_number(value))
            self._numbers = found
        return [at for at, has in self._numbers.items() if len(has) == count == max(has) + 1]


def _of(group: str, kind: str) -> str:
    """Return what objects of another type have in common that those of a group of claims have."""
    return f"{kind}{group.removeprefix(str(CLAIMS))}"


def _alone(numbered: Iterable[tuple[Resource, str]]) -> list[str]:
    """Return of some types and labels what is remembered of those with one label alone.

    Of two nobody knows which of them a number is of.
    """
    alone = Counter(resource for resource, _ in numbered)
    return [_numbered(resource, label) for resource, label in numbered if alone[resource] == 1]


def _numbered(kind: Resource | str, label: str) -> str:
    """Return by what it is remembered that children of a type are numbered by a label."""
    return f"{kind} by {label}"


def _number(value: str) -> int:
    """Return the number that a label's value is; -1 where it is none."""
    return int(value) if value.isascii() and value.isdecimal() else -1


def pods_below(view: GraphView, children: Iterable[int]) -> int:
    """Return how many pods the custom ones of some children keep themselves, but those going."""
    return sum(
        not view.terminating(pod)
        for child in children
        if is_custom(view.resource(child))
        for kind in view.classes_controlled(child)
        for pod in view.pods_alike(kind)
    )


def group_of(view: GraphView, row: int) -> str:
    """Return what the children of a type have in common that are labelled as one of them is."""
    return f"{view.resource(row)} {view.label_bytes(row).decode()}"


def _groups_of(view: GraphView, row: int) -> list[str]:
    """Return what an object may have in common with others of its type: all labels, or one."""
    resource = view.resource(row)
    labels = view.labels(row).items()
    return [group_of(view, row), *(f"{resource} with {name}={value}" for name, value in labels)]
