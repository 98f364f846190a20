"""How many pods those behind a workload ask for: custom resources, and autoscalers by their bounds.

Beside `parents`, which tells whether they still ask for an object at all. Progressive delivery and
databases keep several workloads for one number, so that what stands beside one counts with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from suture.impact.causes.labelled import label_parent
from suture.impact.causes.leftout import is_of_part, left_out
from suture.impact.causes.lowered import stops
from suture.impact.causes.over import is_over
from suture.impact.causes.parents import SIBLINGS, parents_of, selects_apart, size_of, wanted_count
from suture.impact.causes.stepdown import lowered_to
from suture.impact.causes.stepwise import leeway
from suture.impact.ground.builtin import SCALERS
from suture.impact.ground.change import Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import services_reaching
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.names import AUTOSCALERS, REPLICA_SETS, WORKLOADS
from suture.model.objects import CustomFacts, WorkloadFacts


def asked_for(
    view: GraphView, row: int, *, least: bool = False, after: int = 0, asleep: bool = False,
    now: Now | None = None,
) -> int:  # fmt: skip
    """Return how many pods those behind a workload ask for at least; -1 where none says.

    That is the custom resource that keeps it, or the lower bound of an autoscaler. `least`: less
    what the first may do without while it turns, by `now`, to the next set of pods. `after`: the
    size that it is to have; to nothing it goes for more reasons than a number of another name tells
    of.
    `asleep`: it goes to nothing for a while, and no autoscaler is asked.
    """
    asked = [-1]
    for scaler in view.sources(row, Edge.SCALES):
        facts = view.facts(scaler)
        if isinstance(facts, AutoscalerFacts) and not (asleep or view.terminating(scaler)):
            asked.append(facts.least)
    for parent in _parents(view, row):
        if view.terminating(parent) or is_over(view, parent):
            continue
        wants = wanted_count(view, parent)
        if wants is not None:
            away = leeway(view, parent, row, wants, now) if least else 0
            asked.append(wants - away - _beside(view, parent, row, after))
        elif (size := size_of(view, row)) and size in _left_for(view, parent, row):
            # WHY only then: a sum is a hint, which is believed of what it fits.
            asked.append(size)
        elif after and (
            _says_of_one(view, parent, row)
            or _says_of_part(view, parent, row)
            or _says_of_all(view, parent, row)
        ):
            asked.append(size)
    return max(asked)


def _parents(view: GraphView, row: int) -> list[int]:
    """Return what keeps a workload: by owner, as a rule says, or by the labels of one without."""
    parents = parents_of(view, row)
    key = label_parent(view, row) if not parents else None
    named = view.find(key) if key is not None else None
    return parents if named is None else [named]


def _kept_by(view: GraphView, parent: int, row: int) -> Sequence[int]:
    """Return what a parent keeps: what it owns, or what its labels say beside `row`, one of it."""
    owned = view.children_of(parent)
    if view.has_owner(row):
        return owned
    key, beside = view.key(parent), view.rows(view.resource(row), view.namespace(row))
    return [*owned, *(one for one in beside[:SIBLINGS] if label_parent(view, one) == key)]


def resize_explained(
    view: GraphView,
    row: int,
    after: int,
    written: Rewritten | None = None,
    *,
    together: bool = False,
    by: str = "",
) -> bool:
    """Whether somebody who may decide wants a workload no larger than `after`.

    That is an autoscaler whose bounds allow it, or the custom resource behind it that says so, or
    has left out the part or member that it is, or wants fewer of its kind; or is itself on its way
    out, and takes the workload along. The autoscaler that is `written` explains nothing: it is what
    asks for the size; nor does any that lets go `together` with too many others. `by`: the identity
    that sets it, where that is known.
    """
    if not together and _within_bounds(
        view, row, after, written.row if written is not None else None, by
    ):
        return True
    controller = view.controller(row)
    goes = after == 0 and controller >= 0 and (_goes(view, controller) or is_over(view, controller))
    if goes or (after == 0 and (left_out(view, row) or stops(view, row))):
        return True
    return any(
        not view.terminating(parent)
        # WHY not nothing: a part of none says too little of another that would be stopped.
        and (
            (wants := wanted_count(view, parent)) == after
            or (wants is not None and wants <= after + _beside(view, parent, row, after))
            or (after > 0 and after in _left_for(view, parent, row))
            or 0 < lowered_to(view, parent, row) <= after
            or (after > 0 and _part_of(view, parent, row)[1] == after)
            or (after == 0 and _asks_for_none(view, parent))
        )
        for parent in _parents(view, row)
    )


def _goes(view: GraphView, controller: int) -> bool:
    """Whether the custom resource that controls a workload is being deleted."""
    return controller >= 0 and is_custom(view.resource(controller)) and view.terminating(controller)


def _within_bounds(view: GraphView, row: int, after: int, written: int | None, by: str) -> bool:
    """Whether an autoscaler of a workload, other than the one `written`, allows a size.

    One that cannot read its metrics allows no smaller size, nor does who made it and sizes by it:
    a stop is no less told by what both read than the sizes in between. One of Kubernetes' own
    answers for what its controller sets, which a rewritten one has done: whoever else does takes
    away what it holds.
    """
    told = written is not None and view.resource(written) == AUTOSCALERS
    theirs = bool(by) and by not in SCALERS and not told
    asked = [
        (scaler, facts)
        for scaler in view.sources(row, Edge.SCALES)
        if scaler != written
        and isinstance(facts := view.facts(scaler), AutoscalerFacts)
        and not view.terminating(scaler)
    ]
    blind = {view.controller(scaler) for scaler, facts in asked if facts.floor > after}
    return any(
        facts.least <= after <= facts.most
        and facts.floor <= after
        and scaler not in blind
        and not (theirs and view.resource(scaler) == AUTOSCALERS)
        for scaler, facts in asked
    )


def _asks_for_none(view: GraphView, parent: int) -> bool:
    """Whether a custom resource says that it is to have no members, whatever it calls them."""
    facts = view.facts(parent)
    return isinstance(facts, CustomFacts) and bool(facts.sizes) and not any(facts.sizes)


def _says_of_one(view: GraphView, parent: int, row: int) -> bool:
    """Whether a custom resource says by another name (`size`) how large its one set is.

    As much of a hint as a sum: believed where the set is so large, and none beside it is.
    """
    facts, size = view.facts(parent), size_of(view, row)
    if not isinstance(facts, CustomFacts) or size not in facts.sizes:
        return False
    sets = [
        child
        for child in _kept_by(view, parent, row)
        if view.resource(child) in WORKLOADS
        and not view.terminating(child)
        and size_of(view, child) == size
    ]
    return sets == [row]


def _says_of_part(view: GraphView, parent: int, row: int) -> bool:
    """Whether a part of a custom resource says that its one set is as large as that is.

    As much of a hint: if there are two sets of the part, they may have the number together.
    """
    part, size = _part_of(view, parent, row), size_of(view, row)
    if not size or part[1] != size:
        return False
    resource = view.resource(row)
    return not any(
        _part_of(view, parent, other) == part
        for other in _kept_by(view, parent, row)
        if other != row and view.resource(other) == resource and not view.terminating(other)
    )


def _says_of_all(view: GraphView, parent: int, row: int) -> bool:
    """Whether a custom resource says by another name how large its sets are together.

    As much of a hint: the racks of a ring have its size among them. Not of one that it has left
    out, whose members the others take, nor where some workload of its is so large alone.
    """
    facts, others = view.facts(parent), _others(view, parent, row)
    whole = size_of(view, row) + others
    if not isinstance(facts, CustomFacts) or whole not in facts.sizes:
        return False
    # WHY none of nothing: of one set alone the number is another hint.
    if not 0 < others < whole or left_out(view, row):
        return False
    return all(size_of(view, child) != whole for child in _kept_by(view, parent, row))


def _part_of(view: GraphView, parent: int, row: int) -> tuple[str, int]:
    """Return the part after which a workload is called, and how many pods that asks for.

    That with the longest name, and of one that says two numbers the larger; 0 where there is none.
    """
    facts = view.facts(parent)
    parts = facts.parts if isinstance(facts, CustomFacts) else ()
    own = (one for one in parts if is_of_part(view, parent, row, one[0]))
    return max(own, key=lambda one: (len(one[0]), one[1]), default=("", 0))


def _beside(view: GraphView, parent: int, row: int, after: int) -> int:
    """Return how many Ready pods of a parent stand beside those of one of its workloads.

    Of another workload of the type, behind the same Services: so progressive delivery keeps two
    ReplicaSets, and what it asks for is what both have. One of these that no Service reaches any
    more has been left by the traffic, for the other; so has one that is reached by a Service of its
    own only, which the parent made for it. So do two of which the parent names the Services, as
    long as some of the one are left, `after`: how much traffic goes to either it says in a route.
    The proxy of a database is no member. Of another type
    the very pods that the workload selects: so what a Deployment runs is moved to a set, or to a
    kind of the operator's own, one in and one out.
    """
    resource, served = view.resource(row), _served(view, row)
    left = all(_made_for(view, parent, service) for service in served)
    return sum(
        view.running_alike(kind)[1]
        for child in _kept_by(view, parent, row)
        if child != row and not view.terminating(child)
        for kind in view.classes_owned(child)
        if (
            _selects(view, row, kind)
            if view.resource(child) != resource
            else not served.isdisjoint(_served(view, child))
            or (
                (left or (after > 0 and _paired(view, parent, row, child)))
                and _is_next(view, row, child)
            )
        )
    )


def _paired(view: GraphView, parent: int, row: int, other: int) -> bool:
    """Whether a parent names each Service of one of its workloads, and one of another's."""
    named = {one for one, _ in view.targets(parent, Edge.RULE)}
    served = _served(view, row)
    return bool(served) and served <= named and not named.isdisjoint(_served(view, other))


def _selects(view: GraphView, workload: int, kind: int) -> bool:
    """Whether a workload selects pods of a class, as it would its own."""
    facts, pod = view.facts(workload), view.one_alike(kind)
    if not isinstance(facts, WorkloadFacts) or facts.selector is None or pod < 0:
        return False
    return facts.selector.matches(view.labels(pod))


def _made_for(view: GraphView, parent: int, service: int) -> bool:
    """Whether a Service is one that a parent made beside a child, to which no route leads.

    A Service of somebody else's says by itself where its readers go.
    """
    return view.controller(service) == parent and not view.sources(service, Edge.ROUTES_TO)


def _is_next(view: GraphView, row: int, other: int) -> bool:
    """Whether traffic has left a ReplicaSet for another of the same, which is served.

    That is one that selects the same but for the value of a single label, its revision.
    """
    return (
        view.resource(row) == REPLICA_SETS
        and selects_apart(view, row, other)
        and bool(_served(view, other))
    )


def _served(view: GraphView, workload: int) -> set[int]:
    """Return the Services that reach pods of a workload."""
    return set(services_reaching(view, view.classes_owned(workload)))


def _left_for(view: GraphView, parent: int, row: int) -> list[int]:
    """Return the sizes of a workload with which its parent's parts have in sum what they want.

    Several where the parts say it in fields of several names; none where they do not say it.
    """
    facts = view.facts(parent)
    if not isinstance(facts, CustomFacts) or not facts.pools:
        return []
    others = _others(view, parent, row)
    return [wanted - others for wanted in facts.pools]


def _others(view: GraphView, parent: int, row: int) -> int:
    """Return how many pods the other workloads of a type are to have that a parent keeps."""
    resource = view.resource(row)
    return sum(
        size_of(view, child)
        for child in _kept_by(view, parent, row)
        if child != row and view.resource(child) == resource and not view.terminating(child)
    )
