"""Projections of the API server's own policies: which kind their parameters are of, and which one.

One of several, as a kind's neighbours change together. Pure.
Source: admissionregistration/v1, for validating and mutating policies alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from suture.model.edges import Edge, Need
from suture.model.facts import AdmissionPolicyFacts, PolicyBindingFacts
from suture.model.names import ObjectKey
from suture.model.objects import Facts
from suture.model.references import POLICY_OF
from suture.model.targets import group_of
from suture.wire.shapes import ManagedDocument, named


class _ParamKind(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""


class _PolicySpec(msgspec.Struct, rename="camel", gc=False):
    param_kind: _ParamKind | None = None


class PolicyDocument(ManagedDocument, gc=False):
    """A ValidatingAdmissionPolicy or MutatingAdmissionPolicy."""

    spec: _PolicySpec | None = None


def policy(doc: PolicyDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts | None:
    """Return what a policy adds to its metadata."""
    kind = (doc.spec.param_kind if doc.spec is not None else None) or _ParamKind()
    return AdmissionPolicyFacts(group_of(kind.api_version), kind.kind)


class _ParamRef(msgspec.Struct, gc=False):
    name: str = ""
    namespace: str = ""


class _BindingSpec(msgspec.Struct, rename="camel", gc=False):
    policy_name: str = ""
    param_ref: _ParamRef | None = None


class PolicyBindingDocument(ManagedDocument, gc=False):
    """A ValidatingAdmissionPolicyBinding or MutatingAdmissionPolicyBinding."""

    spec: _BindingSpec | None = None


def policy_binding(
    doc: PolicyBindingDocument, _namespace: str, _labels: Mapping[str, str]
) -> Facts | None:
    """Return what a policy's binding adds to its metadata."""
    spec = doc.spec or _BindingSpec()
    parameters = spec.param_ref or _ParamRef()
    return PolicyBindingFacts(spec.policy_name, parameters.name, parameters.namespace)


def policy_binding_needs(
    doc: PolicyBindingDocument, key: ObjectKey, _labels: Mapping[str, str]
) -> Sequence[Need]:
    """Return the policy of a binding. Its parameters are of a kind that the policy alone names."""
    spec = doc.spec or _BindingSpec()
    return named(Edge.POLICY, POLICY_OF[key.resource], "", spec.policy_name)
