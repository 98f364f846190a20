"""The demo tells the truth: what is lost without Suture, what is not with it, and how it looks."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from suture.adapters.files import load_policies
from suture.cli.demo import demo
from suture.cli.demopicture import picture
from suture.cli.demoview import curve, show, show_lab
from suture.lab.clusters import Cluster
from suture.lab.clusters.fronts import BALANCER_LABEL
from suture.lab.clusters.size import TINY
from suture.lab.demo import Demo, dead_and_alive, play, sampled
from suture.lab.demolab import LabDemo
from suture.lab.incident import START, Replay, selector_of
from suture.lab.scenarios.report import GuardMode, HarmFound, Report
from suture.model.graph import Graph, GraphView
from suture.model.selectors import Selector

GOLDEN = Path(__file__).parent / "data" / "demo.txt"
SEED = 7


@pytest.fixture(scope="module")
def played() -> Demo:
    return play(TINY, seed=SEED)


def steady(played: Demo) -> Demo:
    """Return what does not depend on the machine: times of this one replaced by round ones."""
    replace = msgspec.structs.replace
    return replace(
        played,
        load_s=1.0,
        without=replace(played.without, median_us=200.0, p99_us=400.0),
        guarded=replace(played.guarded, median_us=200.0, p99_us=400.0),
    )


def drawn(played: Demo, *, width: int = 80, encoding: str = "utf-8", color: bool = False) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    console = Console(
        file=file, width=width, force_terminal=color, no_color=not color, legacy_windows=False
    )
    show(played, console)
    return raw.getvalue().decode(encoding)


def test_without_suture_everything_is_lost(played: Demo) -> None:
    """Every Service goes, and then no pod can be created nearly anywhere."""
    run = played.without
    assert (run.lost, run.population) == (TINY.services - 1, TINY.services - 1)
    assert run.refused == 0
    assert run.endpoints_lost == run.endpoints > 0
    assert run.fail_closed_broken == run.fail_closed > 0
    assert run.namespaces_blocked > run.namespaces * 0.9
    assert run.pods_stranded > TINY.pods * 0.7
    assert run.alive[-1] == 0


def test_with_suture_hardly_any(played: Demo) -> None:
    """At most ten are lost, idle ones included, none behind a webhook that fails closed."""
    run = played.guarded
    assert run.lost <= 10
    assert run.fail_closed_broken == 0
    assert run.namespaces_blocked == run.pods_stranded == 0
    assert run.refused == run.writes - run.lost - 1
    assert sum(run.refused_by.values()) == run.refused
    assert run.first_refusal is not None
    assert run.first_refusal.write <= 20
    assert played.held


def test_the_refusal_says_all_that_an_operator_needs(played: Demo) -> None:
    """What would break, numbers, policy, decision id, what to do, within 300 characters."""
    refusal = played.guarded.first_refusal
    assert refusal is not None
    message = refusal.message
    assert message.startswith("suture: ")
    assert any(char.isdigit() for char in message)
    assert f"[{refusal.constraint}]" in message
    assert "(decision " in message
    assert "run: suture explain" in message
    assert len(message) <= 300


def test_collections_lose_nothing(played: Demo) -> None:
    """One `deletecollection` a namespace takes no Service, with the authorizer and without."""
    for variant in (played.collection_authorized, played.collection_admitted):
        assert variant.lost == 0
        assert variant.refused > 0


def test_the_twin_is_let_through(played: Demo) -> None:
    """All Services of a Balancer that is being deleted go: more of them than the budget allows."""
    twin = played.twin
    assert (twin.refused, twin.lost) == (0, 0)
    assert twin.writes == twin.population == TINY.shared > 5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_hold_too(seed: int) -> None:
    """The demo does not depend on one lucky cluster."""
    assert play(TINY, seed=seed).held


def test_a_replay_gives_its_graph_back() -> None:
    """The next run starts from the same cluster, whatever this one removed."""
    cluster = Cluster(TINY, seed=SEED)
    graph = cluster.graph(START)

    def state(graph: Graph) -> dict[str, object]:
        kept = msgspec.structs.replace
        return {thing.uid: kept(thing, needs=tuple(thing.needs)) for thing in graph}

    before, policies = state(graph), load_policies()
    with Replay(graph, policies, guarded=False) as replay:
        replay.mark_deleted(cluster.trigger)
        replay.delete_each(replay.services(Selector()))
        assert len(graph) < len(before)
    assert state(graph) == before
    assert dead_and_alive(GraphView(graph))[0] == []


def test_a_long_label_value_means_everything() -> None:
    """What the operator's client library did, and what it should have done with a shorter one."""
    assert selector_of({BALANCER_LABEL: "x" * 64}) == Selector()
    assert selector_of({BALANCER_LABEL: "x" * 63}) == Selector.of({BALANCER_LABEL: "x" * 63})


def test_how_it_looks(played: Demo) -> None:
    """In 80 columns, without colour; read the file, it is what people see."""
    text = "\n".join(line.rstrip() for line in drawn(steady(played)).splitlines()) + "\n"
    assert max(map(len, text.splitlines())) <= 80
    if not GOLDEN.exists():
        GOLDEN.write_text(text, encoding="utf-8")
        pytest.fail("written anew: look at it, then commit it")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_picture_needs_nothing_from_elsewhere(played: Demo) -> None:
    """The README's picture shows the same, and loads no font from the network."""
    drawn = picture(steady(played))
    assert drawn.startswith("<svg")
    assert "without&#160;Suture" in drawn
    assert "url(http" not in drawn


def test_it_can_be_read_without_unicode(played: Demo) -> None:
    """A terminal that knows ASCII only gets another drawing, not an error."""
    text = drawn(steady(played), encoding="ascii")
    assert "####" in text


def test_colour_says_nothing_alone(played: Demo) -> None:
    """With colour the words and shapes are the same."""
    coloured = drawn(steady(played), color=True)
    assert "\x1b[" in coloured
    plain = Console(file=io.StringIO(), width=80)
    show(steady(played), plain)


def test_json_has_the_numbers(played: Demo) -> None:
    """Programs read what people see."""
    found = json.loads(msgspec.json.encode(played))
    assert found["without"]["lost"] == played.without.lost
    assert found["guarded"]["first_refusal"]["message"]
    assert found["twin"]["refused"] == 0


def test_curves_end_where_the_values_do() -> None:
    """A curve is sampled to its last value, and a falling one is drawn falling."""
    assert sampled(list(range(1000, 0, -1)))[-1] == 1
    assert sampled([3, 2, 1]) == (3, 2, 1)
    lines = curve([8, 6, 4, 2, 0], 8, 5, plain=True)
    assert [line.count("#") for line in lines] == sorted(line.count("#") for line in lines)
    assert lines[-1].startswith("####")


def lab_report(mode: GuardMode, *, lost: int, refused: int, **more: Any) -> Report:
    return Report(
        scenario="load-balancer-operator",
        guard=mode,
        kind="incident",
        writes=1002,
        refused=refused,
        would_refuse=0,
        false_refusals=0,
        first_refused_write=3 if refused else None,
        harm=HarmFound(
            population=1002, lost=lost, by_kind={}, probes={"pod_creation_blocked": lost // 10}
        ),
        verdict="bounded" if refused else "missed",
        added_latency_ms=None,
        expected=True,
        **more,
    )


def test_how_the_lab_run_looks() -> None:
    """Both runs side by side, with what the operator reads; a void run says why."""
    played = LabDemo(
        lab_report("off", lost=1002, refused=0),
        lab_report("enforce", lost=10, refused=992, reasons=("suture: no",), void_reason="why"),
    )
    out = io.StringIO()
    show_lab(played, Console(file=out, width=80))
    text = out.getvalue()
    assert "1,002 of 1,002" in text
    assert "10 of 1,002" in text
    assert "Pod creation blocked" in text
    assert "suture: no" in text
    assert "void: why" in text
    assert played.held


def test_the_bundled_demo_holds_at_full_size(capsys: pytest.CaptureFixture[str]) -> None:
    """At most one in a hundred Services is lost, within 20 s of two cores, as programs read it."""
    began = time.process_time()
    assert demo(output="json") == 0
    assert time.process_time() - began < 20
    found = json.loads(capsys.readouterr().out)
    assert (found["nodes"], found["pods"], found["services"]) == (2_000, 30_000, 2_000)
    assert found["without"]["lost"] == found["without"]["population"] == 1_999
    assert found["guarded"]["lost"] <= 20
    assert found["guarded"]["fail_closed_broken"] == 0
    assert found["twin"]["writes"] == 40
