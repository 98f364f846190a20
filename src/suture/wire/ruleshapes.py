"""The projection of ReferenceRules as the cluster stores them.

Apart from the other kinds of the API, as these are Suture's own. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from suture.errors import DocumentError
from suture.model import documents
from suture.model.objects import Facts
from suture.model.ruleformat import API_VERSION, KIND, read_rule
from suture.model.rules import RuleFacts
from suture.wire.projections import plain
from suture.wire.shapes import ABSENT, Document, Meta


class RuleDocument(Document, gc=False):
    """A ReferenceRule; where a list is of them alone, they do not say their version."""

    api_version: str = API_VERSION
    spec: msgspec.Raw = ABSENT


def reference_rule(doc: RuleDocument, _namespace: str, _labels: Mapping[str, str]) -> Facts:
    """Return what a ReferenceRule says, or what is wrong with it."""
    name = (doc.metadata or Meta()).name
    whole = {
        "apiVersion": doc.api_version,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": None if doc.spec is ABSENT else plain(doc.spec),
    }
    try:
        return RuleFacts(read_rule(documents.Document(f"{KIND} {name}", whole)))
    except DocumentError as error:
        return RuleFacts(problem=str(error))
