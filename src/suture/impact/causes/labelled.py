"""Parents that an object without owner names in its labels: in a pair, or in one beside it.

Beside `parents`, whose edges a person or an ownerReference declares: here a pair of labels
`<group>/…<kind>-name` and `<group>/…<kind>-namespace` names an object that is there, or was seen to
go, as no owner can be in another namespace; and `<group>/…<kind>` alone, or with `-name`, one of
the same namespace. Of one that went less is enough: `<group>/owner` or the like, or one in no
namespace. A guess by names, so that it is believed of what has no owner, and only of a type of that
group or of a Gateway, whose implementations put what serves it where they are.
Source: Gateway API, GEP-1762; labels as controllers write them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from suture.impact.causes.calledafter import FEW_ENDS, called_after, types_by
from suture.impact.causes.counters import removals
from suture.impact.causes.over import outlived
from suture.impact.causes.parents import asks_as_before
from suture.impact.ground.kinds import is_custom
from suture.model.actor import account_of
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    CRDS,
    GATEWAYS,
    INGRESSES,
    SECRETS,
    SERVICES,
    ObjectKey,
    Resource,
    plural_of,
)
from suture.model.writes import HOUR_S, number

LABELS_KEPT: Final = 4_096
"""LIMIT: labels as written of which it is remembered whether they may name a parent; 0.3 kB each,
1 MB. Each delete asks twice."""

_NAMESPACE: Final = "-namespace"
_NAME: Final = "-name"
_MARK: Final = b'-namespace"'
_OTHERS: Final = (b"kubernetes.io", b".k8s.io", b'"helm.sh')
"""Ends of groups whose labels, alone, name nobody's parent; most labels are of these."""

_ANY_KIND: Final = frozenset({"instance", "name", "owner", "owned-by", "parent"})
"""Words for whose an object is that say nothing of its kind; each also with `-name`."""

_KUBERNETES: Final = (".k8s.io", "kubernetes.io")
_OTHER_GROUPS: Final = (*_KUBERNETES, "helm.sh")

_OWNING: Final = frozenset({"owned", "owner", "owning", "parent"})
"""First words of labels, in a pair with a namespace, that say whose an object is."""

_BY_WORD: Final = {"ingress": INGRESSES, "service": SERVICES}
"""Types of which a controller marks what it makes for them by a group of its own that begins so."""

_DEFINITIONS: Final = (CRDS,)

_DATA: Final = frozenset({CLAIMS, SECRETS})


def label_parent(view: GraphView, row: int) -> ObjectKey | None:
    """Return the parent that the labels of an object without owner name, there or seen to go."""
    if not _may_name(view.label_bytes(row)) or view.has_owner(row):
        return None
    labels = view.labels(row)
    beside = _beside(view, labels, view.namespace(row))
    for key in chain(_named(labels), beside, _of_domain(view, labels)):
        if view.find(key) is not None or view.history.removed_at(key) is not None:
            return key
    return None


@lru_cache(LABELS_KEPT)
def _may_name(raw: bytes) -> bool:
    """Whether labels may name a parent. WHY the bytes: to read them costs more, and few do."""
    return _MARK in raw or any(not one.endswith(_OTHERS) for one in raw.split(b"/")[:-1])


def _named(labels: Mapping[str, str]) -> Iterator[ObjectKey]:
    """Yield what may be meant by the pairs of some labels."""
    for group, stem, namespace, name in _pairs(labels):
        built_in = _BY_WORD.get(group.partition(".")[0])
        if built_in is not None:
            yield ObjectKey(built_in, namespace, name)
        for plural in _kinds(stem):
            yield ObjectKey(Resource(group, plural), namespace, name)
            if plural == GATEWAYS.plural:
                yield ObjectKey(GATEWAYS, namespace, name)


def _pairs(labels: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the pairs of some labels: their group, what both are called, namespace and name."""
    for label, namespace in labels.items():
        if namespace and label.endswith(_NAMESPACE):
            group, slash, stem = label.removesuffix(_NAMESPACE).rpartition("/")
            name = labels.get(f"{group}/{stem}{_NAME}") or labels.get(f"{group}/{stem}")
            if slash and name:
                yield group, stem, namespace, name


def _beside(view: GraphView, labels: Mapping[str, str], namespace: str) -> Iterator[ObjectKey]:
    """Yield what may be meant by single labels, of the namespace in which the object is.

    A label may say the end of a kind alone, as `cluster` does of a `SearchCluster`.
    WHY none of what is in no namespace: a node is of a pool, which does not ask for this one.
    """
    for label, name in labels.items() if namespace else ():
        group, slash, stem = label.removesuffix(_NAME).rpartition("/")
        # WHY not a part of Kubernetes: its types are kept by its own controllers, with owners.
        if slash and name and not group.endswith(_KUBERNETES):
            plurals = list(_kinds(stem))
            for plural in plurals:
                yield ObjectKey(Resource(group, plural), namespace, name)
            for resource in _near(view, group):
                if resource.group == group and resource.plural.endswith(plurals[-1]):
                    yield ObjectKey(resource, namespace, name)


def _kinds(stem: str) -> Iterator[str]:
    """Yield the plurals of the kinds that may end a label's name."""
    words = stem.lower().split("-")
    for at in range(len(words)):
        yield plural_of("".join(words[at:]))


def label_parent_ends(view: GraphView, row: int, key: ObjectKey | None, now: Now | None) -> bool:
    """Whether the parent that the labels of an object name, `key`, is going or was seen to go.

    Data outlives who asked for it, where no owner says otherwise.
    """
    if key is None or not outlived(view, row) or _most_went(view, key.resource, now):
        return False
    parent = view.find(key)
    return parent is None or view.terminating(parent)


def label_names_ended(view: GraphView, row: int, identity: str, now: Now | None) -> bool:
    """Whether labels of an object, `<group>/owner` or the like, name what went, and nobody else.

    As loose as labels are written: of whatever type of the group, in the object's namespace or in
    none, or of the domain of the group where the actor runs. Where none of that is known, of a type
    that the actor runs, if the object is called after it. So it is believed of an end alone, and of
    nothing that holds data; and not of what is in no namespace: a node is of a pool, which may go
    without it. Nor of an end that `identity`, which asks, has brought about itself: what went along
    was not weighed then.
    """
    resource, namespace = view.resource(row), view.namespace(row)
    if not namespace or resource in _DATA or is_custom(resource) or view.has_owner(row):
        return False
    ended = None
    if _may_name(view.label_bytes(row)):
        ended = _labels_ended(view, row, identity, now)
    if ended is None and now is not None:
        ended = _all_ended(view, called_after(view, row, identity, now), identity, now)
    return bool(ended)


def _labels_ended(view: GraphView, row: int, identity: str, now: Now | None) -> bool | None:
    """Whether what labels with a group name went; None where nothing of it is known."""
    labels, namespace = view.labels(row), view.namespace(row)
    near = chain(
        (key for label, name in labels.items() for key in _loosely(view, label, namespace, name)),
        _of_domain(view, labels),
    )
    at_home = (
        key for label, name in labels.items() for key in kept_beside(view, label, name, identity)
    )
    ended = _all_ended(view, near, identity, now)
    if ended is None and now is not None:
        ended = _all_ended(view, at_home, identity, now)
    return ended


def _all_ended(
    view: GraphView, keys: Iterable[ObjectKey], identity: str, now: Now | None
) -> bool | None:
    """Whether what may be meant went, all of it, by others than `identity`.

    None where nothing of it is known.
    """
    ended = None
    for key in keys:
        parent = view.find(key)
        if parent is not None and not view.terminating(parent):
            return False
        if parent is None and view.history.removed_at(key) is None:
            continue
        if now is not None and _deleted_by(view, key, now) == number(identity):
            return False
        if _most_went(view, key.resource, now):
            return False
        ended = True
    return ended


def _most_went(view: GraphView, resource: Resource, now: Now | None) -> bool:
    """Whether most objects of a custom type went within the hour, and more than a few.

    WHY that explains nothing: where no owner says what goes along, nobody has weighed it when they
    went, as when all were pruned by an error.
    """
    if now is None:
        return False
    ended = view.history.writes.counted(removals(resource), now, HOUR_S)
    return ended > FEW_ENDS and ended >= view.count(resource)


def _deleted_by(view: GraphView, key: ObjectKey, now: Now) -> int | None:
    """Return the number of who last asked within the hour for an object to be deleted."""
    return view.history.writes.last(key, What.DELETED, now, HOUR_S)


def _loosely(view: GraphView, label: str, namespace: str, name: str) -> Iterator[ObjectKey]:
    """Yield what a label may mean that says less than where its object is, or of which kind."""
    group, slash, stem = label.rpartition("/")
    if not slash or not name or group.endswith(_KUBERNETES):
        return
    word = stem.lower().removesuffix(_NAME)
    if word in _ANY_KIND:
        for resource in view.resources():
            if resource.group == group:
                yield ObjectKey(resource, namespace, name)
                yield ObjectKey(resource, "", name)
        return
    for plural in _kinds(word):
        yield ObjectKey(Resource(group, plural), "", name)


def _of_domain(view: GraphView, labels: Mapping[str, str]) -> Iterator[ObjectKey]:
    """Yield what a pair of labels may mean that says whose and of no kind, of a group beside it.

    So an operator marks what it makes with `<group>/owning-resource` and `…-namespace`.
    """
    for group, stem, namespace, name in _pairs(labels):
        if stem.partition("-")[0] in _OWNING and not group.endswith(_OTHER_GROUPS):
            for resource in _near(view, group):
                yield ObjectKey(resource, namespace, name)


def kept_beside(view: GraphView, label: str, name: str, identity: str) -> Iterator[ObjectKey]:
    """Yield what a label may mean in the namespace of the account that asks.

    So a mesh knows what it keeps in all namespaces for a cluster that it is joined to: by the name
    of the joint, which is in its own namespace, and of a group beside that of the label, as
    `a.mesh.io` is of `b.mesh.io`. What is there otherwise, of that name, may be meant as well.
    """
    group, slash, _ = label.rpartition("/")
    account = account_of(identity)
    if not slash or not name or account is None or group.endswith(_OTHER_GROUPS):
        return
    for resource in _near(view, group):
        yield ObjectKey(resource, account.namespace, name)


def _near(view: GraphView, group: str) -> list[Resource]:
    """Return the custom types whose groups are of one domain with a group."""
    return view.made_of(_DEFINITIONS, _by_domain).get(domain_of(group), [])


def _by_domain(view: GraphView) -> dict[str, list[Resource]]:
    """Return the custom types whose objects are in namespaces, by the domain of their groups."""
    return types_by(view, lambda one: (domain_of(one.resource.group),) if one.namespaced else ())


def domain_of(group: str) -> str:
    """Return the last two words of a group."""
    return ".".join(group.split(".")[-2:])


def label_parent_wants(
    view: GraphView, key: ObjectKey | None, removed: Collection[int], now: Now | None
) -> bool:
    """Whether the parent that labels name, `key`, is there, and stays as it was."""
    parent = view.find(key) if key is not None else None
    return parent is not None and asks_as_before(view, parent, removed, now)
