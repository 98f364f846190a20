"""A source loaded and measured: what its model takes in memory, by how the process grew."""

from __future__ import annotations

from pathlib import Path

from suture.adapters.snapshots import clock
from suture.app.modelstats import ModelStats, stats_of
from suture.cli.modelsources import load
from suture.wiring import resident_bytes


def measured(source: str | None, kubeconfig: Path | None, context: str | None) -> ModelStats:
    """Load a graph and return its numbers."""
    before = resident_bytes()
    loaded = load(source, kubeconfig, context)
    grown = max(resident_bytes() - before, 0)
    parts = loaded.graph.memory()
    memory = {**parts, "around them": max(grown - sum(parts.values()), 0)}
    return stats_of(loaded.graph, loaded.where, memory, clock())
