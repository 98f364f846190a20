"""Benchmarks run at a tiny scale: every figure is there, has a unit, and makes sense."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from suture.bench import decision, impact, model, quarantine, replaying, serve
from suture.bench.growth import grown
from suture.bench.load import request
from suture.bench.measure import (
    Measured,
    Sample,
    Setting,
    by_name,
    environment,
    quantile,
    report_of,
)
from suture.bench.reviews import cases, reconcile, repeated, service_delete
from suture.bench.run import BENCHMARKS, run
from suture.bench.scene import Scene
from suture.bench.turns import Steps, Stopwatch, Turns, stolen
from suture.cli.bench import bench
from suture.errors import InputError
from suture.impact.effects import EndpointsLost, ObjectsRemoved
from suture.judge import judge
from suture.lab.clusters import SIZES
from suture.lab.clusters.size import TINY
from suture.wire.admission import decode_review

SMALL = Setting(scale="tiny", size=TINY, calls=20, stall_s=1.0)


def silent(_words: str) -> None:
    """Say nothing."""


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(SMALL)


def all_positive(sample: Sample) -> bool:
    return all(one.value > 0 for one in sample.values())


@pytest.mark.parametrize("measure", [decision.measure, impact.measure, serve.measure])
def test_a_benchmark_gives_figures(measure: Callable[[Setting, object], Sample]) -> None:
    """Each runs from nothing, in its own process where it needs one, and measures something."""
    sample = measure(SMALL, silent)
    assert len(sample) >= 8
    assert all_positive(sample)


def test_a_replay_is_timed_at_each_level() -> None:
    """The same events at each level; where bodies are told, more is judged and more is read."""
    sample = replaying.measure(replace(SMALL, calls=40), silent)
    levels = ("metadata", "request", "request_response")
    assert len({sample[f"{one}.events"].value for one in levels}) == 1
    assert all(sample[f"{one}.{name}"].value > 0 for one in levels
               for name in ("events_per_s", "events_per_s_wall", "writes_per_s", "refused"))  # fmt: skip
    judged = [sample[f"{one}.judged"].value for one in levels]
    assert judged[0] < judged[1] == judged[2]
    sizes = [sample[f"{one}.event_bytes"].value for one in levels]
    assert sizes == sorted(sizes)


@pytest.mark.lab
def test_quarantine_is_timed_on_a_control_plane() -> None:
    """A few trials: the word comes after the last write, and none comes after the word."""
    sample = quarantine.measure(Setting(size=TINY, calls=3), silent)
    assert sample["trials"].value == 3
    assert sample["writes after the acknowledgement"].value == 0
    assert (
        0 < sample["last admitted write, answered: p50"].value < sample["acknowledged: p99"].value
    )


@pytest.fixture(scope="module")
def modelled() -> Sample:
    return model.measure(SMALL, silent)


PROMISED = {
    "objects", "bytes_per_object", "bytes_per_object_peak", "ready_s", "ready_cpu_s",
    "warm_restart_s", "snapshot_bytes", "snapshot_save_s", "watch_event_us.median",
    "watch_event_us.p99", "pod_selectors_us.median", "pod_selectors_us.p99",
    "service_loss_us.median", "service_loss_us.p99", "deployment_descendants_us.median",
    "deployment_descendants_us.p99", "reselect_us.median", "namespace_closure_ms",
    "definition_closure_ms", "all_services_closure_ms", "stall_ms", "stall_turn_ms",
    "stall_turn_p999_ms",
    "baselines.dicts.bytes_per_object", "baselines.networkx.bytes_per_object",
}  # fmt: skip


def test_the_model_has_every_figure(modelled: Sample) -> None:
    """Each figure is found by its name, and was measured."""
    assert modelled.keys() >= PROMISED
    assert all(modelled[name].value > 0 for name in PROMISED)


def test_the_model_is_started_warm_without_a_list(modelled: Sample) -> None:
    """Every watch goes on from the snapshot: a warm start lists nothing."""
    assert modelled["warm_restart_relisted"].value == 0
    assert modelled["warm_restart_s"].value >= modelled["snapshot_load_s"].value


def test_the_model_figures_are_of_this_cluster(modelled: Sample) -> None:
    """The objects are those of the pages, and the giants are parts of them."""
    objects = modelled["objects"].value
    assert objects > TINY.pods + TINY.services
    for giant in ("namespace_closure", "definition_closure", "all_services_closure"):
        assert 0 < modelled[f"{giant}_objects"].value < objects
    assert 4_000 < modelled["watch_event_bytes"].value < 12_000


def test_the_baselines_answer_as_the_model_does(modelled: Sample) -> None:
    """Each question was answered alike by the model, by plain dicts and by networkx.

    One that was not is a defect of one of them, and fails the benchmark.
    """
    assert modelled["baselines.dicts.equal_answers"].value >= 3 * SMALL.calls + 3
    assert modelled["baselines.networkx.equal_answers"].value == 3 * SMALL.calls + 3


def test_a_baseline_is_not_built_where_it_is_too_large() -> None:
    """One that would take more memory than there is for it is left out of the report."""
    assert model.fits("networkx", Setting(scale="L", size=SIZES["L"]))
    assert not model.fits("networkx", Setting(size=replace(SIZES["L"], pods=10_000_000)))


def busy() -> None:
    """Work for two milliseconds, by whichever clock is slower."""
    cpu, wall = time.thread_time(), time.perf_counter()
    while min(time.thread_time() - cpu, time.perf_counter() - wall) < 0.002:
        pass


def test_turns_of_a_loop_are_measured() -> None:
    """A callback that works for two milliseconds makes a turn of at least as much."""

    async def work() -> Turns:
        turns = Turns()
        turns.start()
        await asyncio.sleep(0)
        busy()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        turns.stop()
        return turns

    turns = asyncio.run(work())
    # The kernel may have taken the CPU away from it, and then it is told apart.
    assert max([*turns.work_us, *turns.broken_us, *turns.stolen_us]) >= 2_000
    assert turns.count >= 2


@pytest.fixture
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the clocks of this machine, but have its kernel take the CPU away from nobody.

    WHY: where more wants to run than there are CPUs, it was seen to take it away from each of
    fifty steps in a row, and no step of those is told.
    """

    def clocks() -> tuple[int, int, int]:
        return time.thread_time_ns(), time.perf_counter_ns(), 0

    monkeypatch.setattr("suture.bench.turns._clocks", clocks)


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("takes", [False, True])
def test_what_was_done_while_the_host_took_a_cpu_is_told_apart(*, takes: bool) -> None:
    """A tenth of a second in which the host took some tells nothing of what is ours."""
    taken = itertools.count() if takes else itertools.repeat(7)

    async def work() -> tuple[Turns, Steps]:
        steps = Steps()
        steps.install()
        turns = Turns(steps, lambda: next(taken))
        turns.start()
        await asyncio.create_task(one())
        turns.stop()
        return turns, steps

    async def one() -> None:
        busy()

    turns, steps = asyncio.run(work())
    ours, theirs = (turns.stolen_us, turns.work_us) if takes else (turns.work_us, turns.stolen_us)
    assert max(ours) >= 2_000
    assert len(theirs) == 0
    assert bool(steps.stolen) is takes
    assert bool(steps.longest) is not takes


def test_what_the_host_took_is_read_from_the_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Hundredths of a second, of all CPUs; nothing where no kernel says."""
    stat = tmp_path / "stat"
    monkeypatch.setattr("suture.bench.turns.STAT", stat)
    assert stolen() == 0
    stat.write_text("cpu  9 0 8 700 1 0 2 31 0 0\ncpu0 9 0 8 700 1 0 2 31 0 0\n")
    assert stolen() == 31
    stat.write_text("cpu  9 0 8 700\n")
    assert stolen() == 0


@pytest.mark.usefixtures("undisturbed")
def test_steps_of_tasks_are_measured() -> None:
    """The longest time that a task holds the loop is told; its value and its errors are its own."""

    async def work() -> int:
        await asyncio.sleep(0)
        busy()
        return 7

    async def fail() -> None:
        await asyncio.sleep(10)

    async def run() -> Steps:
        steps = Steps()
        steps.install()
        assert await asyncio.create_task(work()) == 7
        task = asyncio.create_task(fail())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        steps.settle(stolen=False)
        return steps

    longest = asyncio.run(run()).longest
    name = "test_steps_of_tasks_are_measured.<locals>."
    assert longest[f"{name}work"] >= 2_000
    assert longest[f"{name}fail"] > 0


def test_what_the_cpu_was_taken_from_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step in which the kernel took the CPU away is no longest step: its length tells nothing."""
    switches = itertools.count()

    def clocks() -> tuple[int, int, int]:
        return time.thread_time_ns(), time.perf_counter_ns(), next(switches)

    async def work() -> None:
        busy()

    async def run() -> Steps:
        steps = Steps()
        steps.install()
        await asyncio.create_task(work())
        steps.settle(stolen=False)
        return steps

    monkeypatch.setattr("suture.bench.turns._clocks", clocks)
    assert asyncio.run(run()).longest == {}


def test_what_the_cpu_was_taken_from_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that runs ahead is not believed, nor one that was read on both sides of a switch."""
    looks = iter([(0, 0, 1), (12_000_000, 10_000, 1), (12_050_000, 7_000_000, 2)])
    monkeypatch.setattr("suture.bench.turns._clocks", lambda: next(looks))
    watch = Stopwatch()
    assert watch.lap() == (10_000, True)
    assert watch.lap() == (50_000, False)


def test_growth_is_told_from_the_first_scale_on() -> None:
    """What a small question costs at a larger scale is told in times of the smaller one."""
    small = report_of("model", SMALL, [{"reselect_us.median": Measured(2.0, "µs CPU")}])
    large = report_of("model", SMALL, [{"reselect_us.median": Measured(3.0, "µs CPU")}])
    assert grown([], small) is small
    found = grown([small], large).figures[-1]
    assert (found.name, found.median, found.unit) == ("growth.reselect", 1.5, "times tiny")


def test_figures_are_found_by_name() -> None:
    """Names that are keys stand by themselves, in parts where they have parts."""
    sample = {"a_s": Measured(1, "s"), "b_us.p99": Measured(2, "µs"), "for people": Measured(3, "")}
    assert by_name(report_of("x", SMALL, [sample])) == {"a_s": 1, "b_us": {"p99": 2}}


def test_the_reviews_are_what_they_say(scene: Scene) -> None:
    """Each sort of write has the impact that its name promises, on objects that the model knows."""
    seen = {}
    for case in cases(scene.cluster, scene.world.graph):
        body = decode_review(case.reviews[0], scene.rim.trimmer)
        actor = scene.world.operators.attribute(body.user)
        seen[case.name] = judge(body, actor, scene.world, scene.rim.clock())
        scene.forget()
    usual, pod, service, deployment, namespace = seen.values()
    assert not usual.case.impact.effects
    assert [type(one) for one in pod.case.impact.effects][-1] is ObjectsRemoved
    assert any(
        isinstance(one, EndpointsLost) and one.removed for one in service.case.impact.effects
    )
    removed = {
        one.resource: one.count
        for one in deployment.case.impact.effects
        if isinstance(one, ObjectsRemoved)
    }
    assert removed["pods"] == TINY.largest
    assert len(namespace.change.removed) > TINY.largest
    assert not any(judgement.change.doubt for judgement in seen.values())


def test_dry_runs_are_dry(scene: Scene) -> None:
    """What the served benchmark deletes by the thousand leaves no trace."""
    case = service_delete(scene.cluster, dry_run=True)
    for body in repeated(case, len(case.reviews)):
        asked = decode_review(body, scene.rim.trimmer)
        assert asked.dry_run
        actor = scene.world.operators.attribute(asked.user)
        judge(asked, actor, scene.world, scene.rim.clock())
    assert len(scene.world.overlay) == 0


def test_reviews_are_as_large_as_in_life(scene: Scene) -> None:
    """A reconcile's review carries a Deployment twice."""
    sizes = [len(body) for body in reconcile(scene.cluster).reviews]
    assert 4_000 < sum(sizes) / len(sizes) < 40_000
    assert request("/x", b"body").endswith(b"Content-Length: 4\r\n\r\nbody")


def test_figures_are_medians_with_their_spread() -> None:
    """Of three runs the middle one is shown, with the lowest and the highest."""
    samples = [{"time": Measured(value, "ms")} for value in (3.0, 1.0, 2.0)]
    report = report_of("x", SMALL, samples)
    (figure,) = report.figures
    assert (figure.median, figure.low, figure.high) == (2.0, 1.0, 3.0)
    assert (report.repeat, report.size) == (3, TINY)
    assert quantile(range(100), 0.99) == 99
    assert quantile([5.0], 0.5) == 5.0


def test_the_environment_is_told() -> None:
    """A figure without its machine is none."""
    here = environment()
    assert here.python.startswith("CPython 3.")
    assert here.cores >= 1


@pytest.mark.parametrize(("name", "repeat"), [("speed", 1), ("decision", 0), ("decision", 1000)])
def test_what_cannot_be_run(name: str, repeat: int) -> None:
    """An unknown benchmark and a senseless number are errors of input."""
    with pytest.raises(InputError):
        run(name, SMALL, repeat=repeat, say=silent)


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One document a benchmark, with everything that is needed to take the figure again."""
    assert bench("policies", repeat=1, output="json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bench"] == "policies"
    assert found["size"]["pods"] == SIZES["S"].pods
    assert found["environment"]["python"]
    assert {"name", "unit", "median", "low", "high"} == set(found["figures"][0])


def test_several_scales_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """A column each, and a line each that says what it was measured on."""
    assert bench("policies", scale="S,M", repeat=1) == 0
    out = capsys.readouterr().out
    assert "scale S, M" in out
    assert "30,000 pods" in out
    assert "150,000 pods" in out


def test_a_scale_that_there_is_not() -> None:
    """It is an error of input, which names those that there are."""
    with pytest.raises(InputError, match="`XL`"):
        bench("policies", scale="S,XL")


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Figures with units, and the machine below."""
    assert bench("policies", repeat=1) == 0
    out = capsys.readouterr().out
    assert "service delete" in out
    assert "µs CPU" in out
    assert "30,000 pods" in out


def test_every_benchmark_has_a_name() -> None:
    """What the command offers is what there is."""
    assert list(BENCHMARKS) == [
        "policies", "impact", "decision", "replay", "model", "serve", "quarantine",
    ]  # fmt: skip
