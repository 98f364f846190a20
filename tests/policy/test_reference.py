"""The reference is true: its examples compile, and it leaves nothing of the pack out."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from suture.adapters.files import load_policies, read_pack
from suture.impact.effects import NAMES
from suture.model.documents import Document
from suture.policy.case import VARIABLES
from suture.policy.compile import compile_policies
from suture.policy.format import (
    ConstraintSpec,
    MatchFormat,
    SchemaFormat,
    TemplateSpec,
    ViolationFormat,
)
from suture.wire.yaml import read_documents

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
FORMAT = (REFERENCE / "policy-format.md").read_text(encoding="utf-8")
POLICIES = (REFERENCE / "policies.md").read_text(encoding="utf-8")


def test_the_examples_compile() -> None:
    """The template and the constraint of the format's page are a policy."""
    blocks = re.findall(r"```yaml\n(apiVersion.*?)```", FORMAT, re.DOTALL)
    documents = [d for block in blocks for d in read_documents(block, "policy-format.md")]
    [bound] = compile_policies(documents).constraints
    assert bound.template == "few-removed"


@pytest.mark.parametrize(
    "struct", [TemplateSpec, ConstraintSpec, MatchFormat, ViolationFormat, SchemaFormat]
)
def test_every_field_of_the_format_is_described(struct: type[msgspec.Struct]) -> None:
    missing = [
        field.encode_name
        for field in msgspec.structs.fields(struct)
        if f"`{field.encode_name}`" not in FORMAT and f"`{field.encode_name}." not in FORMAT
    ]
    assert not missing


def test_everything_that_rules_read_is_described() -> None:
    names = [name for name in VARIABLES if not name.startswith("effects.")]
    assert not [name for name in names if f"`{name}`" not in FORMAT]
    for kind, effect in NAMES.items():
        assert f"| `{effect}` |" in FORMAT
        fields = [field.encode_name for field in msgspec.structs.fields(kind)]
        assert not [field for field in fields if f"`{field}`" not in FORMAT]


def test_every_policy_has_a_page_with_its_codes_and_parameters() -> None:
    """The index leads to each, and each tells of every rule, parameter and budget."""
    pages = {
        one.stem: one.read_text(encoding="utf-8") for one in (REFERENCE / "policies").iterdir()
    }
    assert sorted(pages) == [bound.name for bound in load_policies().constraints]
    assert [name for name in pages if f"({_link(name)})" not in POLICIES] == []
    for document in read_pack():
        if document.at(("kind",)) != "PolicyTemplate":
            continue
        page = pages[str(document.at(("metadata", "name")))]
        assert [
            code for code in _named(document, "violations", "code") if f"`{code}`" not in page
        ] == []
        budgets = _named(document, "budgets", "parameter") + _named(document, "budgets", "byKey")
        properties = document.at(("spec", "parameters", "openAPIV3Schema", "properties"))
        parameters = [*(properties if isinstance(properties, dict) else {}), *budgets]
        assert [one for one in parameters if f"| `{one}` |" not in page] == []


def _link(name: str) -> str:
    return f"policies/{name}.md"


def _named(document: Document, part: str, field: str) -> list[str]:
    entries = document.at(("spec", part))
    return [one[field] for one in entries if field in one] if isinstance(entries, list) else []
