"""The shorter sister of `admit`: a second opinion before the first object of a collection dies.

It peeks: `kubectl auth can-i`, aggregated servers and dry runs ask it too, so nothing here is
charged. It never says "allowed": without an opinion, RBAC decides. Always an answer, since for any
other status than 200 the API server asks again and again.
"""

from __future__ import annotations

import asyncio

import structlog

from suture.app.admit import PROBE_NAME, PROBE_USER, PROBE_WORD, Doubt, Rim, addressed, confirmed
from suture.errors import SutureError
from suture.journal.writing import entry_of
from suture.judge import SPARED, World, judge, note_collection
from suture.model.actor import Actor, IdentityKind
from suture.model.names import Resource
from suture.model.request import Collection, Request
from suture.policy.rules import Point
from suture.verdict import enforced
from suture.wire.authorization import Access, AccessAsked, decode_access, encode_access

log = structlog.get_logger(__name__)

DEADLINE_S = 0.6
"""LIMIT: 60 % of the authorizer's timeout of 1 s."""

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
MASTERS = "system:masters"

HIDDEN_KINDS = frozenset(
    Resource("admissionregistration.k8s.io", plural)
    for plural in (
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)
"""WHY here: neither webhooks nor in-process policies ever see an edit of these."""

LANE = "authorization"


async def authorize(body: bytes, world: World, rim: Rim) -> bytes:
    """Answer one SubjectAccessReview; refuse, or leave it to the next authorizer.

    Errors: ReviewError for a body that is no review; the server answers it with 400.
    """
    asked = decode_access(body)
    if asked.user.username == PROBE_USER and asked.gvr and asked.gvr.plural == PROBE_NAME:
        return encode_access(Access.DENIED, PROBE_WORD)
    actor = world.operators.attribute(asked.user)
    if actor.kind not in (IdentityKind.OPERATOR, IdentityKind.PERSON):
        return encode_access(Access.NO_OPINION)
    refusal = _refused_outright(asked, actor)
    deletion = asked.deletion
    if not refusal and deletion is not None and isinstance(deletion.extent, Collection):
        try:
            async with asyncio.timeout(DEADLINE_S):
                refusal = await _collection(deletion, actor, world, rim)
        except (SutureError, Doubt, TimeoutError) as error:
            # WHY no opinion: admission sees every object of the collection, and decides there.
            log.warning("collection not judged at authorization", error=str(error))
            rim.signals.doubted(LANE, "doubt_authorization")
    if refusal:
        return encode_access(Access.DENIED, refusal)
    return encode_access(Access.NO_OPINION)


def _refused_outright(asked: AccessAsked, actor: Actor) -> str:
    """Return why an identity may not even try, or an empty text."""
    resource = asked.gvr.resource if asked.gvr is not None else None
    writes = asked.verb in WRITES and resource is not None
    if actor.quarantined and writes and resource not in SPARED and asked.subresource != "status":
        return f"suture: operator is quarantined: {actor.quarantined} [quarantine]"
    if actor.kind is not IdentityKind.OPERATOR or not enforced(actor):
        return ""
    if writes and resource in HIDDEN_KINDS and asked.name.startswith("suture"):
        return "suture: its own admission policies are edited by people only [suture-itself]"
    if asked.verb.startswith("impersonate") and asked.name == MASTERS:
        return "suture: an operator may not become system:masters [impersonation]"
    return ""


async def _collection(request: Request, actor: Actor, world: World, rim: Rim) -> str:
    """Judge a whole collection; return the refusal, or remember its selector and return nothing."""
    now = rim.clock()
    judgement = judge(request, actor, world, now, Point.AUTHORIZATION)
    if judgement.verdict.denies:
        judgement = await confirmed(judgement, world, rim)
    if not judgement.verdict.denies:
        note_collection(request, world, now)
        return ""
    decision = rim.decision_id(now)
    verdict = addressed(judgement.verdict, decision)
    entry = entry_of(
        decision,
        judgement.case,
        verdict,
        now,
        lane=LANE,
        findings=judgement.findings,
        claims=judgement.claims,
        receipt=judgement.receipt,
        evidence=judgement.evidence,
    )
    rim.journal.offer([entry])
    rim.signals.decided(LANE, verdict, (rim.clock().mono_ns - now.mono_ns) / 1e9)
    return verdict.message
