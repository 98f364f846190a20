"""The lanes: which requests the API server sends where, decided inside it by CEL.

Pure. A request is in one lane at most; lane 0, which is none of them, never waits on Suture. The
table itself is in the reference; each lane here is a list of conditions that must all be true.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from suture.install.expressions import (
    ADMIN,
    API_SERVER,
    DELETED,
    EVENTS,
    EVICTED,
    FINALIZER_REMOVED,
    GROUPS,
    JOB_TRACKING_LIFTED,
    LABELS_CHANGED,
    LEASES,
    NAMESPACE,
    NODES,
    OWNERS_CHANGED,
    REVIEWS,
    SCALED_DOWN,
    SPEC_CHANGED,
    SUBRESOURCE,
    TOKENS,
    USER,
    in_groups,
    machine,
    text,
    texts,
)
from suture.install.settings import Installation, Read
from suture.model.actor import CONSEQUENCE_CONTROLLERS, SERVICE_ACCOUNT
from suture.model.names import Operation

ANY = "*"
READ_OPERATIONS = (Operation.CREATE.value, Operation.UPDATE.value)

_GROUP = "request.resource.group"
_RESOURCE = f"(request.resource.resource + ({SUBRESOURCE} == '' ? '' : '/' + {SUBRESOURCE}))"


class Condition(msgspec.Struct, frozen=True, gc=False):
    """One match condition, named for error messages."""

    name: str
    expression: str


class LaneRule(msgspec.Struct, frozen=True, gc=False):
    """One lane as the API server is told of it: its path's last part, conditions, what if we fail.

    LIMIT: `timeout_s` is what a caller may lose to a Suture that hangs: two seconds for what is
    destructive, one for the rest.
    """

    name: str
    timeout_s: int
    fail_closed: bool
    conditions: tuple[Condition, ...]


def lanes(installation: Installation) -> tuple[LaneRule, ...]:
    """Return the five lanes that are sent somewhere, in the order of the registration."""
    never = never_conditions(installation.namespace)
    machines = machine(installation.enrolled, installation.break_glass)
    emergency = in_groups(installation.break_glass)
    consequence = f"{USER} in {texts(sorted(CONSEQUENCE_CONTROLLERS))}"
    by_machine = (
        Condition("machines", machines),
        Condition("not-consequences", f"!({consequence}) && !({JOB_TRACKING_LIFTED})"),
    )
    destructive = destructive_expression(installation.reads)
    held = held_expression(installation)
    return (
        LaneRule(
            "destructive",
            2,
            False,
            (
                *never,
                *by_machine,
                Condition("not-held", f"!({held})"),
                Condition("destructive", destructive),
            ),
        ),
        LaneRule(
            "destructive-held",
            2,
            True,
            (*never, *by_machine, Condition("held", held), Condition("destructive", destructive)),
        ),
        LaneRule(
            "other",
            1,
            False,
            (*never, *by_machine, Condition("not-destructive", f"!({destructive})")),
        ),
        LaneRule(
            "consequences",
            1,
            False,
            (
                *never,
                Condition(
                    "consequences",
                    f"{USER} in {texts(sorted(CONSEQUENCE_CONTROLLERS))} && "
                    f"{any_of((DELETED, EVICTED, SCALED_DOWN, FINALIZER_REMOVED))} || "
                    f"({JOB_TRACKING_LIFTED})",
                ),
            ),
        ),
        LaneRule(
            "people",
            1,
            False,
            (
                *never,
                Condition("people", f"!({machines})"),
                Condition(
                    "not-system",
                    f"!{USER}.startsWith('system:') || {USER} == {text(ADMIN)}"
                    + ("" if emergency == "false" else f" || {emergency}"),
                ),
            ),
        ),
    )


def never_conditions(namespace: str) -> tuple[Condition, ...]:
    """Return lane 0: what no lane may match, so that it never waits on Suture."""
    own = text(f"{SERVICE_ACCOUNT}{namespace}:")
    return (
        Condition("not-leases", f"!({LEASES})"),
        Condition("not-events", f"!({EVENTS})"),
        Condition("not-reviews", f"!({REVIEWS})"),
        Condition("not-tokens", f"!({TOKENS})"),
        Condition("not-nodes", f"!({text(NODES)} in {GROUPS})"),
        Condition("not-apiserver", f"{USER} != {text(API_SERVER)}"),
        Condition("not-own-namespace", f"{NAMESPACE} != {text(namespace)}"),
        Condition("not-suture", f"!{USER}.startsWith({own})"),
    )


def held_expression(installation: Installation) -> str:
    """Whether the identity's destructive requests are held while Suture cannot answer.

    A user that is named itself is what it is named; its groups decide only for those who are not.
    """
    held, passed = installation.held, installation.passed
    parts = []
    if held.users:
        parts.append(f"{USER} in {texts(held.users)}")
    if held.groups:
        by_group = f"{GROUPS}.exists(g, g in {texts(held.groups)})"
        if passed.users:
            by_group = f"!({USER} in {texts(passed.users)}) && {by_group}"
        parts.append(f"({by_group})")
    return " || ".join(parts) if parts else "false"


def destructive_expression(reads: Iterable[Read]) -> str:
    """Whether a request takes something away, or a constraint in force reads it to claim or refuse.

    An update that is read so counts where its wish or its labels change: a new status does not.
    """
    parts = [DELETED, EVICTED, SCALED_DOWN, FINALIZER_REMOVED, OWNERS_CHANGED]
    by_operation: dict[str, set[Read]] = {}
    for read in reads:
        for operation in READ_OPERATIONS if read.operation == ANY else (read.operation,):
            by_operation.setdefault(operation, set()).add(read)
    # Deletes are destructive as they are; CONNECT changes no object.
    for operation in READ_OPERATIONS:
        if operation in by_operation:
            asked = f"request.operation == {text(operation)} && {_read(by_operation[operation])}"
            if operation == Operation.UPDATE:
                asked += f" && {any_of((SPEC_CHANGED, LABELS_CHANGED))}"
            parts.append(asked)
    return any_of(parts)


def _read(reads: Iterable[Read]) -> str:
    """Whether the request is about one of these resources."""
    exact = {read for read in reads if ANY not in {read.group, read.resource}}
    parts = []
    if exact:
        names = texts(sorted(f"{read.group}/{read.resource}" for read in exact))
        parts.append(f"({_GROUP} + '/' + {_RESOURCE}) in {names}")
    for read in sorted({*reads} - exact):
        group = "true" if read.group == ANY else f"{_GROUP} == {text(read.group)}"
        # WHY no status: it is never a wish, and `*` would otherwise take in all of them.
        resource = (
            f"{SUBRESOURCE} != 'status'"
            if read.resource == ANY
            else f"{_RESOURCE} == {text(read.resource)}"
        )
        parts.append(f"{group} && {resource}")
    return any_of(parts)


def any_of(parts: Iterable[str]) -> str:
    """Join alternatives, each in parentheses."""
    return f"({' || '.join(f'({part})' for part in parts)})"
