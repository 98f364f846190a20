"""What an object refers to beside its needs: Services in general, and what it selects by label.

Pure functions from trimmed objects to names and selectors. The graph keeps the inverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from suture.model.edges import Edge, Need, Selection
from suture.model.facts import (
    AdmissionPolicyFacts,
    DisruptionBudgetFacts,
    NetworkPolicyFacts,
    PolicyBindingFacts,
)
from suture.model.names import (
    MUTATING_POLICIES,
    MUTATING_POLICY_BINDINGS,
    PODS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    ObjectKey,
    Resource,
)
from suture.model.objects import (
    ApiServiceFacts,
    ClusterObject,
    CrdFacts,
    CustomFacts,
    Facts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    WebhookFacts,
    WorkloadFacts,
)
from suture.model.targets import resource_of


def services_referred(thing: ClusterObject | None) -> Iterable[ServiceRef]:
    """Return the Services that an object sends calls to, by name.

    Webhook configurations, APIServices and CRD conversions (the admission and API path), routes,
    and the StatefulSets whose pods have their names from it. A Service's own selector is another
    edge.
    """
    if thing is None:
        return ()
    facts = thing.facts
    if isinstance(facts, WebhookFacts):
        return {hook.service for hook in facts.webhooks if hook.service is not None}
    if isinstance(facts, ApiServiceFacts):
        return () if facts.service is None else (facts.service,)
    if isinstance(facts, CrdFacts):
        return () if facts.conversion is None else (facts.conversion,)
    if isinstance(facts, RouteFacts):
        return facts.services
    if isinstance(facts, WorkloadFacts) and facts.service:
        return (ServiceRef(thing.key.namespace, facts.service),)
    return ()


_BY_SELECTOR: Final = (ServiceFacts, DisruptionBudgetFacts, NetworkPolicyFacts)

SELECTING: frozenset[type] = frozenset({*_BY_SELECTOR, CustomFacts})
"""Facts that may select by label; an object of others has no selections."""


def selections(thing: ClusterObject) -> tuple[Selection, ...]:
    """Return what an object selects by label; nothing for most."""
    return selections_of(thing.facts, thing.key.namespace)


def selections_of(facts: Facts | None, namespace: str) -> tuple[Selection, ...]:
    """Return what an object of these facts, in a namespace, selects by label.

    What absent and empty mean differs by kind, and is told apart where the kind is read: a
    selector that is None here selects nothing, one without requirements everything.

    - Service: absent or empty selects nothing. SOURCE: core/v1 ServiceSpec.selector.
    - PodDisruptionBudget: absent selects no pods, empty all of its namespace.
      SOURCE: policy/v1 PodDisruptionBudgetSpec.selector.
    - NetworkPolicy: absent is empty, and empty selects all pods of its namespace.
      SOURCE: networking/v1 NetworkPolicySpec.podSelector. The pods that it lets through are not
      among these: see `peers`.
    - a custom resource: as the rules for its kind say.

    Controllers of pods select too, but what is theirs their ownerReferences tell.
    """
    if isinstance(facts, CustomFacts):
        return facts.selections
    if isinstance(facts, _BY_SELECTOR) and facts.selector is not None:
        return (Selection(PODS, namespace, facts.selector),)
    return ()


def peers(thing: ClusterObject) -> tuple[Selection, ...]:
    """Return the pods that a NetworkPolicy lets through, by label.

    A peer without a namespaceSelector means the policy's own namespace, one without a podSelector
    all pods of the namespaces that it selects; empty selectors select all of theirs.
    SOURCE: networking/v1 NetworkPolicyPeer.
    """
    return thing.facts.peers if isinstance(thing.facts, NetworkPolicyFacts) else ()


POLICY_OF: Mapping[Resource, Resource] = {
    VALIDATING_POLICY_BINDINGS: VALIDATING_POLICIES,
    MUTATING_POLICY_BINDINGS: MUTATING_POLICIES,
}
"""Which policies the bindings of a type are of."""


def parameters(binding: ClusterObject, policy: ClusterObject | None) -> tuple[Need, ...]:
    """Return the object that a policy is given its parameters from.

    A function of two objects, since the binding names it and the policy alone its kind. None
    where the policy takes no parameters or is not there, where a selector finds them, and where
    they are looked for in the namespace of whatever is judged.
    """
    facts = binding.facts
    kind = policy.facts if policy is not None else None
    if not isinstance(facts, PolicyBindingFacts) or not isinstance(kind, AdmissionPolicyFacts):
        return ()
    if not facts.parameters or not kind.kind:
        return ()
    target = ObjectKey(resource_of(kind.group, kind.kind), facts.namespace, facts.parameters)
    return (Need(Edge.PARAMETERS, target),)
