"""The child that holds a baseline: what it weighs, how long it takes, and that it answers alike.

In a process of its own, since the baselines weigh ten times what the model does.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import msgspec

from suture.adapters.snapshots import load_graph
from suture.app.watches import NEVER, OF_THE_MODEL, Want
from suture.bench.child import quiet_logs, say, told
from suture.bench.documents import Documents
from suture.bench.measure import Setting, resident_bytes
from suture.bench.network import Network
from suture.bench.plain import Plain
from suture.bench.questions import A, Answerer, Asked, Model, Questions, ask, differences, pick
from suture.errors import DefectError
from suture.lab.clusters.chance import dice
from suture.model.graph import Graph, GraphView
from suture.wire.pages import Decoders
from suture.wire.trim import Trimmer


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One baseline. `compared`: questions that it answered as the model did."""

    objects: int
    grown_bytes: int
    built_cpu_s: float
    compared: int
    asked: Asked


def run(which: str, setting: Setting, folder: Path, snapshot: Path) -> Compared:
    """Build a baseline, ask it, and hold its answers against the model's.

    Errors: DefectError when one answer differs: then one of the two is wrong.
    """
    gc.disable()
    return _plain(setting, folder, snapshot) if which == "dicts" else _network(setting, snapshot)


def _plain(setting: Setting, folder: Path, snapshot: Path) -> Compared:
    documents = Documents(folder)
    before, began = resident_bytes(), time.process_time()
    plain = _filled(documents)
    gc.collect()
    grown, built = resident_bytes() - before, time.process_time() - began
    graph, questions = _model(setting, snapshot)
    model = Model(GraphView(graph))
    for namespace, selector in questions.selectors:
        if plain.reselect(namespace, selector) != model.reselect(namespace, selector):
            raise DefectError(f"baseline and model differ in what `{selector}` matches")
    _hold(plain, model, questions)
    return Compared(
        objects=len(plain.objects),
        grown_bytes=grown,
        built_cpu_s=built,
        compared=_count(questions) + len(questions.selectors),
        asked=ask(plain, questions, plain.reselect),
    )


def _network(setting: Setting, snapshot: Path) -> Compared:
    graph, questions = _model(setting, snapshot)
    view = GraphView(graph)
    gc.collect()
    before, began = resident_bytes(), time.process_time()
    network = Network(view)
    gc.collect()
    grown, built = resident_bytes() - before, time.process_time() - began
    _hold(network, Model(view), questions)
    return Compared(
        objects=len(graph),
        grown_bytes=grown,
        built_cpu_s=built,
        compared=_count(questions),
        asked=ask(network, questions),
    )


def _filled(documents: Documents) -> Plain:
    """Return the objects that the mirror would keep, trimmed as it trims them."""
    plain, trimmer = Plain(), Trimmer()
    for resource, gvk in documents.kinds.items():
        if resource in NEVER:
            continue
        full = OF_THE_MODEL.get(resource, Want()).full
        page = Decoders(trimmer.reader(resource, gvk, full=full)).page
        for body in documents.pages(resource, partial=not full):
            for thing in page(body).objects:
                plain.add(thing)
    return plain


def _model(setting: Setting, snapshot: Path) -> tuple[Graph, Questions]:
    graph = load_graph(snapshot)
    return graph, pick(GraphView(graph), dice(setting.seed, "questions"), setting.calls)


def _hold(baseline: Answerer[A], model: Model, questions: Questions) -> None:
    found = differences(baseline, model, questions)
    if found:
        raise DefectError(
            f"baseline and model differ in {len(found)} answers, among them {found[0]}"
        )


def _count(questions: Questions) -> int:
    return len(questions.pods) + len(questions.services) + len(questions.deployments) + 3


if __name__ == "__main__":
    quiet_logs()
    say(run(sys.argv[4], told(), Path(sys.argv[2]), Path(sys.argv[3])))
