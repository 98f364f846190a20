"""One asked-for change, the same value from an AdmissionReview, an authorization check or a file.

Pure. The bodies travel along as raw JSON for the journal; rules read the trimmed objects.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from suture.model.actor import UserInfo
from suture.model.fieldselectors import may_take
from suture.model.names import Gvk, Gvr, ObjectKey, Operation, Propagation, Resource
from suture.model.objects import ClusterObject, Facts
from suture.model.selectors import Selector


class One(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The request names its object."""


class CollectionItem(msgspec.Struct, frozen=True, gc=False, tag=True):
    """One object of a `deletecollection`, as admission shows it: its selector cannot be seen."""


class Collection(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A whole `deletecollection`, as authorization shows it. `selector` None: none was given.

    `fields` restricts it further: the field selector, of everything where none was given.
    """

    selector: Selector | None = None
    fields: Selector = Selector()

    @property
    def everything(self) -> bool:
        """Whether neither selector excludes anything."""
        return self.fields.everything and (self.selector is None or self.selector.everything)

    def may_take(self, key: ObjectKey, labels: Mapping[str, str], facts: Facts | None) -> bool:
        """Whether an object is, or may be, one of the collection's."""
        if self.selector is not None and not self.selector.matches(labels):
            return False
        return may_take(self.fields, key, facts)

    def __str__(self) -> str:
        """Return both selectors as they are written; empty where none was given."""
        labels = "" if self.selector is None else str(self.selector)
        fields = "" if self.fields.everything else f"fields {self.fields}"
        return " and ".join(filter(None, (labels, fields)))


Extent = One | CollectionItem | Collection


class DeleteOptions(msgspec.Struct, frozen=True, gc=False):
    """What a delete says of its manner; `propagation` None: the kind's own default."""

    propagation: Propagation | None = None
    grace_s: int | None = None
    uid: str = ""
    resource_version: str = ""


class Request(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One asked-for change.

    `old` and `new` are the object before and after (None: there is none, or it cannot be read
    where this request was seen). `old_body` and `new_body` are the same as raw JSON, empty where
    absent. For a subresource they are the subresource's own document (`Scale`, `Eviction`).
    """

    uid: str
    """The review's own id; a retry of the same intent has another."""
    operation: Operation
    gvr: Gvr
    gvk: Gvk
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    user: UserInfo
    extent: Extent = One()
    old: ClusterObject | None = None
    new: ClusterObject | None = None
    old_body: bytes = b""
    new_body: bytes = b""
    parts_changed: tuple[str, ...] | None = None
    """The parts beside metadata and status in which the bodies differ; None: not compared yet."""
    scale_to: int | None = None
    """`spec.replicas` of a `scale` subresource update; None for every other request."""
    scale_from: int | None = None
    """The same before it, where the review shows it."""
    dry_run: bool = False
    options: DeleteOptions = DeleteOptions()
    key: ObjectKey = ObjectKey(Resource("", ""), "", "")
    """Where the request's object is found; its name comes from the object where it has none.

    Not to be given: it follows from the rest. WHY kept: each judgement asks for it ten times."""

    def __post_init__(self) -> None:
        """Find the key."""
        name = self.name
        if not name and self.old is not None:
            name = self.old.key.name
        elif not name and self.new is not None:
            name = self.new.key.name
        key = ObjectKey(self.gvr.resource, self.namespace, name)
        msgspec.structs.force_setattr(self, "key", key)

    @property
    def object_uid(self) -> str:
        """The life that the request is about; empty where the review does not show it."""
        if self.old is not None:
            return self.old.uid
        return self.options.uid


class Intent(msgspec.Struct, frozen=True, gc=False):
    """Identity, operation and object over all reviews of it: what is counted once."""

    identity: str
    operation: Operation
    key: ObjectKey
    subresource: str
    uid: str


def intent_of(request: Request) -> Intent:
    """Name the intent of a request; equal for every retry of it."""
    return Intent(
        request.user.username,
        request.operation,
        request.key,
        request.subresource,
        request.object_uid,
    )
