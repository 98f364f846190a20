"""Types whose objects select objects of another type, by what rules say of them.

Asked only when the labels of something else than a pod change, a node's among them: what selects
pods of its own namespace the graph knows by label.
Source: schemas of definitions and ReferenceRules; see `model.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable

from suture.model.graph import GraphView
from suture.model.names import CRDS, Resource
from suture.model.objects import CrdFacts
from suture.model.rules import REFERENCE_RULES, Open, RuleFacts, Selects, TypeName


def selecting_types(view: GraphView, resource: Resource) -> Iterable[Resource]:
    """Return the types whose objects select objects of one type, by what rules say of them."""
    found: dict[Resource, None] = {}
    for definition in view.rows(CRDS):
        # WHY by name first: most definitions have no instances, and their facts are long.
        if not view.count(Resource.parse(view.name(definition))):
            continue
        facts = view.facts(definition)
        if isinstance(facts, CrdFacts) and any(
            _selects(view, rule.says, resource) for rule in facts.rules
        ):
            found[facts.resource] = None
    for row in view.rows(REFERENCE_RULES):
        facts = view.facts(row)
        rule = facts.rule if isinstance(facts, RuleFacts) else None
        if rule is not None and _selects(view, rule.says, resource):
            kind = view.kind(rule.of.group, rule.of.kind) if rule.of.kind else None
            found[kind or Resource(rule.of.group, rule.of.plural)] = None
    return found


def _selects(view: GraphView, says: object, resource: Resource) -> bool:
    # WHY what takes any fields: its objects tell themselves what they select, each its own.
    if isinstance(says, Open):
        return True
    return isinstance(says, Selects) and _means(view, says.of, resource)


def _means(view: GraphView, name: TypeName, resource: Resource) -> bool:
    if name.group != resource.group:
        return False
    meant = {name.plural, f"{name.kind.lower()}s"}
    return resource.plural in meant or view.kind(name.group, name.kind) == resource
