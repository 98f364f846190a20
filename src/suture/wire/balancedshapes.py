"""The status of what a load balancer serves, an Ingress or a Service: at which addresses it does.

One of several, as a kind's neighbours change together. Pure.
Source: networking/v1 IngressStatus and core/v1 ServiceStatus, which have it in common.
"""

from __future__ import annotations

import msgspec


class _Address(msgspec.Struct, gc=False):
    ip: str = ""
    hostname: str = ""


class _Balancer(msgspec.Struct, gc=False):
    ingress: tuple[_Address, ...] | None = None


class BalancedStatus(msgspec.Struct, rename="camel", gc=False):
    """The status of an Ingress or Service, as far as it is read."""

    load_balancer: _Balancer | None = None


def addresses_of(status: BalancedStatus | None) -> tuple[str, ...]:
    """Return where something is reached, as who serves it has written down, sorted."""
    balancer = status.load_balancer if status is not None else None
    given = (balancer.ingress if balancer is not None else None) or ()
    return tuple(sorted({one.ip or one.hostname for one in given} - {""}))
