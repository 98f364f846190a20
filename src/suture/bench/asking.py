"""The child that is asked: how long the model's answers take, and what its parts weigh.

In a process of its own that loads a snapshot, so that no answer is warm from a measurement before.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from suture.adapters.snapshots import load_graph
from suture.bench.child import quiet_logs, say, told
from suture.bench.measure import Setting
from suture.bench.questions import Asked, Model, ask, pick
from suture.lab.clusters.chance import dice
from suture.model.graph import GraphView


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The model's times, and what each of its parts takes in memory, in bytes."""

    asked: Asked
    objects: int
    memory: Mapping[str, int]


def run(setting: Setting, snapshot: Path) -> Answered:
    """Load and ask."""
    graph = load_graph(snapshot)
    gc.collect()
    gc.freeze()
    gc.disable()
    view = GraphView(graph)
    model = Model(view)
    questions = pick(view, dice(setting.seed, "questions"), setting.calls)
    ask(model, questions, model.reselect)  # once before it counts: code is warm, data is not
    return Answered(
        asked=ask(model, questions, model.reselect), objects=len(graph), memory=graph.memory()
    )


if __name__ == "__main__":
    quiet_logs()
    say(run(told(), Path(sys.argv[2])))
