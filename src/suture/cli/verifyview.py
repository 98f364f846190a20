"""How policy tests went: lines for people, JSON, and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

import msgspec
from rich.markup import escape

from suture.cli.verifyrun import Result

NAMED = 5
"""LIMIT: workloads named in one line of a terminal."""


def summary(result: Result, seconds: float, *, coverage: bool) -> Iterator[str]:
    """Yield lines for people: what failed and why, what was not tried, how many passed."""
    for one in result.failed:
        yield f"[red]failed[/] {escape(one.suite)} / {escape(one.test)} / {escape(one.case)}"
        for why in one.failures:
            yield f"       {escape(why)}"
    for (suite, test), names in _podless(result).items():
        some = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        yield f"[yellow]no pods[/] {escape(suite)} / {escape(test)}: {escape(some)}"
        yield "       a world has no controllers: what is lost with pods shows only where they are"
    if coverage:
        for suite, covered in result.coverage.items():
            total, missing = len(covered.rules), covered.missing
            share = f"{total - len(missing)} of {total} rules spoke"
            yield f"{escape(suite)}: {share}" + (
                f"; never: [yellow]{escape(', '.join(map(str, missing)))}[/]" if missing else ""
            )
    passed = len(result.outcomes) - len(result.failed)
    colour = "red" if result.failed else "green"
    yield f"[{colour}]{passed} of {len(result.outcomes)} cases passed[/] in {seconds:.1f} s"


def _podless(result: Result) -> dict[tuple[str, str], list[str]]:
    """Return the workloads that want pods and have none, by suite and test."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in result.outcomes:
        if one.podless:
            known = found.setdefault((one.suite, one.test), [])
            known += [name for name in one.podless if name not in known]
    return found


def as_json(result: Result, seconds: float) -> str:
    """Return all outcomes and the coverage."""
    document = {
        "passed": len(result.outcomes) - len(result.failed),
        "failed": len(result.failed),
        "seconds": round(seconds, 3),
        "cases": [
            {
                "suite": one.suite,
                "test": one.test,
                "case": one.case,
                "passed": not one.failures,
                "failures": list(one.failures),
                "seconds": round(one.seconds, 4),
            }
            for one in result.outcomes
        ],
        "podless": [
            {"suite": suite, "test": test, "workloads": names}
            for (suite, test), names in _podless(result).items()
        ],
        "coverage": {
            suite: {
                "rules": sorted(map(str, covered.rules)),
                "never": list(map(str, covered.missing)),
            }
            for suite, covered in result.coverage.items()
        },
    }
    return msgspec.json.encode(document).decode()


def as_junit(result: Result, seconds: float) -> str:
    """Return all outcomes as JUnit XML, a suite each."""
    root = ET.Element(
        "testsuites",
        tests=str(len(result.outcomes)), failures=str(len(result.failed)), time=f"{seconds:.3f}",
    )  # fmt: skip
    for name in dict.fromkeys(one.suite for one in result.outcomes):
        cases = [one for one in result.outcomes if one.suite == name]
        suite = ET.SubElement(
            root, "testsuite", name=name, tests=str(len(cases)),
            failures=str(sum(bool(one.failures) for one in cases)),
            time=f"{sum(one.seconds for one in cases):.3f}",
        )  # fmt: skip
        for one in cases:
            case = ET.SubElement(
                suite, "testcase", classname=f"{name}.{one.test}", name=one.case,
                time=f"{one.seconds:.4f}",
            )  # fmt: skip
            if one.failures:
                failure = ET.SubElement(case, "failure", message=one.failures[0])
                failure.text = "\n".join(one.failures)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")
