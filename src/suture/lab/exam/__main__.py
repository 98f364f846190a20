"""Runs the examination: `python -m suture.lab.exam --offline`; see `make exam`.

No command of `suture`, since it tries Suture and not a cluster. Exit status: 0 the figures are
reached, 1 they are not, 2 a file cannot be read.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import structlog

from suture.errors import InputError
from suture.lab import assets
from suture.lab.exam.marks import Paper, failures, line, prevailing
from suture.lab.exam.page import page
from suture.lab.exam.result import BASELINES, COLUMNS, SUTURE, TITLES, Column, Result
from suture.lab.exam.sitting import key_of, sit_offline, sit_on_lab
from suture.lab.exam.store import Results
from suture.lab.plane import Plane
from suture.lab.progress import Progress
from suture.lab.scenarios.reading import Loaded, load

Task = tuple[Loaded, Column, str]
"""A scenario, a column, and the key of what its result depends on."""


def main() -> int:
    """Run what was asked for; return the exit status."""
    asked = _arguments()
    _quiet()
    try:
        loaded = [load(path) for path in files_of(Path(asked.scenarios))]
    except InputError as error:
        _say(f"error: {error}")
        return 2
    if not loaded:
        _say(f"error: `{asked.scenarios}` holds no scenario file")
        return 2
    chosen = _shard([one for one in loaded if _wanted(one, asked.only)], asked.shard)
    columns: list[Column] = [one for one in COLUMNS if one in asked.columns.split(",")]
    folder = Path(asked.scenarios)
    offline, lab = Results(folder, "offline"), Results(folder, "lab")
    for results in (offline, lab):
        results.keep(frozenset(one.name for one in loaded))
    if asked.offline:
        _sit_offline(_due(chosen, columns, offline, anew=asked.anew), offline, asked.jobs)
    else:
        # WHY: the baselines need no control plane, and one of them could not be had on it.
        others = [one for one in columns if one in BASELINES and one != "none"]
        _sit_offline(_due(chosen, others, offline, anew=asked.anew), offline, asked.jobs)
        real = [one for one in columns if one not in others]
        _sit_on_lab(_due(chosen, real, lab, anew=asked.anew), lab, asked.speed)
    papers = [_paper(one, offline, lab) for one in loaded]
    failed = failures(papers)
    Path(asked.page).write_text(page(papers, failed, str(folder)))
    _tell([one for one in papers if any(one.name == c.name for c in chosen)], failed)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m suture.lab.exam", description=__doc__)
    parser.add_argument("--scenarios", default="scenarios", help="the folder of scenario files")
    parser.add_argument("--offline", action="store_true", help="on predicted controllers")
    parser.add_argument("--columns", default=",".join(COLUMNS), help="which of the columns")
    parser.add_argument("--only", default="", help="files whose name or id begins so, by commas")
    parser.add_argument("--shard", default="1/1", help="`2/4`: the second of four parts")
    parser.add_argument("--jobs", type=int, default=2, help="offline runs at once")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="divides paces and windows, on the lab"
    )
    parser.add_argument("--anew", action="store_true", help="run what has not changed too")
    parser.add_argument("--page", default="docs/exam.md", help="where the page is written")
    return parser.parse_args()


def files_of(folder: Path) -> list[Path]:
    """Return the scenario files of a folder, those of its subfolders included."""
    return sorted(path for path in folder.rglob("*.yaml") if path.parent.name != "files")


def _wanted(loaded: Loaded, only: str) -> bool:
    wanted = tuple(one for one in only.split(",") if one)
    return not wanted or loaded.name.startswith(wanted) or loaded.scenario.id in wanted


def _shard(loaded: list[Loaded], shard: str) -> list[Loaded]:
    number, _, of = shard.partition("/")
    return loaded[int(number) - 1 :: int(of)]


def _due(
    loaded: Sequence[Loaded], columns: Sequence[Column], results: Results, *, anew: bool
) -> list[Task]:
    """Return what has to run: all that changed since its result was kept."""
    due = []
    for one in loaded:
        for column in columns:
            known, key = results.get(one.name, column), key_of(one, column, results.place)
            if anew or known is None or known.key != key:
                due.append((one, column, key))
    return due


def _sit_offline(due: Sequence[Task], results: Results, jobs: int) -> None:
    for done in _told(due, _pooled(due, jobs)):
        results.put(done)


def _pooled(due: Sequence[Task], jobs: int) -> Iterator[Result]:
    with ProcessPoolExecutor(max_workers=jobs, initializer=_quiet) as pool:
        for future in as_completed([pool.submit(sit_offline, *one) for one in due]):
            yield future.result()


def _sit_on_lab(due: Sequence[Task], results: Results, speed: float) -> None:
    if not due:
        return
    with Plane.up("exam", binaries=assets.find(report=_progress), report=_progress) as plane:
        runs = (sit_on_lab(*one, plane, speed=speed) for one in due)
        for done in _told(due, runs):
            results.put(done)


def _told(due: Sequence[Task], runs: Iterator[Result]) -> Iterator[Result]:
    began = time.monotonic()
    for number, result in enumerate(runs, 1):
        spent = time.monotonic() - began
        words = f" ({result.words})" if result.verdict == "void" else ""
        _say(
            f"{number} of {len(due)}, {spent:.0f} s: {result.scenario} {result.column}: "
            f"{result.verdict}{words}"
        )
        yield result


def _paper(loaded: Loaded, offline: Results, lab: Results) -> Paper:
    """Return a file with its results: what is of today before what is not, the lab's first."""
    found: dict[Column, Result] = {}
    stale: set[Column] = set()
    for column in COLUMNS:
        known = [
            (result.key == key_of(loaded, column, results.place), result)
            for results in (lab, offline)
            if (result := results.get(loaded.name, column)) is not None
        ]
        fresh = [result for of_today, result in known if of_today]
        if known and not fresh:
            stale.add(column)
        if known:
            of_one_age = fresh or [result for _, result in known]
            found[column] = prevailing(loaded.scenario, column, of_one_age)
    return Paper(name=loaded.name, scenario=loaded.scenario, results=found, stale=frozenset(stale))


def _tell(papers: Sequence[Paper], failed: Sequence[str]) -> None:
    """Print the figures, and each file that did not come out well."""
    for paper in papers:
        for column in SUTURE:
            result = paper.results.get(column)
            if result is not None and not paper.good(column):
                _print(f"{paper.name} {column}: {result.verdict} {result.words}".rstrip())
    for column in COLUMNS:
        marks = line(papers, column)
        _print(
            f"{TITLES[column]}: {marks.stopped} of {marks.incidents} stopped "
            f"({marks.before} before harm, {marks.within} within bound), "
            f"{marks.disturbed} of {marks.benign} benign disturbed, "
            f"{marks.false_refusals} false refusals of {marks.benign_writes} benign writes"
        )
    for words in failed:
        _print(f"not reached: {words}")


def _quiet() -> None:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )


def _print(words: str) -> None:
    sys.stdout.write(f"{words}\n")


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


def _progress(progress: Progress) -> None:
    _say(str(progress))


if __name__ == "__main__":
    sys.exit(main())
