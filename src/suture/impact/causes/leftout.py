"""Parts of a custom resource that its spec has no more, or has switched off.

Beside `parents`, which tells how many children one wants: here somebody took a component out of
the parent, or stopped all of it, by its spec or an annotation, and what runs for that is nobody's
wish any more. Data is not among it, save claims that were set aside. Pure; what was left out is
remembered of each write, so that of what was left out before Suture was there nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate
from typing import Final

from suture.impact.causes.counters import back_again, parted
from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.labelled import label_parent
from suture.impact.causes.parents import SIBLINGS, answering_owner, mounting, statefulset_of
from suture.impact.ground.claims import set_names
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import one_of_each
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    CRON_JOBS,
    DISRUPTION_BUDGETS,
    JOBS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    WORKLOADS,
    ObjectKey,
    Resource,
)
from suture.model.objects import WorkloadFacts
from suture.model.parts import BY_ID, CALLED, OF_A_PORT, SUSPENDED, parts_left_out, sizes_of_parts
from suture.model.request import Request
from suture.model.stopping import is_suspended
from suture.model.writes import HOUR_S, TEN_MINUTES_S

SHORTEST: Final = 3
"""Letters of a part's name from which it is looked for anywhere in the names of children."""

WORKLOADS_ASKED: Final = 32
"""LIMIT: workloads of a parent that are compared with each of its parts, 1 us each, as one goes."""

PARTED: Final = 8
"""LIMIT: parts that a person takes out of a custom resource in one write, and that are remembered
by name."""

OTHERWISE: Final = ">"
"""Before the name of what was left out with a part and is called otherwise: a part that is there
again says nothing of which, so that all of them are."""

COMPONENTS: Final = frozenset({"component", "application"})
"""Labels, behind any prefix, that tell what an object is in the words of its parent's parts, where
its own name is shorter: the `connectionPooler` of a database is called `pooler`."""

_OUTWARD: Final = frozenset({"expose", "exposed", "external", "externally", "exposure"})
"""Words of what a part is called by which something is reached in a further way."""

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_CLAIMED: Final = frozenset({Edge.CLAIM})
_RUNS: Final = frozenset({PODS, JOBS, CRON_JOBS, DISRUPTION_BUDGETS, *WORKLOADS})
"""What is of no use while nothing of its parent is to run. A Service may be: its name stays."""


def left_out(view: GraphView, row: int) -> bool:
    """Whether a custom resource above an object has left out what the object is for."""
    writes = view.history.writes
    if not writes.any_left_out:
        return False
    return any(_left_out(view, parent, row) for parent in _above(view, row))


def _above(view: GraphView, row: int) -> list[int]:
    """Return the custom resources that keep an object, by owner, label or name.

    WHY any owner: some operators own what they make, and do not call themselves its controller.
    Others own nothing, and say by a label of what it is.
    """
    chain = (row, *view.controllers(row, CLIMBED))
    found = dict.fromkeys(chain[1:])
    for one in chain:
        found.update((owner.row, None) for owner in view.owners(one) if owner.present)
        found.update(dict.fromkeys(view.there(one, Edge.PARENT)))
    if not found and (key := label_parent(view, row)) is not None:
        named = view.find(key)
        found.update({} if named is None else {named: None})
    return list(found)


def _left_out(view: GraphView, parent: int, row: int) -> bool:
    """Whether a parent has left out the member or part that an object is, or all that runs."""
    names, resource = view.history.writes.left_out(view.uid(parent)), view.resource(row)
    return bool(names) and (
        struck(view, parent, row)
        or ("" in names and _runs_for(view, parent, row))
        or _called_by_type(resource, names)
        or (resource == SERVICES and _is_further_way(view, row, names))
        or _called_after(view, parent, row, names)
    )


def _runs_for(view: GraphView, parent: int, row: int) -> bool:
    """Whether an object is of no use while nothing of its parent is to run."""
    resource = view.resource(row)
    if resource == SERVICES:
        return _leads_below(view, parent, row) or _led_to(view, parent, row)
    return resource in _RUNS or is_custom(resource)


def _called_after(view: GraphView, parent: int, row: int, names: Collection[str]) -> bool:
    """Whether an object is called, by its name or labels, as a part that was left out."""
    name, above, resource = view.name(row), view.name(parent), view.resource(row)
    if resource == CLAIMS:
        # WHY behind the parent's: before it stands what the volume is called, as parts are too.
        called = [_words(f"-{name}".partition(f"-{above}-")[2])]
    else:
        called = [_words(name.removeprefix(above)), *_components(view, row)]
    # WHY only Services: what listens at a port does more than that.
    return any(
        _within(_words(part), one)
        for part in names
        if resource == SERVICES or not part.startswith(OF_A_PORT)
        for one in called
    )


def _components(view: GraphView, row: int) -> Iterator[list[str]]:
    """Yield the words of what the labels of an object say that it is."""
    for name, value in view.labels(row).items():
        if name.rpartition("/")[2] in COMPONENTS:
            yield _words(value)


def _leads_below(view: GraphView, parent: int, service: int) -> bool:
    """Whether a Service leads to pods of a parent alone, as far as it leads anywhere.

    WHY only where it leads: the name of one that does not is all that there is of it, and stays.
    """
    pods = one_of_each(view, view.classes_selected(service))
    return bool(pods) and all(parent in view.controllers(pod, CLIMBED) for pod in pods)


def _led_to(view: GraphView, parent: int, service: int) -> bool:
    """Whether a Service led to pods of the parent that go, or to one of its name that went.

    So each member of a job has a Service of its own, and both go, the pod first.
    """
    selected = view.classes_selected(service)
    if selected:
        return set(selected).issubset(view.classes_controlled(parent))
    gone = view.history.removed_at(ObjectKey(PODS, view.namespace(service), view.name(service)))
    return gone is not None and any(one.uid == view.uid(parent) for one in gone.owners)


def _called_by_type(resource: Resource, names: Collection[str]) -> bool:
    """Whether a part that was left out is called after the type of an object: `enablePDB`."""
    called = CALLED.get(resource, ())
    return bool(called) and any("".join(_words(part)).removesuffix("s") in called for part in names)


def _is_further_way(view: GraphView, service: int, names: Collection[str]) -> bool:
    """Whether a part was left out by which pods are exposed, and they are reached without it.

    Such a Service is called after what it exposes (`db-0`, `db-ext`), and not after the part.
    """
    if not any(_OUTWARD.intersection(_words(part)) for part in names):
        return False
    pods = one_of_each(view, view.classes_selected(service))
    return bool(pods) and all(
        any(one != service and not view.terminating(one) for one in view.services_of(pod))
        for pod in pods
    )


def unnamed(
    view: GraphView,
    parent: int,
    parts: Iterable[tuple[frozenset[str], int | None]],
    gone: frozenset[str],
) -> frozenset[str]:
    """Return what a workload of a part that was left out is called, if it has not the part's name.

    So that of a `configServer` is called `cfg`. It is known by its size: something in what is gone
    is to be as large, and nothing else of the parent of whose name there is no workload; and of
    the workloads that bear no part's name it is the only one so large.
    """
    above, below = view.name(parent), dict[str, tuple[list[str], int | None]]()
    for child in view.staying(view.children_of(parent)[:SIBLINGS]):
        facts = view.facts(child)
        if isinstance(facts, WorkloadFacts):
            name = view.name(child).removeprefix(above)
            below[name] = _words(name), facts.replicas
    if len(below) > WORKLOADS_ASKED:
        return frozenset()
    left: dict[str, None] = dict.fromkeys(name for name in below if below[name][0])
    sizes: dict[int, list[bool]] = {}
    for names, size in parts:
        asked = [_words(one) for one in names]
        called = {
            name
            for name, (words, _) in below.items()
            if any(_within(one, words) for one in asked) or not (names or words)
        }
        for name in called:
            left.pop(name, None)
        if size and not called:
            sizes.setdefault(size, []).append(not gone.isdisjoint(names))
    return frozenset(
        f"{OTHERWISE}{name}"
        for name in left
        if (size := below[name][1])
        and sizes.get(size) == [True]
        and [below[one][1] for one in left].count(size) == 1
    )


def called_otherwise(view: GraphView, parent: int) -> frozenset[str]:
    """Return what was left out of a parent and is called otherwise than its parts."""
    names = view.history.writes.left_out(view.uid(parent))
    return frozenset(name for name in names if name.startswith(OTHERWISE))


def struck(view: GraphView, parent: int, row: int) -> bool:
    """Whether a parent has struck from a list the very member that an object is of, by its id.

    A label says of which: its name ends in `id`, and its value is that (`brokerId: "2"`).
    """
    ids = {
        name.removeprefix(BY_ID)
        for name in view.history.writes.left_out(view.uid(parent))
        if name.startswith(BY_ID)
    }
    return bool(ids) and any(
        value in ids and name.lower().endswith("id") for name, value in view.labels(row).items()
    )


def set_aside(view: GraphView, claim: int, now: Now | None = None) -> bool:
    """Whether a claim was left by a set that was emptied and taken away, and others are in use.

    Nobody uses it, its StatefulSet was scaled to nothing, or its parent has struck that very member
    from a list; and of the other claims of the same parent one is used by a Ready pod. WHY emptied:
    who takes members away one after the other has moved what they held; who deletes the set under
    them has not, unless others were put in their place before.
    """
    if mounting(view, claim):
        return False
    owner = answering_owner(view, claim)
    parent = owner.row if owner is not None and owner.present else -1
    if not (_was_emptied(view, claim) or (parent >= 0 and struck(view, parent, claim))):
        return parent >= 0 and (
            _has_successors(view, parent, claim) or _of_dropped_part(view, parent, claim, now)
        )
    beside = view.children_of(parent)[:SIBLINGS] if parent >= 0 else ()
    return any(
        view.serves(pod)
        for one in beside
        if one != claim and view.resource(one) == CLAIMS
        for pod in mounting(view, one)
    )


def _has_successors(view: GraphView, parent: int, claim: int) -> bool:
    """Whether for each claim of a parent that nobody uses there is a younger one at work.

    Of those that bear the same labels: Ready pods use it, and it was made ten minutes later than
    the one that goes at least.
    """
    called, since = view.labels(claim).keys(), view.created(claim) + TEN_MINUTES_S
    alike = [
        one
        for one in view.staying(view.children_of(parent)[:SIBLINGS])
        if view.resource(one) == CLAIMS
        and not view.terminating(one)
        and view.labels(one).keys() == called
    ]
    users = {one: mounting(view, one) for one in alike}
    idle = sum(not pods for pods in users.values())
    younger = sum(
        view.created(one) >= since and any(map(view.serves, pods)) for one, pods in users.items()
    )
    return 0 < idle <= younger


def _of_dropped_part(view: GraphView, parent: int, claim: int, now: Now | None) -> bool:
    """Whether a label of a claim names a part that a person took out of the parent lately.

    Nothing names the claim any more, and those that bear the label for other parts are all used by
    Ready pods, as many as are left of this one. WHY a person: who writes what a part is to hold
    knows where it is; a file that is read wrong drops parts as well.
    """
    counted, uid = view.history.writes.counted, view.uid(parent)
    if now is None or view.uses(claim, _CLAIMED):
        return False
    return any(
        _others_at_work(view, parent, label, value)
        for label, value in view.labels(claim).items()
        if value and counted(parted(uid, value), now, HOUR_S) > 0
    )


def _others_at_work(view: GraphView, parent: int, label: str, part: str) -> bool:
    """Whether claims of other parts than one are all in use, as many as that has."""
    beside = [
        one
        for one in view.staying(view.children_of(parent)[:SIBLINGS])
        if view.resource(one) == CLAIMS and label in view.labels(one)
    ]
    others = [one for one in beside if view.labels(one)[label] != part]
    return len(others) >= len(beside) - len(others) and all(
        any(map(view.serves, mounting(view, one))) for one in others
    )


def _was_emptied(view: GraphView, claim: int) -> bool:
    """Whether the StatefulSet that a claim is named after is of no size, or was before it went.

    WHY left out where it is there: one that is only stopped comes back to its data.
    """
    key = view.key(claim)
    found = statefulset_of(view, key)
    if found is not None:
        facts = view.facts(found[0])
        size = facts.replicas if isinstance(facts, WorkloadFacts) else None
        return size == 0 and left_out(view, found[0])
    latest = view.history.writes.latest
    return any(
        latest(ObjectKey(STATEFUL_SETS, key.namespace, name), What.SCALED) == 0
        for name, _ in set_names(key)
    )


def _words(name: str) -> list[str]:
    """Return the words of a name, however it joins them: `entityOperator`, `entity-operator`."""
    return [word.lower() for word in _WORD.findall(name)]


def _within(part: list[str], name: list[str]) -> bool:
    """Whether the words of a part stand in a name one after the other, however they are parted.

    A short one stands at the end, or before the number of one of several.
    """
    called, whole = "".join(part), "".join(name)
    if len(called) < SHORTEST:
        end = len(name) - bool(name and name[-1].isdigit())
        return bool(part) and name[max(0, end - len(part)) : end] == part
    ends = list(accumulate(map(len, name), initial=0))
    return any(whole.startswith(called, at) and at + len(called) in ends for at in ends[:-1])


def is_of_part(view: GraphView, parent: int, row: int, part: str) -> bool:
    """Whether an object is what its parent keeps for a part, by the end of its name.

    So `orders-proxy` is of the `proxy` of `orders`, and `orders-proxy-next` may be something else.
    """
    name, called = _words(view.name(row).removeprefix(view.name(parent))), "".join(_words(part))
    return bool(called) and called in accumulate(reversed(name), lambda end, word: word + end)


def remember_parts(request: Request, view: GraphView, now: Now) -> None:
    """Remember which of its parts a custom resource says no more that it has."""
    gone, back = parts_left_out(request.old_body, request.new_body)
    row = view.find(request.key) if gone or back else None
    if row is None or (request.old is not None and request.old.uid != view.uid(row)):
        return
    if is_person(request.user.username):
        _remember_parted(view, view.uid(row), gone, back, now)
    if gone - {""}:
        gone |= unnamed(view, row, sizes_of_parts(request.old_body), gone)
    uid, writes = view.uid(row), view.history.writes
    if is_suspended(request.new_body):
        gone |= {SUSPENDED}
    if back:
        back |= {SUSPENDED} - gone
        if not back.isdisjoint(writes.left_out(uid)):
            writes.count(back_again(uid), now)
        back |= called_otherwise(view, row)
    writes.note_left_out(uid, gone, back)


def _remember_parted(
    view: GraphView, uid: str, gone: Collection[str], added: Collection[str], now: Now
) -> None:
    """Remember which parts a person took out of a custom resource, and which they put back.

    WHY none in whose place others are put at once: these have yet to get what that has.
    """
    writes = view.history.writes
    for part in sorted(gone)[:PARTED] if not added else ():
        if part:
            writes.count(parted(uid, part), now)
    for part in sorted(added)[:PARTED]:
        writes.take_back(parted(uid, part), now)
