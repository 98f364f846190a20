"""Nodes that are Ready, and that a machine's hand deletes while the machine that they name lives.

Beside `capacity`, which asks whether what runs there has another place: here the node is closed and
drained, as its end is in order, and only the cause for it is another's. Names of nodes come of
addresses, and are given again: a controller that looks the node of a stale machine up by its name
takes that of the machine which has the name now. Told by an annotation of the node's own,
`<group>/<kind>`, that says name, or namespace and name, of a custom resource which is there.
WHY no person: who takes a node out knows why. WHY not what a finalizer keeps: it is drained first,
and its keeper lets its machine go with it.
LIMIT: of what is in this cluster; machines are often kept in another, and then nothing is known.
Which node a machine's status names is not in the model.
Source: annotations of nodes by cluster managers, as `cluster.x-k8s.io/machine`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.machines import holder
from suture.impact.scene import Scene
from suture.model.actor import CARRIERS, account_of
from suture.model.graph import GraphView
from suture.model.names import ObjectKey, Resource, plural_of
from suture.model.objects import CustomFacts, Ended, NodeFacts

MACHINES_ASKED: Final = 2_000
"""LIMIT: machines that are looked through for a name where no namespace is said, 0.3 us each."""

_NAMESPACE: Final = "namespace"


def has_living_machine(scene: Scene, row: int) -> bool:
    """Whether a Ready node is deleted by its name while a machine that it names lives and is well.

    One that has failed is about to be replaced, and one that goes takes its node along.
    """
    view, actor, facts = scene.view, scene.actor, scene.view.facts(row)
    if scene.change.direct != (row,) or not isinstance(facts, NodeFacts) or not facts.ready:
        return False
    if actor.kind in CARRIERS or account_of(actor.user.username) is None or holder(view, row):
        return False
    notes = annotations_of(scene.request.old_body)
    return any(_lives(scene, one) for one in _named(view, notes))


def _named(view: GraphView, notes: dict[str, str]) -> Iterator[int]:
    """Yield the custom resources that annotations of a node name by their kind."""
    for note, said in notes.items():
        group, _, kind = note.rpartition("/")
        resource = Resource(group, plural_of(kind))
        if not group or not said or not is_custom(resource) or not view.count(resource):
            continue
        space, _, name = said.rpartition("/")
        spaces = [space] if space else list(_spaces(notes, group))
        if spaces:
            found = (view.find(ObjectKey(resource, one, name)) for one in spaces)
            yield from (one for one in found if one is not None)
        else:
            rows = view.rows(resource)[:MACHINES_ASKED]
            yield from (one for one in rows if view.name(one) == name)


def _spaces(notes: dict[str, str], group: str) -> Iterator[str]:
    """Yield the namespaces that annotations of a group say."""
    for note, said in notes.items():
        prefix, _, word = note.rpartition("/")
        if prefix == group and word.endswith(_NAMESPACE):
            yield said


def _lives(scene: Scene, machine: int) -> bool:
    facts = scene.view.facts(machine)
    return scene.stays(machine) and isinstance(facts, CustomFacts) and facts.ended is Ended.NO
