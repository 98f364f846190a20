"""How a refusal of Suture's is known in an answer of the API server, and what it says.

Lives in the scenarios because they alone must tell Suture's refusals from everybody else's. Pure.
"""

from __future__ import annotations

import re

import msgspec

_DECISION = re.compile(r"\(decision ([^;)\s]+)")
_CONSTRAINT = re.compile(r"\[([^\[\]]+)\] ?\(decision ")
_IN_PROCESS = re.compile(r"ValidatingAdmissionPolicy '((?:[\w.-]*\.)?suture[\w.-]*)'")


BESIDE_POLICIES = (
    "freeze-window",
    "impersonation",
    "quarantine",
    "suture-grants",
    "suture-itself",
    "suture-namespace",
    "suture-quarantine",
    "suture-registration",
    "suture-webhook-safety",
    "suture-webhook-safety-kube-system",
)
"""What refusals are by that no constraint makes, inside the API server too."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One refusal: which decision, by which policy, in which words."""

    decision: str = ""
    policy: str = ""
    message: str = ""


def refusal_in(message: str) -> Refusal | None:
    """Return the refusal that an error's words hold: a decision id or an in-process policy."""
    decision = _DECISION.search(message)
    if decision is not None and "suture" in message.lower():
        named = _CONSTRAINT.search(message)
        at = message.find("suture: ")
        return Refusal(
            decision=decision[1],
            policy=named[1] if named else "",
            message=message[at:] if at >= 0 else message,
        )
    policy = _IN_PROCESS.search(message)
    if policy is not None:
        return Refusal(policy=policy[1], message=message)
    return None
