"""What the fields of a custom resource say, read at the paths that the rules of its kind give.

Apart from `declared`, which holds those rules: here is what a value means, whoever's it is. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from suture.model.fieldpath import FieldPath
from suture.model.names import Gvk
from suture.model.rules import speaks_of_outside, takes_along
from suture.wire.naming import LISTED, NAME
from suture.wire.projections import ends, plain
from suture.wire.shapes import ABSENT, Document

PRUNE, ORPHAN = "prune", "Orphan"
"""A field with a no that leaves all there, and the deletion policy that does."""
MANAGEMENT = "managementPolicies"
"""A field that lists what may be done to the thing outside. SOURCE: Crossplane."""

NOTED_POLICIES = ("/deletion-policy", "/reconcile-policy")
"""How annotations end that say what becomes of the thing outside, whatever the spec says. SOURCE:
Config Connector, AWS Controllers for Kubernetes, Azure Service Operator."""
NOTED_IDS = ("/external-name", "/resource-id")
"""How annotations end that say which thing it is. SOURCE: Crossplane, Azure Service Operator."""
_MANAGED = "manage"
"""What a policy says that is none: the thing is looked after, and goes as it would without."""


def marked_outside(document: Document) -> tuple[str, str]:
    """Return what annotations say becomes of the thing outside, and by which it is named."""
    meta = document.metadata
    if meta is None or meta.annotations is ABSENT:
        return "", ""
    raw = bytes(meta.annotations)
    # WHY first: hardly any object has one.
    if not (b'-policy"' in raw or b'/external-name"' in raw or b'/resource-id"' in raw):
        return "", ""
    found = plain(meta.annotations)
    policy = which = ""
    for key, word in found.items() if isinstance(found, dict) else ():
        if not isinstance(word, str) or word in ("", _MANAGED):
            continue
        if key.endswith(NOTED_POLICIES):
            policy = policy or word[:NAME]
        elif key.endswith(NOTED_IDS):
            # WHY without the id: facts that many share are kept once.
            which = which or f"{key}://"[:NAME]
    return policy, which


def outside_said(read: Mapping[str, object], fields: Sequence[FieldPath]) -> str:
    """Return what an object says of a thing outside: the first word, or that by a no it is left.

    WHY a no last: what is not destroyed for one reason may be so for another.
    """
    words: list[str] = []
    for field in fields:
        found = ends(read, field.steps)
        if not found:
            continue
        if field.steps[-1] == MANAGEMENT and any(map(_is_observed, found)):
            return ORPHAN
        words += _words(found, field.steps[-1])
    return next((word for word in words if word), ORPHAN if words else "")[:NAME]


def _words(values: Iterable[object], last: str) -> Iterator[str]:
    """Yield what a field says of a thing outside; of a yes or no, or of one among others, its name.

    Where nothing is to be pruned, or all is to be preserved, it stays, as with the policy of that
    name. A no to destroying it is an empty word.
    """
    for found in values:
        if isinstance(found, str) and found:
            yield found
        elif found is False and last == PRUNE:
            yield ORPHAN
        elif isinstance(found, bool | dict):
            fields = found if isinstance(found, dict) else {last: found}
            for name, said in fields.items():
                if isinstance(said, bool) and isinstance(name, str) and speaks_of_outside(name):
                    left = ORPHAN if said else ""
                    yield name if takes_along(name, said=said) else left


def _is_observed(may: object) -> bool:
    """Whether a value lists what may be done to a thing outside, and to delete it is not in it."""
    return isinstance(may, list) and bool(may) and not any(one in ("*", "Delete") for one in may)


def count_said(path: FieldPath | None, read: Mapping[str, object]) -> int | None:
    """Return how many a field wants, in sum where there are several; None where it says none."""
    if path is None:
        return None
    counts = [
        found
        for found in ends(read, path.steps)
        if isinstance(found, int) and not isinstance(found, bool) and found >= 0
    ]
    return sum(counts) if counts else None


def flag_said(path: FieldPath | None, read: Mapping[str, object]) -> bool | None:
    """Return what a field with a yes or no says, None where it says neither."""
    said = ends(read, path.steps) if path is not None else ()
    return next((one for one in said if isinstance(one, bool)), None)


def objects_listed(
    paths: Sequence[FieldPath], read: Mapping[str, object]
) -> tuple[tuple[str, str, str], ...]:
    """Return group, kind and name of each object that an object lists, each once."""
    found: dict[tuple[str, str, str], None] = {}
    for path in paths:
        for item in ends(read, path.steps):
            if type(item) is not dict:
                continue
            version, kind, name = item.get("apiVersion"), item.get("kind"), item.get("name")
            if not (isinstance(version, str) and isinstance(kind, str) and isinstance(name, str)):
                continue
            if version and kind and name and max(len(version), len(kind), len(name)) <= NAME:
                gvk = Gvk.of(version, kind)
                found[gvk.group, gvk.kind, name] = None
                if len(found) >= LISTED:
                    return tuple(found)
    return tuple(found)
