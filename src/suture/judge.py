"""The decision, whole: a request and a world go in, a judgement comes out.

The same for admission, authorization, replay, what-if and scenarios. Nothing in here waits, and
nothing is read but memory: the event loop is the lock, so graph, overlay and ledger are one
snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from suture.budget.claims import Claim, Receipt
from suture.impact.causes.recent import remember
from suture.impact.causes.replaced import replacements
from suture.impact.causes.together import remember_cut
from suture.impact.effects import ALL_EFFECTS, Impact
from suture.impact.estimate import estimate
from suture.impact.evidence import evidence_of
from suture.impact.ground.change import Change
from suture.impact.ground.taking import places_of, takes_away
from suture.impact.ordinary.deciding import unfounded
from suture.impact.ordinary.protected import remember_mark
from suture.impact.project import project
from suture.model.actor import Actor, IdentityKind
from suture.model.clock import Now
from suture.model.consent import RECONSIDER_S
from suture.model.digest import digest_of
from suture.model.freezes import POLICY as FREEZE
from suture.model.freezes import Freeze, holding
from suture.model.grants import Exemption
from suture.model.graph import GraphView
from suture.model.names import Operation, Resource
from suture.model.objects import NO_LABELS
from suture.model.request import Collection, CollectionItem, Request, intent_of
from suture.policy.evaluate import evaluate
from suture.policy.rules import Case, Findings, Point, Usage
from suture.verdict import (
    ALLOWED,
    HUMAN,
    Verdict,
    asked_again,
    cautioned,
    claims_of,
    decide,
    denying,
    enforced,
    frozen,
    lifted,
    quarantined,
    waited,
    waived,
)
from suture.world import Judgement, World

__all__ = [
    "SPARED",
    "Judgement",
    "World",
    "judge",
    "note_collection",
    "note_made",
    "note_refused",
    "spared_by_quarantine",
]

SPARED: Final = frozenset(
    {
        Resource("coordination.k8s.io", "leases"),
        Resource("", "events"),
        Resource("events.k8s.io", "events"),
    }
)
"""WHY spared: a quarantined operator that loses its lease restarts for ever, and its events are
how its owner learns what it wants."""

GRANTED: Final = Receipt(granted=True)

_ADMISSION: Final = Point.ADMISSION
_CREATE: Final = Operation.CREATE
_DELETE: Final = Operation.DELETE
_CONSEQUENCE: Final = IdentityKind.CONSEQUENCE
_OPERATOR: Final = IdentityKind.OPERATOR
_PERSON: Final = IdentityKind.PERSON
# WHY named: to ask an enum for a member costs four times as much.


def judge(
    request: Request,
    actor: Actor,
    world: World,
    now: Now,
    point: Point = _ADMISSION,
    *,
    exempt: bool = True,
) -> Judgement:
    """Judge one request: every step in its own room, nothing awaited, nothing read but memory.

    Reserves what the request claims, unless it is a dry run, a refusal, or asked at authorization:
    those leave no trace, nor does what rests on a grant whose use is not marked yet. An operator
    that is not enforced is charged past its allowance, so that the report can say what would have
    been refused. `exempt` False: as if nobody had allowed anything.
    """
    intent = intent_of(request)
    view = world.view
    identity = actor.user.username
    if point is _ADMISSION and not request.dry_run and request.operation is _DELETE:
        world.history.note_attempt(identity, request.object_uid, now)
    renames = world.history.believes_renames(identity, now)
    if world.overlay.holds(intent):
        # WHY without: a retry of an intent is judged as its first attempt was, and so counts once.
        with world.overlay.without(intent):
            change, impact = _foreseen(request, actor, view, world, now, renames=renames)
    else:
        change, impact = _foreseen(request, actor, view, world, now, renames=renames)
    case = Case(
        request=request,
        actor=actor,
        impact=impact,
        point=point,
        usage=_usage(world, actor, now),
        cluster=world.cluster,
        selector_known=_selector_known(request, world, now),
        namespace_labels=_space_labels(request, view, world),
        parent_labels=_parent_labels(request, view, world),
        confirmed=exempt and _confirmed(request, world, now),
    )
    findings = evaluate(world.policies, case)
    if actor.quarantined and not spared_by_quarantine(request):
        return Judgement(
            case=case, change=change, findings=findings, claims=(), receipt=GRANTED,
            verdict=quarantined(actor),
        )  # fmt: skip
    if actor.kind is _CONSEQUENCE:
        if not unfounded(identity, change, impact, view):
            if change.resized is not None and point is _ADMISSION and not request.dry_run:
                remember_cut(view, identity, change.resized, now)
            # WHY: it carries out what somebody else asked for and was charged for.
            return Judgement(
                case=case, change=change, findings=findings, claims=(), receipt=GRANTED,
                verdict=ALLOWED,
            )  # fmt: skip
        decider = msgspec.structs.replace(actor, kind=_OPERATOR)
        case = msgspec.structs.replace(case, actor=decider)
        # WHY no claims: every replica answers for these controllers, and only one of them charges.
        findings = Findings(findings.violations, ())
    return _decided(case, change, findings, world, now, exempt=exempt)


def _foreseen(
    request: Request, actor: Actor, view: GraphView, world: World, now: Now, *, renames: bool
) -> tuple[Change, Impact]:
    """Return what a request changes, and what follows from that."""
    change = project(request, view)
    impact = estimate(
        request,
        change,
        view,
        actor,
        # WHY all: a dry run is asked to hear what would happen, policies or not.
        ALL_EFFECTS if request.dry_run else world.policies.needs,
        now=now,
        renames=renames,
        evaluate=world.conditions,
    )
    return change, impact


def _decided(
    case: Case, change: Change, findings: Findings, world: World, now: Now, *, exempt: bool
) -> Judgement:
    """Weigh findings, freeze, grants and budgets; reserve and remember where that may be."""
    request, actor = case.request, case.actor
    window = _freeze(request, actor, change, world, now)
    if window is None and not findings.violations and not findings.claims:
        # WHY apart: so it is with nearly every request, and then there is nothing to weigh.
        if not request.dry_run and case.point is _ADMISSION:
            _note(request, actor, world, change, now)
        return Judgement(
            case=case, change=change, findings=findings, claims=(), receipt=GRANTED,
            verdict=ALLOWED,
        )  # fmt: skip
    exemption = _exemption(request, actor, world, now) if exempt else Exemption()
    if window is not None:
        machine = actor.kind is _OPERATOR
        by = exemption.lifts(FREEZE) if machine else ""
        findings = cautioned(findings, window, by)
        if machine and not by:
            return Judgement(
                case=case, change=change, findings=findings, claims=(), receipt=GRANTED,
                verdict=frozen(window, now),
            )  # fmt: skip
    holds = enforced(actor)
    if holds:
        findings = lifted(findings, exemption)
    barred = holds and bool(denying(findings))
    traceless = barred or request.dry_run or case.point is not _ADMISSION

    claims = claims_of(actor, findings.claims, (request.key,))
    peeks = traceless or _unmarked(exemption, request, world, now)
    receipt = _weighed(claims, case, world, now, peeks=peeks)
    if receipt.shortfalls and holds and not barred:
        findings, left = waived(findings, claims, receipt, exemption)
        if left != claims:
            peeks = traceless or _unmarked(exemption, request, world, now)
            claims, receipt = left, _weighed(left, case, world, now, peeks=peeks)
    verdict = decide(findings, actor, receipt)
    denies = verdict.denies
    unmarked = not denies and _unmarked(exemption, request, world, now)
    if not (traceless or unmarked or denies):
        _note(request, actor, world, change, now, charged=bool(claims))
    if denies and actor.kind is _PERSON:
        verdict = asked_again(verdict, request)
    elif _waits(verdict, request) and world.patience.is_over(intent_of(request), now):
        verdict = waited(verdict)
    return Judgement(
        case=case,
        change=change,
        findings=findings,
        claims=claims,
        receipt=receipt,
        verdict=verdict,
        evidence=evidence_of(change, world.view, now) if denies else (),
        grants=() if denies else tuple(exemption.taken.values()),
        unmarked=unmarked,
    )


def _weighed(
    claims: tuple[Claim, ...], case: Case, world: World, now: Now, *, peeks: bool
) -> Receipt:
    """Ask the budgets for some claims; `peeks`: only what they would say."""
    if not claims:
        return GRANTED
    if peeks:
        return world.ledger.peek(claims, now)
    intent = intent_of(case.request)
    return world.ledger.reserve(intent, claims, now, force=not enforced(case.actor))


def _confirmed(request: Request, world: World, now: Now) -> bool:
    """Whether a person marked the very object that a request deletes."""
    return request.operation is _DELETE and world.consents.confirms(
        request.object_uid, request.old_body, now
    )


def _parent_labels(request: Request, view: GraphView, world: World) -> Mapping[str, str] | None:
    """Return the labels of the object behind a subresource, where some policy asks for labels."""
    if not request.subresource or not world.policies.reads_labels:
        return None
    return view.labels_at(request.key)


def _space_labels(request: Request, view: GraphView, world: World) -> Mapping[str, str]:
    """Return the labels of a request's namespace, where some policy asks for them."""
    return view.namespace_labels(request.namespace) if world.policies.reads_space else NO_LABELS


def _exemption(request: Request, actor: Actor, world: World, now: Now) -> Exemption:
    """Return what people allowed of a request; a person who was refused may have confirmed it."""
    if actor.kind is _PERSON and world.consents.was_refused(intent_of(request), now):
        uid, body = request.object_uid, request.old_body
        if world.consents.confirms(uid, body, now, within_s=RECONSIDER_S):
            return Exemption(confirmed=True)
    return Exemption(world.grants.meeting(request, actor, now, world.operators))


def _unmarked(exemption: Exemption, request: Request, world: World, now: Now) -> bool:
    """Whether the use of a grant that a request rests on has yet to be marked."""
    if not exemption.taken:
        return False
    digest = digest_of(request)
    return not all(world.grants.is_open(uid, digest, now) for uid in exemption.taken)


def _freeze(
    request: Request, actor: Actor, change: Change, world: World, now: Now
) -> Freeze | None:
    """Return the freeze window that a request which takes something away falls into."""
    windows = world.freezes.open_at(now, actor)
    if not windows or not takes_away(request, change):
        return None
    return holding(windows, places_of(request, change, world.view))


def note_refused(judgement: Judgement, world: World, now: Now) -> None:
    """Remember that a person was told what would follow; they may go on after a second thought.

    And since when others are asked to come again for the same.
    """
    request = judgement.case.request
    if request.dry_run:
        return
    if judgement.case.actor.kind is _PERSON:
        world.consents.note_refused(intent_of(request), now)
    elif _waits(judgement.verdict, request):
        world.patience.note_waiting(intent_of(request), now)


def _waits(verdict: Verdict, request: Request) -> bool:
    """Whether a refusal asks to come again with a delete, and nothing but its client says so.

    WHY not evictions: 429 is how they are told to wait, and whoever drains a node shows it. Nor in
    a freeze window, whose end is known.
    """
    return (
        verdict.retry_after_s is not None and verdict.denies and request.subresource != "eviction"
    )


def _usage(world: World, actor: Actor, now: Now) -> tuple[Usage, ...]:
    """Return what the operator has spent, where some rule reads it."""
    if not world.policies.reads_usage:
        return ()
    return tuple(
        Usage(one.account.budget, one.account.key, one.used, one.allowance)
        for one in world.ledger.usage(actor.operator, now)
    )


def spared_by_quarantine(request: Request) -> bool:
    """Whether a quarantined operator may still write this: its leases, events and status."""
    return request.subresource == "status" or request.key.resource in SPARED


def _note(
    request: Request,
    actor: Actor,
    world: World,
    change: Change,
    now: Now,
    *,
    charged: bool = False,
) -> None:
    """Remember what was let through: who made what, and which objects count as gone from now.

    `charged`: it has claims, which are to be confirmed when its effect is seen.
    """
    world.history.habits.note(request)
    if world.patience.asked:
        world.patience.note_passed(intent_of(request))
    if not request.subresource and request.new is not None:
        world.consents.note_write(
            request.new.uid,
            request.old_body,
            request.new_body,
            now,
            person=actor.kind in HUMAN,
        )
    view = world.view
    remember(request, change, view, now)
    remember_mark(request, view, person=actor.kind in HUMAN)
    note_made(request, actor, world, now)
    written = _written(change, view) if charged else ""
    if not (change.removed or written):
        return
    for row in change.direct:
        stand_ins = [view.uid(other) for other in replacements(view, row, change.removed)]
        world.history.note_renamed(actor.user.username, stand_ins, now)
    removed = [view.uid(row) for row in change.removed]
    world.overlay.admit(intent_of(request), removed, now, written=written)


def _written(change: Change, view: GraphView) -> str:
    """Return the uid of what a request makes, or writes and leaves there; empty where it does not.

    WHY: what takes nothing away shows in nothing but that object's next state.
    """
    made = change.rewritten
    if made is not None:
        return "" if made.row in change.direct else made.after.uid
    return view.uid(change.resized.row) if change.resized is not None else ""


def note_made(request: Request, actor: Actor, world: World, now: Now) -> None:
    """Remember who makes an object; also of what was not judged, and passed."""
    if request.operation is _CREATE and not request.subresource and request.new:
        world.history.note_created(
            request.new.uid, actor.user.username, actor.operator, request.key, now
        )


def _selector_known(request: Request, world: World, now: Now) -> bool:
    """Whether a collection's object belongs to one whose selector authorization has judged."""
    if not isinstance(request.extent, CollectionItem) or request.old is None:
        return False
    old = request.old
    asked = world.history.collection(
        request.user.username, request.key.resource, request.namespace, now
    )
    # WHY not everything: its objects have to be judged as if their selector had not been seen.
    return (
        asked is not None
        and not asked.everything
        and asked.may_take(old.key, old.labels, old.facts)
    )


def note_collection(request: Request, world: World, now: Now) -> None:
    """Remember the selectors of a collection that authorization let pass, for its objects' reviews.

    No charge and no promise: an answer to `kubectl auth can-i` is remembered too, and lifts only
    the one rule that exists because the selector cannot be seen at admission.
    """
    if isinstance(request.extent, Collection):
        world.history.note_collection(
            request.user.username,
            request.key.resource,
            request.namespace,
            request.extent,
            now,
        )
