"""From a change to its impact: the effects that some policy reads, each by its own module.

Families are asked in the order of this table, and only where a policy reads one of their effects
and the change has what they look at.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final

from suture.impact.admission.leading import leading_effects, leads_elsewhere
from suture.impact.admission.scope import scope_effects, widens
from suture.impact.admission.servedports import closes_ports, port_effects
from suture.impact.admission.shutoff import shutting_effects
from suture.impact.admission.vouching import vouching_effects
from suture.impact.admission.withdrawn import withdrawn_effects
from suture.impact.causes.recent import rewrites_status
from suture.impact.data.cleared import cleared_effects
from suture.impact.data.engines import engine_effects, may_hold_volume
from suture.impact.data.external import external_effects, may_stand_for
from suture.impact.data.pools import pool_effects
from suture.impact.data.storage import (
    HOLDERS,
    data_effects,
    erased_effects,
    release_effects,
    releases,
)
from suture.impact.data.unkept import is_let_go, unkept_effects
from suture.impact.effects import ALL_EFFECTS, VICTIMS_NAMED, Effect, Impact
from suture.impact.family import Family
from suture.impact.ground.change import Change
from suture.impact.ground.kinds import is_custom
from suture.impact.losses.dropped import default_effects, dropped_effects, may_drop
from suture.impact.losses.references import breaks_references, may_be_named, reference_effects
from suture.impact.losses.removal import removal_effects
from suture.impact.losses.rounds import reach_effects
from suture.impact.losses.stuck import stuck_effects
from suture.impact.losses.versions import struck_effects
from suture.impact.nodes.annotated import annotations_wiped, rewrites_annotations, rewrites_node
from suture.impact.nodes.capacity import capacity_effects, may_hold_room, touches_nodes
from suture.impact.nodes.consensus import consensus_effects
from suture.impact.ordinary.finalizers import finalizer_effects, lifts_finalizers
from suture.impact.reach.growth import creates, growth_effects
from suture.impact.reach.ownership import ownership_effects, rewrites_owners
from suture.impact.reach.privileges import GIVING, privilege_effects, touches_rights
from suture.impact.reach.tenure import foreign_effects, may_be_foreign
from suture.impact.rollout import restart_effects, rewrites_workload
from suture.impact.scene import Scene
from suture.impact.traffic.addresses import (
    addresses_removed,
    addresses_resorted,
    resorts,
    rewrites_service,
)
from suture.impact.traffic.granted import granted_effects
from suture.impact.traffic.overtaken import begins_to_select, overtaken_effects
from suture.impact.traffic.policyreach import POLICIES, closes
from suture.impact.traffic.selection import (
    adoption_effects,
    may_select,
    selection_effects,
    writes_pod,
)
from suture.impact.traffic.unpublished import unpublished_effects, writes_status
from suture.impact.workloads.churn import churn_effects, repeats
from suture.impact.workloads.disruption import disruption_effects, quorum_effects
from suture.impact.workloads.hollow import hollow_effects, hollows
from suture.impact.workloads.loops import loop_effects, may_close_a_ring
from suture.impact.workloads.loosened import loosened_effects, loosens
from suture.impact.workloads.placing import moves_pods, placement_effects
from suture.impact.workloads.preempting import preempting_effects, sets_default
from suture.impact.workloads.spacelabels import relabels_space, space_effects
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.matchsets import Evaluate
from suture.model.names import (
    API_SERVICES,
    ENDPOINT_SLICES,
    NODES,
    PODS,
    REFERENCE_GRANTS,
    SERVICES,
    STORAGE_CLASSES,
    WORKLOADS,
    Resource,
)
from suture.model.request import Request

NO_IMPACT: Final = Impact()

POLICY_SETS: Final = 16
"""LIMIT: sets of needed effects whose families are remembered: the policies in force, all effects,
and those of a few earlier policies; 0.3 kB each."""

KIND_SETS: Final = 256
"""LIMIT: sets of types that go together whose families are remembered; 1 kB each. Most changes
take one of some ten: a pod, a Service with its slices, a Deployment with all of its own."""


def _takes_away(change: Change) -> bool:
    return bool(change.direct or change.cascaded)


def _takes_or_resizes(change: Change) -> bool:
    return _takes_away(change) or change.resized is not None


def _differs(change: Change) -> bool:
    return not change.empty


_TAKING: Final = Change(direct=(0,))
"""What every change that only takes away is like, for families that are asked by change."""

FAMILIES: tuple[Family, ...] = (
    Family(
        frozenset(
            {
                "endpoints_lost",
                "service_emptied",
                "admission_path_broken",
                "route_broken",
                "pods_lost",
            }
        ),
        _differs,
        reach_effects,
        {PODS, SERVICES, ENDPOINT_SLICES}.__contains__,
    ),
    Family(frozenset({"admission_path_broken"}), leads_elsewhere, leading_effects),
    Family(frozenset({"admission_path_broken"}), leads_elsewhere, vouching_effects),
    Family(frozenset({"admission_path_broken"}), closes_ports, port_effects),
    Family(
        frozenset({"admission_path_broken", "route_broken", "quorum_lost"}),
        closes,
        shutting_effects,
        POLICIES.__contains__,
    ),
    Family(
        frozenset({"admission_path_broken"}),
        _takes_away,
        withdrawn_effects,
        {API_SERVICES}.__contains__,
    ),
    Family(frozenset({"objects_removed"}), _takes_away, removal_effects),
    Family(frozenset({"data_lost"}), _takes_away, data_effects, HOLDERS.__contains__),
    Family(frozenset({"data_lost"}), _takes_away, engine_effects, may_hold_volume),
    Family(frozenset({"data_lost"}), _takes_away, cleared_effects, is_custom),
    Family(frozenset({"data_lost"}), _takes_away, pool_effects, is_custom),
    Family(frozenset({"data_lost"}), releases, release_effects),
    Family(frozenset({"data_lost"}), releases, erased_effects),
    Family(frozenset({"data_lost"}), is_let_go, unkept_effects),
    Family(frozenset({"external_deleted"}), _takes_away, external_effects, may_stand_for),
    Family(frozenset({"reference_broken"}), breaks_references, reference_effects, may_be_named),
    Family(frozenset({"deletion_stuck"}), _takes_away, stuck_effects),
    Family(
        frozenset({"disruption_exceeded"}), _takes_away, disruption_effects, {PODS}.__contains__
    ),
    Family(
        frozenset({"quorum_lost"}),
        _takes_or_resizes,
        quorum_effects,
        {PODS, *WORKLOADS}.__contains__,
    ),
    Family(frozenset({"quorum_lost"}), _takes_away, consensus_effects, {NODES}.__contains__),
    Family(frozenset({"pods_restarted"}), rewrites_workload, restart_effects),
    Family(frozenset({"placement_lost"}), moves_pods, placement_effects),
    Family(frozenset({"selection_changed"}), may_select, selection_effects),
    Family(
        frozenset({"route_broken", "reference_broken"}),
        _takes_away,
        granted_effects,
        {REFERENCE_GRANTS}.__contains__,
    ),
    Family(frozenset({"service_emptied"}), begins_to_select, overtaken_effects),
    Family(frozenset({"selection_changed", "hollowed"}), relabels_space, space_effects),
    Family(frozenset({"growth"}), writes_pod, adoption_effects),
    Family(frozenset({"finalizer_removed"}), lifts_finalizers, finalizer_effects),
    Family(frozenset({"owner_invalid"}), rewrites_owners, ownership_effects),
    Family(frozenset({"entries_dropped"}), may_drop, dropped_effects),
    Family(frozenset({"entries_dropped"}), loosens, loosened_effects),
    Family(frozenset({"entries_dropped"}), sets_default, preempting_effects),
    Family(frozenset({"entries_dropped"}), writes_status, unpublished_effects),
    Family(frozenset({"entries_dropped"}), rewrites_service, addresses_resorted),
    Family(frozenset({"entries_dropped"}), rewrites_node, annotations_wiped),
    Family(frozenset({"reference_broken"}), writes_status, struck_effects),
    Family(
        frozenset({"entries_dropped"}),
        _takes_away,
        default_effects,
        {STORAGE_CLASSES}.__contains__,
    ),
    Family(frozenset({"entries_dropped"}), _takes_away, addresses_removed, {SERVICES}.__contains__),
    Family(frozenset({"hollowed"}), hollows, hollow_effects),
    Family(frozenset({"foreign_write"}), may_be_foreign, foreign_effects),
    Family(frozenset({"capacity_lost"}), touches_nodes, capacity_effects, may_hold_room),
    Family(frozenset({"scope_widened"}), widens, scope_effects, POLICIES.__contains__),
    Family(
        frozenset({"privilege_gained", "privilege_lost"}),
        touches_rights,
        privilege_effects,
        GIVING.__contains__,
    ),
    Family(frozenset({"loop_closed"}), may_close_a_ring, loop_effects),
    Family(frozenset({"growth"}), creates, growth_effects),
    Family(frozenset({"churn"}), repeats, churn_effects),
)


def estimate(
    request: Request,
    change: Change,
    view: GraphView,
    actor: Actor,
    needs: Collection[str] = ALL_EFFECTS,
    *,
    now: Now | None = None,
    renames: bool = True,
    evaluate: Evaluate | None = None,
    limit: int = VICTIMS_NAMED,
) -> Impact:
    """Return the effects of a change that `needs` names; families with none are not computed.

    `renames`: whether a Service that another replaces goes for that reason. `evaluate`: decides the
    match conditions of webhooks. `limit`: how many victims each effect names.
    """
    if change.empty and not _may_matter(request):
        return Impact(doubt=change.doubt) if change.doubt else NO_IMPACT
    scene = Scene(
        request, change, view, actor, limit=limit, now=now, evaluate=evaluate, renames=renames
    )
    effects: list[Effect] = []
    needed = frozenset(needs)
    if _only_takes(change):
        for family in _losing(needed, frozenset(scene.kinds)):
            effects += family.effects(scene)
    else:
        for family in _needed(needed):
            if family.concerns(change):
                effects += family.effects(scene)
    return Impact(tuple(effects), change.doubt)


def _may_matter(request: Request) -> bool:
    """Whether a request by which nothing changes that the model knows may matter all the same."""
    return rewrites_status(request) or resorts(request) or rewrites_annotations(request)


def _only_takes(change: Change) -> bool:
    """Whether a change takes objects away and does nothing else, so that their types tell all."""
    return (
        bool(change.direct)
        and change.rewritten is None
        and change.resized is None
        and not change.orphaned
    )


@lru_cache(POLICY_SETS)
def _needed(needs: frozenset[str]) -> tuple[Family, ...]:
    """Return the families that compute something of what is needed."""
    return tuple(family for family in FAMILIES if not family.names.isdisjoint(needs))


@lru_cache(KIND_SETS)
def _losing(needs: frozenset[str], kinds: frozenset[Resource]) -> tuple[Family, ...]:
    """Return those of them that say something of a change that only takes types away."""
    return tuple(
        family
        for family in _needed(needs)
        if family.concerns(_TAKING)
        and (family.speaks_of is None or any(map(family.speaks_of, kinds)))
    )
