"""Who manages an object: the managers of its fields, and the release or application behind it.

Apart from the projections of kinds because every object may say so, in its metadata. Pure.
Source: meta/v1 ManagedFieldsEntry; the marks that Helm, Argo CD and Flux leave, each named below.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from suture.model.absence import ARGO_APPLICATIONS
from suture.model.edges import Edge, Need
from suture.model.labels import Labels
from suture.model.names import ObjectKey, Resource
from suture.wire.shapes import ABSENT, ManagedMeta, ManagerEntry, named

HELM_RELEASES = Resource("helm.sh", "releases")
"""No type of the API: Helm keeps releases in Secrets; the name alone ties a release together."""
FLUX_KUSTOMIZATIONS = Resource("kustomize.toolkit.fluxcd.io", "kustomizations")
FLUX_RELEASES = Resource("helm.toolkit.fluxcd.io", "helmreleases")

_ARGO_WRITERS = frozenset({"argocd-controller", "argocd-application-controller"})
"""By which it writes fields: the name that it gives, or, before it gave one, its program's."""
_OWN_LABEL = b'"argocd.argoproj.io/instance"'
_ANY_LABEL = b'"app.kubernetes.io/instance"'

MANAGERS = 4096
"""LIMIT: sets of managers shared between objects; a cluster has some hundred writers."""


class _Marks(
    msgspec.Struct,
    gc=False,
    rename={
        "helm_name": "meta.helm.sh/release-name",
        "helm_namespace": "meta.helm.sh/release-namespace",
        "argo": "argocd.argoproj.io/tracking-id",
    },
):
    """The annotations by which an object says whose it is."""

    helm_name: str = ""
    helm_namespace: str = ""
    argo: str = ""


_marks_decoder = msgspec.json.Decoder(_Marks | None)
_NO_MARKS = _Marks()

_FLUX = tuple(
    (resource, f"{resource.group}/name", f"{resource.group}/namespace")
    for resource in (FLUX_KUSTOMIZATIONS, FLUX_RELEASES)
)
"""What Flux applies from, and the labels that name it."""


class Managers:
    """Sets of managers, shared: most objects of a kind were written by the same few."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, fields: tuple[ManagerEntry, ...] | None) -> tuple[str, ...]:
        """Return the names of the managers of an object's fields, sorted, each once."""
        if not fields:
            return ()
        written = tuple([entry.manager for entry in fields])
        found = self._known.get(written)
        if found is None:
            if len(self._known) >= MANAGERS:
                self._known = {}
            found = self._known[written] = tuple(sorted({one for one in written if one}))
        return found


def managed_by(
    meta: ManagedMeta,
    key: ObjectKey,
    kind: str,
    labels: Labels,
    *,
    managers: tuple[str, ...],
    applications_in: str,
) -> tuple[Need, ...]:
    """Return what keeps an object as it is, as far as its metadata says.

    Ask only for what no controller owns: a Deployment's annotations are copied to its ReplicaSets,
    which nobody manages but the Deployment. `managers` are those of its fields; `applications_in`
    is the namespace of Argo CD's applications, where a mark does not say it.
    """
    marks = _marks(meta)
    needs: tuple[Need, ...] = ()
    if marks.helm_name:
        needs += named(Edge.MANAGED_BY, HELM_RELEASES, marks.helm_namespace, marks.helm_name)
    if marks.argo:
        needs += _argo(marks.argo, key, kind, applications_in)
    elif instance := _instance(labels, managers):
        needs += named(Edge.MANAGED_BY, ARGO_APPLICATIONS, applications_in, instance)
    if b".toolkit.fluxcd.io/name" in labels.raw:
        needs += _flux(labels)
    return needs


def _marks(meta: ManagedMeta) -> _Marks:
    if meta.annotations is ABSENT:
        return _NO_MARKS
    raw = bytes(meta.annotations)
    # WHY first: of most objects this is all that is done, and it takes a tenth of the reading.
    if b'"meta.helm.sh/' not in raw and b'"argocd.argoproj.io/tracking-id"' not in raw:
        return _NO_MARKS
    try:
        return _marks_decoder.decode(raw) or _NO_MARKS
    except msgspec.MsgspecError:
        return _NO_MARKS


def _instance(labels: Labels, managers: tuple[str, ...]) -> str:
    """Return the application that Argo CD tracks by a label; empty where none does.

    WHY the writer too: the label that it takes unless told otherwise is one that charts set on
    whatever they make, and that controllers copy.
    Source: Argo CD, resource tracking; `common.ArgoCDSSAManager`.
    """
    if _OWN_LABEL in labels.raw:
        return labels["argocd.argoproj.io/instance"]
    if _ANY_LABEL in labels.raw and not _ARGO_WRITERS.isdisjoint(managers):
        return labels["app.kubernetes.io/instance"]
    return ""


def _argo(tracked: str, key: ObjectKey, kind: str, applications_in: str) -> tuple[Need, ...]:
    """Return the application of a tracking id, `app:group/Kind:namespace/name`.

    An application outside Argo CD's own namespace is written `namespace_app`.
    Source: Argo CD, resource tracking; applications in any namespace.
    """
    app, _, rest = tracked.partition(":")
    what, _, place = rest.partition(":")
    # WHY: a copy of an annotated object, made by whatever tool, is not in the application.
    if what.rpartition("/")[2] != kind or place.rpartition("/")[2] != key.name:
        return ()
    namespace, found, name = app.rpartition("_")
    return named(Edge.MANAGED_BY, ARGO_APPLICATIONS, namespace if found else applications_in, name)


def _flux(labels: Mapping[str, str]) -> tuple[Need, ...]:
    """Return the Kustomization and the HelmRelease that the labels of Flux name."""
    needs: tuple[Need, ...] = ()
    for resource, name_key, namespace_key in _FLUX:
        name = labels.get(name_key)
        if name:
            needs += named(Edge.MANAGED_BY, resource, labels.get(namespace_key, ""), name)
    return needs
