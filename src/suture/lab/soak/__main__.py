"""Runs seeds one after the other: `python -m suture.lab.soak --seeds 25 --operations 10000`.

For `make soak`; no command of `suture`, since it tries Suture and not a cluster. Exit status: 0
every seed held, 1 some did not; those are named, each can be run again with `--seed`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

import structlog

from suture.errors import SutureError
from suture.lab import assets
from suture.lab.plane import Plane
from suture.lab.progress import Progress
from suture.lab.soak.run import Outcome, soak

SHOWN = 20
"""LIMIT: differences of a seed that are printed; one defect makes thousands."""


def main() -> int:
    """Run the seeds that were asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m suture.lab.soak", description=__doc__)
    parser.add_argument("--seeds", type=int, default=25, help="up to which")
    parser.add_argument("--first", type=int, default=1, help="from which on: to resume a run")
    parser.add_argument("--seed", type=int, action="append", help="these alone")
    parser.add_argument("--operations", type=int, default=10_000, help="of each seed")
    asked = parser.parse_args()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
    seeds = asked.seed or list(range(asked.first, asked.seeds + 1))
    failed: list[int] = []
    for number, seed in enumerate(seeds, 1):
        _say(f"seed {seed}: begins, {number} of {len(seeds)}; {len(failed)} failed so far")
        if not _held(seed, asked.operations):
            failed.append(seed)
    for seed in failed:
        _say(f"again: python -m suture.lab.soak --seed {seed} --operations {asked.operations}")
    _say(f"{len(seeds) - len(failed)} of {len(seeds)} seeds held")
    return 1 if failed else 0


def _held(seed: int, operations: int) -> bool:
    """Run one seed on a control plane of its own; whatever fails is told, and the next goes on."""
    outcome: Outcome | None = None
    try:
        with Plane.up(f"soak-{seed}", binaries=assets.find(report=_progress)) as plane:
            outcome = asyncio.run(soak(plane, seed, operations, _say))
    except* (SutureError, AssertionError) as group:
        _say(f"seed {seed}: FAILED: {group.exceptions!r}")
    if outcome is None:
        return False
    _say(str(outcome))
    for line in outcome.differences[:SHOWN]:
        _say(f"  {line}")
    return outcome.held


def _progress(progress: Progress) -> None:
    _say(str(progress))


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
