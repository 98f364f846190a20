"""`suture verify`: policies tested by their authors, before they meet a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import cyclopts

from suture.cli.terminal import Console, plain
from suture.errors import InputError

EXIT_FAILED = 1
WORD = b"Suite"
"""WHY a word first: what has it nowhere is no suite, and need not be YAML either."""


def verify(
    *paths: Path,
    run: Annotated[str | None, cyclopts.Parameter(name="--run")] = None,
    coverage: bool = True,
    require_coverage: Annotated[bool, cyclopts.Parameter(negative=())] = False,
    output: Annotated[
        Literal["table", "json", "junit"], cyclopts.Parameter(name=["--output", "-o"])
    ] = "table",
) -> int:
    """Run suites of policy tests: each case is a request to a small world, judged as live.

    A folder's suites are the YAML and JSON files in it, and in folders below, of the kind `Suite`.
    What a suite looks like is in docs/reference/suite-format.md.
    Exit status: 0 all passed, 1 some failed (or, with --require-coverage, a rule that no case made
    speak), 2 a suite or a policy cannot be read.

    Parameters
    ----------
    paths:
        Suites, or folders of them.
    run:
        Only cases of which `SUITE/TEST/CASE` contains this text.
    coverage:
        Say which rules no case made speak.
    require_coverage:
        Fail where there are such rules.
    output:
        `table` for people, `json` for programs, `junit` for CI.
    """
    from suture.cli.verifyrun import load_suites, run_suites
    from suture.cli.verifyview import as_json, as_junit, summary

    if not paths:
        raise InputError("nothing to verify: name a suite or a folder of suites")
    files = [file for path in paths for file in _suites(path)]
    began = time.perf_counter()
    result = run_suites(load_suites(files), wanted=run or "")
    seconds = time.perf_counter() - began
    if not result.outcomes:
        raise InputError(f"no case contains `{run}`" if run else "the suites have no cases")
    match output:
        case "json":
            print(as_json(result, seconds))
        case "junit":
            print(plain(as_junit(result, seconds)))
        case "table":
            console = Console()
            for line in summary(result, seconds, coverage=coverage or require_coverage):
                console.print(line, highlight=False, soft_wrap=True)
    uncovered = require_coverage and any(one.missing for one in result.coverage.values())
    return EXIT_FAILED if result.failed or uncovered else 0


def _suites(path: Path) -> Iterator[Path]:
    """Yield the suites of a path.

    Errors: InputError where there are none, DocumentError for what may be one and cannot be read.
    """
    from suture.adapters.files import SUFFIXES

    if not path.exists():
        raise InputError(f"`{path}` does not exist")
    if path.is_file():
        yield path
        return
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix in SUFFIXES and file.is_file() and _is_suite(file)
    ]
    if not found:
        raise InputError(f"folder `{path}` holds no suite (a YAML or JSON file of `kind: Suite`)")
    yield from found


def _is_suite(file: Path) -> bool:
    from suture.app.suiteformat import KIND
    from suture.wire.yaml import read_documents

    text = file.read_bytes()
    return WORD in text and any(
        document.at(("kind",)) == KIND for document in read_documents(text, str(file))
    )
