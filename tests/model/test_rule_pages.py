"""The pages about reference rules: what they show can be applied, and nothing is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suture.model.ruleformat import read_rules
from suture.model.rules import By, Form, Place
from suture.wire.fieldrules import OBJECTS, TEXTS
from suture.wire.yaml import read_documents

DOCS = Path(__file__).parent.parent.parent / "docs"
REFERENCE = DOCS / "reference" / "reference-rules.md"
HOW_TO = DOCS / "how-to" / "references.md"


@pytest.mark.parametrize("page", [REFERENCE, HOW_TO], ids=lambda page: page.stem)
def test_every_rule_that_is_shown_can_be_applied(page: Path) -> None:
    """Each example is read without complaint."""
    examples = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(examples) >= 3
    for text in examples:
        assert read_rules(read_documents(text, page.name))


def test_every_word_of_a_rule_is_explained() -> None:
    """Forms, places, ways to know a child, and the field names that schemas are searched for."""
    page = REFERENCE.read_text()
    words = {*By, *Form, *Place, *TEXTS, *OBJECTS}
    assert {word for word in words if f"`{word}`" not in page} == set()
