"""Nodes and pods that behave: the stages that KWOK plays, and the nodes themselves.

Lives in the lab because a bare machine has no kubelets. Pure: says what KWOK shall do and what a
node looks like; the plane creates them.

A pod on a lab node is Ready at once. Annotations or labels of the pod change that:

    lab.suture.dev/ready-after: 5s       Ready after that time
    lab.suture.dev/never-ready: "true"   runs, has an address, is never Ready
    lab.suture.dev/completes-after: 3s   ends with success (pods of Jobs do so after 1 s)
    lab.suture.dev/dies-after: 3s        ends with failure; under restartPolicy Always it stays in
                                         CrashLoopBackOff, not Ready
    lab.suture.dev/terminates-after: 2s  takes that long to go once it is deleted

Source: sigs.k8s.io/kwok Stage v1alpha1; KWOK does nothing without stages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

PREFIX = "lab.suture.dev"
READY_AFTER = f"{PREFIX}/ready-after"
NEVER_READY = f"{PREFIX}/never-ready"
COMPLETES_AFTER = f"{PREFIX}/completes-after"
DIES_AFTER = f"{PREFIX}/dies-after"
TERMINATES_AFTER = f"{PREFIX}/terminates-after"

KWOK_USER = "system:node:kwok"
LEASE_S = 40
# WHY: outside the Service range 10.96.0.0/12; four million addresses, of which none is loopback,
# since EndpointSlices refuse those.
POD_RANGE = "10.128.0.1/10"
NODE_IP = "10.192.0.1"

# LIMIT: KWOK renews the Lease, which is what counts; the status only has to be there.
_HEARTBEAT_MS = 300_000
_JOB_MS = 1_000

_CONDITIONS = """\
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $since | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
"""

_NODE_STATUS = (
    """\
{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
"""
    + _CONDITIONS
    + """\
addresses:
{{ with NodeIP }}
- address: {{ . | Quote }}
  type: InternalIP
{{ end }}
{{ with NodeName }}
- address: {{ . | Quote }}
  type: Hostname
{{ end }}
allocatable:
{{ with .status.allocatable }}
{{ YAML . 1 }}
{{ else }}
  cpu: "64"
  memory: 256Gi
  pods: "500"
{{ end }}
capacity:
{{ with .status.capacity }}
{{ YAML . 1 }}
{{ else }}
  cpu: "64"
  memory: 256Gi
  pods: "500"
{{ end }}
nodeInfo:
  architecture: amd64
  bootID: lab
  containerRuntimeVersion: lab://1
  kernelVersion: lab
  kubeProxyVersion: lab
  kubeletVersion: lab
  machineID: lab
  operatingSystem: linux
  osImage: lab
  systemUUID: lab
phase: Running
"""
)

_HEARTBEAT_STATUS = (
    """\
{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
"""
    + _CONDITIONS
)


def _started(*, ready: bool) -> str:
    """Status of a pod whose containers run, Ready or not."""
    status, container_ready = ('"True"', "true") if ready else ('"False"', "false")
    return f"""\
{{{{ $now := Now }}}}
conditions:
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: "True"
  type: Initialized
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: {status}
  type: Ready
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: {status}
  type: ContainersReady
{{{{ range .spec.readinessGates }}}}
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: {status}
  type: {{{{ .conditionType | Quote }}}}
{{{{ end }}}}
containerStatuses:
{{{{ range .spec.containers }}}}
- image: {{{{ .image | Quote }}}}
  imageID: {{{{ .image | Quote }}}}
  name: {{{{ .name | Quote }}}}
  ready: {container_ready}
  started: true
  restartCount: 0
  state:
    running:
      startedAt: {{{{ $now | Quote }}}}
{{{{ end }}}}
{{{{ $hostIPs := NodeIPsWith .spec.nodeName }}}}
{{{{ with $hostIPs }}}}
hostIP: {{{{ index . 0 | Quote }}}}
hostIPs:
{{{{ range . }}}}
- ip: {{{{ . | Quote }}}}
{{{{ end }}}}
{{{{ end }}}}
{{{{ $podIPs := PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" )
    ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}}}
{{{{ with $podIPs }}}}
podIP: {{{{ index . 0 | Quote }}}}
podIPs:
{{{{ range . }}}}
- ip: {{{{ . | Quote }}}}
{{{{ end }}}}
{{{{ end }}}}
phase: Running
startTime: {{{{ or .status.startTime $now | Quote }}}}
""".replace(' )\n    ( or .metadata.name "" )', ' ) ( or .metadata.name "" )')


def _ended(*, phase: str, exit_code: int, reason: str, state: str = "terminated") -> str:
    """Status of a pod whose containers have ended."""
    terminated = f"""\
    terminated:
      exitCode: {exit_code}
      finishedAt: {{{{ $now | Quote }}}}
      reason: {reason}
      startedAt: {{{{ or $root.status.startTime $now | Quote }}}}
"""
    waiting = f"    waiting:\n      reason: {reason}\n"
    return f"""\
{{{{ $now := Now }}}}
{{{{ $root := . }}}}
conditions:
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: "True"
  type: Initialized
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: "False"
  type: Ready
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: "False"
  type: ContainersReady
containerStatuses:
{{{{ range .spec.containers }}}}
- image: {{{{ .image | Quote }}}}
  imageID: {{{{ .image | Quote }}}}
  name: {{{{ .name | Quote }}}}
  ready: false
  started: false
  restartCount: {1 if state == "waiting" else 0}
  state:
{waiting if state == "waiting" else terminated}{{{{ end }}}}
phase: {phase}
"""


def stages() -> str:
    """Return the stages as YAML documents, for KWOK's `--config`."""
    return yaml.safe_dump_all([*_node_stages(), *_pod_stages()], sort_keys=False)


def _node_stages() -> list[dict[str, Any]]:
    ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    return [
        _stage(
            "node-initialize",
            "Node",
            [_not_in(ready, "True"), _in(f"({_asked(NEVER_READY)}) == null", "true")],
            _NODE_STATUS,
        ),
        _stage(
            "node-heartbeat",
            "Node",
            [_in(".status.phase", "Running"), _in(ready, "True")],
            _HEARTBEAT_STATUS,
            delay={
                "durationMilliseconds": _HEARTBEAT_MS,
                "jitterDurationMilliseconds": 2 * _HEARTBEAT_MS,
            },
        ),
    ]


def _pod_stages() -> list[dict[str, Any]]:
    lives = _absent(".metadata.deletionTimestamp")
    pending = _in('(.status.phase // "Pending")', "Pending")
    running = _in(".status.phase", "Running")
    never = f"({_asked(NEVER_READY)}) == null"
    crashing = (
        '[.status.containerStatuses.[]? | select( .state.waiting.reason == "CrashLoopBackOff" )]'
        " | length"
    )
    ends = f"({_asked(DIES_AFTER)} // {_asked(COMPLETES_AFTER)}) == null"
    job = '([.metadata.ownerReferences.[]? | select( .kind == "Job" )] | length > 0)'
    return [
        _stage(
            "pod-ready",
            "Pod",
            [lives, pending, _in(never, "true")],
            _started(ready=True),
            delay=_after(READY_AFTER),
        ),
        _stage(
            "pod-never-ready",
            "Pod",
            [lives, pending, _in(never, "false")],
            _started(ready=False),
        ),
        _stage(
            "pod-completes",
            "Pod",
            [lives, running, _exists(_asked(COMPLETES_AFTER))],
            _ended(phase="Succeeded", exit_code=0, reason="Completed"),
            delay=_after(COMPLETES_AFTER),
        ),
        _stage(
            "pod-of-job-completes",
            "Pod",
            [lives, running, _in(job, "true"), _in(ends, "true")],
            _ended(phase="Succeeded", exit_code=0, reason="Completed"),
            delay={"durationMilliseconds": _JOB_MS},
        ),
        _stage(
            "pod-dies",
            "Pod",
            [lives, running, _exists(_asked(DIES_AFTER)), _not_in(".spec.restartPolicy", "Always")],
            _ended(phase="Failed", exit_code=1, reason="Error"),
            delay=_after(DIES_AFTER),
        ),
        _stage(
            "pod-crashes",
            "Pod",
            [
                lives,
                running,
                _exists(_asked(DIES_AFTER)),
                _in(".spec.restartPolicy", "Always"),
                _in(crashing, "0"),
            ],
            _ended(phase="Running", exit_code=1, reason="CrashLoopBackOff", state="waiting"),
            delay=_after(DIES_AFTER),
        ),
        {
            **_stage(
                "pod-goes",
                "Pod",
                [_exists(".metadata.deletionTimestamp"), _absent(".metadata.finalizers")],
                None,
                delay=_after(TERMINATES_AFTER),
            )
        },
    ]


def _asked(key: str) -> str:
    """Return the expression for an annotation, or else a label, of that key."""
    return f'(.metadata.annotations["{key}"] // .metadata.labels["{key}"])'


def _after(key: str) -> dict[str, Any]:
    return {"durationMilliseconds": 0, "durationFrom": {"expressionFrom": _asked(key)}}


def _stage(
    name: str,
    kind: str,
    expressions: list[dict[str, Any]],
    status: str | None,
    *,
    delay: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    then: dict[str, Any] = {"delete": True} if status is None else {"statusTemplate": status}
    spec: dict[str, Any] = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": expressions},
        "next": then,
    }
    if delay is not None:
        spec["delay"] = dict(delay)
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": spec,
    }


def _in(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def _not_in(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "NotIn", "values": list(values)}


def _exists(key: str) -> dict[str, Any]:
    return {"key": key, "operator": "Exists"}


def _absent(key: str) -> dict[str, Any]:
    return {"key": key, "operator": "DoesNotExist"}


def node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    zone: str = "zone-a",
    cpu: str = "64",
    memory: str = "256Gi",
    pods: int = 500,
) -> dict[str, Any]:
    """Return a Node that KWOK will keep Ready."""
    capacity = {"cpu": cpu, "memory": memory, "pods": str(pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/region": "lab",
                "topology.kubernetes.io/zone": zone,
                "node.kubernetes.io/instance-type": "lab",
                **(labels or {}),
            },
        },
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def several(count: int, *, prefix: str = "node", zones: int = 3) -> list[dict[str, Any]]:
    """Return `count` nodes spread over `zones` zones."""
    return [
        node(f"{prefix}-{number}", zone=f"zone-{'abcdefghij'[number % zones]}")
        for number in range(count)
    ]


def kwok_rights() -> list[tuple[str, dict[str, Any]]]:
    """Return what lets KWOK write as a node, as pairs of collection path and object."""
    name = "suture-lab:kwok"
    rules = [
        {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": ["*"]},
        {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["*"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]},
    ]
    rbac = "rbac.authorization.k8s.io"
    return [
        (
            f"/apis/{rbac}/v1/clusterroles",
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "ClusterRole",
                "metadata": {"name": name},
                "rules": rules,
            },
        ),
        (
            f"/apis/{rbac}/v1/clusterrolebindings",
            {
                "apiVersion": f"{rbac}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": name},
                "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
                "subjects": [{"apiGroup": rbac, "kind": "User", "name": KWOK_USER}],
            },
        ),
    ]
