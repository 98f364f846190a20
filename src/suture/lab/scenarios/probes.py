"""Other harm than lost objects, each a number between two moments of a cluster.

Lives beside `harm`: the same two observations, other questions. A probe is a function, the
resources that it reads, and its docstring, which is its help. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.harm import BETWEEN, PODS, SERVICES, SLICES, ready_of
from suture.lab.scenarios.observe import (
    Observation,
    is_finished,
    is_ready,
    labels_of,
    owners_of,
    terminating,
)
from suture.model.selectors import Operator, Requirement, Selector

NODES = "nodes"
SPACES = "namespaces"
WORKLOADS = ("deployments.apps", "statefulsets.apps", "replicasets.apps")
CONFIGS = ("configmaps", "secrets")
POLICIES = "networkpolicies.networking.k8s.io"

_DNS_SPACE = "kube-system"
_DNS = {"k8s-app": "kube-dns"}
_NAME_LABEL = "kubernetes.io/metadata.name"

Measure = Callable[[Observation, Observation], int]


@dataclass(frozen=True)
class Probe:
    """A question about two moments."""

    measure: Measure
    reads: tuple[str, ...] = ()
    tries_pods: bool = False

    @property
    def help(self) -> str:
        """What it counts, in one line."""
        return (self.measure.__doc__ or "").strip().splitlines()[0]


def pod_creation_blocked(before: Observation, after: Observation) -> int:
    """Namespaces where a pod could be created before and cannot now (tried by dry run)."""
    return len(set(after.blocked) - set(before.blocked))


def nodes_cordoned(before: Observation, after: Observation) -> int:
    """Nodes that took pods before and, still there, take none now: cordoned or tainted."""
    now = after.of(NODES)
    return sum(
        not _closed(node) and uid in now and _closed(now[uid])
        for uid, node in before.of(NODES).items()
    )


def _closed(node: Object) -> bool:
    spec = node.get("spec") or {}
    taints = spec.get("taints") or ()
    # WHY: the control plane itself taints nodes by condition; those keys are its own.
    return bool(spec.get("unschedulable")) or any(
        taint.get("effect") in ("NoSchedule", "NoExecute")
        and not str(taint.get("key", "")).startswith("node.kubernetes.io/")
        for taint in taints
    )


def nodes_lost(before: Observation, after: Observation) -> int:
    """Nodes that are gone or terminating."""
    return _lost(before.of(NODES), after.of(NODES))


def node_labels_lost(before: Observation, after: Observation) -> int:
    """Nodes, still there, that lost a label which they had."""
    now = after.of(NODES)
    return sum(
        uid in now and not labels_of(node).keys() <= labels_of(now[uid]).keys()
        for uid, node in before.of(NODES).items()
    )


def pods_restarted(before: Observation, after: Observation) -> int:
    """Pods that ran and were replaced, or their containers restarted, while their owner lives."""
    now, owners = after.of(PODS), _uids(after)
    return sum(
        (_went(uid, now) and any(one in owners for one in owners_of(pod)))
        or _restarts(now.get(uid)) > _restarts(pod)
        for uid, pod in _running(before).items()
    )


def pods_lost(before: Observation, after: Observation) -> int:
    """Pods that ran and are gone or terminating, and whose owner is gone, or that had none."""
    now, owners = after.of(PODS), _uids(after)
    return sum(
        _went(uid, now) and not any(one in owners for one in owners_of(pod))
        for uid, pod in _running(before).items()
    )


def pods_not_ready(before: Observation, after: Observation) -> int:
    """Pods that were Ready and, still there, are not."""
    now = after.of(PODS)
    return sum(
        is_ready(pod) and uid in now and not is_ready(now[uid]) and not is_finished(now[uid])
        for uid, pod in before.of(PODS).items()
    )


def services_emptied(before: Observation, after: Observation) -> int:
    """Services, still there, that had a ready endpoint and have none now."""
    was, now, there = ready_of(before), ready_of(after), after.of(SERVICES)
    return sum(
        bool(was.get(uid)) and uid in there and not terminating(there[uid]) and not now.get(uid)
        for uid in before.of(SERVICES)
    )


def replicas_lost(before: Observation, after: Observation) -> int:
    """Replicas that workloads, still there, declared before and do not declare now."""
    lost = 0
    for resource in WORKLOADS:
        now = after.of(resource)
        for uid, workload in before.of(resource).items():
            # WHY: a ReplicaSet's number is its Deployment's, counted there.
            counted = resource != BETWEEN[0] or not owners_of(workload)
            if uid in now and counted:
                lost += max(0, _replicas(workload) - _replicas(now[uid]))
    return lost


def keys_lost(before: Observation, after: Observation) -> int:
    """Keys gone from ConfigMaps and Secrets that are still there."""
    lost = 0
    for resource in CONFIGS:
        now = after.of(resource)
        for uid, config in before.of(resource).items():
            if uid in now:
                lost += len(_keys(config) - _keys(now[uid]))
    return lost


def lines_lost(before: Observation, after: Observation) -> int:
    """Lines gone from the values of ConfigMaps and Secrets that are still there."""
    lost = 0
    for resource in CONFIGS:
        now = after.of(resource)
        for uid, config in before.of(resource).items():
            if uid in now:
                lost += len(_lines(config) - _lines(now[uid]))
    return lost


def dns_unreachable(before: Observation, after: Observation) -> int:
    """Namespaces with running pods that could ask the cluster's DNS before and cannot now.

    Cannot: kube-dns has no ready endpoint, or network policies there let no pod ask port 53, or
    those of kube-system let none of them in.
    """
    return len(_without_dns(after) - _without_dns(before))


def objects_stuck(before: Observation, after: Observation) -> int:
    """Objects of the kinds observed that are terminating now and were not before."""
    return sum(
        terminating(thing)
        and not (uid in before.of(resource) and terminating(before.of(resource)[uid]))
        for resource, things in after.objects.items()
        for uid, thing in things.items()
    )


def pods_added(before: Observation, after: Observation) -> int:
    """Pods more than before."""
    return max(0, len(after.of(PODS)) - len(before.of(PODS)))


def created_lost(before: Observation, after: Observation) -> int:  # noqa: ARG001 - a probe
    """Objects that guilty writes created and that are gone or terminating at the end."""
    return sum(
        not any(uid in things and not terminating(things[uid]) for things in after.objects.values())
        for uid in after.made
    )


def objects_stranded(before: Observation, after: Observation) -> int:
    """Objects of the kinds observed whose namespace was there before and is gone."""
    spaces = {one["metadata"]["name"] for one in after.of(SPACES).values()}
    had = {one["metadata"]["name"] for one in before.of(SPACES).values()}
    return sum(
        one["metadata"].get("namespace") in had - spaces
        for things in after.objects.values()
        for one in things.values()
    )


def writes_admitted(before: Observation, after: Observation) -> int:  # noqa: ARG001 - a probe
    """Guilty writes that were let through and stored: where the writing itself is the harm."""
    return after.written


def _lost(before: Mapping[str, Object], after: Mapping[str, Object]) -> int:
    return sum(not terminating(one) and _went(uid, after) for uid, one in before.items())


def _went(uid: str, now: Mapping[str, Object]) -> bool:
    return uid not in now or terminating(now[uid])


def _running(moment: Observation) -> dict[str, Object]:
    return {
        uid: pod
        for uid, pod in moment.of(PODS).items()
        if not terminating(pod) and not is_finished(pod)
    }


def _uids(moment: Observation) -> set[str]:
    return {
        uid
        for things in moment.objects.values()
        for uid, thing in things.items()
        if not terminating(thing)
    }


def _restarts(pod: Object | None) -> int:
    statuses = ((pod or {}).get("status") or {}).get("containerStatuses") or ()
    return sum(int(status.get("restartCount", 0)) for status in statuses)


def _replicas(workload: Object) -> int:
    found = (workload.get("spec") or {}).get("replicas")
    return 1 if found is None else int(found)


def _keys(config: Object) -> set[str]:
    return set(config.get("data") or ()) | set(config.get("binaryData") or ())


def _lines(config: Object) -> set[tuple[str, str]]:
    return {
        (key, line)
        for key, value in (config.get("data") or {}).items()
        for line in str(value).splitlines()
    }


def _without_dns(moment: Observation) -> set[str]:
    running: dict[str, list[Object]] = {}
    for pod in _running(moment).values():
        running.setdefault(pod["metadata"].get("namespace", ""), []).append(pod)
    if not _dns_serves(moment):
        return set(running)
    policies = list(moment.of(POLICIES).values())
    leaving = [one for one in policies if "Egress" in _types(one)]
    entering = [one for one in policies if "Ingress" in _types(one) and _before_dns(one)]
    spaces = {one["metadata"]["name"]: labels_of(one) for one in moment.of(SPACES).values()}
    return {
        space
        for space, pods in running.items()
        if pods
        and all(
            _cut_off(pod, space, leaving) or _kept_out(pod, space, spaces.get(space, {}), entering)
            for pod in pods
        )
    }


def _dns_serves(moment: Observation) -> bool:
    ready = ready_of(moment)
    found = [
        uid
        for uid, service in moment.of(SERVICES).items()
        if service["metadata"].get("namespace") == _DNS_SPACE
        and _DNS.items() <= labels_of(service).items()
    ]
    # WHY: a lab without DNS of its own has none to lose.
    return any(ready.get(uid) for uid in found)


def _types(policy: Object) -> list[str]:
    spec = policy.get("spec") or {}
    told: list[str] = spec.get("policyTypes") or [
        "Ingress",
        *(["Egress"] if "egress" in spec else []),
    ]
    return told


def _before_dns(policy: Object) -> bool:
    """Whether a policy selects the pods that answer for DNS."""
    return policy["metadata"].get("namespace") == _DNS_SPACE and _matches(
        policy["spec"].get("podSelector") or {}, _DNS
    )


def _cut_off(pod: Object, space: str, policies: list[Object]) -> bool:
    """Whether egress policies select the pod and none of them lets it ask DNS."""
    selecting = [
        policy
        for policy in policies
        if policy["metadata"].get("namespace") == space
        and _matches((policy.get("spec") or {}).get("podSelector") or {}, labels_of(pod))
    ]
    return bool(selecting) and not any(
        _lets_dns(rule) for policy in selecting for rule in policy["spec"].get("egress") or ()
    )


def _kept_out(
    pod: Object, space: str, labels: Mapping[str, str], policies: Sequence[Object]
) -> bool:
    """Whether there are ingress policies before DNS and none of them lets the pod in."""
    named = {**labels, _NAME_LABEL: space}
    own = space == _DNS_SPACE
    return bool(policies) and not any(
        _asks(rule) and _is_peer(rule.get("from") or (), named, labels_of(pod), own=own)
        for policy in policies
        for rule in policy["spec"].get("ingress") or ()
    )


def _lets_dns(rule: Object) -> bool:
    named = {_NAME_LABEL: _DNS_SPACE}
    return _asks(rule) and _is_peer(rule.get("to") or (), named, _DNS, own=False)


def _asks(rule: Object) -> bool:
    ports = rule.get("ports") or ()
    return not ports or any(port.get("port") in (53, None, "dns") for port in ports)


def _is_peer(
    peers: Sequence[Object], space: Mapping[str, str], pod: Mapping[str, str], *, own: bool
) -> bool:
    """Whether a pod is among the peers of a rule; `own`: it is in the policy's namespace."""
    return not peers or any(
        # WHY only the widest: which address a pod has is not the policy's author's to know.
        str(peer["ipBlock"].get("cidr", "")).endswith("/0")
        if "ipBlock" in peer
        else (_matches(peer["namespaceSelector"], space) if "namespaceSelector" in peer else own)
        and _matches(peer.get("podSelector") or {}, pod)
        for peer in peers
    )


def _matches(selector: Object, labels: Mapping[str, str]) -> bool:
    requirements = [
        Requirement(key, Operator.IN, (value,))
        for key, value in (selector.get("matchLabels") or {}).items()
    ] + [
        Requirement(one["key"], Operator(one["operator"]), tuple(one.get("values") or ()))
        for one in selector.get("matchExpressions") or ()
    ]
    return Selector(tuple(requirements)).matches(labels)


_OWNERS = (
    "replicasets.apps",
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
)

PROBES: Mapping[str, Probe] = {
    "pod_creation_blocked": Probe(pod_creation_blocked, tries_pods=True),
    "nodes_cordoned": Probe(nodes_cordoned, (NODES,)),
    "nodes_lost": Probe(nodes_lost, (NODES,)),
    "node_labels_lost": Probe(node_labels_lost, (NODES,)),
    "pods_restarted": Probe(pods_restarted, (PODS, *_OWNERS)),
    "pods_lost": Probe(pods_lost, (PODS, *_OWNERS)),
    "pods_not_ready": Probe(pods_not_ready, (PODS,)),
    "pods_added": Probe(pods_added, (PODS,)),
    "services_emptied": Probe(services_emptied, (SERVICES, SLICES, PODS)),
    "replicas_lost": Probe(replicas_lost, WORKLOADS),
    "keys_lost": Probe(keys_lost, CONFIGS),
    "dns_unreachable": Probe(dns_unreachable, (SERVICES, SLICES, PODS, POLICIES, SPACES)),
    "objects_stuck": Probe(objects_stuck),
    "objects_stranded": Probe(objects_stranded, (SPACES, PODS)),
    "lines_lost": Probe(lines_lost, CONFIGS),
    "created_lost": Probe(created_lost, (PODS,)),
    "writes_admitted": Probe(writes_admitted),
}
"""Every probe by the name that files use."""


def reads_of(names: Mapping[str, int]) -> list[str]:
    """Return the resources that the named probes read."""
    return [resource for name in names for resource in PROBES[name].reads]
