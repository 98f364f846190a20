"""Projections of the controllers of pods, and the hash by which their templates are told apart.

One of several, as a kind's neighbours change together. Pure.
Source: apps/v1, batch/v1, core/v1 ReplicationController.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from suture.model.edges import Edge, Need
from suture.model.names import DRIVERS, ObjectKey
from suture.model.objects import Facts, WorkloadFacts
from suture.model.placement import ANYWHERE, Placement
from suture.model.podneeds import PodNeeds, PodRefs
from suture.model.selectors import Selector
from suture.wire.networkneeds import network_needs
from suture.wire.placementshapes import placement
from suture.wire.shapes import (
    ABSENT,
    Conditions,
    Count,
    LabelSelector,
    ManagedDocument,
    holds,
    selector_of,
)

TEMPLATES = 512
"""LIMIT: pod templates whose reading is remembered, 3 KB each. The two objects of a review mostly
have the same one, and operators write to the same few hundred workloads again and again."""

TEMPLATE_BYTES = 8192
"""LIMIT: longer templates are read each time, so that what is remembered stays below 10 MB."""


class _ClaimTemplateSpec(msgspec.Struct, rename="camel", gc=False):
    storage_class_name: str | None = None


class _ClaimTemplate(msgspec.Struct, gc=False):
    spec: _ClaimTemplateSpec | None = None


class _Retention(msgspec.Struct, rename="camel", gc=False):
    when_scaled: str = ""


class _Workload(msgspec.Struct, rename="camel", gc=False):
    replicas: Count | None = None
    parallelism: Count | None = None
    completions: Count | None = None
    suspend: bool | None = None
    selector: LabelSelector | None = None
    template: msgspec.Raw = ABSENT
    service_name: str | None = None
    volume_claim_templates: tuple[_ClaimTemplate, ...] | None = None
    persistent_volume_claim_retention_policy: _Retention | None = None


class _WorkloadStatus(msgspec.Struct, rename="camel", gc=False):
    replicas: Count = 0
    active: Count = 0
    current_number_scheduled: Count = 0
    conditions: Conditions = None


class WorkloadDocument(ManagedDocument, gc=False):
    """A Deployment, ReplicaSet, StatefulSet, DaemonSet or Job."""

    spec: _Workload | None = None
    status: _WorkloadStatus | None = None


class _Controller(msgspec.Struct, gc=False):
    replicas: Count | None = None
    selector: dict[str, str] | None = None
    template: msgspec.Raw = ABSENT


class ControllerDocument(ManagedDocument, gc=False):
    """A ReplicationController, whose selector is a plain map."""

    spec: _Controller | None = None
    status: _WorkloadStatus | None = None


class _HostPath(msgspec.Struct, gc=False):
    path: str = ""


class _HostVolume(msgspec.Struct, rename="camel", gc=False):
    host_path: _HostPath | None = None


class _HostSpec(msgspec.Struct, gc=False):
    volumes: list[_HostVolume] | None = None


class _HostTemplate(msgspec.Struct, gc=False):
    spec: _HostSpec | None = None


class _JobTemplate(msgspec.Struct, gc=False):
    spec: _Workload | None = None


class _CronSpec(msgspec.Struct, rename="camel", gc=False):
    job_template: _JobTemplate | None = None


class CronJobDocument(ManagedDocument, gc=False):
    """A CronJob."""

    spec: _CronSpec | None = None


def template_hash(raw: msgspec.Raw) -> int:
    """Return a number that is equal for equal pod templates, 0 where there is none.

    Stable over processes and machines. Key order counts: the API server writes every version of
    a built-in type in one order, so templates that it served compare as they should.
    """
    if raw is ABSENT:
        return 0
    text = bytes(raw)
    if text == b"null":
        return 0
    # WHY: inside a review Go escapes `<`, `>` and `&`, elsewhere it need not; and files may be
    # indented. Such text is written anew; the rest, nearly all, is that already.
    if b"\\" in text or _spaced(text):
        text = msgspec.json.encode(msgspec.json.decode(text))
    # 63 bits: the number fits a signed column too.
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1 or 1


def _spaced(text: bytes) -> bool:
    # The first colon tells: whoever puts space after one puts it after all.
    colon = text.find(b":")
    return text[1:2].isspace() or text[colon + 1 : colon + 2].isspace()


class _Stamp(NamedTuple):
    """What a workload's own template says, wherever the workload is."""

    hash: int
    placement: Placement


@lru_cache(TEMPLATES)
def _stamp_of(text: bytes) -> _Stamp:
    template = msgspec.Raw(text)
    return _Stamp(template_hash(template), placement(template))


def _stamp(template: msgspec.Raw) -> _Stamp:
    """Read a template, or remember how it was read."""
    if template is ABSENT:
        return _NO_STAMP
    text = bytes(template)
    return _stamp_of(text) if len(text) <= TEMPLATE_BYTES else _stamp_of.__wrapped__(text)


_NO_STAMP = _Stamp(0, ANYWHERE)


class _Template(msgspec.Struct, gc=False):
    spec: PodRefs | None = None


_template_decoder = msgspec.json.Decoder(_Template | None)


def _template_needs(
    template: msgspec.Raw, key: ObjectKey, service: str = "", classes: tuple[str, ...] = ()
) -> Sequence[Need]:
    if template is ABSENT:
        return ()
    text = bytes(template)
    read = _needs_of if len(text) <= TEMPLATE_BYTES else _needs_of.__wrapped__
    return read(text, key.namespace, service, classes)


@lru_cache(TEMPLATES)
def _needs_of(
    text: bytes, namespace: str, service: str, classes: tuple[str, ...]
) -> Sequence[Need]:
    found = _template_decoder.decode(text)
    if found is None or found.spec is None:
        return ()
    needs = PodNeeds.of_template(found.spec, namespace, service=service, classes=classes)
    networks = network_needs(text, namespace)
    return needs.also(networks) if networks else needs


def workload_needs(
    doc: WorkloadDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return what a workload's pods will name; of a StatefulSet its Service and classes too."""
    spec = doc.spec or _Workload()
    classes = {
        one.spec.storage_class_name
        for one in spec.volume_claim_templates or ()
        if one.spec is not None and one.spec.storage_class_name
    }
    return _template_needs(spec.template, key, spec.service_name or "", tuple(sorted(classes)))


_host_decoder = msgspec.json.Decoder(_HostTemplate | None)
_PLUGINS = b"/plugins/"
_DIRECTORY = re.compile(r".*/plugins/([^/]+)/?")
"""Where the kubelet finds a driver. SOURCE: Kubernetes CSI documentation, "Deploying a CSI Driver
on Kubernetes" (the socket lies in `/var/lib/kubelet/plugins/<driver name>`)."""


def daemon_set_needs(
    doc: WorkloadDocument, key: ObjectKey, labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return what a DaemonSet's pods will name, and the drivers that they register on nodes."""
    needs = workload_needs(doc, key, labels)
    template = doc.spec.template if doc.spec is not None else ABSENT
    # WHY first: of most DaemonSets this is all that is done.
    if not isinstance(needs, PodNeeds) or _PLUGINS not in bytes(template):
        return needs
    found = _host_decoder.decode(template)
    volumes = found.spec.volumes if found is not None and found.spec is not None else None
    paths = [one.host_path.path for one in volumes or () if one.host_path is not None]
    names = {match[1]: None for match in map(_DIRECTORY.fullmatch, paths) if match is not None}
    registers = [Need(Edge.DRIVER, ObjectKey(DRIVERS, "", name), optional=True) for name in names]
    return needs.also(tuple(registers)) if registers else needs


def cron_job_needs(
    doc: CronJobDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return what the pods of a CronJob's Jobs will name."""
    job = doc.spec.job_template if doc.spec else None
    if job is None or job.spec is None:
        return ()
    return _template_needs(job.spec.template, key)


def controller_needs(
    doc: ControllerDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return what a ReplicationController's pods will name."""
    return _template_needs((doc.spec or _Controller()).template, key)


def replicated(doc: WorkloadDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Deployment, ReplicaSet or StatefulSet adds to its metadata."""
    spec, status = doc.spec or _Workload(), doc.status or _WorkloadStatus()
    kept, stamp = spec.persistent_volume_claim_retention_policy, _stamp(spec.template)
    return WorkloadFacts(
        # SOURCE: apps/v1 defaulting: one replica where the number is left out.
        1 if spec.replicas is None else spec.replicas,
        selector_of(spec.selector),
        stamp.hash,
        finished=False,
        status_replicas=status.replicas,
        service=spec.service_name or "",
        placement=stamp.placement,
        sheds_claims=kept is not None and kept.when_scaled == "Delete",
    )


def daemon_set(doc: WorkloadDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a DaemonSet adds to its metadata."""
    spec, status = doc.spec or _Workload(), doc.status or _WorkloadStatus()
    stamp = _stamp(spec.template)
    return WorkloadFacts(
        None,
        selector_of(spec.selector),
        stamp.hash,
        finished=False,
        status_replicas=status.current_number_scheduled,
        placement=stamp.placement,
    )


def job(doc: WorkloadDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Job adds to its metadata."""
    spec, status = doc.spec or _Workload(), doc.status or _WorkloadStatus()
    stamp = _stamp(spec.template)
    return WorkloadFacts(
        0 if spec.suspend else spec.parallelism,
        selector_of(spec.selector),
        stamp.hash,
        finished=holds(status.conditions, "Complete", "Failed"),
        status_replicas=status.active,
        placement=stamp.placement,
        completions=spec.completions or 0,
    )


def cron_job(doc: CronJobDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a CronJob adds to its metadata."""
    job = doc.spec.job_template if doc.spec else None
    if job is None or job.spec is None:
        return WorkloadFacts()
    return WorkloadFacts(template_hash=template_hash(job.spec.template))


def replication_controller(
    doc: ControllerDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a ReplicationController adds to its metadata."""
    spec, status = doc.spec or _Controller(), doc.status or _WorkloadStatus()
    stamp = _stamp(spec.template)
    return WorkloadFacts(
        1 if spec.replicas is None else spec.replicas,
        Selector.of(spec.selector) if spec.selector else None,
        stamp.hash,
        finished=False,
        status_replicas=status.replicas,
        placement=stamp.placement,
    )
