"""Network policies: which running pods would lose DNS, the API server, or be reached by nobody.

Beside `scope`. Of pods, by class, in the namespace of the policy; policies add up, so that an allow
rule of another one counts, and a policy that goes may take away what it alone allowed. Who talks to
whom is not known here: what every pod needs, what those need that have rights in the API, and
whether anybody can still come in, is; of who calls a Service others may ask (`shut_to`). An address
block is given the benefit of the doubt.
Source: networking/v1 NetworkPolicy: pods that no policy selects for a direction are open in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from suture.impact.causes.parents import maker_of
from suture.impact.effects import Confidence, ScopeWidened
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.policyreach import (
    NAMESPACES_ASKED,
    NETWORKS,
    Reach,
    Written,
    for_anybody,
    in_space,
    written_policies,
)
from suture.impact.traffic.spaces import namespace_labels
from suture.model.edges import Edge, Selection
from suture.model.graph import GraphView
from suture.model.names import (
    KUBE_SYSTEM,
    NAMESPACES,
    SERVICES,
)
from suture.model.selectors import Selector
from suture.model.traffic import TrafficRule

DNS_SERVICES: Final = ("kube-dns", "coredns")
DNS_LABELS: Mapping[str, str] = {"k8s-app": "kube-dns"}
"""By which DNS is found in nearly every cluster. SOURCE: kubernetes cluster/addons/dns."""

DNS_PORTS: Final = ((53, "UDP", "dns"), (53, "TCP", "dns-tcp"))
API_PORTS: Final = ((443, "TCP", "https"), (6443, "TCP", "https"))


def traffic_effects(scene: Scene) -> Iterator[ScopeWidened]:
    """Yield what a written or removed policy takes from running pods, by direction."""
    for written in written_policies(scene):
        yield from _effects(scene, written)


def shut_to_api(scene: Scene, reaches: Sequence[Reach]) -> Iterator[int]:
    """Yield the Services whose serving pods the API server could call no more.

    By the network: what proxies let pass beside mutual TLS, pods say in annotations, which the
    model does not keep.
    """
    spaces = namespace_labels(scene.view, KUBE_SYSTEM)

    def lets_in(rule: TrafficRule) -> bool:
        # It comes from an address outside, or through pods of kube-system that pass its calls on.
        return for_anybody(rule) or any(in_space(one, KUBE_SYSTEM, spaces) for one in rule.pods)

    for reach in reaches:
        if reach.of in NETWORKS:
            yield from reach.shut_to(lambda _row: lets_in)


def _effects(scene: Scene, written: Written) -> Iterator[ScopeWidened]:
    """Yield what pods lose by one policy, by direction."""
    view = scene.view
    lost: dict[str, dict[str, None]] = {"egress": {}, "ingress": {}}
    owners: dict[str, set[int]] = {"egress": set(), "ingress": set()}
    anywhere: dict[TrafficRule, bool] = {}
    had = has = 0
    for space in written.spaces:
        reach = _Losses(scene, written, space, anywhere)
        had, has = had + reach.matched(written.old), has + reach.matched(written.new)
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
                source=victim_of(written.source),
                what="network-policy",
                part=part,
                fail_closed=True,
                backend_ready=0,
                newly=tuple(newly),
                matched_before=had,
                matched_after=has,
                owners=len(owners[part]),
                created=written.created,
                confidence=Confidence.BOUNDED,
            )


class _Losses(Reach):
    """What running pods of one namespace lose when a policy is written.

    `anywhere`: of rules, whether they name anybody who is there; the same from each namespace.
    """

    def __init__(
        self, scene: Scene, written: Written, space: str, anywhere: dict[TrafficRule, bool]
    ) -> None:
        super().__init__(scene, written, space)
        self._anywhere = anywhere

    def losses(self) -> Iterator[tuple[str, int, list[str]]]:
        """Yield direction, class of pods, and what they lose."""
        for kind in self._reached():
            for part, losses in (("egress", self._egress), ("ingress", self._ingress)):
                found = losses(kind)
                if found:
                    yield part, kind, found

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
            in_space(one, KUBE_SYSTEM, spaces)
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
        # WHY kept: it is asked again for each class of pods, and looks into all namespaces.
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


def is_dns(view: GraphView, service: int) -> bool:
    """Whether a Service is that of the cluster's DNS."""
    return view.namespace(service) == KUBE_SYSTEM and (
        view.name(service) in DNS_SERVICES or view.labels(service).get("k8s-app") == "kube-dns"
    )


def _on(rule: TrafficRule, ports: Iterable[tuple[int, str, str]]) -> bool:
    return any(rule.on(*port) for port in ports)


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
