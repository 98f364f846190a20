"""What `suture check` found: a table, JSON, SARIF, or a KRM ResourceList."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import yaml
from rich import box
from rich.markup import escape
from rich.table import Table

from suture import __version__
from suture.cli.checkrun import Checked, Finding
from suture.cli.terminal import Console

SEVERITY = {"error": "error", "warning": "warning", "note": "info"}
"""KRM's words for SARIF's levels."""

COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}


def show(checked: Checked, output: Literal["table", "json", "sarif", "krm"]) -> None:
    """Print what was found, in the form that was asked for or that came in."""
    stderr = Console(stderr=True, soft_wrap=True)
    if output == "krm" or (output == "table" and checked.resource_list is not None):
        print(_krm(checked), end="")
    elif output == "json":
        print(msgspec.json.encode(document(checked)).decode())
    elif output == "sarif":
        print(msgspec.json.format(msgspec.json.encode(sarif(checked)), indent=2).decode())
    else:
        _print(checked, Console())
    for problem in checked.problems:
        stderr.print(f"[red]not checked[/]: {escape(problem)}", highlight=False)


def _print(checked: Checked, console: Console) -> None:
    if checked.found:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for name in ("", "where", "what", "policy", "why"):
            table.add_column(name, overflow="fold")
        for one in checked.found:
            table.add_row(
                f"[{COLOURS[one.level]}]{one.level}[/]",
                escape(_where(one)),
                escape(str(one.key)),
                f"{escape(one.policy)}\n[dim]{escape(one.code)}[/]",
                escape(one.message),
            )
        console.print(table)
    errors = sum(one.level == "error" for one in checked.found)
    warnings = sum(one.level == "warning" for one in checked.found)
    colour = "red" if errors else "yellow" if warnings else "green"
    console.print(
        f"[{colour}]{checked.objects:,} objects checked: {errors} would be refused, "
        f"{warnings} warnings[/]",
        highlight=False,
    )


def _where(one: Finding) -> str:
    return one.file if one.line is None else f"{one.file}:{one.line}"


def document(checked: Checked) -> dict[str, Any]:
    """Return everything as JSON has it."""
    return {
        "objects": checked.objects,
        "findings": [
            {
                "level": one.level,
                "policy": one.policy,
                "code": one.code,
                "message": one.message,
                "object": {
                    "apiVersion": one.api_version,
                    "kind": one.kind,
                    "namespace": one.key.namespace,
                    "name": one.key.name,
                },
                "file": one.file,
                "line": one.line,
            }
            for one in checked.found
        ],
        "problems": checked.problems,
    }


def sarif(checked: Checked) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log with one run."""
    rules = {f"{one.policy}/{one.code}": one for one in checked.found}
    described = {} if checked.policies is None else {
        bound.name: bound.template for bound in checked.policies.constraints
    }  # fmt: skip
    words = {} if checked.policies is None else {
        one.name: one.description for one in checked.policies.templates
    }  # fmt: skip
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "suture",
                        "version": __version__,
                        "rules": [
                            {
                                "id": name,
                                "shortDescription": {
                                    "text": words.get(described.get(one.policy, ""), "")
                                    or one.policy
                                },
                            }
                            for name, one in rules.items()
                        ],
                    }
                },
                "results": [_result(one) for one in checked.found],
            }
        ],
    }


def _result(one: Finding) -> dict[str, Any]:
    region = {} if one.line is None else {"region": {"startLine": one.line}}
    return {
        "ruleId": f"{one.policy}/{one.code}",
        "level": one.level,
        "message": {"text": f"{one.key}: {one.message}"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": one.file}, **region}}],
    }


def _krm(checked: Checked) -> str:
    """Return a ResourceList: what came in, with the findings among its results."""
    whole = checked.resource_list or {
        "apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [],
    }  # fmt: skip
    results = [
        {
            "message": one.message,
            "severity": SEVERITY[one.level],
            "resourceRef": {
                "apiVersion": one.api_version,
                "kind": one.kind,
                "name": one.key.name,
                "namespace": one.key.namespace,
            },
            "tags": {"policy": one.policy, "code": one.code},
        }
        for one in checked.found
    ]
    return yaml.safe_dump({**whole, "results": results}, sort_keys=False)
