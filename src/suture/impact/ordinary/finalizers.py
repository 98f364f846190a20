"""Finalizers that somebody takes off: whose they are, and what they were there to protect.

A finalizer is a promise of one controller to finish something first. Taken off by another, the
object goes and that something never happens.
Source: Kubernetes' own finalizers, each named below; for all others the name is prefixed with the
domain of whoever made it (meta/v1 ObjectMeta.finalizers).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.explained import in_use
from suture.impact.causes.parents import in_work
from suture.impact.effects import FinalizerRemoved
from suture.impact.ground.bodies import namespace_finalizers, node_named
from suture.impact.ground.builtin import BUILT_IN, INSTANCES, NAMESPACE_CONTENT
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.claims import PROTECTION
from suture.impact.ground.inventory import DELETES
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.likeness import called_alike
from suture.impact.scene import Scene, victim_of
from suture.model.actor import SERVICE_ACCOUNT, Actor, IdentityKind, is_person
from suture.model.edges import Edge
from suture.model.facts import SnapshotFacts
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    NAMESPACES,
    NODES,
    SNAPSHOT_CONTENTS,
    SNAPSHOTS,
    STATEFUL_SETS,
    VOLUMES,
    ObjectKey,
)
from suture.model.objects import LOAD_BALANCER, CrdFacts, CustomFacts, NodeFacts, ServiceFacts

SOURCE_PROTECTION: Final = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
"""SOURCE: kubernetes-csi/external-snapshotter, `PVCFinalizer`."""

DATA: Final = frozenset({CLAIMS, VOLUMES, SNAPSHOTS, SNAPSHOT_CONTENTS, STATEFUL_SETS})


def lifts_finalizers(change: Change) -> bool:
    """Whether a change takes a finalizer off an object, or off a namespace's own list."""
    made = change.rewritten
    if made is None or made.before is None:
        return False
    return made.before.finalizers != made.after.finalizers or (
        made.after.key.resource == NAMESPACES and "spec" in made.parts
    )


def finalizer_effects(scene: Scene) -> Iterable[FinalizerRemoved]:
    """Return the finalizers that a change takes off."""
    made = scene.change.rewritten
    if made is None or made.before is None:
        return
    kept = frozenset(made.after.finalizers)
    lifted = [one for one in made.before.finalizers if one not in kept]
    if scene.request.subresource == "finalize" and "spec" in made.parts:
        lifted += _of_namespace(scene.request.old_body, scene.request.new_body)
    if not lifted:
        return
    view = scene.view
    data = _data(view, made) or _is_outside(made) or _has_node(scene, made)
    going = made.after.terminating or made.before.terminating
    # WHY: one controller may set it, and the one that does the work take it off.
    finishes = scene.actor.user.username in view.history.habits.keepers(made.after.key.resource)
    for finalizer in lifted:
        owner, by_owner = owner_of(view, finalizer, scene.actor)
        yield FinalizerRemoved(
            target=victim_of(made.after),
            finalizer=finalizer,
            owner=owner,
            by_owner=by_owner or (going and finishes),
            terminating=going,
            remaining=_remaining(view, made, finalizer),
            data=data and not _has_served(view, made, finalizer),
        )


def owner_of(view: GraphView, finalizer: str, actor: Actor) -> tuple[str, bool]:
    """Return who is known to remove a finalizer, in words, and whether the actor is that.

    Beside those who were seen to set or remove it, an identity that is called like the finalizer is
    taken for its owner. Where nobody is known, only a user is none, that no service account is:
    people are no controllers.
    """
    identity = actor.user.username
    built_in = BUILT_IN.get(finalizer)
    if built_in is not None:
        return built_in[0].removeprefix(SERVICE_ACCOUNT), identity in built_in
    known = view.history.habits.lifters(finalizer)
    if known:
        own = identity in known or called_like(actor, finalizer)
        return min(known).removeprefix(SERVICE_ACCOUNT), own
    # WHY not whether it is enrolled: a person who is enforced stays one, and controllers that come
    # as users are called after what they do.
    own = called_like(actor, finalizer) or not (
        actor.kind is IdentityKind.PERSON or is_person(identity)
    )
    return f"the controller of {finalizer}", own


def called_like(actor: Actor, name: str) -> bool:
    """Whether an actor is called like a domain or kind.

    No person is: that people and definitions are of one company says nothing.
    """
    return actor.kind is not IdentityKind.PERSON and called_alike(name, actor.user.username)


def _of_namespace(old_body: bytes, new_body: bytes) -> list[str]:
    """Return what is taken off a namespace's own list, which only `finalize` can change."""
    kept = namespace_finalizers(new_body)
    return [one for one in namespace_finalizers(old_body) if one not in kept]


def _remaining(view: GraphView, made: Rewritten, finalizer: str) -> int:
    """Return what a finalizer still waits for inside a namespace or of a definition."""
    key, facts = made.after.key, made.after.facts
    if key.resource == NAMESPACES and finalizer == NAMESPACE_CONTENT:
        return len(view.members(key.name))
    if finalizer == INSTANCES and isinstance(facts, CrdFacts):
        return view.count(facts.resource)
    return 0


def _has_served(view: GraphView, made: Rewritten, finalizer: str) -> bool:
    """Whether a claim's protection has nothing to wait for: the claim is going, and nobody uses it.

    Its own controller would lift it at once; the end of the claim was weighed as that. A claim that
    is protected as a source is used by a snapshot that is still being taken of it.
    """
    going = made.before is not None and made.before.terminating
    if finalizer not in (PROTECTION, SOURCE_PROTECTION) or not going or made.row is None:
        return False
    if in_work(view, made.row):
        return False
    return finalizer == PROTECTION or not any(
        isinstance(taken := view.facts(one), SnapshotFacts) and not taken.ready
        for one in view.sources(made.row, Edge.SNAPSHOT_SOURCE)
    )


def _is_outside(made: Rewritten) -> bool:
    """Whether something outside goes with an object, by its own word.

    A load balancer has an address as long as it is one. WHY not of one that goes: where nobody is
    left who would give it back, people let it go.
    """
    match made.after.facts:
        case CustomFacts(outside=outside):
            return outside.lower() in DELETES
        case ServiceFacts(type=kind, addresses=addresses):
            return kind == LOAD_BALANCER and bool(addresses) and not made.after.terminating
        case _:
            return False


def _has_node(scene: Scene, made: Rewritten) -> bool:
    """Whether a custom resource's status says which node it became, and that is there and Ready."""
    if not is_custom(made.after.key.resource):
        return False
    view, name = scene.view, node_named(scene.request.old_body)
    node = view.find(ObjectKey(NODES, "", name)) if name else None
    facts = view.facts(node) if node is not None else None
    return isinstance(facts, NodeFacts) and facts.ready


def _data(view: GraphView, made: Rewritten) -> bool:
    """Whether what a finalizer protects holds data: itself, what it owns, a volume of its name."""
    key, row = made.after.key, made.row
    if key.resource in {CLAIMS, VOLUMES}:
        return row is not None and (key.resource == VOLUMES or in_use(view, row))
    if key.resource in DATA:
        return True
    if key.resource == NAMESPACES:
        return bool(view.rows(CLAIMS, key.name))
    if view.find(ObjectKey(VOLUMES, "", key.name)) is not None:
        return True
    if row is None:
        return False
    return any(
        view.resource(child) in DATA and not view.gone(child) for child in view.children_of(row)
    )
