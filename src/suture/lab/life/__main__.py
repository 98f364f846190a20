"""Lives on a lab of its own: `python -m suture.lab.life --minutes 60 --seed 1`.

For `make life`; no command of `suture`, since it tries Suture and not a cluster. Exit status: 0
nobody was refused, 1 somebody was, or did nothing; each refusal is printed with its reasons.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

import msgspec
import structlog

from suture.lab import assets
from suture.lab.life.report import lines
from suture.lab.life.run import live
from suture.lab.life.town import NODES
from suture.lab.plane import Plane
from suture.lab.progress import Progress

SLACK_S = 1800.0
"""LIMIT: building and preparing take minutes on a crowded machine; a forgotten lab ends."""


def main() -> int:
    """Live for as long as was asked; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m suture.lab.life", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", choices=("text", "json"), default="text")
    asked = parser.parse_args()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
    stop_after_s = asked.minutes * 60 + SLACK_S
    found = assets.find(report=_progress)
    with Plane.up("life", binaries=found, nodes=NODES, stop_after_s=stop_after_s) as plane:
        report = asyncio.run(live(plane, asked.seed, asked.minutes, _say))
    if asked.output == "json":
        words = msgspec.json.encode({**msgspec.to_builtins(report), "passed": report.passed})
        sys.stdout.write(f"{words.decode()}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines(report))
    return 0 if report.passed else 1


def _progress(progress: Progress) -> None:
    _say(str(progress))


def _say(words: str) -> None:
    """Say how far it is, on standard error: standard output is the report's alone."""
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
