"""How a resource says that nothing of it is to run: a switch, a word, an annotation. Pure.

Beside `parts`, which tells of parts that are taken out: this is all of it.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from suture.model.difference import annotations_in, spec_of

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


def told_to_stop(parts: dict[str, msgspec.Raw]) -> bool:
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
    return spec_of(body).get("suspend") is True


def switched_off(spec: dict[str, object]) -> bool:
    """Whether a spec says by a switch or in a word that nothing of it is to run."""
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
