"""Where a pod can run: what it asks of a node, what a node has, and whether the two agree.

In the model because requests, selectors and taints are properties of templates and nodes. Pure.
Units: CPU in thousandths of a core, memory in MiB, rounded up for what is asked and down for what
is there.
Source: core/v1 ResourceRequirements, NodeAffinity, Toleration; the scheduler's filters
NodeResourcesFit, NodeAffinity and TaintToleration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from suture.model.selectors import Selector

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
REPELS = frozenset({NO_SCHEDULE, NO_EXECUTE})
"""Effects of taints that keep new pods away; `PreferNoSchedule` does not."""

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""The taint that says of a node that its machine is off. SOURCE: core/v1 TaintNodeOutOfService."""

HOSTNAME = "kubernetes.io/hostname"
"""The label by which a kubelet names its node."""


class Taint(msgspec.Struct, frozen=True, gc=False, array_like=True, order=True):
    """A taint of a node."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE


class Toleration(msgspec.Struct, frozen=True, gc=False, array_like=True, order=True):
    """What a pod puts up with. `any_value`: whatever the taint's value. Empty: any key, effect."""

    key: str = ""
    value: str = ""
    effect: str = ""
    any_value: bool = False

    def tolerates(self, taint: Taint) -> bool:
        """Whether a pod with this toleration puts up with a taint."""
        if self.effect not in ("", taint.effect):
            return False
        if not self.key:
            # SOURCE: core/v1 Toleration: an empty key is allowed with Exists only.
            return self.any_value
        return self.key == taint.key and (self.any_value or self.value == taint.value)


class Placement(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What each pod of a template asks of a node.

    `terms`: the labels of a node have to match one of them; none: any node will do. Terms that
    the model cannot read are left out, so that more nodes seem to do. `host_network`: its network
    is the node's own. `most_cpu_m` and `most_memory_mi`: the most that one of its containers may
    use, or asks for where it says no limit. `unconfined`: it asks for something that Pod Security
    keeps from pods from its level `baseline` on. `restricted`: it says all that the highest level
    asks of pods, and asks for no more.
    """

    cpu_m: int = 0
    memory_mi: int = 0
    terms: tuple[Selector, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    host_network: bool = False
    most_cpu_m: int = 0
    most_memory_mi: int = 0
    unconfined: bool = False
    restricted: bool = False

    def accepts(self, labels: Mapping[str, str]) -> bool:
        """Whether a node's labels are what it asks for."""
        return not self.terms or any(term.matches(labels) for term in self.terms)

    def tolerates(self, taints: Iterable[Taint]) -> bool:
        """Whether a pod may be placed where these taints are."""
        return all(
            taint.effect not in REPELS or any(one.tolerates(taint) for one in self.tolerations)
            for taint in taints
        )

    def reads(self, keys: Iterable[str]) -> bool:
        """Whether it asks for any of some label keys."""
        wanted = set(keys)
        return any(
            requirement.key in wanted for term in self.terms for requirement in term.requirements
        )


ANYWHERE = Placement()
