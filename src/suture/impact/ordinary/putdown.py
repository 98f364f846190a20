"""Workloads that a person stops by name, or makes smaller: what is put down can be taken up again.

Beside `stopping`, where an operator does as it was asked. Who retires an application, or leaves a
namespace, scales down what runs there, Deployment by Deployment; nothing is lost that the same
command does not bring back. So it is believed of a person, of one namespace within the hour, or of
a few that are stopped whole, one after the other, and slowly; and of no Service that anything else
is known to need, or that is there for the world outside; and not of what runs wide. Never of a
machine: one that is mistaken is so everywhere. But of an errand: a Job of this hour, which somebody
else made in that namespace, runs as the actor. So a hook of a chart stops what it is about to
migrate or to take away, and what names the Service is of that chart. Who asks the custom resource
that keeps a workload for none of it stops it as well. And of a manifest that set the present size
itself, and nobody after it: it says another one now.
Source: Helm, chart hooks (`pre-upgrade`, `pre-delete`); meta/v1 `managedFields`.

What is lost if it was a slip: the requests to `PUT_DOWN` applications, until their sizes are set
again; or what `CUT_DOWN` workloads have too few pods for, each left a `LEFT`th.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import (
    cut_down,
    kept_up,
    put_down,
    put_down_in,
    spaces_entered,
    stood_still,
)
from suture.impact.causes.sizes import asked_for
from suture.impact.ground.bodies import writers_of_size
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.hands import read_by_name, readers_of
from suture.impact.scene import Scene
from suture.model.actor import account_of, is_person
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.names import DEPLOYMENTS, JOBS, PODS, RESERVED, STATEFUL_SETS, WEBHOOKS
from suture.model.writes import HOUR_S

PUT_DOWN: Final = 12
"""LIMIT: workloads of one namespace that a person may stop within the hour: an application with all
its parts; more of them is a sweep."""

SPACES: Final = 4
"""LIMIT: namespaces in which a person may do so, each of which is left with nothing that serves
before the next: what one tenant has, for development, tests and all that follows."""

APART_S: Final = 30
"""LIMIT: how far apart stops in several namespaces are; a list in a script takes a second each."""

WIDE: Final = 3
"""LIMIT: pods of a workload that is put down in one go; what runs more of them carries load, and
who retires it makes it smaller first."""

CUT_DOWN: Final = 12
"""LIMIT: workloads that a person may make smaller by more than half within the hour."""

CUT_IN_FILES: Final = 5
"""LIMIT: workloads that one actor may make so by manifests: one mistaken value is in all of them,
and who applies them does so for everybody."""

MANY: Final = 2
"""From how many pods on a size was written down."""

LEFT: Final = 5
"""The share of its pods that such a workload keeps, one in so many: ten to two is a size that was
thought of, forty to one is a default."""

RUNS_ASKED: Final = 64
"""LIMIT: pods and Jobs of one account that are asked whether they are an errand, 1 us each."""


def cut_by_hand(scene: Scene, resized: Resized) -> bool:
    """Whether a person orders a smaller size of a workload, and nobody asks for a larger one.

    WHY of the scale alone: a manifest says a size too, of the day on which it was written. It is
    another matter where that was the present one.
    """
    if not is_person(scene.actor.user.username) or scene.request.subresource != "scale":
        return False
    if scene.view.resource(resized.row) not in (DEPLOYMENTS, STATEFUL_SETS):
        return False
    return _may_be_cut(scene, resized, CUT_DOWN)


def cut_by_asking(scene: Scene, resized: Resized) -> bool:
    """Whether a person asks a custom resource for a smaller size of its pods, or of its workload.

    WHY its members too: who runs them takes each out of their number before it goes.
    """
    if not resized.after or not _leaves_enough(scene, resized, CUT_DOWN):
        return False
    view, row = scene.view, resized.row
    keeper = view.controller(row) if resized.asked else row
    if keeper < 0 or not is_custom(view.resource(keeper)) or view.sources(keeper, Edge.SCALES):
        return False
    return _asked_of(scene, keeper)


def cut_by_manifest(scene: Scene, resized: Resized) -> bool:
    """Whether a smaller size of a Deployment is said by the manifest that said the present one.

    Nobody scaled it since, or the size would be theirs. WHY not one: that is what stands where
    nothing is said any more. WHY neither sets nor what is scaled: no manifest knows how they grew.
    """
    view, request, row = scene.view, scene.request, resized.row
    if request.subresource or resized.after < MANY or view.resource(row) != DEPLOYMENTS:
        return False
    if not _may_be_cut(scene, resized, CUT_IN_FILES) or view.sources(row, Edge.SCALES):
        return False
    writers = writers_of_size(request.old_body)
    return len(writers) == 1 and writers_of_size(request.new_body) == writers


def _may_be_cut(scene: Scene, resized: Resized, most: int) -> bool:
    """Whether a workload of which nobody asks for more is left enough, by who cut few others."""
    view, row = scene.view, resized.row
    if resized.asked or view.has_owner(row) or asked_for(view, row) > resized.after:
        return False
    return _leaves_enough(scene, resized, most)


def _leaves_enough(scene: Scene, resized: Resized, most: int) -> bool:
    """Whether a workload keeps its share, and who makes it smaller has cut few others."""
    if scene.now is None or resized.after * LEFT < resized.before:
        return False
    if scene.view.namespace(resized.row).startswith(RESERVED):
        return False
    return scene.counted(cut_down(scene.actor.user.username)) < most


def stopped_by_name(scene: Scene, service: int, resized: Resized) -> bool:
    """Whether a person or an errand stops a workload by its name, and nobody else needs it."""
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    if now is None or resized.after or resized.before > WIDE:
        return False
    row, namespace = resized.row, view.namespace(resized.row)
    by_person = is_person(identity)
    if not by_person and not is_errand(scene, namespace, now):
        return False
    # WHY not what has an owner: that answers for its size, and is what a person would ask.
    asked = _asked_of_keeper(scene, row) if resized.asked else not view.has_owner(row)
    if view.resource(row) not in (DEPLOYMENTS, STATEFUL_SETS) or not asked:
        return False
    if namespace.startswith(RESERVED) or not read_by_name(view, service):
        return False
    here = scene.counted(put_down_in(identity, namespace))
    all_in_all = scene.counted(put_down(identity))
    if all_in_all >= PUT_DOWN:
        return False
    if all_in_all > here and not (by_person and _goes_on(scene, here, now)):
        return False
    readers = readers_of(scene, service)
    return readers is not None and all(
        one == row or (not by_person and _goes_still(scene, row, one)) for one in readers
    )


def _asked_of_keeper(scene: Scene, row: int) -> bool:
    """Whether a person writes the size of a workload into what controls it, which nothing owns."""
    parent = scene.view.controller(row)
    return parent >= 0 and _asked_of(scene, parent)


def _asked_of(scene: Scene, keeper: int) -> bool:
    """Whether it is a person who writes an object, which nothing owns."""
    if keeper != scene.view.find(scene.request.key) or scene.view.has_owner(keeper):
        return False
    return is_person(scene.actor.user.username)


def _goes_on(scene: Scene, here: int, now: Now) -> bool:
    """Whether a person who left namespaces with nothing that serves goes on in one more, slowly.

    So a tenant gives up what it has. Who has the wrong context stops at the first refusal, and a
    script does not wait.
    """
    identity, counted = scene.actor.user.username, scene.view.history.writes.counted
    others = scene.counted(spaces_entered(identity)) - bool(here)
    return (
        others < SPACES
        and scene.counted(stood_still(identity)) >= others
        and not scene.counted(kept_up(identity))
        and not counted(put_down(identity), now, APART_S)
    )


def is_errand(scene: Scene, namespace: str, now: Now) -> bool:
    """Whether a Job of a namespace runs as the actor, which somebody else made within the hour."""
    view, identity = scene.view, scene.actor.user.username
    key = account_of(identity)
    if key is None or key.namespace != namespace or key.name == "default":
        return False
    account = view.find(key)
    if account is None:
        return False
    for one in view.sources(account, Edge.SERVICE_ACCOUNT)[:RUNS_ASKED]:
        job = view.controller(one) if view.resource(one) == PODS else one
        if job < 0 or view.resource(job) != JOBS or view.has_owner(job):
            continue
        made = view.history.creation(view.uid(job))
        if made is not None and made.identity != identity and now.ago_s(made.at_ns) < HOUR_S:
            return True
    return False


def _goes_still(scene: Scene, row: int, reader: int) -> bool:
    """Whether what names a Service is of what keeps the workload, or is judged by itself."""
    if scene.view.resource(reader) in WEBHOOKS:
        return True
    marks = scene.marks(row)
    return any(one in marks for one in scene.marks(reader))
