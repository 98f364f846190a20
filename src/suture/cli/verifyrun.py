"""Suites read from files, with the policies and worlds that they name, and run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from suture.adapters.files import load_policies
from suture.app.suiteformat import CaseFormat, SuiteFormat, TestFormat
from suture.app.suites import Coverage, Outcome, coverage_of, run_case
from suture.app.suiteworld import SuiteWorld
from suture.errors import InputError, SutureError
from suture.model.documents import read_as
from suture.policy.policyset import PolicySet
from suture.wire.yaml import read_documents


class SuiteError(InputError):
    """A suite names something that cannot be read."""

    code = "suite_unreadable"


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite and the policies that it tests."""

    path: Path
    written: SuiteFormat
    policies: PolicySet


@dataclass(slots=True)
class Result:
    """How all cases went, and what they made speak, by suite."""

    outcomes: list[Outcome] = field(default_factory=list)
    coverage: dict[str, Coverage] = field(default_factory=dict)

    @property
    def failed(self) -> list[Outcome]:
        """The cases that did not pass."""
        return [one for one in self.outcomes if one.failures]


def load_suites(files: Sequence[Path]) -> list[Suite]:
    """Read suites and their policies. Errors: DocumentError, PoliciesError, SuiteError."""
    return [_load(file) for file in files]


def _load(file: Path) -> Suite:
    documents = read_documents(_bytes(file, file), str(file))
    if len(documents) != 1:
        raise SuiteError(f"`{file}` holds {len(documents)} documents; a suite is one")
    written = read_as(documents[0], SuiteFormat)
    spec = written.spec
    paths = [file.parent / one for one in spec.policies]
    if not paths and not spec.pack:
        raise SuiteError(f"`{file}` tests nothing: name `policies`, or say `pack: true`")
    return Suite(file, written, load_policies(paths, pack=spec.pack))


def run_suites(suites: Sequence[Suite], wanted: str = "") -> Result:
    """Run the cases whose full name contains `wanted`."""
    result = Result()
    for suite in suites:
        name = suite.written.metadata.name
        coverage = result.coverage.setdefault(name, coverage_of(suite.policies))
        for test in suite.written.spec.tests:
            for case in test.cases:
                if wanted not in f"{name}/{test.name}/{case.name}":
                    continue
                began = time.perf_counter()
                failures, podless = _run(suite, test, case, coverage)
                seconds = time.perf_counter() - began
                result.outcomes.append(
                    Outcome(name, test.name, case.name, failures, seconds, podless)
                )
    return result


def _run(
    suite: Suite, test: TestFormat, case: CaseFormat, coverage: Coverage
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Run one case in a fresh world; return its failures, and the workloads without pods there.

    What cannot be read is its failure.
    """
    folder = suite.path.parent
    try:
        texts = [(_bytes(folder / one, suite.path), one) for one in test.cluster_files]
        world = SuiteWorld([*test.cluster, *case.cluster], texts)
        files = _objects(folder / case.request.file, suite.path) if case.request.file else ()
        podless = tuple(map(str, world.podless()))
        return run_case(case, world, suite.policies, coverage, files), podless
    except SutureError as error:
        return (str(error),), ()


def _objects(path: Path, suite: Path) -> list[Mapping[str, object]]:
    return [
        document.value
        for document in read_documents(_bytes(path, suite), str(path))
        if isinstance(document.value, dict)
    ]


def _bytes(path: Path, suite: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SuiteError(f"`{path}`, which `{suite}` names: {error.strerror}") from error
