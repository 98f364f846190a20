"""Who manages an object is read from its metadata, of every kind but pods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suture.model import names
from suture.model.absence import ARGO_APPLICATIONS
from suture.model.edges import Edge
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.managedby import MANAGERS, Managers
from suture.wire.shapes import ManagerEntry
from suture.wire.trim import Trimmer

HELM = {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}
OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u"}
TRACKED = "argocd.argoproj.io/tracking-id"


def trimmed(
    resource: Resource = names.DEPLOYMENTS, kind: str = "Deployment", **metadata: Any
) -> ClusterObject:
    """Trim an object with metadata."""
    body = {"metadata": {"name": "web", "namespace": "shop", "uid": "u", **metadata}}
    gvk = Gvk(resource.group, "v1", kind)
    return Trimmer().trim(json.dumps(body).encode(), resource, gvk)


def keepers(thing: ClusterObject) -> list[str]:
    """Return what manages an object."""
    assert all(need.edge is Edge.MANAGED_BY for need in thing.needs)
    return [str(need.target) for need in thing.needs]


@pytest.mark.parametrize(
    ("annotations", "labels", "expected"),
    [
        (HELM, {}, ["releases.helm.sh shop/web"]),
        (
            {TRACKED: "front:apps/Deployment:shop/web"},
            {},
            ["applications.argoproj.io argocd/front"],
        ),
        (
            {TRACKED: "team-a_front:apps/Deployment:shop/web"},
            {},
            ["applications.argoproj.io team-a/front"],
        ),
        ({TRACKED: "front:apps/ReplicaSet:shop/web"}, {}, []),
        ({TRACKED: "front:apps/Deployment:shop/other"}, {}, []),
        ({TRACKED: "front"}, {}, []),
        ({}, {"argocd.argoproj.io/instance": "front"}, ["applications.argoproj.io argocd/front"]),
        (
            {},
            {
                "kustomize.toolkit.fluxcd.io/name": "apps",
                "kustomize.toolkit.fluxcd.io/namespace": "flux",
            },
            ["kustomizations.kustomize.toolkit.fluxcd.io flux/apps"],
        ),
        (
            HELM,
            {
                "helm.toolkit.fluxcd.io/name": "web",
                "helm.toolkit.fluxcd.io/namespace": "flux",
            },
            ["releases.helm.sh shop/web", "helmreleases.helm.toolkit.fluxcd.io flux/web"],
        ),
        ({"other": "meta.helm.sh/release-name"}, {"app": "argocd.argoproj.io"}, []),
        ({}, {}, []),
        (None, None, []),
    ],
)
def test_marks_of_those_who_keep_objects(
    annotations: Any, labels: Any, expected: list[str]
) -> None:
    """Helm, Argo CD and Flux each leave their own; a copy of an Argo CD mark says nothing."""
    assert keepers(trimmed(annotations=annotations, labels=labels)) == expected


def test_argo_cd_runs_where_its_first_project_is() -> None:
    """Marks that do not say the namespace of their application are read as of there."""
    trimmer = Trimmer()
    trimmer.applications.home = "openshift-gitops"
    gvk = Gvk("apps", "v1", "Deployment")
    for marks, labels, expected in (
        ({TRACKED: "front:apps/Deployment:shop/web"}, {}, "openshift-gitops/front"),
        ({TRACKED: "team-a_front:apps/Deployment:shop/web"}, {}, "team-a/front"),
        ({}, {"argocd.argoproj.io/instance": "front"}, "openshift-gitops/front"),
    ):
        metadata = {"name": "web", "uid": "u", "annotations": marks, "labels": labels}
        body = json.dumps({"metadata": {**metadata, "namespace": "shop"}}).encode()
        thing = trimmer.trim(body, names.DEPLOYMENTS, gvk)
        assert keepers(thing) == [f"applications.argoproj.io {expected}"]


def test_a_label_that_charts_set_too_tells_with_who_wrote_it() -> None:
    """Argo CD tracks by `app.kubernetes.io/instance` unless told otherwise; Helm sets it as well."""
    labels = {"app.kubernetes.io/instance": "front"}
    by = {
        writer: keepers(trimmed(labels=labels, managedFields=[{"manager": writer}]))
        for writer in ("argocd-controller", "helm", "front-operator")
    }
    assert by == {
        "argocd-controller": ["applications.argoproj.io argocd/front"],
        "helm": [],
        "front-operator": [],
    }
    owned = trimmed(
        labels=labels,
        managedFields=[{"manager": "argocd-controller"}],
        ownerReferences=[{**OWNER, "controller": True}],
    )
    assert keepers(owned) == []


def test_a_label_that_charts_set_tells_of_an_application_that_is_there() -> None:
    """Whoever wrote it: not where Helm keeps the object, nor of what labels are copied to."""
    trimmer = Trimmer()
    trimmer.applications.note(ObjectKey(ARGO_APPLICATIONS, "gitops", "front"), there=True)
    deployment, claim = Gvk("apps", "v1", "Deployment"), Gvk("", "v1", "PersistentVolumeClaim")
    application = Gvk("argoproj.io", "v1alpha1", "Application")

    def kept(instance: str, resource: Resource, gvk: Gvk, **more: Any) -> list[str]:
        labels = {"app.kubernetes.io/instance": instance}
        metadata = {"name": "front", "namespace": "shop", "uid": "u", "labels": labels, **more}
        return keepers(trimmer.trim(json.dumps({"metadata": metadata}).encode(), resource, gvk))

    by = ["applications.argoproj.io gitops/front"]
    assert kept("front", names.DEPLOYMENTS, deployment) == by
    assert kept("back", names.DEPLOYMENTS, deployment) == []
    assert kept("front", names.CLAIMS, claim) == []
    assert kept("front", ARGO_APPLICATIONS, application) == []
    helm = kept("front", names.DEPLOYMENTS, deployment, annotations=HELM)
    assert helm == ["releases.helm.sh shop/web"]


def test_what_a_controller_owns_is_kept_by_it_alone() -> None:
    """A Deployment's annotations are copied to its ReplicaSets, which no release holds."""
    owned = trimmed(annotations=HELM, ownerReferences=[{**OWNER, "controller": True}])
    assert keepers(owned) == []
    shared = trimmed(annotations=HELM, ownerReferences=[OWNER])
    assert keepers(shared) == ["releases.helm.sh shop/web"]


@pytest.mark.parametrize("annotations", [7, ["meta.helm.sh/"], {"meta.helm.sh/release-name": 1}])
def test_odd_annotations_say_nothing(annotations: object) -> None:
    """And cost nothing else of the object."""
    thing = trimmed(annotations=annotations, finalizers=["a/b"])
    assert keepers(thing) == []
    assert (thing.key.name, thing.finalizers) == ("web", ("a/b",))


def test_metadata_alone_tells_too() -> None:
    """Custom resources and Secrets are watched without their bodies, and managed all the same."""
    fields = [{"manager": "helm"}, {"manager": "controller"}, {"manager": "helm"}, {"manager": ""}]
    widgets = Resource("example.com", "widgets")
    thing = trimmed(widgets, "Widget", annotations=HELM, managedFields=fields)
    assert keepers(thing) == ["releases.helm.sh shop/web"]
    assert thing.managers == ("controller", "helm")


def test_nobody_asks_who_writes_a_pod() -> None:
    """Its owner, its node: that is known; reading it would cost more than all the rest."""
    pod = trimmed(names.PODS, "Pod", annotations=HELM, managedFields=[{"manager": "kubelet"}])
    assert (pod.managers, list(pod.needs)) == ((), [])


@pytest.mark.parametrize("fields", [None, [], [{}], [{"manager": ""}]])
def test_no_managers(fields: object) -> None:
    """Managed fields may be cleared, and may name nobody."""
    assert trimmed(managedFields=fields).managers == ()


def test_managers_are_shared_within_a_bound() -> None:
    """Equal sets are one value; what is remembered does not grow for ever."""
    managers = Managers()
    first = managers.of((ManagerEntry("b"), ManagerEntry("a")))
    assert first == ("a", "b")
    assert managers.of((ManagerEntry("b"), ManagerEntry("a"))) is first
    for number in range(3 * MANAGERS):
        managers.of((ManagerEntry(str(number)),))
    assert len(managers) <= MANAGERS


def test_odd_managers_cost_only_themselves() -> None:
    """Managed fields of a shape that nobody writes leave the rest of the metadata as it is."""
    thing = trimmed(managedFields={"manager": 1}, labels={"app": "web"})
    assert thing.managers == ()
    assert (thing.key.name, thing.labels) == ("web", {"app": "web"})
