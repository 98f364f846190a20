"""The Service by which all pods look up names, where it goes and nothing else answers.

Beside `resolving`, which reads what it answers. No pod names it in a way that the API server knows:
its address is in what each kubelet was told. So whatever keeps it, releases too, takes names from
the whole cluster with it. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.scene import Scene
from suture.impact.traffic.networkpolicies import is_dns
from suture.model.names import KUBE_SYSTEM, SERVICES

ASKED: Final = 64
"""LIMIT: Services that go and are asked; more of them are told of by their number."""


def last_to_answer(scene: Scene, rows: list[int]) -> int:
    """Return how many Services go that answer for names, where none stays that does; by row."""
    view = scene.view
    going = [row for row in rows[:ASKED] if is_dns(view, row) and view.serving_count(row)]
    if not going:
        return 0
    others = view.rows(SERVICES, KUBE_SYSTEM)
    stays = any(
        scene.stays(one) and is_dns(view, one) and view.serving_count(one) for one in others
    )
    return 0 if stays else len(going)
