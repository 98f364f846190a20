"""What Endpoints list, read from their bodies: ready targets, pods, and what does not answer. Pure.

Apart from `bodies`, as the model keeps slices alone: here is what is mirrored into them.
Source: core/v1 Endpoints.
"""

from __future__ import annotations

import msgspec

from suture.impact.ground.bodies import decoded


class _Target(msgspec.Struct, gc=False):
    uid: str = ""
    kind: str = ""
    name: str = ""


class _EndpointAddress(msgspec.Struct, rename="camel", gc=False):
    ip: str = ""
    target_ref: _Target | None = None


class _Subset(msgspec.Struct, rename="camel", gc=False):
    addresses: tuple[_EndpointAddress, ...] | None = None
    not_ready_addresses: tuple[_EndpointAddress, ...] | None = None


class _Endpoints(msgspec.Struct, gc=False):
    subsets: tuple[_Subset, ...] | None = None


_endpoints_decoder = msgspec.json.Decoder(_Endpoints)


def endpoint_targets(body: bytes) -> set[str]:
    """Return the ready targets of Endpoints, known as in the slices that mirror them."""
    found = decoded(_endpoints_decoder, body, _Endpoints())
    return {
        (one.target_ref.uid if one.target_ref is not None else "") or one.ip
        for subset in found.subsets or ()
        for one in subset.addresses or ()
    }


def endpoints_not_ready(body: bytes) -> set[str]:
    """Return the addresses that Endpoints list as not ready, and that are no object's."""
    found = decoded(_endpoints_decoder, body, _Endpoints())
    return {
        one.ip
        for subset in found.subsets or ()
        for one in subset.not_ready_addresses or ()
        if one.target_ref is None
    }


def endpoint_pods(body: bytes) -> tuple[str, ...]:
    """Return the names of the pods that Endpoints list as ready; none where any is no pod."""
    found = decoded(_endpoints_decoder, body, _Endpoints())
    targets = [one.target_ref for subset in found.subsets or () for one in subset.addresses or ()]
    names = [one.name for one in targets if one is not None and one.kind == "Pod" and one.name]
    return tuple(names) if len(names) == len(targets) else ()
