"""What is no rest yet: removals that real controllers have been told of and put off."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from suture.lab.scenarios.quiet import PENDING_S, pending_s

STAMP = "2026-01-02T03:04:05Z"
TOLD_S = datetime.fromisoformat(STAMP).timestamp()


@pytest.mark.parametrize(
    ("metadata", "after_s", "left_s"),
    [
        ({}, 0.0, 0.0),
        ({"deletionTimestamp": STAMP}, 0.0, PENDING_S["namespaces"]),
        ({"deletionTimestamp": STAMP}, 2.0, PENDING_S["namespaces"] - 2.0),
        ({"deletionTimestamp": STAMP}, 60.0, 0.0),
    ],
    ids=["stays", "told-now", "told-lately", "told-long-ago"],
)
def test_a_namespace_that_goes_is_emptied_a_moment_later(
    metadata: dict[str, Any], after_s: float, left_s: float
) -> None:
    """The world that a run finds may hold one that was told to go before anything was watched."""
    assert pending_s({"metadata": metadata}, TOLD_S + after_s) == pytest.approx(left_s)
