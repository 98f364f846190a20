"""How a decision becomes its line in the record.

Pure. Secret data never gets in: it is taken out here, where the line is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, assert_never

import msgspec

from suture.budget.claims import Claim, Receipt, Spent
from suture.impact.effects import Effect
from suture.impact.words.telling import told, words_of
from suture.journal.entry import Asked, ClaimLine, EffectLine, Entry, FindingLine
from suture.model.clock import Now
from suture.model.digest import digest_of
from suture.model.names import SECRETS, ObjectKey
from suture.model.request import Collection, CollectionItem, One, Request
from suture.policy.rules import Case, Findings
from suture.verdict import Verdict

BODY_BYTES: Final = 1_572_864
"""LIMIT: the largest previous body kept: etcd's own limit for one object, 1.5 MiB."""

REDACTED: Final = "redacted"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def entry_of(
    decision: str,
    case: Case,
    verdict: Verdict,
    now: Now,
    *,
    lane: str,
    findings: Findings = Findings(),  # noqa: B008 a frozen value
    claims: Iterable[Claim] = (),
    receipt: Receipt = Receipt(granted=True),  # noqa: B008 a frozen value
    usage: Iterable[Spent] = (),
    evidence: tuple[ObjectKey, ...] = (),
    latency_us: int = 0,
    keep_body: bool = False,
    message: str = "",
    grants: tuple[str, ...] = (),
) -> Entry:
    """Write one decision down.

    `usage` is the holder's, read before the claims were reserved. `keep_body`: the object before
    is kept, without secret data. `message`: what the caller was told; by default the verdict's.
    """
    actor = case.actor
    return Entry(
        decision=decision,
        utc_s=now.utc_s,
        lane=lane,
        point=case.point,
        identity=actor.user.username,
        operator=actor.operator,
        stage=actor.stage.value,
        pod=actor.pod,
        asked=asked_of(case.request),
        answer=verdict.answer,
        would=verdict.would,
        reasons=verdict.reasons,
        message=message or verdict.message,
        findings=tuple(
            FindingLine(one.code, one.constraint, one.template, one.enforcement, one.message)
            for one in findings.violations
        ),
        effects=tuple(map(effect_line, case.impact.effects)),
        doubt=case.impact.doubt,
        claims=claim_lines(claims, receipt, usage),
        forced=receipt.forced,
        evidence=evidence,
        latency_us=latency_us,
        digest=digest_of(case.request),
        grants=grants,
        body=kept_body(case.request) if keep_body else b"",
    )


def asked_of(request: Request) -> Asked:
    """Return what identifies a request."""
    match request.extent:
        case One():
            collection, selector = False, None
        case CollectionItem():
            collection, selector = True, None
        case Collection() as whole:
            collection, selector = True, str(whole) or None
        case _:
            assert_never(request.extent)
    return Asked(
        review=request.uid,
        operation=request.operation,
        key=request.key,
        subresource=request.subresource,
        uid=request.object_uid,
        dry_run=request.dry_run,
        collection=collection,
        selector=selector,
    )


def claim_lines(
    claims: Iterable[Claim], receipt: Receipt, usage: Iterable[Spent] = ()
) -> tuple[ClaimLine, ...]:
    """Return each claim with the window that decides: the worst shortfall, else the least room."""
    known = {one.account: one for one in usage}
    lines = []
    for claim in claims:
        short = max(
            (one for one in receipt.shortfalls if one.claim.account == claim.account),
            key=lambda one: one.used + one.claim.amount - one.allowance,
            default=None,
        )
        at = short or known.get(claim.account)
        lines.append(
            ClaimLine(
                budget=claim.budget,
                holder=claim.holder,
                key=claim.key,
                amount=claim.amount,
                granted=short is None,
                window_s=at.window.seconds if at else 0,
                used=at.used if at else 0,
                allowance=at.allowance if at else 0,
            )
        )
    return tuple(lines)


def effect_line(effect: Effect) -> EffectLine:
    """Return an effect in short."""
    line = told(effect)
    return EffectLine(
        effect=line.effect,
        subject=line.subject,
        before=line.before,
        after=line.after,
        count=line.count,
        counted=line.counted,
        victims=tuple(map(words_of, line.victims)),
        reversible=line.reversible,
        confidence=line.confidence,
    )


def kept_body(request: Request) -> bytes:
    """Return the object before as it may be kept: without secret data, and not past the limit."""
    body = request.old_body
    if request.subresource or len(body) > BODY_BYTES:
        return b""
    return redacted(body) if request.key.resource == SECRETS else body


def redacted(body: bytes) -> bytes:
    """Return a Secret's JSON with the names of its keys and none of their values.

    What cannot be read is not kept: an empty body, never one that may hold a value.
    """
    try:
        secret: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return b""
    for field in ("data", "stringData"):
        values = secret.get(field)
        if isinstance(values, dict):
            secret[field] = dict.fromkeys(values, REDACTED)
        elif field in secret:
            del secret[field]
    metadata = secret.get("metadata")
    if isinstance(metadata, dict):
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict):
            # WHY: kubectl apply writes the whole Secret into this annotation.
            annotations.pop(LAST_APPLIED, None)
    return msgspec.json.encode(secret)
