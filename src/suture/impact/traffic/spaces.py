"""Labels that match sets look at: of namespaces, and of pods behind a Service, there or not yet.

Beside what asks about webhooks and policies before what they are for is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, SERVICES, ObjectKey
from suture.model.objects import ServiceFacts

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label that the API server keeps on each namespace, with its name."""


def namespace_labels(view: GraphView, namespace: str) -> Mapping[str, str]:
    """Return the labels of a namespace, as they would be where it is not there yet."""
    if view.find(ObjectKey(NAMESPACES, "", namespace)) is None:
        return {NAME_LABEL: namespace}
    return view.namespace_labels(namespace)


def backend_labels(view: GraphView, namespace: str, service: str) -> list[Mapping[str, str]]:
    """Return the labels of the pods behind a Service; what it selects where there are none yet."""
    row = view.find(ObjectKey(SERVICES, namespace, service))
    if row is None:
        return [{}]
    kinds = view.classes_selected(row)
    if kinds:
        return [view.labels(kind) for kind in kinds]
    facts = view.facts(row)
    if not isinstance(facts, ServiceFacts) or facts.selector is None:
        return [{}]
    return [{one.key: one.values[0] for one in facts.selector.requirements if one.values}]
