"""Which of its parts a custom resource says no more that it has, and which it has again. Pure.

Beside `difference`, which says whether a part differs at all: here it is what a spec is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from suture.model.difference import PART_DEPTH, all_parts, spec_of
from suture.model.names import DISRUPTION_BUDGETS, HTTP_ROUTES, INGRESSES, NETWORK_POLICIES
from suture.model.stopping import switched_off, told_to_stop

ENABLED: Final = "enabled"
MANAGED: Final = "managementState"
REMOVED: Final = "Removed"
"""How parts say that they are not to be. SOURCE: openshift/api operator/v1 ManagementState."""

COMPONENT: Final = frozenset({"size", "replicas", "instances", "image"})
"""What a part has of which something runs."""

BY_ID: Final = "#"
"""Before what an item of a list is called that has an `id` and no name."""

NUMBERS: Final = frozenset({"size", "replicas", "instances", "count", "members", "nodes"})
"""How an item of a list calls the number of its members."""

OF_A_PORT: Final = ":"
"""Before what a port is for that was set to nothing."""
_PORT: Final = "Port"

SUSPENDED: Final = "!"
"""What is remembered beside the parts of what says `suspend`; no part has this name."""

_FLAG: Final = re.compile(r"(?:enable|expose)(?=[A-Z])(\w+)|(\w+)Enabled")
"""How a field says of something beside it whether it is to be: `enableConsole`, `proxyEnabled`."""

_NO_FLAG: Final = re.compile(r"disable(?=[A-Z])(\w+)|(\w+)Disabled")
"""How a field says of something beside it that it is not to be: `disablePDB`."""

CALLED: Final = {
    DISRUPTION_BUDGETS: frozenset({"pdb", "disruptionbudget", "poddisruptionbudget"}),
    NETWORK_POLICIES: frozenset({"networkpolicy", "networkpolicie"}),
    # WHY so: `ingress` without what is taken for its plural.
    INGRESSES: frozenset({"ingres", "ingresse"}),
    HTTP_ROUTES: frozenset({"httproute", "route"}),
}
"""What a part is called that is one object of a type: that has the name of what it guards, or leads
to. In small letters, and without an `s` at the end."""

_TYPES: Final = frozenset[str]().union(*CALLED.values())


def parts_left_out(old_body: bytes, new_body: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the parts that a spec has no more, and of those that it has again.

    A part is a map or a list that stands in the spec, a map even if it says nothing, or an item of
    a list with a `name` or an `id`, or with members and a `component` or one `…Name`. What has an
    `enabled` is switched on and off by it, and an item by its number, one of `NUMBERS`, while
    another item of the list has members. So is what a flag is called after, and behind `OF_A_PORT`
    what a port is, by a 0. An empty name is all of it, by one of `SWITCHES`, a word of `STATES` or
    an annotation, one of `STOPS`.
    """
    before, after = all_parts(old_body), all_parts(new_body)
    was, is_now = told_to_stop(before), told_to_stop(after)
    # WHY first: of most writes that differ it is neither, and then no spec is read.
    if was == is_now and before.get("spec") == after.get("spec"):
        return frozenset(), frozenset()
    old, new = spec_of(old_body), spec_of(new_body)
    gone = _left_out(old, new, PART_DEPTH)
    back = _left_out(new, old, PART_DEPTH, beside=False)
    was, is_now = was or switched_off(old), is_now or switched_off(new)
    if was != is_now:
        (gone if is_now else back).add("")
    return frozenset(gone), frozenset(back)


def sizes_of_parts(body: bytes) -> tuple[tuple[frozenset[str], int | None], ...]:
    """Return the parts of a spec, each by its name and those above it, and how large it is to be.

    First the spec itself, which has no name; None of what does not say its size once.
    """
    spec = spec_of(body)
    found: list[tuple[frozenset[str], int | None]] = [(frozenset(), _number(spec))]
    left = [(spec, frozenset[str](), PART_DEPTH)]
    while left:
        parts, above, depth = left.pop()
        for name, value in parts.items():
            if isinstance(value, dict | list) and value:
                names, inner = above | {name}, _as_parts(value)
                found.append((names, _number(inner)))
                if depth > 1:
                    left.append((inner, names, depth - 1))
    return tuple(found)


def _left_out(
    old: dict[str, object], new: dict[str, object], depth: int, *, beside: bool = True
) -> set[str]:
    """Return the names of the parts of one map that another has not, or has switched off.

    `beside`: an item whose number is nothing only beside one that has members.
    """
    found: set[str] = set()
    for name, before in old.items():
        after = new.get(name)
        if before == after:
            continue
        if not before:
            # WHY only where it is not even empty now: `{}` asks for a part as it is by default.
            if before == {} and after is None:
                found.add(name)
            continue
        if not isinstance(before, dict | list):
            if (part := _switched(name, before, after)) is not None:
                found.add(part)
            continue
        had = _as_parts(before)
        if not isinstance(after, type(before)) or not after:
            found |= {name, *_components(had)}
            continue
        has = _as_parts(after)
        if (had.get(ENABLED) is not False and has.get(ENABLED) is False) or (
            had.get(MANAGED) != REMOVED and has.get(MANAGED) == REMOVED
        ):
            found |= {name, *_components(had)}
        elif depth > 1:
            found |= _left_out(had, has, depth - 1, beside=beside)
        if isinstance(before, list):
            found |= _at_nothing(had, has, beside=beside)
    for name, after in new.items():
        if after is True and old.get(name) is not True and (flag := _NO_FLAG.fullmatch(name)):
            found.add(flag[1] or flag[2])
    return found


def _switched(name: str, before: object, after: object) -> str | None:
    """Return what a field switches off that is neither a map nor a list; None if it does not.

    WHY not what it has no more: then a default holds, and nobody here knows it.
    """
    if before is True and after is False:
        flag = _FLAG.fullmatch(name)
        return None if flag is None else flag[1] or flag[2]
    # WHY the type: `False` is 0 too.
    if type(before) is int and type(after) is int and after == 0 and name.endswith(_PORT):
        return f"{OF_A_PORT}{name.removesuffix(_PORT)}"
    return None


def _at_nothing(had: dict[str, object], has: dict[str, object], *, beside: bool) -> set[str]:
    """Return the names of the items of a list that had members and are to have none.

    WHY beside others: a number that is nothing everywhere may be a default that came back.
    """
    now = {name: _number(item) for name, item in has.items()}
    if beside and not any(now.values()):
        return set()
    return {name for name, item in had.items() if now.get(name) == 0 and _number(item)}


def _number(item: object) -> int | None:
    """Return how many members an item of a list is to have; None where it does not say it once."""
    found = [
        value
        for name, value in (item.items() if isinstance(item, dict) else ())
        if name in NUMBERS and type(value) is int
    ]
    return found[0] if len(found) == 1 else None


def _components(part: dict[str, object]) -> Iterator[str]:
    """Yield the names of what runs for a part: what in it has a number or an image of its own.

    And of what is one object of a type, by `CALLED`. WHY only those: `storage` or `service` is a
    word in the names of others' children too.
    """
    for name, inner in part.items():
        if isinstance(inner, dict) and (
            not COMPONENT.isdisjoint(inner) or name.lower().removesuffix("s") in _TYPES
        ):
            yield name


def _as_parts(value: object) -> dict[str, object]:
    """Return what stands in a map, or the items of a list by their names."""
    if isinstance(value, dict):
        return value
    items = value if isinstance(value, list) else []
    return {
        name: item
        for item in items
        if isinstance(item, dict) and (name := _called(item)) is not None
    }


def _called(item: dict[str, object]) -> str | None:
    """Return what an item of a list is called: by `name`; what has members, by its one such field.

    By its `id`, behind `BY_ID`, where it has no name. WHY members: the Secret or the class that an
    item names is not what the item is.
    """
    name = item.get("name")
    if isinstance(name, str):
        return name
    number = item.get("id")
    if type(number) in (int, str):
        return f"{BY_ID}{number}"
    if COMPONENT.isdisjoint(item) and NUMBERS.isdisjoint(item):
        return None
    found = [
        value
        for field, value in item.items()
        if isinstance(value, str) and (field == "component" or field.endswith("Name"))
    ]
    return found[0] if len(found) == 1 else None
