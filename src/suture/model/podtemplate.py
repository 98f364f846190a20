"""What a workload's body says of its pods beyond what the graph keeps: labels, and how they change.

In the model, not in `wire`, because impact asks for it, and only of the few writes that change a
template: the graph would keep it of every workload for nothing. Pure.
Source: apps/v1 DeploymentSpec, StatefulSetSpec, DaemonSetSpec.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from suture.model.difference import UNREADABLE
from suture.model.facts import Amount


class _Meta(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Template(msgspec.Struct, gc=False):
    metadata: _Meta | None = None


class _Container(msgspec.Struct, gc=False):
    image: str = ""


class _PodSpec(msgspec.Struct, rename="camel", gc=False):
    init_containers: list[_Container] | None = None
    containers: list[_Container] | None = None


class _PodTemplate(msgspec.Struct, gc=False):
    spec: _PodSpec | None = None


class _PodWorkloadSpec(msgspec.Struct, gc=False):
    template: _PodTemplate | None = None


class _PodWorkload(msgspec.Struct, gc=False):
    spec: _PodWorkloadSpec | None = None


class _Rolling(msgspec.Struct, rename="camel", gc=False):
    max_unavailable: Amount | None = None
    max_surge: Amount | None = None
    partition: int | None = None


class _Strategy(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    rolling_update: _Rolling | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    template: _Template | None = None
    strategy: _Strategy | None = None
    update_strategy: _Strategy | None = None
    paused: bool = False
    revision_history_limit: int | None = None


class _Status(msgspec.Struct, rename="camel", gc=False):
    replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    desired_number_scheduled: int = 0
    updated_number_scheduled: int = 0


class _Workload(msgspec.Struct, gc=False):
    spec: _Spec | None = None
    status: _Status | None = None


_decoder = msgspec.json.Decoder(_Workload)
_pods_decoder = msgspec.json.Decoder(_PodWorkload)
_NO_LABELS: Mapping[str, str] = {}

KEPT_REVISIONS = 10
"""SOURCE: apps/v1 defaulting of a Deployment's revisionHistoryLimit."""


class Rollout(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How a workload's pods follow its template.

    `strategy` empty: it does not say, or the body is not shown. `partition`: pods of a StatefulSet
    below it keep what they have. `pending`: some pods are of an older template now. `history`: how
    many ReplicaSets of older templates a Deployment keeps.
    """

    labels: Mapping[str, str] = _NO_LABELS
    strategy: str = ""
    max_unavailable: Amount | None = None
    max_surge: Amount | None = None
    partition: int = 0
    paused: bool = False
    pending: bool = False
    history: int = KEPT_REVISIONS


UNSAID = Rollout()


def rollout_of(body: bytes) -> Rollout:
    """Return what a workload's body says of its pods; nothing where there is none, or odd."""
    if not body:
        return UNSAID
    try:
        found = _decoder.decode(body)
    except UNREADABLE:
        return UNSAID
    spec, status = found.spec or _Spec(), found.status or _Status()
    strategy = spec.strategy or spec.update_strategy or _Strategy()
    rolling = strategy.rolling_update or _Rolling()
    limit = spec.revision_history_limit
    meta = spec.template.metadata if spec.template is not None else None
    return Rollout(
        labels=(meta.labels if meta is not None else None) or _NO_LABELS,
        strategy=strategy.type,
        max_unavailable=rolling.max_unavailable,
        max_surge=rolling.max_surge,
        partition=rolling.partition or 0,
        paused=spec.paused,
        history=KEPT_REVISIONS if limit is None else limit,
        pending=status.updated_replicas < status.replicas
        or status.updated_number_scheduled < status.desired_number_scheduled
        or status.current_revision != status.update_revision,
    )


def images_of(body: bytes) -> tuple[str, ...]:
    """Return the images that a workload's body has its pods run, sorted; none where it is odd."""
    pod = _pod_spec(body)
    if pod is None:
        return ()
    return tuple(
        sorted(one.image for one in (*(pod.init_containers or ()), *(pod.containers or ())))
    )


def _pod_spec(body: bytes) -> _PodSpec | None:
    if not body:
        return None
    try:
        found = _pods_decoder.decode(body)
    except UNREADABLE:
        return None
    template = found.spec.template if found.spec is not None else None
    return template.spec if template is not None else None
