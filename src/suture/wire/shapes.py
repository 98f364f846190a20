"""What the projections of all kinds have in common: metadata, conditions, selectors, references.

Beside `trim` because shapes change with Kubernetes and nothing else there does. A field that no
projection names is skipped by the decoder, which is most of what an object weighs. Pure.
Source: meta/v1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec

from suture.model.edges import Edge, Need
from suture.model.names import ObjectKey, Resource
from suture.model.objects import Facts, ServiceRef
from suture.model.selectors import Operator, Requirement, Selector

ABSENT = msgspec.Raw()
"""What a field kept as raw JSON holds where the object does not have it; compared by identity."""

# WHY tz: a time without one would be read in the zone of the machine that Suture runs on.
Time = Annotated[datetime, msgspec.Meta(tz=True)]


# WHY a range: JSON knows larger numbers, and no column and no file of ours holds them.
Count = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


PORT_DIGITS = 5
"""Digits of the highest port, 65535."""


def port_number(text: str) -> int | None:
    """Return the port that a text numbers; None where it is a name, or no number of a port."""
    numbered = text.isascii() and text.isdecimal() and len(text) <= PORT_DIGITS
    return int(text) if numbered else None


class Meta(msgspec.Struct, rename="camel", gc=False):
    """ObjectMeta, as far as it is read; labels and owners stay raw, most are known already."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: msgspec.Raw = ABSENT
    owner_references: msgspec.Raw = ABSENT
    finalizers: tuple[str, ...] | None = None
    annotations: msgspec.Raw = ABSENT
    """Of a few keys only is the value read: the marks of a bookmark, of who manages the object."""


class ManagerEntry(msgspec.Struct, gc=False):
    """One entry of `managedFields`, of which the fields themselves are skipped."""

    manager: str = ""


class ManagedMeta(Meta, gc=False):
    """ObjectMeta with who wrote the object's fields."""

    managed_fields: tuple[ManagerEntry, ...] | None = None


class Document(msgspec.Struct, rename="camel", gc=False):
    """Any object: its metadata, and the kind where it carries one (items of lists do not).

    WHY as lean as this: it is what a pod is read as, beside which all else is few.
    """

    kind: str = ""
    metadata: Meta | None = None


class ManagedDocument(Document, gc=False):
    """Any object but a pod: with its managers. A pod's are its owner's doing, or the kubelet's."""

    metadata: ManagedMeta | None = None


_texts_decoder: msgspec.json.Decoder[dict[str, str] | None] = msgspec.json.Decoder(
    dict[str, str] | None
)


def annotation(meta: Meta | None, key: str) -> str:
    """Return the value of one annotation, empty where it is absent or none can be read."""
    if meta is None or meta.annotations is ABSENT:
        return ""
    raw = bytes(meta.annotations)
    # WHY first: few objects have the key, and reading a map of texts takes ten times as long.
    if key.encode() not in raw:
        return ""
    try:
        return (_texts_decoder.decode(raw) or {}).get(key, "")
    except msgspec.MsgspecError:
        return ""


class Condition(msgspec.Struct, gc=False):
    """One status condition; `status` is True, False or Unknown."""

    type: str = ""
    status: str = ""


Conditions = tuple[Condition, ...] | None


def holds(conditions: Conditions, *types: str) -> bool:
    """Whether any condition of the given types is True."""
    for condition in conditions or ():
        if condition.type in types and condition.status == "True":
            return True
    return False


class Expression(msgspec.Struct, gc=False):
    """One entry of `matchExpressions`."""

    key: str
    operator: Operator
    values: tuple[str, ...] | None = None


class LabelSelector(msgspec.Struct, rename="camel", gc=False):
    """A LabelSelector of meta/v1; without content it selects everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Expression, ...] | None = None

    def selector(self) -> Selector:
        """Return it as a value, requirements in a stable order."""
        by_label = Selector.of(self.match_labels or {})
        if not self.match_expressions:
            return by_label
        return Selector(
            by_label.requirements
            + tuple(
                Requirement(one.key, one.operator, tuple(sorted(one.values or ())))
                for one in self.match_expressions
            )
        )


def selector_of(found: LabelSelector | None) -> Selector | None:
    """Return a selector as a value; absent stays None."""
    return None if found is None else found.selector()


class ServiceTarget(msgspec.Struct, gc=False):
    """A Service by name, in places that name one; a namespace is there where it may differ."""

    namespace: str = ""
    name: str = ""


def reference(found: ServiceTarget | None) -> ServiceRef | None:
    """Return the Service that is named, or None where none is."""
    return ServiceRef(found.namespace, found.name) if found is not None and found.name else None


class Shape(msgspec.Struct, frozen=True):
    """How one kind is read: its name, its projection, and what the projection becomes.

    `facts` None: nothing is read of it but what it names. `needs` None: it names nothing.
    `states`: what changes of it as it runs may be read alone (`podstates`).
    `partial`: its metadata alone is read by it, too. `apart`: of its metadata nothing but name,
    namespace and labels is in facts and needs: they stay the same where annotations change.
    INVARIANT: facts are made before needs, which may use the document up.
    """

    kind: str
    document: type[Document]
    # Any: each builder takes its own document; the table pairs them, and a test reads each.
    facts: Callable[[Any, str, Mapping[str, str]], Facts | None] | None = None
    needs: Callable[[Any, ObjectKey, Mapping[str, str]], Sequence[Need]] | None = None
    partial: bool = False
    apart: bool = False
    states: bool = False


def named(
    edge: Edge,
    resource: Resource,
    namespace: str,
    name: str | None,
    *,
    key: str = "",
    optional: bool = False,
) -> tuple[Need, ...]:
    """Return the need of what a field names; none where the field is empty or absent."""
    if not name:
        return ()
    return (Need(edge, ObjectKey(resource, namespace, name), key, optional),)


def each_once(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Return needs in their order, each once; what is both needed and optional is needed."""
    found: dict[tuple[Edge, ObjectKey, str], Need] = {}
    for need in needs:
        at = need.edge, need.target, need.key
        if at not in found or found[at].optional:
            found[at] = need
    return tuple(found.values())
