"""What a network policy lets through: rules of peers and ports, as values that can be asked.

In the model because what a policy reaches is a property of its configuration, like what a selector
selects. Pure.
Source: networking/v1 NetworkPolicyIngressRule and NetworkPolicyEgressRule.
"""

from __future__ import annotations

import msgspec

from suture.model.edges import Selection


class TrafficPort(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Ports that a rule lets through. `name` is set for a named port; `number` 0: every port."""

    protocol: str = "TCP"
    number: int = 0
    last: int = 0
    """The end of a range, 0 where it is one port."""
    name: str = ""

    def has(self, number: int, protocol: str, name: str = "") -> bool:
        """Whether a port is among these. A named port is only known to be one by its name."""
        if self.protocol != protocol:
            return False
        if self.name:
            return self.name == name
        return not self.number or self.number <= number <= max(self.number, self.last)


class TrafficRule(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One rule: whom it lets through, on which ports. Without peers everybody, without ports all.

    `blocks` are peers given as address blocks, which pods have no part in that the model knows.
    """

    egress: bool
    pods: tuple[Selection, ...] = ()
    blocks: tuple[str, ...] = ()
    ports: tuple[TrafficPort, ...] = ()

    @property
    def anybody(self) -> bool:
        """Whether it names no peer at all."""
        return not self.pods and not self.blocks

    def on(self, number: int, protocol: str, name: str = "") -> bool:
        """Whether it lets a port through."""
        return not self.ports or any(port.has(number, protocol, name) for port in self.ports)
