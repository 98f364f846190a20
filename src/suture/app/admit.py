"""The straight line of an AdmissionReview: bytes in, bytes out.

Between reading the graph and knowing the claims nothing is awaited. Before a refusal the objects
that decide it are read live, since the operator's own watch may be ahead of ours. Whatever goes
wrong on the way is doubt, answered as the operator's `whenDead` says, never a silent allow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Final

import structlog

from suture.app.dryrun import with_impact
from suture.app.grants import UsedUpError
from suture.app.rim import Asked, Doubt, Lane, Rim
from suture.app.telling import addressed, charged, held, line_of
from suture.errors import SutureError, UnavailableError
from suture.impact.effects import Impact
from suture.impact.ordinary.keptback import remember_kept
from suture.journal.entry import Entry
from suture.journal.writing import entry_of
from suture.judge import Judgement, World, judge, note_made, note_refused
from suture.model.actor import Actor, IdentityKind, WhenDead
from suture.model.digest import digest_of
from suture.model.names import PODS, SERVICES, Resource
from suture.model.request import Request
from suture.policy.rules import Case
from suture.verdict import Answer, Reason, Verdict, enforced, erring
from suture.wire.admission import decode_review, encode_review

__all__ = [
    "PROBE_NAME",
    "PROBE_USER",
    "PROBE_WORD",
    "Answered",
    "Doubt",
    "Lane",
    "Rim",
    "addressed",
    "admit",
    "answer",
    "confirmed",
]

log = structlog.get_logger(__name__)

_BREAK_GLASS: Final = IdentityKind.BREAK_GLASS

CONFIRM_S = 0.1
"""LIMIT: the live reads before a refusal, all at once: a read takes about 3 ms, one retry 10."""

MARK_S = 0.3
"""LIMIT: to mark the use of a grant: one write of the API server, 10 ms, thirty times over; half of
the shortest lane's deadline."""

JOURNAL_S = 0.05
"""LIMIT: a group commit takes 0.2 ms at the median; ten times the p99 of a busy disk is late."""


PROBE_NAME = "suture-probe"
PROBE_USER = "system:serviceaccount:default:suture-probe"
PROBE_WORD = "suture answers"
"""By these `suture status` finds out whether API servers reach us: a dry run of an object under
this name is answered with these words, whoever asks. Nobody gains by it: nothing is decided."""


async def admit(body: bytes, lane: Lane, world: World, rim: Rim) -> bytes:
    """Answer one AdmissionReview, as `answer` does, and wait for what has to be waited for."""
    answered = answer(body, lane, world, rim)
    while not isinstance(answered, bytes):
        answered = await answered
    return answered


Answered = bytes | Awaitable["Answered"]
"""An answer, or what to wait for until there is one, or more is known of what to wait for."""


def answer(body: bytes, lane: Lane, world: World, rim: Rim) -> Answered:
    """Answer one AdmissionReview: at once, or as what is to be awaited.

    WHY not always awaited: most need nothing but memory. A deadline and a task of their own would
    cost as much as judging them; and nothing can be late in what does not wait.
    Errors: ReviewError for a body that is no review; the server answers it with 400.
    """
    now = rim.clock()
    request = decode_review(body, rim.trimmer)
    actor, decision = world.operators.attribute(request.user), rim.decision_id(now)
    if request.dry_run and request.key.name == PROBE_NAME:
        return encode_review(request.uid, _probed(world, actor, lane), decision)
    asked = Asked(request, actor, decision, lane, now)
    if rim.turns.free():
        return _at_once(asked, world, rim)
    answered: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
    rim.turns.later(partial(_in_turn, answered, asked, world, rim))
    return answered


def _in_turn(answered: asyncio.Future[Answered], asked: Asked, world: World, rim: Rim) -> None:
    """Answer a review once those before it have had their turn."""
    if answered.done():
        return
    try:
        if rim.clock().mono_ns > asked.until_ns:
            late = TimeoutError("its turn did not come in time")
            verdict = _doubted(late, asked, Impact(), world, rim)
            answered.set_result(_told(verdict, Impact(), asked, rim))
        else:
            answered.set_result(_at_once(asked, world, rim))
    except Exception as error:  # noqa: BLE001 whoever waits is told
        answered.set_exception(error)


def _at_once(asked: Asked, world: World, rim: Rim) -> Answered:
    """Answer a review whose turn it is, as far as nothing has to be waited for."""
    request, actor, lane = asked.request, asked.actor, asked.lane
    impact = Impact()
    try:
        rim.model.saw(request)
        if lane.destructive and rim.model.stale(_rests_on(request)):
            return _awaited(asked, None, world, rim)
        judgement = judge(request, actor, world, rim.clock())
        if _waits(judgement, rim):
            return _awaited(asked, judgement, world, rim)
        _concluded(judgement, asked, world, rim)
        impact = judgement.case.impact
        verdict = addressed(judgement.verdict, asked.decision)
        if not held(judgement, verdict.message, asked, rim):
            entry = line_of(judgement, verdict.message, asked, world, rim)
            if entry is not None:
                if charged(judgement, asked):
                    return _awaited(asked, judgement, world, rim, entry)
                rim.journal.offer([entry])
    except Exception as error:  # noqa: BLE001 everything unforeseen is doubt
        verdict = _doubted(error, asked, impact, world, rim)
    return _told(verdict, impact, asked, rim)


async def _awaited(
    asked: Asked,
    judgement: Judgement | None,
    world: World,
    rim: Rim,
    entry: Entry | None = None,
) -> bytes:
    """Answer what something has to be waited for: live reads, marks, the journal.

    `judgement` and `entry`: what was come to before that.
    """
    impact = Impact()
    try:
        async with asyncio.timeout((asked.until_ns - rim.clock().mono_ns) / 1e9):
            if judgement is None:
                await _fresh_enough(asked.request, rim)
                judgement = judge(asked.request, asked.actor, world, rim.clock())
            if entry is None:
                judgement = await _considered(judgement, asked, world, rim)
                _concluded(judgement, asked, world, rim)
            impact = judgement.case.impact
            verdict = addressed(judgement.verdict, asked.decision)
            if not held(judgement, verdict.message, asked, rim):
                if entry is None:
                    entry = line_of(judgement, verdict.message, asked, world, rim)
                await _journaled(entry, judgement, asked, rim)
    except Exception as error:  # noqa: BLE001 everything unforeseen is doubt
        verdict = _doubted(error, asked, impact, world, rim)
    return _told(verdict, impact, asked, rim)


def _doubted(error: Exception, asked: Asked, impact: Impact, world: World, rim: Rim) -> Verdict:
    """Answer what could not be decided, in its caller's words, and write it down."""
    request, actor, lane, now = asked.request, asked.actor, asked.lane, asked.now
    verdict = in_doubt(error, request, actor, lane, rim)
    # WHY: else it would be a stranger's, and its maker refused when it takes it away again.
    if not (verdict.denies or request.dry_run):
        note_made(request, actor, world, now)
    case = Case(request, actor, impact)
    rim.journal.offer([entry_of(asked.decision, case, verdict, now, lane=lane)])
    return addressed(verdict, asked.decision)


def _told(verdict: Verdict, impact: Impact, asked: Asked, rim: Rim) -> bytes:
    """Return an answer, in its caller's words already, as bytes, and tell whoever measures."""
    request = asked.request
    rim.signals.decided(asked.lane, verdict, (rim.clock().mono_ns - asked.now.mono_ns) / 1e9)
    if asked.actor.kind is _BREAK_GLASS and not request.dry_run:
        _alarm(request, asked.decision, rim)
    told = with_impact(verdict, impact) if request.dry_run else verdict
    return encode_review(request.uid, told, asked.decision)


def _probed(world: World, actor: Actor, lane: Lane) -> Verdict:
    """Say how this identity is treated; it is told nothing else, and nothing is decided."""
    words = (
        f"{PROBE_WORD}: operator {actor.operator}, stage {actor.stage}, lane {lane}, "
        f"policies {world.policies.digest[:12]}, {len(world.graph)} objects"
    )
    return Verdict(answer=Answer.ALLOW, would=Answer.ALLOW, warnings=(words,))


def _alarm(request: Request, decision: str, rim: Rim) -> None:
    """Tell whoever is on call that somebody acts under the emergency group."""
    rim.signals.broke_glass()
    log.warning(
        "break glass: written, whatever it does", user=request.user.username,
        object=str(request.key), operation=request.operation, decision=decision,
    )  # fmt: skip


def _waits(judgement: Judgement, rim: Rim) -> bool:
    """Whether a judgement rests on what has yet to be read or marked on the cluster."""
    if judgement.unmarked and not judgement.case.request.dry_run:
        return True
    return _unconfirmed(judgement) and not rim.model.just_read(judgement.evidence)


def _unconfirmed(judgement: Judgement) -> bool:
    return judgement.verdict.denies and not judgement.case.actor.quarantined


async def _considered(judgement: Judgement, asked: Asked, world: World, rim: Rim) -> Judgement:
    """Confirm a refusal, mark the grants that an allow rests on."""
    if _unconfirmed(judgement):
        judgement = await confirmed(judgement, world, rim)
    if judgement.unmarked and not asked.request.dry_run:
        judgement = await _marked(judgement, asked.decision, world, rim)
    return judgement


def _concluded(judgement: Judgement, asked: Asked, world: World, rim: Rim) -> None:
    """Take note of what was decided.

    Errors: Doubt where a rule erred and nothing else refuses.
    """
    if judgement.verdict.denies:
        now = rim.clock()
        note_refused(judgement, world, now)
        remember_kept(judgement.case.request, world.view, now)
    elif asked.lane.destructive:
        errors = erring(judgement.findings)
        if errors:
            raise Doubt("doubt_policy", f"{errors[0].constraint} erred: {errors[0].message}")


async def _marked(judgement: Judgement, decision: str, world: World, rim: Rim) -> Judgement:
    """Mark the use of the grants that a judgement rests on, then judge again.

    WHY before the answer: a use that is not on the cluster is forgotten in a restart. Where it
    cannot be marked nobody allowed anything.
    """
    case, request = judgement.case, judgement.case.request
    digest = digest_of(request)
    exempt = True
    for grant in judgement.grants:
        now = rim.clock()
        if world.grants.is_open(grant.uid, digest, now):
            continue
        try:
            async with asyncio.timeout(MARK_S):
                used = await rim.marks.mark(grant, decision, now)
            world.grants.note_used(grant, digest, used, now)
        except UsedUpError:
            world.grants.note_spent(grant)
            exempt = False
        except (SutureError, TimeoutError) as error:
            log.warning("use of a grant not marked", grant=grant.name, error=str(error))
            exempt = False
    return judge(request, case.actor, world, rim.clock(), case.point, exempt=exempt)


def _rests_on(request: Request) -> tuple[Resource, ...]:
    """Return the types that every destructive decision reads."""
    return (request.key.resource, PODS, SERVICES)


async def _fresh_enough(request: Request, rim: Rim) -> None:
    """Let a stale model cost a destructive request one live read; raise Doubt if that fails."""
    stale = rim.model.stale(_rests_on(request))
    if not stale:
        return
    try:
        async with asyncio.timeout(CONFIRM_S):
            await rim.model.refresh([request.key])
    except (UnavailableError, TimeoutError) as error:
        names = ", ".join(map(str, stale))
        raise Doubt("doubt_stale", f"the model of {names} is stale, and a read failed") from error


async def confirmed(judgement: Judgement, world: World, rim: Rim) -> Judgement:
    """Read live what decides a refusal, and judge again where anything was not as the model had it.

    A read that fails lets the refusal stand if every type that it rests on is fresh; else it is
    doubt.
    """
    case, known = judgement.case, world.graph.changes
    try:
        async with asyncio.timeout(CONFIRM_S):
            await rim.model.refresh(judgement.evidence)
    except (UnavailableError, TimeoutError) as error:
        resources = {key.resource for key in judgement.evidence} | set(_rests_on(case.request))
        if rim.model.stale(resources):
            raise Doubt("doubt_unconfirmed", "a refusal could not be confirmed") from error
        return judgement
    if world.graph.changes == known:
        return judgement
    return judge(case.request, case.actor, world, rim.clock(), case.point)


async def _journaled(entry: Entry | None, judgement: Judgement, asked: Asked, rim: Rim) -> None:
    """Write down what was decided; wait for the disk only where something was charged."""
    if entry is None:
        return
    if not charged(judgement, asked):
        rim.journal.offer([entry])
        return
    try:
        await rim.journal.append([entry], deadline_s=JOURNAL_S)
    except UnavailableError as error:
        raise Doubt("doubt_journal", f"the journal is late: {error}") from error


def in_doubt(error: Exception, request: Request, actor: Actor, lane: Lane, rim: Rim) -> Verdict:
    """Answer a request that could not be judged: held where its operator says so, else passed."""
    match error:
        case Doubt():
            code = error.code
        case TimeoutError():
            code = "doubt_deadline"
        case _:
            code = "doubt_defect"
    log.error(
        "request in doubt", code=code, lane=lane, user=request.user.username,
        object=str(request.key), operation=request.operation, exc_info=error,
    )  # fmt: skip
    rim.signals.doubted(lane, code)
    why = str(error) or type(error).__name__
    holds = lane.destructive and enforced(actor) and actor.when_dead is WhenDead.HOLD
    if not holds:
        reason = Reason(code, "suture", why)
        return Verdict(answer=Answer.ALLOW, would=Answer.ALLOW, reasons=(reason,))
    reason = Reason(code, "suture", f"held: {why}, and this operator's whenDead is hold")
    return Verdict(
        answer=Answer.DENY,
        would=Answer.DENY,
        reasons=(reason,),
        message=reason.message,
        status=429,
        retry_after_s=5,
    )
