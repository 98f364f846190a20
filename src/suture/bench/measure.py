"""What every benchmark hands back: figures with units, their spread, and where they were taken.

Beside the benchmarks so that each of them only measures; the command only prints.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from suture import __version__
from suture.lab.clusters import SIZES, Size
from suture.model.graph import rows

GIT_S = 5.0
"""LIMIT: asking git for the commit; without an answer the version alone says what ran."""


class Measured(msgspec.Struct, frozen=True):
    """One value with its unit, of one run."""

    value: float
    unit: str


Sample = Mapping[str, Measured]
"""What one run of a benchmark gives, by the figure's name."""


class Figure(msgspec.Struct, frozen=True):
    """One figure over all runs: its median, and the lowest and highest run."""

    name: str
    unit: str
    median: float
    low: float
    high: float


class Environment(msgspec.Struct, frozen=True):
    """Where a figure was taken."""

    suture: str
    commit: str
    python: str
    compiled: bool
    """Whether the innermost modules are machine code."""
    cores: int
    machine: str
    load: float
    """Of the last minute, as the system tells it: how many others wanted these cores, and we."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark's figures, and all that is needed to take them again."""

    bench: str
    scale: str
    size: Size
    seed: int
    repeat: int
    environment: Environment
    figures: tuple[Figure, ...]


Say = Callable[[str], None]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a benchmark runs on. `scale` is the size's name, for people."""

    scale: str = "S"
    size: Size = SIZES["S"]
    seed: int = 2021
    calls: int = 2_000
    """LIMIT: timed calls a figure: twenty lie above a p99, and 250 µs each are half a second."""
    stall_s: float = 20.0
    """LIMIT: reviews at 1,000 a second: twenty of 20,000 lie above a p99.9."""
    baselines: bool = True
    """Whether the model's baselines are measured too."""


def report_of(bench: str, setting: Setting, samples: Sequence[Sample]) -> Report:
    """Return the figures of several runs of one benchmark."""
    return Report(
        bench=bench,
        scale=setting.scale,
        size=setting.size,
        seed=setting.seed,
        repeat=len(samples),
        environment=environment(),
        figures=tuple(
            Figure(
                name,
                first.unit,
                statistics.median(values := [sample[name].value for sample in samples]),
                min(values),
                max(values),
            )
            for name, first in samples[0].items()
        ),
    )


_KEY = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")


def by_name(report: Report) -> dict[str, object]:
    """Return the medians of figures whose names are keys, `a.b` as `b` inside of `a`.

    So that a program finds a figure without walking a list; names with spaces are for people.
    """
    found: dict[str, object] = {}
    for figure in report.figures:
        if _KEY.fullmatch(figure.name):
            *way, last = figure.name.split(".")
            inside = found
            for step in way:
                inside = inside.setdefault(step, {})  # type: ignore[assignment]
            inside[last] = figure.median
    return found


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value below which `part` of all lie; of sorted or unsorted values."""
    ranked = sorted(values)
    return ranked[min(int(len(ranked) * part), len(ranked) - 1)]


def resident_bytes() -> int:
    """Return the resident set of this process; its peak where the system tells no more."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def environment() -> Environment:
    """Return where this process runs."""
    return Environment(
        suture=__version__,
        commit=_commit(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        compiled=not (rows.__file__ or "").endswith(".py"),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores(),
        machine=f"{platform.system()} {platform.machine()}",
        load=os.getloadavg()[0],
    )


def _cores() -> int:
    return os.cpu_count() or 1


def _commit() -> str:
    """Return the commit that runs, where it runs from a checkout; `+` marks changes to it."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty=+"],
            cwd=here, capture_output=True, text=True, timeout=GIT_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()
