"""A few words on one object that tell it from its siblings: what matters of its facts, to people.

Beside `neighbourhood`, which counts; here is what only makes sense of a single object.
"""

from __future__ import annotations

from suture.model.facts import (
    AttachmentFacts,
    AutoscalerFacts,
    DisruptionBudgetFacts,
    LeaseFacts,
    NetworkPolicyFacts,
    SnapshotContentFacts,
    SnapshotFacts,
    StorageClassFacts,
    VolumeFacts,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    NodeFacts,
    ServiceFacts,
    Webhook,
    WebhookFacts,
    WorkloadFacts,
)


def marks_of(thing: ClusterObject) -> tuple[str, ...]:
    """Return what is to be said of an object beside its name; nothing of most kinds."""
    match thing.facts:
        case ServiceFacts(type=kind, headless=headless):
            return ("headless",) if headless else (kind,)
        case NodeFacts(unschedulable=True):
            return ("cordoned",)
        case ClaimFacts(bound=bound):
            return ("bound" if bound else "not bound",)
        case WorkloadFacts(finished=True):
            return ("finished",)
        case VolumeFacts(reclaim=reclaim, phase=phase):
            return tuple(word for word in (phase, f"reclaim {reclaim}") if word)
        case StorageClassFacts(reclaim=reclaim, default=default):
            return ("default",) * default + (f"reclaim {reclaim}",)
        case AttachmentFacts(attached=attached):
            return ("attached" if attached else "not attached",)
        case SnapshotFacts(ready=ready):
            return ("can be restored" if ready else "cannot be restored yet",)
        case SnapshotContentFacts(deletion=deletion):
            return (f"deletion {deletion}",)
        case DisruptionBudgetFacts(allowed=allowed):
            return (f"lets {allowed} go now",)
        case AutoscalerFacts(least=least, most=most, floor=floor):
            return (f"{least} to {most}",) + ("cannot read its metrics",) * (floor > least)
        case NetworkPolicyFacts(ingress=ingress, egress=egress):
            return ("ingress",) * ingress + ("egress",) * egress
        case LeaseFacts(holder=holder) if holder:
            return (f"held by {holder}",)
        case WebhookFacts(webhooks=webhooks):
            return _calls(webhooks)
        case _:
            return ()


def _calls(webhooks: tuple[Webhook, ...]) -> tuple[str, ...]:
    """Say what happens to requests when webhooks do not answer."""
    closed = sum(one.fail_closed for one in webhooks)
    if not webhooks:
        return ()
    return (f"{closed} of {len(webhooks)} fail closed" if closed else "all fail open",)
