"""ConfigMaps and Secrets that are made again in the moment in which they are deleted.

Beside `nextgenerated`, where the next has another name: here it has the same. Four things tell it.
The past of this very object: the actor made it within a minute of having removed the one before it
under the same name, so that an operator that replaces what it keeps is believed once it was seen
to, while nobody hindered it. The object itself: it is a hook of a release or application, which is
deleted before it is made again, and the actor is who deploys there; or it is immutable, and the
actor made it, which can change it in no other way. Or what names it: one custom
resource that stays, whose operator made it, so that it is issued anew; or, of a ConfigMap, nobody
but workloads of the same custom resource, whose operator is the actor. None is believed any more
once `GAPS` of what the actor took away so within the hour have not come back. Or nothing names it
but who pulls images with it, nobody has marked it for his own, and nothing of the actor's is away.
Or whose it is: a person takes away what the operator of the custom resource that controls it made,
and makes anew as it is missed; a password is changed so. Where nobody saw who made it, that custom
resource has to be there for its sake.

What is lost if it does not come back: pods that run keep what they mounted, and one that starts
waits for what is gone. So its users count as revisions of the past, which is warned about.
LIMIT: an operator that was enforced from its first replacement on was never seen to do it, so that
of a Secret it is not believed; who made what is older than Suture is not known.
Source: history; the hook annotations of Helm and Argo CD; kubelet, see `references`; operators of
monitoring, which make the files of rules anew whenever one of the rules was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from suture.impact.causes.counters import before_users, not_back
from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.records import is_generated
from suture.impact.ground.bodies import annotations_of, is_immutable
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import has_run, runs, works_for
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.graph import GraphView, Use
from suture.model.names import CONFIG_MAPS, SECRETS

AT_ONCE_S: Final = 60
"""LIMIT: within how long a replacement is made: the next call of the same reconcile, and what the
API server and a busy operator may need for it."""

GAPS: Final = 8
"""LIMIT: objects of a type that an operator may have away at a time: those of one reconcile, which
deletes all before it makes all."""

READERS: Final = 16
"""LIMIT: readers of one ConfigMap that are asked whose they are, 1 us each: what more of them read
is made for more than one thing."""

_POLICY: Final = "hook-delete-policy"
_BEFORE: Final = "beforehookcreation"


def is_remade(scene: Scene, row: int, uses: Sequence[Use]) -> bool:
    """Whether a ConfigMap or Secret of these users that is deleted is about to be made again."""
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    resource = view.resource(row)
    if now is None or resource not in (CONFIG_MAPS, SECRETS) or scene.change.direct != (row,):
        return False
    away = scene.counted(not_back(identity, resource))
    return away < GAPS and (
        _was_remade(scene, row)
        or _is_hook(scene, row)
        or _is_fixed(scene, row)
        or _is_issued(scene, row, uses)
        or is_given_anew(scene, row)
        or _is_of_one(scene, row, uses)
        or (not away and _is_token(view, row, uses))
    )


def is_given_anew(scene: Scene, row: int) -> bool:
    """Whether a person deletes what the operator of its controller made, and makes as it is missed.

    WHY a person: a machine that sweeps does not know what is behind it. WHY made by it: what others
    put under a custom resource nobody makes again. WHY few: as of all that a person takes away
    before what reads it, many of them are a sweep.
    """
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    if now is None or account_of(identity) is not None or scene.change.direct != (row,):
        return False
    above, made = view.controller(row), view.history.created_by(view.uid(row))
    if view.resource(row) not in (CONFIG_MAPS, SECRETS) or above < 0 or view.terminating(above):
        return False
    resource = view.resource(above)
    keepers = view.history.habits.keepers(resource)
    return (
        is_custom(resource)
        and (made in keepers if made else bool(keepers) and _stands_for(view, above, row))
        and scene.counted(before_users(identity)) < GAPS
    )


def _stands_for(view: GraphView, above: int, row: int) -> bool:
    """Whether a custom resource is there for the sake of an object: it bears its name, or names it.

    So the request for a certificate or for an entry of a store says which Secret is to hold it.
    """
    return view.name(above) == view.name(row) or any(
        link.row == above and link.edge is Edge.RULE for link in view.needed_by(row)
    )


def _is_token(view: GraphView, row: int, uses: Sequence[Use]) -> bool:
    """Whether images are pulled with it and nothing else, and nobody has marked it for his own.

    So tokens of registries are renewed several times a day, by `kubectl delete` and `create` in one
    namespace after the other. What an engine spreads over namespaces bears labels of that, and it
    brings none of them back.
    Source: kubelet (a pull Secret that is missing is warned about, and the pull tried without it).
    """
    if view.has_owner(row) or view.labels(row):
        return False
    return bool(uses) and all(use.edge is Edge.PULL_SECRET for use in uses)


def _was_remade(scene: Scene, row: int) -> bool:
    """Whether the actor made it in the place of one that it had just removed itself."""
    view, identity = scene.view, scene.actor.user.username
    parent = view.controller(row)
    if parent >= 0 and (view.terminating(parent) or not runs(scene, parent)):
        return False
    made, before = view.history.creation(view.uid(row)), view.history.removed_at(view.key(row))
    if made is None or before is None or before.uid == made.uid:
        return False
    # WHY either way: what was removed is seen to go a moment after it was let through.
    if not made.identity == before.by == identity:
        return False
    return abs(made.at_ns - before.at_ns) <= AT_ONCE_S * 10**9


def _is_hook(scene: Scene, row: int) -> bool:
    """Whether it says that it is deleted before it is made again, to who deploys where it is.

    Who was seen to make it, or to write for a release in its namespace or for its application:
    what hooks leave behind is also cleared away by others, and then it does not come back.
    """
    if not goes_first(annotations_of(scene.request.old_body)):
        return False
    if scene.tied(row) or any(works_for(scene, one) for one in scene.marks(row)):
        return True
    view = scene.view
    works = view.history.habits.works_of(scene.actor.user.username)
    return any(one.namespace == view.namespace(row) for one in works)


def _is_fixed(scene: Scene, row: int) -> bool:
    """Whether nobody can change it, so that whoever made it deletes it to make it anew.

    WHY no generated name: then each content has a name of its own, and the next gets another. WHY
    no mark: what a release or application keeps says itself what it drops.
    Source: core/v1 ConfigMap and Secret, `immutable`.
    """
    view = scene.view
    if is_generated(view.name(row)) or view.has_owner(row) or scene.marks(row):
        return False
    made = view.history.created_by(view.uid(row))
    return made == scene.actor.user.username and is_immutable(scene.request.old_body)


def _is_issued(scene: Scene, row: int, uses: Sequence[Use]) -> bool:
    """Whether the operator of the one custom resource that names it made it, and would again.

    WHY one: what others are made of as well, an authority's key, is not the same when it is issued
    anew. WHY not where the operator itself deletes it: it may have its reasons not to make another.
    """
    view = scene.view
    naming = {use.row for use in uses if use.edge is Edge.RULE}
    made = view.history.creation(view.uid(row))
    if len(naming) != 1 or made is None or made.identity == scene.actor.user.username:
        return False
    (user,) = naming
    resource = view.resource(user)
    return (
        is_custom(resource)
        and made.identity in view.history.habits.keepers(resource)
        and scene.stays(user)
    )


def _is_of_one(scene: Scene, row: int, uses: Sequence[Use]) -> bool:
    """Whether a ConfigMap and all that read it are of one custom resource that the actor keeps.

    It is written out of what the custom resource says, so that it can be written again; a Secret
    may hold what nobody has twice. WHY not under one of this hour: the actor may take it for that
    of one that was there before.
    """
    view = scene.view
    above = view.controller(row)
    if above < 0 or view.resource(row) != CONFIG_MAPS or view.terminating(above):
        return False
    if not has_run(scene, above):
        return False
    readers = [use.row for use in uses if not use.of_pods]
    return 0 < len(readers) <= READERS and all(
        above in view.controllers(one, CLIMBED) for one in readers
    )


def goes_first(annotations: dict[str, str]) -> bool:
    """Whether annotations make an object a hook that is deleted before the next is made.

    SOURCE: Helm `helm.sh/hook-delete-policy`, Argo CD `argocd.argoproj.io/hook-delete-policy`:
    where a hook does not say when it is deleted, it is before the next is made.
    """
    for name in annotations:
        prefix, _, said = name.rpartition("/")
        if prefix and said == "hook":
            policy = annotations.get(f"{prefix}/{_POLICY}", _BEFORE)
            return _BEFORE in policy.lower().replace("-", "")
    return False
