"""Copies that are kept in many namespaces of an original that lives: rights, Secrets, settings.

Beside `keepers`: no owner can be in another namespace, so that whoever copies says by a label or an
annotation of its own from where an object was taken. As long as the original is there and was not
written, nobody has asked for fewer of them. Pure.
Source: hierarchical namespaces and controllers that replicate (`…/inherited-from`,
`…/replicated-from`, `…/source-namespace`), whose marks hold a namespace, or a namespace and a name;
Kyverno, whose labels name the policy by which an object was generated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from suture.impact.causes.counters import let_go
from suture.impact.causes.labelled import domain_of
from suture.impact.causes.recent import COPIED
from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.facts import RoleBindingFacts
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, ObjectKey
from suture.model.writes import HOUR_S

TYPES_ASKED: Final = 256
"""LIMIT: custom types of a cluster that are asked whether a policy of the name went, 1 us each."""

_FROM: Final = re.compile(
    r"(?:^|[-_.])(?:from|inherited|origin|original|source|reflects|replicated|copied|cloned)(?:$|[-_.])"
)


def copy_of_living(scene: Scene, row: int) -> bool:
    """Whether an object is a copy whose original is there, and nobody asked for fewer of them.

    So does who writes the original, which may say where it is copied to, or the namespace of the
    copy, whose labels may; who takes that namespace from the other; and who deletes the policy by
    which copies are made.
    """
    view, now = scene.view, scene.now
    key = view.key(row)
    if now is None or key.resource not in COPIED or not key.namespace:
        return False
    writes = view.history.writes
    for source in _originals(scene, row):
        found = view.find(source)
        if found is None or not scene.stays(found):
            continue
        asked = (source, ObjectKey(NAMESPACES, "", key.namespace))
        if not any(writes.written(one, What.WROTE, now, HOUR_S) for one in asked):
            if scene.counted(let_go(key.namespace, source.namespace)):
                return False
            return not _policy_went(scene, row, source.namespace)
    return False


def is_copy(scene: Scene, row: int) -> bool:
    """Whether an object says from where it was taken."""
    return next(_originals(scene, row), None) is not None


def is_for_former(scene: Scene, row: int) -> bool:
    """Whether a binding is for accounts of another namespace alone, from which a person took this.

    So the instance of a tool that worked there has no more to do there.
    """
    view, here = scene.view, scene.view.namespace(row)
    facts = view.facts(row)
    if not here or not isinstance(facts, RoleBindingFacts) or facts.groups or facts.users:
        return False
    homes = {view.namespace(one) for one, _ in view.targets(row, Edge.SUBJECT)}
    return bool(homes) and all(scene.counted(let_go(here, home)) for home in homes)


def of_living_policy(scene: Scene, row: int) -> bool:
    """Whether an object was made by a policy that its label names, and that asks for it as before.

    Neither the policy was changed within the hour nor the namespace for which it made the object.
    """
    view, key = scene.view, scene.view.key(row)
    if scene.now is None or key.resource not in COPIED or not key.namespace:
        return False
    home = view.find(ObjectKey(NAMESPACES, "", key.namespace))
    if home is None or not scene.stays(home) or scene.changed(home):
        return False
    policies = (view.find(one) for one in _policies(scene, row))
    return any(one is not None and scene.stays(one) and not scene.changed(one) for one in policies)


def _policies(scene: Scene, row: int) -> Iterator[ObjectKey]:
    """Yield what a label `<group>/policy-name` of an object may mean, in its namespace or none.

    That is of a type of the domain of that group that is called a policy.
    """
    view, space = scene.view, scene.view.namespace(row)
    for label, name in view.labels(row).items():
        group, slash, said = label.rpartition("/")
        if not slash or not name or not said.removesuffix("-name").endswith("policy"):
            continue
        for resource in view.resources():
            if not resource.plural.endswith("policies") or not is_custom(resource):
                continue
            if domain_of(resource.group) == domain_of(group):
                yield ObjectKey(resource, "", name)
                yield ObjectKey(resource, space, name)


def _policy_went(scene: Scene, row: int, namespace: str) -> bool:
    """Whether a custom resource that a label of a copy names was seen to go, or is going."""
    view = scene.view
    custom = [one for one in view.resources() if is_custom(one)][:TYPES_ASKED]
    spaces = ("", namespace, view.namespace(row))
    named = (
        ObjectKey(resource, space, name)
        for name in set(view.labels(row).values())
        for resource in custom
        for space in spaces
    )
    return any(went(view, key) for key in named if key.name)


def went(view: GraphView, key: ObjectKey) -> bool:
    """Whether an object of a name is going, or was seen to go and is not there again."""
    found = view.find(key)
    if found is not None:
        return view.terminating(found)
    return view.history.removed_at(key) is not None


def _originals(scene: Scene, row: int) -> Iterator[ObjectKey]:
    """Yield of what the marks of an object say that it is a copy."""
    key = scene.view.key(row)
    marks = dict(scene.view.labels(row))
    if scene.change.direct == (row,):
        marks |= annotations_of(scene.request.old_body)
    for mark, value in marks.items():
        group, slash, said = mark.rpartition("/")
        if not slash or group.endswith("kubernetes.io") or not _FROM.search(said.lower()):
            continue
        namespace, _, name = value.partition("/")
        if namespace and namespace != key.namespace:
            yield ObjectKey(key.resource, namespace, name or key.name)
