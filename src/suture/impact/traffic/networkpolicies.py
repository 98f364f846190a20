"""Network policies: which running pods would lose DNS, the API server, or be reached by nobody.

Beside `scope`. Of pods, by class, in the namespace of the policy; policies add up, so that an allow
rule of another one counts, and a policy that goes may take away what it alone allowed. Who talks to
whom is not known here: what every pod needs, what those need that have rights in the API, and
whether anybody can still come in, is; of who calls a Service others may ask (`shut_to`). An address
block is given the benefit of the doubt.
Source: networking/v1 NetworkPolicy: pods that no policy selects for a direction are open in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from suture.impact.causes.parents import maker_of
from suture.impact.effects import Confidence, ScopeWidened
from suture.impact.ground.change import Change
from suture.impact.ground.fit import Asked
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.spaces import namespace_labels
from suture.model.edges import Edge, Selection
from suture.model.facts import NetworkPolicyFacts
from suture.model.graph import GraphView
from suture.model.names import (
    ADMIN_POLICIES,
    AUTHORIZATION_POLICIES,
    BASELINE_POLICIES,
    CALICO_GLOBAL_POLICIES,
    CALICO_POLICIES,
    CALICO_STORED_GLOBAL_POLICIES,
    CALICO_STORED_POLICIES,
    CILIUM_CLUSTER_POLICIES,
    CILIUM_POLICIES,
    CLUSTER_POLICIES,
    KUBE_SYSTEM,
    MESH_ROOT,
    NAMESPACES,
    NETWORK_POLICIES,
    PEER_AUTHENTICATIONS,
    SERVICES,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject
from suture.model.selectors import Selector
from suture.model.traffic import TrafficRule

DNS_SERVICES: Final = ("kube-dns", "coredns")
DNS_LABELS: Mapping[str, str] = {"k8s-app": "kube-dns"}
"""By which DNS is found in nearly every cluster. SOURCE: kubernetes cluster/addons/dns."""

DNS_PORTS: Final = ((53, "UDP", "dns"), (53, "TCP", "dns-tcp"))
API_PORTS: Final = ((443, "TCP", "https"), (6443, "TCP", "https"))

_SINGLE: Final = ("/32", "/128")

NAMESPACES_ASKED: Final = 2_000
"""LIMIT: namespaces looked into for anybody whom a rule lets in; more are taken to have some."""

Policies = Sequence[NetworkPolicyFacts]

Allows = Callable[[TrafficRule], bool]
"""Whether a rule lets through what is asked about."""

INSIDE: Final = (NETWORK_POLICIES, CILIUM_POLICIES, CALICO_POLICIES, CALICO_STORED_POLICIES)
"""Policies of a namespace."""

ABOVE: Final = (
    CILIUM_CLUSTER_POLICIES, ADMIN_POLICIES, BASELINE_POLICIES, CLUSTER_POLICIES,
    CALICO_GLOBAL_POLICIES, CALICO_STORED_GLOBAL_POLICIES,
)  # fmt: skip
"""Policies of the whole cluster."""

LAYERS: Final = (
    frozenset({*INSIDE, *ABOVE}),
    frozenset({PEER_AUTHENTICATIONS}),
    frozenset({AUTHORIZATION_POLICIES}),
)
"""What adds up with one another: the network, who speaks mutual TLS, and who may ask."""

POLICIES: Final = frozenset[Resource]().union(*LAYERS)
"""What shuts pods off. WHY not more: each network has its own kinds; these are read."""


def closes(change: Change) -> bool:
    """Whether a change may write or remove a policy."""
    made = change.rewritten
    return bool(change.direct) if made is None else made.after.key.resource in POLICIES


def traffic_effects(scene: Scene) -> Iterator[ScopeWidened]:
    """Yield what a written or removed policy takes from running pods, by direction."""
    for written in _written(scene):
        yield from _effects(scene, *written)


def shut_to_api(scene: Scene) -> Iterator[int]:
    """Yield the Services whose serving pods the API server could call no more.

    By the network: what proxies let pass beside mutual TLS, pods say in annotations, which the
    model does not keep.
    """
    spaces = namespace_labels(scene.view, KUBE_SYSTEM)

    def lets_in(rule: TrafficRule) -> bool:
        # It comes from an address outside, or through pods of kube-system that pass its calls on.
        return for_anybody(rule) or any(_in_space(one, KUBE_SYSTEM, spaces) for one in rule.pods)

    return shut_to(scene, lambda _row: lets_in, LAYERS[0])


def shut_to(
    scene: Scene,
    asking: Callable[[int], Allows | None],
    kinds: Collection[Resource] = POLICIES,
) -> Iterator[int]:
    """Yield the Services of which no serving pod lets in any more who calls it.

    `asking` says of a Service by what rules its caller is let in; None where it has none.
    """
    for source, before, after in _written(scene):
        if source.key.resource not in kinds:
            continue
        old, new = _facts(before), _facts(after)
        for space in _spaces(scene.view, source, (*old, *new)):
            yield from _Reach(scene, source.key, space, old, new).shut_to(asking)


def lets_in(view: GraphView, rule: TrafficRule, kind: int) -> bool:
    """Whether a rule lets in the pods of a class, of whatever namespace, on whatever port.

    WHY not by a single address: pods come and go with theirs, so that it is a node or is outside.
    """
    if rule.anybody or not all(one.endswith(_SINGLE) for one in rule.blocks):
        return True
    space = view.namespace(view.one_alike(kind))
    labels, spaces = view.labels(kind), namespace_labels(view, space)
    return any(_in_space(one, space, spaces) and one.selector.matches(labels) for one in rule.pods)


def _written(
    scene: Scene,
) -> Iterator[tuple[ClusterObject, ClusterObject | None, ClusterObject | None]]:
    """Yield the policies that are written or removed: each, as it was, and as it will be."""
    made = scene.change.rewritten
    if scene.change.direct:
        # Of a namespace that goes the pods go too.
        for row in scene.change.direct:
            if scene.view.resource(row) in POLICIES:
                thing = scene.view.at(row)
                yield thing, thing, None
    elif made is not None:
        yield made.after, made.before, made.after


def _effects(
    scene: Scene, source: ClusterObject, before: ClusterObject | None, after: ClusterObject | None
) -> Iterator[ScopeWidened]:
    """Yield what pods lose by one policy, as it was and as it will be, by direction."""
    view, old, new = scene.view, _facts(before), _facts(after)
    lost: dict[str, dict[str, None]] = {"egress": {}, "ingress": {}}
    owners: dict[str, set[int]] = {"egress": set(), "ingress": set()}
    had = has = 0
    for space in _spaces(view, source, (*old, *new)):
        reach = _Reach(scene, source.key, space, old, new)
        had, has = had + reach.matched(old), has + reach.matched(new)
        for part, kind, losses in reach.losses():
            lost[part].update(dict.fromkeys(losses))
            if part == "ingress" and "dns" in losses:
                # Everybody asks the cluster's DNS: every namespace is an owner.
                owners[part].update(view.rows(NAMESPACES))
            pod = view.one_alike(kind)
            if pod >= 0:
                owners[part].add(maker_of(view, pod))
    for part, newly in lost.items():
        if newly:
            yield ScopeWidened(
                source=victim_of(source),
                what="network-policy",
                part=part,
                fail_closed=True,
                backend_ready=0,
                newly=tuple(newly),
                matched_before=had,
                matched_after=has,
                owners=len(owners[part]),
                created=before is None,
                confidence=Confidence.BOUNDED,
            )


def _spaces(view: GraphView, source: ClusterObject, policies: Policies) -> list[str]:
    """Return the namespaces whose pods a policy may select."""
    if source.key.namespace and all(one.namespaces is None for one in policies):
        return [source.key.namespace]
    return [
        view.name(row)
        for row in view.rows(NAMESPACES)[:NAMESPACES_ASKED]
        if any(
            one.namespaces is not None and one.namespaces.matches(view.labels(row))
            for one in policies
        )
    ]


class _Reach:
    """The pods of one namespace before and after a policy is written."""

    def __init__(
        self, scene: Scene, source: ObjectKey, space: str, old: Policies, new: Policies
    ) -> None:
        self._view, self._space = scene.view, space
        self._labels = namespace_labels(scene.view, space)
        self._old, self._new = self._applying(old), self._applying(new)
        view, gone = scene.view, set(scene.change.direct)
        layer = next(one for one in LAYERS if source.resource in one)
        rows = [row for kind in layer for row in _of_space(view, kind, space)]
        others = [
            facts
            for row in rows
            # WHY by name: the same policy may be listed as it is stored and as it is served.
            if row not in gone and not _same(source, view.key(row))
            for facts in _facts(view.at(row))
        ]
        self._others = self._applying(others)
        self._anywhere: dict[TrafficRule, bool] = {}
        self._met: tuple[int, Policies, Policies] | None = None

    def _applying(self, policies: Policies) -> Policies:
        """Return which policies may select pods of this namespace."""
        return [
            one
            for one in policies
            if one.namespaces is None or one.namespaces.matches(self._labels)
        ]

    def matched(self, policies: Policies) -> int:
        """Return how many running pods policies select."""
        chosen = [one.selector for one in self._applying(policies)]
        kinds = self._view.classes_matching(self._space, chosen)
        return sum(self._view.running_alike(kind)[0] for kind in kinds)

    def losses(self) -> Iterator[tuple[str, int, list[str]]]:
        """Yield direction, class of pods, and what they lose."""
        for kind in self._reached():
            for part, losses in (("egress", self._egress), ("ingress", self._ingress)):
                found = losses(kind)
                if found:
                    yield part, kind, found

    def shut_to(self, asking: Callable[[int], Allows | None]) -> Iterator[int]:
        """Yield the Services of which no serving pod lets in any more who calls it."""
        view = self._view
        asked = {row for kind in self._reached() for row in view.selecting_class(kind, SERVICES)}
        for row in sorted(asked):
            allows = asking(row)
            if allows is None:
                continue
            kinds = view.classes_selected(row)
            lost = any(self._lost(kind, egress=False, allows=allows) for kind in kinds)
            if lost and not any(self._is_called(kind, allows) for kind in kinds):
                yield row

    def _is_called(self, kind: int, allows: Allows) -> bool:
        """Whether who calls reaches serving pods of a class after the write.

        WHY by the host: no policy holds for pods of the node's own network.
        """
        if not self._view.running_alike(kind)[1]:
            return False
        if Asked(self._view).of(self._view.one_alike(kind)).host_network:
            return True
        return _open(self._selecting(kind)[1], egress=False, allows=allows)

    def _reached(self) -> list[int]:
        """Return the classes of running pods that the policy selects, before or after."""
        selectors = [facts.selector for facts in (*self._old, *self._new)]
        kinds = self._view.classes_matching(self._space, selectors)
        return [kind for kind in kinds if self._view.running_alike(kind)[0]]

    def _lost(self, kind: int, *, egress: bool, allows: Allows) -> bool:
        """Whether something is allowed before, and no more after."""
        old, new = self._selecting(kind)
        before = _open(old, egress=egress, allows=allows)
        return before and not _open(new, egress=egress, allows=allows)

    def _selecting(self, kind: int) -> tuple[Policies, Policies]:
        """Return the policies that select pods of a class, before and after.

        WHY kept: five questions are asked of a class, one after the other.
        """
        if self._met is None or self._met[0] != kind:
            labels = self._view.labels(kind)
            others, old, new = (
                [one for one in policies if one.selector.matches(labels)]
                for policies in (self._others, self._old, self._new)
            )
            self._met = kind, [*others, *old], [*others, *new]
        return self._met[1], self._met[2]

    def _egress(self, kind: int) -> list[str]:
        found = []
        if self._lost(kind, egress=True, allows=self._allows_dns):
            found.append("dns")
        if self._lost(kind, egress=True, allows=_allows_api) and self._has_rights(kind):
            found.append("apiserver")
        if self._lost(kind, egress=True, allows=self._leads_anywhere):
            found.append("service")
        return found

    def _ingress(self, kind: int) -> list[str]:
        found = []
        services = self._view.selecting_class(kind, SERVICES)
        serving = self._view.running_alike(kind)[1] > 0
        if not services or not serving:
            return []
        if any(is_dns(self._view, row) for row in services) and self._lost(
            kind, egress=False, allows=_lets_all_ask
        ):
            found.append("dns")
        if self._lost(kind, egress=False, allows=self._leads_anywhere):
            found.append("service")
        return found

    def _has_rights(self, kind: int) -> bool:
        """Whether the account of some pods is granted anything: only those ask the API server."""
        view = self._view
        pods = view.pods_alike(kind)
        accounts = view.targets(pods[0], Edge.SERVICE_ACCOUNT) if pods else []
        return any(view.sources(account, Edge.SUBJECT) for account, _ in accounts)

    def _allows_dns(self, rule: TrafficRule) -> bool:
        if not _on(rule, DNS_PORTS):
            return False
        if for_anybody(rule):
            return True
        spaces = namespace_labels(self._view, KUBE_SYSTEM)
        return any(
            _in_space(one, KUBE_SYSTEM, spaces)
            and any(map(one.selector.matches, self._dns_labels()))
            for one in rule.pods
        )

    def _dns_labels(self) -> list[Mapping[str, str]]:
        """Return the labels of the pods that answer for DNS; the usual ones where none are seen."""
        view = self._view
        found = [
            view.labels(kind)
            for row in view.rows(SERVICES, KUBE_SYSTEM)
            if is_dns(view, row)
            for kind in view.classes_selected(row)
        ]
        return found or [DNS_LABELS]

    def _leads_anywhere(self, rule: TrafficRule) -> bool:
        """Whether a rule names anybody who is there."""
        if for_anybody(rule):
            return True
        # WHY kept: it is asked again for each class of pods.
        found = self._anywhere.get(rule)
        if found is None:
            found = self._anywhere[rule] = any(self._somebody(one) for one in rule.pods)
        return found

    def _somebody(self, one: Selection) -> bool:
        view = self._view
        if not one.everywhere:
            return bool(view.classes_matching(one.namespace, [one.selector]))
        rows = view.rows(NAMESPACES)
        if len(rows) > NAMESPACES_ASKED:
            return True
        wanted = one.namespaces or Selector()
        return any(
            view.classes_matching(view.name(row), [one.selector])
            for row in rows
            if wanted.matches(view.labels(row))
        )


def _of_space(view: GraphView, kind: Resource, space: str) -> Sequence[int]:
    """Return the policies of a kind that may be for a namespace."""
    if kind in ABOVE:
        return view.rows(kind)
    own = view.rows(kind, space)
    return own if kind in INSIDE or space == MESH_ROOT else [*own, *view.rows(kind, MESH_ROOT)]


def is_dns(view: GraphView, service: int) -> bool:
    """Whether a Service is that of the cluster's DNS."""
    return view.namespace(service) == KUBE_SYSTEM and (
        view.name(service) in DNS_SERVICES or view.labels(service).get("k8s-app") == "kube-dns"
    )


def _same(one: ObjectKey, other: ObjectKey) -> bool:
    """Whether two policies are one and the same, in one group or in two."""
    return (
        one.name == other.name
        and one.namespace == other.namespace
        and one.resource.plural == other.resource.plural
        and one.resource.group.rpartition("crd.")[2] == other.resource.group.rpartition("crd.")[2]
    )


def _facts(thing: ClusterObject | None) -> tuple[NetworkPolicyFacts, ...]:
    facts = thing.facts if thing is not None else None
    return (facts,) if isinstance(facts, NetworkPolicyFacts) else ()


def _open(applying: Policies, *, egress: bool, allows: Allows) -> bool:
    """Whether the policies that select some pods let something through: all do where none closes.

    What a policy allows that closes nothing counts beside one that does.
    """
    if not any(facts.egress if egress else facts.ingress for facts in applying):
        return True
    return any(rule.egress is egress and allows(rule) for facts in applying for rule in facts.rules)


def _on(rule: TrafficRule, ports: Iterable[tuple[int, str, str]]) -> bool:
    return any(rule.on(*port) for port in ports)


def for_anybody(rule: TrafficRule) -> bool:
    """Whether a rule is for anybody, or for addresses, which may be anybody's."""
    return rule.anybody or bool(rule.blocks)


def _allows_api(rule: TrafficRule) -> bool:
    # WHY no pods: the API server is no pod of the pod network, so that no selector finds it.
    return _on(rule, API_PORTS) and for_anybody(rule)


def _lets_all_ask(rule: TrafficRule) -> bool:
    """Whether a rule lets every pod of the cluster ask DNS."""
    return _on(rule, DNS_PORTS) and (
        for_anybody(rule)
        or any(
            one.selector.everything and one.namespaces is not None and one.namespaces.everything
            for one in rule.pods
        )
    )


def _in_space(one: Selection, namespace: str, labels: Mapping[str, str]) -> bool:
    if one.namespaces is None:
        return one.namespace == namespace
    return one.namespaces.matches(labels)
