"""Who manages an object: the managers of its fields, and the release or application behind it.

Apart from the projections of kinds because every object may say so, in its metadata. Pure.
Source: meta/v1 ManagedFieldsEntry; the marks that Helm, Argo CD and Flux leave, each named below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suture.model.absence import ARGO_APPLICATIONS, ARGO_NAMESPACE, ARGO_PROJECTS
from suture.model.edges import Edge, Need
from suture.model.labels import Labels
from suture.model.names import CLAIMS, ObjectKey, Resource
from suture.wire.metashapes import marks_of
from suture.wire.shapes import ManagedMeta, ManagerEntry, named

HELM_RELEASES = Resource("helm.sh", "releases")
"""No type of the API: Helm keeps releases in Secrets; the name alone ties a release together."""
FLUX_KUSTOMIZATIONS = Resource("kustomize.toolkit.fluxcd.io", "kustomizations")
FLUX_RELEASES = Resource("helm.toolkit.fluxcd.io", "helmreleases")

FIRST_PROJECT = "default"
"""The project that Argo CD makes in its own namespace, of each of its installations."""

_ARGO_WRITERS = frozenset({"argocd-controller", "argocd-application-controller"})
"""By which it writes fields: the name that it gives, or, before it gave one, its program's."""
_OWN_LABEL = b'"argocd.argoproj.io/instance"'
_ANY_LABEL = b'"app.kubernetes.io/instance"'
AWAITED = 10_000
"""LIMIT: names of applications that others wait for, 0.2 kB each; releases of charts, mostly, that
are no applications and never come."""
_COPIED = frozenset({CLAIMS, Resource("", "endpoints")})
"""Kinds that controllers make without an owner, with the labels of what they make them for."""

MANAGERS = 4096
"""LIMIT: sets of managers shared between objects; a cluster has some hundred writers."""


_FLUX = tuple(
    (resource, f"{resource.group}/name", f"{resource.group}/namespace")
    for resource in (FLUX_KUSTOMIZATIONS, FLUX_RELEASES)
)
"""What Flux applies from, and the labels that name it."""


class Applications:
    """Where Argo CD and its applications are, as far as it is known when a mark is read.

    Tell it of its projects and applications as they come and go. Marks that were read before keep
    what was known then; it makes them after both.
    """

    __slots__ = ("_places", "_projects", "awaited", "home")

    def __init__(self) -> None:
        self.home = ARGO_NAMESPACE
        """The namespace of applications, where neither a mark nor their name says it."""
        self.awaited: dict[str, dict[ObjectKey, None]] = {}
        """Applications that charts' label calls after another, which was not there when they were
        read, by its name. Of one list the order says nothing."""
        self._projects: set[ObjectKey] = set()
        self._places: dict[str, set[str]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __len__(self) -> int:
        return len(self._places)

    def expect(self, name: str, key: ObjectKey) -> None:
        """Note an application that waits for the one of a name."""
        if name in self.awaited or len(self.awaited) < AWAITED:
            self.awaited.setdefault(name, {})[key] = None

    def met(self) -> Iterator[tuple[ObjectKey, tuple[Need, ...]]]:
        """Yield what waited for an application that is there now, and its need of that; once."""
        for name in [one for one in self.awaited if one in self]:
            need = named(Edge.MANAGED_BY, ARGO_APPLICATIONS, self.place(name), name)
            yield from ((key, need) for key in self.awaited.pop(name))

    def note(self, key: ObjectKey, *, there: bool) -> None:
        """Note a project or application that is there, or is so no more; nothing of others."""
        if key.resource == ARGO_PROJECTS:
            self._note_project(key, there=there)
        elif key.resource == ARGO_APPLICATIONS and there:
            self._places.setdefault(key.name, set()).add(key.namespace)
        elif key.resource == ARGO_APPLICATIONS:
            places = self._places.get(key.name, set())
            places.discard(key.namespace)
            if not places:
                self._places.pop(key.name, None)

    def _note_project(self, key: ObjectKey, *, there: bool) -> None:
        """Note where Argo CD runs: in the namespace of its first project, else of all of them.

        Where several run, marks do not say whose they are, and are taken as of its usual place,
        save where one of them alone has an application of the name.
        """
        (self._projects.add if there else self._projects.discard)(key)
        first = {one.namespace for one in self._projects if one.name == FIRST_PROJECT}
        places = first or {one.namespace for one in self._projects}
        self.home = next(iter(places)) if len(places) == 1 else ARGO_NAMESPACE

    def place(self, name: str) -> str:
        """Return the namespace of the application of a name: the one that has it, else `home`."""
        places = self._places.get(name)
        return next(iter(places)) if places is not None and len(places) == 1 else self.home


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
    applications: Applications,
) -> tuple[Need, ...]:
    """Return what keeps an object as it is, as far as its metadata says.

    Ask only for what no controller owns: a Deployment's annotations are copied to its ReplicaSets,
    which nobody manages but the Deployment. `managers` are those of its fields.
    """
    marks = marks_of(meta)
    needs: tuple[Need, ...] = ()
    if marks.helm_name:
        needs += named(Edge.MANAGED_BY, HELM_RELEASES, marks.helm_namespace, marks.helm_name)
    if marks.argo:
        needs += _argo(marks.argo, key, kind, applications)
    elif instance := _instance(labels, managers) or (
        "" if marks.helm_name else _of_application(labels, key, applications)
    ):
        needs += named(Edge.MANAGED_BY, ARGO_APPLICATIONS, applications.place(instance), instance)
    if b".toolkit.fluxcd.io/name" in labels.raw:
        needs += _flux(labels)
    return needs


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


def _of_application(labels: Labels, key: ObjectKey, applications: Applications) -> str:
    """Return the application after which charts' own label calls an object; empty where none is.

    WHY not claims and endpoints: what makes them copies the labels of a set or a Service to them.
    """
    is_one = key.resource == ARGO_APPLICATIONS
    if not (applications or is_one) or _ANY_LABEL not in labels.raw or key.resource in _COPIED:
        return ""
    instance = labels["app.kubernetes.io/instance"]
    if is_one and key.name == instance:
        return ""
    if instance in applications:
        return instance
    if is_one:
        applications.expect(instance, key)
    return ""


def _argo(tracked: str, key: ObjectKey, kind: str, applications: Applications) -> tuple[Need, ...]:
    """Return the application of a tracking id, `app:group/Kind:namespace/name`.

    An application outside Argo CD's own namespace is written `namespace_app`.
    Source: Argo CD, resource tracking; applications in any namespace.
    """
    app, _, rest = tracked.partition(":")
    what, _, where = rest.partition(":")
    # WHY: a copy of an annotated object, made by whatever tool, is not in the application.
    if what.rpartition("/")[2] != kind or where.rpartition("/")[2] != key.name:
        return ()
    namespace, found, name = app.rpartition("_")
    place = namespace if found else applications.place(name)
    return named(Edge.MANAGED_BY, ARGO_APPLICATIONS, place, name)


def _flux(labels: Mapping[str, str]) -> tuple[Need, ...]:
    """Return the Kustomization and the HelmRelease that the labels of Flux name."""
    needs: tuple[Need, ...] = ()
    for resource, name_key, namespace_key in _FLUX:
        name = labels.get(name_key)
        if name:
            needs += named(Edge.MANAGED_BY, resource, labels.get(namespace_key, ""), name)
    return needs
