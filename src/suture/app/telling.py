"""How a decision is told: in its caller's words, and as a line of the journal."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from suture.app.rim import Asked, Lane, Rim
from suture.budget.claims import Claim, Receipt
from suture.journal.entry import Entry
from suture.journal.query import Line
from suture.journal.writing import entry_of
from suture.judge import Judgement, World
from suture.model.actor import IdentityKind
from suture.model.attribution import Cause
from suture.model.grants import Grant
from suture.model.names import ObjectKey
from suture.policy.rules import Case, Findings
from suture.verdict import ALLOWED, Answer, Verdict, refusal_message

_BREAK_GLASS: Final = IdentityKind.BREAK_GLASS
_CONSEQUENCES: Final = Lane.CONSEQUENCES
_DENY: Final = Answer.DENY
# WHY named: to ask an enum for a member costs four times as much, and each review asks often.

HELD_BYTES = 16_384
"""LIMIT: bodies of a dry run that is held as it is until somebody asks for its line; with all that
are held 8 MB. Two of a large Deployment have as much."""


def addressed(verdict: Verdict, decision: str) -> Verdict:
    """Return a verdict in its caller's words: reason, numbers, policy, decision, what to do."""
    if verdict is ALLOWED or not verdict.reasons:
        return verdict
    advice = verdict.advice.replace("DECISION", decision) or f"run: suture explain {decision}"
    prefix = "would be refused: " if verdict.would is _DENY else ""
    warnings = [
        refusal_message(reason, decision, advice, prefix=prefix) for reason in verdict.reasons
    ]
    return msgspec.structs.replace(
        verdict,
        message=refusal_message(verdict.reasons[0], decision, advice) if verdict.message else "",
        warnings=(*(warnings if verdict.warnings else ()), *verdict.hints),
    )


def line_of(
    judgement: Judgement, message: str, asked: Asked, world: World, rim: Rim
) -> Entry | None:
    """Return the line of a decision. What changes nothing is counted, not journaled: None.

    `message`: what the caller is told.
    """
    request, lane = asked.request, asked.lane
    if not notable(judgement, lane):
        return None
    entry = _line(judgement, message, asked, rim)()
    if lane is _CONSEQUENCES:
        return _tied(entry, world.attribution.cause_of(request))
    if judgement.change.removed and not (judgement.verdict.denies or request.dry_run):
        world.attribution.admitted(request, asked.decision, asked.actor.operator)
    return entry


def held(judgement: Judgement, message: str, asked: Asked, rim: Rim) -> bool:
    """Hold a dry run whose line need not be made before somebody asks; tell whether it was."""
    request, lane = asked.request, asked.lane
    small = len(request.old_body) + len(request.new_body) <= HELD_BYTES
    # WHY not of consequences: what they follow from is known now, and not for ever.
    if not (request.dry_run and small) or lane is _CONSEQUENCES:
        return False
    if notable(judgement, lane):
        rim.journal.hold(asked.decision, _line(judgement, message, asked, rim))
    return True


def charged(judgement: Judgement, asked: Asked) -> bool:
    """Whether an allow costs something, so that its line must be durable before it is told.

    WHY: an allow that was not written down cannot be undone, and its charge is lost in a restart.
    """
    if not asked.lane.destructive or asked.request.dry_run or judgement.verdict.denies:
        return False
    return bool(judgement.claims or judgement.grants)


def _tied(entry: Entry, cause: Cause | None) -> Entry:
    """Return a consequence's line with the decision that it follows from, where one is known."""
    if cause is None:
        return entry
    return msgspec.structs.replace(entry, cause=cause.decision, cause_operator=cause.operator)


def notable(judgement: Judgement, lane: Lane) -> bool:
    """Whether a decision gets a line of its own."""
    return (
        lane.destructive
        or lane is _CONSEQUENCES
        or judgement.verdict is not ALLOWED
        or judgement.case.actor.kind is _BREAK_GLASS
        or bool(judgement.case.impact.effects)
    )


def _written(  # noqa: PLR0917 called with what is held, which costs least by position
    asked: Asked,
    message: str,
    latency_us: int,
    case: Case,
    verdict: Verdict,
    findings: Findings,
    claims: tuple[Claim, ...],
    receipt: Receipt,
    evidence: tuple[ObjectKey, ...],
    grants: tuple[Grant, ...],
) -> Entry:
    """Make the line of a decision."""
    return entry_of(
        asked.decision,
        case,
        verdict,
        asked.now,
        lane=asked.lane,
        findings=findings,
        claims=claims,
        receipt=receipt,
        evidence=evidence,
        latency_us=latency_us,
        keep_body=not verdict.denies and bool(case.impact.effects),
        message=message,
        grants=tuple(grant.name for grant in grants),
    )


def _line(judgement: Judgement, message: str, asked: Asked, rim: Rim) -> Line:
    """Return how the line of a decision is made; nothing in it changes until then.

    WHY not of the whole judgement: its change has a number for each object of a large namespace.
    """
    return partial(
        _written,
        asked,
        message,
        (rim.clock().mono_ns - asked.now.mono_ns) // 1000,
        judgement.case,
        judgement.verdict,
        judgement.findings,
        judgement.claims,
        judgement.receipt,
        judgement.evidence,
        judgement.grants,
    )
