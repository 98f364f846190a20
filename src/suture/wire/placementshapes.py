"""Projections of where pods can run: what templates ask of a node, and what a node has for them.

One of several, as a kind's neighbours change together. Pure.
Source: core/v1 PodSpec, NodeStatus; apimachinery's resource.Quantity; Pod Security Standards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from suture.model.placement import ANYWHERE, HOSTNAME, NO_SCHEDULE, Placement, Taint, Toleration
from suture.model.quantities import Quantity, cpu_m, memory_mi
from suture.model.selectors import Operator, Requirement, Selector
from suture.wire.shapes import ABSENT, Count

CONFINED = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
        "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
"""Capabilities that Pod Security lets a container have from `baseline` on; all others it forbids.
SOURCE: Kubernetes, Pod Security Standards."""

BINDING = frozenset({"NET_BIND_SERVICE"})
"""Capabilities that may be added at the level `restricted`, and profiles of seccomp that it takes.
SOURCE: Kubernetes, Pod Security Standards."""

PROFILES = frozenset({"RuntimeDefault", "Localhost"})

_NOT_THERE = (b"", b"null")

_OPERATORS = {one.value: one for one in Operator}


class _Amounts(msgspec.Struct, gc=False):
    cpu: Quantity = 0
    memory: Quantity = 0


class _Resources(msgspec.Struct, gc=False):
    requests: _Amounts | None = None
    limits: _Amounts | None = None

    def asked(self) -> tuple[int, int]:
        """Return CPU and memory. SOURCE: a limit without a request is the request."""
        requests, limits = self.requests or _Amounts(), self.limits or _Amounts()
        return (
            cpu_m(requests.cpu or limits.cpu, up=True),
            memory_mi(requests.memory or limits.memory, up=True),
        )

    def most(self) -> tuple[int, int]:
        """Return CPU and memory that it may use; without a limit what it asks for."""
        requests, limits = self.requests or _Amounts(), self.limits or _Amounts()
        return (
            cpu_m(limits.cpu or requests.cpu, up=True),
            memory_mi(limits.memory or requests.memory, up=True),
        )


class _Port(msgspec.Struct, rename="camel", gc=False):
    host_port: Count = 0


class _Capabilities(msgspec.Struct, gc=False):
    add: tuple[str, ...] | None = None
    drop: tuple[str, ...] | None = None


class _Profile(msgspec.Struct, gc=False):
    type: str = ""


class _PodSecurity(msgspec.Struct, rename="camel", gc=False):
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    seccomp_profile: _Profile | None = None


class _Security(_PodSecurity, rename="camel", gc=False):
    privileged: bool | None = None
    allow_privilege_escalation: bool | None = None
    capabilities: _Capabilities | None = None


class _Container(msgspec.Struct, rename="camel", gc=False):
    resources: _Resources | None = None
    restart_policy: str = ""
    ports: tuple[_Port, ...] | None = None
    security_context: _Security | None = None


class _Expression(msgspec.Struct, gc=False):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class _Term(msgspec.Struct, rename="camel", gc=False):
    match_expressions: tuple[_Expression, ...] | None = None


class _Required(msgspec.Struct, rename="camel", gc=False):
    node_selector_terms: tuple[_Term, ...] | None = None


class _NodeAffinity(msgspec.Struct, gc=False):
    required: _Required | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class _Affinity(msgspec.Struct, rename="camel", gc=False):
    node_affinity: _NodeAffinity | None = None


class VolumeAffinity(msgspec.Struct, gc=False):
    """From which nodes a volume can be reached."""

    required: _Required | None = None


class _Toleration(msgspec.Struct, gc=False):
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class _Volume(msgspec.Struct, rename="camel", gc=False):
    host_path: msgspec.Raw = ABSENT


class _Spec(msgspec.Struct, rename="camel", gc=False):
    host_network: bool | None = None
    host_pid: bool | None = msgspec.field(default=None, name="hostPID")
    host_ipc: bool | None = msgspec.field(default=None, name="hostIPC")
    security_context: _PodSecurity | None = None
    volumes: tuple[_Volume, ...] | None = None
    containers: tuple[_Container, ...] | None = None
    init_containers: tuple[_Container, ...] | None = None
    node_selector: dict[str, str] | None = None
    affinity: _Affinity | None = None
    tolerations: tuple[_Toleration, ...] | None = None


class _Template(msgspec.Struct, gc=False):
    spec: _Spec | None = None


_decoder = msgspec.json.Decoder(_Template | None)

_TELLS = (
    b'"requests"', b'"limits"', b'"nodeSelector"', b'"nodeAffinity"', b'"tolerations"',
    b'"hostNetwork"', b'"hostPID"', b'"hostIPC"', b'"hostPath"', b'"hostPort"', b'"privileged"',
    b'"capabilities"',
)  # fmt: skip


def placement(template: msgspec.Raw) -> Placement:
    """Return what each pod of a template asks of a node; of a template of odd shape nothing."""
    if template is ABSENT:
        return ANYWHERE
    # WHY first: many templates say nothing of it, and looking is quicker than reading.
    text = bytes(template)
    if not any(word in text for word in _TELLS):
        return ANYWHERE
    try:
        found = _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ANYWHERE
    if found is None or found.spec is None:
        return ANYWHERE
    spec = found.spec
    return Placement(
        *_asked(spec),
        _terms(spec),
        _tolerations(spec),
        bool(spec.host_network),
        *_most(spec),
        unconfined := _unconfined(spec),
        not unconfined and _restricted(spec),
    )


def _unconfined(spec: _Spec) -> bool:
    """Whether it asks for something of its node that Pod Security's level `baseline` forbids.

    LIMIT: of what it forbids the namespaces, paths and ports of the node, privileged containers and
    capabilities are read; profiles of AppArmor, SELinux and sysctls are rare, and are not.
    """
    if spec.host_network or spec.host_pid or spec.host_ipc:
        return True
    if any(bytes(one.host_path) not in _NOT_THERE for one in spec.volumes or ()):
        return True
    return any(map(_reaches_out, (*(spec.init_containers or ()), *(spec.containers or ()))))


def _reaches_out(container: _Container) -> bool:
    if any(one.host_port for one in container.ports or ()):
        return True
    security = container.security_context
    if security is None:
        return False
    added = security.capabilities.add if security.capabilities is not None else None
    return bool(security.privileged) or not CONFINED.issuperset(added or ())


def _restricted(spec: _Spec) -> bool:
    """Whether each container says what Pod Security's level `restricted` asks for.

    LIMIT: of what that forbids beside, sorts of volumes that hardly any pod has are not read.
    """
    pod = spec.security_context or _PodSecurity()
    containers = (*(spec.init_containers or ()), *(spec.containers or ()))
    return all(_keeps_to(one.security_context or _Security(), pod) for one in containers)


def _keeps_to(own: _Security, pod: _PodSecurity) -> bool:
    """Whether a container keeps to the level, by its own word or that of its pod."""
    capabilities = own.capabilities or _Capabilities()
    non_root = pod.run_as_non_root if own.run_as_non_root is None else own.run_as_non_root
    user = pod.run_as_user if own.run_as_user is None else own.run_as_user
    profile = own.seccomp_profile or pod.seccomp_profile or _Profile()
    return (
        own.allow_privilege_escalation is False
        and "ALL" in (capabilities.drop or ())
        and BINDING.issuperset(capabilities.add or ())
        and bool(non_root)
        and user != 0
        and profile.type in PROFILES
    )


def _asked(spec: _Spec) -> tuple[int, int]:
    """Add up containers. SOURCE: init containers run before them, one by one; sidecars beside."""
    beside, before = [0, 0], [0, 0]
    for container in spec.init_containers or ():
        mine = _amounts(container)
        for at in (0, 1):
            if container.restart_policy == "Always":
                beside[at] += mine[at]
            else:
                before[at] = max(before[at], beside[at] + mine[at])
    for container in spec.containers or ():
        mine = _amounts(container)
        for at in (0, 1):
            beside[at] += mine[at]
    return max(beside[0], before[0]), max(beside[1], before[1])


def _most(spec: _Spec) -> tuple[int, int]:
    """Return the most that any container may use, of CPU and of memory."""
    containers = (*(spec.init_containers or ()), *(spec.containers or ()))
    given = [one.resources.most() for one in containers if one.resources is not None]
    return max((cpu for cpu, _ in given), default=0), max((mi for _, mi in given), default=0)


def _amounts(container: _Container) -> tuple[int, int]:
    return (0, 0) if container.resources is None else container.resources.asked()


def _terms(spec: _Spec) -> tuple[Selector, ...]:
    always = Selector.of(spec.node_selector or {}).requirements
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    terms = required.node_selector_terms if required is not None else None
    if not terms:
        return (Selector(always),) if always else ()
    return tuple(
        Selector((*always, *_requirements(term.match_expressions or ()))) for term in terms
    )


_NODE_WORDS: Final = frozenset({"hostname", "node", "nodename", "node-name"})
"""What the labels are called, after their prefix, by which drivers of local disks name a node, as
`topology.topolvm.io/node`. SOURCE: CSI, topology keys, which a kubelet puts on its node."""


def hosts_of(affinity: VolumeAffinity | None) -> tuple[str, ...]:
    """Return the names of the only nodes from which a volume can be reached.

    None where it does not name them in every term. By a label of the volume's driver a node is
    named as `label=name`.
    """
    required = affinity.required if affinity is not None else None
    found: set[str] = set()
    for term in (required.node_selector_terms if required is not None else None) or ():
        names = [
            [one if single.key == HOSTNAME else f"{single.key}={one}" for one in single.values]
            for single in term.match_expressions or ()
            if single.operator == Operator.IN
            and single.values
            and single.key.rpartition("/")[2].lower() in _NODE_WORDS
        ]
        if not names:
            return ()
        found.update(*names)
    return tuple(sorted(found))


def terms_of(affinity: VolumeAffinity | None) -> tuple[Selector, ...]:
    """Return what a volume asks of the labels of a node from which it is reached, any of it."""
    required = affinity.required if affinity is not None else None
    terms = (required.node_selector_terms if required is not None else None) or ()
    return tuple(Selector(tuple(_requirements(term.match_expressions or ()))) for term in terms)


def _requirements(expressions: Iterable[_Expression]) -> Iterator[Requirement]:
    for one in expressions:
        # WHY left out: `Gt` and `Lt` compare numbers, which no label selector does.
        operator = _OPERATORS.get(one.operator)
        if operator is not None:
            yield Requirement(one.key, operator, tuple(sorted(one.values or ())))


def _tolerations(spec: _Spec) -> tuple[Toleration, ...]:
    return tuple(
        sorted(
            {
                Toleration(one.key, one.value, one.effect, one.operator == "Exists")
                for one in spec.tolerations or ()
            }
        )
    )


class NodeTaint(msgspec.Struct, gc=False):
    """A taint as a node's spec has it; when it was added is left unread."""

    key: str = ""
    value: str = ""
    effect: str = NO_SCHEDULE


def taints(found: Iterable[NodeTaint] | None) -> tuple[Taint, ...]:
    """Return taints in a stable order."""
    return tuple(sorted(Taint(one.key, one.value, one.effect) for one in found or ()))
