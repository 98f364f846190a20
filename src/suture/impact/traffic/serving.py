"""Services and their endpoints: how many a change takes, and which Services are left with none.

Pure arithmetic on the graph. A pod that is Ready and selected counts; slices follow pods.
Source: the endpointslice controller's rule for `ready` (Ready, and not terminating).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.idled import is_idle
from suture.impact.causes.turned import traffic_left
from suture.impact.effects import Confidence, EndpointsLost, ServiceEmptied
from suture.impact.ground.change import Resized, Rewritten
from suture.impact.ground.unready import borne_out
from suture.impact.nodes.agents import served_agents
from suture.impact.ordinary.delivery import taken_over, turns_to_next
from suture.impact.ordinary.meant import is_meant
from suture.impact.ordinary.paused import serves_asleep
from suture.impact.ordinary.putback import gives_back
from suture.impact.ordinary.putdown import (
    cut_by_asking,
    cut_by_hand,
    cut_by_manifest,
    stopped_by_name,
)
from suture.impact.ordinary.roles import moves_role
from suture.impact.scene import Scene
from suture.impact.traffic.away import members_away, taken_and_away
from suture.impact.traffic.declared import declared_size
from suture.impact.traffic.extralabels import beyond_template
from suture.impact.traffic.lettinggo import let_go
from suture.impact.traffic.restarting import members_restarted, restarted_in_vain
from suture.impact.traffic.selection import next_keepers
from suture.impact.traffic.shrinking import left_ready, taken_from_services
from suture.impact.traffic.slices import MANAGED_BY, MIRRORING, slices_lost
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, PODS, SERVICES, STATEFUL_SETS
from suture.model.objects import ClusterObject, ServiceFacts, SliceFacts, WorkloadFacts

CONTROLLERS: Final = frozenset({"endpointslice-controller.k8s.io", MIRRORING})
"""SOURCE: k8s.io/endpointslice and the mirroring controller, which leave what others manage."""

ServingEffect = EndpointsLost | ServiceEmptied


class Loss:
    """What one Service loses: how many ready endpoints, and whether all of it heals by itself."""

    __slots__ = ("away", "exact", "explained", "healing", "lost", "things")

    def __init__(self) -> None:
        self.lost = 0
        self.away = 0
        """Members that were restarted and are not back: the Service had them too."""
        self.healing = True
        self.explained = True
        self.exact = True
        self.things: set[int] | None = set()
        """What goes from behind the Service; None where something else than a removal counts."""

    def add(
        self,
        lost: int,
        *,
        healing: bool,
        is_explained: bool,
        exact: bool = True,
        thing: int | None = None,
    ) -> None:
        """Count `lost` endpoints in; not `exact`: at most so many, or some of them come back."""
        self.exact &= exact and (not self.lost or self.healing == healing)
        self.lost += lost
        self.healing &= healing
        self.explained &= is_explained
        if thing is None:
            self.things = None
        elif self.things is not None:
            self.things.add(thing)


def serving_effects(scene: Scene) -> list[ServingEffect]:
    """Return what a change does to Services, those that go themselves first."""
    effects: list[ServingEffect] = [
        _service_goes(scene, row) for row in scene.kinds.get(SERVICES, ())
    ]
    losses = _losses(scene)
    for row, loss in sorted(losses.items()):
        effects.extend(_loss_effects(scene, row, loss))
    made = scene.change.rewritten
    if made is not None:
        effects.extend(beyond_template(scene, made, losses))
        if made.after.key.resource == SERVICES and made.row not in scene.removed:
            effects.extend(_reselected(scene, made))
    return [effect for effect in effects if not _nothing(effect)]


def _nothing(effect: ServingEffect) -> bool:
    return isinstance(effect, EndpointsLost) and effect.before == effect.after == 0


def _service_goes(scene: Scene, row: int) -> EndpointsLost:
    before = scene.view.serving_count(row)
    return EndpointsLost(
        service=scene.victim(row),
        before=before,
        after=0,
        peak=before,
        self_healing=False,
        removed=True,
        explained=scene.causes.explains(row),
    )


def _losses(scene: Scene) -> dict[int, Loss]:
    """Return what each Service that stays loses, by its row."""
    losses: dict[int, Loss] = {}
    change, view = scene.change, scene.view
    _gone(scene, losses)
    for gone in slices_lost(scene):
        loss = losses.setdefault(gone.service, Loss())
        loss.add(gone.lost, healing=False, is_explained=gone.explained)
    if change.resized is not None:
        _resized(scene, losses, change.resized)
    if change.unready is not None:
        is_explained = borne_out(scene.request, view, change.unready)
        for service in view.services_of(change.unready):
            # WHY not exact: its kubelet may say otherwise, at once or when it next has news.
            loss = losses.setdefault(service, Loss())
            loss.add(1, healing=False, is_explained=is_explained, exact=False)
    made = change.rewritten
    if made is not None and made.after.key.resource == PODS and made.row not in scene.removed:
        _relabelled(scene, losses, made)
    for service, going, away in members_restarted(scene):
        loss = losses.setdefault(service, Loss())
        loss.add(going, healing=True, is_explained=False)
        loss.away += away
    for service, going, _ in restarted_in_vain(scene):
        losses.setdefault(service, Loss()).add(going, healing=False, is_explained=False)
    return losses


def _gone(scene: Scene, losses: dict[int, Loss]) -> None:
    """Charge the pods that go with what Services lose by them."""
    causes, view, whole = scene.causes, scene.view, dict[tuple[int, int], bool]()

    def reaches(service: int, pod: int) -> bool:
        # WHY kept: each of 500 members of a StatefulSet is a lot of its own.
        known = whole.get((service, maker := view.controller(pod)))
        if known is None:
            known = whole[service, maker] = _reaches_all(view, service, maker)
        return known

    for lot in scene.lots:
        if not lot.serves:
            continue
        services = [one for one in causes.services_of(lot.first) if one not in causes.removed]
        if not services:
            continue
        healing, cause = causes.heals(lot.first), causes.explained_of(lot) == lot.count
        maker = scene.maker(lot)
        thing = maker if maker in causes.removed else lot.first
        for service in services:
            exact = not healing or reaches(service, lot.first)
            losses.setdefault(service, Loss()).add(
                lot.count, healing=healing, is_explained=cause, exact=exact, thing=thing
            )


def _reaches_all(view: GraphView, service: int, maker: int) -> bool:
    """Whether a Service reaches all pods that a controller has made.

    Where it does not, it may know one by a label that was put on it since, as a role is, and the
    next one need not have it. Of pods that were let go of for their labels it is not known.
    """
    if maker < 0:
        return False
    kinds = view.classes_owned(maker)
    if len(kinds) < 2:
        return any(len(view.pods_alike(kind)) > 1 for kind in kinds) or _asks_no_more(
            view, service, maker
        )
    reached = set(view.classes_selected(service))
    return all(kind in reached for kind in kinds if view.one_alike(kind) >= 0)


def _asks_no_more(view: GraphView, service: int, maker: int) -> bool:
    """Whether a Service asks for no other label than a controller does of each of its pods.

    Of a controller's only pod nothing else tells which of its labels its template gives.
    """
    of_service, of_maker = view.facts(service), view.facts(maker)
    return (
        isinstance(of_service, ServiceFacts)
        and isinstance(of_maker, WorkloadFacts)
        and of_service.selector is not None
        and of_maker.selector is not None
        and all(one in of_maker.selector.requirements for one in of_service.selector.requirements)
    )


def _resized(scene: Scene, losses: dict[int, Loss], resized: Resized) -> None:
    """Charge a scale down with the ready pods that it takes from behind Services."""
    if resized.after >= resized.before:
        return
    view = scene.view
    taken, barred = taken_from_services(scene, resized)
    if not taken:
        return
    asked = (
        scene.size_explained(resized)
        or serves_asleep(scene, resized)
        or gives_back(scene, resized)
        or cut_by_hand(scene, resized)
        or cut_by_asking(scene, resized)
        or cut_by_manifest(scene, resized)
    )
    # WHY not where none that stays is Ready: who wants fewer wants these.
    cause = (asked and left_ready(scene, resized) != 0) or is_meant(scene, resized)
    healing = not barred and _sized_by_owner(view, resized.row)
    thing = resized.row if resized.after == 0 else None
    for one in taken:
        losses.setdefault(one.service, Loss()).add(
            one.lost, healing=healing, is_explained=cause, thing=thing, exact=one.exact
        )


def _sized_by_owner(view: GraphView, row: int) -> bool:
    """Whether a built-in controller sets a workload's size back to what it wants itself."""
    return any(
        owner.controller
        and owner.present
        and view.resource(owner.row) == DEPLOYMENTS
        and not view.terminating(owner.row)
        for owner in view.owners(row)
    )


def _relabelled(scene: Scene, losses: dict[int, Loss], made: Rewritten) -> None:
    """Charge a Ready pod with the Services that know it by labels that it loses."""
    view = scene.view
    if made.row is None or made.before is None or not view.serves(made.row):
        return
    healing = not scene.causes.barred(made.row) and _replaced(view, made.row, made.after)
    # WHY not exact: who adopts the pod may have one too many then, and let go of this one or of
    # another; where it is this one, a StatefulSet makes it anew, under its name and labels.
    exact = healing or not next_keepers(view, made)
    # WHY explained: who keeps members moves their roles by label; the next one follows at once.
    moved = moves_role(scene, made)
    for service in view.services_selecting(made.before):
        facts = view.facts(service)
        if (
            isinstance(facts, ServiceFacts)
            and facts.selector is not None
            and not facts.selector.matches(made.after.labels)
        ):
            loss = losses.setdefault(service, Loss())
            loss.add(1, healing=healing, is_explained=moved, exact=exact)


def _replaced(view: GraphView, pod: int, after: ClusterObject) -> bool:
    """Whether a pod's controller lets go of it for its labels, and makes another.

    Where it does not, a Service that the pod leaves may have lost it for good.
    Source: the controllers' `PodControllerRefManager` (release what the selector no longer
    matches); a StatefulSet's next pod would have the name that the released one keeps.
    """
    for owner in view.owners(pod):
        if not (owner.controller and owner.present) or view.terminating(owner.row):
            continue
        if view.resource(owner.row) == STATEFUL_SETS:
            return False
        facts = view.facts(owner.row)
        if isinstance(facts, WorkloadFacts) and facts.selector is not None:
            return not facts.selector.matches(after.labels)
    return False


def _loss_effects(scene: Scene, row: int, loss: Loss) -> Iterable[ServingEffect]:
    view, before = scene.view, scene.view.serving_count(row)
    after = max(0, before - loss.lost)
    confidence = Confidence.EXACT if loss.exact else Confidence.BOUNDED
    is_explained = (
        loss.explained
        or traffic_left(view, row, scene.removed, scene.now)
        or is_idle(view, row, scene.now)
    )
    if after == 0 and not (is_explained or loss.healing):
        is_explained = let_go(scene, row, loss.things or ()) or _stopped(scene, row, before)
    had = before + view.leaving_endpoints(row) + loss.away
    # WHY not of one that is left none: that is told whatever it had.
    if after and not is_explained:
        had += (
            taken_and_away(scene, row, declared_size(view, row) - had)
            if loss.healing
            else members_away(scene, row)
        )
    yield from _told(
        scene, row, before, after, peak=had, healing=loss.healing, is_explained=is_explained,
        confidence=confidence, least=had if loss.away else 0,
    )  # fmt: skip


def _told(
    scene: Scene,
    row: int,
    before: int,
    after: int,
    *,
    peak: int,
    healing: bool,
    is_explained: bool,
    confidence: Confidence = Confidence.EXACT,
    least: int = 0,
) -> Iterable[ServingEffect]:
    """Tell of the endpoints that a Service loses, and whether it is left with none.

    `least`: how many pods are to be there at least, whether they are or not.
    """
    yield EndpointsLost(
        service=scene.victim(row),
        before=before,
        after=after,
        peak=peak,
        self_healing=healing,
        explained=is_explained,
        confidence=confidence,
    )
    if after == 0 and before > 0:
        yield ServiceEmptied(
            service=scene.victim(row),
            before=before,
            self_healing=healing,
            declared=max(least, declared_size(scene.view, row)),
            explained=is_explained,
            confidence=confidence,
        )


def _stopped(scene: Scene, service: int, before: int) -> bool:
    """Whether the workload behind a Service is scaled to nothing by who may do so."""
    resized = scene.change.resized
    return resized is not None and (
        taken_over(scene, service, resized, before)
        or served_agents(scene, service)
        or stopped_by_name(scene, service, resized)
    )


def _reselected(scene: Scene, made: Rewritten) -> Iterable[ServingEffect]:
    """Say what a Service loses when its selector changes."""
    old, new, row = made.facts_before, made.after.facts, made.row
    if row is None or not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return
    if old.selector == new.selector:
        return
    if new.selector is None:
        # WHY nothing: the controllers leave a Service without a selector alone, and so the slices
        # that they have written; traffic goes on to the pods of today. That no pod of tomorrow is
        # reached is what a changed selection says.
        return
    view = scene.view
    had = view.ready_endpoints(row)
    pods = view.pods_selected(made.after.key.namespace, new.selector)
    will = {view.uid(pod) for pod in pods if view.serves(pod)}
    if old.selector is None:
        will |= _by_hand(view, row)
    if len(will) < len(had):
        lost = [pod for uid in had - will if (pod := view.find_uid(uid)) is not None]
        yield from _told(
            scene, row, len(had), len(will),
            peak=len(had), healing=False, is_explained=turns_to_next(scene, made, lost),
        )  # fmt: skip


def _by_hand(view: GraphView, service: int) -> set[str]:
    """Return the targets of the slices that no controller writes, which a new selector leaves."""
    found: set[str] = set()
    for link in view.needed_by(service):
        if link.edge is Edge.SLICE_OF and view.labels(link.row).get(MANAGED_BY) not in CONTROLLERS:
            facts = view.facts(link.row)
            if isinstance(facts, SliceFacts):
                found.update(facts.ready)
    return found
