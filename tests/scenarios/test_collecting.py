"""A story of a few seconds waits until the garbage collector knows the kinds of its world."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from suture.lab.scenarios.collecting import FOLLOWED_S, unfollowed_s

STAMP = "2026-01-02T03:04:05Z"
MADE_S = datetime.fromisoformat(STAMP).timestamp()


def definition(kind: str = "Widget") -> dict[str, Any]:
    """Return a definition as it was made."""
    return {
        "kind": "CustomResourceDefinition",
        "metadata": {"creationTimestamp": STAMP},
        "spec": {"group": "example.com", "names": {"kind": kind}},
    }


def owned(kind: str = "Widget", group: str = "example.com/") -> dict[str, Any]:
    """Return an object with an owner."""
    owner = {"apiVersion": f"{group}v1", "kind": kind, "name": "w"}
    return {"kind": "Secret", "metadata": {"ownerReferences": [owner]}}


def test_what_a_new_kind_owns_is_waited_for() -> None:
    """From the moment of the definition on, and not a second time."""
    made = [definition(), owned()]

    assert unfollowed_s(made, [], MADE_S + 8) == pytest.approx(FOLLOWED_S - 8)
    assert unfollowed_s(made, [], MADE_S + 100) == 0


def test_what_a_step_will_write_counts_too() -> None:
    """However deep an owner stands in it."""
    assert unfollowed_s([definition()], [{"value": owned()}], MADE_S) > 0


@pytest.mark.parametrize(
    "made",
    [
        pytest.param([definition()], id="nothing-owned"),
        pytest.param([definition("Gadget"), owned()], id="owned-by-another-kind"),
        pytest.param([definition("Deployment"), owned("Deployment", "apps/")], id="another-group"),
        pytest.param([owned("Deployment", "apps/")], id="nothing-defined"),
    ],
)
def test_nothing_is_waited_for_where_the_collector_knows(made: list[dict[str, Any]]) -> None:
    """It has followed the kinds of every cluster since it started."""
    assert unfollowed_s(made, [], MADE_S) == 0
