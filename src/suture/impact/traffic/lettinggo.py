"""What Services lose by the hand of who keeps them, and who may let it go.

Beside `serving`, which tells what they lose: here who takes it away says whether anybody misses it.
Pure.
"""

from __future__ import annotations

from collections.abc import Collection

from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.hands import (
    given_up,
    member_replaced,
    own_of_the_day,
    readers_of,
)
from suture.impact.ordinary.onebyone import goes_alone
from suture.impact.ordinary.renamed import is_moved
from suture.impact.ordinary.stopping import goes_for_next
from suture.impact.scene import Scene
from suture.impact.traffic.networkpolicies import is_dns
from suture.model.names import PODS, SERVICES
from suture.model.objects import ServiceFacts
from suture.model.writes import HOUR_S


def let_go(scene: Scene, service: int, things: Collection[int]) -> bool:
    """Whether what a Service loses is let go of by who keeps it, and may be."""
    if (
        given_up(scene, service, things)
        or goes_alone(scene, things)
        or _moved(scene, service, things)
        or _kept_altogether(scene, service, things)
        or _of_errand(scene, service, things)
    ):
        return True
    if len(things) != 1:
        return False
    (thing,) = things
    if goes_for_next(scene, thing):
        return True
    parent = scene.view.controller(service)
    # WHY the Service too: it is the member's own, which the next member does not answer for.
    return parent >= 0 and parent == scene.view.controller(thing) and member_replaced(scene, thing)


def _moved(scene: Scene, service: int, things: Collection[int]) -> bool:
    """Whether the actor made a Service, and what it loses, anew in another namespace.

    Nothing is known to name the one of before, nor is it there for the world or the whole cluster.
    """
    facts = scene.view.facts(service)
    return (
        bool(things)
        and isinstance(facts, ServiceFacts)
        and facts.type == "ClusterIP"
        and all(is_moved(scene, row) for row in (service, *things))
        and not is_dns(scene.view, service)
        and readers_of(scene, service) == []
    )


def _kept_altogether(scene: Scene, service: int, things: Collection[int]) -> bool:
    """Whether the actor made a Service and the pods that it loses, and no controller keeps those.

    So the host has what runs in a virtual cluster: who brought it knows alone when it ends. How
    many pods it may take away at a time, counts tell.
    """
    view, identity = scene.view, scene.actor.user.username
    return bool(things) and all(
        view.history.created_by(view.uid(one)) == identity
        and view.controller(one) < 0
        and view.resource(one) == (SERVICES if one == service else PODS)
        for one in (service, *things)
    )


def _of_errand(scene: Scene, service: int, things: Collection[int]) -> bool:
    """Whether the actor made a Service, its pods and its readers for one custom resource, just now.

    So an order of a certificate is answered for, and what answered goes when it was heard.
    """
    view = scene.view
    parent = view.controller(service)
    return (
        bool(things)
        and parent >= 0
        and is_custom(view.resource(parent))
        and all(
            view.controller(one) == parent
            and view.resource(one) == PODS
            and scene.made(one, HOUR_S)
            for one in things
        )
        and scene.made(service, HOUR_S)
        and own_of_the_day(scene, service)
    )
