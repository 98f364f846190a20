"""Projections of rights and of what is read at start: bindings, accounts, keys, leases.

One of several, as a kind's neighbours change together. Pure.
Source: rbac/v1, core/v1, coordination/v1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from suture.model import names
from suture.model.edges import Edge, Need
from suture.model.facts import KeysFacts, LeaseFacts, RoleBindingFacts, RoleFacts
from suture.model.names import ObjectKey
from suture.model.objects import Facts
from suture.model.podneeds import Named
from suture.model.rights import RightsRule
from suture.model.targets import resource_of
from suture.wire.shapes import LabelSelector, ManagedDocument, each_once, named

ACCOUNT_USER = "system:serviceaccount:"
"""How the name of a service account's user begins; its namespace and name follow."""


class _RoleRef(msgspec.Struct, rename="camel", gc=False):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class _Subject(msgspec.Struct, gc=False):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class BindingDocument(ManagedDocument, gc=False):
    """A RoleBinding or ClusterRoleBinding."""

    role_ref: _RoleRef | None = None
    subjects: tuple[_Subject, ...] | None = None


def _subjects(doc: BindingDocument, kind: str) -> tuple[str, ...]:
    return tuple(sorted({one.name for one in doc.subjects or () if one.kind == kind}))


def role_binding(doc: BindingDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a binding adds to its metadata."""
    return RoleBindingFacts(_subjects(doc, "User"), _subjects(doc, "Group"))


def role_binding_needs(
    doc: BindingDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the role and the service accounts of a binding, by whichever name they go."""
    needs: list[Need] = []
    role = doc.role_ref
    if role is not None and role.kind:
        # A ClusterRole has no namespace, whoever refers to it.
        namespace = "" if role.kind == "ClusterRole" else key.namespace
        resource = resource_of(role.api_group or names.ROLES.group, role.kind)
        needs += named(Edge.ROLE, resource, namespace, role.name)
    for subject in doc.subjects or ():
        namespace, name = "", ""
        if subject.kind == "ServiceAccount":
            namespace, name = subject.namespace or key.namespace, subject.name
        elif subject.kind == "User" and subject.name.startswith(ACCOUNT_USER):
            namespace, _, name = subject.name.removeprefix(ACCOUNT_USER).partition(":")
        needs += named(Edge.SUBJECT, names.SERVICE_ACCOUNTS, namespace, name)
    return each_once(needs)


class _Rule(
    msgspec.Struct,
    rename={"groups": "apiGroups", "paths": "nonResourceURLs", "names": "resourceNames"},
    gc=False,
):
    verbs: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None


class _Aggregation(msgspec.Struct, rename="camel", gc=False):
    cluster_role_selectors: tuple[LabelSelector, ...] | None = None


class RoleDocument(ManagedDocument, gc=False):
    """A Role or ClusterRole."""

    rules: tuple[_Rule, ...] | None = None
    aggregation_rule: _Aggregation | None = None


def role(doc: RoleDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Role or ClusterRole adds to its metadata."""
    selectors = (doc.aggregation_rule or _Aggregation()).cluster_role_selectors or ()
    return RoleFacts(
        tuple(
            RightsRule(
                rule.verbs or (),
                rule.groups or (),
                rule.resources or (),
                rule.names or (),
                rule.paths or (),
            )
            for rule in doc.rules or ()
        ),
        tuple(selector.selector() for selector in selectors),
    )


class AccountDocument(ManagedDocument, gc=False):
    """A ServiceAccount."""

    secrets: tuple[Named, ...] | None = None
    image_pull_secrets: tuple[Named, ...] | None = None


def account_needs(
    doc: AccountDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the Secrets that a ServiceAccount names."""
    place = names.SECRETS, key.namespace
    # WHY optional: the list says which Secrets its pods may mount, not that they do.
    listed = [
        need
        for one in doc.secrets or ()
        for need in named(Edge.SECRET, *place, one.name, optional=True)
    ]
    pulled = [
        need
        for one in doc.image_pull_secrets or ()
        for need in named(Edge.PULL_SECRET, *place, one.name)
    ]
    return each_once([*listed, *pulled])


class KeysDocument(ManagedDocument, gc=False):
    """A ConfigMap or a Secret. Values stay raw: they are never read, nor kept."""

    data: dict[str, msgspec.Raw] | None = None
    binary_data: dict[str, msgspec.Raw] | None = None
    string_data: dict[str, msgspec.Raw] | None = None


def keys(doc: KeysDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return the names of the entries of a ConfigMap or Secret."""
    found = {**(doc.data or {}), **(doc.binary_data or {}), **(doc.string_data or {})}
    return KeysFacts(tuple(sorted(found)))


NODE_LEASES = "kube-node-lease"
"""The namespace in which each node's kubelet says that it lives."""

# Labels joined by dots, as names of pods and nodes are.
_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")


class _LeaseSpec(msgspec.Struct, rename="camel", gc=False):
    holder_identity: str | None = None


class LeaseDocument(ManagedDocument, gc=False):
    """A Lease."""

    spec: _LeaseSpec | None = None


def _holder(doc: LeaseDocument) -> str:
    return (doc.spec.holder_identity or "") if doc.spec is not None else ""


def lease(doc: LeaseDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a Lease adds to its metadata."""
    return LeaseFacts(_holder(doc))


def lease_needs(doc: LeaseDocument, key: ObjectKey, _labels: Mapping[str, str]) -> Sequence[Need]:
    """Return the node or pod that holds a Lease, where its holder is named after one.

    Source: client-go's leader election: the host's name, which in a pod is the pod's, mostly
    followed by an underscore and a number drawn by lot.
    """
    name = _holder(doc).partition("_")[0]
    if not _NAME.fullmatch(name):
        return ()
    if key.namespace == NODE_LEASES:
        return named(Edge.HOLDER, names.NODES, "", name, optional=True)
    return named(Edge.HOLDER, names.PODS, key.namespace, name, optional=True)
