"""What somebody else made, taken in numbers by a machine that has nothing to do with it.

Beside `keepers`, who keeps one object: here it is asked of custom resources and of pods without a
controller, of which no other sign says what they are for. Pace alone tells nothing of them, since
operators, pruners and continuous integration clear away thousands of their own. So it is believed
only where it is known who made an object, and nothing ties the actor to that.
What is still under way (`underway`) counts by the hand of who is only called like it as well.
LIMIT: of what was made before Suture was there, or is no longer remembered, nobody knows.
"""

from __future__ import annotations

import re
from typing import Final

from suture.impact.causes.drained import drains
from suture.impact.causes.over import is_over
from suture.impact.causes.together import CLOCK
from suture.impact.data.external import stands_for
from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.likeness import called_alike
from suture.impact.ground.machines import node_behind
from suture.impact.ground.readers import is_read
from suture.impact.ordinary.keepers import keeps, works_for
from suture.impact.ordinary.recorded import record_of_living
from suture.impact.reach.underway import is_under_way, runs_for_named
from suture.impact.scene import Scene
from suture.model.actor import CARRIERS, account_of
from suture.model.edges import Edge
from suture.model.graph import GraphView, Lot
from suture.model.names import NETWORK_POLICIES, SECRETS, SERVICES, Resource
from suture.model.objects import CustomFacts

_DATA: Final = ("backups", "snapshots")
"""How types end whose objects hold data once the work of making them is over."""

_NAMING: Final = (Edge.RULE, Edge.LEADS_TO)
_EXPIRES: Final = re.compile(r"ttl|expir(?:es|y|ation)|(?:delete|remove|keep)-(?:after|at|until)")
"""Words of labels and annotations by which whoever made an object lets it end by itself."""


def taken_blindly(scene: Scene, row: int) -> bool:
    """Whether a custom resource goes by a machine's hand that does not know what it is there for.

    That is a stranger's; or one that takes a record for left over, while what it is of lives.
    """
    return (
        taken_by_stranger(scene, row) or runs_for_itself(scene, row) or record_of_living(scene, row)
    )


def runs_for_itself(scene: Scene, row: int) -> bool:
    """Whether a custom resource with Ready pods of its own goes by a machine that is none of its.

    Nobody knows who made it, which was before; nobody owns it, or keeps it, so that it does not
    come back. A machine's that is known to run its type may end it, and what ends by itself may go.
    What is only called like it may not, where others of the type have ended and this one has not.
    """
    view, resource = scene.view, scene.view.resource(row)
    return (
        is_custom(resource)
        and not view.has_owner(row)
        and (
            any(map(view.serving_alike, view.classes_controlled(row)))
            or (scene.change.direct == (row,) and any(lot.serves for lot in scene.lots))
        )
        and view.history.creation(view.uid(row)) is None
        and account_of(scene.actor.user.username) is not None
        and not (scene.tied(row) or is_over(view, row))
        and (not keeps(scene, resource) or is_under_way(scene, row))
        and not (scene.marks(row) or view.targets(row, Edge.PARENT) or _expires(scene, row))
    )


def taken_by_stranger(scene: Scene, row: int) -> bool:
    """Whether a custom resource goes by a machine's hand that has nothing to do with it.

    Not where its work is over, or what it names by its spec is in use by nobody: then it is idle.
    A backup whose making is over is what it was made for. Nor where the machine of a node is taken,
    or what stands for a thing outside: these have budgets of their own.
    """
    resource = scene.view.resource(row)
    return (
        is_custom(resource)
        and not _is_outside(scene, row)
        and (_is_data(resource) or not is_over(scene.view, row))
        and (not keeps(scene, resource) or is_under_way(scene, row))
        and _is_strange(scene, row)
        and not _idle(scene.view, row)
    )


def wall_of_others(scene: Scene, row: int) -> bool:
    """Whether a NetworkPolicy goes by a machine's hand that has nothing to do with it.

    Who made it is remembered, and knew why: without it pods are open, or cut off by what is left.
    """
    return scene.view.resource(row) == NETWORK_POLICIES and _is_strange(scene, row)


def bare_of_others(scene: Scene, lot: Lot) -> bool:
    """Whether pods at work go by name, which nobody brings back, and by such a machine's hand."""
    pod = lot.first
    return (
        lot.running
        and pod in scene.direct
        and not scene.change.evicted
        and not scene.view.has_owner(pod)
        and not drains(scene.view, pod, scene.now)
        and _is_of_others(scene, pod)
        and (not _is_alike(scene, pod) or runs_for_named(scene, pod))
    )


def _is_outside(scene: Scene, row: int) -> bool:
    """Whether an object is the machine of a node, or says which thing outside goes with it."""
    facts = scene.view.facts(row)
    if isinstance(facts, CustomFacts) and stands_for(scene.view, row, facts) is not None:
        return True
    return node_behind(scene.request, scene.view, row) is not None


def _is_strange(scene: Scene, row: int) -> bool:
    """Whether it is known who made an object, and the actor is a machine of somebody else's.

    WHY called alike: who makes and who clears away are often two parts of one program.
    """
    return _is_of_others(scene, row) and not _is_alike(scene, row)


def _is_alike(scene: Scene, row: int) -> bool:
    """Whether who made an object and the actor are called alike."""
    made = scene.view.history.created_by(scene.view.uid(row))
    return called_alike(made, scene.actor.user.username)


def _is_of_others(scene: Scene, row: int) -> bool:
    """Whether it is known who made an object, and the actor is a machine that is not that."""
    view, actor = scene.view, scene.actor
    made = view.history.creation(view.uid(row))
    if made is None or actor.kind in CARRIERS or account_of(actor.user.username) is None:
        return False
    if made.operator == actor.operator or view.has_owner(row) or scene.tied(row):
        return False
    # WHY not of data: no source has it, so that its marks are copied from what asked for it.
    if not _is_data(view.resource(row)) and (
        view.targets(row, Edge.PARENT) or any(works_for(scene, one) for one in scene.marks(row))
    ):
        return False
    return not _expires(scene, row)


def left_by_schedule(scene: Scene, resource: Resource, rows: list[int]) -> list[int]:
    """Return the backups that go along with the schedule by which they were made.

    It gets another name, or another hour: nothing says that what was made by it is not wanted.
    """
    view, direct = scene.view, scene.change.direct
    if len(direct) != 1 or direct[0] in rows or not _is_data(resource):
        return []
    return rows if any(word in view.resource(direct[0]).plural for word in CLOCK) else []


def _is_data(resource: Resource) -> bool:
    """Whether objects of a type hold data, which nobody has twice."""
    return is_custom(resource) and resource.plural.endswith(_DATA)


def _expires(scene: Scene, row: int) -> bool:
    """Whether a mark on an object says that it may be cleared away some day."""
    said = dict(scene.view.labels(row))
    if scene.change.direct == (row,):
        said |= annotations_of(scene.request.old_body)
    return any(_EXPIRES.search(mark.rpartition("/")[2].lower()) for mark in said)


def _idle(view: GraphView, row: int) -> bool:
    """Whether an object names others of which the use can be seen, and none of them is in use.

    What is named and not there is in use by nobody.
    """
    named = [
        (one, present)
        for edge in _NAMING
        for one, present in view.targets(row, edge)
        if view.resource(one) in (SECRETS, SERVICES)
    ]
    return bool(named) and not any(present and _used(view, one) for one, present in named)


def _used(view: GraphView, row: int) -> bool:
    """Whether a Service has somebody behind it, or a running pod reads a Secret."""
    if view.resource(row) == SERVICES:
        return view.serving_count(row) > 0
    return is_read(view, row)
