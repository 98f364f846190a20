"""Roles that give less: by who has never written them, or through the parts that they are made of.

Beside `privileges`, which says who loses what: here it is what a role comes to be, and whether
whoever writes it can have meant it.
Source: rbac/v1 `aggregationRule` (the control plane fills such a ClusterRole with the rules of all
those that its selectors match); `metadata.managedFields`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from suture.impact.ordinary.keepers import is_newcomer
from suture.impact.scene import Scene
from suture.model.actor import IdentityKind
from suture.model.facts import RoleFacts
from suture.model.graph import GraphView
from suture.model.habits import managers_of
from suture.model.names import CLUSTER_ROLES
from suture.model.objects import ClusterObject
from suture.model.rights import RightsRule, rights_of


def is_strange(scene: Scene, before: ClusterObject, after: ClusterObject) -> bool:
    """Whether a machine writes a role or binding that it never wrote, and not of its release.

    It has the rules of another version, or of a name that another uses, and does not know who lives
    by those that are there. WHY no person: who takes a right out by hand means it. One that
    stays with the release or application whose mark it has is its next version, one that gets its
    first mark is taken over, and one that is made of parts is filled by the control plane.
    """
    marks, kept = managers_of(before), managers_of(after)
    return (
        scene.actor.kind is not IdentityKind.PERSON
        and is_newcomer(before, after)
        and not (kept and (kept == marks or not marks))
        and not (isinstance(before.facts, RoleFacts) and before.facts.aggregates)
    )


def aggregating(
    view: GraphView, before: ClusterObject | None, after: ClusterObject
) -> Iterator[tuple[int, ClusterObject, ClusterObject]]:
    """Yield the ClusterRoles that the control plane fills from a written one: row, now, and then.

    LIMIT: what two parts give is taken for given by both only where their rules are written alike.
    """
    if after.key.resource != CLUSTER_ROLES or (before is not None and _alike(before, after)):
        return
    for row in view.rows(CLUSTER_ROLES):
        facts = view.facts(row)
        if not isinstance(facts, RoleFacts) or not facts.aggregates or view.key(row) == after.key:
            continue
        had = before is not None and _matched(facts, before)
        has = _matched(facts, after)
        if not (had or has):
            continue
        rules = facts.rules
        if had and before is not None:
            itself = view.find(after.key)
            kept = _of_others(view, facts, () if itself is None else (itself,))
            mine = [one for one in _rules(before) if one not in kept]
            rules = tuple(one for one in rules if one not in mine)
        if has:
            rules = (*rules, *(one for one in _rules(after) if one not in rules))
        total = view.at(row)
        yield row, total, replace(total, facts=RoleFacts(rules, facts.aggregates))


def wholes(view: GraphView) -> list[tuple[int, RoleFacts]]:
    """Return the ClusterRoles that the control plane fills from others."""
    found = ((row, view.facts(row)) for row in view.rows(CLUSTER_ROLES))
    return [(row, one) for row, one in found if isinstance(one, RoleFacts) and one.aggregates]


def emptied(
    view: GraphView, part: ClusterObject, gone: Collection[int], of: list[tuple[int, RoleFacts]]
) -> Iterator[tuple[int, ClusterObject, ClusterObject]]:
    """Yield those `of` some ClusterRoles that are next to nothing without a part: row, now, then.

    WHY half of its rights: what an add-on gives to the roles of all users goes with the add-on.
    """
    for row, facts in of:
        if row in gone or not _matched(facts, part):
            continue
        rules = tuple(_of_others(view, facts, gone))
        now = set(rights_of(facts.rules))
        if 2 * len(now.intersection(rights_of(rules))) < len(now):
            total = view.at(row)
            yield row, total, replace(total, facts=RoleFacts(rules, facts.aggregates))


def _alike(before: ClusterObject, after: ClusterObject) -> bool:
    return before.labels == after.labels and before.facts == after.facts


def _matched(total: RoleFacts, part: ClusterObject) -> bool:
    return any(one.matches(part.labels) for one in total.aggregates)


def _rules(part: ClusterObject) -> tuple[RightsRule, ...]:
    return part.facts.rules if isinstance(part.facts, RoleFacts) else ()


def _of_others(view: GraphView, total: RoleFacts, but: Collection[int]) -> list[RightsRule]:
    """Return the rules that other parts give."""
    found: list[RightsRule] = []
    for row in view.rows(CLUSTER_ROLES):
        if row not in but and any(one.matches(view.labels(row)) for one in total.aggregates):
            facts = view.facts(row)
            found += facts.rules if isinstance(facts, RoleFacts) else ()
    return found
