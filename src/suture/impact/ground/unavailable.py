"""How many pods of a workload a rollout may have down at a time, by its strategy.

Source: apps/v1 DeploymentStrategy, DaemonSetUpdateStrategy, StatefulSetUpdateStrategy.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.stamps import ON_DELETE, RECREATE
from suture.model.facts import Amount
from suture.model.names import DAEMON_SETS, STATEFUL_SETS, Resource
from suture.model.podtemplate import Rollout

DEPLOYMENT_SHARE: Final = "25%"
"""SOURCE: apps/v1 defaulting of a Deployment's maxUnavailable and maxSurge."""


def unavailable_of(rollout: Rollout, resource: Resource, wanted: int) -> int:
    """Return how many pods at most a rollout of a workload may have down at a time."""
    if rollout.strategy in {RECREATE, ON_DELETE}:
        return wanted
    most = rollout.max_unavailable
    if resource == DAEMON_SETS:
        if _amount(rollout.max_surge, wanted):
            return 0
        return _amount(1 if most is None else most, wanted)
    if resource == STATEFUL_SETS:
        return max(1, _amount(1 if most is None else most, wanted))
    down = _amount(DEPLOYMENT_SHARE if most is None else most, wanted, up=False)
    surge = DEPLOYMENT_SHARE if rollout.max_surge is None else rollout.max_surge
    return down or int(not _amount(surge, wanted))


def _amount(amount: Amount | None, of: int, *, up: bool = True) -> int:
    """Resolve a number or share of pods. Source: intstr.GetScaledValueFromIntOrPercent."""
    if amount is None:
        return 0
    if isinstance(amount, int):
        return amount
    share = amount.removesuffix("%")
    if not share.isdecimal():
        return 0
    exact = int(share) * of
    return -(-exact // 100) if up else exact // 100
