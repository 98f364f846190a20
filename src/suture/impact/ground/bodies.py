"""What effects read of the bodies that a request carries, beyond what the model keeps.

Shapes and their decoders, apart from those who ask, so that these can be machine code. A body of
another shape says nothing: the API server has read it before us, and refuses what is wrong with it.
Source: core/v1 Pod, Namespace, Endpoints, Service, ResourceQuota, LimitRange, ConfigMap and Secret
`immutable`; batch/v1 CronJob; meta/v1 `managedFields`;
gateway.networking.k8s.io Gateway; admissionregistration/v1, apiextensions/v1 and
apiregistration/v1 `caBundle`.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import msgspec

from suture.model.difference import UNREADABLE
from suture.model.quantities import Quantity

T = TypeVar("T")


def decoded(decoder: msgspec.json.Decoder[T], body: bytes, otherwise: T) -> T:
    """Return what a body says; `otherwise` where there is none, or it is of another shape."""
    try:
        return decoder.decode(body) if body else otherwise
    except UNREADABLE:
        return otherwise


class Address(msgspec.Struct, gc=False):
    """Where a load balancer is reached."""

    ip: str = ""
    hostname: str = ""


class Balancer(msgspec.Struct, gc=False):
    """What a Service was given outside."""

    ingress: tuple[Address, ...] | None = None


class Status(msgspec.Struct, rename="camel", gc=False):
    """Of a status, what is read of it."""

    load_balancer: Balancer | None = None


class Limit(msgspec.Struct, gc=False):
    """What a LimitRange allows each object of a type."""

    type: str = ""
    max: dict[str, Quantity] | None = None
    min: dict[str, Quantity] | None = None


class Spec(msgspec.Struct, rename="camel", gc=False):
    """Of a spec, what is read of it: of a CronJob, a quota, a LimitRange."""

    suspend: bool | None = None
    hard: dict[str, Quantity] | None = None
    limits: tuple[Limit, ...] | None = None
    scopes: tuple[str, ...] | None = None
    # That some pods are left out is all that is read of it.
    scope_selector: dict[str, object] | None = None


class Body(msgspec.Struct, gc=False):
    """Of an object, what is read of its spec and status."""

    spec: Spec | None = None
    status: Status | None = None


_body_decoder = msgspec.json.Decoder(Body)


def read_body(body: bytes) -> Body:
    """Return what is read of an object's spec and status."""
    return decoded(_body_decoder, body, Body())


def addresses_given(body: bytes) -> set[str]:
    """Return the addresses outside at which a Service or an Ingress is said to be reached."""
    status = read_body(body).status
    balancer = status.load_balancer if status is not None else None
    given = (balancer.ingress if balancer is not None else None) or ()
    return {one.ip or one.hostname for one in given} - {""}


class _TrafficSpec(msgspec.Struct, rename="camel", gc=False):
    internal_traffic_policy: str = ""


class _Traffic(msgspec.Struct, gc=False):
    spec: _TrafficSpec | None = None


_traffic_decoder = msgspec.json.Decoder(_Traffic)


def traffic_inside(body: bytes) -> str:
    """Return where a Service leads what comes from inside; empty where it does not say."""
    spec = decoded(_traffic_decoder, body, _Traffic()).spec
    return spec.internal_traffic_policy if spec is not None else ""


class _SpecFields(msgspec.Struct, gc=False):
    replicas: dict[str, object] | None = msgspec.field(default=None, name="f:replicas")


class _Fields(msgspec.Struct, gc=False):
    spec: _SpecFields | None = msgspec.field(default=None, name="f:spec")


class _Writer(msgspec.Struct, gc=False):
    manager: str = ""
    subresource: str = ""
    fields: _Fields | None = msgspec.field(default=None, name="fieldsV1")


class _WrittenMeta(msgspec.Struct, gc=False):
    writers: tuple[_Writer, ...] | None = msgspec.field(default=None, name="managedFields")


class _Written(msgspec.Struct, gc=False):
    metadata: _WrittenMeta | None = None


_written_decoder = msgspec.json.Decoder(_Written)


def writers_of_size(body: bytes) -> list[tuple[str, str]]:
    """Return who set the present size of a workload, each with the subresource that it used."""
    metadata = decoded(_written_decoder, body, _Written()).metadata
    writers = (metadata.writers if metadata is not None else None) or ()
    return [
        (one.manager, one.subresource)
        for one in writers
        if one.fields is not None
        and one.fields.spec is not None
        and one.fields.spec.replicas is not None
    ]


class _Metadata(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _Annotated(msgspec.Struct, gc=False):
    metadata: _Metadata | None = None


_annotated_decoder = msgspec.json.Decoder(_Annotated)


def annotations_of(body: bytes) -> dict[str, str]:
    """Return an object's annotations."""
    metadata = decoded(_annotated_decoder, body, _Annotated()).metadata
    return (metadata.annotations if metadata is not None else None) or {}


class _Fixed(msgspec.Struct, gc=False):
    immutable: bool | None = None


_fixed_decoder = msgspec.json.Decoder(_Fixed)


def is_immutable(body: bytes) -> bool:
    """Whether a ConfigMap or Secret says that what it holds cannot be changed."""
    return decoded(_fixed_decoder, body, _Fixed()).immutable is True


class _NamespaceSpec(msgspec.Struct, gc=False):
    finalizers: tuple[str, ...] | None = None


class _Namespace(msgspec.Struct, gc=False):
    spec: _NamespaceSpec | None = None


_namespace_decoder = msgspec.json.Decoder(_Namespace)


def namespace_finalizers(body: bytes) -> tuple[str, ...]:
    """Return the finalizers of a namespace's own list, that of its spec."""
    spec = decoded(_namespace_decoder, body, _Namespace()).spec
    return (spec.finalizers or ()) if spec is not None else ()


class _WithStatus(msgspec.Struct, gc=False):
    status: msgspec.Raw = msgspec.Raw()


_status_decoder = msgspec.json.Decoder(_WithStatus)


def status_bytes(body: bytes) -> bytes:
    """Return an object's status as it is written."""
    return bytes(decoded(_status_decoder, body, _WithStatus()).status)


class _KeptStatus(msgspec.Struct, rename="camel", gc=False):
    phase: str = ""
    state: str = ""
    expiration: str | None = None
    expiration_time: str | None = None
    expiration_timestamp: str | None = None
    expires_at: str | None = None


class _Kept(msgspec.Struct, gc=False):
    status: _KeptStatus | None = None


_kept_decoder = msgspec.json.Decoder(_Kept)


def until_of(body: bytes) -> tuple[str, str]:
    """Return in one word how far an object is, and until when it is kept; empty where unsaid."""
    said = decoded(_kept_decoder, body, _Kept()).status or _KeptStatus()
    ends = said.expiration, said.expiration_time, said.expiration_timestamp, said.expires_at
    return said.phase or said.state, next((one for one in ends if one), "")


def kept_until(body: bytes) -> float | None:
    """Return until when an object's status says that it is kept, in s since the epoch, if it does.

    WHY a zone: a time without one would be read in that of the machine Suture runs on.
    """
    _, until = until_of(body)
    try:
        moment = datetime.fromisoformat(until) if until else None
    except ValueError:
        return None
    return moment.timestamp() if moment is not None and moment.tzinfo is not None else None


class _Reference(msgspec.Struct, gc=False):
    name: str = ""


class _MachineStatus(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""
    node_ref: _Reference | None = None
    node: str | _Reference | None = None


class _Labelled(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Machine(msgspec.Struct, gc=False):
    status: _MachineStatus | None = None
    metadata: _Labelled | None = None


_machine_decoder = msgspec.json.Decoder(_Machine)


def node_named(body: bytes) -> str:
    """Return the node that an object's status or label names as its own, empty where none does."""
    found = decoded(_machine_decoder, body, _Machine())
    status, meta = found.status, found.metadata
    label = (meta.labels or {}).get("node", "") if meta is not None else ""
    if status is None:
        return label
    said = status.node_ref or status.node
    name = said.name if isinstance(said, _Reference) else said
    return name or status.node_name or label


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""


class _Gate(msgspec.Struct, rename="camel", gc=False):
    condition_type: str = ""


class _PodSpec(msgspec.Struct, rename="camel", gc=False):
    readiness_gates: tuple[_Gate, ...] | None = None
    restart_policy: str = ""


class _Status(msgspec.Struct, gc=False):
    conditions: tuple[_Condition, ...] | None = None


class _Conditioned(msgspec.Struct, gc=False):
    status: _Status | None = None


class _Pod(_Conditioned, gc=False):
    spec: _PodSpec | None = None


_conditioned_decoder = msgspec.json.Decoder(_Conditioned)
_pod_decoder = msgspec.json.Decoder(_Pod)


def denied(body: bytes) -> list[str]:
    """Return the types of the conditions that are `False`, as the status of an object says."""
    status = decoded(_conditioned_decoder, body, _Conditioned()).status
    conditions = (status.conditions if status is not None else None) or ()
    return [one.type for one in conditions if one.status == "False"]


def pod_is_fit(body: bytes) -> bool:
    """Whether a pod's status has all that makes it Ready: its containers are, its gates are open.

    A body that cannot be read says nothing against it.
    """
    try:
        pod = _pod_decoder.decode(body)
    except UNREADABLE:
        return True
    conditions = (pod.status.conditions if pod.status is not None else None) or ()
    true = {one.type for one in conditions if one.status == "True"}
    gates = (pod.spec.readiness_gates if pod.spec is not None else None) or ()
    return "ContainersReady" in true and all(one.condition_type in true for one in gates)


def ends_by_itself(body: bytes) -> bool:
    """Whether a pod is work that comes to an end: it is not started again for ever."""
    spec = decoded(_pod_decoder, body, _Pod()).spec
    return spec is not None and spec.restart_policy in ("Never", "OnFailure")


class _Called(msgspec.Struct, rename="camel", gc=False):
    ca_bundle: str = ""


class _Hook(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    client_config: _Called | None = None


class _Converted(msgspec.Struct, rename="camel", gc=False):
    client_config: _Called | None = None


class _ClaimRef(msgspec.Struct, gc=False):
    uid: str = ""


class _VolumeSpec(msgspec.Struct, rename="camel", gc=False):
    claim_ref: _ClaimRef | None = None


class _Volume(msgspec.Struct, gc=False):
    spec: _VolumeSpec | None = None


_volume_decoder = msgspec.json.Decoder(_Volume)


def claim_uid(body: bytes) -> str:
    """Return which life of a claim a volume is bound to; empty where it waits for one of a name."""
    spec = decoded(_volume_decoder, body, _Volume()).spec
    return spec.claim_ref.uid if spec is not None and spec.claim_ref is not None else ""


class _Conversion(msgspec.Struct, gc=False):
    webhook: _Converted | None = None


class _PathSpec(msgspec.Struct, rename="camel", gc=False):
    ca_bundle: str = ""
    blind: bool | None = msgspec.field(default=None, name="insecureSkipTLSVerify")
    conversion: _Conversion | None = None


class _Paths(msgspec.Struct, gc=False):
    webhooks: tuple[_Hook, ...] | None = None
    spec: _PathSpec | None = None


_paths_decoder = msgspec.json.Decoder(_Paths)

_BLANK = frozenset({"", "Cg"})
"""Bundles of nothing, padding apart: charts write a line break where another is to fill one in."""


def _vouches(called: _Called | _PathSpec | None) -> bool:
    return called is not None and called.ca_bundle.rstrip("=") not in _BLANK


def trusting(body: bytes) -> set[str]:
    """Return which paths into the API have an authority that vouches for what answers.

    Webhooks by name; that of an APIService, or of the conversion of a definition, has none. One
    that asks for no certificate is vouched for as well.
    """
    found = decoded(_paths_decoder, body, _Paths())
    paths = {hook.name for hook in found.webhooks or () if _vouches(hook.client_config)}
    spec = found.spec
    if spec is None:
        return paths
    converted = spec.conversion.webhook if spec.conversion is not None else None
    called = converted.client_config if converted is not None else None
    if _vouches(spec) or _vouches(called) or spec.blind:
        paths.add("")
    return paths
