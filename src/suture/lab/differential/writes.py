"""The writes of a differential as values: what a case does to its world, and how a log tells it.

Apart from who sends them, so that a world is a list of them, and a case is one.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from suture.model.names import ObjectKey, Propagation

Body = dict[str, Any]


class OwnedBy(msgspec.Struct, frozen=True):
    """An owner by kind and place, whose uid is found when the object is made.

    `uid` given: it is written as it stands, whoever has it. `place` is where the owner is.
    """

    api_version: str
    kind: str
    name: str
    place: str = ""
    uid: str = ""


class Create(msgspec.Struct, frozen=True):
    """Create an object; its ownerReferences are written in as it is made."""

    body: Body
    owners: tuple[OwnedBy, ...] = ()

    def __str__(self) -> str:
        meta = self.body["metadata"]
        return f"create {self.body['kind']} {meta.get('namespace', '')}/{meta['name']}"


class Delete(msgspec.Struct, frozen=True):
    """Delete an object; without a `propagation` as its kind does by default."""

    key: ObjectKey
    propagation: Propagation | None = None

    def __str__(self) -> str:
        return f"delete {self.key} ({self.propagation or 'default'})"


class DeleteAll(msgspec.Struct, frozen=True):
    """Delete a collection in one namespace; `selector` None: whole."""

    key: ObjectKey
    """Type and namespace; the name is empty."""
    selector: str | None

    def __str__(self) -> str:
        return f"delete all {self.key.resource} in {self.key.namespace} by {self.selector}"


class Evict(msgspec.Struct, frozen=True):
    """Evict a pod."""

    key: ObjectKey

    def __str__(self) -> str:
        return f"evict {self.key}"


class Scale(msgspec.Struct, frozen=True):
    """Set a workload's size through its sub-resource."""

    key: ObjectKey
    replicas: int

    def __str__(self) -> str:
        return f"scale {self.key} to {self.replicas}"


class Patch(msgspec.Struct, frozen=True):
    """Merge a document into an object; `owners`, where given, become all that it has."""

    key: ObjectKey
    what: str
    body: Body
    owners: tuple[OwnedBy, ...] | None = None
    how: Literal["merge", "strategic"] = "merge"

    def __str__(self) -> str:
        return f"patch {self.what} of {self.key}: {self.body} {self.owners or ''}"


Write = Create | Delete | DeleteAll | Evict | Scale | Patch
