"""Copies that are kept in many namespaces of an original that lives: rights, Secrets, settings.

Beside `keepers`: no owner can be in another namespace, so that whoever copies says by a label or an
annotation of its own from where an object was taken. As long as the original is there and was not
written, nobody has asked for fewer of them. Pure.
Source: hierarchical namespaces and controllers that replicate (`…/inherited-from`,
`…/replicated-from`, `…/source-namespace`), whose marks hold a namespace, or a namespace and a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from suture.impact.bodies import annotations_of
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.names import (
    CONFIG_MAPS,
    NAMESPACES,
    NETWORK_POLICIES,
    ROLE_BINDINGS,
    SECRETS,
    ObjectKey,
)
from suture.model.writes import HOUR_S

COPIED: Final = frozenset({CONFIG_MAPS, NETWORK_POLICIES, ROLE_BINDINGS, SECRETS})
"""What is copied into namespaces, and is of use there without anybody who names it."""

_FROM: Final = re.compile(
    r"(?:^|[-_.])(?:from|inherited|origin|original|source|reflects|replicated|copied|cloned)(?:$|[-_.])"
)


def copy_of_living(scene: Scene, row: int) -> bool:
    """Whether an object is a copy whose original is there, and neither was asked to go lately.

    Asked is who writes the original, which may say where it is copied to, or the namespace of the
    copy, whose labels may.
    """
    view, now = scene.view, scene.now
    key = view.key(row)
    if now is None or key.resource not in COPIED or not key.namespace:
        return False
    writes = view.history.writes
    for source in _originals(scene, row):
        found = view.find(source)
        if found is None or found in scene.removed or view.terminating(found):
            continue
        asked = (source, ObjectKey(NAMESPACES, "", key.namespace))
        if not any(writes.written(one, What.WROTE, now, HOUR_S) for one in asked):
            return True
    return False


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
