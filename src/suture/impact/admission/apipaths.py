"""Ways into the API for which a Service answers, and those of them that a change would break."""

from __future__ import annotations

import msgspec

from suture.impact.effects import AdmissionPathBroken
from suture.model.objects import HTTPS, ServiceRef, Webhook


class Use(msgspec.Struct, frozen=True, gc=False):
    """One way into the API that a Service answers for."""

    path: str
    service: ServiceRef
    fail_closed: bool
    calls: str
    hook: Webhook | None = None
    sure: bool = True
    port: int = HTTPS


class Broken(msgspec.Struct, frozen=True, gc=False):
    """A path that loses its backend, with the webhook where it is one."""

    effect: AdmissionPathBroken
    hook: Webhook | None

    @property
    def stays(self) -> bool:
        """Whether calls fail from then on, until somebody mends it."""
        effect = self.effect
        return effect.fail_closed and (not effect.self_healing or effect.blocks_recovery)

    @property
    def races(self) -> bool:
        """Whether it stays broken only if its own next pods are too late."""
        effect = self.effect
        return effect.fail_closed and effect.self_healing and effect.blocks_recovery
