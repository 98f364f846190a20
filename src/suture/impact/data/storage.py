"""Data that would be lost: claims, volumes and snapshots that go, and what is left of their data.

Pure. Tells what is deleted with a claim (its volume's reclaim policy), who uses it, and whether a
copy stays: a snapshot, or a sibling of the same StatefulSet or parent. An attachment that goes, and
a volume that forgets its claim, erase nothing and take the data from those who use it.
Source: persistentvolume-controller (a claim's end releases its volume, which then goes or stays by
`persistentVolumeReclaimPolicy`); pvc-protection (a claim in use by pods waits for them);
snapshot.storage.k8s.io (`deletionPolicy` of the content); storage.k8s.io VolumeAttachment (the
driver detaches the volume when it goes, mounted or not).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from suture.impact.causes.leftout import left_out
from suture.impact.causes.parents import answering_owner, attached, mounting, statefulset_of
from suture.impact.causes.sizes import asked_for, resize_explained
from suture.impact.data.hooked import is_spent_hook
from suture.impact.data.lastgood import is_last_good
from suture.impact.data.ofbackup import is_of_expired, is_of_kept
from suture.impact.effects import Confidence, DataLost
from suture.impact.ground.bodies import claim_uid
from suture.impact.ground.change import Change, Resized
from suture.impact.ground.claims import PROTECTION
from suture.impact.ordinary.brokenmember import of_broken_member
from suture.impact.ordinary.hands import made_lately, of_own_set
from suture.impact.scene import Scene
from suture.model.actor import account_of, is_person
from suture.model.edges import Edge
from suture.model.facts import RELEASED, RETAIN, SnapshotContentFacts, VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    PODS,
    SNAPSHOT_CONTENTS,
    SNAPSHOTS,
    VOLUME_ATTACHMENTS,
    VOLUMES,
    ObjectKey,
)
from suture.model.objects import ClaimFacts, ClusterObject, NodeFacts, WorkloadFacts
from suture.model.placement import OUT_OF_SERVICE

HOLDERS: Final = frozenset({CLAIMS, VOLUMES, SNAPSHOTS, SNAPSHOT_CONTENTS, VOLUME_ATTACHMENTS})
"""Kinds that stand for data."""

DETACHING: Final = frozenset({OUT_OF_SERVICE, "node.kubernetes.io/unreachable"})
"""Taints of a node from which volumes are detached, whatever runs there.
SOURCE: core/v1 TaintNodeOutOfService, TaintNodeUnreachable."""

DELETE, NONE = "Delete", ""


def data_effects(scene: Scene) -> Iterable[DataLost]:
    """Yield what each claim, volume and snapshot that goes would take along."""
    siblings = Siblings(scene)
    for row in scene.kinds.get(CLAIMS, ()):
        yield _claim(scene, row, siblings)
    for row in scene.kinds.get(VOLUMES, ()):
        yield _volume(scene, row)
    for row in scene.kinds.get(SNAPSHOTS, ()):
        yield _snapshot(scene, row, _content_of(scene.view, row))
    for row in scene.kinds.get(SNAPSHOT_CONTENTS, ()):
        yield _snapshot(scene, row, row)
    for row in scene.kinds.get(VOLUME_ATTACHMENTS, ()):
        yield from _attachment(scene, row)


def releases(change: Change) -> bool:
    """Whether a change rewrites a volume, which may forget its claim."""
    made = change.rewritten
    return made is not None and made.before is not None and made.after.key.resource == VOLUMES


def release_effects(scene: Scene) -> Iterable[DataLost]:
    """Yield a volume that forgets a claim that is bound to it: the claim is lost with its data.

    Or only which life of the claim it was: then it is bound to none, and the claim to no volume.
    Source: persistentvolume-controller `syncBoundClaim` (a volume of another uid is another's).
    """
    made = scene.change.rewritten
    if made is None or made.row is None or made.before is None or made.row in scene.removed:
        return
    view, volume = scene.view, made.after.key.name
    had, kept = _claims_named(made.before), _claims_named(made.after)
    life = claim_uid(scene.request.old_body)
    if life == claim_uid(scene.request.new_body):
        had -= kept
    for key in had:
        claim = view.find(key)
        facts = view.facts(claim) if claim is not None else None
        if claim is None or not isinstance(facts, ClaimFacts) or facts.volume != volume:
            continue
        # WHY: what is bound to no life of it yet is about to be, and to another's is lost already.
        if key in kept and life != view.uid(claim):
            continue
        copies = snapshots_of(scene, claim)
        yield DataLost(
            holder=scene.victim(made.row),
            volume=volume,
            reclaim=RETAIN,
            bound=facts.bound,
            mounted=len(mounting(view, claim)),
            copies=copies,
            last_copy=facts.bound and not copies,
            explained=view.terminating(claim),
            reversible=True,
        )


def erased_effects(scene: Scene) -> Iterable[DataLost]:
    """Yield a volume that was kept after its claim went, and is set to be deleted: it is at once.

    Not by a person, who knows what it was; nor where the claim was seen to go by another, who gave
    its data up, or a snapshot of it stays.
    Source: persistentvolume-controller `reclaimVolume` (of what is Released).
    """
    made = scene.change.rewritten
    if made is None or made.row is None or made.before is None or made.row in scene.removed:
        return
    had, has = made.before.facts, made.after.facts
    if not isinstance(had, VolumeFacts) or not isinstance(has, VolumeFacts):
        return
    if had.phase != RELEASED or had.reclaim != RETAIN or has.reclaim != DELETE:
        return
    identity, history = scene.actor.user.username, scene.view.history
    ends = [history.removed_at(key) for key in _claims_named(made.before)]
    given_up = any(end is not None and end.by != identity for end in ends)
    yield DataLost(
        holder=scene.victim(made.row),
        volume=made.after.key.name,
        reclaim=DELETE,
        bound=True,
        mounted=0,
        copies=0,
        last_copy=True,
        explained=given_up or is_person(identity),
        reversible=False,
    )


def _claims_named(volume: ClusterObject) -> set[ObjectKey]:
    return {one.target for one in volume.needs if one.edge is Edge.BOUND_CLAIM}


def _attachment(scene: Scene, row: int) -> Iterable[DataLost]:
    """Yield an attachment that goes while pods of its node use the volume.

    WHY explained on a node that is not well: to detach is how its volumes come to live elsewhere.
    """
    view = scene.view
    nodes, pods = attached(view, row)
    well = any(_is_well(view, node) for node in nodes)
    for volume, _ in view.targets(row, Edge.VOLUME):
        claims = view.there(volume, Edge.BOUND_CLAIM)
        copies = sum(snapshots_of(scene, claim) for claim in claims)
        yield DataLost(
            holder=scene.victim(row),
            volume=view.name(volume),
            reclaim=RETAIN,
            bound=bool(claims),
            mounted=len(pods),
            copies=copies,
            last_copy=bool(claims) and not copies,
            direct=row in scene.direct,
            explained=not well or scene.causes.explains(row),
            reversible=True,
        )


def _is_well(view: GraphView, node: int) -> bool:
    """Whether a node is there, Ready, and in service."""
    facts = view.facts(node)
    return (
        isinstance(facts, NodeFacts)
        and facts.ready
        and not any(taint.key in DETACHING for taint in facts.taints)
        and not (view.gone(node) or view.terminating(node))
    )


def _claim(scene: Scene, row: int, siblings: Siblings) -> DataLost:
    view = scene.view
    facts = view.facts(row)
    known = isinstance(facts, ClaimFacts)
    bound = isinstance(facts, ClaimFacts) and facts.bound
    volume = facts.volume if isinstance(facts, ClaimFacts) else ""
    held = view.find(ObjectKey(VOLUMES, "", volume)) if volume else None
    handed = held is not None and _is_handed_over(scene, held, row)
    # WHY: the end of a claim releases the volume that names it, and no other.
    reclaim = RETAIN if handed else reclaim_of(view, held)
    pods = mounting(view, row)
    staying = [pod for pod in pods if pod not in scene.removed]
    # WHY: that a Job is over says nothing of those who work with what it has made.
    shed = _is_shed(scene, row)
    from_under = bool(staying) and row not in scene.direct and not shed
    copies = snapshots_of(scene, row) + (siblings.of(row) if bound else 0)
    return DataLost(
        holder=scene.victim(row),
        volume=volume,
        reclaim=reclaim,
        bound=bound,
        mounted=len(pods),
        copies=copies,
        last_copy=bound and not (copies or handed),
        stuck=bool(staying) and PROTECTION in view.finalizers(row),
        direct=row in scene.direct or from_under,
        explained=view.terminating(row)
        if from_under
        else (handed and not pods)
        or scene.causes.explains(row)
        or shed
        or of_broken_member(scene, row)
        or is_spent_hook(scene, row)
        or (row in scene.direct and of_own_set(scene, row)),
        reversible=not bound or reclaim == RETAIN,
        confidence=Confidence.EXACT if known and (reclaim or not bound) else Confidence.UNKNOWN,
    )


def _is_shed(scene: Scene, claim: int) -> bool:
    """Whether a StatefulSet gives a claim up for its size, as it was told to do with its claims.

    At least half of it stays, only the pod that goes uses the claim, and a person makes the set
    smaller whom no parent contradicts, or what keeps or sizes it says so.
    WHY half: less is hardly ever meant of what holds data. WHY no machine by its own word: of that
    it is not known whether the number is a default that came back.
    """
    view, resized = scene.view, scene.change.resized
    if resized is None or not 0 < resized.before <= 2 * resized.after:
        return False
    found = statefulset_of(view, view.key(claim))
    if found is None or found[0] != resized.row or found[1] < resized.after:
        return False
    name = f"{view.name(resized.row)}-{found[1]}"
    if any(view.name(pod) != name for pod in mounting(view, claim)):
        return False
    if account_of(scene.actor.user.username) is None and not _contradicted(view, resized):
        return True
    return resize_explained(view, resized.row, resized.after)


def _contradicted(view: GraphView, resized: Resized) -> bool:
    """Whether what keeps or sizes a workload asks for more than it is to have."""
    return asked_for(view, resized.row) > resized.after


def _is_handed_over(scene: Scene, volume: int, claim: int) -> bool:
    """Whether a volume names another claim, which is there and stays: what filled it is done."""
    view = scene.view
    named = view.targets(volume, Edge.BOUND_CLAIM)
    return bool(named) and all(
        present and one != claim and scene.stays(one) for one, present in named
    )


def reclaim_of(view: GraphView, volume: int | None) -> str:
    """Return what becomes of a volume once its claim is gone; empty where that is not known."""
    facts = view.facts(volume) if volume is not None else None
    return facts.reclaim if isinstance(facts, VolumeFacts) else NONE


def snapshots_of(scene: Scene, row: int) -> int:
    """Return how many snapshots of a claim stay, if only by the content behind them."""
    view = scene.view
    return sum(
        view.resource(one) == SNAPSHOTS and _lasts(scene, one)
        for one in dict.fromkeys(view.sources(row, Edge.SNAPSHOT_SOURCE))
    )


def is_kept_elsewhere(scene: Scene, row: int) -> bool:
    """Whether an object is a claim that no pod mounts, and of which a snapshot stays."""
    if scene.view.resource(row) != CLAIMS or mounting(scene.view, row):
        return False
    return snapshots_of(scene, row) > 0


def _lasts(scene: Scene, snapshot: int) -> bool:
    """Whether a snapshot stays, or goes and leaves its content, from which another can be made."""
    view = scene.view
    if scene.stays(snapshot):
        return True
    content = _content_of(view, snapshot)
    facts = view.facts(content) if content is not None else None
    return (
        content is not None
        and isinstance(facts, SnapshotContentFacts)
        and facts.deletion == RETAIN
        and scene.stays(content)
    )


def _volume(scene: Scene, row: int) -> DataLost:
    view = scene.view
    facts = view.facts(row)
    bound = isinstance(facts, VolumeFacts) and facts.phase == "Bound"
    claims = view.there(row, Edge.BOUND_CLAIM)
    pods = [pod for claim in claims for pod in mounting(view, claim)]
    copies = sum(snapshots_of(scene, claim) for claim in claims)
    reclaim = reclaim_of(view, row)
    staying = [one for one in claims if one not in scene.removed]
    return DataLost(
        holder=scene.victim(row),
        volume=view.name(row),
        reclaim=reclaim,
        bound=bound,
        mounted=len(pods),
        copies=copies,
        last_copy=bound and not copies,
        # WHY: pv-protection keeps a volume for as long as a claim is bound to it.
        stuck=bound and bool(staying),
        direct=row in scene.direct,
        explained=scene.causes.explains(row),
        # WHY: a delete of the object alone leaves what is behind it, unless it is the policy's.
        reversible=reclaim == RETAIN,
    )


def _content_of(view: GraphView, snapshot: int) -> int | None:
    contents = view.there(snapshot, Edge.SNAPSHOT_CONTENT)
    bound = [
        one
        for one in view.sources(snapshot, Edge.BOUND_SNAPSHOT)
        if view.resource(one) == SNAPSHOT_CONTENTS
    ]
    return next(iter((*contents, *bound)), None)


def names_only(scene: Scene, content: int) -> bool:
    """Whether the content of a snapshot is a name that the actor gave it within the day.

    It does so to read what is outside once more, or to erase it. The content of a snapshot that is
    taken of a claim its driver makes.
    """
    return scene.view.resource(content) == SNAPSHOT_CONTENTS and made_lately(scene, content)


def _snapshots_of(view: GraphView, content: int) -> list[int]:
    """Return the snapshots whose content this is; only they name what it was taken of."""
    bound = view.there(content, Edge.BOUND_SNAPSHOT)
    return [*bound, *view.sources(content, Edge.SNAPSHOT_CONTENT)]


def _snapshot(scene: Scene, row: int, content: int | None) -> DataLost:
    view = scene.view
    facts = view.facts(content) if content is not None else None
    policy = facts.deletion if isinstance(facts, SnapshotContentFacts) else NONE
    heads = _snapshots_of(view, row) if content == row else [row]
    # WHY no copy then: the snapshot that stays is of another hour than whatever else there is.
    wanted = content == row and any(map(scene.stays, heads))
    sources = [
        one
        for head in (() if wanted else heads)
        for one in view.there(head, Edge.SNAPSHOT_SOURCE)
        # WHY not its content: one that was there first is what it stands for, and no copy of that.
        if one != content and scene.stays(one)
    ]
    others = {
        one
        for source in sources
        for one in view.sources(source, Edge.SNAPSHOT_SOURCE)
        if one != row and one not in scene.removed
    }
    return DataLost(
        holder=scene.victim(row),
        volume="" if content is None else view.name(content),
        reclaim=policy,
        bound=content is not None,
        mounted=0,
        copies=len(sources) + len(others),
        last_copy=not (sources or others) or is_of_kept(scene, row) or is_last_good(scene, row),
        direct=row in scene.direct,
        explained=scene.causes.explains(row)
        or (content is not None and names_only(scene, content))
        or is_of_expired(scene, row),
        reversible=policy == RETAIN,
        confidence=Confidence.EXACT if policy else Confidence.UNKNOWN,
    )


class Siblings:
    """Bound claims of the same set that stay, each set looked up once."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._known: dict[int, int] = {}
        self._stems: dict[str, Counter[str]] = {}

    def of(self, claim: int) -> int:
        """Return how many claims beside this one hold data of the same set.

        A set is a StatefulSet, whose claims are named after it, or what owns the claim, where that
        StatefulSet is gone, or goes next.
        """
        view = self._scene.view
        key = view.key(claim)
        found = statefulset_of(view, key)
        own = self._staying(key.namespace)[_stem(key.name)] if found is not None else 0
        if own or (found is not None and not _is_over(view, found[0])):
            return own
        return self._of_owner(claim)

    def _staying(self, namespace: str) -> Counter[str]:
        """Return how many claims of a namespace stay, by what their names have in common."""
        stems = self._stems.get(namespace)
        if stems is None:
            view = self._scene.view
            staying = filter(self._stays, view.rows(CLAIMS, namespace))
            stems = self._stems[namespace] = Counter(_stem(view.name(one)) for one in staying)
        return stems

    def _of_owner(self, claim: int) -> int:
        view = self._scene.view
        answering = answering_owner(view, claim)
        owner = -1 if answering is None else answering.row
        if owner < 0 or view.resource(owner) == PODS:
            return 0
        if owner not in self._known:
            self._known[owner] = sum(
                view.resource(one) == CLAIMS and self._stays(one) for one in view.children_of(owner)
            )
        return self._known[owner]

    def _stays(self, row: int) -> bool:
        view = self._scene.view
        if not self._scene.stays(row) or view.gone(row):
            return False
        facts = view.facts(row)
        return isinstance(facts, ClaimFacts) and facts.bound


def _is_over(view: GraphView, row: int) -> bool:
    """Whether a StatefulSet wants no pods, and its custom resource has left it out for good.

    WHY both: one that is only stopped comes back to its data; one that is left out and wants pods
    has not handed on what it holds.
    """
    facts = view.facts(row)
    return isinstance(facts, WorkloadFacts) and facts.replicas == 0 and left_out(view, row)


def _stem(name: str) -> str:
    """Return what the claims of one template of a StatefulSet have in common: all but a number."""
    return name.rpartition("-")[0]
