"""From findings, receipt and stage to the answer: allow, warn or deny, and why.

Pure, and the only place where a refusal is decided. A refusal is this value, never an exception.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

import msgspec

from suture.answers import Answer, Reason, Verdict
from suture.budget.claims import Account, Claim, Receipt, Shortfall
from suture.model.actor import Actor, IdentityKind, Stage
from suture.model.clock import Now
from suture.model.consent import CONFIRM_DELETE, RECONSIDER_S
from suture.model.freezes import POLICY, Freeze
from suture.model.grants import Exemption
from suture.model.names import ObjectKey, Operation
from suture.model.request import Request
from suture.policy.rules import POLICY_ERROR, ClaimAsked, EnforcementAction, Finding, Findings

__all__ = [
    "ALLOWED",
    "FROZEN",
    "GRANTED",
    "HUMAN",
    "MESSAGE_CHARS",
    "Answer",
    "Reason",
    "Verdict",
    "asked_again",
    "cautioned",
    "claims_of",
    "decide",
    "denying",
    "enforced",
    "erring",
    "frozen",
    "lifted",
    "quarantined",
    "refusal_message",
    "span",
    "waited",
    "waived",
]

MESSAGE_CHARS: Final = 300
"""LIMIT: a refusal's message: one line of an operator's log; warnings share 4,096 in all."""


_ALLOW: Final = Answer.ALLOW
_WARN: Final = Answer.WARN
_DENY: Final = Answer.DENY
_DENIES: Final = EnforcementAction.DENY
_DRYRUN: Final = EnforcementAction.DRYRUN
_OPERATOR: Final = IdentityKind.OPERATOR
_PERSON: Final = IdentityKind.PERSON
# WHY named: to ask an enum for a member costs four times as much.

ALLOWED: Final = Verdict(answer=_ALLOW, would=_ALLOW)


def quarantined(actor: Actor) -> Verdict:
    """Return the answer to a write of an operator that a person has quarantined."""
    words = f"operator is quarantined: {actor.quarantined}"
    return Verdict(
        answer=_DENY,
        would=_DENY,
        reasons=(Reason("quarantined", "quarantine", words),),
        message=words,
    )


def claims_of(
    actor: Actor, asked: Iterable[ClaimAsked], victims: tuple[ObjectKey, ...] = ()
) -> tuple[Claim, ...]:
    """Return what to ask of the budgets: the claims of rules, in the name of the operator.

    A claim whose constraint does not deny is no claim: what it would have cost is in the report.
    """
    claims = [
        Claim(
            budget=f"{one.budget.constraint}/{one.budget.name}",
            holder=actor.operator,
            key=one.key,
            amount=one.amount,
            population=one.population,
            windows=one.budget.windows,
            victims=victims,
            retry_after_s=one.budget.retry_after_s,
        )
        for one in asked
        if one.amount > 0 and one.enforcement is _DENIES
    ]
    return tuple(claims)


FROZEN: Final = "frozen"
GRANTED: Final = "granted"


def frozen(window: Freeze, now: Now) -> Verdict:
    """Return the answer to a machine that would take something away in a freeze window.

    Whatever its stage: a person said so of this time, not of this operator.
    """
    reason = Reason(FROZEN, POLICY, _frozen_words(window))
    return Verdict(
        answer=_DENY,
        would=_DENY,
        reasons=(reason,),
        message=_sentence(reason),
        status=429,
        retry_after_s=max(1, math.ceil(window.until_utc_s - now.utc_s)),
    )


def cautioned(findings: Findings, window: Freeze, by: str = "") -> Findings:
    """Return findings with a word about a freeze window that does not hold this request.

    `by`: what lifts it; empty for people, whom it only warns.
    """
    said = Finding(FROZEN, POLICY, POLICY, EnforcementAction.WARN, _frozen_words(window))
    said = _granted(said, by) if by else said
    return Findings((*findings.violations, said), findings.claims)


def _frozen_words(window: Freeze) -> str:
    until = datetime.fromtimestamp(window.until_utc_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"freeze window {window.name} lasts until {until}: {window.reason}"


def lifted(findings: Findings, exemption: Exemption) -> Findings:
    """Return findings in which what a person allowed warns only: all that would refuse, or none.

    WHY all or none: a refusal that stands uses no grant up.
    """
    denials = denying(findings)
    if not denials:
        return findings
    before = dict(exemption.taken)
    allowed = {id(one): exemption.lifts(one.constraint, one.template) for one in denials}
    if not all(allowed.values()):
        exemption.taken = before
        return findings
    return Findings(
        tuple(
            _granted(one, allowed[id(one)]) if id(one) in allowed else one
            for one in findings.violations
        ),
        findings.claims,
    )


def waived(
    findings: Findings, claims: tuple[Claim, ...], receipt: Receipt, exemption: Exemption
) -> tuple[Findings, tuple[Claim, ...]]:
    """Return findings and claims less what cannot be afforded and a person allowed: all or none.

    What a person allowed costs the operator nothing: they have answered for it.
    """
    said: dict[Account, Finding] = {}
    for short in receipt.shortfalls:
        reason = _shortfall(short, findings.claims)
        by = exemption.lifts(reason.constraint)
        if not by:
            return findings, claims
        note = Finding(reason.code, reason.constraint, "", EnforcementAction.WARN, reason.message)
        said[short.claim.account] = _granted(note, by)
    return (
        Findings((*findings.violations, *said.values()), findings.claims),
        tuple(one for one in claims if one.account not in said),
    )


def _granted(finding: Finding, by: str) -> Finding:
    return msgspec.structs.replace(
        finding,
        code=GRANTED,
        enforcement=EnforcementAction.WARN,
        message=f"{by}: {finding.message}",
        retry_after_s=None,
    )


def asked_again(verdict: Verdict, request: Request) -> Verdict:
    """Return a refusal as a person reads it who may go on after a second thought."""
    warnings: tuple[str, ...] = ()
    if request.operation is Operation.DELETE and request.object_uid and not request.subresource:
        place = f" -n {request.namespace}" if request.namespace else ""
        target = f"{request.gvr.resource} {request.key.name}{place}"
        mark = f"{CONFIRM_DELETE}={request.object_uid}"
        within = f"within {RECONSIDER_S // 60} minutes"
        warnings = (f"to go on {within}: kubectl annotate --overwrite {target} {mark}, then again",)
    return msgspec.structs.replace(
        verdict,
        status=403,
        retry_after_s=None,
        hints=warnings,
        advice="to go on: suture grant DECISION --reason WHY",
    )


def waited(verdict: Verdict) -> Verdict:
    """Return a refusal to come again later as one for good: its caller waited, and it did not help.

    WHY: a client that is asked to come again sleeps without a word to whoever started it.
    """
    return msgspec.structs.replace(
        verdict,
        status=403,
        retry_after_s=None,
        advice="waiting did not help; see suture explain DECISION, or grant it",
    )


def enforced(actor: Actor) -> bool:
    """Whether a refusal would reach this actor: an operator enforced, or a person who confirms."""
    return (actor.kind is _OPERATOR and actor.stage is Stage.ENFORCE) or (
        actor.kind is _PERSON and actor.stage is Stage.CONFIRM
    )


def denying(findings: Findings) -> list[Finding]:
    """Return the findings that refuse. An erring rule is a reason of its own; it warns at most."""
    return [
        finding
        for finding in findings.violations
        if finding.enforcement is _DENIES and finding.code != POLICY_ERROR
    ]


def erring(findings: Findings) -> list[Finding]:
    """Return the rules that could refuse and could not be asked: what they guard is in doubt."""
    return [
        finding
        for finding in findings.violations
        if finding.code == POLICY_ERROR and finding.enforcement is _DENIES
    ]


def decide(findings: Findings, actor: Actor, receipt: Receipt) -> Verdict:
    """Return the answer to a request that rules and budgets have weighed.

    Denying findings come before budgets in the reasons, since a person can mend a reason and only
    wait for a budget.
    """
    denials = denying(findings)
    reasons = [_reason(finding) for finding in denials]
    reasons += [_shortfall(short, findings.claims) for short in receipt.shortfalls]
    warned = [
        _reason(finding)
        for finding in findings.violations
        if finding not in denials and finding.enforcement is not _DRYRUN
    ]
    if not reasons:
        if not warned:
            return ALLOWED
        return Verdict(
            answer=_WARN,
            would=_WARN,
            reasons=tuple(warned),
            warnings=tuple(map(_sentence, warned)),
        )
    retry = _retry_after(denials, receipt)
    return Verdict(
        answer=_staged(actor),
        would=_DENY,
        reasons=tuple(reasons + warned),
        message=_sentence(reasons[0]),
        warnings=tuple(map(_sentence, reasons + warned)) if _heard(actor) else (),
        status=403 if retry is None else 429,
        retry_after_s=retry,
    )


HUMAN: Final = frozenset({IdentityKind.PERSON, IdentityKind.BREAK_GLASS})


def _staged(actor: Actor) -> Answer:
    if enforced(actor):
        return _DENY
    return _WARN if _heard(actor) else _ALLOW


def _heard(actor: Actor) -> bool:
    """Whether warnings are sent: people hear them always, an operator when its stage says so."""
    return actor.kind in HUMAN or actor.stage is Stage.WARN


def _reason(finding: Finding) -> Reason:
    return Reason(finding.code, finding.constraint, finding.message)


def _shortfall(short: Shortfall, asked: Iterable[ClaimAsked]) -> Reason:
    constraint, _, budget = short.claim.budget.partition("/")
    same = [
        one
        for one in asked
        if (one.budget.constraint, one.budget.name, one.key)
        == (constraint, budget, short.claim.key)
        and one.enforcement is _DENIES
    ]
    words = same[0].message if same else ""
    # WHY the sum: what is asked for one effect after the other is spent in one write.
    total = sum(one.amount for one in same) or short.claim.amount
    # WHY another word: what heals by itself is not gone.
    word = "removed" if short.claim.retry_after_s is None else "under way"
    numbers = (
        f"{short.claim.key}: {short.used} {word} and {total} asked "
        f"of {short.allowance} in {span(short.window.seconds)}"
    )
    return Reason("budget_exhausted", constraint, f"{words}; {numbers}" if words else numbers)


def span(seconds: int) -> str:
    """Return a window's length as people say it: `1m`, `24h`, `7d`."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds % size == 0 and (seconds >= 2 * size or unit != "d"):
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _retry_after(denials: list[Finding], receipt: Receipt) -> int | None:
    """Return when to come again if every reason will pass; a budget, or no given time, will not.

    WHY budgets say so only where they declare it: the longest window of a removal is a week, and an
    operator that comes again every few seconds until the minute is over is the very thing a budget
    is there to slow down. What heals by itself may come again.
    """
    times = [finding.retry_after_s for finding in denials]
    times += [short.claim.retry_after_s for short in receipt.shortfalls]
    if not times:
        return None
    known = [time for time in times if time is not None]
    return max(known) if len(known) == len(times) else None


def _sentence(reason: Reason) -> str:
    return f"{reason.message} [{reason.constraint}]"


def refusal_message(reason: Reason, decision: str, advice: str, *, prefix: str = "") -> str:
    """Return what the operator reads in its own error, within the limit.

    What would break and the numbers give way; policy, decision and what to do are kept whole.
    """
    tail = f" [{reason.constraint}] (decision {decision}; {advice})"
    words = f"{prefix}{reason.message}"
    room = MESSAGE_CHARS - len("suture: ") - len(tail)
    if len(words) > room:
        words = words[: room - 1] + "…"
    return f"suture: {words}{tail}"
