"""The reference pages name everything that the code has, and the README what can be run."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import cyclopts
import msgspec
import pytest

from support import following
from suture.adapters.files import load_policies
from suture.adapters.metrics import Metrics
from suture.app import suiteformat
from suture.cli.main import GROUPS, app
from suture.cli.serve import serve
from suture.policy.rules import POLICY_ERROR

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"


def commands() -> list[str]:
    """Return every command as it is typed, those of groups included."""
    found: list[str] = []
    for name in GROUPS:
        resolved = app[name]
        inner = [
            one
            for one in resolved
            if not one.startswith("-") and isinstance(resolved, cyclopts.App)
        ]
        found += [f"suture {name} {one}" for one in inner] or [f"suture {name}"]
    return found


@pytest.mark.parametrize("command", commands())
def test_every_command_is_on_the_map(command: str) -> None:
    """A command that nobody can find is not there."""
    assert f"`{command}`" in (REFERENCE / "commands.md").read_text()


def test_every_reason_code_is_explained() -> None:
    """Codes of rules, budgets, quarantine and doubt."""
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    codes = {
        rule.code for bound in load_policies().constraints for rule in bound.rules
        if hasattr(rule, "code")
    }  # fmt: skip
    codes |= set(re.findall(r'"(doubt_[a-z]+)"', source))
    codes |= {POLICY_ERROR, "budget_exhausted", "quarantined"}
    page = (REFERENCE / "reason-codes.md").read_text()

    assert {code for code in codes if f"`{code}`" not in page} == set()
    assert len(codes) > 15


def test_every_setting_of_serve_is_explained() -> None:
    """By the flag that sets it."""
    page = (REFERENCE / "serve.md").read_text()
    flags = {f"--{name.replace('_', '-')}" for name in inspect.signature(serve).parameters}

    assert {flag for flag in flags if f"`{flag}`" not in page} == set()


def test_every_field_of_a_suite_is_explained() -> None:
    """By its name, as it is written."""
    page = (REFERENCE / "suite-format.md").read_text()
    fields = {
        field.encode_name
        for kind in (
            suiteformat.SuiteSpec, suiteformat.TestFormat, suiteformat.CaseFormat,
            suiteformat.RequestFormat, suiteformat.ExpectFormat, suiteformat.FindingFormat,
        )
        for field in msgspec.structs.fields(kind)
    }  # fmt: skip
    verbs = get_args(suiteformat.Verb)

    assert {one for one in {*fields, *verbs} if f"`{one}`" not in page} == set()
    assert len(fields) > 20
    assert len(verbs) > 5


def test_every_metric_is_explained() -> None:
    """By its name as Prometheus lists families."""
    metrics = Metrics()
    metrics.watch_model(lambda: 0, lambda: 0, dict, lambda: 0, lambda: 0)
    metrics.watch_freshness(following.World().mirror)
    metrics.watch_server(lambda: 0, lambda: datetime.fromtimestamp(0, UTC))
    page = (REFERENCE / "metrics.md").read_text()

    names = {family.name for family in metrics.registry.collect()}

    assert {name for name in names if f"`{name}`" not in page} == set()


def test_every_policy_has_its_section() -> None:
    """Each template of the pack is described where the README points to."""
    page = (REFERENCE / "policies.md").read_text()

    missing = {one.name for one in load_policies().templates if one.name not in page}

    assert missing == set()


@pytest.mark.parametrize("page", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"])
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page is a file of the repository."""
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text())

    assert [one for one in targets if not (page.parent / one).exists()] == []
