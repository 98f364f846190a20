"""Entries that go from inside an object that stays: keys, items of lists, lines of a value.

Such a write deletes nothing that has a name of its own, and takes as much away as a delete: the
role of all nodes from a role map, a zone from a name server's configuration, a peer from a list.
Source: the review carries both versions; see `model.entries` for what an entry is known by.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from suture.impact.causes.parents import maker_of
from suture.impact.effects import EntriesDropped, Victim
from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.builtin import is_bootstrapped
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.readers import count_of, reading
from suture.impact.losses.reserved import struck_out
from suture.impact.losses.schemas import parts_unknown
from suture.impact.ordinary.keepers import is_own, told_by_parent, works_for
from suture.impact.ordinary.writtennext import is_written_next
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.addresses import addresses_left
from suture.impact.traffic.ledentries import led_left, may_lead
from suture.impact.traffic.networkpolicies import DNS_PORTS, is_dns
from suture.impact.traffic.nodelocal import nodes_left
from suture.impact.traffic.resolving import answers_left
from suture.impact.traffic.routedports import ports_left
from suture.model.difference import UNREADABLE, parts_of
from suture.model.entries import Dropped, keys_dropped, texts_dropped, values_dropped
from suture.model.facts import StorageClassFacts
from suture.model.graph import GraphView, Use
from suture.model.names import (
    BINDINGS,
    CONFIG_MAPS,
    CRDS,
    KUBE_SYSTEM,
    NODES,
    SECRETS,
    SERVICES,
    STORAGE_CLASSES,
)
from suture.model.objects import ClusterObject, ServiceFacts

FIELDS: Final = 16
"""LIMIT: places within one object that are told of; the rest is of the same write."""

CLUSTER_DOMAIN: Final = "cluster.local"
"""What the cluster's own names end with, unless another was chosen when the cluster was made.
SOURCE: kubelet `clusterDomain`, DNS for Services and Pods."""

NODES_GROUP: Final = "system:nodes"
"""The group as which nodes speak to the API server. SOURCE: Kubernetes, node authorization."""

_LOGINS: Final = frozenset({".dockerconfigjson", ".dockercfg"})
"""The keys of Secrets that log in to registries. SOURCE: core/v1 SecretTypeDockerConfigJson and
SecretTypeDockercfg."""

READERS: Final = 64
"""LIMIT: classes of pods that read one object and are asked whether they are written next, 5 us
each; where there are more, none is."""

HOLLOW: Final = 256
"""LIMIT: longer values are not looked into; one that names no registry has some ten bytes."""

_WHOLE: Final = frozenset({STORAGE_CLASSES, CRDS})
"""Types of which it is asked what a write drops, whichever part it changes."""

_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"

KEYED: Final = frozenset({CONFIG_MAPS, SECRETS})


def may_drop(change: Change) -> bool:
    """Whether a change rewrites an object whose entries are compared."""
    made = change.rewritten
    if made is None or made.before is None:
        return False
    return bool(made.parts) or made.after.key.resource in _WHOLE


def dropped_effects(scene: Scene) -> Iterable[EntriesDropped]:
    """Return the entries that a write drops."""
    made = scene.change.rewritten
    if made is None or made.before is None:
        return
    key = made.after.key
    if key.resource == STORAGE_CLASSES:
        yield from _no_default(scene, made)
    if key.resource == CRDS:
        yield from parts_unknown(scene, made)
    if key.resource == SERVICES:
        yield from _dns_ports(scene, made)
        yield from nodes_left(scene, made)
        yield from addresses_left(scene, made)
        yield from ports_left(scene, made)
    if not made.parts or not (
        key.resource in KEYED
        or key.resource in BINDINGS
        or scene.view.crd(key.resource) is not None
    ):
        return
    if key.resource == CONFIG_MAPS and "data" in made.parts:
        yield from _led_elsewhere(scene, made)
    if "spec" in made.parts:
        yield from struck_out(scene, made)
    readers = reading(scene.view, made.row) if made.row is not None else []
    critical = _critical(made.before, made.after)
    if critical and key.resource == CONFIG_MAPS:
        yield from _domain(scene, made, readers)
        yield from _nodes_left_out(scene, made, readers)
    found = _dropped(scene, made)
    whole = key.resource not in KEYED
    inside = key.resource == CONFIG_MAPS and all("." in one.field for one in found)
    left = _left_reading(scene, made, readers, inside=inside) if found else readers
    for one in found[:FIELDS]:
        read_by = _read_by(scene.view, readers, one, whole=whole)
        yield EntriesDropped(
            holder=victim_of(made.after),
            field=one.field,
            before=one.before,
            dropped=len(one.entries),
            entries=one.entries[: scene.limit],
            readers=_read_by(scene.view, left, one, whole=whole),
            # WHY only where some read it: what nobody mounts the API server's own parts may read.
            critical=critical and bool(read_by or not readers),
        )


def _domain(scene: Scene, made: Rewritten, readers: list[Use]) -> Iterable[EntriesDropped]:
    """Tell of what the cluster's DNS reads, once no line of it names the cluster's own domain.

    WHY apart from other lines: it is one of many, and without it no name of a Service is found. Of
    what is read by others it says nothing.
    """
    view = scene.view
    if readers and not any(
        is_dns(view, one) for use in readers for one in view.selecting_class(use.row, SERVICES)
    ):
        return
    old, new = _lines(scene.request.old_body), _lines(scene.request.new_body)
    read_by = count_of(view, readers)
    if made.before is not None:
        yield from answers_left(scene, made.before, made.after, (old, new), read_by)
    yield from _unnamed(made, CLUSTER_DOMAIN, old, new, read_by)


def _led_elsewhere(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of entries of a ConfigMap by which Services were led to."""
    old = parts_of(scene.request.old_body).get("data")
    if old is None or not may_lead(bytes(old)):
        return
    new = parts_of(scene.request.new_body).get("data")
    yield from led_left(scene, made.after, _entries(_read(old)), _entries(_read(new)))


def _lines(body: bytes) -> str:
    """Return the lines of all values."""
    data = _entries(_read(parts_of(body).get("data")))
    return "\n".join(text for text in data.values() if isinstance(text, str))


def _nodes_left_out(scene: Scene, made: Rewritten, readers: list[Use]) -> Iterable[EntriesDropped]:
    """Tell of what says who is a node of the cluster, once no line of it does.

    WHY apart from other lines: nodes may be one entry among many, and without it none of them is
    heard any more. One of several such entries may be of nodes that are gone, which nothing here
    tells. What pods read is no map of who they are, but text about it.
    """
    if readers or not scene.view.rows(NODES):
        return
    old, new = _lines(scene.request.old_body), _lines(scene.request.new_body)
    yield from _unnamed(made, NODES_GROUP, old, new, 0)


def _unnamed(
    made: Rewritten, word: str, old: str, new: str, readers: int
) -> Iterable[EntriesDropped]:
    """Tell of a word that lines named and none names any more."""
    if _names(word, old) and not _names(word, new):
        yield _one_gone(victim_of(made.after), "data", word, readers=readers)


def _one_gone(
    holder: Victim, field: str, entry: str, *, readers: int = 0, critical: bool = True
) -> EntriesDropped:
    """Return that the one entry of a field goes."""
    return EntriesDropped(
        holder=holder,
        field=field,
        before=1,
        dropped=1,
        entries=(entry,),
        readers=readers,
        critical=critical,
    )


def _names(word: str, text: str) -> bool:
    """Whether a line has a word in it; what follows a `#` is said to nobody."""
    return word in text and any(word in line.partition("#")[0] for line in text.splitlines())


def _dropped(scene: Scene, made: Rewritten) -> list[Dropped]:
    old, new = parts_of(scene.request.old_body), parts_of(scene.request.new_body)
    found, resource = list[Dropped](), made.after.key.resource
    for part in made.parts:
        before, after = _read(old.get(part)), _read(new.get(part))
        if resource in KEYED:
            had, has = _entries(before), _entries(after)
            if resource == SECRETS and not _LOGINS.isdisjoint(has):
                had, has = _said(had), _said(has)
            found += _keys(part, had, has, texts=resource == CONFIG_MAPS)
        elif after is None and isinstance(before, list):
            found += values_dropped(part, before, [])
        else:
            found += values_dropped(part, before, after)
    return found


def _keys(
    part: str, had: Mapping[str, object], has: Mapping[str, object], *, texts: bool
) -> Iterable[Dropped]:
    """Yield the keys that are gone, and of a ConfigMap what is gone from inside those that stay.

    WHY no Secret: the names of what is inside one of its values are a part of the secret.
    """
    yield from keys_dropped(part, had, has)
    if not texts or part != "data":
        return
    for key, text in had.items():
        now = has.get(key)
        if isinstance(text, str) and isinstance(now, str) and now and text != now:
            yield from texts_dropped(f"{part}.{key}", text, now)


def _said(data: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in data.items() if not _is_hollow(key, value)}


def _is_hollow(key: str, value: object) -> bool:
    """Whether a value that logs in to registries names none, so that it is as good as gone."""
    if key not in _LOGINS or not isinstance(value, str) or len(value) > HOLLOW:
        return False
    try:
        said = msgspec.json.decode(b64decode(value, validate=True))
    except (ValueError, *UNREADABLE):
        return False
    return isinstance(said, dict) and not (said.get("auths") if "auths" in said else said)


def _read(raw: msgspec.Raw | None) -> object:
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw)
    except UNREADABLE:
        return None


def _entries(part: object) -> Mapping[str, object]:
    """Return the entries of a part by their keys; none where it is no map."""
    return part if isinstance(part, dict) else {}


def _read_by(view: GraphView, readers: list[Use], one: Dropped, *, whole: bool) -> int:
    """Return how many pods read what is dropped: the whole object, or one of the keys."""
    if whole or not readers:
        return count_of(view, readers)
    _, _, inside = one.field.partition(".")
    entries = frozenset(one.entries)
    return count_of(
        view,
        [
            use
            for use in readers
            if not use.key
            or use.key in entries
            or inside == use.key
            or inside.startswith((f"{use.key}.", f"{use.key}["))
        ],
    )


def _left_reading(scene: Scene, made: Rewritten, readers: list[Use], *, inside: bool) -> list[Use]:
    """Return who reads an object and is not written next, where other entries come into it.

    WHY others: what is only emptied holds nothing for the next template to read. And nobody where
    it is what stands `inside` entries, and what keeps it was changed for it.
    """
    view, row = scene.view, made.row
    if row is None or made.after.key.resource not in KEYED or not readers:
        return readers
    if inside and told_by_parent(scene, row):
        return []
    if len(readers) > READERS:
        return readers
    if not _brings(scene, made):
        return readers
    return [
        use
        for use in readers
        if (pod := view.one_alike(use.row)) < 0
        or not is_written_next(scene, maker_of(view, pod), row)
    ]


def _brings(scene: Scene, made: Rewritten) -> bool:
    """Whether keys come, or lines of a ConfigMap's values, that were not there."""
    old, new = parts_of(scene.request.old_body), parts_of(scene.request.new_body)
    texts = made.after.key.resource == CONFIG_MAPS
    return any(
        _comes(_read(old.get(part)), _read(new.get(part)), texts=texts) for part in made.parts
    )


def _comes(before: object, after: object, *, texts: bool) -> bool:
    had = _entries(before)
    return any(
        (value and not had.get(key)) or (texts and _adds_lines(had.get(key), value))
        for key, value in _entries(after).items()
    )


def _adds_lines(was: object, text: object) -> bool:
    if not isinstance(was, str) or not isinstance(text, str):
        return False
    return not frozenset(text.splitlines()) <= frozenset(was.splitlines())


def _critical(before: ClusterObject, after: ClusterObject) -> bool:
    """Whether an object belongs to the cluster itself, and is more than its one writer's own notes.

    WHY its writer: controllers keep reports of their own in the cluster's namespace, and rewrite
    them as they like; who alone has ever written an object drops nothing of another's.
    """
    key = before.key
    if key.resource in BINDINGS:
        return is_bootstrapped(before) or key.name.startswith("system:")
    if key.resource not in KEYED or key.namespace != KUBE_SYSTEM:
        return False
    return len(before.managers) != 1 or after.managers != before.managers


def _no_default(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of a StorageClass that is the default no longer; critical where no other one is.

    Not critical where it is said to be none, and another could be one: that is how the default is
    moved, and for a moment there is none. Whoever only leaves the mark out may not know of it.
    Source: storage.k8s.io: a claim that names no class waits for one while there is no default;
    the Kubernetes task page on changing the default StorageClass, which has this order.
    """
    old, new = made.facts_before, made.after.facts
    if not isinstance(old, StorageClassFacts) or not isinstance(new, StorageClassFacts):
        return
    if not old.default or new.default:
        return
    said = annotations_of(scene.request.new_body).get(_DEFAULT)
    moved = said == "false" and any(one != made.row for one in scene.view.rows(STORAGE_CLASSES))
    yield _default_gone(scene, victim_of(made.after), made.row, moved=moved)


def default_effects(scene: Scene) -> Iterable[EntriesDropped]:
    """Tell of a default StorageClass that goes, by the hand of one who does not keep it.

    WHY not its keeper's: most of a class cannot be changed, so that a release makes it anew.
    """
    view = scene.view
    for row in scene.change.direct:
        facts = view.facts(row)
        if not isinstance(facts, StorageClassFacts) or not facts.default or is_own(scene, row):
            continue
        if not any(works_for(scene, one) for one in scene.marks(row)):
            yield _default_gone(scene, scene.victim(row), row)


def _default_gone(
    scene: Scene, holder: Victim, row: int | None, *, moved: bool = False
) -> EntriesDropped:
    """Return that a class is the default no longer; critical where no other that stays is one.

    `moved`: another is about to be.
    """
    view = scene.view
    others = [
        one
        for one in view.rows(STORAGE_CLASSES)
        if one != row
        and one not in scene.removed
        and not view.terminating(one)
        and isinstance(facts := view.facts(one), StorageClassFacts)
        and facts.default
    ]
    return _one_gone(holder, "metadata.annotations", _DEFAULT, critical=not (moved or others))


def _dns_ports(scene: Scene, made: Rewritten) -> Iterable[EntriesDropped]:
    """Tell of ports at which the cluster's DNS is asked, and would not be reached any more.

    WHY its alone: nobody names these ports, and every pod asks there; whom another port of a
    Service serves is not known. Not where no pod answers behind it: then nothing is lost.
    """
    old, new, row, view = made.facts_before, made.after.facts, made.row, scene.view
    if row is None or not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return
    asked = [f"{number}/{protocol}" for number, protocol, _ in DNS_PORTS]
    lost = [port for port in asked if port in old.ports and port not in new.ports]
    if not lost or not is_dns(view, row) or not view.serving_count(row):
        return
    for port in lost:
        # WHY one by one: whoever asks by UDP is not served by what is left of TCP.
        yield _one_gone(victim_of(made.after), f"spec.ports[{port}]", port)
