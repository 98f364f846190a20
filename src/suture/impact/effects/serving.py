"""Effects on who is reached: endpoints, routes, selectors, the way into the API itself."""

from __future__ import annotations

import msgspec

from suture.impact.effects.common import Confidence, Victim


class EndpointsLost(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A Service would have fewer ready endpoints. `removed`: the Service itself goes too."""

    service: Victim
    before: int
    after: int
    peak: int
    """Ready endpoints that the Service had before removals already admitted and not yet seen."""
    self_healing: bool
    removed: bool = False
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class ServiceEmptied(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A Service that remains would have no ready endpoint left, and had one."""

    service: Victim
    before: int
    self_healing: bool
    declared: int
    """Pods that the controllers behind the Service want in all; 1 cannot be kept up in a dip."""
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class RouteBroken(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An Ingress or route that stays would send traffic to a Service that is gone or empty.

    Gone is also one that the route may not name any more, and one that is `shut`: it lets in nobody
    who sends the route's traffic on.
    """

    route: Victim
    service: Victim
    before: int
    """Ready endpoints behind the Service, before."""
    service_removed: bool
    shut: bool = False
    self_healing: bool = False
    explained: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class AdmissionPathBroken(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A webhook, APIService or CRD conversion would lose the last backend that it has.

    `led`: the backend stays, and the path would lead to another, `service`, without any endpoint.
    `before`: ready endpoints behind it; -1 where it worked without a Service. `fail_closed`: API
    calls then fail. `calls` says which, in words. `blocks_recovery`: the backend's own replacement
    could not be created, so that it never comes back by itself.
    """

    source: Victim
    path: str
    service: Victim
    fail_closed: bool
    self_healing: bool
    service_removed: bool
    blocks_recovery: bool
    calls: str
    before: int
    led: bool = False
    namespaces: tuple[str, ...] = ()
    """Some of the namespaces in which no pod could be created any more."""
    namespaces_count: int = 0
    """How many namespaces those are; -1 where there are too many to look at."""
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True


class SelectionChanged(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A selector would select other pods: it changes, or the labels that it reads do.

    `source` is what selects: a Service, a workload, a budget, a network policy, a custom resource.
    `before` and `after` are Ready pods selected, `kept` those in both. `empty`: the selector would
    select nothing by intent. `foreign`: of the new ones, those with a controller that none of the
    old ones has. `cause` is selector (it changes), labels (those of the pods or of their template),
    role (the label of one pod, written by who keeps it: a failover), orphaned (their controller
    leaves them, and another adopts them) or created. `own`: the actor made what changes, or is it.
    """

    source: Victim
    before: int
    after: int
    kept: int
    empty: bool
    foreign: int = 0
    cause: str = "selector"
    own: bool = False
    confidence: Confidence = Confidence.EXACT
    reversible: bool = True
