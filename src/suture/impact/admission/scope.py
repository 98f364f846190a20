"""What would reach more than before: webhooks, bindings to everybody, policies that shut pods off.

Webhooks and bindings are here, and the labels of namespaces by which webhooks look into them; who
loses traffic to a network policy is next door, in `traffic`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from suture.impact.effects import Confidence, ScopeWidened, Victim
from suture.impact.ground.change import Change
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.networkpolicies import traffic_effects
from suture.impact.traffic.policyreach import POLICIES
from suture.impact.traffic.spaces import backend_labels, namespace_labels
from suture.impact.workloads.spacelabels import hooks_by_space, relabels_space
from suture.model.facts import RoleBindingFacts
from suture.model.graph import GraphView
from suture.model.matchsets import Call, Match, matches
from suture.model.names import (
    BINDINGS,
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    KUBE_SYSTEM,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    WEBHOOKS,
    Resource,
)
from suture.model.objects import ClusterObject, Webhook, WebhookFacts

_WRITTEN: Final = BINDINGS | POLICIES | {*WEBHOOKS}

ESSENTIAL: Final = (
    PODS, SERVICES, ENDPOINT_SLICES, CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS, DEPLOYMENTS,
    REPLICA_SETS, DAEMON_SETS, LEASES,
)  # fmt: skip
"""What the components in kube-system write, or are made of: who stands in its way stands in the way
of the cluster itself."""

HEARTBEATS: Final = (KUBE_SYSTEM, "kube-node-lease")
"""Namespaces of the Leases by which components lead and nodes live. SOURCE: Kubernetes' own."""

RENEWED_WITHIN_S: Final = 5
"""How long a component that leads waits for one renewal of its Lease: half of the time after which
it gives up. SOURCE: client-go leaderelection and Kubernetes' defaults (`renewDeadline` 10 s)."""

WRITES: Final = ("CREATE", "UPDATE", "DELETE")

STARTS: Final = (
    ("CREATE", PODS, "binding"),
    ("UPDATE", PODS, "status"),
    ("CREATE", SERVICE_ACCOUNTS, "token"),
)
"""What else has to be written before a pod runs and is Ready: its node, its status by the kubelet,
and the token that it is given. SOURCE: kube-scheduler; kubelet, status and token managers."""

EVERYBODY: Final = frozenset(
    {"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:anonymous"}
)
"""Groups, and the user of those who say no name, that everybody or every account is in."""

NAMESPACES_ASKED: Final = 2_000
"""LIMIT: namespaces of which each is asked whether a webhook matches its pods: 3 µs each, 6 ms,
for writes that come a few times a day. More are taken to be like these."""

BY_URL: Final = -1
"""Ready backends of a webhook that is called by URL, of which the model knows nothing."""


def widens(change: Change) -> bool:
    """Whether a change may let anything reach further."""
    made = change.rewritten
    if made is not None and made.after.key.resource in _WRITTEN:
        return True
    return bool(change.direct) or relabels_space(change)


def scope_effects(scene: Scene) -> Iterator[ScopeWidened]:
    """Yield what would reach more than before."""
    made = scene.change.rewritten
    if scene.change.direct:
        if not POLICIES.isdisjoint(scene.kinds):
            yield from traffic_effects(scene)
        return
    if made is None:
        return
    resource = made.after.key.resource
    if resource in WEBHOOKS:
        yield from _webhooks(scene)
    elif resource in BINDINGS:
        yield from _bindings(scene)
    elif resource in POLICIES:
        yield from traffic_effects(scene)
    elif relabels_space(scene.change):
        yield from _looked_into(scene)


def _webhooks(scene: Scene) -> Iterator[ScopeWidened]:
    made = scene.change.rewritten
    if made is None or not isinstance(made.after.facts, WebhookFacts):
        return
    earlier = made.facts_before
    known = (
        {hook.name: hook for hook in earlier.webhooks} if isinstance(earlier, WebhookFacts) else {}
    )
    for hook in made.after.facts.webhooks:
        before = known.get(hook.name)
        if before == hook:
            continue
        if _outwaits(hook):
            yield from _leases_lost(scene, made.after, hook, before)
        if before is not None and hook.fail_closed and not before.fail_closed:
            # What did not stand in the way when nobody answered does now.
            before = None
        found = _Reach(scene, hook)
        had = _Reach(scene, before) if before is not None else None
        newly = found.newly(had)
        kinds, kinds_before = found.kinds(), had.kinds() if had is not None else 0
        if not newly and kinds <= kinds_before:
            continue
        yield found.widened(
            victim_of(made.after), newly, kinds_before, kinds,
            fail_closed=hook.fail_closed, created=made.before is None,
        )  # fmt: skip


def _outwaits(hook: Webhook) -> bool:
    """Whether a webhook lets pass what nobody answers, but later than a Lease has to be renewed."""
    return not hook.fail_closed and hook.waits_s >= RENEWED_WITHIN_S


def _leases_lost(
    scene: Scene, source: ClusterObject, hook: Webhook, before: Webhook | None
) -> Iterator[ScopeWidened]:
    """Tell of a webhook for which a renewal would wait until it is too late, and did not before.

    That it fails open is of no help then: who renews has gone before the answer comes. So it counts
    as one that fails closed, and its name is told with the reason, which its author can change.
    """
    found = _Reach(scene, hook)
    held = before is not None and (before.fail_closed or _outwaits(before))
    if not found.leases() or (held and before and _Reach(scene, before).leases()):
        return
    waits = f", waited for {hook.waits_s} s where a Lease has {RENEWED_WITHIN_S} s,"
    yield found.widened(victim_of(source), ("leases",), 0, 1, reason=waits)


def _looked_into(scene: Scene) -> Iterator[ScopeWidened]:
    """Yield the fail-closed webhooks that would look into a namespace for its new labels."""
    made = scene.change.rewritten
    if made is None or made.before is None:
        return
    space, old, new = made.after.key.name, made.before.labels, made.after.labels
    for row, hook in hooks_by_space(scene.view):
        selector = hook.namespace_selector
        if not hook.fail_closed or selector.matches(old) or not selector.matches(new):
            continue
        found = _Reach(scene, hook, {space: new})
        newly = found.newly_in(space, _Reach(scene, hook, {space: old}))
        if newly:
            kinds = found.kinds()
            yield found.widened(scene.victim(row), newly, kinds, kinds)


def _ready(view: GraphView, hook: Webhook) -> int:
    if hook.service is None:
        return BY_URL
    row = view.service(hook.service)
    return 0 if row is None else view.serving_count(row)


class _Reach:
    """What one webhook is asked about, as far as it matters.

    `spaces`: labels of namespaces that are not, or not yet, as the graph has them.
    """

    def __init__(
        self,
        scene: Scene,
        hook: Webhook,
        spaces: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self._scene, self._view, self._hook, self._spaces = scene, scene.view, hook, spaces
        self.unsure = False

    def newly(self, had: _Reach | None) -> tuple[str, ...]:
        """Return what it matches and another did not, in words."""
        asked = (
            ("own-backend", _Reach.own),
            (KUBE_SYSTEM, _Reach.system),
            ("nodes", _Reach.nodes),
            ("leases", _Reach.leases),
            ("everything", _Reach.everything),
        )
        words = [word for word, does in asked if does(self) and not (had is not None and does(had))]
        if self.pods() - (had.pods() if had is not None else frozenset()):
            words.append("pods")
        return tuple(words)

    def newly_in(self, space: str, had: _Reach) -> tuple[str, ...]:
        """Return what it matches in one namespace and another did not, in the same words."""
        asked = []
        if self._hook.service is not None and self._hook.service.namespace == space:
            asked.append(("own-backend", _Reach.own))
        if space == KUBE_SYSTEM:
            asked.append((KUBE_SYSTEM, _Reach.system))
        words = [word for word, does in asked if does(self) and not does(had)]
        if space in HEARTBEATS and self._leases_in(space) and not had._leases_in(space):
            words.append("leases")
        if self._names(PODS) and self._pods_in(space) and not had._pods_in(space):
            words.append("pods")
        return tuple(words)

    def kinds(self) -> int:
        """Return how many types its rules name."""
        return sum(map(self._names, self._view.resources()))

    def widened(
        self,
        source: Victim,
        newly: tuple[str, ...],
        before: int,
        after: int,
        *,
        fail_closed: bool = True,
        reason: str = "",
        created: bool = False,
    ) -> ScopeWidened:
        """Return what it would reach, and on how many types before and after."""
        return ScopeWidened(
            source=source,
            what="webhook",
            part=f"{self._hook.name}{reason}",
            fail_closed=fail_closed,
            backend_ready=_ready(self._view, self._hook),
            newly=newly,
            matched_before=before,
            matched_after=after,
            created=created,
            confidence=Confidence.BOUNDED if self.unsure else Confidence.EXACT,
        )

    def _matches(
        self,
        operation: str,
        resource: Resource,
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        subresource: str = "",
    ) -> bool:
        call = Call(
            operation=operation,
            resource=resource,
            subresource=subresource,
            namespace=namespace,
            namespace_labels=self._labels_on(namespace) if namespace else None,
            labels=labels or {},
            old_labels=None if operation == "CREATE" else labels or {},
        )
        found = matches(self._hook, call, self._scene.evaluate)
        self.unsure |= found is Match.MAYBE
        return found is not Match.NO

    def _labels_on(self, namespace: str) -> Mapping[str, str]:
        given = self._spaces.get(namespace)
        return namespace_labels(self._view, namespace) if given is None else given

    def own(self) -> bool:
        """Whether it is asked about new pods behind its own Service, or for them to start."""
        ref = self._hook.service
        if ref is None:
            return False
        backend = backend_labels(self._view, ref.namespace, ref.name)
        return any(
            self._matches("CREATE", PODS, ref.namespace, labels) for labels in backend
        ) or self._starts(ref.namespace, backend)

    def system(self) -> bool:
        """Whether it is asked about what the components in kube-system write or are made of."""
        return any(
            self._matches(operation, resource, KUBE_SYSTEM, labels)
            for resource in ESSENTIAL
            if self._names(resource)
            for labels in self._labels_of(resource)
            for operation in WRITES
        ) or (self._names_part() and self._starts(KUBE_SYSTEM, self._labels_of(PODS)))

    def _starts(self, namespace: str, pods: Iterable[Mapping[str, str]]) -> bool:
        """Whether it is asked for something without which no pod of a namespace starts.

        Labels are known of a pod's own status alone: a Binding and a TokenRequest are objects of
        their own, which bear none.
        """
        if not self._names_part():
            return False
        return any(
            self._matches(operation, resource, namespace, labels, part)
            for operation, resource, part in STARTS
            for labels in (pods if part == "status" else ({},))
        )

    def _names_part(self) -> bool:
        """Whether its rules name any part of an object: hardly any do."""
        return any("/" in one for rule in self._hook.rules for one in rule.resources)

    def _names(self, resource: Resource) -> bool:
        return any(
            _named(rule.groups, resource.group) and _named_resource(rule.resources, resource)
            for rule in self._hook.rules
        )

    def _labels_of(self, resource: Resource) -> list[Mapping[str, str]]:
        """Return the labels of what is in kube-system, where labels matter at all."""
        if self._hook.object_selector.everything:
            return [{}]
        rows = self._view.rows(resource, KUBE_SYSTEM)
        return [self._view.labels(row) for row in rows[:NAMESPACES_ASKED]] or [{}]

    def nodes(self) -> bool:
        """Whether it is asked about nodes or their status."""
        return any(
            self._matches(operation, NODES, subresource=part)
            for operation in WRITES
            for part in ("", "status")
        )

    def leases(self) -> bool:
        """Whether it is asked when a node lives, or a component of the cluster leads."""
        return any(map(self._leases_in, HEARTBEATS))

    def _leases_in(self, namespace: str) -> bool:
        return any(self._matches(one, LEASES, namespace) for one in ("CREATE", "UPDATE"))

    def pods(self) -> frozenset[str]:
        """Return the namespaces in which it is asked about new pods."""
        if not self._names(PODS):
            return frozenset()
        rows = self._view.rows(NAMESPACES)[:NAMESPACES_ASKED]
        return frozenset(filter(self._pods_in, map(self._view.name, rows)))

    def _pods_in(self, namespace: str) -> bool:
        """Whether it is asked about new pods in a namespace."""
        alike = self._hook.object_selector.everything
        kinds = [] if alike else self._view.classes_in(namespace)
        some = [{}] if alike else [self._view.labels(kind) for kind in kinds]
        return any(self._matches("CREATE", PODS, namespace, one) for one in some)

    def everything(self) -> bool:
        """Whether nothing narrows what it is asked about."""
        hook = self._hook
        return (
            hook.namespace_selector.everything
            and hook.object_selector.everything
            and not hook.conditions
            and any(
                "*" in rule.groups and not {"*", "*/*"}.isdisjoint(rule.resources)
                for rule in hook.rules
            )
        )


def _named(wanted: tuple[str, ...], given: str) -> bool:
    return "*" in wanted or given in wanted


def _named_resource(wanted: tuple[str, ...], resource: Resource) -> bool:
    return any(one.partition("/")[0] in ("*", resource.plural) for one in wanted)


def _bindings(scene: Scene) -> Iterator[ScopeWidened]:
    """Yield a binding that would grant to everybody, or to every account."""
    made = scene.change.rewritten
    if made is None or not isinstance(made.after.facts, RoleBindingFacts):
        return
    old = made.facts_before
    before = _everybody(old) if isinstance(old, RoleBindingFacts) else frozenset()
    after = _everybody(made.after.facts)
    if after <= before:
        return
    yield ScopeWidened(
        source=victim_of(made.after),
        what="binding",
        part=", ".join(sorted(after - before)),
        fail_closed=False,
        backend_ready=BY_URL,
        newly=("everything",),
        matched_before=len(before),
        matched_after=len(after),
        created=made.before is None,
    )


def _everybody(facts: RoleBindingFacts) -> frozenset[str]:
    return EVERYBODY.intersection((*facts.groups, *facts.users))
