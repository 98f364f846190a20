"""Which parts of an object a write changes, told from the two bodies that a request carries.

In the model, not in `wire`, because impact asks for it, and only where an effect needs it: of most
writes the bodies are the same, and then nothing is decoded. Pure; keeps no value.
Source: the API server reuses the old managedFields, times and all, where nothing else differs, so
that a reconcile that changes nothing comes with two equal bodies (apiserver, fieldmanager,
`IgnoreManagedFieldsTimestamps`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from suture.model.names import DISRUPTION_BUDGETS, HTTP_ROUTES, INGRESSES, NETWORK_POLICIES

UNSAID: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Parts of which nothing is told: metadata is read field by field, a status is nobody's wish."""

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

PART_DEPTH: Final = 4
"""LIMIT: levels of a spec at which parts are told of; deeper ones are settings of a part."""

SWITCHES: Final = (
    ("pause", True), ("shutdown", True), ("suspend", True), ("stopped", True),
    ("stop", True), ("stop", "yes"),
    ("hibernate", True), ("hibernated", True), ("running", False), ("enabled", False),
    ("active", False), ("started", False),
)  # fmt: skip
"""How a custom resource says that nothing of it is to run. WHY not `paused`: that is for most of
them that nobody is to touch it."""
_OFF: Final = frozenset(
    {"off", "offline", "stopped", "halted", "inactive", "shutdown", "suspended"}
)
STATES: Final = {
    "state": _OFF, "desiredState": _OFF, "powerState": _OFF, "runStrategy": _OFF,
    "mode": _OFF - {"off", "inactive"},
}  # fmt: skip
"""How it says so in a word, in small letters. WHY fewer of a mode: `mode: Off` is mostly that of
something which the resource does, and not whether it runs."""
RUN_POLICY: Final = "runPolicy"
"""The part of a spec in which such a switch is that of all of it. SOURCE: Kubeflow
`runPolicy.suspend`, of jobs of every framework."""
JOB: Final = "job"
"""The part of a spec in which such a word is that of all of it. SOURCE: Flink operator
`job.state`."""
LIFECYCLE: Final = "lifecycle"
_LIVES: Final = (("run", False), ("running", False), ("started", False), ("stopped", True))
"""The same of a part of which `enabled` and `active` say whether there is a lifecycle at all."""

STOPS: Final = frozenset(
    {"stop", "stopped", "shutdown", "suspend", "sleep", "hibernate", "hibernated", "hibernation"}
)
"""What an annotation of a custom resource is called, after its prefix, by which nothing of it is to
run. WHY not `pause`: of annotations that is for most of them that nobody is to touch it; and no
longer names: of these most are about a part of it, a time or a way."""
AFFIRMED: Final = frozenset({"true", "on", "yes", "1", "enabled"})
IS_STOPPED: Final = "-stopped"
"""How the name of an annotation ends by which a whole resource is stopped, since the moment that it
holds. SOURCE: Kubeflow `kubeflow-resource-stopped`, of notebooks and their kin."""
_MOMENT: Final = re.compile(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:.+")
_OF_THE_PAST: Final = ("last-", "was-")

_ANOTHER: Final = re.compile(
    r"restart|(?!apiVersion).*(?:image|version|tag|restartedAt|Image|Version|Tag)"
)
_ANOTHER_WORDS: Final = (b"image", b"version", b"tag", b"restart")
"""How a custom resource calls what it runs: the image, its version; and that it starts anew."""

_parts_decoder: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
# WHY a float hook: numbers past a double's range are JSON too.
_any_decoder: Final = msgspec.json.Decoder(float_hook=float)


class _Metadata(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None


_metadata_decoder: Final = msgspec.json.Decoder(_Metadata)

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder throws at bytes that are no JSON object."""


def all_parts(body: bytes) -> dict[str, msgspec.Raw]:
    """Return the parts of an object as they are written; none of what is no object."""
    if not body:
        return {}
    try:
        return _parts_decoder.decode(body)
    except UNREADABLE:
        return {}


def parts_of(body: bytes) -> dict[str, msgspec.Raw]:
    """Return the parts of an object that stand beside its metadata; none of what is no object."""
    return {name: raw for name, raw in all_parts(body).items() if name not in UNSAID}


def differing(old: dict[str, msgspec.Raw], new: dict[str, msgspec.Raw]) -> tuple[str, ...]:
    """Return the names of the parts that differ, `spec` or `data`, sorted.

    Bytes are compared: the API server writes both in one order. A part that is written otherwise
    and means the same counts as changed.
    """
    names = (name for name in old.keys() | new.keys() if name not in UNSAID)
    return tuple(sorted(name for name in names if old.get(name) != new.get(name)))


def parts_changed(old_body: bytes, new_body: bytes) -> tuple[str, ...]:
    """Return the names of the parts of two bodies that differ; none if one is absent."""
    if not old_body or not new_body or old_body == new_body:
        return ()
    return differing(all_parts(old_body), all_parts(new_body))


def counts_changed(old_body: bytes, new_body: bytes) -> tuple[tuple[str, int, int], ...]:
    """Return the whole numbers at the top of two specs that differ: name, before and after."""
    old, new = _spec(old_body), _spec(new_body)
    return tuple(
        (name, before, after)
        for name, before in sorted(old.items())
        if type(before) is int and type(after := new.get(name)) is int and before != after
    )


def _spec(body: bytes) -> dict[str, object]:
    return map_in(parts_of(body).get("spec"))


def texts_of(body: bytes) -> frozenset[str]:
    """Return the texts that stand in a spec's own fields, none of what is below them."""
    return frozenset(one for one in _spec(body).values() if isinstance(one, str))


def own_texts_of(body: bytes) -> frozenset[str]:
    """Return the texts that stand in an object's own fields, beside its spec and in it."""
    beside = (_text_in(raw) for raw in parts_of(body).values() if bytes(raw)[:1] == b'"')
    return texts_of(body) | {one for one in beside if one}


def _text_in(raw: msgspec.Raw) -> str:
    try:
        found = _any_decoder.decode(raw)
    except UNREADABLE:
        return ""
    return found if isinstance(found, str) else ""


def map_in(raw: msgspec.Raw | None) -> dict[str, object]:
    """Return what a part says, where it is a map; empty where it is none, or is not there."""
    if raw is None:
        return {}
    try:
        found = _any_decoder.decode(raw)
    except UNREADABLE:
        return {}
    return found if type(found) is dict else {}


def annotations_in(metadata: msgspec.Raw | None) -> dict[str, str]:
    """Return the annotations that metadata has; none where they cannot be read."""
    if metadata is None:
        return {}
    try:
        return _metadata_decoder.decode(metadata).annotations or {}
    except UNREADABLE:
        return {}


def finalizers_in(metadata: msgspec.Raw | None) -> frozenset[str]:
    """Return the finalizers that metadata has; none where they cannot be read."""
    if metadata is None:
        return frozenset()
    try:
        return frozenset(_metadata_decoder.decode(metadata).finalizers or ())
    except UNREADABLE:
        return frozenset()


def has_any(raw: bytes, words: Iterable[bytes]) -> bool:
    """Whether bytes have one of some words, which are given small, however it is written.

    WHY no expression: one that ignores case takes ten times as long.
    """
    small = raw.lower()
    return any(word in small for word in words)


def numbers_changed(old_body: bytes, new_body: bytes) -> tuple[tuple[int, int], ...]:
    """Return what whole numbers of two specs were and are, where they differ in the same place.

    Items of a list stand in the same place where they have the same name, by whatever is called
    `name` or `…Name` in them; of others it is not known.
    """
    old, new = parts_of(old_body).get("spec"), parts_of(new_body).get("spec")
    if old is None or new is None or old == new:
        return ()
    try:
        pairs = [(_any_decoder.decode(old), _any_decoder.decode(new))]
    except UNREADABLE:
        return ()
    found: list[tuple[int, int]] = []
    while pairs:
        before, after = pairs.pop()
        if type(before) is list and type(after) is list:
            before, after = _by_name(before), _by_name(after)
        if type(before) is dict and type(after) is dict:
            # WHY only what differs: of a large spec that is mostly one number.
            pairs += [
                (before[name], after[name])
                for name in before.keys() & after.keys()
                if before[name] != after[name]
            ]
        elif type(before) is int and type(after) is int and before != after:
            found.append((before, after))
    return tuple(sorted(found))


def asks_for_another(old_body: bytes, new_body: bytes) -> bool:
    """Whether a spec says another image or version than before, or asks for a restart."""
    old, new = parts_of(old_body).get("spec"), parts_of(new_body).get("spec")
    # WHY the bytes: hardly any spec that is written has a word of it that differs.
    if old is None or new is None or old == new or not has_any(bytes(new), _ANOTHER_WORDS):
        return False
    pairs = [(map_in(old), map_in(new), PART_DEPTH)]
    while pairs:
        before, after, depth = pairs.pop()
        for name, value in after.items():
            was = before.get(name)
            if was == value:
                continue
            if type(value) in (str, int) and value and _ANOTHER.fullmatch(name) is not None:
                return True
            if depth > 1:
                pairs += _below(was, value, depth - 1)
    return False


def _below(
    was: object, value: object, depth: int
) -> list[tuple[dict[str, object], dict[str, object], int]]:
    """Return what a field says now beside what it said: its map, or its items that have a name."""
    if isinstance(value, dict):
        return [(was if isinstance(was, dict) else {}, value, depth)]
    if not isinstance(value, list):
        return []
    before = _by_name(was) if isinstance(was, list) else {}
    return [(before.get(name, {}), item, depth) for name, item in _by_name(value).items()]


def _by_name(items: list[object]) -> dict[tuple[str, str], dict[str, object]]:
    """Return those items of a list that say their name, by what they call it and what it is."""
    found: dict[tuple[str, str], dict[str, object]] = {}
    for item in items:
        if type(item) is dict:
            for field, name in item.items():
                if (field == "name" or field.endswith("Name")) and type(name) is str:
                    found.setdefault((field, name), item)
                    break
    return found


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
    was, is_now = _told_to_stop(before), _told_to_stop(after)
    # WHY first: of most writes that differ it is neither, and then no spec is read.
    if was == is_now and before.get("spec") == after.get("spec"):
        return frozenset(), frozenset()
    old, new = _spec(old_body), _spec(new_body)
    gone = _left_out(old, new, PART_DEPTH)
    back = _left_out(new, old, PART_DEPTH, beside=False)
    was, is_now = was or _switched_off(old), is_now or _switched_off(new)
    if was != is_now:
        (gone if is_now else back).add("")
    return frozenset(gone), frozenset(back)


def sizes_of_parts(body: bytes) -> tuple[tuple[frozenset[str], int | None], ...]:
    """Return the parts of a spec, each by its name and those above it, and how large it is to be.

    First the spec itself, which has no name; None of what does not say its size once.
    """
    spec = _spec(body)
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


def _told_to_stop(parts: dict[str, msgspec.Raw]) -> bool:
    """Whether an annotation says that nothing of an object is to run."""
    return any(
        _stops(name.rpartition("/")[2].lower(), value)
        for name, value in annotations_in(parts.get("metadata")).items()
    )


def _stops(name: str, value: str) -> bool:
    if name in STOPS:
        return value.lower() in AFFIRMED
    return (
        name.endswith(IS_STOPPED)
        and not name.startswith(_OF_THE_PAST)
        and _MOMENT.fullmatch(value) is not None
    )


def is_suspended(body: bytes) -> bool:
    """Whether a custom resource says that its controller is to leave it alone, in its spec."""
    return _spec(body).get("suspend") is True


def _switched_off(spec: dict[str, object]) -> bool:
    asked = ((spec, SWITCHES), (spec.get(RUN_POLICY), SWITCHES), (spec.get(LIFECYCLE), _LIVES))
    return any(
        part.get(name) is off or (isinstance(off, str) and part.get(name) == off)
        for part, switches in asked
        if isinstance(part, dict)
        for name, off in switches
    ) or any(
        isinstance(value := part.get(name), str) and value.lower() in off
        for part in (spec, spec.get(JOB))
        if isinstance(part, dict)
        for name, off in STATES.items()
    )
