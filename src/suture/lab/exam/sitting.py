"""One scenario in one column, run to its result: offline, or on a lab that stands.

Lives apart from the order of the examination. What a result depends on is worked out here too,
since only here it is known what took part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

import suture
from suture.adapters.files import load_policies
from suture.errors import SutureError
from suture.lab.exam import limiter, plain
from suture.lab.exam.result import BASELINES, SUTURE, WORDS, Column, Result, result_of
from suture.lab.plane import Plane
from suture.lab.scenarios.account import bound_of
from suture.lab.scenarios.guard import Guard, NoGuard
from suture.lab.scenarios.offline.client import OfflineClient
from suture.lab.scenarios.offline.guard import OfflineGuard
from suture.lab.scenarios.offline.loop import run_jumping
from suture.lab.scenarios.offline.place import Offline, recording_of
from suture.lab.scenarios.place import Lab
from suture.lab.scenarios.reading import Loaded
from suture.lab.scenarios.recording import beside
from suture.lab.scenarios.report import GuardMode, PlaceName, Report
from suture.lab.scenarios.run import Runner
from suture.lab.scenarios.suture import SutureGuard
from suture.wire.yaml import read_documents

_JUDGING = (
    "model",
    "impact",
    "policy",
    "budget",
    "install",
    "wire",
    "app",
    "lab/scenarios",
    "judge.py",
    "verdict.py",
)
TOLD: Final = frozenset({"message", "description"})
"""Fields of templates and constraints that are words."""

_PREDICTING = ("lab/scenarios",)
"""Rooms that an offline result follows from, besides the file: on a lab it is the pack alone."""


def key_of(loaded: Loaded, column: Column, place: PlaceName) -> str:
    """Return the mark of all that a result depends on."""
    parts = [loaded.digest, column, place]
    recorded = beside(loaded.path, _mode(column))
    if place == "offline" and recorded.is_file():
        parts.append(sha256(recorded.read_bytes()).hexdigest())
    if column == "limiter":
        parts.append(str(limiter.WINDOWS))
    elif column == "plain":
        parts.append(sha256(plain.text()).hexdigest())
    elif column not in BASELINES:
        parts.append(pack_digest())
    if place == "offline" and column in ("none", *SUTURE):
        parts.append(code_digest(_PREDICTING if column == "none" else _JUDGING))
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def pack_digest() -> str:
    """Return the mark of all that the safety pack decides by."""
    folder = resources.files("suture.policy") / "pack"
    return deciding_digest(
        document.value
        for file in sorted(folder.iterdir(), key=lambda one: one.name)
        for document in read_documents(file.read_bytes(), file.name)
    )


def deciding_digest(documents: Iterable[object]) -> str:
    """Return the mark of policies but for their words: those are told, and decide nothing."""
    said = [_deciding(one) for one in documents]
    return sha256(msgspec.json.encode(said, order="sorted")).hexdigest()


def _deciding(part: object) -> object:
    """Return a part of a policy without what is only told."""
    if isinstance(part, dict):
        return {name: _deciding(value) for name, value in part.items() if name not in TOLD}
    return [_deciding(one) for one in part] if isinstance(part, list) else part


@cache
def code_digest(rooms: tuple[str, ...]) -> str:
    """Return the mark of the code of some rooms, or of single modules."""
    root = Path(suture.__file__).parent
    found = sha256()
    for room in rooms:
        place = root / room
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()


def _mode(column: Column) -> GuardMode:
    return "off" if column == "none" else "enforce"


def sit_offline(loaded: Loaded, column: Column, key: str) -> Result:
    """Run without a control plane, on a clock that jumps; `key` is what the result is kept under.

    WHY given: this may be another process, and the code may change while an examination goes on.
    """
    mode = _mode(column)
    # WHY not for the other baselines: a recording is of runs without a guard, or with Suture.
    recording = recording_of(loaded, mode) if column in ("none", "full") else None

    async def run() -> tuple[Report, Runner]:
        place = Offline(recording)
        runner = Runner(loaded, place, _offline_guard(place, column))
        return await runner.run(), runner

    try:
        report, runner = run_jumping(run())
    except SutureError as error:
        return void(loaded, column, key, "offline", error)
    return _kept(column, key, report, runner)


def _offline_guard(place: Offline, column: Column) -> Guard:
    match column:
        case "none":
            return NoGuard()
        case "limiter":
            return limiter.RateLimiter(place.server)
        case "plain":
            return plain.PlainPolicies(OfflineClient(place.server))
        case "managed" | "full":
            return OfflineGuard(place.server, "enforce", authorizer=column == "full")


def sit_on_lab(
    loaded: Loaded, column: Column, key: str, plane: Plane, *, speed: float = 1.0
) -> Result:
    """Run on a real control plane. Baselines but `none` are sat offline only.

    What a story waits is lived until the cluster is at rest, and moved from then on.
    """
    guard: NoGuard | SutureGuard = NoGuard()
    if column != "none":
        full = column == "full"
        guard = SutureGuard(plane, "enforce", speed=speed, authorizer=full, movable=True)
    runner = Runner(loaded, Lab(plane), guard, speed=speed, move=guard.move)
    try:
        report = asyncio.run(runner.run())
    except SutureError as error:
        return void(loaded, column, key, "lab", error)
    return _kept(column, key, report, runner)


def void(loaded: Loaded, column: Column, key: str, place: PlaceName, error: SutureError) -> Result:
    """Return that a world could not be built: one file that is wrong does not end the others."""
    return Result(
        scenario=loaded.name,
        column=column,
        key=key,
        place=place,
        verdict="void",
        words=str(error)[:WORDS],
    )


def _kept(column: Column, key: str, report: Report, runner: Runner) -> Result:
    """Return what is kept of a run; without a guard, with what the pack had allowed."""
    result = result_of(report, runner.writes, column=column, key=key)
    if column != "none":
        return result
    answered = [one.answered_s for one in runner.writes if one.guilty]
    span_s = max(answered) - min(answered) if answered else 0.0
    populations = {kind: loss.population for kind, loss in report.harm.by_kind.items()}
    policies = load_policies(()).at_speed(report.speed)
    return msgspec.structs.replace(result, bound=bound_of(policies, populations, span_s))
