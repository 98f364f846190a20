"""What is known of a write once it was answered.

Apart from `steps`, which writes: whoever counts, records or guards reads only this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from suture.errors import (
    SutureError,
)
from suture.lab.scenarios.refusals import Refusal
from suture.wire.discovery import ApiResource

Outcome = Literal["done", "refused", "missing"]


class VoidError(SutureError):
    """The run does not count: something failed that is not Suture's doing."""

    code = "scenario_void"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """One write and its answer. `number` counts from 1 over all steps."""

    number: int
    step: int
    guilty: bool
    verb: str
    resource: str
    namespace: str
    name: str
    outcome: Outcome
    refusal: Refusal | None = None
    deleted: tuple[str, ...] = ()
    """The uids that this write asked to go."""
    created: str = ""
    """The uid that this write brought into being."""
    resource_version: str = ""
    stored: bool = True
    """False where the object was so already: the API server answers, and writes nothing."""
    took_s: float = 0.0
    answered_s: float = 0.0
    """In the story's time."""


class Aim(msgspec.Struct, frozen=True, kw_only=True):
    """What must be so at the end because of an admitted write.

    `owners` are ownerReferences: what is there goes with them, and is then no lost end.
    """

    api: ApiResource
    namespace: str
    name: str
    uid: str = ""
    gone: bool
    owners: tuple[Mapping[str, Any], ...] = ()
