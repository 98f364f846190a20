"""Runs cases seed by seed: `python -m suture.lab.differential --cases 1000 --seed 1`.

For `make differential`; no command of `suture`, since it tries Suture and not a cluster. Exit
status: 0 every prediction held, 1 some did not; each is told with what makes it again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

import structlog

from suture.adapters.kube import KubeClient
from suture.lab import assets
from suture.lab.differential.run import Differential, Tally
from suture.lab.plane import Plane
from suture.lab.progress import Progress

PER_SEED = 1200
"""LIMIT: cases on one control plane: what they leave standing is not taken away, and beyond 5,000
objects each list of the cluster takes as long as the case before it."""


def main() -> int:
    """Run the cases that were asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m suture.lab.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many, over several seeds")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--case", type=int, help="this one of the seed, alone")
    asked = parser.parse_args()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
    left, seed, failed, done = asked.cases, asked.seed, 0, 0
    unpredicted = 0
    while left > 0:
        tally = _seed(seed, min(left, PER_SEED), asked.case)
        failed += len(tally.mismatches)
        unpredicted += tally.unpredicted
        done += tally.cases
        _say(f"seed {seed}: {dict(tally.kinds)}; refused: {dict(tally.refused)}")
        for case in tally.mismatches:
            _say(str(case))
        left -= tally.cases if asked.case is None else left
        seed += 1
    _say(f"{done} cases, {failed} mismatches, {unpredicted} with a removal unpredicted")
    return 1 if failed else 0


def _seed(seed: int, cases: int, case: int | None) -> Tally:
    """Run one seed on a control plane of its own."""

    async def run(plane: Plane) -> Tally:
        async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
            differential = Differential(plane, client, seed, _say)
            return await (differential.run(cases) if case is None else differential.one(case))

    with Plane.up(f"differential-{seed}", binaries=assets.find(report=_progress)) as plane:
        return asyncio.run(run(plane))


def _progress(progress: Progress) -> None:
    _say(str(progress))


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
