"""What is told to a replay server besides the Kubernetes API, and what it tells: its own words.

Beside both ends of the line, which speak these as JSON below `/-/`.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from suture.errors import InputError

ALL = ""
"""In place of a type: every one."""


class OrderError(InputError):
    """An order to a replay server makes no sense."""

    code = "replay_order_invalid"


class Happening(StrEnum):
    """What happens to pods."""

    CREATE = "create"
    """New pods: created, scheduled, Ready, after their time told to go, and gone."""
    STATUS = "status"
    """Pods that are there cease to be Ready, or are again."""
    DELETE = "delete"
    """Pods that are there are gone for good."""


class Fault(StrEnum):
    """What goes wrong."""

    CUT = "cut"
    """Open streams end in the middle of a line, as when a server dies."""
    GONE = "gone"
    """All history is compacted: older versions and list parts are answered with 410."""
    STALL = "stall"
    """For `seconds` nothing is sent; connections stay open."""
    DROP = "drop"
    """The next `count` events are never sent."""
    REPEAT = "repeat"
    """The next `count` events are sent twice."""
    REORDER = "reorder"
    """The next `count` events are sent in reverse, as far as they are sent together."""


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is started with: the first line that it reads."""

    folder: str
    certificate: str
    key: str
    token: str
    idle_s: float | None
    """How long it stays when nobody is connected; None: as long as its owner."""


class Started(msgspec.Struct, frozen=True):
    """What it says when it listens: the first line that it writes."""

    port: int


class Churn(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that come and go: so many a second, for so long."""

    pods_per_second: float
    seconds: float
    kind: Happening = Happening.CREATE
    lifetime_s: float = 5.0
    """From Ready to told to go; of new pods only."""


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """One fault, of one type like `pods` or `deployments.apps`, or of all."""

    what: Fault
    resource: str = ALL
    seconds: float = 0.0
    count: int = 0


class ReplayState(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands."""

    resource_version: str
    objects: int
    pods: int
    streams: int
    """Open watches."""
    churning: bool
    events: dict[str, int]
    """Happened so far, by ADDED, MODIFIED, DELETED."""
    sent_bytes: int
    cpu_s: float
