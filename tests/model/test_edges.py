"""The reference page of edges is whole, and needs compare by what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suture.model.edges import Edge, Need
from suture.model.names import PODS, SECRETS, ObjectKey, Resource
from suture.model.podneeds import PodNeeds
from suture.model.targets import WELL_KNOWN, group_of, resource_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "edges.md"


def sections() -> dict[str, str]:
    """Return the page's sections of edges by title."""
    parts = re.split(r"^### (.+)$", PAGE.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_edge_has_its_section() -> None:
    """And no section is of an edge that is not there."""
    assert set(sections()) == {edge.value for edge in Edge}


@pytest.mark.parametrize("edge", Edge)
def test_a_section_says_from_where(edge: Edge) -> None:
    """Which fields, and by whose word; and the table above leads to it."""
    text = sections()[edge.value]
    assert "- Source: " in text
    # Marks of four tools stand in a table, kinds of selectors in another.
    assert (
        "- Fields" in text
        or "| read from |" in text
        or "| field |" in text
        or (edge is Edge.ROUTES_TO)
    )
    assert f"[{edge}](#{edge})" in PAGE.read_text()


def test_needs_compare_by_what_they_say() -> None:
    """Read from bytes or written down, they are equal where they name the same."""
    raw = b'{"namespace":"shop","spec":{"serviceAccountName":"web"}}'
    account = Need(Edge.SERVICE_ACCOUNT, ObjectKey(Resource("", "serviceaccounts"), "shop", "web"))
    needs = PodNeeds(raw)
    assert needs == (account,)
    assert needs == PodNeeds(b'{"namespace":"shop", "spec":{"serviceAccountName":"web"}}')
    assert needs != ()
    assert needs != "text"
    assert (len(needs), needs[0], needs[:1], list(needs)) == (1, account, (account,), [account])


def test_what_is_known_is_never_guessed() -> None:
    """The table is what Kubernetes serves; for the rest the guess is that of its libraries."""
    for (group, kind), resource in WELL_KNOWN.items():
        assert resource_of(group, kind) == resource
        assert resource.group == group
    assert resource_of("", "Pod") == PODS
    assert resource_of("", "Secret") == SECRETS
    # A kind of the same name in another group is another type.
    assert resource_of("x.example", "Pod") == Resource("x.example", "pods")
    assert (group_of("apps/v1"), group_of("v1"), group_of("")) == ("apps", "", "")
