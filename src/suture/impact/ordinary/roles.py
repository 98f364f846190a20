"""The roles of members, which labels tell: whether a pod's change of labels is a change of role.

Apart from `selection`, which tells who is selected: a failover takes the label of the first member
away and gives it to the next, and for a moment nobody bears it. Who takes it from one set after the
other and gives it to nobody does something else.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Final

from suture.impact.causes.recent import emptied_by
from suture.impact.ground.change import Rewritten
from suture.impact.ordinary.keepers import is_own, keeps
from suture.impact.rollout import pods_under
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.history import LATELY_S
from suture.model.names import PODS
from suture.model.writes import HOUR_S

MEMBERS_ASKED: Final = 16
"""LIMIT: members beside a pod that are asked whether they bear its new role; a set whose members
have roles has three or five."""

UNNAMED: Final = "default"
"""The account of pods that name none."""

VACANCIES: Final = 3
"""LIMIT: roles that one actor may leave without a bearer at a time: the next that it moves waits.
Members fail over a set or two at a time, or all those of one node, and each within moments."""


def moves_role(scene: Scene, made: Rewritten) -> bool:
    """Whether a pod's new labels give it another role among the members of its set.

    Its keeper may give it any. From others it is believed where the pod becomes what a Ready
    member beside it has been for an hour: each label that changes is left with that one's value.
    Of neither where the roles that the actor moved before have found nobody yet.
    """
    row = made.row
    if row is None or made.before is None or made.after.key.resource != PODS:
        return False
    if not (keeps_pod(scene, row) or _joins_others(scene, row, made)):
        return False
    return _vacancies(scene, row, made) < VACANCIES


def keeps_pod(scene: Scene, pod: int) -> bool:
    """Whether the actor keeps a pod: it made it, runs its kind of maker, or is a member beside it.

    A member, too, is who writes as the account under which the pod runs. Who keeps members moves
    their roles by label, one after the other: that is a failover.
    """
    if is_own(scene, pod):
        return True
    view, maker = scene.view, root_of(scene.view, pod)
    if keeps(scene, view.resource(maker)) or _runs_as(scene, pod):
        return True
    beside = view.find_uid(scene.actor.pod_uid) if scene.actor.pod_uid else None
    return beside is not None and root_of(view, beside) == maker


def _runs_as(scene: Scene, pod: int) -> bool:
    """Whether the actor is the account under which a pod runs, given to it by name.

    WHY not `default`: every pod of its namespace runs so that says nothing.
    """
    account = account_of(scene.actor.user.username)
    return (
        account is not None
        and account.name != UNNAMED
        and any(
            scene.view.key(one) == account
            for one, _ in scene.view.targets(pod, Edge.SERVICE_ACCOUNT)
        )
    )


def steps_back(scene: Scene, pods: Collection[int]) -> bool:
    """Whether the actor is the account of some members, of each of which another is Ready.

    So a leader that steps back takes itself out of the Endpoints that its clients follow, and the
    next puts itself in.
    """
    return bool(pods) and all(
        _runs_as(scene, pod) and any(map(scene.view.serves, _beside(scene.view, pod)))
        for pod in pods
    )


def _vacancies(scene: Scene, pod: int, made: Rewritten) -> int:
    """Return how many pods the actor labelled within the hour out of Services that are empty yet.

    None where the write empties no Service, and where the pod takes over: of the other members none
    could bear what it gives up, or the role that it is given has nobody.
    """
    view, now = scene.view, scene.now
    emptied = emptied_by(view, made) if now is not None else []
    if now is None or not emptied or not _has_bearer(view, pod) or _takes_over(view, pod, made):
        return 0
    mine = {view.uid(one) for one in emptied}
    identity = scene.actor.user.username
    left = {
        bearer
        for service, bearer, ago_s in view.history.writes.vacant(identity, now, HOUR_S)
        if service not in mine and _is_vacant(view, service, bearer, ago_s)
    }
    return len(left)


def _is_vacant(view: GraphView, service: str, bearer: str, ago_s: int) -> bool:
    """Whether a Service that a pod left is still empty, though a member of its set could serve.

    Both by their uids. Not where the Service or the pod is gone.
    """
    row, pod = view.find_uid(service), view.find_uid(bearer)
    if row is None or pod is None or view.terminating(row):
        return False
    # WHY not the pod: what was let through a moment ago the model may not show yet.
    seen = [one for one in view.pods_of(row) if one != pod or ago_s >= LATELY_S]
    return not any(map(view.serves, seen)) and _has_bearer(view, pod)


def _takes_over(view: GraphView, pod: int, made: Rewritten) -> bool:
    """Whether a member of several comes to serve behind a Service that has none."""
    had = set(view.services_of(pod))
    joined = (one for one in view.services_selecting(made.after) if one not in had)
    return bool(_beside(view, pod)) and any(not view.serving_count(one) for one in joined)


def _has_bearer(view: GraphView, pod: int) -> bool:
    """Whether another member of a pod's set is Ready; of a set of one, itself."""
    return any(map(view.serves, _beside(view, pod) or [pod]))


def _beside(view: GraphView, pod: int) -> list[int]:
    """Return the members of a pod's set but itself, as many as are asked."""
    maker = view.controller(pod)
    members = pods_under(view, maker) if maker >= 0 else ()
    return list(islice((one for one in members if one != pod), MEMBERS_ASKED))


def _joins_others(scene: Scene, pod: int, made: Rewritten) -> bool:
    before, after = (one.labels if one else {} for one in (made.before, made.after))
    changed = [key for key in {*before, *after} if before.get(key) != after.get(key)]
    # WHY a value: a label that is merely taken off is no role; the next loses it the same way.
    if scene.now is None or not all(key in after for key in changed):
        return False
    view = scene.view
    maker = view.controller(pod)
    if maker < 0:
        return False
    beside = [one for one in pods_under(view, maker) if one != pod and view.serves(one)]
    return any(
        all(view.labels(one).get(key) == after[key] for key in changed)
        # WHY lately: who relabels all pods one by one leaves the last with what the others have.
        and not scene.written(one)
        for one in beside[:MEMBERS_ASKED]
    )


def root_of(view: GraphView, row: int) -> int:
    """Return what stands behind an object: the last of its controllers, or itself."""
    seen = {row}
    while True:
        # WHY what says it first: pods whose controller is gone are of one maker still.
        said = (one.row for one in view.owners(row) if one.controller)
        above = next(said, view.controller(row))
        if above < 0 or above in seen:
            return row
        seen.add(above)
        row = above
