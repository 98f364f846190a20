"""Which benchmarks there are, and how one is run several times over.

Each is a function of setting and a voice; this is the only list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from suture.bench import decision, impact, model, policies, quarantine, replaying, serve
from suture.bench.measure import Measured, Report, Sample, Say, Setting, report_of
from suture.errors import InputError

Benchmark = Callable[[Setting, Say], Sample]


def _policies(setting: Setting, say: Say) -> Sample:
    """Return what evaluation alone costs, of the time that a decision takes."""
    say("weighing cases")
    samples = max(setting.calls // policies.CASES_A_SAMPLE, 2)
    costs = policies.measure_policies(samples=samples)
    return {name: Measured(cost.cpu_us, "µs CPU") for name, cost in costs.items()}


BENCHMARKS: Mapping[str, Benchmark] = {
    "policies": _policies,
    "impact": impact.measure,
    "decision": decision.measure,
    "replay": replaying.measure,
    "model": model.measure,
    "serve": serve.measure,
    "quarantine": quarantine.measure,
}
"""The quick ones first; the last needs a real control plane, which it starts itself."""

REPEATS = 20
"""LIMIT: runs of one benchmark: the median of twenty moves no more."""


def run(name: str, setting: Setting, *, repeat: int, say: Say) -> Report:
    """Run one benchmark several times; return medians, lowest and highest of its figures.

    Errors: InputError for a benchmark that there is not, or a number of runs that makes no sense.
    """
    benchmark = BENCHMARKS.get(name)
    if benchmark is None:
        known = ", ".join(BENCHMARKS)
        raise InputError(f"benchmark `{name}` is none of {known}")
    if not 1 <= repeat <= REPEATS:
        raise InputError(f"`--repeat {repeat}` must be from 1 to {REPEATS}")
    samples = []
    for turn in range(repeat):
        prefix = f"{name} {turn + 1}/{repeat}: " if repeat > 1 else f"{name}: "
        samples.append(benchmark(setting, lambda words, prefix=prefix: say(prefix + words)))  # type: ignore[misc]
    return report_of(name, setting, samples)
