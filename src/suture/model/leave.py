"""Whether a write gives leave, in the object's own words, for the object to be deleted.

Many kinds ask for a word before they let go of data: a switch that protects them has to be turned
off, an annotation or field has to say that the end is meant, or a finalizer or switch that clears
data away is put on. Told by the words alone; names that say more than that (of a machine, of a
cost, of a hook) are of something else. Pure; keeps no value.
Source: Zalando `delete-date` and `delete-clustername`; Gardener `confirmation.gardener.cloud/
deletion`; Argo CD `deletion-approved`; Rook `cleanupPolicy.confirmation`; KubeBlocks
`terminationPolicy`; `deletionProtection` of cloud databases; Percona `delete-pxc-pvc`;
Strimzi `deleteClaim`, and `delete-pod-and-pvc` of a pod; TiDB `pvReclaimPolicy`; CloudNativePG
`unrecoverable` of a pod; cass-operator `replaceNodes`, and `command: replacenode` of its tasks;
Scylla `scylla/replace` of a member's Service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from suture.model.difference import all_parts, annotations_in, finalizers_in, has_any, map_in
from suture.model.stopping import AFFIRMED

ENDS: Final = frozenset({"delete", "deletion", "destroy", "destruction", "teardown"})
"""Words of the end of an object, one of which the name of an annotation has."""

MEANT: Final = frozenset(
    {"allow", "allowed", "approve", "approved", "confirm", "confirmed", "confirmation", "consent",
     "cluster", "clustername", "date", "name", "permit", "permitted"}
)  # fmt: skip
"""What else such a name may say: who said so, of what, and when."""

KEPT: Final = frozenset(
    {"claim", "claims", "data", "disks", "pv", "pvc", "pvcs", "pvs", "storage", "volume", "volumes"}
)
"""Words of what holds data, the last of the name of a finalizer or field that begins with one of
`ENDS`: who puts that on wants it to be done."""

LOST: Final = frozenset({"unrecoverable", "irrecoverable"})
"""Words that end the name of an annotation by which a member and its data are given up."""

DEPTH: Final = 3
"""LIMIT: levels of a spec at which protection is looked for."""

ORDERS: Final = ("command", "operation", "action", "type")
"""How a spec calls what is to be done."""

DEEP: Final = 6
"""LIMIT: levels of a spec at which a member is named that is to be replaced."""
NAMED: Final = 64
"""LIMIT: items of one list of such."""
_REPLACES: Final = (b"replace", b"rebuild")

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_DAY: Final = re.compile(r"20\d\d-[01]\d-[0-3]\d(?:T.*)?")
_PROTECTS: Final = re.compile(r"(?=.*(?:delet|terminat|destr))(?=.*(?:protect|prevent))[a-z]+")
_CONFIRMS: Final = re.compile(r"(?:.*[^a-z])?(?:delet|destroy|wipe)")
_BARRED: Final = frozenset({"DoNotTerminate", "DoNotDelete"})
_WORDS: Final = (b"delet", b"destr", b"wipe", b"terminat", b"teardown", b"confirm")
_GIVES_UP: Final = (*_WORDS, b"recoverable")


def gives_leave(old_body: bytes, new_body: bytes, own: frozenset[str]) -> bool:
    """Whether a write says that an object may be deleted; `own` are its name and uid."""
    # WHY first: hardly any object has a word of it, and then nothing is decoded.
    if not (has_any(new_body, _WORDS) or has_any(old_body, _WORDS)):
        return False
    before, after = all_parts(old_body), all_parts(new_body)
    if before.get("metadata") != after.get("metadata"):
        old = annotations_in(before.get("metadata"))
        new = annotations_in(after.get("metadata"))
        if any(old.get(name) != new[name] and _is_meant(name, new[name], own) for name in new):
            return True
        had, has = (finalizers_in(one.get("metadata")) for one in (before, after))
        if any(map(_clears_away, has - had)):
            return True
    if before.get("spec") == after.get("spec"):
        return False
    was, is_now = map_in(before.get("spec")), map_in(after.get("spec"))
    return any(_lifts(*each) for each in _changed(was, is_now, DEPTH))


def gives_data_up(old_body: bytes, new_body: bytes) -> bool:
    """Whether a write comes to say, by an annotation, that what holds an object's data goes too."""
    if not has_any(new_body, _GIVES_UP):
        return False
    before, after = (annotations_in(all_parts(one).get("metadata")) for one in (old_body, new_body))
    return any(
        value.lower() in AFFIRMED
        and before.get(name) != value
        and (_clears_away(name) or name.rpartition("/")[2].lower() in LOST)
        for name, value in after.items()
    )


def members_to_replace(old_body: bytes, new_body: bytes) -> frozenset[str]:
    """Return the texts by which a spec comes to name members that are to be replaced.

    They stand below a field that begins with such a word (`replaceNodes`), or below a map in which
    one of `ORDERS` has it (`command: replacenode`).
    """
    if not has_any(new_body, _REPLACES):
        return frozenset()
    old, new = (map_in(all_parts(one).get("spec")) for one in (old_body, new_body))
    if old == new:
        return frozenset()
    return frozenset(_to_replace(new, DEEP)) - frozenset(_to_replace(old, DEEP))


def is_to_be_replaced(old_body: bytes, new_body: bytes) -> bool:
    """Whether a write comes to say, by a label or annotation, that a member is to be replaced."""
    if not has_any(new_body, _REPLACES):
        return False
    old, new = (_marks_in(all_parts(one).get("metadata")) for one in (old_body, new_body))
    return any(
        name not in old and value.lower() != "false" and _orders_another(name.rpartition("/")[2])
        for name, value in new.items()
    )


def _marks_in(metadata: msgspec.Raw | None) -> dict[str, str]:
    """Return labels and annotations of an object's metadata."""
    said = map_in(metadata)
    parts = [said.get(part) for part in ("labels", "annotations")]
    return {
        name: value
        for marks in parts
        if isinstance(marks, dict)
        for name, value in marks.items()
        if isinstance(value, str)
    }


def _to_replace(spec: object, depth: int, *, below: bool = False) -> Iterator[str]:
    """Yield the texts in a part of a spec that stand below what orders a replacement."""
    if isinstance(spec, str):
        if below:
            yield spec
    elif isinstance(spec, list) and depth:
        for item in spec[:NAMED]:
            yield from _to_replace(item, depth - 1, below=below)
    elif isinstance(spec, dict) and depth:
        below = below or any(_orders_another(spec.get(name)) for name in ORDERS)
        for name, value in spec.items():
            yield from _to_replace(value, depth - 1, below=below or _orders_another(name))


def _orders_another(text: object) -> bool:
    return isinstance(text, str) and text.lower().startswith(("replace", "rebuild"))


def _is_meant(name: str, value: str, own: frozenset[str]) -> bool:
    """Whether an annotation says that the object that has it is to go, and nothing else."""
    prefix, _, said = name.rpartition("/")
    # WHY: `model.consent` reads Suture's own, and says whose counts.
    if prefix == "suture.dev":
        return False
    words = {word.lower() for word in _WORD.findall(said)}
    if words.isdisjoint(ENDS) or not words <= ENDS | MEANT:
        return False
    return value.lower() in AFFIRMED or value in own or _DAY.fullmatch(value) is not None


def _clears_away(name: str) -> bool:
    """Whether a finalizer or a field says that the data of the object is deleted with it."""
    words = [word.lower() for word in _WORD.findall(name.rpartition("/")[2])]
    return len(words) > 1 and words[0] in ENDS and words[-1] in KEPT


def _changed(
    had: dict[str, object], has: dict[str, object], depth: int
) -> Iterator[tuple[str, object, object]]:
    """Yield the names of what differs in two maps, with what it was and is."""
    for name in had.keys() | has.keys():
        before, after = had.get(name), has.get(name)
        if before == after:
            continue
        # WHY also where there was none: who confirms may write the block around it along.
        if isinstance(after, dict) and (before is None or isinstance(before, dict)):
            if depth > 1:
                yield from _changed(before or {}, after, depth - 1)
        else:
            yield name, before, after


def _lifts(name: str, before: object, after: object) -> bool:
    """Whether a field of a spec protected its object and does not, or confirms its end.

    Or has the data of the object deleted with it (`deleteClaim`, `pvReclaimPolicy`).
    """
    if before is True and not after:
        return _PROTECTS.fullmatch(name.lower()) is not None
    if after is True and not before:
        return _clears_away(name)
    if not isinstance(after, str):
        return False
    if name.lower().endswith("reclaimpolicy"):
        return after == "Delete"
    if before in _BARRED:
        return name == "terminationPolicy" and after not in _BARRED
    return "confirm" in name.lower() and _CONFIRMS.match(after.lower()) is not None
